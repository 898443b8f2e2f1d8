// Escaping of text for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace samesum::cli {

/// `text` with control characters as \u001b and invalid UTF-8 as \xff; line ends, tabs and everything else are unchanged. Valid JSON stays
/// valid.
std::string printable(std::string_view text);

/// The same for a name, which is on one line: line ends and tabs are escaped too.
std::string printable_name(std::string_view name);

}  // namespace samesum::cli
