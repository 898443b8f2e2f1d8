#include <samesum/array_file.hpp>

#include "io/array_source.hpp"
#include "io/mapped_file.hpp"
#include "io/npy.hpp"
#include "io/recognize.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace samesum {

ArrayFile ArrayFile::of_complex(std::string path) { return {std::move(path), std::nullopt, {}, true}; }

ArrayFile::ArrayFile(std::string path, std::optional<DType> raw_type, const Part& part)
    : ArrayFile(std::move(path), raw_type, part, false) {}

ArrayFile::ArrayFile(std::string path, std::optional<DType> raw_type, const Part& part, bool complex)
    : path_(std::move(path)), file_(std::make_shared<const io::MappedFile>(path_)) {
  const std::span<const std::byte> bytes = file_->bytes();
  const auto refuse = [this](std::string_view message) { throw Error(ErrorKind::usage, fmt::format("{}: {}", path_, message)); };

  if (io::is_npy(bytes)) {
    io::Npy npy;
    try {
      npy = io::parse_npy(bytes);
      if (!complex) io::refuse_complex(npy);
    } catch (const Error& error) {
      refuse(error.what());
    }
    if (part.offset != 0 || part.count) refuse(io::kNoPartOfNpy);
    if (npy.big_endian) refuse(fmt::format("its elements are big-endian {}, which open_source() reads", name_of(npy.type)));
    if (raw_type && *raw_type != npy.type) {
      refuse(fmt::format("a .npy file of {}, which contradicts the given type {} (that is for raw files: leave it out)", name_of(npy.type),
                         name_of(*raw_type)));
    }
    if (complex && !npy.complex) refuse(fmt::format("its elements are {}, and complex64 or complex128 is asked for", name_of(npy.type)));
    type_ = npy.type;
    complex_ = npy.complex;
    fortran_order_ = io::lies_in_fortran_order(npy);
    shape_ = std::move(npy.shape);
    offset_ = npy.offset;
    count_ = npy.count;
    return;
  }

  if (!raw_type) refuse(io::what_else(bytes));
  type_ = *raw_type;
  try {
    count_ = io::raw_count(bytes.size(), type_, part.offset, part.count);
  } catch (const Error& error) {
    refuse(error.what());
  }
  offset_ = part.offset;
  shape_ = {count_};
}

Array ArrayFile::array() const {
  return {file_->bytes().data() + offset_, shape_, type_, io::strides_of(shape_, type_, fortran_order_, complex_)};
}

const char* mapped_file_at(const void* address) noexcept { return io::MappedFile::name_at(address); }

void ArrayFile::check_unchanged() const {
  if (!file_->unchanged()) throw Error(ErrorKind::usage, fmt::format("{}: was changed while it was being read: run again", path_));
}

}  // namespace samesum
