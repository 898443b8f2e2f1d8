// Files mapped into memory, read-only.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <span>
#include <string>

namespace samesum::io {

/// Maps a whole regular file. Errors (usage) name the file and the system's reason. mapped_file_at() finds the file by an address.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  /// Maps an unnamed file and takes ownership of `descriptor`; `name` is for messages.
  MappedFile(int descriptor, std::string name);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const noexcept { return {static_cast<const std::byte*>(data_), size_}; }

  /// See mapped_file_at().
  static const char* name_at(const void* address) noexcept;

  /// False once the file was modified or its size changed.
  bool unchanged() const noexcept;

 private:
  void map();

  std::string name_;
  int descriptor_ = -1;
  void* data_ = nullptr;
  std::size_t size_ = 0;
  timespec modified_{};
  struct Node;
  Node* node_ = nullptr;  // its node in the list of mapped files
};

}  // namespace samesum::io
