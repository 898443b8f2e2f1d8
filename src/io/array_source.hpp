// Sources of elements that lie in a file as they lie in memory, or nearly so.
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

/// Reads the header of a .npy file, so that the elements come next. @throws Error (usage) that says what is wrong, without the file's name.
Npy read_npy_header(ByteStream& stream);

/// The elements of a .npy file as a stream, of either byte order.
std::unique_ptr<Source> npy_source(std::unique_ptr<ByteStream> stream, Npy npy);

/// Raw elements as a stream: `part.count` of them, behind `part.offset` bytes.
std::unique_ptr<Source> raw_source(std::unique_ptr<ByteStream> stream, RawType type, const ArrayFile::Part& part = {});

/// How many raw elements a file of `bytes` bytes has behind the first `offset`, or `count` of them where that is given.
/// @throws Error (usage) that says what is wrong, without the file's name.
std::uint64_t raw_count(std::uint64_t bytes, DType type, std::uint64_t offset, std::optional<std::uint64_t> count);

inline constexpr std::string_view kNoPartOfNpy =
    "a .npy file, which says itself where its elements are: an offset and a count are for raw numbers";

/// Turns the bytes of each element around.
void swap_bytes(std::span<std::byte> elements, std::size_t element_bytes) noexcept;

}  // namespace samesum::io
