// Build logs with file names and lines.
#pragma once

#include <string>
#include <string_view>

namespace samesum::device::opencl {

/// `log` with each position "<kernel>:112" in the text `source` replaced by what its #line directives say, "reduce/x.cl:7": some compilers
/// ignore them. Other positions are unchanged.
std::string with_files(std::string_view log, std::string_view source);

}  // namespace samesum::device::opencl
