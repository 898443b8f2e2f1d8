// The processor's floating-point modes.
#pragma once

#include <atomic>
#include <cfenv>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace samesum::core {

/// While it lives, this thread rounds to nearest, keeps denormals and traps nothing. An object that was linked with -ffast-math, or
/// the caller, may have asked the processor for something else, which is put back at the end, with the exceptions that the caller had
/// seen. Threads have modes of their own.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

#if defined(__SSE2__)
  // Only SSE computes here, so MXCSR is all there is to it: 20 times faster than <cfenv>.
  DefaultFloatEnvironment() noexcept : saved_(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~DefaultFloatEnvironment() { _mm_setcsr(saved_); }

 private:
  friend class RoundingWatch;
  static constexpr unsigned kDefault = 0x1f80;  // all exceptions masked, none seen; nearest even, no flush to zero, no denormals as zeros
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

/// While it lives, this thread may take denormal numbers for zeros, and does where they cost: some processors take a hundred cycles for
/// each that comes or goes. For sums that round far above them.
class AnyDenormals {
 public:
  AnyDenormals(const AnyDenormals&) = delete;
  AnyDenormals& operator=(const AnyDenormals&) = delete;

#if defined(__SSE2__)
  AnyDenormals() noexcept : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | kFlushToZero | kDenormalsAreZeros); }
  ~AnyDenormals() { _mm_setcsr(saved_); }

 private:
  static constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZeros = 0x0040;
  unsigned saved_;
#else
  AnyDenormals() noexcept {}
  ~AnyDenormals() {}
#endif
};

/// Whether this thread has rounded since: IEEE 754's inexact exception, which costs the operations nothing. To be made within a
/// DefaultFloatEnvironment. What is computed from memory after it was made and stored to memory that others may see before rounded()
/// is what it tells of: the compiler keeps loads and stores on their side, and computes between them.
class RoundingWatch {
 public:
#if defined(__SSE2__)
  RoundingWatch() noexcept {
    _mm_setcsr(DefaultFloatEnvironment::kDefault);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  bool rounded() const noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return (_mm_getcsr() & _MM_EXCEPT_INEXACT) != 0;
  }
#else
  RoundingWatch() noexcept {
    std::feclearexcept(FE_INEXACT);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  bool rounded() const noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return std::fetestexcept(FE_INEXACT) != 0;
  }
#endif

  /// Whether it works. It does not where the processor is simulated by a program that leaves this out, as Valgrind does.
  static bool works() noexcept;
};

}  // namespace samesum::core
