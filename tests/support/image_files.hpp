// Image files of every kind that is read, made by the libraries that write them.
#pragma once

#include <samesum/types.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace samesum::test {

struct ImageFile {
  std::string name;
  std::uint64_t width, height;
  std::uint32_t channels;
  DType type;
  bool exact;                        ///< not JPEG
  std::vector<std::uint8_t> pixels;  ///< as they are read
  std::vector<std::uint8_t> bytes;   ///< of the file
};

std::vector<ImageFile> image_files();

}  // namespace samesum::test
