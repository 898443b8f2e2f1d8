// A file without a name, which is gone with the process, however that ends.
#pragma once

#include <cstddef>
#include <span>

namespace samesum::io {

/// In the folder that TMPDIR names, or /tmp. Errors (usage) name the folder and the system's reason.
class TemporaryFile {
 public:
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void append(std::span<const std::byte> bytes);
  /// The file, which is the caller's to close from now on.
  int release() noexcept;

 private:
  int descriptor_ = -1;
};

}  // namespace samesum::io
