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
  for (std::uint8_t& byte : file.pixels) byte = static_cast<std::uint8_t>(random.bits(8) >> 2);  // excludes NaNs and infinities
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

// Two colours, one bit per pixel: read as RGB.
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

std::vector<std::uint8_t> taken_from(const char* path) {
  std::vector<std::uint8_t> bytes;
  std::FILE* written = std::fopen(path, "rb");
  for (int c; (c = std::fgetc(written)) != EOF;) bytes.push_back(static_cast<std::uint8_t>(c));
  std::fclose(written);
  std::remove(path);
  return bytes;
}

// Samples of few bits, grey or with a palette whose colours have `colour_bits`; in strips or tiles.
ImageFile small_tiff(std::string name, std::uint32_t bits, std::uint32_t colour_bits, bool tiled, std::uint16_t compression) {
  const bool indexed = colour_bits != 0;
  ImageFile file = blank(std::move(name), indexed ? 3 : 1, colour_bits == 16 ? DType::uint16 : DType::uint8);
  char path[] = "/tmp/samesum-tiff-XXXXXX";
  TIFF* const tiff = TIFFFdOpen(mkstemp(path), path, "w");
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(kWidth));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(kHeight));
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, static_cast<int>(bits));
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, indexed ? PHOTOMETRIC_PALETTE : PHOTOMETRIC_MINISBLACK);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, compression);
  hard::Random random(bits);
  std::vector<std::uint16_t> palette[3];
  for (auto& channel : palette) {
    for (std::uint32_t i = 0; i < 1u << bits; ++i) {
      const auto colour = static_cast<std::uint16_t>(random.bits(16));
      channel.push_back(colour_bits == 16 ? colour : static_cast<std::uint16_t>((colour & 255) * 257));
    }
  }
  if (indexed) TIFFSetField(tiff, TIFFTAG_COLORMAP, palette[0].data(), palette[1].data(), palette[2].data());
  constexpr std::uint32_t kTile = 16;
  if (tiled) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, kTile);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, kTile);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 7);
  }
  std::vector<std::uint32_t> values(kWidth * kHeight);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::uint32_t>(random.below(std::uint64_t{1} << bits));
    if (!indexed) file.pixels[i] = static_cast<std::uint8_t>(values[i] * 255 / ((1u << bits) - 1));
    for (std::size_t c = 0; indexed && c < 3; ++c) {
      const std::uint16_t colour = palette[c][values[i]];
      if (colour_bits == 16) {
        std::memcpy(&file.pixels[2 * (3 * i + c)], &colour, 2);
      } else {
        file.pixels[3 * i + c] = static_cast<std::uint8_t>(colour >> 8);
      }
    }
  }
  const auto packed = [&](std::size_t x, std::size_t y, std::size_t columns, std::size_t rows) {
    const std::size_t row_bytes = (columns * bits + 7) / 8;
    std::vector<std::uint8_t> block(row_bytes * rows);
    for (std::size_t v = 0; v < rows && y + v < kHeight; ++v) {
      for (std::size_t u = 0; u < columns && x + u < kWidth; ++u) {
        std::uint8_t& byte = block[v * row_bytes + u * bits / 8];
        byte = static_cast<std::uint8_t>(byte | values[(y + v) * kWidth + x + u] << (8 - bits - u * bits % 8));
      }
    }
    return block;
  };
  for (std::uint32_t y = 0; y < kHeight; y += tiled ? kTile : 1) {
    for (std::uint32_t x = 0; x < (tiled ? kWidth : 1); x += kTile) {
      std::vector<std::uint8_t> block = tiled ? packed(x, y, kTile, kTile) : packed(0, y, kWidth, 1);
      if (tiled) {
        TIFFWriteEncodedTile(tiff, TIFFComputeTile(tiff, x, y, 0, 0), block.data(), static_cast<tmsize_t>(block.size()));
      } else {
        TIFFWriteScanline(tiff, block.data(), y, 0);
      }
    }
  }
  TIFFClose(tiff);
  file.bytes = taken_from(path);
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
  file.bytes = taken_from(path);
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
  files.push_back(small_tiff("tiff 1 bit", 1, 0, false, COMPRESSION_NONE));
  files.push_back(small_tiff("tiff 1 bit, fax", 1, 0, false, COMPRESSION_CCITTFAX4));
  files.push_back(small_tiff("tiff 4 bits, tiles", 4, 0, true, COMPRESSION_LZW));
  files.push_back(small_tiff("tiff palette", 8, 8, false, COMPRESSION_LZW));
  files.push_back(small_tiff("tiff palette of 2 bits, tiles", 2, 8, true, COMPRESSION_NONE));
  files.push_back(small_tiff("tiff palette of 16-bit colours", 4, 16, false, COMPRESSION_PACKBITS));
  return files;
}

}  // namespace samesum::test
