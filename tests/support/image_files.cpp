#include "support/image_files.hpp"

#include "selftest/cases.hpp"

#include <png.h>
#include <tiffio.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <jpeglib.h>

namespace samesum::test {
namespace {

constexpr std::uint64_t kWidth = 37, kHeight = 23;

ImageFile blank(std::string name, std::uint32_t channels, DType type, bool exact = true) {
  hard::Random random(channels + 10 * static_cast<unsigned>(type));
  ImageFile file{std::move(name), kWidth, kHeight, channels, type, exact, {}, {}};
  file.pixels.resize(kWidth * kHeight * channels * size_of(type));
  for (std::uint8_t& byte : file.pixels) byte = static_cast<std::uint8_t>(random.bits(8) >> 2);  // no NaNs, no infinities
  return file;
}

void append(png_structp png, png_bytep from, std::size_t count) {
  auto& bytes = *static_cast<std::vector<std::uint8_t>*>(png_get_io_ptr(png));
  bytes.insert(bytes.end(), from, from + count);
}

ImageFile png(std::string name, std::uint32_t channels, DType type, int interlace) {
  ImageFile file = blank(std::move(name), channels, type);
  constexpr int kColours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  if (setjmp(png_jmpbuf(png)) != 0) std::abort();
  png_set_write_fn(png, &file.bytes, append, nullptr);
  png_set_IHDR(png, info, kWidth, kHeight, static_cast<int>(8 * size_of(type)), kColours[channels - 1], interlace,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  png_set_swap(png);
  const std::size_t row_bytes = kWidth * channels * size_of(type);
  std::vector<png_bytep> rows(kHeight);
  for (std::size_t y = 0; y < kHeight; ++y) rows[y] = file.pixels.data() + y * row_bytes;
  png_write_image(png, rows.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return file;
}

// Two colours, a bit a pixel: read as RGB.
ImageFile palette() {
  ImageFile file = blank("png palette", 3, DType::uint8);
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  if (setjmp(png_jmpbuf(png)) != 0) std::abort();
  png_set_write_fn(png, &file.bytes, append, nullptr);
  png_set_IHDR(png, info, kWidth, kHeight, 1, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_color colours[2] = {{10, 20, 30}, {200, 210, 220}};
  png_set_PLTE(png, info, colours, 2);
  png_write_info(png, info);
  for (std::size_t y = 0; y < kHeight; ++y) {
    std::uint8_t row[(kWidth + 7) / 8] = {};
    for (std::size_t x = 0; x < kWidth; ++x) {
      const bool one = (x * y) % 3 == 1;
      if (one) row[x / 8] = static_cast<std::uint8_t>(row[x / 8] | 0x80 >> x % 8);
      std::memcpy(&file.pixels[3 * (y * kWidth + x)], &colours[one ? 1 : 0], 3);
    }
    png_write_row(png, row);
  }
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return file;
}

ImageFile jpeg(std::string name, std::uint32_t channels) {
  ImageFile file = blank(std::move(name), channels, DType::uint8, false);
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &memory, &size);
  jpeg.image_width = kWidth;
  jpeg.image_height = kHeight;
  jpeg.input_components = static_cast<int>(channels);
  jpeg.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < kHeight) {
    JSAMPROW row = file.pixels.data() + jpeg.next_scanline * kWidth * channels;
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  file.bytes.assign(memory, memory + size);
  std::free(memory);
  return file;
}

ImageFile tiff(std::string name, std::uint32_t channels, DType type, const char* mode, bool tiled, bool apart, std::uint16_t compression) {
  ImageFile file = blank(std::move(name), channels, type);
  char path[] = "/tmp/samesum-tiff-XXXXXX";
  const int descriptor = mkstemp(path);
  TIFF* const tiff = TIFFFdOpen(descriptor, path, mode);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(kWidth));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(kHeight));
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, channels);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * size_of(type)));
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT,
               !is_integer(type) ? SAMPLEFORMAT_IEEEFP
               : is_signed(type) ? SAMPLEFORMAT_INT
                                 : SAMPLEFORMAT_UINT);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, channels >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, apart ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, compression);
  if (channels % 2 == 0) {
    const std::uint16_t extra = EXTRASAMPLE_UNASSALPHA;
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &extra);
  }
  const std::size_t sample = size_of(type), passes = apart ? channels : 1, together = apart ? 1 : channels;
  // Rows of a block; a block of tiles has 16 columns.
  constexpr std::size_t kTile = 16, kRows = 5;
  if (tiled) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, kTile);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, kTile);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, kRows);
  }
  const std::size_t width = tiled ? kTile : kWidth, height = tiled ? kTile : kRows;
  for (std::size_t pass = 0; pass < passes; ++pass) {
    for (std::size_t y = 0; y < kHeight; y += height) {
      for (std::size_t x = 0; x < kWidth; x += width) {
        const std::size_t rows = tiled ? height : std::min(height, kHeight - y);
        std::vector<std::uint8_t> block(width * rows * together * sample);
        for (std::size_t v = 0; v < std::min(rows, kHeight - y); ++v) {
          for (std::size_t u = 0; u < std::min(width, kWidth - x); ++u) {
            std::memcpy(&block[(v * width + u) * together * sample], &file.pixels[(((y + v) * kWidth + x + u) * channels + pass) * sample],
                        together * sample);
          }
        }
        const auto plane = static_cast<std::uint16_t>(pass);
        const auto column = static_cast<std::uint32_t>(x), row = static_cast<std::uint32_t>(y);
        const auto size = static_cast<tmsize_t>(block.size());
        if (tiled) {
          TIFFWriteEncodedTile(tiff, TIFFComputeTile(tiff, column, row, 0, plane), block.data(), size);
        } else {
          TIFFWriteEncodedStrip(tiff, TIFFComputeStrip(tiff, row, plane), block.data(), size);
        }
      }
    }
  }
  TIFFClose(tiff);
  std::FILE* written = std::fopen(path, "rb");
  for (int c; (c = std::fgetc(written)) != EOF;) file.bytes.push_back(static_cast<std::uint8_t>(c));
  std::fclose(written);
  std::remove(path);
  return file;
}

}  // namespace

std::vector<ImageFile> image_files() {
  std::vector<ImageFile> files;
  for (const std::uint32_t channels : {1, 2, 3, 4}) {
    const std::string of = std::to_string(channels);
    files.push_back(png("png 8 bits x " + of, channels, DType::uint8, channels == 3 ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE));
    files.push_back(png("png 16 bits x " + of, channels, DType::uint16, PNG_INTERLACE_NONE));
    files.push_back(tiff("tiff 8 bits x " + of, channels, DType::uint8, "w", false, false, COMPRESSION_LZW));
  }
  files.push_back(palette());
  files.push_back(jpeg("jpeg grey", 1));
  files.push_back(jpeg("jpeg colour", 3));
  files.push_back(tiff("tiff 16 bits, big-endian", 3, DType::uint16, "wb", false, false, COMPRESSION_NONE));
  files.push_back(tiff("tiff float, tiles", 1, DType::float32, "w", true, false, COMPRESSION_ADOBE_DEFLATE));
  files.push_back(tiff("tiff signed, planes", 3, DType::int16, "w", false, true, COMPRESSION_NONE));
  files.push_back(tiff("bigtiff double, tiles of planes", 4, DType::float64, "w8", true, true, COMPRESSION_LZW));
  return files;
}

}  // namespace samesum::test
