// The header of a .npy file: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <samesum/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace samesum::io {

/// What a header says, checked against the size of the file.
struct Npy {
  DType type = DType::float32;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::uint64_t count = 0;   ///< elements: the product of the shape, 1 for ()
  std::uint64_t offset = 0;  ///< of the first element, from the start of the file
};

/// Whether `file` begins as a .npy file does.
bool is_npy(std::span<const std::byte> file) noexcept;

/// Reads the header of `file`, which is the whole file: the elements must fill what is left of it exactly.
/// @throws Error (usage) that says what is wrong, without the file's name.
Npy parse_npy(std::span<const std::byte> file);

/// "(3, 4)", "(5,)", "()": as Python writes a shape.
std::string shape_text(std::span<const std::uint64_t> shape);

}  // namespace samesum::io
