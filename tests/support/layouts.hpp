// Arrays of any layout, as parts of a three-dimensional one: every pattern is tested on them.
#pragma once

#include <samesum/array.hpp>
#include <samesum/types.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace samesum::test {

constexpr std::uint64_t kDepth = 5, kRows = 37, kColumns = 50, kSize = kDepth * kRows * kColumns;

/// A part of a cube, or the cube in another order.
struct Layout {
  std::string name;
  std::function<Array(const Array& cube)> of;  // of a cube of kDepth x kRows x kColumns elements
};

/// A few rows of so many elements: aligned to 16 bytes if the cube begins an element behind such an address.
inline Array aligned_rows(const Array& cube, std::uint64_t length) {
  return cube.at(0, 0).slice(0, 0, kRows / 8, 8).slice(1, 16 / size_of(cube.type()) - 1, length);
}

inline const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = {
      {"C order", [](const Array& cube) { return cube; }},
      {"Fortran order", [](const Array& cube) { return cube.transposed(); }},
      {"one axis", [](const Array& cube) { return cube.reshaped({kSize}); }},
      {"every third element", [](const Array& cube) { return cube.reshaped({kSize}).slice(0, 1, kSize / 3, 3); }},
      {"from the end", [](const Array& cube) { return cube.reshaped({kSize}).slice(0, kSize - 1, kSize, -1); }},
      {"one element again and again", [](const Array& cube) { return cube.reshaped({kSize}).slice(0, 7, 60, 0); }},
      {"misaligned rows", [](const Array& cube) { return cube.slice(2, 1, kColumns - 3); }},
      {"a column", [](const Array& cube) { return cube.at(0, 1).column(9); }},
      {"the middle axis", [](const Array& cube) { return cube.at(1, 3); }},
      {"two axes backwards",
       [](const Array& cube) { return cube.slice(0, kDepth - 1, kDepth, -1).slice(2, kColumns - 1, kColumns / 2, -2); }},
      {"axes in another order, with gaps", [](const Array& cube) { return cube.slice(1, 2, 11, 3).transposed(); }},
      {"two columns", [](const Array& cube) { return cube.slice(2, 10, 2); }},
      {"rows of 16 aligned bytes", [](const Array& cube) { return aligned_rows(cube, 16 / size_of(cube.type())); }},
      {"rows of 16 aligned bytes and one element", [](const Array& cube) { return aligned_rows(cube, 16 / size_of(cube.type()) + 1); }},
      {"rows of 32 aligned bytes", [](const Array& cube) { return aligned_rows(cube, 32 / size_of(cube.type())); }},
      {"nothing", [](const Array& cube) { return cube.slice(1, 0, 0); }},
      {"one element", [](const Array& cube) { return cube.at(0, 4).at(0, 36).at(0, 49); }},
  };
  return all;
}

/// A contiguous copy in C order, by a plain loop.
inline std::vector<std::byte> packed(const Array& array) {
  std::vector<std::byte> bytes;
  std::vector<std::uint64_t> index(array.rank());
  for (std::uint64_t number = 0; number < array.size(); ++number) {
    std::uint64_t left = number;
    const auto* at = static_cast<const std::byte*>(array.data());
    for (std::size_t axis = array.rank(); axis-- > 0;) {
      at += static_cast<std::int64_t>(left % array.shape()[axis]) * array.strides()[axis];
      left /= array.shape()[axis];
    }
    bytes.insert(bytes.end(), at, at + size_of(array.type()));
  }
  return bytes;
}

}  // namespace samesum::test
