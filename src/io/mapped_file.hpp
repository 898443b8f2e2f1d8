// A file mapped into memory, read-only.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <span>
#include <string>

namespace samesum::io {

/// Maps the whole of a regular file. Errors (usage) name the file and the system's reason.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const noexcept { return {static_cast<const std::byte*>(data_), size_}; }

  /// False once the file has been written to, or made longer or shorter.
  bool unchanged() const noexcept;

 private:
  int descriptor_ = -1;
  void* data_ = nullptr;
  std::size_t size_ = 0;
  timespec modified_{};
};

}  // namespace samesum::io
