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

namespace samesum::io {

/// A mapped file: one chunk, no copy.
std::unique_ptr<Source> mapped_source(ArrayFile file, std::string_view format);

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
