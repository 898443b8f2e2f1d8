// JPEG, decoded by libjpeg-turbo.
#include "io/image/image.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>

#include <jerror.h>
#include <jpeglib.h>

namespace samesum::io {
namespace {

// libjpeg reports errors by a function that must not return, so it uses longjmp, which skips destructors: all objects with destructors are
// members of this struct, outside of the jump.
struct JpegReading {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  std::jmp_buf failed;
  char message[JMSG_LENGTH_MAX] = "";
  ~JpegReading() { jpeg_destroy_decompress(&jpeg); }
};

void fail(j_common_ptr jpeg) {
  auto& reading = *static_cast<JpegReading*>(jpeg->client_data);
  jpeg->err->format_message(jpeg, reading.message);
  std::longjmp(reading.failed, 1);
}

// Where data are missing or wrong, libjpeg warns and fills in grey; that is made an error, as the pixels would be counted.
void warn(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  const int code = jpeg->err->msg_code;
  if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE || code == JWRN_MUST_RESYNC) fail(jpeg);
}

bool read_header(JpegReading& reading, std::span<const std::byte> file) {
  if (setjmp(reading.failed) != 0) return false;
  jpeg_decompress_struct& jpeg = reading.jpeg;
  jpeg_create_decompress(&jpeg);
  jpeg.client_data = &reading;
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(file.data()), static_cast<unsigned long>(file.size()));
  jpeg_read_header(&jpeg, TRUE);
  return true;
}

bool begin(JpegReading& reading, Image& image) {
  if (setjmp(reading.failed) != 0) return false;
  jpeg_decompress_struct& jpeg = reading.jpeg;
  jpeg.out_color_space = jpeg.jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;  // an error where libjpeg cannot convert
  jpeg_start_decompress(&jpeg);
  image.width = jpeg.output_width;
  image.height = jpeg.output_height;
  image.channels = static_cast<std::uint32_t>(jpeg.output_components);
  return true;
}

// Reads at most `rows` rows.
bool read_rows(JpegReading& reading, JSAMPROW pixels, std::uint64_t rows) {
  if (setjmp(reading.failed) != 0) return false;
  jpeg_decompress_struct& jpeg = reading.jpeg;
  const std::size_t row_bytes = static_cast<std::size_t>(jpeg.output_width) * static_cast<std::size_t>(jpeg.output_components);
  while (jpeg.output_scanline < rows) {
    JSAMPROW row = pixels + jpeg.output_scanline * row_bytes;
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  if (rows == jpeg.output_height) jpeg_finish_decompress(&jpeg);
  return true;
}

}  // namespace

Image decode_jpeg(std::span<const std::byte> file, const ImageRequest& request) {
  const RowsReady& rows_ready = request.rows_ready;
  JpegReading reading;
  reading.jpeg.err = jpeg_std_error(&reading.errors);
  reading.errors.error_exit = fail;
  reading.errors.emit_message = warn;
  reading.jpeg.client_data = &reading;
  Image image;
  image.format = "jpeg";
  const auto refuse = [&] { throw Error(ErrorKind::usage, fmt::format("a JPEG image that cannot be read: {}", reading.message)); };
  if (!read_header(reading, file)) refuse();
  if (reading.jpeg.jpeg_color_space == JCS_CMYK || reading.jpeg.jpeg_color_space == JCS_YCCK) {
    throw Error(ErrorKind::usage,
                "a JPEG image of CMYK; 'convert FILE -colorspace sRGB x.png' (ImageMagick) makes one of red, green and blue");
  }
  // Huffman coding takes at least a bit for each 8 x 8 pixels; arithmetic coding may take much less.
  const double most = (reading.jpeg.arith_code != 0 ? 0x1p15 : 512) * static_cast<double>(file.size());
  judge_size(reading.jpeg.image_width, reading.jpeg.image_height, most, file.size(), request.max_pixels);
  if (!begin(reading, image)) refuse();
  const std::shared_ptr<void> pixels = make_pixels(image);
  image.pixels = pixels;
  const std::uint64_t band = rows_of_band(image);
  for (std::uint64_t rows = 0; rows < image.height;) {
    rows = std::min(rows + band, image.height);
    if (!read_rows(reading, static_cast<JSAMPROW>(pixels.get()), rows)) refuse();
    if (rows_ready) rows_ready(image, rows);
  }
  return image;
}

}  // namespace samesum::io
