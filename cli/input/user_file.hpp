// Small files written by a user.
#pragma once

#include <string>

namespace samesum::cli {

/// All of `path`, which may be a pipe; "-" is standard input. @throws Error (usage) with the reason where it cannot be read.
std::string read_file(const std::string& path);

}  // namespace samesum::cli
