// What a file is, by its first bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace samesum::io {

/// How many bytes these functions want to see, where there are as many.
inline constexpr std::size_t kRecognizedBytes = 4096;

/// Whether a file that begins like this is no text: there are control characters in it.
bool is_binary(std::span<const std::byte> start) noexcept;

/// Of a format that is known and not read: its name, and how to make something of it that is read. Nothing for any other.
std::optional<std::string> other_format(std::span<const std::byte> start);

/// What a file may be that is neither .npy nor said to be raw nor text, for a message to the user.
std::string what_else(std::span<const std::byte> start);

}  // namespace samesum::io
