// The header of a .npy file: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <samesum/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::io {

/// The contents of a header, checked against the size of the file.
struct Npy {
  DType type = DType::float32;  ///< of complex numbers: that of their parts
  bool complex = false;         ///< the elements are parts of complex numbers, along a last axis of two in `shape`
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::uint64_t count = 0;   ///< elements: the product of the shape, 1 for ()
  std::uint64_t offset = 0;  ///< of the first element, from the start of the file
};

/// @throws Error (usage) for complex numbers, which few operations take.
void refuse_complex(const Npy& npy);

/// Whether `file` begins with the signature of .npy.
bool is_npy(std::span<const std::byte> file) noexcept;

/// Reads the header of `file`, which is the whole file: the elements must fill the rest of it exactly.
/// @throws Error (usage) with what is wrong, without the file's name.
Npy parse_npy(std::span<const std::byte> file);

// The same in steps, for a file that is a stream:

/// The offset of the elements, from the first kNpyStart bytes (or all, where there are fewer).
std::uint64_t npy_offset(std::span<const std::byte> start);
inline constexpr std::size_t kNpyStart = 12;
/// Reads the header in the first npy_offset() bytes or more of the file; the elements are not checked.
Npy parse_npy_header(std::span<const std::byte> start);
/// Messages for elements of `present` bytes that end early, and for `more` bytes after the elements.
std::string too_short(const Npy& npy, std::uint64_t present);
std::string too_long(const Npy& npy, std::string_view more);

/// Whether Fortran order differs from C order for these elements, and they are in Fortran order.
bool lies_in_fortran_order(const Npy& npy) noexcept;

/// The strides in bytes of a contiguous array in C or Fortran order. The parts of a complex number lie side by side in both.
std::vector<std::int64_t> strides_of(const std::vector<std::uint64_t>& shape, DType type, bool fortran_order, bool complex = false);

/// "(3, 4)", "(5,)", "()": as Python writes a shape.
std::string shape_text(std::span<const std::uint64_t> shape);

}  // namespace samesum::io
