// What a file is, by its first bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace samesum::io {

/// How many bytes these functions want to see, where there are as many.
inline constexpr std::size_t kRecognizedBytes = 4096;

/// Whether a file that begins like this is no text: there are control characters in it.
bool is_binary(std::span<const std::byte> start) noexcept;

/// What a file may be that is neither .npy nor said to be raw nor text, for a message to the user.
std::string what_else(std::span<const std::byte> start);

}  // namespace samesum::io
