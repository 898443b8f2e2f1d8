#include "core/available_memory.hpp"
#include "core/setting.hpp"

#include <samesum/error.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

namespace samesum::core {
namespace {

constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

// The number with which a file begins; unknown where it begins with "max" or is not there.
std::uint64_t number_in(const std::string& path) {
  std::uint64_t number = kUnknown;
  return std::ifstream(path) >> number ? number : kUnknown;
}

std::uint64_t system_memory(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  std::string name, unit;
  std::uint64_t kibibytes = 0;
  while (file >> name >> kibibytes) {
    if (name == "MemAvailable:") return kibibytes << 10;
    std::getline(file, unit);
  }
  return kUnknown;
}

// The least limit of a group and those above it. In a container, the group's path may be one of the host, which is not there: the
// container's own limit then stands at the top.
std::uint64_t least_limit(const std::string& folder, std::string group, const char* file) {
  std::uint64_t least = kUnknown;
  for (;;) {
    least = std::min(least, number_in(folder + group + "/" + file));
    if (group.empty()) return least;
    group.resize(group.find_last_of('/'));
  }
}

}  // namespace

std::uint64_t available_memory(const std::string& root) {
  if (const std::string limit = root.empty() ? core::setting("SAMESUM_MEMORY") : std::string(); !limit.empty()) {
    std::uint64_t bytes = 0;
    if (std::istringstream text(limit); text >> bytes && text.peek() == EOF) return bytes;
    throw Error(ErrorKind::usage, "SAMESUM_MEMORY is '" + limit + "': it is a number of bytes");
  }
  std::uint64_t least = system_memory(root);
  std::ifstream groups(root + "/proc/self/cgroup");  // lines such as "4:memory:/group" (version 1) and "0::/group" (version 2)
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(":/", first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',', group = line.substr(second + 1);
    if (controllers == ",,") least = std::min(least, least_limit(root + "/sys/fs/cgroup", group, "memory.max"));
    if (controllers.find(",memory,") != std::string::npos) {
      least = std::min(least, least_limit(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

}  // namespace samesum::core
