// TIFF, by libtiff: strips or tiles, channels interleaved or apart, any type of samples that this library has.
#include "io/image.hpp"
#include "io/tiff_library.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

namespace samesum::io {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::usage, "a TIFF image that cannot be read: " + message); }

// A file in memory, as libtiff reads it.
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
  *base = const_cast<std::byte*>(file.data());  // which libtiff only reads
  *bytes = file.size();
  return 1;
}
void unmap(thandle_t, void*, toff_t) {}

// The first of its complaints.
int keep_error(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  auto& message = *static_cast<std::string*>(user);
  char text[256];
  std::vsnprintf(text, sizeof text, format, arguments);
  if (message.empty()) message = text;
  return 1;  // not to be passed on
}
int ignore(TIFF*, void*, const char*, const char*, va_list) { return 1; }

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
  for (const DType type : kDTypes) {
    const std::uint16_t wanted = !is_integer(type) ? SAMPLEFORMAT_IEEEFP : is_signed(type) ? SAMPLEFORMAT_INT : SAMPLEFORMAT_UINT;
    if (type != DType::bfloat16 && size_of(type) * 8 == bits && wanted == format) return type;
  }
  return std::nullopt;
}

// Puts pixels of `block` (rows of block_width of them, `channels` samples each) to their place.
void place(const std::byte* block, std::uint64_t block_width, std::uint64_t x, std::uint64_t y, std::uint64_t rows, std::uint32_t channel,
           std::uint32_t channels, const Image& image, std::byte* pixels) {
  const std::size_t sample = size_of(image.type);
  const std::uint64_t columns = std::min(block_width, image.width - x);
  for (std::uint64_t row = 0; row < std::min(rows, image.height - y); ++row) {
    const std::byte* from = block + row * block_width * channels * sample;
    std::byte* to = pixels + (((y + row) * image.width + x) * image.channels + channel) * sample;
    if (channels == image.channels) {
      std::memcpy(to, from, columns * channels * sample);
    } else {
      for (std::uint64_t i = 0; i < columns; ++i) std::memcpy(to + i * image.channels * sample, from + i * sample, sample);
    }
  }
}

}  // namespace

Image decode_tiff(std::span<const std::byte> file, const RowsReady&) {
  const TiffLibrary& library = tiff_library();
  Stream stream{file};
  std::string message;
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(library.TIFFOpenOptionsAlloc(),
                                                                                 library.TIFFOpenOptionsFree);
  library.TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keep_error, &message);
  library.TIFFOpenOptionsSetWarningHandlerExtR(options.get(), ignore, nullptr);
  const std::unique_ptr<TIFF, Closer> opened(
      library.TIFFClientOpenExt("TIFF", "r", &stream, read, write, seek, close, size, map, unmap, options.get()));
  TIFF* const tiff = opened.get();
  if (tiff == nullptr) refuse(message);

  Image image;
  image.format = "tiff";
  image.width = field<std::uint32_t>(tiff, TIFFTAG_IMAGEWIDTH);
  image.height = field<std::uint32_t>(tiff, TIFFTAG_IMAGELENGTH);
  image.channels = field<std::uint16_t>(tiff, TIFFTAG_SAMPLESPERPIXEL);
  if (field<std::uint16_t>(tiff, TIFFTAG_COMPRESSION) == COMPRESSION_JPEG)
    library.TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  std::uint16_t colours = 0;
  if (library.TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &colours) == 0)
    colours = image.channels >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
  const bool jpeg = colours == PHOTOMETRIC_YCBCR && field<std::uint16_t>(tiff, TIFFTAG_COMPRESSION) == COMPRESSION_JPEG;
  const bool grey = colours == PHOTOMETRIC_MINISBLACK || colours == PHOTOMETRIC_MINISWHITE;
  if (image.channels < 1 || image.channels > 4 ||
      !(grey ? image.channels <= 2 : (colours == PHOTOMETRIC_RGB || jpeg) && image.channels >= 3)) {
    refuse(fmt::format("{} channels of photometric interpretation {}; those of grey and RGB are read, with or without alpha",
                       image.channels, colours));
  }
  const auto bits = field<std::uint16_t>(tiff, TIFFTAG_BITSPERSAMPLE), format = field<std::uint16_t>(tiff, TIFFTAG_SAMPLEFORMAT);
  const auto type = type_of(bits, format);
  if (!type) refuse(fmt::format("samples of {} bits, format {}", bits, format));
  image.type = *type;

  const bool tiled = library.TIFFIsTiled(tiff) != 0;
  const bool apart = field<std::uint16_t>(tiff, TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE && image.channels > 1;
  const std::uint32_t passes = apart ? image.channels : 1, together = apart ? 1 : image.channels;
  const std::uint64_t block_width = tiled ? field<std::uint32_t>(tiff, TIFFTAG_TILEWIDTH) : image.width;
  const std::uint64_t block_rows =
      std::min<std::uint64_t>(tiled ? field<std::uint32_t>(tiff, TIFFTAG_TILELENGTH) : field<std::uint32_t>(tiff, TIFFTAG_ROWSPERSTRIP),
                              tiled ? UINT32_MAX : image.height);
  const std::shared_ptr<void> pixels = make_pixels(image);
  const tmsize_t block_bytes = tiled ? library.TIFFTileSize(tiff) : library.TIFFStripSize(tiff);
  if (block_width == 0 || block_rows == 0 || block_bytes <= 0 ||
      static_cast<std::uint64_t>(block_bytes) / together / size_of(*type) / block_width < block_rows) {
    refuse(message.empty() ? "strips or tiles of no size" : message);
  }
  std::vector<std::byte> block;
  try {
    block.resize(static_cast<std::size_t>(block_bytes));
  } catch (const std::bad_alloc&) {
    refuse(fmt::format("strips or tiles of {} bytes", block_bytes));
  }
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    for (std::uint64_t y = 0; y < image.height; y += block_rows) {
      const std::uint64_t rows = std::min(block_rows, image.height - y);
      for (std::uint64_t x = 0; x < image.width; x += block_width) {
        const auto sample = static_cast<std::uint16_t>(pass);
        const auto column = static_cast<std::uint32_t>(x), row = static_cast<std::uint32_t>(y);
        const tmsize_t wanted = tiled ? block_bytes : static_cast<tmsize_t>(rows * image.width * together * size_of(*type));
        const tmsize_t got =
            tiled ? library.TIFFReadEncodedTile(tiff, library.TIFFComputeTile(tiff, column, row, 0, sample), block.data(), block_bytes)
                  : library.TIFFReadEncodedStrip(tiff, library.TIFFComputeStrip(tiff, row, sample), block.data(), wanted);
        if (got < wanted) refuse(message.empty() ? "it ends early" : message);
        place(block.data(), block_width, x, y, rows, pass, together, image, static_cast<std::byte*>(pixels.get()));
      }
    }
  }
  image.pixels = pixels;
  return image;
}

}  // namespace samesum::io
