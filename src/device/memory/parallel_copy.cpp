#include "device/memory/parallel_copy.hpp"

#include "core/threads/parallel.hpp"

#include <cstring>

namespace samesum::device {

void parallel_copy(void* to, const void* from, std::uint64_t bytes) {
  constexpr std::uint64_t kGrain = std::uint64_t{1} << 20;
  core::parallel_parts(bytes, kGrain, [=](std::uint64_t begin, std::uint64_t end) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, end - begin);
  });
}

}  // namespace samesum::device
