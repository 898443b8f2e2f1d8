#include "output/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace samesum::cli {
namespace {

// The length of the UTF-8 character at the start of `text`, and its code point; 0 where it is invalid.
std::size_t character(std::string_view text, std::uint32_t& code) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  code = length == 1 ? first : first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return 0;
    code = code << 6 | (next & 0x3f);
  }
  const bool too_long = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  return too_long || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : length;
}

bool is_plain(char c) { return (c >= ' ' && c < 0x7f) || c == '\n' || c == '\t'; }

std::string escaped(std::string_view text, bool one_line) {
  if (std::ranges::all_of(text, is_plain) && !(one_line && text.find_first_of("\n\t") != std::string_view::npos)) return std::string(text);
  std::string result;
  while (!text.empty()) {
    std::uint32_t code = 0;
    const std::size_t length = character(text, code);
    if (length == 0) {
      fmt::format_to(std::back_inserter(result), "\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if ((code < 0x20 && (one_line || (code != '\n' && code != '\t'))) || (code >= 0x7f && code < 0xa0)) {
      fmt::format_to(std::back_inserter(result), "\\u{:04x}", code);
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, false); }
std::string printable_name(std::string_view name) { return escaped(name, true); }

}  // namespace samesum::cli
