// Arrays in files: .npy, and raw numbers of a type that the caller names.
#pragma once

#include <samesum/array.hpp>
#include <samesum/export.hpp>
#include <samesum/types.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace samesum::io {
class MappedFile;
}

namespace samesum SAMESUM_EXPORT {

/// A file of numbers, mapped into memory: opening it reads only its header, and elements are never copied. Copies share the mapping, and
/// any number of threads may read one object.
///
/// A .npy file (format 1, 2 or 3; any type that this library has, and bool as uint8; little-endian) is recognized by its first bytes, not
/// by its name. Any other file is read as raw little-endian numbers if `raw_type` is given, and refused otherwise.
class ArrayFile {
 public:
  /// @throws Error (usage) that names the file and what is wrong with it: not there, no permission, no regular file, a damaged or
  /// unsupported header, more or fewer bytes than the shape asks for, a `raw_type` that contradicts the header.
  explicit ArrayFile(std::string path, std::optional<DType> raw_type = std::nullopt) : ArrayFile(std::move(path), raw_type, {}) {}

  /// The part of a raw file that is read; the bytes before and after it are ignored.
  struct Part {
    std::uint64_t offset = 0;                 ///< bytes before the first element; need not be aligned
    std::optional<std::uint64_t> count = {};  ///< elements; unset: all up to the end of the file
  };
  /// A part of a raw file. @throws Error (usage) for a .npy file, unless the part is all of it, and if the file is too short.
  ArrayFile(std::string path, std::optional<DType> raw_type, const Part& part);

  /// A .npy file of complex64 or complex128, as an array of their parts: `ComplexArray(file.array())`. @throws Error (usage) as above, and
  /// for elements of any other type; the constructors refuse complex numbers.
  static ArrayFile of_complex(std::string path);

  const std::string& path() const noexcept { return path_; }  ///< as it was opened
  DType type() const noexcept { return type_; }               ///< of the elements
  /// Whether the elements are the parts of complex numbers, which lie along the last axis: the file's shape, and an axis of two.
  bool complex() const noexcept { return complex_; }
  /// The shape, as in numpy: empty for a single number. A raw file is one-dimensional.
  const std::vector<std::uint64_t>& shape() const noexcept { return shape_; }
  /// Whether the elements lie in Fortran order (the first index fastest) and that differs from C order, as it does if at least two
  /// dimensions are larger than 1. open_source() gives the elements of such an array in C order.
  bool fortran_order() const noexcept { return fortran_order_; }

  /// The offset of the first element in the file, in bytes.
  std::uint64_t offset() const noexcept { return offset_; }

  /// The elements, in place in the file. Valid as long as a copy of this object lives.
  ///
  /// If another process truncates the file, reading the lost pages raises SIGBUS, as with every mapped file.
  Array array() const;
  std::uint64_t bytes() const noexcept { return count_ * size_of(type_); }  ///< of the elements

  /// @throws Error (usage) if the file was modified since it was opened: data read through array() may be inconsistent.
  void check_unchanged() const;

 private:
  ArrayFile(std::string path, std::optional<DType> raw_type, const Part& part, bool complex);

  std::string path_;
  std::shared_ptr<const io::MappedFile> file_;
  DType type_ = DType::float32;
  std::vector<std::uint64_t> shape_;
  bool complex_ = false;
  bool fortran_order_ = false;
  std::uint64_t offset_ = 0;  // of the first element
  std::uint64_t count_ = 0;
};

/// The name of the file mapped by this library that contains `address`; null if there is none. For a handler of SIGBUS, the signal that a
/// truncated mapped file raises: async-signal-safe (no lock, no allocation). O(files mapped at the same time).
const char* mapped_file_at(const void* address) noexcept;

/// The header of a .npy file for such an array (format 1; 2 if the shape is too long for that); the elements follow in this machine's
/// byte order. `complex`: these are complex numbers, with parts of that type.
std::vector<std::byte> npy_header(DType type, const std::vector<std::uint64_t>& shape, bool complex = false);

}  // namespace samesum
