// An unnamed file, which disappears when the process ends in any way.
#pragma once

#include <cstddef>
#include <span>

namespace samesum::io {

/// Created in the folder that TMPDIR names, or /tmp. Errors (usage) name the folder and the system's reason.
class TemporaryFile {
 public:
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void append(std::span<const std::byte> bytes);
  /// The descriptor, which the caller must close.
  int release() noexcept;

 private:
  int descriptor_ = -1;
};

}  // namespace samesum::io
