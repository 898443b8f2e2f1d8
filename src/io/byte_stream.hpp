// Bytes that come one after the other: from a file, a pipe, standard input.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace samesum::io {

/// Errors (usage) name the file and the system's reason.
class ByteStream {
 public:
  /// "-" is standard input. Opening a named pipe waits for its writer.
  explicit ByteStream(const std::string& path);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  const std::string& name() const noexcept { return name_; }
  /// The first `count` bytes, or all where there are fewer. They are read again.
  std::span<const std::byte> peek(std::size_t count);
  /// Fills `into` with what comes next: fewer bytes only at the end, or once cancelled.
  std::size_t read(std::span<std::byte> into);
  /// Makes a read that waits in another thread, and all later ones, return at once.
  void cancel() noexcept;

  bool regular() const noexcept { return regular_; }
  std::uint64_t size() const noexcept { return size_; }  ///< of a regular file; else 0
  std::uint64_t bytes_read() const noexcept { return bytes_read_.load(std::memory_order_relaxed); }
  /// Of a regular file: nobody wrote to it since it was opened.
  bool unchanged() const noexcept;

 private:
  std::size_t read_some(std::span<std::byte> into);

  std::string name_;
  int descriptor_ = -1;
  int wake_ = -1;  // an eventfd: readable once cancelled
  bool regular_ = false;
  std::uint64_t size_ = 0;
  timespec modified_{};
  std::vector<std::byte> peeked_;  // and not read again yet
  std::atomic<std::uint64_t> bytes_read_ = 0;
};

}  // namespace samesum::io
