// Files that the program writes.
#pragma once

#include "output.hpp"

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::cli {

inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

/// A file that is going to be written. Made before the work is begun, so that a name that cannot be written to is found at once.
class OutputFile {
 public:
  /// An empty `path` stands for no file, "-" for standard output. @throws Error (usage) where `path` is one of `inputs`, by whatever name
  /// ("-" is standard input), or cannot be written.
  OutputFile(const std::string& path, const std::vector<std::string>& inputs);

  bool wanted() const noexcept { return !path_.empty(); }
  /// Writes `parts`, one after the other: the file is there whole, or as it was before, whatever happens; a signal too leaves nothing
  /// behind. It keeps its permissions. Standard output is taken from `out`.
  void write(Output& out, std::initializer_list<std::span<const std::byte>> parts) const;
  /// The same of what `produce` gives, piece by piece; what it throws leaves the file as it was.
  using Sink = std::function<void(std::span<const std::byte>)>;
  void write(Output& out, const std::function<void(const Sink&)>& produce) const;

 private:
  std::string path_;
};

}  // namespace samesum::cli
