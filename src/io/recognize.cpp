#include "io/recognize.hpp"

#include "exact/serialized.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace samesum::io {
namespace {

bool starts_with(std::span<const std::byte> bytes, std::string_view prefix) noexcept {
  return bytes.size() >= prefix.size() && std::memcmp(bytes.data(), prefix.data(), prefix.size()) == 0;
}

}  // namespace

bool is_binary(std::span<const std::byte> start) noexcept {
  return std::ranges::any_of(start.first(std::min(start.size(), kRecognizedBytes)), [](std::byte byte) {
    const auto c = std::to_integer<unsigned char>(byte);
    return (c < ' ' && !(c >= '\t' && c <= '\r')) || c == 0x7f;
  });
}

std::string what_else(std::span<const std::byte> start) {
  if (start.empty()) return "the file is empty";
  if (starts_with(start, exact::kMagic)) return "a partial sum; 'samesum merge' reads those";
  if (starts_with(start, "PK\x03\x04")) return "a zip archive (.npz?); samesum reads the .npy files that unzip takes out of it";
  if (starts_with(start, "\x1f\x8b")) return "compressed by gzip; 'gzip -dc FILE | samesum sum -' reads what is in it";
  if (starts_with(start, "\xff\xfe") || starts_with(start, "\xfe\xff")) return "text in UTF-16; iconv makes UTF-8 of it";
  if (!is_binary(start)) {
    return "not a .npy file, but a text (numpy.loadtxt() and numpy.save() make one of it); for raw numbers give their type (--dtype "
           "float32, "
           "say)";
  }
  return "not a .npy file, and no text; for raw numbers give their type (--dtype float32, say)";
}

}  // namespace samesum::io
