#include <samesum/array_file.hpp>

#include "exact/serialized.hpp"
#include "io/mapped_file.hpp"
#include "io/npy.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace samesum {
namespace {

bool starts_with(std::span<const std::byte> bytes, std::string_view prefix) noexcept {
  return bytes.size() >= prefix.size() && std::memcmp(bytes.data(), prefix.data(), prefix.size()) == 0;
}

// What a user may have meant by a file that is neither .npy nor said to be raw.
std::string_view hint(std::span<const std::byte> bytes) {
  if (bytes.empty()) return "the file is empty";
  if (starts_with(bytes, exact::kMagic)) return "a partial sum; 'samesum merge' reads those";
  if (starts_with(bytes, "PK\x03\x04")) return "a zip archive (.npz?); samesum reads the .npy files that unzip takes out of it";
  return "not a .npy file; for raw little-endian numbers give their type (--dtype float32 or float64)";
}

}  // namespace

ArrayFile::ArrayFile(std::string path, std::optional<DType> raw_type)
    : path_(std::move(path)), file_(std::make_shared<const io::MappedFile>(path_)) {
  const std::span<const std::byte> bytes = file_->bytes();
  const auto refuse = [this](std::string_view message) { throw Error(ErrorKind::usage, fmt::format("{}: {}", path_, message)); };

  if (io::is_npy(bytes)) {
    io::Npy npy;
    try {
      npy = io::parse_npy(bytes);
    } catch (const Error& error) {
      refuse(error.what());
    }
    if (raw_type && *raw_type != npy.type) {
      refuse(fmt::format("a .npy file of {}, which contradicts the given type {} (that is for raw files: leave it out)", name_of(npy.type),
                         name_of(*raw_type)));
    }
    type_ = npy.type;
    shape_ = std::move(npy.shape);
    offset_ = npy.offset;
    count_ = npy.count;
    return;
  }

  if (!raw_type) refuse(hint(bytes));
  type_ = *raw_type;
  if (bytes.size() % size_of(type_) != 0) {
    refuse(fmt::format("its size, {} bytes, is no multiple of the {} bytes of a {}", bytes.size(), size_of(type_), name_of(type_)));
  }
  count_ = bytes.size() / size_of(type_);
  shape_ = {count_};
}

View ArrayFile::view() const noexcept { return {file_->bytes().data() + offset_, count_, type_}; }

void ArrayFile::check_unchanged() const {
  if (!file_->unchanged()) throw Error(ErrorKind::usage, fmt::format("{}: was changed while it was being read: run again", path_));
}

}  // namespace samesum
