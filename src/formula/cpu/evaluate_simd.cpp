// The loops of formulas on the CPU, compiled once for each instruction set of the processor family and chosen at run time. They are plain
// loops that compilers make vectors of: the operations are those of kernels (operations.h), so that values have the same bits.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "formula/cpu/evaluate_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "device/dialect/host.h"
#include "formula/cpu/evaluate.hpp"

#include <hwy/highway.h>

#include <bit>
#include <cmath>

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
FN ulong multiply_high_u64(ulong a, ulong b) { return static_cast<ulong>(static_cast<unsigned_wide>(a) * b >> 64); }
#ifndef SAMESUM_FP64
#define SAMESUM_FP64 1
#endif
#define CONSTANT static constexpr
#include "formula/operations.h"
#include "formula/transcendental.h"

// A bool in memory.
using flag = std::uint8_t;

// An operation as a type: OPERATION(name, of one to three operands a, b, c of type A, result of type R, expression).
#define OPERATION1(name, R, A, expression)                         \
  struct name {                                                    \
    using Result = R;                                              \
    static R of(A a, uint*) { return static_cast<R>(expression); } \
  };
#define OPERATION2(name, R, A, expression)                              \
  struct name {                                                         \
    using Result = R;                                                   \
    static R of(A a, A b, uint*) { return static_cast<R>(expression); } \
  };
#define OPERATION3(name, R, A, expression)                                   \
  struct name {                                                              \
    using Result = R;                                                        \
    static R of(A a, A b, A c, uint*) { return static_cast<R>(expression); } \
  };
#define CHECKED1(name, R, A, call)                           \
  struct name {                                              \
    using Result = R;                                        \
    static R of(A a, uint* error) { return call(a, error); } \
  };
#define CHECKED2(name, R, A, call)                                   \
  struct name {                                                      \
    using Result = R;                                                \
    static R of(A a, A b, uint* error) { return call(a, b, error); } \
  };
#define CHECKED3(name, R, A, call)                                           \
  struct name {                                                              \
    using Result = R;                                                        \
    static R of(A a, A b, A c, uint* error) { return call(a, b, c, error); } \
  };

// That results take the place of operands does no harm to vectors: each number depends on those of its own position alone.
template <class F, class A>
void loop1(const void* const* from, void* to, std::size_t count, std::uint32_t& faults, std::uint8_t* each) {
  const A* const a = static_cast<const A*>(from[0]);
  auto* const r = static_cast<typename F::Result*>(to);
  uint any = 0;
  if (each == nullptr) {
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

template <class F, class A>
void loop2(const void* const* from, void* to, std::size_t count, std::uint32_t& faults, std::uint8_t* each) {
  const A* const a = static_cast<const A*>(from[0]);
  const A* const b = static_cast<const A*>(from[1]);
  auto* const r = static_cast<typename F::Result*>(to);
  uint any = 0;
  if (each == nullptr) {
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
    if (each != nullptr) each[k] = static_cast<std::uint8_t>(error);
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

// Of floating-point numbers.
template <class T>
struct Floats {
  static constexpr bool kDouble = sizeof(T) == 8;
  OPERATION1(Negate, T, T, -a)
  OPERATION1(Sqrt, T, T, std::sqrt(a))
  OPERATION1(Floor, T, T, std::floor(a))
  OPERATION1(Ceil, T, T, std::ceil(a))
  OPERATION1(Trunc, T, T, std::trunc(a))
  OPERATION1(Round, T, T, std::rint(a))
  OPERATION1(IsNan, flag, T, a != a)
  OPERATION1(Log1p, T, T, std::log1p(a))
  OPERATION1(Expm1, T, T, std::expm1(a))
  OPERATION1(Sin, T, T, std::sin(a))
  OPERATION1(Cos, T, T, std::cos(a))
  OPERATION1(Tan, T, T, std::tan(a))
  OPERATION2(Add, T, T, a + b)
  OPERATION2(Subtract, T, T, a - b)
  OPERATION2(Multiply, T, T, a* b)
  OPERATION2(Divide, T, T, a / b)
  OPERATION2(Modulo, T, T, std::fmod(a, b))
  OPERATION2(Atan2, T, T, std::atan2(a, b))
  OPERATION2(Pow, T, T, std::pow(a, b))
  OPERATION2(Hypot, T, T, std::hypot(a, b))
  OPERATION3(Fma, T, T, std::fma(a, b, c))

  static Loop find(Op op) {
    switch (op) {
      case Op::negate:
        return loop1<Negate, T>;
      case Op::sqrt:
        return loop1<Sqrt, T>;
      case Op::floor:
        return loop1<Floor, T>;
      case Op::ceil:
        return loop1<Ceil, T>;
      case Op::trunc:
        return loop1<Trunc, T>;
      case Op::round:
        return loop1<Round, T>;
      case Op::isnan:
        return loop1<IsNan, T>;
      case Op::log1p:
        return loop1<Log1p, T>;
      case Op::expm1:
        return loop1<Expm1, T>;
      case Op::sin:
        return loop1<Sin, T>;
      case Op::cos:
        return loop1<Cos, T>;
      case Op::tan:
        return loop1<Tan, T>;
      case Op::add:
        return loop2<Add, T>;
      case Op::subtract:
        return loop2<Subtract, T>;
      case Op::multiply:
        return loop2<Multiply, T>;
      case Op::divide:
        return loop2<Divide, T>;
      case Op::modulo:
        return loop2<Modulo, T>;
      case Op::atan2:
        return loop2<Atan2, T>;
      case Op::pow:
        return loop2<Pow, T>;
      case Op::hypot:
        return loop2<Hypot, T>;
      case Op::fma:
        return loop3<Fma, T>;
      default:
        return nullptr;
    }
  }
};
OPERATION1(SinF32, float, float, fixed_sin_f32(a))
OPERATION1(SinF64, double, double, fixed_sin_f64(a))
OPERATION1(CosF32, float, float, fixed_cos_f32(a))
OPERATION1(CosF64, double, double, fixed_cos_f64(a))
OPERATION1(ExpF32, float, float, fixed_exp_f32(a))
OPERATION1(LogF32, float, float, fixed_log_f32(a))
OPERATION1(TanhF32, float, float, fixed_tanh_f32(a))
OPERATION1(ExpF64, double, double, fixed_exp_f64(a))
OPERATION1(LogF64, double, double, fixed_log_f64(a))
OPERATION1(TanhF64, double, double, fixed_tanh_f64(a))
OPERATION1(AbsF32, float, float, abs_f32(a))
OPERATION2(MinF32, float, float, min_f32(a, b))
OPERATION2(MaxF32, float, float, max_f32(a, b))
OPERATION1(AbsF64, double, double, abs_f64(a))
OPERATION2(MinF64, double, double, min_f64(a, b))
OPERATION2(MaxF64, double, double, max_f64(a, b))

Loop find_f32(Op op) {
  if (op == Op::fixed_sin) return loop1<SinF32, float>;
  if (op == Op::fixed_cos) return loop1<CosF32, float>;
  if (op == Op::exp || op == Op::fixed_exp) return loop1<ExpF32, float>;
  if (op == Op::log || op == Op::fixed_log) return loop1<LogF32, float>;
  if (op == Op::tanh || op == Op::fixed_tanh) return loop1<TanhF32, float>;
  if (op == Op::abs) return loop1<AbsF32, float>;
  if (op == Op::min) return loop2<MinF32, float>;
  if (op == Op::max) return loop2<MaxF32, float>;
  return Floats<float>::find(op);
}
Loop find_f64(Op op) {
  if (op == Op::fixed_sin) return loop1<SinF64, double>;
  if (op == Op::fixed_cos) return loop1<CosF64, double>;
  if (op == Op::exp || op == Op::fixed_exp) return loop1<ExpF64, double>;
  if (op == Op::log || op == Op::fixed_log) return loop1<LogF64, double>;
  if (op == Op::tanh || op == Op::fixed_tanh) return loop1<TanhF64, double>;
  if (op == Op::abs) return loop1<AbsF64, double>;
  if (op == Op::min) return loop2<MinF64, double>;
  if (op == Op::max) return loop2<MaxF64, double>;
  return Floats<double>::find(op);
}

// Of integers: in unsigned words where the result is known to fit.
OPERATION1(NegateFits, long, long, subtract_fits_i64(0, a))
OPERATION2(AddFits, long, long, add_fits_i64(a, b))
OPERATION2(SubtractFits, long, long, subtract_fits_i64(a, b))
OPERATION2(MultiplyFits, long, long, multiply_fits_i64(a, b))
OPERATION2(MultiplyNarrow, long, long, multiply_narrow_i64(a, b))
OPERATION2(GcdNarrow, long, long, gcd_narrow_i64(a, b))
OPERATION3(MulmodNarrow, long, long, mulmod_narrow_i64(a, b, c))
OPERATION1(AbsFits, long, long, magnitude_i64(a))
OPERATION1(ComplementI64, long, long, ~a)
OPERATION2(AndI64, long, long, a& b)
OPERATION2(OrI64, long, long, a | b)
OPERATION2(XorI64, long, long, a ^ b)
OPERATION2(MinI64, long, long, min_i64(a, b))
OPERATION2(MaxI64, long, long, max_i64(a, b))
OPERATION1(PopcountI64, long, long, popcount_u64(static_cast<ulong>(a)))
OPERATION1(ClzI64, long, long, clz_u64(static_cast<ulong>(a)))
CHECKED1(AbsI64, long, long, abs_i64)
struct NegateI64 {
  using Result = long;
  static long of(long a, uint* error) { return subtract_i64(0, a, error); }
};
CHECKED2(AddI64, long, long, add_i64)
CHECKED2(SubtractI64, long, long, subtract_i64)
struct MultiplyI64 {  // as multiply_i64, in fewer instructions
  using Result = long;
  static long of(long a, long b, uint* error) {
    long product = 0;
    *error |= __builtin_mul_overflow(a, b, &product) ? FAULT_OVERFLOW : 0u;
    return product;
  }
};
CHECKED2(DivideI64, long, long, divide_i64)
CHECKED2(ModuloI64, long, long, modulo_i64)
CHECKED2(ShiftLeftI64, long, long, shift_left_i64)
CHECKED2(ShiftRightI64, long, long, shift_right_i64)
CHECKED2(GcdI64, long, long, gcd_i64)
CHECKED3(MulmodI64, long, long, mulmod_i64)

Loop find_i64(Op op, Known known) {
  const bool checked = known.checked, narrow = known.narrow;
  switch (op) {
    case Op::negate:
      return checked ? loop1<NegateI64, long> : loop1<NegateFits, long>;
    case Op::abs:
      return checked ? loop1<AbsI64, long> : loop1<AbsFits, long>;
    case Op::complement:
      return loop1<ComplementI64, long>;
    case Op::popcount:
      return loop1<PopcountI64, long>;
    case Op::clz:
      return loop1<ClzI64, long>;
    case Op::add:
      return checked ? loop2<AddI64, long> : loop2<AddFits, long>;
    case Op::subtract:
      return checked ? loop2<SubtractI64, long> : loop2<SubtractFits, long>;
    case Op::multiply:
      return checked ? loop2<MultiplyI64, long> : narrow ? loop2<MultiplyNarrow, long> : loop2<MultiplyFits, long>;
    case Op::divide:
      return known.one_divisor ? divide_by_one<QuotientOf, DivideI64> : loop2<DivideI64, long>;
    case Op::modulo:
      return known.one_divisor ? divide_by_one<RemainderOf, ModuloI64> : loop2<ModuloI64, long>;
    case Op::bit_and:
      return loop2<AndI64, long>;
    case Op::bit_or:
      return loop2<OrI64, long>;
    case Op::bit_xor:
      return loop2<XorI64, long>;
    case Op::shift_left:
      return loop2<ShiftLeftI64, long>;
    case Op::shift_right:
      return loop2<ShiftRightI64, long>;
    case Op::min:
      return loop2<MinI64, long>;
    case Op::max:
      return loop2<MaxI64, long>;
    case Op::gcd:
      return narrow ? loop2<GcdNarrow, long> : loop2<GcdI64, long>;
    case Op::mulmod:
      return narrow ? loop3<MulmodNarrow, long> : loop3<MulmodI64, long>;
    default:
      return nullptr;
  }
}

OPERATION2(AddFitsU64, ulong, ulong, add_fits_u64(a, b))
OPERATION2(SubtractFitsU64, ulong, ulong, subtract_fits_u64(a, b))
OPERATION2(MultiplyFitsU64, ulong, ulong, multiply_fits_u64(a, b))
OPERATION2(MultiplyNarrowU64, ulong, ulong, multiply_narrow_u64(a, b))
OPERATION2(GcdNarrowU64, ulong, ulong, gcd_narrow_u64(a, b))
OPERATION3(MulmodNarrowU64, ulong, ulong, mulmod_narrow_u64(a, b, c))
OPERATION1(SameU64, ulong, ulong, a)
OPERATION1(ComplementU64, ulong, ulong, ~a)
OPERATION2(AndU64, ulong, ulong, a& b)
OPERATION2(OrU64, ulong, ulong, a | b)
OPERATION2(XorU64, ulong, ulong, a ^ b)
OPERATION2(MinU64, ulong, ulong, min_u64(a, b))
OPERATION2(MaxU64, ulong, ulong, max_u64(a, b))
OPERATION1(PopcountU64, long, ulong, popcount_u64(a))
OPERATION1(ClzU64, long, ulong, clz_u64(a))
OPERATION2(GcdU64, ulong, ulong, gcd_u64(a, b))
struct NegateU64 {
  using Result = ulong;
  static ulong of(ulong a, uint* error) { return subtract_u64(0, a, error); }
};
CHECKED2(AddU64, ulong, ulong, add_u64)
CHECKED2(SubtractU64, ulong, ulong, subtract_u64)
struct MultiplyU64 {
  using Result = ulong;
  static ulong of(ulong a, ulong b, uint* error) {
    ulong product = 0;
    *error |= __builtin_mul_overflow(a, b, &product) ? FAULT_OVERFLOW : 0u;
    return product;
  }
};
CHECKED2(DivideU64, ulong, ulong, divide_u64)
CHECKED2(ModuloU64, ulong, ulong, modulo_u64)
CHECKED2(ShiftLeftU64, ulong, ulong, shift_left_u64)
CHECKED2(ShiftRightU64, ulong, ulong, shift_right_u64)
CHECKED3(MulmodU64, ulong, ulong, mulmod_u64)

Loop find_u64(Op op, Known known) {
  const bool checked = known.checked, narrow = known.narrow;
  switch (op) {
    case Op::negate:
      return loop1<NegateU64, ulong>;
    case Op::abs:
      return loop1<SameU64, ulong>;
    case Op::complement:
      return loop1<ComplementU64, ulong>;
    case Op::popcount:
      return loop1<PopcountU64, ulong>;
    case Op::clz:
      return loop1<ClzU64, ulong>;
    case Op::add:
      return checked ? loop2<AddU64, ulong> : loop2<AddFitsU64, ulong>;
    case Op::subtract:
      return checked ? loop2<SubtractU64, ulong> : loop2<SubtractFitsU64, ulong>;
    case Op::multiply:
      return checked ? loop2<MultiplyU64, ulong> : narrow ? loop2<MultiplyNarrowU64, ulong> : loop2<MultiplyFitsU64, ulong>;
    case Op::divide:
      return loop2<DivideU64, ulong>;
    case Op::modulo:
      return loop2<ModuloU64, ulong>;
    case Op::bit_and:
      return loop2<AndU64, ulong>;
    case Op::bit_or:
      return loop2<OrU64, ulong>;
    case Op::bit_xor:
      return loop2<XorU64, ulong>;
    case Op::shift_left:
      return loop2<ShiftLeftU64, ulong>;
    case Op::shift_right:
      return loop2<ShiftRightU64, ulong>;
    case Op::min:
      return loop2<MinU64, ulong>;
    case Op::max:
      return loop2<MaxU64, ulong>;
    case Op::gcd:
      return narrow ? loop2<GcdNarrowU64, ulong> : loop2<GcdU64, ulong>;
    case Op::mulmod:
      return narrow ? loop3<MulmodNarrowU64, ulong> : loop3<MulmodU64, ulong>;
    default:
      return nullptr;
  }
}

OPERATION1(Not, flag, flag, a == 0)
OPERATION2(And, flag, flag, a& b)
OPERATION2(Or, flag, flag, a | b)

template <class T>
struct Comparisons {
  OPERATION2(Less, flag, T, a < b)
  OPERATION2(LessEqual, flag, T, a <= b)
  OPERATION2(Equal, flag, T, a == b)
  OPERATION2(NotEqual, flag, T, a != b)
  static Loop find(Op op) {
    switch (op) {
      case Op::less:
        return loop2<Less, T>;
      case Op::less_equal:
        return loop2<LessEqual, T>;
      case Op::equal:
        return loop2<Equal, T>;
      case Op::not_equal:
        return loop2<NotEqual, T>;
      default:
        return nullptr;
    }
  }
};

template <class A, class R>
struct Convert {
  using Result = R;
  static R of(A a, uint*) { return static_cast<R>(a); }
};
CHECKED1(I64OfU64, long, ulong, int64_of_u64)
CHECKED1(I64OfF32, long, float, int64_of_f32)
CHECKED1(I64OfF64, long, double, int64_of_f64)
CHECKED1(U64OfI64, ulong, long, uint64_of_i64)
CHECKED1(U64OfF32, ulong, float, uint64_of_f32)
CHECKED1(U64OfF64, ulong, double, uint64_of_f64)

template <class A>
Loop find_conversion(Scalar type) {
  switch (type) {
    case Scalar::int64:
      return loop1<Convert<A, long>, A>;
    case Scalar::uint64:
      return loop1<Convert<A, ulong>, A>;
    case Scalar::float32:
      return loop1<Convert<A, float>, A>;
    case Scalar::float64:
      return loop1<Convert<A, double>, A>;
    default:
      return nullptr;
  }
}
Loop find_conversion(Scalar from, Scalar type) {
  switch (from) {
    case Scalar::boolean:
      return find_conversion<flag>(type);
    case Scalar::int64:
      return type == Scalar::uint64 ? loop1<U64OfI64, long> : find_conversion<long>(type);
    case Scalar::uint64:
      return type == Scalar::int64 ? loop1<I64OfU64, ulong> : find_conversion<ulong>(type);
    case Scalar::float32:
      if (type == Scalar::int64) return loop1<I64OfF32, float>;
      if (type == Scalar::uint64) return loop1<U64OfF32, float>;
      return find_conversion<float>(type);
    default:
      if (type == Scalar::int64) return loop1<I64OfF64, double>;
      if (type == Scalar::uint64) return loop1<U64OfF64, double>;
      return find_conversion<double>(type);
  }
}

template <class T>
Loop find_for_all(Op op) {
  return op == Op::select ? select<T> : Comparisons<T>::find(op);
}

Loop find_loop(Op op, Scalar from, Scalar type, Known known) {
  if (op == Op::convert) return find_conversion(from, type);
  Loop loop = nullptr;
  switch (from) {
    case Scalar::boolean:
      if (op == Op::logical_not) return loop1<Not, flag>;
      if (op == Op::logical_and) return loop2<And, flag>;
      if (op == Op::logical_or) return loop2<Or, flag>;
      return op == Op::select ? select<flag> : nullptr;
    case Scalar::int64:
      loop = find_for_all<long>(op);
      return loop != nullptr ? loop : find_i64(op, known);
    case Scalar::uint64:
      loop = find_for_all<ulong>(op);
      return loop != nullptr ? loop : find_u64(op, known);
    case Scalar::float32:
      loop = find_for_all<float>(op);
      return loop != nullptr ? loop : find_f32(op);
    default:
      loop = find_for_all<double>(op);
      return loop != nullptr ? loop : find_f64(op);
  }
}

void canonical(Scalar type, void* values, std::size_t count) {
  if (type == Scalar::float32) {
    float* const all = static_cast<float*>(values);
    for (std::size_t k = 0; k < count; ++k) all[k] = canonical_f32(all[k]);
  } else if (type == Scalar::float64) {
    double* const all = static_cast<double*>(values);
    for (std::size_t k = 0; k < count; ++k) all[k] = canonical_f64(all[k]);
  }
}

#undef CONSTANT
#undef OPERATION1
#undef OPERATION2
#undef OPERATION3
#undef CHECKED1
#undef CHECKED2
#undef CHECKED3
#undef FAULT_OVERFLOW
#undef FAULT_DIVISION
#undef FAULT_SHIFT
#undef FAULT_CONVERSION
#undef FAULT_MODULUS
#undef LEAST_I64
#undef GREATEST_COMMON_DIVISOR
#undef SELDOM

}  // namespace HWY_NAMESPACE
}  // namespace samesum::formula
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::formula {

SIMD_EXPORT(find_loop);
SIMD_EXPORT(canonical);

Loop find_loop(Op op, Scalar from, Scalar type, Known known) noexcept { return SIMD_CALL(find_loop)(op, from, type, known); }
void canonical(Scalar type, void* values, std::size_t count) noexcept { SIMD_CALL(canonical)(type, values, count); }

}  // namespace samesum::formula
#endif  // HWY_ONCE
