#include "core/simd.hpp"

#include <atomic>

namespace samesum::simd {
namespace {

std::atomic<Level>& current() {
  static std::atomic<Level> level = detect();
  return level;
}

}  // namespace

// What Highway's headers let the compiler use under these names (hwy/ops/set_macros-inl.h). __builtin_cpu_supports also asks whether the
// system saves the registers.
Level detect() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  const bool sse4 = __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
                    __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes");
  const bool avx2 = sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  return avx512 ? Level::avx512 : avx2 ? Level::avx2 : sse4 ? Level::sse4 : Level::baseline;
#else
  return Level::baseline;
#endif
}

Level level() noexcept { return current().load(std::memory_order_relaxed); }
void restrict_to(Level level) noexcept { current().store(level, std::memory_order_relaxed); }

}  // namespace samesum::simd
