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

/// A file of numbers, mapped into memory: opening it reads its header alone, and no element is ever copied. Copies share the mapping,
/// and any number of threads may read one object.
///
/// A .npy file (format 1, 2 or 3; any type that this library has, and bool as uint8; little-endian) is known by its first bytes, not by its
/// name. Any other file is taken for raw little-endian numbers if `raw_type` is given, and refused otherwise.
class ArrayFile {
 public:
  /// @throws Error (usage) that names the file and what is wrong with it: not there, no permission, no regular file, a damaged or
  /// unsupported header, more or fewer bytes than the shape asks for, a `raw_type` that contradicts the header.
  explicit ArrayFile(std::string path, std::optional<DType> raw_type = std::nullopt) : ArrayFile(std::move(path), raw_type, {}) {}

  /// Which part of a raw file is taken: what lies before and behind it is not looked at.
  struct Part {
    std::uint64_t offset = 0;                 ///< bytes before the first element, any number of them
    std::optional<std::uint64_t> count = {};  ///< elements; unset: all up to the end of the file
  };
  /// A part of a raw file. @throws Error (usage) for a .npy file, unless the part is all of it, and where the file ends before.
  ArrayFile(std::string path, std::optional<DType> raw_type, const Part& part);

  const std::string& path() const noexcept { return path_; }
  DType type() const noexcept { return type_; }
  /// As numpy has it: empty for a single number. A raw file is one-dimensional.
  const std::vector<std::uint64_t>& shape() const noexcept { return shape_; }
  /// Whether the elements lie in Fortran order, the first index fastest, and this is not the order of their indices too (as it is where no
  /// two dimensions are larger than 1). open_source() gives the elements of such an array by index.
  bool fortran_order() const noexcept { return fortran_order_; }

  /// The elements, where they lie in the file. Valid as long as a copy of this object lives.
  ///
  /// A file that another process makes shorter takes its pages with it: reading those raises SIGBUS, as with every mapped file.
  Array array() const;
  std::uint64_t bytes() const noexcept { return count_ * size_of(type_); }  ///< of the elements

  /// @throws Error (usage) where the file was written to since it was opened: what was read through array() may be a mixture.
  void check_unchanged() const;

 private:
  std::string path_;
  std::shared_ptr<const io::MappedFile> file_;
  DType type_ = DType::float32;
  std::vector<std::uint64_t> shape_;
  bool fortran_order_ = false;
  std::uint64_t offset_ = 0;  // of the first element
  std::uint64_t count_ = 0;
};

/// The name of the file that this library has mapped where `address` lies; null where it has mapped none. For a handler of SIGBUS, which
/// is how a process learns that a mapped file became shorter: takes no lock and allocates nothing. O(files mapped at the same time).
const char* mapped_file_at(const void* address) noexcept;

/// What stands before the elements in a .npy file of such an array (format 1; 2 where the shape is too long for that), whose elements
/// follow in this machine's byte order.
std::vector<std::byte> npy_header(DType type, const std::vector<std::uint64_t>& shape);

}  // namespace samesum
