// Fuzzer of images: any file is refused with a message, or gives an image that is whole: as many rows and pixels as it says.
//   fuzz_image [--seconds N] [--seed S]      files of every kind, most of them damaged
// With clang: -DSAMESUM_LIBFUZZER -fsanitize=fuzzer,address for coverage-guided inputs.
#include "support/fuzz.hpp"
#include "support/image_files.hpp"

#include <samesum/error.hpp>
#include <samesum/histogram.hpp>
#include <samesum/image.hpp>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samesum {
namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::uint64_t kMostPixels = 1 << 22;

// A file in memory alone.
class File {
 public:
  explicit File(std::span<const std::uint8_t> bytes) : descriptor_(memfd_create("fuzz_image", 0)) {
    if (descriptor_ < 0 || write(descriptor_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      throw test::Mismatch("the file could not be written");
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(descriptor_); }

  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

void check_refusal(const Error& error) {
  const std::string_view message = error.what();
  if (error.kind() != ErrorKind::usage || message.empty() || message.size() > 2000)
    throw test::Mismatch(fmt::format("an odd refusal: {}", message));
  if (std::ranges::any_of(message, [](unsigned char c) { return c < ' ' || c == 0x7f; }))
    throw test::Mismatch(fmt::format("a message that cannot be printed: {}", message));
}

// The pages of the file that can be read, at most three.
std::vector<Image> check(std::span<const std::uint8_t> bytes) {
  const File file(bytes);
  std::vector<Image> images;
  try {
    const ImageFile opened(file.path());
    if (opened.pages() == 0) throw test::Mismatch("a file without pages was accepted");
    for (std::uint32_t page = 1; page <= std::min(opened.pages(), 3u); ++page) {
      std::uint64_t ready = 0;
      const auto rows_ready = [&](const Image& image, std::uint64_t rows) {
        if (rows < ready || rows > image.height) throw test::Mismatch("rows that are ready are so no longer");
        ready = rows;
      };
      const Image image = opened.page(page, rows_ready, kMostPixels);
      if (image.width == 0 || image.height == 0 || image.width * image.height > kMostPixels)
        throw test::Mismatch("an image of another size than allowed");
      if (image.channels == 0 || image.pixels == nullptr) throw test::Mismatch("an image without samples");
      if (ready != 0 && ready != image.height) throw test::Mismatch("the last rows were not reported");
      // Reads every sample.
      if (histogram(image.array(), Bins::even(0, 256, 4)).total() != image.view().size())
        throw test::Mismatch("a histogram of fewer samples");
      images.push_back(image);
    }
  } catch (const Error& error) {
    check_refusal(error);
  }
  return images;
}

// The checksums of a PNG's chunks, so that what is in these chunks is looked at.
void repair_png(Bytes& file) {
  const auto number = [&](std::size_t at) { return std::uint32_t{file[at]} << 24 | file[at + 1] << 16 | file[at + 2] << 8 | file[at + 3]; };
  for (std::size_t at = 8; at + 12 <= file.size();) {
    const std::uint64_t size = number(at);
    if (at + 12 + size > file.size()) return;
    const auto sum = static_cast<std::uint32_t>(crc32(0, file.data() + at + 4, static_cast<uInt>(size + 4)));
    for (int i = 0; i < 4; ++i) file[at + 8 + size + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(sum >> (24 - 8 * i));
    at += 12 + size;
  }
}

void check_one(hard::Random& random) {
  static const std::vector<test::ImageFile> files = test::image_files();
  const test::ImageFile& from = files[random.below(files.size())];
  Bytes file = from.bytes;
  if (random.below(16) == 0) {  // as it is
    const std::vector<Image> images = check(file);
    if (images.empty() || images[0].view().bytes() != from.pixels.size()) throw test::Mismatch(from.name + " is not read");
    if (from.exact && std::memcmp(images[0].pixels.get(), from.pixels.data(), from.pixels.size()) != 0)
      throw test::Mismatch(from.name + " is read wrongly");
    return;
  }
  // Most of what can go wrong is at the beginning, and in TIFF files at the end.
  for (std::uint64_t i = random.below(6) + 1; i-- > 0;) {
    const std::uint64_t most = random.below(3) == 0 ? file.size() : std::min<std::uint64_t>(file.size(), 200);
    const std::uint64_t at = random.below(4) == 0 ? file.size() - 1 - random.below(most) : random.below(most);
    constexpr std::uint8_t kEnds[] = {0, 1, 0x7f, 0x80, 0xff};
    file[at] = random.below(2) == 0 ? kEnds[random.below(5)] : static_cast<std::uint8_t>(random.bits(8));
  }
  if (random.below(6) == 0) file.resize(random.below(file.size() + 9));
  if (random.below(6) == 0) {  // a piece of another file
    const Bytes& other = files[random.below(files.size())].bytes;
    const std::uint64_t begin = random.below(other.size()), count = std::min<std::uint64_t>(random.below(64), other.size() - begin);
    file.insert(file.begin() + static_cast<std::ptrdiff_t>(random.below(file.size() + 1)),
                other.begin() + static_cast<std::ptrdiff_t>(begin), other.begin() + static_cast<std::ptrdiff_t>(begin + count));
  }
  if (from.name.starts_with("png") && file.size() > 8 && random.below(4) != 0) repair_png(file);
  check(file);
}

}  // namespace
}  // namespace samesum

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  samesum::check({data, size});
  return 0;
}

#ifndef SAMESUM_LIBFUZZER
int main(int argc, char** argv) { return samesum::test::fuzz("fuzz_image", argc, argv, samesum::check_one); }
#endif
