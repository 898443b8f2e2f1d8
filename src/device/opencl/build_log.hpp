// Build logs that point at files.
#pragma once

#include <string>
#include <string_view>

namespace samesum::device::opencl {

/// `log` with each place "<kernel>:112" in the text `source` turned into what its #line directives say, "reduce/x.cl:7": some compilers
/// do not look at them. Other places stay as they are.
std::string with_files(std::string_view log, std::string_view source);

}  // namespace samesum::device::opencl
