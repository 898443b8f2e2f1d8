// Files that the program writes.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace samesum::cli {

/// A file that is going to be written. Made before the work is begun, so that a name that cannot be written to is found at once.
class OutputFile {
 public:
  /// An empty `path` stands for no file. @throws Error (usage) where `path` is one of `inputs`, or cannot be written.
  OutputFile(const std::string& path, const std::vector<std::string>& inputs);

  bool wanted() const noexcept { return !path_.empty(); }
  /// Writes `parts`, one after the other: the file is there whole, or as it was before, whatever happens. Ctrl-C too leaves nothing behind.
  void write(std::initializer_list<std::span<const std::byte>> parts) const;

 private:
  std::string path_;
};

}  // namespace samesum::cli
