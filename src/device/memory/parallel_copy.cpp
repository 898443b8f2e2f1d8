#include "device/memory/parallel_copy.hpp"

#include "core/parallel.hpp"

#include <tbb/blocked_range.h>

#include <cstring>

namespace samesum::device {

void parallel_copy(void* to, const void* from, std::uint64_t bytes) {
  constexpr std::uint64_t kGrain = std::uint64_t{1} << 20;
  // Isolated: while it waits, this thread must not run a task of the caller's that needs this same device.
  tbb::this_task_arena::isolate([=] {
    core::parallel_for(tbb::blocked_range<std::uint64_t>(0, bytes, kGrain), [=](const tbb::blocked_range<std::uint64_t>& part) {
      std::memcpy(static_cast<char*>(to) + part.begin(), static_cast<const char*>(from) + part.begin(), part.size());
    });
  });
}

}  // namespace samesum::device
