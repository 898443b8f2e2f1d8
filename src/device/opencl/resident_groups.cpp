#include "device/opencl/resident_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace samesum::device::opencl {
namespace {

// The value of a macro among the host's defines, which precede all else in a program; 0 where there is none.
std::uint32_t define_of(std::string_view source, std::string_view name) {
  const std::string line = fmt::format("\n#define {} ", name);
  const std::size_t at = source.substr(0, source.find("\n#line", 1)).find(line);
  std::uint32_t value = 0;
  if (at != std::string_view::npos) std::from_chars(source.data() + at + line.size(), source.data() + source.size(), value);
  return value;
}

}  // namespace

std::uint32_t resident_groups_of(std::string_view source) {
  constexpr std::uint32_t kUnitSize = 2048;  // the most work-items of a compute unit
  const std::uint32_t size = std::max(define_of(source, "GROUP_SIZE"), define_of(source, "GROUP"));
  return size == 0 ? 0 : std::min(define_of(source, "RESIDENT"), kUnitSize / size);
}

std::string with_resident_groups(std::string_view ptx, std::uint32_t groups) {
  constexpr std::string_view kSize = "\n.reqntid ";
  std::string result;
  for (std::size_t at = 0;;) {
    const std::size_t size = ptx.find(kSize, at), end = size == std::string_view::npos ? size : ptx.find('\n', size + 1);
    result.append(ptx.substr(at, end - at));
    if (end == std::string_view::npos) return result;
    result.append(fmt::format("\n.minnctapersm {}", groups));
    at = end;
  }
}

}  // namespace samesum::device::opencl
