#include "core/simd.hpp"

#include <atomic>

// Uses the C library's cached CPUID results. Virtual machines trap CPUID, so repeating the queries at program start, as the compiler's own
// functions do, takes a tenth of a millisecond and more.
#if __has_include(<sys/platform/x86.h>) && !defined(SAMESUM_OLD_GLIBC)
#include <sys/platform/x86.h>
#define HAS(name, feature) CPU_FEATURE_ACTIVE(feature)
#else
#define HAS(name, feature) __builtin_cpu_supports(name)
#endif

namespace samesum::simd {
namespace {

std::atomic<Level>& current() {
  static std::atomic<Level> level = detect();
  return level;
}

}  // namespace

// The features that Highway's headers require under these names (hwy/ops/set_macros-inl.h), where the system saves the registers.
Level detect() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  const bool sse4 = HAS("ssse3", SSSE3) && HAS("sse4.1", SSE4_1) && HAS("sse4.2", SSE4_2) && HAS("pclmul", PCLMULQDQ) && HAS("aes", AES);
  const bool avx2 = sse4 && HAS("avx2", AVX2) && HAS("fma", FMA) && HAS("bmi", BMI1) && HAS("bmi2", BMI2) && HAS("f16c", F16C);
  const bool avx512 =
      avx2 && HAS("avx512f", AVX512F) && HAS("avx512vl", AVX512VL) && HAS("avx512dq", AVX512DQ) && HAS("avx512bw", AVX512BW);
  return avx512 ? Level::avx512 : avx2 ? Level::avx2 : sse4 ? Level::sse4 : Level::baseline;
#else
  return Level::baseline;
#endif
}

Level level() noexcept { return current().load(std::memory_order_relaxed); }
void restrict_to(Level level) noexcept { current().store(level, std::memory_order_relaxed); }

}  // namespace samesum::simd
