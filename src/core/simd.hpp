// Chooses among the instruction sets for which Highway has compiled a function. Highway's own library would do so too, but calibrates a
// timer when it is loaded: 4 ms, half of a short program's run time. Its headers alone need no library.
//
// A source file includes this one before <hwy/foreach_target.h>: it narrows the instruction sets to those of Level.
#pragma once

// Vectors must have a constant size, and the excluded sets would gain nothing over their neighbours. AVX3 is Highway's name for AVX-512.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

#include <cstddef>

namespace samesum::simd {

/// The instruction sets chosen at run time, the best first. Where the compiler may use a better one anyway (-march=native; ARM's NEON),
/// that one is the baseline.
enum class Level { avx512, avx2, sse4, baseline };
inline constexpr std::size_t kLevels = 4;

/// The best one that this processor supports.
Level detect() noexcept;
/// The result of detect(), or the level set by restrict_to().
Level level() noexcept;
/// For tests: sets the level for all calls; it must not exceed that of detect().
void restrict_to(Level level) noexcept;

/// The function to call from a table by SIMD_TABLE.
template <class Function>
Function choose(Function const (&table)[kLevels]) noexcept {
  std::size_t i = static_cast<std::size_t>(level());
  while (table[i] == nullptr) ++i;  // the last one is never null
  return table[i];
}

}  // namespace samesum::simd

#if defined(__x86_64__) || defined(__i386__)
#define SIMD_TABLE(function) \
  { HWY_CHOOSE_AVX3(function), HWY_CHOOSE_AVX2(function), HWY_CHOOSE_SSE4(function), HWY_CHOOSE_FALLBACK(function) }
#else
#define SIMD_TABLE(function) \
  { nullptr, nullptr, nullptr, &HWY_STATIC_DISPATCH(function) }
#endif

/// SIMD_EXPORT(f) beside f's definition, once (#if HWY_ONCE); then SIMD_CALL(f)(arguments…) calls its best version.
#define SIMD_EXPORT(function) static decltype(&HWY_STATIC_DISPATCH(function)) const function##_table[] = SIMD_TABLE(function)
#define SIMD_CALL(function) ::samesum::simd::choose(function##_table)
