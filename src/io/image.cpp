// Which decoder an image is for.
#include "io/image.hpp"

#include "io/mapped_file.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>
#include <sys/mman.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace samesum {
namespace {

using namespace std::string_view_literals;

struct Format {
  std::string_view start;
  Image (*decode)(std::span<const std::byte> file, const RowsReady& rows_ready);
};

constexpr std::array kFormats = {
    Format{"\x89PNG\r\n\x1a\n"sv, io::decode_png},
    Format{"\xff\xd8\xff"sv, io::decode_jpeg},
    Format{"II*\0"sv, io::decode_tiff},
    Format{"MM\0*"sv, io::decode_tiff},
    Format{"II+\0"sv, io::decode_tiff},
    Format{"MM\0+"sv, io::decode_tiff},
};

const Format* format_of(std::string_view start) {
  for (const Format& format : kFormats) {
    if (start.starts_with(format.start)) return &format;
  }
  return nullptr;
}

}  // namespace

std::string_view Image::channel_name(std::uint32_t channel) const noexcept {
  constexpr std::string_view kNames[4][4] = {
      {"grey", "", "", ""}, {"grey", "alpha", "", ""}, {"red", "green", "blue", ""}, {"red", "green", "blue", "alpha"}};
  return channels >= 1 && channels <= 4 && channel < channels ? kNames[channels - 1][channel] : std::string_view();
}

bool is_image(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) return false;
  char start[8];
  return format_of({start, std::fread(start, 1, sizeof start, file.get())}) != nullptr;
}

Image load_image(const std::string& path, const RowsReady& rows_ready) {
  const io::MappedFile file(path);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  const Format* format = format_of(text.substr(0, 8));
  if (format == nullptr) throw Error(ErrorKind::usage, fmt::format("{}: no PNG, JPEG or TIFF image", path));
  try {
    Image image = format->decode(file.bytes(), rows_ready);
    if (!file.unchanged()) throw Error(ErrorKind::usage, "was changed while it was being read: run again");
    return image;
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", path, error.what()));
  }
}

namespace io {

std::uint64_t rows_of_band(const Image& image) noexcept {
  constexpr std::uint64_t kBandBytes = std::uint64_t{1} << 18;
  return std::max<std::uint64_t>(kBandBytes / (image.width * image.channels), 1);
}

std::shared_ptr<void> make_pixels(const Image& image) {
  constexpr double kMost = 0x1p40;
  const double bytes =
      static_cast<double>(image.width) * static_cast<double>(image.height) * image.channels * static_cast<double>(size_of(image.type));
  if (image.width == 0 || image.height == 0) throw Error(ErrorKind::usage, "an image without pixels");
  const std::string size = fmt::format("{} x {} pixels of {} channels", image.width, image.height, image.channels);
  if (bytes > kMost) throw Error(ErrorKind::usage, size + ": too large an image (over 2^40 bytes), or a damaged file");
  // Not cleared: pages that a damaged file says there are, and has not, are never touched.
  // Large pages: to be given small ones one by one took a third of the time of decoding 12 megapixels, a tenth of that of 0.6.
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const std::size_t rounded = (static_cast<std::size_t>(bytes) + kHugePage - 1) / kHugePage * kHugePage;
  const bool large = bytes >= 0.5 * kHugePage;
  void* memory = large ? std::aligned_alloc(kHugePage, rounded) : std::malloc(static_cast<std::size_t>(bytes));
  if (memory == nullptr) throw Error(ErrorKind::usage, size + ": there is no memory for them");
  if (large) madvise(memory, rounded, MADV_HUGEPAGE);
  return {memory, std::free};
}

}  // namespace io
}  // namespace samesum
