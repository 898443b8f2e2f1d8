// The one source of files whose bytes are the elements: mapped, or, where memory cannot hold them, read ahead.
#include "io/array_source.hpp"

#include "core/array/array_blocks.hpp"
#include "io/pipeline.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace samesum::io {
namespace {

// Measured on a virtual disk (docs/lab/cpu.md): one reader leaves it idle between two reads, and four are as fast as any number.
constexpr std::uint32_t kReaders = 4;
constexpr std::size_t kChunkBytes = std::size_t{4} << 20;
constexpr std::size_t kLargeBlockBytes = std::size_t{1} << 26;
constexpr std::size_t kPrefetchedBytes = std::size_t{1} << 24;  // of smaller files, the kernel's own reading ahead is enough
constexpr std::uint64_t kAlignment = FileStream::kDirectAlignment;

// Bytes of a file by direct reads, in chunks that several threads read ahead.
class ReadAhead {
 public:
  ReadAhead(FileStream& stream, std::uint64_t begin, std::uint64_t bytes)
      : stream_(stream),
        at_(begin),
        end_(begin + bytes),
        pipeline_(
            kReaders, [this](Block& block) { return choose(block); }, [this](Block& block) { read(block); }, [] {}) {
    stream_.read_directly();
  }

  // The next chunk, valid until the next call; an empty one at the end.
  std::span<const std::byte> next() {
    const Block* const block = pipeline_.next();
    if (block != nullptr && block->size != 0) return {block->elements, block->size};
    if (!stream_.unchanged()) refuse_change();
    return {};
  }

 private:
  struct Block {
    std::vector<std::byte> memory;
    std::uint64_t begin = 0;  // of its elements in the file, in bytes
    std::size_t size = 0;     // of its elements
    const std::byte* elements = nullptr;
  };

  [[noreturn]] void refuse_change() const {
    throw Error(ErrorKind::usage, fmt::format("{}: was changed while it was being read: run again", stream_.name()));
  }

  // One block at a time: which bytes it has. Returns whether it is the last one.
  bool choose(Block& block) {
    block.begin = at_;
    block.size = static_cast<std::size_t>(std::min<std::uint64_t>(kChunkBytes, end_ - at_));
    at_ += block.size;
    return at_ == end_;
  }

  // Several blocks at a time. Direct reads begin and end at multiples of kAlignment, in the file and in memory.
  void read(Block& block) const {
    block.memory.resize(kChunkBytes + 3 * kAlignment);
    std::byte* const memory = block.memory.data() + (kAlignment - reinterpret_cast<std::uintptr_t>(block.memory.data()) % kAlignment);
    const std::uint64_t before = block.begin % kAlignment, needed = before + block.size;
    const std::uint64_t whole = (needed + kAlignment - 1) / kAlignment * kAlignment;
    if (stream_.read_at(block.begin - before, {memory, static_cast<std::size_t>(whole)}, static_cast<std::size_t>(needed)) < needed) {
      refuse_change();
    }
    block.elements = memory + before;
  }

  FileStream& stream_;
  std::uint64_t at_;  // the next block's first byte in the file
  const std::uint64_t end_;
  Pipeline<Block> pipeline_;  // last: its threads use the other members
};

// Has those pages of a mapping read that are not in memory, ahead of their first use. A thread that touches such a page waits for it and a
// few behind it, while the disk has nothing else to do (docs/lab/cpu.md).
class Prefetch {
 public:
  explicit Prefetch(std::span<const std::byte> mapped) : thread_([mapped](const std::stop_token& stop) { read(mapped, stop); }) {}

 private:
  static void read(std::span<const std::byte> mapped, const std::stop_token& stop) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    auto* const begin = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(mapped.data()) / page * page);
    const auto size = static_cast<std::size_t>(mapped.data() + mapped.size() - begin);
    for (std::size_t at = 0; at < size && !stop.stop_requested(); at += kChunkBytes) {
      const std::size_t bytes = std::min(kChunkBytes, size - at);
      unsigned char resident = 0;  // the last page, as the first ones are read with the chunk before
      if (mincore(begin + at + (bytes - 1) / page * page, 1, &resident) == 0 && (resident & 1) != 0) continue;
      madvise(begin + at, bytes, MADV_WILLNEED);  // the kernel takes no more than a few MiB at once
    }
  }

  std::jthread thread_;
};

class FileSource final : public Source {
 public:
  FileSource(ArrayFile file, std::string_view format, std::unique_ptr<FileStream> stream)
      : file_(std::move(file)), format_(format), count_(file_.bytes() / size_of(file_.type())), stream_(std::move(stream)) {}

  void allow_any_order() noexcept override { any_order_ = true; }
  bool select(std::uint64_t first, std::uint64_t count) noexcept override {
    if (!as_it_lies() || first > count_ || count > count_ - first) return false;
    first_ = first;
    count_ = count;
    return true;
  }

  std::optional<Array> next() override {
    const std::optional<Array> chunk = as_it_lies() ? run() : block();
    if (chunk) bytes_read_ += chunk->bytes();
    return chunk;
  }

  std::string_view format() const noexcept override { return format_; }
  std::optional<DType> type() const noexcept override { return file_.type(); }
  bool complex() const noexcept override { return file_.complex(); }
  std::vector<std::uint64_t> shape() const override { return file_.shape(); }
  std::uint64_t bytes() const noexcept override { return count_ * size_of(file_.type()); }
  std::uint64_t bytes_read() const noexcept override { return bytes_read_; }
  std::uint64_t resident_bytes() const noexcept override { return as_it_lies() && stream_ == nullptr ? bytes() : 0; }

 private:
  bool as_it_lies() const noexcept { return any_order_ || !file_.fortran_order(); }

  std::optional<Array> run() {
    const std::size_t size = size_of(file_.type());
    if (stream_ != nullptr) {
      if (!ahead_) ahead_ = std::make_unique<ReadAhead>(*stream_, file_.offset() + first_ * size, bytes());
      const std::span<const std::byte> chunk = ahead_->next();
      return chunk.empty() ? std::nullopt : std::optional(Array(chunk.data(), chunk.size() / size, file_.type()));
    }
    if (count_ != 0 && !std::exchange(given_, true)) {
      const auto* const elements = static_cast<const std::byte*>(file_.array().data()) + first_ * size;
      if (bytes() >= kPrefetchedBytes) prefetch_.emplace(std::span(elements, static_cast<std::size_t>(bytes())));
      return Array(elements, count_, file_.type());
    }
    file_.check_unchanged();
    return std::nullopt;
  }

  // Of an array in Fortran order, in C order. Each block has elements from all over the file: the mapping is its reader, as the pages that
  // one block touches are those of the next one, too. Where they do not stay in memory till then, larger blocks read each page less often.
  std::optional<Array> block() {
    const std::size_t bytes = stream_ == nullptr ? core::ArrayBlocks::kBlockBytes : kLargeBlockBytes;
    if (!by_index_) by_index_.emplace(file_.array(), core::Order::index, bytes);
    if (const std::optional<View> block = by_index_->next()) return *block;
    file_.check_unchanged();
    return std::nullopt;
  }

  ArrayFile file_;
  std::string_view format_;
  bool any_order_ = false, given_ = false;
  std::uint64_t first_ = 0, count_;  // of the elements that are read
  std::uint64_t bytes_read_ = 0;
  std::optional<core::ArrayBlocks> by_index_;
  std::unique_ptr<FileStream> stream_;
  std::unique_ptr<ReadAhead> ahead_;  // its threads read the stream
  std::optional<Prefetch> prefetch_;  // its thread reads the file's mapping
};

}  // namespace

std::unique_ptr<Source> file_source(ArrayFile file, std::string_view format, std::unique_ptr<FileStream> stream) {
  return std::make_unique<FileSource>(std::move(file), format, std::move(stream));
}

}  // namespace samesum::io
