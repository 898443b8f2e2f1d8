// Decompression of streams, in bounded memory.
#pragma once

#include "io/byte_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace samesum::io {

enum class Compression { gzip, zstd };

/// Recognize a compressed file by its first bytes.
bool is_gzip(std::span<const std::byte> start) noexcept;
bool is_zstd(std::span<const std::byte> start) noexcept;

/// Decompresses `packed`: all members of a gzip file, all frames of zstd, one after the other. Damaged or truncated data are errors
/// (usage). Memory: O(1); for zstd, the window used by the compressor, up to 128 MiB.
std::unique_ptr<ByteStream> decompressed(std::unique_ptr<ByteStream> packed, Compression compression);

/// The contents of a file in a zip archive, from `packed`, its bytes in the archive, deflated or not. Their number and their checksum must
/// match the archive's directory.
std::unique_ptr<ByteStream> unzipped(std::unique_ptr<ByteStream> packed, bool deflated, std::uint64_t size, std::uint32_t checksum);

}  // namespace samesum::io
