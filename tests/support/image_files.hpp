// Image files of every supported kind, written by the formats' libraries.
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
  std::vector<std::uint8_t> pixels;  ///< as expected from the reader
  std::vector<std::uint8_t> bytes;   ///< the file
};

std::vector<ImageFile> image_files();

}  // namespace samesum::test
