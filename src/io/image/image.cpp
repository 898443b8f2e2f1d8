// Choice of an image's decoder.
#include "io/image/image.hpp"
#include "core/float_environment.hpp"

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
#include <utility>
#include <vector>

namespace samesum {
namespace {

using namespace std::string_view_literals;

struct Format {
  std::string_view start;
  Image (*decode)(std::span<const std::byte> file, const io::ImageRequest& request);
  std::vector<std::uint64_t> (*pages)(std::span<const std::byte> file);
};

std::vector<std::uint64_t> one_page(std::span<const std::byte>) { return {0}; }

constexpr std::array kFormats = {
    Format{"\x89PNG\r\n\x1a\n"sv, io::decode_png, one_page}, Format{"\xff\xd8\xff"sv, io::decode_jpeg, one_page},
    Format{"II*\0"sv, io::decode_tiff, io::tiff_pages},      Format{"MM\0*"sv, io::decode_tiff, io::tiff_pages},
    Format{"II+\0"sv, io::decode_tiff, io::tiff_pages},      Format{"MM\0+"sv, io::decode_tiff, io::tiff_pages},
};

const Format* format_of(std::string_view start) {
  for (const Format& format : kFormats) {
    if (start.starts_with(format.start)) return &format;
  }
  return nullptr;
}

const Format* format_of(const io::MappedFile& file) {
  return format_of(std::string_view(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()).substr(0, 8));
}

// Calls work(), and puts the file's name in front of its errors.
template <class Work>
auto named(const std::string& path, const Work& work) try {
  return work();
} catch (const Error& error) {
  throw Error(error.kind(), fmt::format("{}: {}", path, error.what()));
}

}  // namespace

bool is_image(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) return false;
  char start[8];
  return format_of({start, std::fread(start, 1, sizeof start, file.get())}) != nullptr;
}

ImageFile::ImageFile(std::string path) : path_(std::move(path)), file_(std::make_shared<const io::MappedFile>(path_)) {
  named(path_, [&] {
    const Format* format = format_of(*file_);
    if (format == nullptr) throw Error(ErrorKind::usage, "no PNG, JPEG or TIFF image");
    offsets_ = format->pages(file_->bytes());
  });
}

Image ImageFile::page(std::uint32_t number, const RowsReady& rows_ready, std::uint64_t max_pixels) const {
  const core::DefaultFloatEnvironment environment;
  return named(path_, [&] {
    if (number < 1 || number > pages()) {
      throw Error(ErrorKind::usage, fmt::format("there is no page {}: it has {}", number, pages()));
    }
    const io::ImageRequest request{offsets_[number - 1], max_pixels, rows_ready};
    Image image = format_of(*file_)->decode(file_->bytes(), request);
    if (!file_->unchanged()) throw Error(ErrorKind::usage, "was changed while it was being read: run again");
    return image;
  });
}

Image load_image(const std::string& path, const RowsReady& rows_ready) { return ImageFile(path).page(1, rows_ready); }

namespace io {

std::uint64_t rows_of_band(const Image& image) noexcept {
  constexpr std::uint64_t kBandBytes = std::uint64_t{1} << 18;
  return std::max<std::uint64_t>(kBandBytes / (image.width * image.channels), 1);
}

void judge_size(std::uint64_t width, std::uint64_t height, double most, std::uint64_t file_bytes, std::uint64_t max_pixels) {
  if (width == 0 || height == 0) throw Error(ErrorKind::usage, "an image without pixels");
  const double pixels = static_cast<double>(width) * static_cast<double>(height);
  if (pixels > most) {
    throw Error(ErrorKind::usage, fmt::format("a damaged image: {} x {} pixels in {} bytes", width, height, file_bytes));
  }
  if (pixels > static_cast<double>(max_pixels)) {
    throw Error(ErrorKind::usage,
                fmt::format("{} x {} pixels: over {}, the most that are read; --max-pixels allows more", width, height, max_pixels));
  }
}

std::shared_ptr<void> make_pixels(const Image& image) {
  const double bytes =
      static_cast<double>(image.width) * static_cast<double>(image.height) * image.channels * static_cast<double>(size_of(image.type));
  const std::string size = fmt::format("{} x {} pixels of {} channels", image.width, image.height, image.channels);
  if (bytes > 0x1p62) throw Error(ErrorKind::usage, size + ": there is no memory for them");
  // Not cleared: pages of memory that a damaged file claims but does not fill are never touched. Huge pages: faulting in small pages took a
  // third of the time to decode 12 megapixels, a tenth for 0.6.
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
