// Streams of bytes: from a file, a pipe, standard input, or decompressed from another stream.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum::io {

/// Errors (usage) name the file and the reason.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  const std::string& name() const noexcept { return name_; }
  /// The first `count` bytes, or all where there are fewer; read() gives them again.
  std::span<const std::byte> peek(std::size_t count);
  /// Fills `into` with the next bytes: fewer only at the end, or once cancelled.
  std::size_t read(std::span<std::byte> into);
  /// Makes a read that is blocked in another thread, and all later ones, return at once.
  virtual void cancel() noexcept = 0;

  /// Whether the stream is a whole regular file, so that it may be mapped instead.
  virtual bool regular() const noexcept { return false; }
  virtual std::uint64_t size() const noexcept { return 0; }  ///< of the whole stream; 0: unknown
  std::uint64_t bytes_read() const noexcept { return bytes_read_.load(std::memory_order_relaxed); }
  /// For a regular file: whether it was not modified since it was opened.
  virtual bool unchanged() const noexcept = 0;

 protected:
  explicit ByteStream(std::string name) : name_(std::move(name)) {}
  /// At least one byte; none at the end, or once cancelled. `into` is not empty.
  virtual std::size_t read_some(std::span<std::byte> into) = 0;
  [[noreturn]] void refuse(std::string_view message) const;

 private:
  std::string name_;
  std::vector<std::byte> peeked_;  // peeked bytes that read() has not given yet
  std::atomic<std::uint64_t> bytes_read_ = 0;
};

/// A file or a pipe of the operating system.
class FileStream final : public ByteStream {
 public:
  /// "-" is standard input. Opening a named pipe waits for its writer.
  explicit FileStream(const std::string& path);
  ~FileStream() override;

  void cancel() noexcept override;
  /// False also for a file whose size is 0 but that has bytes, as in /proc.
  bool regular() const noexcept override { return regular_ && !gives_more_; }
  std::uint64_t size() const noexcept override { return size_; }
  bool unchanged() const noexcept override;

  /// Requires a regular file: fills `into` from byte `offset` on; fewer bytes at the file's end. Does not move the read position. Any number
  /// of threads may call it at the same time.
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const { return read_at(offset, into, into.size()); }
  /// The same, for at least `least` bytes unless the file ends before.
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> into, std::size_t least) const;
  /// Reads from now on past the page cache (O_DIRECT), where the file system can: to call before any other thread uses the file. read_at()
  /// then takes offsets, addresses and sizes that are multiples of kDirectAlignment; with others it goes on through the page cache.
  void read_directly() noexcept;
  static constexpr std::size_t kDirectAlignment = 4096;  // the largest block of a disk
  /// Requires a regular file and no peek() before: read() then gives `count` bytes from `offset` on.
  void select(std::uint64_t offset, std::uint64_t count);

 private:
  std::size_t read_some(std::span<std::byte> into) override;

  int descriptor_ = -1;
  int wake_ = -1;  // an eventfd: readable once cancelled
  bool regular_ = false;
  bool gives_more_ = false;  // has bytes in spite of a size of 0
  std::uint64_t size_ = 0;
  std::uint64_t left_ = ~std::uint64_t{0};  // bytes that may be read
  timespec modified_{};
};

}  // namespace samesum::io
