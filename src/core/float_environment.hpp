// The processor's floating-point modes.
#pragma once

#include <cfenv>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace samesum::core {

/// While it lives, this thread rounds to nearest, keeps denormals and traps nothing. An object that was linked with -ffast-math, or
/// the caller, may have asked the processor for something else, which is put back at the end. Threads have modes of their own.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

#if defined(__SSE2__)
  // Only SSE computes here, so MXCSR is all there is to it: 20 times faster than <cfenv>, and written only where it differs.
  DefaultFloatEnvironment() noexcept : saved_(_mm_getcsr()) {
    if ((saved_ & ~kStickyFlags) != kDefault) _mm_setcsr(kDefault);
  }
  ~DefaultFloatEnvironment() {
    if ((saved_ & ~kStickyFlags) != kDefault) _mm_setcsr(saved_);
  }

 private:
  static constexpr unsigned kStickyFlags = 0x3f;  // what exceptions there were
  static constexpr unsigned kDefault = 0x1f80;    // all exceptions masked, nearest even, no flush to zero, no denormals as zeros
  unsigned saved_;
#else
  DefaultFloatEnvironment() noexcept {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() { std::fesetenv(&saved_); }

 private:
  std::fenv_t saved_;
#endif
};

}  // namespace samesum::core
