// Sources of elements that are stored as in memory, up to byte order and the order of indices.
#pragma once

#include "io/byte_stream.hpp"
#include "io/npy.hpp"

#include <samesum/array_file.hpp>
#include <samesum/source.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum::io {

/// What every source of a file of elements says of it.
class ArrayFileSource : public Source {
 public:
  ArrayFileSource(ArrayFile file, std::string_view format) : file_(std::move(file)), format_(format) {}

  std::string_view format() const noexcept override { return format_; }
  std::optional<DType> type() const noexcept override { return file_.type(); }
  bool complex() const noexcept override { return file_.complex(); }
  std::vector<std::uint64_t> shape() const override { return file_.shape(); }
  std::uint64_t bytes() const noexcept override { return file_.bytes(); }
  std::uint64_t bytes_read() const noexcept override { return bytes_read_; }

 protected:
  ArrayFile file_;
  std::string_view format_;
  std::uint64_t bytes_read_ = 0;
};

/// A mapped file: one chunk, no copy.
std::unique_ptr<Source> mapped_source(ArrayFile file, std::string_view format);

/// The elements of `file`, which `stream` has open, as they lie there, in chunks that several threads read ahead. They pass by the page
/// cache (O_DIRECT) where the file system can do that: a mapped file that does not fit in memory is slower than its disk, as pages that
/// were read ahead are dropped before they are used. Some 25 MB of memory, whatever the file's size.
std::unique_ptr<Source> direct_source(std::unique_ptr<FileStream> stream, ArrayFile file, std::string_view format);

/// Reads the header of a .npy file, up to the first element. @throws Error (usage) with what is wrong, without the file's name.
Npy read_npy_header(ByteStream& stream);

/// The elements of a .npy file as a stream, in either byte order.
std::unique_ptr<Source> npy_source(std::unique_ptr<ByteStream> stream, Npy npy);

/// Raw elements as a stream: `part.count` of them, behind `part.offset` bytes.
std::unique_ptr<Source> raw_source(std::unique_ptr<ByteStream> stream, RawType type, const ArrayFile::Part& part = {});

/// The number of raw elements in a file of `bytes` bytes after the first `offset` bytes; `count`, where that is given.
/// @throws Error (usage) with what is wrong, without the file's name.
std::uint64_t raw_count(std::uint64_t bytes, DType type, std::uint64_t offset, std::optional<std::uint64_t> count);

inline constexpr std::string_view kNoPartOfNpy =
    "a .npy file, which says itself where its elements are: an offset and a count are for raw numbers";

/// Reverses the bytes of each element.
void swap_bytes(std::span<std::byte> elements, std::size_t element_bytes) noexcept;

}  // namespace samesum::io
