#include "io/recognize.hpp"

#include "exact/serialized.hpp"
#include "io/compressed/decompress.hpp"
#include "io/compressed/zip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace samesum::io {
namespace {

using namespace std::string_view_literals;

// A format, and how to convert it into one that can be read.
struct Format {
  std::string_view start;
  std::size_t at;  // offset in the file of `start`
  std::string_view name;
  std::string_view advice;
};

constexpr std::string_view kUtf16 = "'iconv -f UTF-16 -t UTF-8 FILE | samesum ... -' reads it";
constexpr std::string_view kImage = "'samesum hist' counts its pixels, and 'samesum stats' reduces each channel";
constexpr std::string_view kOtherImage = "'convert FILE x.png' (ImageMagick) makes one of it that 'samesum hist' reads";

constexpr std::array kFormats = {
    Format{exact::kSumForm.magic, 0, "a partial sum", "'samesum merge' reads those"},
    Format{exact::kProductsForm.magic, 0, "a partial sum of products", "samesum::ProductAccumulator::deserialize() reads those"},
    Format{exact::kStatisticsForm.magic, 0, "a set of statistics", "samesum::Statistics::deserialize() reads those"},
    Format{exact::kHistogramForm.magic, 0, "a histogram", "samesum::Histogram::deserialize() reads those"},
    Format{"\xfd"
           "7zXZ\0"sv,
           0, "compressed by xz", "'xz -dc FILE | samesum ... -' reads what is in it"},
    Format{"1AY&SY"sv, 4, "compressed by bzip2", "'bzip2 -dc FILE | samesum ... -' reads what is in it"},
    Format{"\x04\x22\x4d\x18"sv, 0, "compressed by lz4", "'lz4 -dc FILE | samesum ... -' reads what is in it"},
    Format{"7z\xbc\xaf\x27\x1c"sv, 0, "a 7-Zip archive", "'7z x FILE' takes out what is in it"},
    Format{"ustar"sv, 257, "a tar archive", "'tar -xf FILE' takes out what is in it"},
    Format{"\xff\xfe"sv, 0, "text in UTF-16", kUtf16},
    Format{"\xfe\xff"sv, 0, "text in UTF-16", kUtf16},
    Format{"PAR1"sv, 0, "a Parquet file", "convert it: python3 -c \"import pandas; pandas.read_parquet('FILE').to_csv('x.csv')\""},
    Format{"ARROW1"sv, 0, "an Arrow file", "convert it: python3 -c \"import pandas; pandas.read_feather('FILE').to_csv('x.csv')\""},
    Format{"ORC"sv, 0, "an ORC file", "convert it: python3 -c \"import pandas; pandas.read_orc('FILE').to_csv('x.csv')\""},
    Format{"SQLite format 3\0"sv, 0, "an SQLite database", "sqlite3 FILE 'select COLUMN from TABLE' | samesum ... - reads a column of it"},
    Format{"\x89HDF\r\n\x1a\n"sv, 0, "an HDF5 file",
           "take an array out of it: python3 -c \"import h5py, numpy; numpy.save('x.npy', h5py.File('FILE')['NAME'])\""},
    Format{"CDF\x01"sv, 0, "a NetCDF file",
           "take an array out of it: python3 -c \"import netCDF4, numpy; numpy.save('x.npy', netCDF4.Dataset('FILE')['NAME'][:])\""},
    Format{"CDF\x02"sv, 0, "a NetCDF file",
           "take an array out of it: python3 -c \"import netCDF4, numpy; numpy.save('x.npy', netCDF4.Dataset('FILE')['NAME'][:])\""},
    Format{"SIMPLE  ="sv, 0, "a FITS file",
           "take its array out: python3 -c \"import astropy.io.fits, numpy; numpy.save('x.npy', astropy.io.fits.getdata('FILE'))\""},
    Format{"MATLAB 5.0 MAT-file"sv, 0, "a MATLAB file",
           "take an array out of it: python3 -c \"import scipy.io, numpy; numpy.save('x.npy', scipy.io.loadmat('FILE')['NAME'])\""},
    Format{"\x89PNG\r\n\x1a\n"sv, 0, "a PNG image", kImage},
    Format{"\xff\xd8\xff"sv, 0, "a JPEG image", kImage},
    Format{"II*\0"sv, 0, "a TIFF image", kImage},
    Format{"MM\0*"sv, 0, "a TIFF image", kImage},
    Format{"II+\0"sv, 0, "a TIFF image", kImage},
    Format{"MM\0+"sv, 0, "a TIFF image", kImage},
    Format{"GIF87a"sv, 0, "a GIF image", kOtherImage},
    Format{"GIF89a"sv, 0, "a GIF image", kOtherImage},
    Format{"P4\n"sv, 0, "a PBM image", kOtherImage},
    Format{"P5\n"sv, 0, "a PGM image", kOtherImage},
    Format{"P6\n"sv, 0, "a PPM image", kOtherImage},
    Format{"BM"sv, 0, "a BMP image", kOtherImage},
    Format{"WEBPVP8"sv, 8, "a WebP image", "'dwebp FILE -o x.png' makes one of it that 'samesum hist' reads"},
    Format{"%PDF-"sv, 0, "a PDF", "'pdftotext FILE -' takes the text out of it"},
};

// Whether no text can begin like that.
constexpr bool is_telling(std::string_view start) noexcept {
  return start.size() > 8 || std::ranges::any_of(start, [](char c) { return c < ' ' || c > '~'; });
}

// Whether every second byte is zero, as in Latin letters in UTF-16.
bool is_utf16(std::span<const std::byte> start) noexcept {
  if (start.size() < 4) return false;
  for (const std::size_t zero : {0, 1}) {
    bool every = true;
    for (std::size_t i = 0; i + 1 < std::min<std::size_t>(start.size(), 32); i += 2) {
      every = every && start[i + zero] == std::byte{0} && start[i + 1 - zero] != std::byte{0} && start[i + 1 - zero] < std::byte{0x7f};
    }
    if (every) return true;
  }
  return false;
}

bool starts_with(std::span<const std::byte> bytes, std::string_view prefix, std::size_t at) noexcept {
  return bytes.size() >= at + prefix.size() && std::memcmp(bytes.data() + at, prefix.data(), prefix.size()) == 0;
}

}  // namespace

bool is_binary(std::span<const std::byte> start) noexcept {
  return std::ranges::any_of(start.first(std::min(start.size(), kRecognizedBytes)), [](std::byte byte) {
    const auto c = std::to_integer<unsigned char>(byte);
    return (c < ' ' && !(c >= '\t' && c <= '\r')) || c == 0x7f;
  });
}

std::optional<std::string> other_format(std::span<const std::byte> start) {
  const bool binary = is_binary(start);
  for (const Format& format : kFormats) {
    if (!binary && !is_telling(format.start)) continue;
    if (starts_with(start, format.start, format.at)) return fmt::format("{}; {}", format.name, format.advice);
  }
  if (is_zip(start)) return "a zip archive (.npz?), which is read from a file alone; 'unzip' takes out what is in it";
  if (is_gzip(start)) return "compressed by gzip; 'gzip -dc FILE | samesum ... -' reads what is in it";
  if (is_zstd(start)) return "compressed by zstd; 'zstd -dc FILE | samesum ... -' reads what is in it";
  if (is_utf16(start)) return fmt::format("text in UTF-16; {}", kUtf16);
  return std::nullopt;
}

std::string what_else(std::span<const std::byte> start) {
  if (start.empty()) return "the file is empty";
  if (const std::optional<std::string> other = other_format(start)) return *other;
  if (!is_binary(start)) {
    return "not a .npy file, but a text (numpy.loadtxt() and numpy.save() make one of it); for raw numbers give their type (--dtype "
           "float32, "
           "say)";
  }
  return "not a .npy file, and no text; for raw numbers give their type (--dtype float32, say)";
}

}  // namespace samesum::io
