// PNG, by libpng.
#include "io/image.hpp"

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

// libpng reports errors by a function that must not return. What it jumps over has no destructors: all that has them lives here.
struct Reading {
  std::span<const std::byte> left;
  std::jmp_buf failed;
  char message[256] = "";
  png_structp png = nullptr;
  png_infop info = nullptr;
  ~Reading() { png_destroy_read_struct(&png, &info, nullptr); }
};

Reading& reading_of(png_structp png) { return *static_cast<Reading*>(png_get_error_ptr(png)); }

void fail(png_structp png, png_const_charp message) {
  Reading& reading = reading_of(png);
  std::strncpy(reading.message, message, sizeof reading.message - 1);
  std::longjmp(reading.failed, 1);
}

void ignore(png_structp, png_const_charp) {}

void read(png_structp png, png_bytep to, std::size_t count) {
  auto& left = static_cast<Reading*>(png_get_io_ptr(png))->left;
  if (count > left.size()) png_error(png, "the file ends early");
  std::memcpy(to, left.data(), count);
  left = left.subspan(count);
}

bool read_header(Reading& reading) {
  if (setjmp(reading.failed) != 0) return false;
  png_set_read_fn(reading.png, &reading, read);
  png_set_user_limits(reading.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_check_for_invalid_index(reading.png, 1);
  png_read_info(reading.png, reading.info);
  return true;
}

bool begin(Reading& reading, Image& image, bool& interlaced) {
  if (setjmp(reading.failed) != 0) return false;
  png_set_expand(reading.png);  // palettes to RGB, fewer bits to 8, a transparent colour to alpha
  png_set_swap(reading.png);    // 16 bits are big-endian
  interlaced = png_set_interlace_handling(reading.png) > 1;
  png_read_update_info(reading.png, reading.info);
  image.width = png_get_image_width(reading.png, reading.info);
  image.height = png_get_image_height(reading.png, reading.info);
  image.channels = png_get_channels(reading.png, reading.info);
  image.type = png_get_bit_depth(reading.png, reading.info) == 16 ? DType::uint16 : DType::uint8;
  return true;
}

bool read_image(Reading& reading, png_bytep* rows) {
  if (setjmp(reading.failed) != 0) return false;
  png_read_image(reading.png, rows);
  return true;
}

bool read_rows(Reading& reading, png_bytep* rows, std::uint64_t count) {
  if (setjmp(reading.failed) != 0) return false;
  png_read_rows(reading.png, rows, nullptr, static_cast<png_uint_32>(count));
  return true;
}

bool finish(Reading& reading) {
  if (setjmp(reading.failed) != 0) return false;
  png_read_end(reading.png, nullptr);
  return true;
}

}  // namespace

Image decode_png(std::span<const std::byte> file, const ImageRequest& request) {
  const RowsReady& rows_ready = request.rows_ready;
  Reading reading;
  reading.left = file;
  reading.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reading, fail, ignore);
  reading.info = reading.png != nullptr ? png_create_info_struct(reading.png) : nullptr;
  if (reading.info == nullptr) throw Error(ErrorKind::usage, "libpng could not be started");
  Image image;
  image.format = "png";
  const auto refuse = [&] { throw Error(ErrorKind::usage, fmt::format("a damaged PNG image: {}", reading.message)); };
  if (!read_header(reading)) refuse();
  // No deflated byte stands for more than 1032; a bit a pixel is the least.
  constexpr double kMostRatio = 1032 * 8;
  judge_size(png_get_image_width(reading.png, reading.info), png_get_image_height(reading.png, reading.info),
             kMostRatio * static_cast<double>(file.size()), file.size(), request.max_pixels);
  png_colorp palette = nullptr;
  int colours = 0;
  png_get_PLTE(reading.png, reading.info, &palette, &colours);
  const bool indexed = png_get_color_type(reading.png, reading.info) == PNG_COLOR_TYPE_PALETTE;
  bool interlaced = false;
  if (!begin(reading, image, interlaced)) refuse();
  const std::shared_ptr<void> pixels_memory = make_pixels(image);
  std::vector<png_bytep> rows(image.height);
  const std::size_t row_bytes = image.width * image.channels * size_of(image.type);
  for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = static_cast<png_bytep>(pixels_memory.get()) + y * row_bytes;
  image.pixels = pixels_memory;
  if (interlaced || image.type != DType::uint8) {
    if (!read_image(reading, rows.data())) refuse();
  } else {
    const std::uint64_t band = rows_of_band(image);
    for (std::uint64_t done = 0; done < image.height;) {
      const std::uint64_t count = std::min(band, image.height - done);
      if (!read_rows(reading, rows.data() + done, count)) refuse();
      done += count;
      if (rows_ready) rows_ready(image, done);
    }
  }
  if (!finish(reading)) refuse();
  if (const int most = png_get_palette_max(reading.png, reading.info); indexed && most >= colours) {
    throw Error(ErrorKind::usage, fmt::format("a damaged PNG image: it has colour {} of a palette of {}", most, colours));
  }
  return image;
}

}  // namespace samesum::io
