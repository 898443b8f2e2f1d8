// Output files.
#pragma once

#include "output/output.hpp"

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::cli {

inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

/// Throws an Error of kind usage: "path: what", with the message of errno's `code`.
[[noreturn]] void fail(const std::string& path, std::string_view what);
[[noreturn]] void fail(const std::string& path, std::string_view what, int code);

/// An output file. Constructed before the work begins, so that an unwritable name is reported at once.
class OutputFile {
 public:
  /// An empty `path` means no file, "-" standard output. @throws Error (usage) where `path` is the same file as one of `inputs` ("-" is
  /// standard input), or cannot be written.
  OutputFile(const std::string& path, const std::vector<std::string>& inputs);

  bool wanted() const noexcept { return !path_.empty(); }
  /// Writes `parts` in sequence, atomically: in any case, signals included, the file is complete or unchanged. It keeps its permissions.
  /// Standard output is written through `out`.
  void write(Output& out, std::initializer_list<std::span<const std::byte>> parts) const;
  /// The same for pieces given by `produce`; if that throws, the file is unchanged.
  using Sink = std::function<void(std::span<const std::byte>)>;
  void write(Output& out, const std::function<void(const Sink&)>& produce) const;

 private:
  std::string path_;
};

}  // namespace samesum::cli
