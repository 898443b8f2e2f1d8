#include "io/array_source.hpp"

#include "core/array/array_blocks.hpp"
#include "io/mapped_file.hpp"
#include "io/npy.hpp"
#include "io/pipeline.hpp"
#include "io/temporary_file.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace samesum::io {
namespace {

struct ByteBlock {
  std::vector<std::byte> bytes;
  std::size_t size = 0;
};

// A block holds whole elements: 1 MiB nearly fits a second-level cache, and amortizes the cost of a system call.
constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

std::string fewer_than(std::uint64_t wanted, DType type, std::uint64_t present) {
  return fmt::format("{} elements of {} are asked for, {} {} there", wanted, name_of(type), present, present == 1 ? "is" : "are");
}

std::string what_there_is(std::uint64_t offset) {
  return offset == 0 ? "its size" : fmt::format("its size behind the first {} bytes", offset);
}

// Elements in stream order. One thread reads, and another one (if needed) swaps bytes, while the caller sums.
class StreamSource final : public Source {
 public:
  StreamSource(std::unique_ptr<ByteStream> stream, RawType type, std::optional<Npy> npy, const ArrayFile::Part& part)
      : stream_(std::move(stream)),
        type_(type),
        npy_(std::move(npy)),
        part_(part),
        to_skip_(part.offset),
        left_(npy_         ? npy_->count * size_of(type.type)
              : part.count ? *part.count * size_of(type.type)
                           : kUnknown),
        pipeline_(
            type.big_endian ? 2 : 1, [this](ByteBlock& block) { return fill(block); },
            [this](ByteBlock& block) {
              if (type_.big_endian) swap_bytes(std::span(block.bytes).first(block.size), size_of(type_.type));
            },
            [this] { stream_->cancel(); }) {}

  void allow_any_order() noexcept override { any_order_ = true; }
  std::optional<Array> next() override {
    if (any_order_ || !npy_ || !lies_in_fortran_order(*npy_)) return next_as_it_comes();
    if (!by_index_) store_all();
    if (const std::optional<View> block = by_index_->next()) return *block;
    return std::nullopt;
  }
  std::string_view format() const noexcept override { return npy_ ? "npy" : "raw"; }
  std::optional<DType> type() const noexcept override { return type_.type; }
  bool complex() const noexcept override { return npy_ && npy_->complex; }
  std::vector<std::uint64_t> shape() const override { return npy_ ? npy_->shape : std::vector<std::uint64_t>{count_}; }
  std::uint64_t bytes() const noexcept override { return npy_ ? npy_->offset + npy_->count * size_of(type_.type) : stream_->size(); }
  std::uint64_t bytes_read() const noexcept override { return stream_->bytes_read(); }

 private:
  [[noreturn]] void refuse(std::string_view message) const {
    throw Error(ErrorKind::usage, fmt::format("{}: {}", stream_->name(), message));
  }

  std::optional<Array> next_as_it_comes() {
    while (const ByteBlock* block = pipeline_.next()) {
      if (block->size == 0) continue;
      count_ += block->size / size_of(type_.type);
      return Array(block->bytes.data(), block->size / size_of(type_.type), type_.type);
    }
    if (!stream_->unchanged()) refuse("was changed while it was being read: run again");
    return std::nullopt;
  }

  // For Fortran order: reads all elements before any is given, as the last one in the file may be the second by index.
  void store_all() {
    TemporaryFile file;
    while (const std::optional<Array> block = next_as_it_comes()) {
      file.append({static_cast<const std::byte*>(block->data()), static_cast<std::size_t>(block->bytes())});
    }
    stored_ = std::make_unique<MappedFile>(file.release(), stream_->name());
    const Array elements(stored_->bytes().data(), npy_->shape, type_.type, strides_of(npy_->shape, type_.type, true, npy_->complex));
    by_index_.emplace(elements, core::Order::index);
  }

  bool fill(ByteBlock& block) {
    block.bytes.resize(kBlockBytes);
    skip(block);
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kBlockBytes, left_));
    block.size = stream_->read(std::span(block.bytes).first(wanted));
    read_ += block.size;
    if (left_ != kUnknown) left_ -= block.size;
    if (block.size == wanted && left_ != 0) return false;
    check_end();
    return true;
  }

  // Skips the bytes before the elements of a raw input.
  void skip(ByteBlock& block) {
    while (to_skip_ != 0) {
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kBlockBytes, to_skip_));
      const std::size_t count = stream_->read(std::span(block.bytes).first(wanted));
      to_skip_ -= count;
      if (count < wanted)
        refuse(fmt::format("ends after {} bytes, before the {} that are to be skipped", part_.offset - to_skip_, part_.offset));
    }
  }

  // The checks that are possible only after all of the input was read.
  void check_end() {
    const std::size_t element = size_of(type_.type);
    if (!npy_) {
      if (part_.count && left_ != 0) refuse(fewer_than(*part_.count, type_.type, read_ / element));
      if (read_ % element != 0) {
        refuse(fmt::format("{}, {} bytes, is no multiple of the {} bytes of a {}", what_there_is(part_.offset), read_, element,
                           name_of(type_.type)));
      }
      return;
    }
    if (left_ != 0) refuse(too_short(*npy_, read_));
    std::byte more;
    if (stream_->read({&more, 1}) != 0) refuse(too_long(*npy_, "more"));
  }

  std::unique_ptr<ByteStream> stream_;
  const RawType type_;
  const std::optional<Npy> npy_;
  const ArrayFile::Part part_;
  std::uint64_t to_skip_;    // bytes
  std::uint64_t left_;       // bytes of elements
  std::uint64_t read_ = 0;   // bytes of elements
  std::uint64_t count_ = 0;  // elements read
  bool any_order_ = false;
  std::unique_ptr<MappedFile> stored_;  // holds all elements where they must be reordered
  std::optional<core::ArrayBlocks> by_index_;
  Pipeline<ByteBlock> pipeline_;  // last: its threads use the other members
};

// Reverses the bytes of elements of type T at any alignment.
template <class T, class Reversed>
void swap_each(std::span<std::byte> elements, const Reversed& reversed) noexcept {
  for (std::size_t i = 0; i + sizeof(T) <= elements.size(); i += sizeof(T)) {
    T element;
    std::memcpy(&element, elements.data() + i, sizeof element);
    element = reversed(element);
    std::memcpy(elements.data() + i, &element, sizeof element);
  }
}

}  // namespace

void swap_bytes(std::span<std::byte> elements, std::size_t element_bytes) noexcept {
  if (element_bytes == 2) swap_each<std::uint16_t>(elements, [](std::uint16_t x) { return __builtin_bswap16(x); });
  if (element_bytes == 4) swap_each<std::uint32_t>(elements, [](std::uint32_t x) { return __builtin_bswap32(x); });
  if (element_bytes == 8) swap_each<std::uint64_t>(elements, [](std::uint64_t x) { return __builtin_bswap64(x); });
}

Npy read_npy_header(ByteStream& stream) {
  constexpr std::uint64_t kMaxHeader = std::uint64_t{1} << 20;  // numpy's limit is 10,000 bytes
  const std::uint64_t offset = npy_offset(stream.peek(kNpyStart));
  if (offset > kMaxHeader && stream.peek(kMaxHeader).size() == kMaxHeader) {
    throw Error(ErrorKind::usage,
                fmt::format("bad header: it says that it has {} bytes, and samesum reads headers of up to {}", offset, kMaxHeader));
  }
  Npy npy = parse_npy_header(stream.peek(static_cast<std::size_t>(std::min(offset, kMaxHeader))));
  std::vector<std::byte> header(static_cast<std::size_t>(offset));
  stream.read(header);
  return npy;
}

std::unique_ptr<Source> npy_source(std::unique_ptr<ByteStream> stream, Npy npy) {
  const RawType type{npy.type, npy.big_endian};
  return std::make_unique<StreamSource>(std::move(stream), type, std::move(npy), ArrayFile::Part{});
}

std::unique_ptr<Source> raw_source(std::unique_ptr<ByteStream> stream, RawType type, const ArrayFile::Part& part) {
  if (part.count && *part.count > kUnknown / size_of(type.type)) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: {}", stream->name(), fewer_than(*part.count, type.type, stream->size() / size_of(type.type))));
  }
  return std::make_unique<StreamSource>(std::move(stream), type, std::nullopt, part);
}

std::uint64_t raw_count(std::uint64_t bytes, DType type, std::uint64_t offset, std::optional<std::uint64_t> count) {
  const std::size_t element = size_of(type);
  if (offset > bytes)
    throw Error(ErrorKind::usage, fmt::format("ends after {} bytes, before the {} that are to be skipped", bytes, offset));
  const std::uint64_t present = bytes - offset;
  if (count) {
    if (*count > present / element) throw Error(ErrorKind::usage, fewer_than(*count, type, present / element));
    return *count;
  }
  if (present % element != 0) {
    throw Error(ErrorKind::usage, fmt::format("{}, {} bytes, is no multiple of the {} bytes of a {}", what_there_is(offset), present,
                                              element, name_of(type)));
  }
  return present / element;
}

}  // namespace samesum::io
