// Compressed bytes as a stream of what they stand for, in bounded memory.
#pragma once

#include "io/byte_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace samesum::io {

enum class Compression { gzip, zstd };

/// By the first bytes of a file.
bool is_gzip(std::span<const std::byte> start) noexcept;
bool is_zstd(std::span<const std::byte> start) noexcept;

/// What `packed` has compressed: all members of a gzip file, all frames of zstd, one after the other. Damaged data, and those that end
/// early, are errors (usage). Memory: O(1); of zstd, the window that was compressed with, up to 128 MiB.
std::unique_ptr<ByteStream> decompressed(std::unique_ptr<ByteStream> packed, Compression compression);

/// The bytes of a file in a zip archive: `packed` has them as they lie there, deflated or not. Their number and their checksum have to be
/// those that the archive says.
std::unique_ptr<ByteStream> unzipped(std::unique_ptr<ByteStream> packed, bool deflated, std::uint64_t size, std::uint32_t checksum);

}  // namespace samesum::io
