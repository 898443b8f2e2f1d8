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

/// The elements of `file`: mapped, as one chunk without a copy; or, where `stream` has the file open, in chunks that several threads read
/// ahead. These pass by the page cache (O_DIRECT) where the file system can do that: a mapped file that does not fit in memory is slower than
/// its disk, as pages that were read ahead are dropped before they are used. Some 25 MB of memory, whatever the file's size. An array in
/// Fortran order whose elements are wanted by index is always mapped.
std::unique_ptr<Source> file_source(ArrayFile file, std::string_view format, std::unique_ptr<FileStream> stream = nullptr);

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
