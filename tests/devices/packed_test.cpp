// Compressed inputs and archives: the original bytes, or an error that says what is wrong.
#include "io/compressed/decompress.hpp"
#include "io/open_stream.hpp"
#include "selftest/cases.hpp"
#include "support/informative.hpp"

#include <samesum/error.hpp>
#include <samesum/source.hpp>

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace samesum {
namespace {

namespace fs = std::filesystem;

std::string gzip(const std::string& text, int level = 6) {
  z_stream zlib{};
  deflateInit2(&zlib, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&zlib, text.size()), '\0');
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  zlib.avail_in = static_cast<uInt>(text.size());
  zlib.next_out = reinterpret_cast<Bytef*>(packed.data());
  zlib.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&zlib, Z_FINISH), Z_STREAM_END);
  packed.resize(zlib.total_out);
  deflateEnd(&zlib);
  return packed;
}

std::string zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

// Numbers that are compressible.
std::string numbers(std::size_t bytes) {
  hard::Random random(2);
  std::string text;
  while (text.size() < bytes) text += std::to_string(random.below(1000)) + "\n";
  return text;
}

class Packed : public testing::Test {
 protected:
  Packed() {
    std::string name = (fs::temp_directory_path() / "samesum.XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Packed() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
    return folder_ / name;
  }

  // All contents, read in pieces of odd sizes.
  static std::string content(const std::string& path, bool raw = false) {
    const auto stream = io::open_stream(path, raw);
    std::string all;
    for (std::size_t piece = 1;; piece = piece * 7 % 100003) {
      std::string next(piece, '\0');
      const std::size_t count = stream->read(std::as_writable_bytes(std::span(next)));
      all += next.substr(0, count);
      if (count < piece) break;
    }
    EXPECT_EQ(stream->bytes_read(), all.size());
    return all;
  }

  static std::string refused(const std::string& path) {
    try {
      content(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      const std::string message = error.what();
      EXPECT_EQ(message.find(path + ": "), 0u) << message;
      return message.substr(path.size() + 2);
    }
    return "accepted";
  }

  fs::path folder_;
};

TEST_F(Packed, GivesWhatWasPacked) {
  const std::string small = "1 2 3\n", large = numbers(3 << 20), zeros(5 << 20, '\0');
  for (const std::string& text : {std::string(), small, large, zeros}) {
    EXPECT_EQ(content(write("x.gz", gzip(text))), text);
    EXPECT_EQ(content(write("x", gzip(text, 0))), text) << "by its first bytes, whatever its name";
    EXPECT_EQ(content(write("x.zst", zstd(text))), text);
    // Several members and frames, followed by zeros, and a frame to be skipped.
    EXPECT_EQ(content(write("x.gz", gzip(text) + gzip(small) + gzip("") + gzip(text))), text + small + text);
    EXPECT_EQ(content(write("x.gz", gzip(text) + std::string(1000, '\0'))), text);
    const std::string skipped("\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
    EXPECT_EQ(content(write("x.zst", zstd(text) + skipped + zstd(small) + zstd(text))), text + small + text);
  }
}

TEST_F(Packed, IsNoticedWhereItEndsEarlyOrIsDamaged) {
  const std::string text = numbers(300000);
  const std::string gz = gzip(text), zst = zstd(text);
  for (const double part : {0.0001, 0.5, 0.9999}) {
    const auto most = [&](const std::string& all) {
      return all.substr(0, 5 + static_cast<std::size_t>(part * static_cast<double>(all.size() - 6)));
    };
    EXPECT_NE(refused(write("x.gz", most(gz))).find("gzip data end early: the file is cut off"), std::string::npos);
    EXPECT_NE(refused(write("x.zst", most(zst))).find("zstd data end early: the file is cut off"), std::string::npos);
  }
  EXPECT_NE(refused(write("x.gz", gz + "garbage")).find("damaged gzip data: incorrect header check"), std::string::npos);
  EXPECT_NE(refused(write("x.zst", zst + "garbage")).find("damaged zstd data"), std::string::npos);
  std::string checksum = gz;
  checksum[checksum.size() - 8] = static_cast<char>(checksum[checksum.size() - 8] ^ 1);
  EXPECT_NE(refused(write("x.gz", checksum)).find("incorrect data check"), std::string::npos);
  hard::Random random(7);
  int refusals = 0;
  for (int i = 0; i < 300; ++i) {
    std::string bad = i % 2 == 0 ? gz : zst;
    bad.resize(20000);
    bad[random.below(bad.size())] = static_cast<char>(random.bits(8));
    const std::string path = write("bad", bad);
    refusals += refused(path) != "accepted";
  }
  EXPECT_GT(refusals, 280);  // a truncated file is refused; one with a wrong first byte is not recognized
}

// Raw numbers may begin with any bytes.
TEST_F(Packed, RawNumbersAreDecompressedByTheirNameToo) {
  const std::string packed = gzip("12345678");
  EXPECT_EQ(content(write("x.gz", packed), true), "12345678");
  EXPECT_EQ(content(write("x.raw", packed), true), packed);
  EXPECT_EQ(content(write("x.raw.zst", zstd("12345678")), true), "12345678");
  EXPECT_EQ(content(write("y.gz", "12345678"), true), "12345678") << "a name alone says nothing";
}

TEST_F(Packed, ArraysAreSummedAsTheyAreUnpacked) {
  std::string elements(3 << 20, '\0');
  hard::Random random(3);
  for (std::size_t i = 0; i < elements.size(); i += 8) {
    const double value = static_cast<double>(static_cast<std::int64_t>(random.bits(64))) * 0x1p-40;
    std::memcpy(&elements[i], &value, sizeof value);
  }
  const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(elements.size() / 8) + ",), }\n";
  const std::string npy = std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(header.size()) + '\0' + header + elements;
  const Device cpu = Device::open("cpu");
  const Accumulator expected = accumulate(Array(elements.data(), elements.size() / 8, DType::float64), {.device = cpu});
  ASSERT_TRUE(test::informative(expected));
  EXPECT_EQ(accumulate(*open_source(write("x.npy.gz", gzip(npy))), {.device = cpu}), expected);
  EXPECT_EQ(accumulate(*open_source(write("x.npy.zst", zstd(npy))), {.device = cpu}), expected);
  EXPECT_THROW(accumulate(*open_source(write("x.npy.gz", gzip(npy.substr(0, 1000000)))), {.device = cpu}), Error);
}

}  // namespace
}  // namespace samesum
