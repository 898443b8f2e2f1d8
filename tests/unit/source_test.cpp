// Arrays as streams and with bytes swapped: the same elements as in a mapped file.
#include "core/available_memory.hpp"
#include "io/array_source.hpp"

#include <samesum/error.hpp>
#include <samesum/histogram.hpp>
#include <samesum/reduce.hpp>
#include <samesum/source.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace samesum {
namespace {

namespace fs = std::filesystem;

std::string npy(std::string_view descr, std::uint64_t count, std::string_view data) {
  const std::string header =
      "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (" + std::to_string(count) + ",), }\n";
  std::string file("\x93NUMPY\x01\0", 8);
  file += static_cast<char>(header.size());
  file += '\0';
  return file + header + std::string(data);
}

std::string random_bytes(std::size_t size) {
  std::mt19937_64 random(3);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

std::string swapped(std::string text, std::size_t element) {
  for (std::size_t i = 0; i + element <= text.size(); i += element) std::reverse(text.begin() + i, text.begin() + i + element);
  return text;
}

class Sources : public testing::Test {
 protected:
  Sources() {
    std::signal(SIGPIPE, SIG_IGN);  // a refused source leaves its writer without a reader
    std::string name = (fs::temp_directory_path() / "samesum.XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Sources() override {
    if (writer_.joinable()) writer_.join();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::string write(std::string_view content) const {
    std::ofstream(folder_ / "file", std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
    return folder_ / "file";
  }

  // A named pipe through which `content` is written in pieces of `piece` bytes.
  std::string pipe(std::string content, std::size_t piece) {
    if (writer_.joinable()) writer_.join();
    const std::string path = folder_ / ("pipe" + std::to_string(pipes_++));
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    writer_ = std::thread([path, piece, content = std::move(content)] {
      const int descriptor = open(path.c_str(), O_WRONLY);
      for (std::size_t at = 0; at < content.size(); at += piece) {
        if (::write(descriptor, content.data() + at, std::min(piece, content.size() - at)) < 0) break;
      }
      close(descriptor);
    });
    return path;
  }

  static Accumulator sum(const std::string& path, const InputOptions& options = {}) {
    return accumulate(*open_source(path, options), {.device = Device::open("cpu")});
  }

  static std::string refused(const std::string& path, const InputOptions& options = {}) {
    try {
      sum(path, options);
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.find(path + ": "), 0u) << message;
      return message.substr(path.size() + 2);
    }
    return "accepted";
  }

  static InputOptions raw(std::string_view type) {
    InputOptions options;
    options.raw = parse_raw_type(type);
    return options;
  }

  fs::path folder_;
  std::thread writer_;
  int pipes_ = 0;
};

TEST_F(Sources, ByteOrderOfATypeIsInItsName) {
  EXPECT_EQ(parse_raw_type(">f4"), (RawType{DType::float32, true}));
  EXPECT_EQ(parse_raw_type("<int16"), (RawType{DType::int16, false}));
  EXPECT_EQ(parse_raw_type(">u1"), (RawType{DType::uint8, false})) << "a byte has no order";
  EXPECT_THROW(parse_raw_type(">"), Error);
  EXPECT_THROW(parse_raw_type(">>f4"), Error);
}

TEST_F(Sources, OfAnyTypeOrderAndChannelGiveTheSameSum) {
  const std::string data = random_bytes((3 << 20) + 8 * 7);  // some blocks and a bit
  for (const DType type : kDTypes) {
    const std::string name(name_of(type));
    const std::size_t size = size_of(type);
    std::string values = data;
    if (!is_integer(type)) {  // fewer infinities and NaNs
      for (std::size_t i = size - 1; i < values.size(); i += size) values[i] = static_cast<char>(values[i] & 0xb7);
    }
    const std::string turned = swapped(values, size);
    const Accumulator expected = accumulate(Array(values.data(), values.size() / size, type), {.device = Device::open("cpu")});
    EXPECT_EQ(sum(write(values), raw(name)), expected) << name;
    EXPECT_EQ(sum(write(turned), raw(">" + name)), expected) << name;
    EXPECT_EQ(sum(pipe(values, 77777), raw(name)), expected) << name;
    EXPECT_EQ(sum(pipe(turned, 1 << 20), raw(">" + name)), expected) << name;
    if (type == DType::bfloat16) continue;
    const std::string code = (is_integer(type) ? is_signed(type) ? "i" : "u" : "f") + std::to_string(size);
    const std::string big = npy(">" + code, values.size() / size, turned);
    EXPECT_EQ(sum(write(big)), expected) << name;
    EXPECT_EQ(sum(pipe(big, 1000)), expected) << name;
    EXPECT_EQ(sum(pipe(npy("<" + code, values.size() / size, values), 65536)), expected) << name;
  }
}

TEST_F(Sources, SwapBytesAtAnyAddress) {
  const std::string text = random_bytes(1000);
  for (const std::size_t element : {2, 4, 8}) {
    for (std::size_t shift = 0; shift < 8; ++shift) {
      std::string copy = text;
      io::swap_bytes(std::as_writable_bytes(std::span(copy)).subspan(shift, 960), element);
      EXPECT_EQ(copy.substr(shift, 960), swapped(text.substr(shift, 960), element));
      EXPECT_EQ(copy.substr(0, shift), text.substr(0, shift));
      EXPECT_EQ(copy.substr(shift + 960), text.substr(shift + 960));
    }
  }
}

TEST_F(Sources, KnowTheirShape) {
  const auto source = open_source(pipe(npy(">f8", 3, random_bytes(24)), 5));
  EXPECT_EQ(source->format(), "npy");
  EXPECT_EQ(source->type(), DType::float64);
  EXPECT_EQ(source->shape(), std::vector<std::uint64_t>{3});
  EXPECT_EQ(source->resident_bytes(), 0u);
  ASSERT_TRUE(source->next());
  EXPECT_FALSE(source->next());
  EXPECT_FALSE(source->next());
  const auto mapped = open_source(write(npy("<f8", 3, random_bytes(24))));
  EXPECT_EQ(mapped->resident_bytes(), 24u);
}

TEST_F(Sources, NoticeWhatIsCutOrTooLong) {
  EXPECT_NE(refused(pipe(npy("<f8", 3, random_bytes(23)), 100)).find("take 24 bytes, 23 are there"), std::string::npos);
  EXPECT_NE(refused(pipe(npy("<f8", 3, random_bytes(25)), 100)).find("more bytes follow the array"), std::string::npos);
  EXPECT_NE(refused(pipe(npy("<f8", 1 << 20, random_bytes(5 << 20)), 4096)).find("take 8388608 bytes, 5242880 are there"),
            std::string::npos);
  EXPECT_NE(refused(write(npy(">f8", 3, random_bytes(25)))).find("1 bytes follow the array"), std::string::npos);
  EXPECT_NE(refused(pipe("\x93NUMPY\x01", 3)).find("ends within the header"), std::string::npos);
  EXPECT_NE(refused(pipe(std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12) + random_bytes(2 << 20), 4096))
                .find("bad header: it says that it has 4294967307 bytes"),
            std::string::npos);
  EXPECT_EQ(refused(pipe(random_bytes(23), 100), raw("f8")), "its size, 23 bytes, is no multiple of the 8 bytes of a float64");
  EXPECT_NE(refused(pipe(npy("<f8", 3, random_bytes(24)), 100), raw(">f8")).find("contradicts the given type big-endian float64"),
            std::string::npos);
}

TEST_F(Sources, AreGivenUpWhileTheyWaitForMore) {
  const std::string path = folder_ / "endless";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int descriptor = open(path.c_str(), O_RDWR);  // never closed by a writer
  const std::string data = random_bytes((2 << 20) + 5);
  std::thread writer([&] {
    for (std::size_t at = 0; at < data.size();) at += static_cast<std::size_t>(::write(descriptor, data.data() + at, data.size() - at));
  });
  {
    const auto source = open_source(path, raw(">f4"));
    EXPECT_TRUE(source->next());
    EXPECT_TRUE(source->next());
    writer.join();
  }
  close(descriptor);
}

// 2 x 3 in Fortran order: 1 2 9 | 3 9 4 in C order. Operations that use indices see the array's; others take the elements in memory order.
TEST_F(Sources, GiveArraysByIndexUnlessAnyOrderWillDo) {
  const double memory[] = {1, 3, 2, 9, 9, 4};
  const auto array = [&](bool big_endian) {
    const std::string data(reinterpret_cast<const char*>(memory), sizeof memory);
    std::string file = npy(big_endian ? ">f8" : "<f8", 6, big_endian ? swapped(data, 8) : data);
    file.replace(file.find("(6,)"), 4, "(2,3)");
    file.replace(file.find("False"), 5, "True ");
    ++file[8];  // makes the shape one character longer
    return file;
  };
  const Device cpu = Device::open("cpu");
  const double by_index[] = {1, 2, 9, 3, 9, 4};
  for (const std::string& path : {write(array(false)), folder_.string() + "/big"}) {
    std::ofstream(folder_ / "big", std::ios::binary) << array(true);
    const Statistics found = collect(*open_source(path), {}, {.device = cpu});
    EXPECT_EQ(found.max().index, 2u);
    EXPECT_EQ(found, collect(std::span<const double>(by_index), {}, {.device = cpu}));
    EXPECT_EQ(product(*open_source(path), {.device = cpu}), product(std::span<const double>(by_index), {.device = cpu}));
    EXPECT_EQ(dot(*open_source(path), *open_source(folder_.string() + "/file"), {.device = cpu}).round(), 1 + 4 + 81 + 9 + 81 + 16);
    EXPECT_EQ(sum(path).round(), 28);
    EXPECT_EQ(histogram(*open_source(path), Bins::each_value(0, 9), {.device = cpu}).counts()[9], 2u);
  }
  const std::string path = write(array(false));
  const auto source = open_source(path);
  EXPECT_EQ(source->resident_bytes(), 0u);
  source->allow_any_order();
  EXPECT_EQ(source->resident_bytes(), sizeof memory);
  const std::optional<Array> whole = source->next();
  ASSERT_TRUE(whole);
  EXPECT_EQ(std::memcmp(whole->data(), memory, sizeof memory), 0);
}

// A user-defined source.
class Countdown final : public Source {
 public:
  std::optional<Array> next() override {
    if (left_ == 0) return std::nullopt;
    value_ = static_cast<double>(left_--);
    return Array(std::span<const double>(&value_, 1));
  }
  std::string_view format() const noexcept override { return "countdown"; }

 private:
  int left_ = 100;
  double value_ = 0;
};

// All bytes that `source` gives.
std::string contents(Source& source) {
  std::string all;
  while (const std::optional<Array> chunk = source.next()) all.append(static_cast<const char*>(chunk->data()), chunk->bytes());
  return all;
}

std::unique_ptr<Source> read_directly(const std::string& path, DType type, const ArrayFile::Part& part = {}) {
  return io::file_source(ArrayFile(path, type, part), "raw", std::make_unique<io::FileStream>(path));
}

// Chunks of 4 MiB, whatever the first element's place in the file.
TEST_F(Sources, ReadDirectlyGiveAllBytesInOrder) {
  constexpr std::size_t kChunk = std::size_t{4} << 20;
  const std::string data = random_bytes(7 * kChunk + 4097);
  const std::string path = write(data);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4095}, kChunk - 1, kChunk, kChunk + 1, 7 * kChunk}) {
    for (const std::size_t offset : {0, 1, 100, 4095, 4096, 4097}) {
      const auto source = read_directly(path, DType::uint8, {offset, size});
      ASSERT_EQ(contents(*source), data.substr(offset, size)) << offset << " " << size;
      EXPECT_EQ(source->bytes_read(), size);
      EXPECT_FALSE(source->next());
    }
  }
  EXPECT_EQ(contents(*read_directly(path, DType::uint8)), data);
  EXPECT_TRUE(read_directly(path, DType::uint8)->next()) << "given up while others read ahead";
  const std::string array = write(npy("<f8", data.size() / 8, data.substr(0, data.size() / 8 * 8)));
  const auto source = io::file_source(ArrayFile(array), "npy", std::make_unique<io::FileStream>(array));
  EXPECT_EQ(source->shape(), ArrayFile(array).shape());
  EXPECT_EQ(source->resident_bytes(), 0u);
  const Device cpu = Device::open("cpu");
  EXPECT_EQ(collect(*source, {}, {.device = cpu}), collect(ArrayFile(array).array(), {}, {.device = cpu}));
}

// Mapped or read ahead, a part has the elements of the whole at its place.
TEST_F(Sources, GivePartsOfFiles) {
  const std::string data = random_bytes(std::size_t{9} << 20);
  const std::uint64_t count = data.size() / 8;
  const auto open = [&](const std::string& path, bool ahead) {
    return io::file_source(ArrayFile(path), "npy", ahead ? std::make_unique<io::FileStream>(path) : nullptr);
  };
  const std::string path = write(npy("<f8", count, data));
  for (const bool ahead : {false, true}) {
    for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{1}, count / 2, count - 1, count}) {
      for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, (count - first) / 2, count - first}) {
        if (size > count - first) continue;
        const auto source = open(path, ahead);
        ASSERT_TRUE(source->select(first, size));
        EXPECT_EQ(source->bytes(), 8 * size);
        ASSERT_EQ(contents(*source), data.substr(8 * first, 8 * size)) << first << " " << size << " " << ahead;
        EXPECT_EQ(source->bytes_read(), 8 * size);
        EXPECT_FALSE(source->next());
      }
    }
    const auto source = open(path, ahead);
    EXPECT_FALSE(source->select(count + 1, 0));
    EXPECT_FALSE(source->select(1, count));
    EXPECT_FALSE(source->select(2, ~std::uint64_t{0}));
    EXPECT_EQ(contents(*source), data);
  }
  std::string text = npy("<f8", 6, data.substr(0, 48));
  text.replace(text.find("False, 'shape': (6,)"), 20, "True, 'shape': (2,3)");
  const std::string fortran = write(text);
  for (const bool ahead : {false, true}) {
    EXPECT_FALSE(open(fortran, ahead)->select(0, 6)) << "by index";
    const auto source = open(fortran, ahead);
    source->allow_any_order();
    EXPECT_EQ(source->resident_bytes(), ahead ? 0u : 48u);
    ASSERT_TRUE(source->select(1, 4));
    EXPECT_EQ(contents(*source), data.substr(8, 32)) << "in memory order";
  }
  Countdown own;
  EXPECT_FALSE(own.select(0, 1));
}

TEST_F(Sources, ReadDirectlyNoticeWhatChanges) {
  const std::string path = write(std::string(std::size_t{64} << 20, 'a'));
  const auto refused = [](Source& source) -> std::string {
    try {
      contents(source);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "accepted";
  };
  const std::string expected = path + ": was changed while it was being read: run again";
  auto source = read_directly(path, DType::uint8);
  ASSERT_TRUE(source->next());
  fs::resize_file(path, 5000);
  EXPECT_EQ(refused(*source), expected);
  source = read_directly(path, DType::uint8);
  fs::last_write_time(path, fs::last_write_time(path) - std::chrono::hours(1));
  EXPECT_EQ(refused(*source), expected);
}

// A direct read that the file system refuses goes through the page cache.
TEST_F(Sources, ReadDirectlyFromAnyPlaceToAnyAddress) {
  const std::string data = random_bytes(100000);
  io::FileStream file(write(data));
  file.read_directly();
  std::string found(5001, '\0');
  EXPECT_EQ(file.read_at(777, std::as_writable_bytes(std::span(found)).subspan(1)), 5000u);
  EXPECT_EQ(found.substr(1), data.substr(777, 5000));
  EXPECT_EQ(file.read_at(99999, std::as_writable_bytes(std::span(found))), 1u);
}

TEST_F(Sources, AreReadDirectlyWhereTheyAreLargerThanTheMemory) {
  const std::uint64_t memory = core::available_memory();
  const std::string path = write("a");
  std::error_code error;
  if (memory < std::uint64_t{1} << 42) fs::resize_file(path, memory + (std::uint64_t{8} << 30), error);  // sparse: it takes no room
  if (memory >= std::uint64_t{1} << 42 || error) GTEST_SKIP() << "no file can be made that is larger than the memory";
  InputOptions options = raw("u1");
  EXPECT_EQ(open_source(path, options)->next().value().bytes(), std::uint64_t{4} << 20);
  options.mapped = true;
  EXPECT_EQ(open_source(path, options)->next().value().bytes(), fs::file_size(path));
  options.mapped = false;
  options.count = 1000;
  EXPECT_EQ(open_source(path, options)->resident_bytes(), 1000u) << "a small part is mapped";
}

TEST_F(Sources, KnowTheMemoryThatThereIs) {
  const auto put = [&](const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  };
  const auto available = [&] { return core::available_memory(folder_); };
  EXPECT_EQ(available(), ~std::uint64_t{0});
  put("proc/meminfo", "MemTotal:       24105000 kB\nMemFree:         1000 kB\nMemAvailable:    4000 kB\nBuffers:          10 kB\n");
  EXPECT_EQ(available(), 4000u << 10);
  put("proc/self/cgroup", "0::/user/work\n");
  put("sys/fs/cgroup/user/work/memory.max", "max\n");
  EXPECT_EQ(available(), 4000u << 10);
  put("sys/fs/cgroup/user/memory.max", "3000000\n");
  EXPECT_EQ(available(), 3000000u) << "of the group above";
  put("sys/fs/cgroup/user/work/memory.max", "2000000\n");
  EXPECT_EQ(available(), 2000000u);
  put("proc/self/cgroup", "0::/not/there\n");
  put("sys/fs/cgroup/memory.max", "1000000\n");
  EXPECT_EQ(available(), 1000000u) << "in a container";
  put("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/a/b\n0::/\n");
  put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "500000\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(available(), 500000u) << "version 1";
}

TEST_F(Sources, MayBeDerived) {
  Countdown source;
  Report report;
  EXPECT_EQ(accumulate(source, {.device = Device::open("cpu"), .report = &report}).round(), 5050);
  EXPECT_EQ(report.bytes, 800u);
  EXPECT_EQ(report.variant, "exact_blocks");
}

}  // namespace
}  // namespace samesum
