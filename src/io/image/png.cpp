// PNG, decoded by libpng.
#include "io/image/image.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <string>
#include <vector>

namespace samesum::io {
namespace {

// libpng reports errors by a function that must not return, so it uses longjmp, which skips destructors: all objects with destructors are
// members of this struct, outside of the jump.
struct PngReading {
  std::span<const std::byte> left;
  std::jmp_buf failed;
  char message[256] = "";
  png_structp png = nullptr;
  png_infop info = nullptr;
  ~PngReading() { png_destroy_read_struct(&png, &info, nullptr); }
};

PngReading& reading_of(png_structp png) { return *static_cast<PngReading*>(png_get_error_ptr(png)); }

void fail(png_structp png, png_const_charp message) {
  PngReading& reading = reading_of(png);
  std::strncpy(reading.message, message, sizeof reading.message - 1);
  std::longjmp(reading.failed, 1);
}

void ignore(png_structp, png_const_charp) {}

void read(png_structp png, png_bytep to, std::size_t count) {
  auto& left = static_cast<PngReading*>(png_get_io_ptr(png))->left;
  if (count > left.size()) png_error(png, "the file ends early");
  std::memcpy(to, left.data(), count);
  left = left.subspan(count);
}

// The palette of an indexed image: three or, with alpha, four bytes for each colour. libpng would map indices beyond its end to black.
struct Palette {
  std::vector<std::uint8_t> colours;
  std::uint32_t channels = 0;

  std::size_t size() const noexcept { return colours.size() / channels; }
  /// Makes `count` pixels from the indices at `from`, which may be the last bytes of the memory for the pixels.
  void expand(const std::uint8_t* from, std::size_t count, std::uint8_t* to) const {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t index = from[i];
      if (index >= size()) {
        throw Error(ErrorKind::usage, fmt::format("a damaged PNG image: it has colour {} of a palette of {}", index, size()));
      }
      std::memcpy(to + i * channels, &colours[index * channels], channels);
    }
  }
};

// The palette of an image whose header was read; empty where it has none.
Palette palette_of(const PngReading& reading) {
  Palette palette;
  if (png_get_color_type(reading.png, reading.info) != PNG_COLOR_TYPE_PALETTE) return palette;
  png_colorp colours = nullptr;
  png_bytep alphas = nullptr;
  int count = 0, alpha_count = 0;
  png_get_PLTE(reading.png, reading.info, &colours, &count);
  const bool transparent = png_get_tRNS(reading.png, reading.info, &alphas, &alpha_count, nullptr) != 0;
  palette.channels = transparent ? 4 : 3;
  for (int i = 0; i < count; ++i) {
    palette.colours.insert(palette.colours.end(), {colours[i].red, colours[i].green, colours[i].blue});
    if (transparent) palette.colours.push_back(i < alpha_count ? alphas[i] : 255);
  }
  return palette;
}

bool read_header(PngReading& reading) {
  if (setjmp(reading.failed) != 0) return false;
  png_set_read_fn(reading.png, &reading, read);
  png_set_user_limits(reading.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_read_info(reading.png, reading.info);
  return true;
}

bool begin(PngReading& reading, const Palette& palette, Image& image, bool& interlaced) {
  if (setjmp(reading.failed) != 0) return false;
  if (palette.colours.empty()) {
    png_set_expand(reading.png);  // expands fewer bits to 8, and a transparent colour to alpha
  } else {
    png_set_packing(reading.png);  // one byte per index
  }
  png_set_swap(reading.png);  // 16 bits are big-endian
  interlaced = png_set_interlace_handling(reading.png) > 1;
  png_read_update_info(reading.png, reading.info);
  image.width = png_get_image_width(reading.png, reading.info);
  image.height = png_get_image_height(reading.png, reading.info);
  image.channels = palette.colours.empty() ? png_get_channels(reading.png, reading.info) : palette.channels;
  image.type = png_get_bit_depth(reading.png, reading.info) == 16 ? DType::uint16 : DType::uint8;
  return true;
}

bool read_image(PngReading& reading, png_bytep* rows) {
  if (setjmp(reading.failed) != 0) return false;
  png_read_image(reading.png, rows);
  return true;
}

bool read_rows(PngReading& reading, png_bytep* rows, std::uint64_t count) {
  if (setjmp(reading.failed) != 0) return false;
  png_read_rows(reading.png, rows, nullptr, static_cast<png_uint_32>(count));
  return true;
}

bool finish(PngReading& reading) {
  if (setjmp(reading.failed) != 0) return false;
  png_read_end(reading.png, nullptr);
  return true;
}

}  // namespace

Image decode_png(std::span<const std::byte> file, const ImageRequest& request) {
  const RowsReady& rows_ready = request.rows_ready;
  PngReading reading;
  reading.left = file;
  reading.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reading, fail, ignore);
  reading.info = reading.png != nullptr ? png_create_info_struct(reading.png) : nullptr;
  if (reading.info == nullptr) throw Error(ErrorKind::usage, "libpng could not be started");
  Image image;
  image.format = "png";
  const auto refuse = [&] { throw Error(ErrorKind::usage, fmt::format("a damaged PNG image: {}", reading.message)); };
  if (!read_header(reading)) refuse();
  // Deflate's ratio is at most 1032; a pixel has at least one bit.
  constexpr double kMaxRatio = 1032 * 8;
  judge_size(png_get_image_width(reading.png, reading.info), png_get_image_height(reading.png, reading.info),
             kMaxRatio * static_cast<double>(file.size()), file.size(), request.max_pixels);
  const Palette palette = palette_of(reading);
  const bool indexed = !palette.colours.empty();
  bool interlaced = false;
  if (!begin(reading, palette, image, interlaced)) refuse();
  const std::shared_ptr<void> pixels_memory = make_pixels(image);
  std::vector<png_bytep> rows(image.height);
  auto* const first = static_cast<png_bytep>(pixels_memory.get());
  // Indices are read into the end of the memory for the pixels, and expanded from its start.
  const std::size_t row_bytes = image.width * (indexed ? 1 : image.channels * size_of(image.type));
  png_bytep const first_row = first + (indexed ? image.width * image.height * (image.channels - 1) : 0);
  for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = first_row + y * row_bytes;
  const auto expand = [&](std::uint64_t from, std::uint64_t count) {
    if (indexed) palette.expand(rows[from], image.width * count, first + from * image.width * image.channels);
  };
  image.pixels = pixels_memory;
  if (interlaced || image.type != DType::uint8) {
    if (!read_image(reading, rows.data())) refuse();
    expand(0, image.height);
  } else {
    const std::uint64_t band = rows_of_band(image);
    for (std::uint64_t done = 0; done < image.height;) {
      const std::uint64_t count = std::min(band, image.height - done);
      if (!read_rows(reading, rows.data() + done, count)) refuse();
      expand(done, count);
      done += count;
      if (rows_ready) rows_ready(image, done);
    }
  }
  if (!finish(reading)) refuse();
  return image;
}

}  // namespace samesum::io
