#include "io/array_source.hpp"

#include "io/pipeline.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace samesum::io {
namespace {

// Measured on a virtual disk (docs/lab/cpu.md): one reader leaves it idle between two reads, and four are as fast as any number.
constexpr std::uint32_t kReaders = 4;
constexpr std::size_t kChunkBytes = std::size_t{4} << 20;
constexpr std::uint64_t kAlignment = FileStream::kDirectAlignment;

struct FileBlock {
  std::vector<std::byte> memory;
  std::uint64_t begin = 0;  // of its elements in the file, in bytes
  std::size_t size = 0;     // of its elements
  const std::byte* elements = nullptr;
};

class DirectSource final : public ArrayFileSource {
 public:
  DirectSource(std::unique_ptr<FileStream> stream, ArrayFile file, std::string_view format)
      : ArrayFileSource(std::move(file), format),
        stream_(std::move(stream)),
        at_(file_.offset()),
        end_(file_.offset() + file_.bytes()),
        pipeline_(
            kReaders, [this](FileBlock& block) { return choose(block); }, [this](FileBlock& block) { read(block); }, [] {}) {
    stream_->read_directly();
  }

  std::optional<Array> next() override {
    const FileBlock* const block = pipeline_.next();
    if (block != nullptr && block->size != 0) {
      bytes_read_ += block->size;
      return Array(block->elements, block->size / size_of(file_.type()), file_.type());
    }
    if (!stream_->unchanged()) refuse_change();
    return std::nullopt;
  }

 private:
  [[noreturn]] void refuse_change() const {
    throw Error(ErrorKind::usage, fmt::format("{}: was changed while it was being read: run again", stream_->name()));
  }

  // One block at a time: which bytes it has. Returns whether it is the last one.
  bool choose(FileBlock& block) {
    block.begin = at_;
    block.size = static_cast<std::size_t>(std::min<std::uint64_t>(kChunkBytes, end_ - at_));
    at_ += block.size;
    return at_ == end_;
  }

  // Several blocks at a time. Direct reads begin and end at multiples of kAlignment, in the file and in memory.
  void read(FileBlock& block) const {
    block.memory.resize(kChunkBytes + 3 * kAlignment);
    std::byte* const memory = block.memory.data() + (kAlignment - reinterpret_cast<std::uintptr_t>(block.memory.data()) % kAlignment);
    const std::uint64_t before = block.begin % kAlignment, needed = before + block.size;
    const std::uint64_t whole = (needed + kAlignment - 1) / kAlignment * kAlignment;
    if (stream_->read_at(block.begin - before, {memory, static_cast<std::size_t>(whole)}, static_cast<std::size_t>(needed)) < needed) {
      refuse_change();
    }
    block.elements = memory + before;
  }

  const std::unique_ptr<FileStream> stream_;
  std::uint64_t at_;  // the next block's first byte in the file
  const std::uint64_t end_;
  Pipeline<FileBlock> pipeline_;  // last: its threads use the other members
};

}  // namespace

std::unique_ptr<Source> direct_source(std::unique_ptr<FileStream> stream, ArrayFile file, std::string_view format) {
  return std::make_unique<DirectSource>(std::move(stream), std::move(file), format);
}

}  // namespace samesum::io
