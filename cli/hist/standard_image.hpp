// Images from standard input.
#pragma once

#include <string>

namespace samesum::cli {

/// A path under which standard input can be read as an image file, if it begins as an image: a pipe is read to its end, into a copy in
/// memory. Otherwise empty, and nothing is read.
std::string image_from_standard_input();

}  // namespace samesum::cli
