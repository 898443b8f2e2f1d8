// The loops of formulas: an operation of one to three operands at every position, and division by one number. Included once for each
// instruction set, by evaluate_simd.cpp, which undefines the macros.

#include "device/dialect/host.h"
#include "formula/cpu/evaluate.hpp"

#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace samesum::formula {
namespace HWY_NAMESPACE {

using dialect::clz64;
using dialect::uint;
using dialect::ulong;

FN uint as_uint(float x) { return std::bit_cast<uint>(x); }
FN float as_float(uint x) { return std::bit_cast<float>(x); }
FN ulong as_ulong(double x) { return std::bit_cast<ulong>(x); }
FN double as_double(ulong x) { return std::bit_cast<double>(x); }
__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;
FN long multiply_high_i64(long a, long b) { return static_cast<long>(static_cast<wide>(a) * b >> 64); }
FN uint trailing_zeros_u32(uint a) { return static_cast<uint>(std::countr_zero(a)); }
FN uint trailing_zeros_u64(ulong a) { return static_cast<uint>(std::countr_zero(a)); }
using std::floor;
using std::sqrt;
FN ulong multiply_high_u64(ulong a, ulong b) { return static_cast<ulong>(static_cast<unsigned_wide>(a) * b >> 64); }
#ifndef SAMESUM_FP64
#define SAMESUM_FP64 1
#endif
#define CONSTANT static constexpr
#include "formula/operations.h"

#include "formula/transcendental/parts.h"

#include "formula/transcendental/arcs.h"
#include "formula/transcendental/circular.h"
#include "formula/transcendental/error.h"
#include "formula/transcendental/exponential.h"
#include "formula/transcendental/logarithm.h"
#include "formula/transcendental/powers.h"

// A bool in memory.
using flag = std::uint8_t;

// An operation as a type: OPERATION(name, of one to three operands a, b, c of type A, result of type R, expression).
#define OPERATION1(name, R, A, expression)                         \
  struct name {                                                    \
    static constexpr bool kFails = false;                          \
    using Result = R;                                              \
    static R of(A a, uint*) { return static_cast<R>(expression); } \
  };
#define OPERATION2(name, R, A, expression)                              \
  struct name {                                                         \
    static constexpr bool kFails = false;                               \
    using Result = R;                                                   \
    static R of(A a, A b, uint*) { return static_cast<R>(expression); } \
  };
#define OPERATION3(name, R, A, expression)                                   \
  struct name {                                                              \
    static constexpr bool kFails = false;                                    \
    using Result = R;                                                        \
    static R of(A a, A b, A c, uint*) { return static_cast<R>(expression); } \
  };
#define CHECKED1(name, R, A, call)                           \
  struct name {                                              \
    static constexpr bool kFails = true;                     \
    using Result = R;                                        \
    static R of(A a, uint* error) { return call(a, error); } \
  };
#define CHECKED2(name, R, A, call)                                   \
  struct name {                                                      \
    static constexpr bool kFails = true;                             \
    using Result = R;                                                \
    static R of(A a, A b, uint* error) { return call(a, b, error); } \
  };
#define CHECKED3(name, R, A, call)                                           \
  struct name {                                                              \
    static constexpr bool kFails = true;                                     \
    using Result = R;                                                        \
    static R of(A a, A b, A c, uint* error) { return call(a, b, c, error); } \
  };

// All calls in a loop are inlined (flatten): otherwise compilers make no vectors of loops that call long functions.
//
// Only operations that may fail have a loop that notes it for each position. Results may overwrite operands, also in loops of vectors: each
// number depends on those of its own position alone.
template <class F, class A>
[[gnu::flatten]] void loop1(const void* const* from, void* to, std::size_t count, std::uint32_t& faults, std::uint8_t* each) {
  const A* const a = static_cast<const A*>(from[0]);
  auto* const r = static_cast<typename F::Result*>(to);
  uint any = 0;
  if (!F::kFails || each == nullptr) {
#pragma GCC ivdep
    for (std::size_t k = 0; k < count; ++k) {
      uint error = 0;
      r[k] = F::of(a[k], &error);
      any |= error;
    }
  } else {
    for (std::size_t k = 0; k < count; ++k) {
      uint error = 0;
      r[k] = F::of(a[k], &error);
      each[k] = static_cast<std::uint8_t>(error);
      any |= error;
    }
  }
  faults |= any;
}

// Functions that vectors compute for small arguments only, such as sin. A block with a large one is computed number by number; blocks are
// short, so that few have one.
template <class F, class A>
[[gnu::flatten]] void loop1_near(const void* const* from, void* to, std::size_t count, std::uint32_t&, std::uint8_t*) {
  constexpr std::size_t kShort = 64;
  const A* a = static_cast<const A*>(from[0]);
  A* r = static_cast<A*>(to);
  for (std::size_t left = count; left > 0;) {
    const std::size_t n = left < kShort ? left : kShort;
    uint far = 0;
    for (std::size_t k = 0; k < n; ++k) far |= F::is_near(a[k]) ? 0u : 1u;
    if (far == 0) {
#pragma GCC ivdep
      for (std::size_t k = 0; k < n; ++k) r[k] = F::near_of(a[k]);
    } else {
      for (std::size_t k = 0; k < n; ++k) r[k] = F::of(a[k]);
    }
    a += n;
    r += n;
    left -= n;
  }
}

template <class F, class A>
[[gnu::flatten]] void loop2(const void* const* from, void* to, std::size_t count, std::uint32_t& faults, std::uint8_t* each) {
  const A* const a = static_cast<const A*>(from[0]);
  const A* const b = static_cast<const A*>(from[1]);
  auto* const r = static_cast<typename F::Result*>(to);
  uint any = 0;
  if (!F::kFails || each == nullptr) {
#pragma GCC ivdep
    for (std::size_t k = 0; k < count; ++k) {
      uint error = 0;
      r[k] = F::of(a[k], b[k], &error);
      any |= error;
    }
  } else {
    for (std::size_t k = 0; k < count; ++k) {
      uint error = 0;
      r[k] = F::of(a[k], b[k], &error);
      each[k] = static_cast<std::uint8_t>(error);
      any |= error;
    }
  }
  faults |= any;
}

template <class F, class A>
void loop3(const void* const* from, void* to, std::size_t count, std::uint32_t& faults, std::uint8_t* each) {
  const A* const a = static_cast<const A*>(from[0]);
  const A* const b = static_cast<const A*>(from[1]);
  const A* const c = static_cast<const A*>(from[2]);
  auto* const r = static_cast<typename F::Result*>(to);
  uint any = 0;
#pragma GCC ivdep
  for (std::size_t k = 0; k < count; ++k) {
    uint error = 0;
    r[k] = F::of(a[k], b[k], c[k], &error);
    if (F::kFails && each != nullptr) each[k] = static_cast<std::uint8_t>(error);
    any |= error;
  }
  faults |= any;
}

template <class A>
void select(const void* const* from, void* to, std::size_t count, std::uint32_t&, std::uint8_t*) {
  const flag* const condition = static_cast<const flag*>(from[0]);
  const A* const yes = static_cast<const A*>(from[1]);
  const A* const no = static_cast<const A*>(from[2]);
  A* const r = static_cast<A*>(to);
#pragma GCC ivdep
  for (std::size_t k = 0; k < count; ++k) {
    const A x = yes[k], y = no[k];
    r[k] = condition[k] != 0 ? x : y;
  }
}

// Division by a number that is the same at all positions: by multiplication with its reciprocal in 64 bits, rounded up, which gives the
// quotient of magnitudes up to 2^63 (T. Granlund, P. L. Montgomery, Division by invariant integers using multiplication, 1994).
class Reciprocal {
 public:
  explicit Reciprocal(ulong divisor)  // at least 2
      : shift_(static_cast<uint>(std::bit_width(divisor - 1) - 1)),
        reciprocal_(static_cast<ulong>(((static_cast<unsigned_wide>(1) << (64 + shift_)) + divisor - 1) / divisor)) {}
  ulong quotient(ulong a) const { return multiply_high_u64(a, reciprocal_) >> shift_; }

 private:
  uint shift_;
  ulong reciprocal_;
};

struct QuotientOf {
  static long of(long a, long quotient, long) { return a < 0 ? -quotient : quotient; }
};
struct RemainderOf {
  static long of(long a, long quotient, long divisor) {
    const long rest = static_cast<long>(magnitude_i64(a) - static_cast<ulong>(quotient) * static_cast<ulong>(divisor));
    return a < 0 ? -rest : rest;
  }
};

// `Division` where it cannot be done so: by 0, 1 and negative numbers.
template <class Part, class Division>
void divide_by_one(const void* const* from, void* to, std::size_t count, std::uint32_t& faults, std::uint8_t* each) {
  const long* const a = static_cast<const long*>(from[0]);
  const long divisor = *static_cast<const long*>(from[1]);
  if (divisor < 2 || each != nullptr) return loop2<Division, long>(from, to, count, faults, each);
  const Reciprocal reciprocal(static_cast<ulong>(divisor));
  long* const r = static_cast<long*>(to);
#pragma GCC ivdep
  for (std::size_t k = 0; k < count; ++k) {
    const long x = a[k];
    r[k] = Part::of(x, static_cast<long>(reciprocal.quotient(magnitude_i64(x))), divisor);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace samesum::formula
HWY_AFTER_NAMESPACE();
