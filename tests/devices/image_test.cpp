// Images: files written by the format's libraries are read correctly, and damaged ones are refused.
#include "io/image/tiff_library.hpp"
#include "selftest/cases.hpp"
#include "support/image_files.hpp"

#include <samesum/error.hpp>
#include <samesum/image.hpp>

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <system_error>

namespace samesum {
namespace {

using ImageFile = test::ImageFile;

// A folder of this process, removed at its end.
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = testing::TempDir() + "samesum-images-XXXXXX";
    path = mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

std::string save(const std::string& name, const std::vector<std::uint8_t>& bytes) {
  static const Folder folder;
  const std::string path = folder.path / name;
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return path;
}

TEST(Image, IsReadAsItWasWritten) {
  for (const ImageFile& file : test::image_files()) {
    const std::string path = save("image", file.bytes);
    ASSERT_TRUE(is_image(path)) << file.name;
    const Image image = load_image(path);
    ASSERT_EQ(image.width, file.width) << file.name;
    ASSERT_EQ(image.height, file.height) << file.name;
    ASSERT_EQ(image.channels, file.channels) << file.name;
    ASSERT_EQ(image.type, file.type) << file.name;
    ASSERT_EQ(image.view().bytes(), file.pixels.size()) << file.name;
    if (file.exact) {
      EXPECT_EQ(std::memcmp(image.pixels.get(), file.pixels.data(), file.pixels.size()), 0) << file.name;
    }
  }
}

// Rows are reported in order, once decoded, up to the last one.
TEST(Image, RowsAreToldOf) {
  for (const ImageFile& file : test::image_files()) {
    std::vector<std::uint8_t> seen;
    std::uint64_t done = 0;
    const Image whole = load_image(save("image", file.bytes), [&](const Image& image, std::uint64_t rows) {
      ASSERT_GT(rows, done);
      const auto* pixels = static_cast<const std::uint8_t*>(image.pixels.get());
      seen.insert(seen.end(), pixels + seen.size(), pixels + rows * image.width * image.channels);
      done = rows;
    });
    const bool interlaced = file.name == "png 8 bits x 3";
    const bool told = whole.format == "jpeg" || (whole.format == "png" && whole.type == DType::uint8 && !interlaced);
    EXPECT_EQ(done, told ? whole.height : 0) << file.name;
    EXPECT_EQ(std::memcmp(seen.data(), whole.pixels.get(), seen.size()), 0) << file.name;
  }
}

// Counts by a plain loop over pixels.
TEST(Image, ChannelsAndTilesAreCounted) {
  for (const DeviceInfo& info : list_devices().devices) {
    const Device device = Device::open(info.selector);
    for (const ImageFile& file : test::image_files()) {
      const Image image = load_image(save("image", file.bytes));
      const Bins bins = size_of(image.type) == 1 ? Bins::each_value(DType::uint8) : Bins::even(-1000, 70000, 71);
      ImageTiles tiles;
      tiles.alpha = true;
      for (const auto& [columns, rows] : {std::pair(1u, 1u), {3u, 2u}}) {
        tiles.columns = columns;
        tiles.rows = rows;
        std::uint64_t total = 0;
        for (const ImagePart& part : histogram(image, bins, tiles, {.device = device})) {
          ASSERT_EQ(part.channels.size(), image.channels);
          const std::size_t sample = size_of(image.type);
          for (std::uint32_t channel = 0; channel < image.channels; ++channel) {
            std::vector<std::byte> samples;
            for (std::uint64_t y = part.y; y < part.y + part.height; ++y) {
              for (std::uint64_t x = part.x; x < part.x + part.width; ++x) {
                const auto* from =
                    static_cast<const std::byte*>(image.pixels.get()) + ((y * image.width + x) * image.channels + channel) * sample;
                samples.insert(samples.end(), from, from + sample);
              }
            }
            const Array view(samples.data(), samples.size() / sample, image.type);
            ASSERT_EQ(part.channels[channel], histogram(view, bins, {.device = Device::open("cpu")}))
                << file.name << " on " << info.selector;
            total += part.channels[channel].total();
          }
        }
        EXPECT_EQ(total, image.view().size());
      }
      tiles.alpha = false;
      EXPECT_EQ(histogram(image, bins, tiles, {.device = device}).front().channels.size(), image.channels - (image.has_alpha() ? 1 : 0));
    }
  }
}

TEST(Image, DamageIsRefusedOrHarmless) {
  hard::Random random(1);
  std::size_t refused = 0;
  for (const ImageFile& file : test::image_files()) {
    for (int i = 0; i < 120; ++i) {
      std::vector<std::uint8_t> bytes = file.bytes;
      for (std::uint64_t changes = random.below(6); changes-- > 0;)
        bytes[random.below(bytes.size())] = static_cast<std::uint8_t>(random.bits(8));
      if (random.bits(1) != 0) bytes.resize(random.below(bytes.size()));
      const std::string path = save("damaged", bytes);
      try {
        const Image image = load_image(path);
        if (image.width * image.height > 1 << 20) continue;
        histogram(image, Bins::even(0, 256, 256), {}, {.device = Device::open("cpu")});
      } catch (const Error& error) {
        ++refused;
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        EXPECT_NE(std::string(error.what()).find("damaged"), std::string::npos) << error.what();  // the file's name
      }
    }
    // Half a file is never an image.
    const std::vector<std::uint8_t> half(file.bytes.begin(), file.bytes.begin() + static_cast<std::ptrdiff_t>(file.bytes.size() / 2));
    EXPECT_THROW(load_image(save("half", half)), Error) << file.name;
  }
  EXPECT_GT(refused, 300u);
}

// A PNG of four pixels and a palette of three colours.
std::vector<std::uint8_t> with_palette(std::uint8_t last, bool transparent, bool interlaced = false) {
  std::vector<std::uint8_t> file = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  const auto number = [](std::vector<std::uint8_t>& to, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<std::uint8_t>(value >> shift));
  };
  const auto chunk = [&](const char* kind, const std::vector<std::uint8_t>& data) {
    number(file, static_cast<std::uint32_t>(data.size()));
    const std::size_t begin = file.size();
    file.insert(file.end(), kind, kind + 4);
    file.insert(file.end(), data.begin(), data.end());
    number(file, static_cast<std::uint32_t>(crc32(0, file.data() + begin, static_cast<uInt>(file.size() - begin))));
  };
  chunk("IHDR", {0, 0, 0, 4, 0, 0, 0, 1, 8, 3, 0, 0, std::uint8_t{interlaced}});
  chunk("PLTE", {1, 2, 3, 4, 5, 6, 7, 8, 9});
  if (transparent) chunk("tRNS", {100, 0});
  // Interlaced (Adam7): the pixels 0, then 2, then 1 and 3, each pass's row behind its filter.
  const std::vector<std::uint8_t> row =
      interlaced ? std::vector<std::uint8_t>{0, 2, 0, 1, 0, 0, last} : std::vector<std::uint8_t>{0, 2, 0, 1, last};
  std::vector<std::uint8_t> packed(100);
  uLongf size = packed.size();
  compress(packed.data(), &size, row.data(), row.size());
  packed.resize(size);
  chunk("IDAT", packed);
  chunk("IEND", {});
  return file;
}

TEST(Image, ColoursThatAPaletteLacksAreRefused) {
  using Pixels = std::vector<std::uint8_t>;
  const auto pixels = [](const Image& image) {
    const auto* first = static_cast<const std::uint8_t*>(image.pixels.get());
    return Pixels(first, first + image.view().bytes());
  };
  EXPECT_EQ(pixels(load_image(save("image", with_palette(2, false)))), (Pixels{7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(pixels(load_image(save("image", with_palette(2, true)))), (Pixels{7, 8, 9, 255, 1, 2, 3, 100, 4, 5, 6, 0, 7, 8, 9, 255}));
  EXPECT_EQ(pixels(load_image(save("image", with_palette(2, true, true)))), pixels(load_image(save("image", with_palette(2, true)))));
  for (const std::uint8_t last : {std::uint8_t{3}, std::uint8_t{4}, std::uint8_t{255}}) {
    try {
      load_image(save("image", with_palette(last, false)));
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("of a palette of 3"), std::string::npos) << error.what();
    }
  }
}

// A TIFF that does not say which colours its channels are: grey with one or two, red, green and blue with three or four.
TEST(Image, ColoursThatATiffDoesNotNameFollowFromItsChannels) {
  int found = 0;
  for (const ImageFile& file : test::image_files()) {
    if (!file.name.starts_with("tiff 8 bits")) continue;
    std::vector<std::uint8_t> bytes = file.bytes;
    constexpr std::uint8_t kPhotometric[] = {6, 1, 3, 0, 1, 0, 0, 0};  // tag 262, of one 16-bit number
    const auto at = std::search(bytes.begin(), bytes.end(), std::begin(kPhotometric), std::end(kPhotometric));
    ASSERT_NE(at, bytes.end()) << file.name;
    *at = 7;  // tag 263, of which nothing depends
    const Image image = load_image(save("image", bytes));
    ASSERT_EQ(image.view().bytes(), file.pixels.size()) << file.name;
    EXPECT_EQ(std::memcmp(image.pixels.get(), file.pixels.data(), file.pixels.size()), 0) << file.name;
    ++found;
  }
  EXPECT_EQ(found, 4);
}

TEST(Image, SizesAreLimitedByTheCaller) {
  for (const ImageFile& file : test::image_files()) {
    const samesum::ImageFile opened(save("image", file.bytes));
    EXPECT_EQ(opened.pages(), 1u);
    EXPECT_EQ(opened.page(1, {}, file.width * file.height).width, file.width);
    EXPECT_THROW(opened.page(1, {}, file.width * file.height - 1), Error);
    EXPECT_THROW(opened.page(2), Error);
    EXPECT_THROW(opened.page(0), Error);
  }
}

TEST(Image, OtherFilesAreNone) {
  EXPECT_FALSE(is_image(save("text", {'h', 'e', 'l', 'l', 'o'})));
  EXPECT_FALSE(is_image("/nowhere"));
  EXPECT_FALSE(is_image(testing::TempDir()));
  EXPECT_THROW(load_image(save("text", {'h', 'e', 'l', 'l', 'o'})), Error);
}

TEST(Image, LibtiffThatIsMissingOrOldIsRefused) {
  const auto refusal = [](const char* name) -> std::string {
    try {
      io::open_tiff_library(name);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "opened";
  };
  EXPECT_NE(refusal("libtiff.so.nowhere").find("libtiff.so.nowhere: cannot open shared object file"), std::string::npos);
  EXPECT_NE(refusal("libm.so.6").find("libm.so.6 has no function TIFF"), std::string::npos);
  EXPECT_EQ(refusal("libtiff.so.6"), "opened");
}

TEST(Image, MoreTilesThanPixelsAreRefused) {
  const Image image = load_image(save("image", test::image_files().front().bytes));
  ImageTiles tiles;
  tiles.columns = static_cast<std::uint32_t>(image.width) + 1;
  EXPECT_THROW(histogram(image, Bins::each_value(DType::uint8), tiles, {.device = Device::open("cpu")}), Error);
}

}  // namespace
}  // namespace samesum
