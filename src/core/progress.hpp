// Long work in parts, with progress and cancellation between them.
#pragma once

#include "core/threads/function_ref.hpp"
#include "core/view.hpp"

#include <samesum/options.hpp>
#include <samesum/source.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace samesum::core {

/// The bytes of all elements of `source`, where that is known before they are read; else 0.
inline std::uint64_t known_bytes(const Source& source) {
  if (source.resident_bytes() != 0 || !source.type()) return source.resident_bytes();
  const std::vector<std::uint64_t> shape = source.shape();
  std::uint64_t bytes = shape.empty() ? 0 : size_of(*source.type());
  for (const std::uint64_t extent : shape) bytes *= extent;
  return bytes;
}

class ProgressParts {
 public:
  /// The bytes of a part: some milliseconds of work on a CPU; on devices with kernels so large that the overhead of a part is small
  /// compared with its upload.
  static constexpr std::uint64_t kPartBytes = std::uint64_t{32} << 20, kKernelPartBytes = std::uint64_t{256} << 20;

  ProgressParts(const Options& options, std::uint64_t total, bool on_kernels = false)
      : callback_(options.progress), total_(total), part_bytes_(on_kernels ? kKernelPartBytes : kPartBytes) {}

  /// Whether the caller has a progress function.
  bool wanted() const noexcept { return static_cast<bool>(callback_); }
  /// Reports `bytes` more as done. Exceptions of the caller's function propagate.
  void add(std::uint64_t bytes) {
    done_ += bytes;
    if (callback_) callback_({done_, total_});
  }

  /// Calls body(first, count) for `size` elements of `bytes` bytes each, in parts if progress is to be reported: at least once.
  void for_parts(std::uint64_t size, std::uint64_t bytes, FunctionRef<void(std::uint64_t, std::uint64_t)> body) {
    if (!wanted()) return body(std::uint64_t{0}, size);
    const std::uint64_t part = part_bytes_ / bytes;
    for (std::uint64_t first = 0; first == 0 || first < size; first += part) {
      const std::uint64_t count = std::min(part, size - first);
      body(first, count);
      add(count * bytes);
    }
  }
  /// body(View) for all of `data`, likewise.
  void for_parts(View data, FunctionRef<void(View)> body) {
    for_parts(data.size(), size_of(data.type()), [&](std::uint64_t first, std::uint64_t count) { body(data.part(first, count)); });
  }
  /// The same for two views with equally many elements: body(View, View).
  void for_parts(View a, View b, FunctionRef<void(View, View)> body) {
    if (!wanted()) return body(a, b);
    const std::uint64_t part = part_bytes_ / size_of(a.type());
    for (std::uint64_t first = 0; first == 0 || first < a.size(); first += part) {
      const std::uint64_t count = std::min(part, a.size() - first);
      body(a.part(first, count), b.part(first, count));
      add(2 * count * size_of(a.type()));
    }
  }

  /// The options for a chunk of a source: its progress continues from the end of the chunks before it.
  Options of_chunk(Options options) const {
    if (callback_) options.progress = [this](const Progress& chunk) { callback_({done_ + chunk.done, total_}); };
    return options;
  }
  /// To be called after a chunk whose progress was reported.
  void skip(std::uint64_t bytes) noexcept { done_ += bytes; }

 private:
  const std::function<void(const Progress&)>& callback_;
  std::uint64_t total_;
  std::uint64_t part_bytes_;
  std::uint64_t done_ = 0;
};

}  // namespace samesum::core
