// The processor's floating-point modes: rounding, denormals, traps.
#pragma once

#include <atomic>
#include <cfenv>
#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace samesum::core {

#if defined(__SSE2__)
/// DefaultFloatEnvironment for x87. This library does not use x87, but drivers, compilers and other libraries' long doubles may. Usually
/// nothing has to be changed, which takes a few cycles to find out.
class DefaultX87 {
 public:
  DefaultX87(const DefaultX87&) = delete;
  DefaultX87& operator=(const DefaultX87&) = delete;

  DefaultX87() noexcept : seen_(exceptions()) {
    std::uint16_t control = 0;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    changed_ = control != kDefault;
    if (!changed_) return;
    __asm__ volatile("fnstenv %0" : "=m"(saved_));  // fnstenv masks all exceptions
    control = kDefault;
    __asm__ volatile("fldcw %0" : : "m"(control));
  }
  ~DefaultX87() {
    if (!changed_ && exceptions() == seen_) return;
    if (!changed_) {
      __asm__ volatile("fnstenv %0" : "=m"(saved_));
      saved_.control = kDefault;
      saved_.status = (saved_.status & ~kExceptions) | seen_;
    }
    __asm__ volatile("fldenv %0" : : "m"(saved_));
  }

 private:
  struct State {
    std::uint32_t control, status, others[5];
  };
  static constexpr std::uint16_t kDefault = 0x37f;  // all exceptions masked, nearest even, full precision
  static constexpr std::uint32_t kExceptions = 0x3f;

  static std::uint32_t exceptions() noexcept {
    std::uint16_t status = 0;
    __asm__ volatile("fnstsw %0" : "=m"(status));
    return status & kExceptions;
  }

  State saved_;
  std::uint32_t seen_;
  bool changed_;
};
#endif

/// A guard: in its scope this thread rounds to nearest, preserves denormals and traps nothing. An object that was linked with -ffast-math,
/// or the caller, may have set other modes; they are restored at the end, with the caller's exception flags. Each thread has its own modes,
/// inherited by the threads that it starts.
///
/// Every public function that computes in floating point, calls a driver, or starts work in other threads begins with one. The compiler
/// does not move loads and stores across its construction and destruction.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

#if defined(__SSE2__)
  // 20 times faster than <cfenv>.
  DefaultFloatEnvironment() noexcept : saved_(_mm_getcsr()) {
    _mm_setcsr(kDefault);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~DefaultFloatEnvironment() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    _mm_setcsr(saved_);
  }

 private:
  friend class RoundingWatch;
  static constexpr unsigned kDefault = 0x1f80;  // all exceptions masked, none seen; nearest even, no flush to zero, no denormals as zeros
  DefaultX87 x87_;
  unsigned saved_;
#else
  DefaultFloatEnvironment() noexcept {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~DefaultFloatEnvironment() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::fesetenv(&saved_);
  }

 private:
  std::fenv_t saved_;
#endif
};

/// A guard: in its scope this thread may treat denormal numbers as zeros, and does so on processors where they cost a hundred cycles each.
/// For sums whose rounding error is far above them.
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

/// Whether this thread has rounded since construction, by IEEE 754's inexact flag, which costs nothing; or has rounded a result that is
/// denormal or zero, by the underflow flag. Requires a DefaultFloatEnvironment. It covers what is loaded from memory, computed and stored
/// between construction and the question: the compiler does not move loads and stores across either.
class RoundingWatch {
 public:
#if defined(__SSE2__)
  RoundingWatch() noexcept {
    _mm_setcsr(DefaultFloatEnvironment::kDefault);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  bool rounded() const noexcept { return flag(_MM_EXCEPT_INEXACT); }
  bool underflowed() const noexcept { return flag(_MM_EXCEPT_UNDERFLOW); }
#else
  RoundingWatch() noexcept {
    std::feclearexcept(FE_INEXACT | FE_UNDERFLOW);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  bool rounded() const noexcept { return flag(FE_INEXACT); }
  bool underflowed() const noexcept { return flag(FE_UNDERFLOW); }
#endif

  /// Whether it works: not on emulators that do not implement the flags, such as Valgrind.
  static bool works() noexcept;

 private:
#if defined(__SSE2__)
  static bool flag(unsigned exception) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return (_mm_getcsr() & exception) != 0;
  }
#else
  static bool flag(int exception) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return std::fetestexcept(exception) != 0;
  }
#endif
};

}  // namespace samesum::core
