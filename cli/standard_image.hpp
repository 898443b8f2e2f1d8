// Images from standard input.
#pragma once

#include <string>

namespace samesum::cli {

/// A path at which what standard input gives can be read as a file, if it begins as an image: of a pipe, which is then read to its end, a
/// copy in memory. Otherwise empty, and nothing is taken from it.
std::string image_from_standard_input();

}  // namespace samesum::cli
