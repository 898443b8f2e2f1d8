// Writing to a descriptor.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace samesum::cli {

/// Writes all of `bytes`, waiting where a non-blocking descriptor is full. Returns 0, or the error's number.
int write_all(int descriptor, std::span<const std::byte> bytes) noexcept;
inline int write_all(int descriptor, std::string_view text) noexcept { return write_all(descriptor, std::as_bytes(std::span(text))); }

}  // namespace samesum::cli
