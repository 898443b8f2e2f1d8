// Failures of the operating system, as Errors.
#pragma once

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <system_error>

namespace samesum::io {

/// @throws Error (usage): the file's name, what cannot be done, and the reason that an errno names.
[[noreturn]] inline void fail_with_errno(const std::string& name, std::string_view what, int code) {
  throw Error(ErrorKind::usage, fmt::format("{}: {}: {}", name, what, std::generic_category().message(code)));
}

}  // namespace samesum::io
