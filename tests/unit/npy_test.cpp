// Array files: those that numpy writes are read, anything else is refused with a message that says why.
#include "io/npy.hpp"

#include <samesum/array_file.hpp>
#include <samesum/error.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace samesum {
namespace {

namespace fs = std::filesystem;
using io::parse_npy;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// A .npy file with this header text and the given number of data bytes.
std::string npy(std::string_view header, std::size_t data_bytes, int version = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) file += static_cast<char>(header.size() >> (8 * i));
  return file.append(header) + std::string(data_bytes, 'x');
}

std::string header(std::string_view descr, std::string_view shape, std::string_view order = "False") {
  return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + std::string(order) + ", 'shape': " + std::string(shape) + ", }   \n";
}

std::string refusal(std::string_view file) {
  try {
    parse_npy(bytes_of(file));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "accepted";
}

#define EXPECT_REFUSED(file, words) EXPECT_NE(refusal(file).find(words), std::string::npos) << refusal(file)

TEST(Npy, ReadsWhatNumpyWrites) {
  for (const int version : {1, 2, 3}) {
    const std::string file = npy(header("<f4", "(2, 3)"), 24, version);
    const io::Npy parsed = parse_npy(bytes_of(file));
    EXPECT_EQ(parsed.type, DType::float32);
    EXPECT_EQ(parsed.shape, (std::vector<std::uint64_t>{2, 3}));
    EXPECT_EQ(parsed.count, 6u);
    EXPECT_EQ(parsed.offset, file.size() - 24);
    EXPECT_FALSE(parsed.fortran_order);
  }
  EXPECT_TRUE(parse_npy(bytes_of(npy(header("<f8", "(1,)", "True"), 8))).fortran_order);
}

TEST(Npy, ReadsEveryShape) {
  EXPECT_EQ(parse_npy(bytes_of(npy(header("<f8", "()"), 8))).count, 1u);
  EXPECT_EQ(parse_npy(bytes_of(npy(header("<f8", "(5,)"), 40))).count, 5u);
  EXPECT_EQ(parse_npy(bytes_of(npy(header("<f8", "(0, 7)"), 0))).count, 0u);
  EXPECT_EQ(parse_npy(bytes_of(npy(header("<f8", "(18446744073709551615, 0, 18446744073709551615)"), 0))).count, 0u);
  EXPECT_EQ(parse_npy(bytes_of(npy(header("<f8", "(2L, 2L)"), 32))).count, 4u) << "integers as Python 2 wrote them";
  EXPECT_EQ(parse_npy(bytes_of(npy(header("<f8", "(1, 1, 1, 1, 1, 1, 1, 3,)"), 24))).count, 3u);
}

TEST(Npy, ToleratesOrderQuotesAndSpaces) {
  for (const std::string_view text :
       {"{'shape':(2,),'descr':'<f4','fortran_order':False}", "{\"descr\" : \"=f4\" ,\t'fortran_order' : True , 'shape' : ( 2 , ) }\n\n",
        "  {'descr': '|f4', 'shape': (2,), 'fortran_order': False, }  "}) {
    EXPECT_EQ(parse_npy(bytes_of(npy(text, 8))).count, 2u) << text;
  }
}

TEST(Npy, NamesTheTypeThatItRefuses) {
  EXPECT_REFUSED(npy(header("<i16", "(1,)"), 16), "int128 ('<i16')");
  EXPECT_REFUSED(npy(header("<f16", "(1,)"), 16), "float128 ('<f16')");
  EXPECT_REFUSED(npy(header("<c32", "(1,)"), 32), "complex256 ('<c32')");
  EXPECT_REFUSED(npy(header("|O", "(1,)"), 8), "Python objects ('|O')");
  EXPECT_REFUSED(npy(header("<U7", "(1,)"), 28), "text ('<U7')");
  EXPECT_REFUSED(npy(header("<M8[ns]", "(1,)"), 8), "dates");
  EXPECT_REFUSED(npy(header("", "(1,)"), 4), "unknown element type ''");
  EXPECT_REFUSED(npy(header("f", "(1,)"), 4), "unknown element type 'f'");
  EXPECT_REFUSED(npy(header("<f4\x1b[31m", "(1,)"), 4), "unknown element type '<f4?[31m'");
  EXPECT_REFUSED(npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4), "structured");
  EXPECT_REFUSED(npy("{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': (1,), }", 8), "structured");
}

TEST(Npy, KnowsTheByteOrder) {
  for (const std::string_view descr : {"<f4", "=f4", "|f4", ">f4"}) {
    const io::Npy parsed = parse_npy(bytes_of(npy(header(descr, "(1,)"), 4)));
    EXPECT_EQ(parsed.type, DType::float32);
    EXPECT_EQ(parsed.big_endian, descr[0] == '>');
  }
  EXPECT_FALSE(parse_npy(bytes_of(npy(header(">u1", "(1,)"), 1))).big_endian) << "a byte has no order";
}

TEST(Npy, TakesBoolsAsZerosAndOnes) {
  const io::Npy parsed = parse_npy(bytes_of(npy(header("|b1", "(3,)"), 3)));
  EXPECT_EQ(parsed.type, DType::uint8);
  EXPECT_FALSE(parsed.big_endian);
}

TEST(Npy, TakesComplexNumbersAsPartsAlongAnAxis) {
  const io::Npy parsed = parse_npy(bytes_of(npy(header(">c16", "(3, 2)", "True"), 96)));
  EXPECT_TRUE(parsed.complex);
  EXPECT_TRUE(parsed.big_endian);
  EXPECT_EQ(parsed.type, DType::float64);
  EXPECT_EQ(parsed.shape, (std::vector<std::uint64_t>{3, 2, 2}));
  EXPECT_EQ(parsed.count, 12u);
  EXPECT_TRUE(io::lies_in_fortran_order(parsed));
  EXPECT_FALSE(io::lies_in_fortran_order(parse_npy(bytes_of(npy(header("<c8", "(3,)", "True"), 24))))) << "one axis and the parts";
  EXPECT_EQ(io::strides_of(parsed.shape, parsed.type, true, true), (std::vector<std::int64_t>{16, 48, 8}));
  EXPECT_EQ(io::strides_of(parsed.shape, parsed.type, false, true), (std::vector<std::int64_t>{32, 16, 8}));
  EXPECT_REFUSED(npy(header("<c8", "(3,)"), 23), "complex64 of shape (3,) take 24 bytes, 23 are there");
}

TEST(Npy, OrderMattersWhereTwoDimensionsAreLargerThanOne) {
  const auto lies = [](std::string_view shape, std::size_t bytes, std::string_view order) {
    return io::lies_in_fortran_order(parse_npy(bytes_of(npy(header("<f4", shape, order), bytes))));
  };
  EXPECT_TRUE(lies("(2, 3)", 24, "True"));
  EXPECT_TRUE(lies("(2, 1, 3)", 24, "True"));
  EXPECT_FALSE(lies("(2, 3)", 24, "False"));
  for (const std::string_view shape : {"(6,)", "(6, 1)", "(1, 6)", "(1, 6, 1)"}) EXPECT_FALSE(lies(shape, 24, "True")) << shape;
  EXPECT_FALSE(lies("(0, 3)", 0, "True"));
}

// Format 1 has 16 bits for the length of the header, format 2 has 32.
TEST(Npy, WritesHeadersOfAnyLength) {
  for (const std::size_t dimensions : {0, 1, 2, 60, 64}) {
    const std::vector<std::uint64_t> shape(dimensions, 1);
    std::vector<std::byte> file = npy_header(DType::float32, shape);
    EXPECT_EQ(file.size() % 64, 0u);
    EXPECT_EQ(file[6], std::byte{1});
    file.resize(file.size() + 4);
    EXPECT_EQ(parse_npy(file).shape, shape);
  }
  for (const std::size_t dimensions : {21800, 21820, 21840, 21860, 30000}) {  // 3 bytes each: around 2^16
    const std::vector<std::byte> file = npy_header(DType::float32, std::vector<std::uint64_t>(dimensions, 1));
    EXPECT_EQ(file.size() % 64, 0u);
    EXPECT_EQ(io::npy_offset(file), file.size()) << dimensions;
    EXPECT_EQ(file.back(), std::byte{'\n'});
    EXPECT_EQ(file[6], file.size() - 10 <= 0xffff ? std::byte{1} : std::byte{2});
  }
}

TEST(Npy, RefusesBadHeaders) {
  EXPECT_REFUSED(npy("", 0), "'{' expected");
  EXPECT_REFUSED(npy("{}", 0), "no 'descr'");
  EXPECT_REFUSED(npy("{'descr': '<f4', 'shape': (1,)}", 4), "no 'fortran_order'");
  EXPECT_REFUSED(npy("{'descr': '<f4', 'fortran_order': False}", 4), "no 'shape'");
  EXPECT_REFUSED(npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4), "repeated key 'descr'");
  EXPECT_REFUSED(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", 4), "unknown key 'x'");
  EXPECT_REFUSED(npy("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", 4), "True or False expected");
  EXPECT_REFUSED(npy("{'descr': '<f4', 'fortran_order': False, 'shape': [1]}", 4), "'(' expected");
  EXPECT_REFUSED(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", 4), ", found its end");
  EXPECT_REFUSED(npy("{'descr': '<f4, 'fortran_order': False, 'shape': (1,)}", 4), "unknown element type '<f4, '");
  EXPECT_REFUSED(npy("{'descr: 1", 4), "a string that ends expected");
  EXPECT_REFUSED(npy("{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (1,)}", 4), "without escapes");
  EXPECT_REFUSED(npy(header("<f4", "(1,)") + "import os", 4), "nothing but spaces");
  EXPECT_REFUSED(npy(std::string_view("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}\0", 56), 4), "nothing but spaces");
  EXPECT_REFUSED(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'shape': (2,)}", 4), "repeated key 'shape'");
}

TEST(Npy, RefusesBadShapes) {
  EXPECT_REFUSED(npy(header("<f4", "(-1,)"), 4), "not negative");
  EXPECT_REFUSED(npy(header("<f4", "(3)"), 12), "',' after the only dimension");
  EXPECT_REFUSED(npy(header("<f4", "(,)"), 4), "a dimension expected");
  EXPECT_REFUSED(npy(header("<f4", "(1.5,)"), 4), "expected");
  EXPECT_REFUSED(npy(header("<f4", "(1,,2)"), 4), "a dimension expected");
  EXPECT_REFUSED(npy(header("<f4", "((1,),)"), 4), "a dimension expected");
  EXPECT_REFUSED(npy(header("<f4", "(18446744073709551616,)"), 4), "under 2^64");
  EXPECT_REFUSED(npy(header("<f4", "(4294967296, 4294967296)"), 4), "more elements than memory can hold");
  EXPECT_REFUSED(npy(header("<f8", "(9223372036854775807,)"), 4), "more elements than memory can hold");
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1, ";
  EXPECT_REFUSED(npy(header("<f4", many + ")"), 4), "over 64 dimensions");
  EXPECT_REFUSED(npy("{'shape': " + std::string(60000, '('), 0), "a dimension expected");
  EXPECT_REFUSED(npy("{'descr': " + std::string(60000, '['), 0), "structured");
}

TEST(Npy, CountsTheBytesOfTheData) {
  EXPECT_REFUSED(npy(header("<f4", "(2, 3)"), 23), "float32 of shape (2, 3) take 24 bytes, 23 are there");
  EXPECT_REFUSED(npy(header("<f4", "(2, 3)"), 0), "24 bytes, 0 are there");
  EXPECT_REFUSED(npy(header("<f4", "(2, 3)"), 25), "1 bytes follow the array");
  EXPECT_REFUSED(npy(header("<f8", "()"), 0), "shape () take 8 bytes");
}

TEST(Npy, RefusesFilesThatEndInTheHeader) {
  const std::string whole = npy(header("<f4", "(1,)"), 4);
  for (std::size_t size = 0; size + 4 < whole.size(); ++size) {
    EXPECT_NE(refusal(whole.substr(0, size)), "accepted") << size;
  }
  EXPECT_REFUSED(whole.substr(0, 7), "ends within the header");
  EXPECT_REFUSED(whole.substr(0, 9), "ends within the header");
  std::string long_header = whole;
  long_header[9] = '\x7f';
  EXPECT_REFUSED(long_header, "its header should be");
  std::string version = whole;
  version[6] = 4;
  EXPECT_REFUSED(version, "unknown version 4.0");
}

// A folder for one test's files.
class ArrayFiles : public testing::Test {
 protected:
  ArrayFiles() {
    std::string name = (fs::temp_directory_path() / "samesum.XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~ArrayFiles() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::string write(const std::string& name, std::string_view content) const {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
    return path;
  }

  static std::string refused(const std::string& path, std::optional<DType> type = std::nullopt) {
    try {
      const ArrayFile file(path, type);
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.find(path + ": "), 0u) << message;
      return message.substr(path.size() + 2);
    }
    return "accepted";
  }

  fs::path folder_;
};

TEST_F(ArrayFiles, MapsTheElements) {
  const std::string path = write("no extension", npy(header("<f4", "(2,)"), 8));
  const ArrayFile file(path);
  EXPECT_EQ(file.path(), path);
  EXPECT_EQ(file.type(), DType::float32);
  EXPECT_EQ(file.shape(), std::vector<std::uint64_t>{2});
  const ArrayFile copy = file;
  ASSERT_EQ(copy.array().size(), 2u);
  EXPECT_EQ(std::memcmp(copy.array().data(), "xxxxxxxx", 8), 0);
  EXPECT_EQ(copy.array().data(), file.array().data());
}

TEST_F(ArrayFiles, TakesRawNumbersOfAGivenType) {
  const std::string path = write("raw.npy", std::string(24, 'x'));
  EXPECT_EQ(ArrayFile(path, DType::float32).array().size(), 6u);
  EXPECT_EQ(ArrayFile(path, DType::float64).shape(), std::vector<std::uint64_t>{3});
  EXPECT_EQ(ArrayFile(write("empty", ""), DType::float64).array().size(), 0u);
  EXPECT_NE(refused(path).find("not a .npy file"), std::string::npos);
  EXPECT_EQ(refused(write("odd", std::string(23, 'x')), DType::float64), "its size, 23 bytes, is no multiple of the 8 bytes of a float64");
}

TEST_F(ArrayFiles, RefusesWhatCannotBeMapped) {
  EXPECT_EQ(refused(write("big.npy", npy(header(">f4", "(2,)"), 8))), "its elements are big-endian float32, which open_source() reads");
}

TEST_F(ArrayFiles, RefusesATypeThatContradictsTheHeader) {
  const std::string path = write("x.npy", npy(header("<f4", "(2,)"), 8));
  EXPECT_EQ(ArrayFile(path, DType::float32).array().size(), 2u);
  EXPECT_NE(refused(path, DType::float64).find("contradicts"), std::string::npos);
}

TEST_F(ArrayFiles, SaysWhyAFileCannotBeRead) {
  EXPECT_NE(refused(folder_ / "nowhere").find("No such file"), std::string::npos);
  EXPECT_NE(refused(folder_).find("is a directory"), std::string::npos);
  EXPECT_NE(refused("/dev/null").find("is a device"), std::string::npos);
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(refused(pipe).find("is a pipe"), std::string::npos);
  EXPECT_EQ(refused(write("empty.npy", "")), "the file is empty");
  EXPECT_NE(refused("/proc/version").find("says that it has no bytes, and has some"), std::string::npos);
  EXPECT_NE(refused(write("x.npz", "PK\x03\x04....")).find("zip archive"), std::string::npos);
  if (geteuid() != 0) {
    const std::string path = write("secret.npy", "");
    fs::permissions(path, fs::perms::none);
    EXPECT_NE(refused(path).find("Permission denied"), std::string::npos);
  }
}

TEST_F(ArrayFiles, AreFoundByAnAddress) {
  const std::string path = write("x.npy", npy(header("<f4", "(2,)"), 8)), other = write("y.npy", npy(header("<f4", "(2,)"), 8));
  const int local = 0;
  EXPECT_EQ(mapped_file_at(&local), nullptr);
  const ArrayFile second(other);
  const void* where = nullptr;
  {
    const ArrayFile file(path);
    where = file.array().data();
    EXPECT_EQ(mapped_file_at(where), path);
    EXPECT_EQ(mapped_file_at(second.array().data()), other);
  }
  EXPECT_EQ(mapped_file_at(where), nullptr);
}

TEST_F(ArrayFiles, KnowTheirOrder) {
  EXPECT_TRUE(ArrayFile(write("f.npy", npy(header("<f4", "(2, 1, 3)", "True"), 24))).fortran_order());
  EXPECT_FALSE(ArrayFile(write("c.npy", npy(header("<f4", "(2, 1, 3)", "False"), 24))).fortran_order());
  EXPECT_FALSE(ArrayFile(write("f.npy", npy(header("<f4", "(6, 1)", "True"), 24))).fortran_order());
}

TEST_F(ArrayFiles, NoticesAFileThatIsWrittenTo) {
  const std::string path = write("x.npy", npy(header("<f4", "(2,)"), 8));
  const ArrayFile file(path);
  EXPECT_NO_THROW(file.check_unchanged());
  fs::resize_file(path, fs::file_size(path) - 4);
  EXPECT_THROW(file.check_unchanged(), Error);
}

}  // namespace
}  // namespace samesum
