// The serialized form of an accumulator, as docs/accumulator-format.md lays it down.
#pragma once

#include <string_view>

namespace samesum::exact {

/// The first bytes of every version. A byte over 127, a carriage return with a line feed and a control-Z show at once that a file was
/// sent as text.
inline constexpr std::string_view kMagic = "\x89SSUM\r\n\x1a";

}  // namespace samesum::exact
