// Text that cannot steer a terminal.
#pragma once

#include <string>
#include <string_view>

namespace samesum::cli {

/// `text` with control characters as \u001b and bytes that are no UTF-8 as \xff; line ends, tabs and all else stay. Valid JSON stays so.
std::string printable(std::string_view text);

/// The same of a name, which takes one line: no line ends and no tabs either.
std::string printable_name(std::string_view name);

}  // namespace samesum::cli
