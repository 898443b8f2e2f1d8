// Recognizing a file's format by its first bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace samesum::io {

/// The number of bytes that these functions inspect, where the file has as many.
inline constexpr std::size_t kRecognizedBytes = 4096;

/// Whether a file that begins like this is not text: it contains control characters.
bool is_binary(std::span<const std::byte> start) noexcept;

/// For a known format that cannot be read: its name, and how to convert it. No value for any other.
std::optional<std::string> other_format(std::span<const std::byte> start);

/// Suggestions for a file that is neither .npy nor declared as raw nor text, for a message.
std::string what_else(std::span<const std::byte> start);

}  // namespace samesum::io
