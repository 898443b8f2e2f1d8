// decode FILE: decodes a PNG or JPEG image into memory, as the manuals of libpng and libjpeg have it, and does nothing with it.
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include <jpeglib.h>
#include <png.h>

namespace {

bool decode_png(std::FILE* file) {
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_init_io(png, file);
  png_read_info(png, info);
  png_set_expand(png);
  png_read_update_info(png, info);
  const std::size_t row_bytes = png_get_rowbytes(png, info), height = png_get_image_height(png, info);
  const auto pixels = std::make_unique_for_overwrite<png_byte[]>(row_bytes * height);
  std::vector<png_bytep> rows(height);
  for (std::size_t i = 0; i < height; ++i) rows[i] = pixels.get() + i * row_bytes;
  png_read_image(png, rows.data());
  png_read_end(png, nullptr);
  return true;
}

bool decode_jpeg(std::FILE* file) {
  jpeg_decompress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);  // ends the process where the file is damaged
  jpeg_create_decompress(&jpeg);
  jpeg_stdio_src(&jpeg, file);
  jpeg_read_header(&jpeg, TRUE);
  jpeg_start_decompress(&jpeg);
  const std::size_t row_bytes = std::size_t{jpeg.output_width} * static_cast<std::size_t>(jpeg.output_components);
  const auto pixels = std::make_unique_for_overwrite<JSAMPLE[]>(row_bytes * jpeg.output_height);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = pixels.get() + jpeg.output_scanline * row_bytes;
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  std::FILE* file = count == 2 ? std::fopen(arguments[1], "rb") : nullptr;
  if (file == nullptr) return 2;
  const std::size_t length = std::strlen(arguments[1]);
  const bool png = length > 4 && std::strcmp(arguments[1] + length - 4, ".png") == 0;
  return (png ? decode_png(file) : decode_jpeg(file)) ? 0 : 1;
}
