// TIFF, decoded by libtiff: strips or tiles, channels interleaved or separate, samples of any type of this library, 1, 2 or 4 bits,
// palettes.
#include "io/image/image.hpp"
#include "io/image/tiff_library.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::io {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::usage, "a TIFF image that cannot be read: " + message); }

// A file in memory, for libtiff's callbacks.
struct Stream {
  std::span<const std::byte> file;
  std::uint64_t at = 0;
};

tmsize_t read(thandle_t handle, void* to, tmsize_t count) {
  auto& stream = *static_cast<Stream*>(handle);
  const std::uint64_t left = stream.at < stream.file.size() ? stream.file.size() - stream.at : 0;
  const std::uint64_t taken = std::min(static_cast<std::uint64_t>(count), left);
  if (taken != 0) std::memcpy(to, stream.file.data() + stream.at, taken);
  stream.at += taken;
  return static_cast<tmsize_t>(taken);
}
tmsize_t write(thandle_t, void*, tmsize_t) { return 0; }
toff_t seek(thandle_t handle, toff_t offset, int from) {
  auto& stream = *static_cast<Stream*>(handle);
  stream.at = offset + (from == SEEK_CUR ? stream.at : from == SEEK_END ? stream.file.size() : 0);
  return stream.at;
}
int close(thandle_t) { return 0; }
toff_t size(thandle_t handle) { return static_cast<Stream*>(handle)->file.size(); }
int map(thandle_t handle, void** base, toff_t* bytes) {
  const auto& file = static_cast<Stream*>(handle)->file;
  *base = const_cast<std::byte*>(file.data());  // libtiff only reads it
  *bytes = file.size();
  return 1;
}
void unmap(thandle_t, void*, toff_t) {}

// Records libtiff's first error, which may have several lines, as one.
int keep_error(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  auto& message = *static_cast<std::string*>(user);
  char text[256];
  std::vsnprintf(text, sizeof text, format, arguments);
  if (!message.empty()) return 1;
  for (const char* c = text; *c != 0; ++c) message += *c >= ' ' && *c <= '~' ? *c : ' ';
  return 1;  // handled: not passed on
}
// Turns a warning into an error: for a tag beyond the file's end libtiff uses a default, so that a palette would become grey.
int keep_cut_off(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  char text[256];
  std::vsnprintf(text, sizeof text, format, arguments);
  if (std::string_view(text).starts_with("IO error")) *static_cast<bool*>(user) = true;
  return 1;
}

struct Closer {
  void operator()(TIFF* tiff) const { tiff_library().TIFFClose(tiff); }
};

template <class T>
T field(TIFF* tiff, std::uint32_t tag) {
  T value{};
  tiff_library().TIFFGetFieldDefaulted(tiff, tag, &value);
  return value;
}

std::optional<DType> type_of(std::uint16_t bits, std::uint16_t format) {
  if (format == SAMPLEFORMAT_UINT && (bits == 1 || bits == 2 || bits == 4)) return DType::uint8;
  for (const DType type : kDTypes) {
    const std::uint16_t wanted = !is_integer(type) ? SAMPLEFORMAT_IEEEFP : is_signed(type) ? SAMPLEFORMAT_INT : SAMPLEFORMAT_UINT;
    if (type != DType::bfloat16 && size_of(type) * 8 == bits && wanted == format) return type;
  }
  return std::nullopt;
}

// An open file, and the errors that libtiff has reported.
class Tiff {
 public:
  explicit Tiff(std::span<const std::byte> file) : stream_{file} {
    const TiffLibrary& library = tiff_library();
    const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(library.TIFFOpenOptionsAlloc(),
                                                                                   library.TIFFOpenOptionsFree);
    library.TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keep_error, &message_);
    library.TIFFOpenOptionsSetWarningHandlerExtR(options.get(), keep_cut_off, &cut_off_);
    opened_.reset(library.TIFFClientOpenExt("TIFF", "r", &stream_, read, write, seek, close, size, map, unmap, options.get()));
    if (opened_ == nullptr) refuse(message_);
  }

  TIFF* get() const noexcept { return opened_.get(); }
  // @throws where the description of the current page is incomplete.
  void check() const {
    if (cut_off_) refuse("it ends early");
  }
  [[noreturn]] void fail(const std::string& otherwise) const { refuse(message_.empty() ? otherwise : message_); }

 private:
  Stream stream_;
  std::string message_;
  bool cut_off_ = false;
  std::unique_ptr<TIFF, Closer> opened_;  // last: it uses the other members
};

// The layout of samples in a strip or a tile.
struct Layout {
  std::uint32_t bits = 8;      // of a sample
  std::uint32_t together = 1;  // adjacent samples of a pixel
  std::uint32_t passes = 1;    // over the image, one per channel if channels are separate
  std::uint16_t compression = COMPRESSION_NONE;
  std::vector<std::uint16_t> palette;  // red, green and blue of each index; empty: none

  std::uint64_t row_bytes(std::uint64_t pixels) const noexcept { return (pixels * together * bits + 7) / 8; }
};

// The maximum of pixels that `file_bytes` bytes can encode; unlimited for codes that need almost no bytes per pixel.
double most_pixels(const Layout& layout, std::size_t file_bytes) {
  const double bits = static_cast<double>(layout.bits) * layout.together * layout.passes;
  const auto ratio = [&](double most) { return most * 8 * static_cast<double>(file_bytes) / bits; };
  switch (layout.compression) {
    case COMPRESSION_NONE:
      return ratio(1);
    case COMPRESSION_PACKBITS:
      return ratio(64);
    case COMPRESSION_LZW:
      return ratio(4096);  // the longest string of a code
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
      return ratio(1032);
    case COMPRESSION_JPEG:
      return 512 * static_cast<double>(file_bytes);  // at least a bit for 8 x 8 pixels
    default:
      return HUGE_VAL;
  }
}

// The palette, with 8 bits where its 16-bit entries contain no more: most files repeat the 8 bits or pad with zeros, and old ones store
// only 8.
std::vector<std::uint16_t> read_palette(const Tiff& tiff, std::uint32_t bits, DType& type) {
  std::uint16_t* colours[3] = {};
  if (tiff_library().TIFFGetField(tiff.get(), TIFFTAG_COLORMAP, &colours[0], &colours[1], &colours[2]) == 0)
    tiff.fail("a palette that is missing");
  std::vector<std::uint16_t> palette;
  for (std::size_t i = 0; i < std::size_t{1} << bits; ++i) {
    for (const std::uint16_t* channel : colours) palette.push_back(channel[i]);
  }
  const auto all = [&](const auto& fits) { return std::ranges::all_of(palette, fits); };
  type = DType::uint8;
  if (all([](std::uint16_t c) { return c < 256; })) return palette;
  if (all([](std::uint16_t c) { return (c & 255) == 0; }) || all([](std::uint16_t c) { return (c & 255) == c >> 8; })) {
    for (std::uint16_t& c : palette) c = static_cast<std::uint16_t>(c >> 8);
  } else {
    type = DType::uint16;
  }
  return palette;
}

// Reads the image's properties and checks its size, without allocating memory.
Layout read_layout(const Tiff& tiff, Image& image, std::span<const std::byte> file, std::uint64_t max_pixels) {
  image.format = "tiff";
  image.width = field<std::uint32_t>(tiff.get(), TIFFTAG_IMAGEWIDTH);
  image.height = field<std::uint32_t>(tiff.get(), TIFFTAG_IMAGELENGTH);
  image.channels = field<std::uint16_t>(tiff.get(), TIFFTAG_SAMPLESPERPIXEL);
  const std::uint32_t depth =
      std::max(field<std::uint32_t>(tiff.get(), TIFFTAG_IMAGEDEPTH), field<std::uint32_t>(tiff.get(), TIFFTAG_TILEDEPTH));
  if (depth > 1) refuse(fmt::format("a volume, of a depth of {}: flat images are read, several pages of them too", depth));
  Layout layout;
  layout.compression = field<std::uint16_t>(tiff.get(), TIFFTAG_COMPRESSION);
  if (layout.compression == COMPRESSION_JPEG) tiff_library().TIFFSetField(tiff.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  std::uint16_t colours = 0;
  if (tiff_library().TIFFGetField(tiff.get(), TIFFTAG_PHOTOMETRIC, &colours) == 0)
    colours = image.channels >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
  const bool jpeg = colours == PHOTOMETRIC_YCBCR && layout.compression == COMPRESSION_JPEG;
  const bool grey = colours == PHOTOMETRIC_MINISBLACK || colours == PHOTOMETRIC_MINISWHITE;
  const bool indexed = colours == PHOTOMETRIC_PALETTE && image.channels == 1;
  if (image.channels < 1 || image.channels > 4 ||
      !(indexed || (grey ? image.channels <= 2 : (colours == PHOTOMETRIC_RGB || jpeg) && image.channels >= 3))) {
    refuse(fmt::format("{} channels of photometric interpretation {}; those of grey and RGB are read, with or without alpha, and palettes",
                       image.channels, colours));
  }
  const auto bits = field<std::uint16_t>(tiff.get(), TIFFTAG_BITSPERSAMPLE),
             format = field<std::uint16_t>(tiff.get(), TIFFTAG_SAMPLEFORMAT);
  const auto type = type_of(bits, format);
  if (!type || (indexed && !(format == SAMPLEFORMAT_UINT && bits <= 16)))
    refuse(fmt::format("samples of {} bits, format {}", bits, format));
  image.type = *type;
  layout.bits = bits;
  const bool apart = field<std::uint16_t>(tiff.get(), TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE && image.channels > 1;
  layout.passes = apart ? image.channels : 1;
  layout.together = apart ? 1 : image.channels;
  judge_size(image.width, image.height, most_pixels(layout, file.size()), file.size(), max_pixels);
  if (indexed) {
    layout.palette = read_palette(tiff, bits, image.type);
    image.channels = 3;
  }
  return layout;
}

// Writes rows of samples to their position in the image.
class Placing {
 public:
  Placing(const Layout& layout, const Image& image, std::byte* pixels) : layout_(layout), image_(image), pixels_(pixels) {}

  // `row` has `columns` pixels of row y from column x on; of one channel where channels are separate.
  void put(const std::byte* row, std::uint64_t x, std::uint64_t y, std::uint64_t columns, std::uint32_t channel) const {
    const std::size_t sample = size_of(image_.type);
    std::byte* const to = pixels_ + ((y * image_.width + x) * image_.channels + channel) * sample;
    if (!layout_.palette.empty()) {
      for (std::uint64_t i = 0; i < columns; ++i) {
        for (std::uint32_t c = 0; c < 3; ++c) store(to + (3 * i + c) * sample, layout_.palette[3 * index(row, i) + c]);
      }
    } else if (layout_.bits < 8) {
      const std::uint32_t ones = (1u << layout_.bits) - 1;
      for (std::uint64_t i = 0; i < columns * layout_.together; ++i) {
        to[layout_.together == 1 ? i * image_.channels : i] = static_cast<std::byte>(index(row, i) * 255 / ones);
      }
    } else if (layout_.together == image_.channels) {
      std::memcpy(to, row, columns * layout_.together * sample);
    } else {
      for (std::uint64_t i = 0; i < columns; ++i) std::memcpy(to + i * image_.channels * sample, row + i * sample, sample);
    }
  }

 private:
  // Sample i of a row, of 1 to 16 bits.
  std::uint32_t index(const std::byte* row, std::uint64_t i) const noexcept {
    if (layout_.bits == 16) {
      std::uint16_t value;
      std::memcpy(&value, row + 2 * i, sizeof value);
      return value;
    }
    const std::uint64_t bit = i * layout_.bits;
    return std::to_integer<std::uint32_t>(row[bit / 8]) >> (8 - layout_.bits - bit % 8) & ((1u << layout_.bits) - 1);
  }
  void store(std::byte* to, std::uint16_t value) const noexcept {
    if (image_.type == DType::uint8) {
      *to = static_cast<std::byte>(value);
    } else {
      std::memcpy(to, &value, sizeof value);
    }
  }

  const Layout& layout_;
  const Image& image_;
  std::byte* pixels_;
};

// Reads strips row by row, as a strip may be as large as the image, or claim to be.
void read_rows(const Tiff& tiff, const Layout& layout, const Image& image, const Placing& placing) {
  const TiffLibrary& library = tiff_library();
  const tmsize_t row_bytes = library.TIFFScanlineSize(tiff.get());
  if (row_bytes <= 0 || static_cast<std::uint64_t>(row_bytes) < layout.row_bytes(image.width)) tiff.fail("rows of no size");
  const auto row = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(row_bytes));
  for (std::uint32_t pass = 0; pass < layout.passes; ++pass) {
    for (std::uint64_t y = 0; y < image.height; ++y) {
      if (library.TIFFReadScanline(tiff.get(), row.get(), static_cast<std::uint32_t>(y), static_cast<std::uint16_t>(pass)) != 1) {
        tiff.fail("it ends early");
      }
      placing.put(row.get(), 0, y, image.width, pass);
    }
  }
}

void read_tiles(const Tiff& tiff, const Layout& layout, const Image& image, const Placing& placing, std::span<const std::byte> file,
                std::uint64_t max_pixels) {
  const TiffLibrary& library = tiff_library();
  const std::uint64_t width = field<std::uint32_t>(tiff.get(), TIFFTAG_TILEWIDTH),
                      height = field<std::uint32_t>(tiff.get(), TIFFTAG_TILELENGTH);
  if (width == 0 || height == 0) tiff.fail("tiles of no size");
  judge_size(width, height, most_pixels(layout, file.size()), file.size(), max_pixels);
  const tmsize_t tile_bytes = library.TIFFTileSize(tiff.get()), row_bytes = library.TIFFTileRowSize(tiff.get());
  if (row_bytes <= 0 || static_cast<std::uint64_t>(row_bytes) < layout.row_bytes(width) ||
      static_cast<std::uint64_t>(tile_bytes) / static_cast<std::uint64_t>(row_bytes) < height) {
    tiff.fail("tiles of no size");
  }
  const auto tile = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(tile_bytes));
  for (std::uint32_t pass = 0; pass < layout.passes; ++pass) {
    for (std::uint64_t y = 0; y < image.height; y += height) {
      for (std::uint64_t x = 0; x < image.width; x += width) {
        const std::uint32_t number = library.TIFFComputeTile(tiff.get(), static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), 0,
                                                             static_cast<std::uint16_t>(pass));
        if (library.TIFFReadEncodedTile(tiff.get(), number, tile.get(), tile_bytes) < tile_bytes) tiff.fail("it ends early");
        for (std::uint64_t row = 0; row < std::min(height, image.height - y); ++row) {
          placing.put(tile.get() + row * static_cast<std::uint64_t>(row_bytes), x, y + row, std::min(width, image.width - x), pass);
        }
      }
    }
  }
}

}  // namespace

std::vector<std::uint64_t> tiff_pages(std::span<const std::byte> file) {
  const Tiff tiff(file);
  std::vector<std::uint64_t> places;
  for (;;) {
    tiff.check();
    const auto kind = field<std::uint32_t>(tiff.get(), TIFFTAG_SUBFILETYPE);
    if ((kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) == 0) places.push_back(tiff_library().TIFFCurrentDirOffset(tiff.get()));
    if (tiff_library().TIFFLastDirectory(tiff.get()) != 0) break;
    if (tiff_library().TIFFReadDirectory(tiff.get()) != 1) tiff.fail("a page that cannot be found");
  }
  if (places.empty()) tiff.fail("there is no page but reduced copies and masks");
  return places;
}

Image decode_tiff(std::span<const std::byte> file, const ImageRequest& request) {
  const Tiff tiff(file);
  if (tiff_library().TIFFSetSubDirectory(tiff.get(), request.place) != 1) tiff.fail("a page that cannot be found");
  Image image;
  const Layout layout = read_layout(tiff, image, file, request.max_pixels);
  const std::shared_ptr<void> pixels = make_pixels(image);
  const Placing placing(layout, image, static_cast<std::byte*>(pixels.get()));
  if (tiff_library().TIFFIsTiled(tiff.get()) != 0) {
    read_tiles(tiff, layout, image, placing, file, request.max_pixels);
  } else {
    read_rows(tiff, layout, image, placing);
  }
  image.pixels = pixels;
  return image;
}

}  // namespace samesum::io
