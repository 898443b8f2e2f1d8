// PNG, encoded by libpng.
#include "core/float_environment.hpp"

#include <samesum/error.hpp>
#include <samesum/image.hpp>

#include <fmt/format.h>
#include <png.h>

#include <bit>
#include <csetjmp>
#include <cstring>
#include <vector>

namespace samesum {
namespace {

// As in png.cpp: libpng leaves by longjmp, past destructors.
struct Writing {
  std::vector<std::byte> bytes;
  std::jmp_buf failed;
  char message[256] = "";
  bool no_memory = false;
  png_structp png = nullptr;
  png_infop info = nullptr;
  ~Writing() { png_destroy_write_struct(&png, &info); }
};

void fail(png_structp png, png_const_charp message) {
  auto& writing = *static_cast<Writing*>(png_get_error_ptr(png));
  std::strncpy(writing.message, message, sizeof writing.message - 1);
  std::longjmp(writing.failed, 1);
}

void ignore(png_structp, png_const_charp) {}

// No exception may leave through libpng's frames.
void put(png_structp png, png_bytep from, std::size_t count) {
  auto& writing = *static_cast<Writing*>(png_get_io_ptr(png));
  try {
    const auto* const first = reinterpret_cast<const std::byte*>(from);
    writing.bytes.insert(writing.bytes.end(), first, first + count);
  } catch (...) {
    writing.no_memory = true;
  }
  if (writing.no_memory) png_error(png, "out of memory");
}

void flush(png_structp) {}

}  // namespace

std::vector<std::byte> encode_png(const Image& image) {
  const core::DefaultFloatEnvironment environment;
  if ((image.type != DType::uint8 && image.type != DType::uint16) || image.channels < 1 || image.channels > 4) {
    throw Error(ErrorKind::usage,
                fmt::format("a PNG image has 1 to 4 channels of uint8 or uint16, not {} of {}", image.channels, name_of(image.type)));
  }
  constexpr std::uint64_t kMax = 0x7fffffff;
  if (image.width < 1 || image.height < 1 || image.width > kMax || image.height > kMax) {
    throw Error(ErrorKind::usage,
                fmt::format("a PNG image has 1 to {} pixels in each direction, not {} x {}", kMax, image.width, image.height));
  }
  constexpr int kColours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
  const std::size_t row = image.width * image.channels * size_of(image.type);
  const auto* const pixels = static_cast<const png_byte*>(image.pixels.get());
  Writing writing;
  writing.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &writing, fail, ignore);
  writing.info = writing.png != nullptr ? png_create_info_struct(writing.png) : nullptr;
  if (writing.info == nullptr) throw std::bad_alloc();
  if (setjmp(writing.failed) != 0) {
    if (writing.no_memory) throw std::bad_alloc();
    throw Error(ErrorKind::usage, fmt::format("the image cannot be made a PNG file: {}", writing.message));
  }
  png_set_write_fn(writing.png, &writing, put, flush);
  png_set_user_limits(writing.png, kMax, kMax);
  png_set_IHDR(writing.png, writing.info, static_cast<png_uint_32>(image.width), static_cast<png_uint_32>(image.height),
               8 * static_cast<int>(size_of(image.type)), kColours[image.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(writing.png, writing.info);
  if (image.type == DType::uint16 && std::endian::native == std::endian::little) png_set_swap(writing.png);
  for (std::uint64_t y = 0; y < image.height; ++y) png_write_row(writing.png, pixels + y * row);
  png_write_end(writing.png, writing.info);
  return std::move(writing.bytes);
}

}  // namespace samesum
