// The loops of formulas on the CPU, compiled once for each instruction set of the processor family and chosen at run time. They are plain
// loops that compilers make vectors of: the operations are those of kernels (operations.h), so that values have the same bits.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "formula/cpu/evaluate_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "formula/cpu/evaluate.hpp"

#include <hwy/highway.h>

#include <cmath>

#include "formula/cpu/evaluate_loops-inl.hpp"

#include "formula/cpu/evaluate_integers-inl.hpp"  // uses the macros of the other

HWY_BEFORE_NAMESPACE();
namespace samesum::formula {
namespace HWY_NAMESPACE {

// Of floating-point numbers.
template <class T>
struct Floats {
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
  OPERATION1(Exp2, T, T, std::exp2(a))
  OPERATION1(Log2, T, T, std::log2(a))
  OPERATION1(Log10, T, T, std::log10(a))
  OPERATION1(Cbrt, T, T, std::cbrt(a))
  OPERATION1(Sinh, T, T, std::sinh(a))
  OPERATION1(Cosh, T, T, std::cosh(a))
  OPERATION1(Asin, T, T, std::asin(a))
  OPERATION1(Acos, T, T, std::acos(a))
  OPERATION1(Atan, T, T, std::atan(a))
  OPERATION1(Erf, T, T, std::erf(a))
  OPERATION1(Erfc, T, T, std::erfc(a))
  OPERATION2(Add, T, T, a + b)
  OPERATION2(Subtract, T, T, a - b)
  OPERATION2(Multiply, T, T, a* b)
  OPERATION2(Divide, T, T, a / b)
  OPERATION2(Modulo, T, T, std::fmod(a, b))
  OPERATION2(Atan2, T, T, std::atan2(a, b))
  OPERATION2(Pow, T, T, std::pow(a, b))
  OPERATION2(Hypot, T, T, std::hypot(a, b))
  OPERATION3(Fma, T, T, std::fma(a, b, c))
  OPERATION2(Square, T, T, (a - b) * (a - b))
  OPERATION3(AddSquare, T, T, std::fma(a - b, a - b, c))

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
      case Op::exp2:
        return loop1<Exp2, T>;
      case Op::log2:
        return loop1<Log2, T>;
      case Op::log10:
        return loop1<Log10, T>;
      case Op::cbrt:
        return loop1<Cbrt, T>;
      case Op::sinh:
        return loop1<Sinh, T>;
      case Op::cosh:
        return loop1<Cosh, T>;
      case Op::asin:
        return loop1<Asin, T>;
      case Op::acos:
        return loop1<Acos, T>;
      case Op::atan:
        return loop1<Atan, T>;
      case Op::erf:
        return loop1<Erf, T>;
      case Op::erfc:
        return loop1<Erfc, T>;
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
  static constexpr bool kFails = false;
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

template <class T>
Loop find_square(Op last) {
  return last == Op::multiply ? loop2<typename Floats<T>::Square, T> : last == Op::fma ? loop3<typename Floats<T>::AddSquare, T> : nullptr;
}
Loop find_square_loop(Op last, Scalar type) {
  return type == Scalar::float32 ? find_square<float>(last) : type == Scalar::float64 ? find_square<double>(last) : nullptr;
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

}  // namespace HWY_NAMESPACE
}  // namespace samesum::formula
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::formula {

SIMD_EXPORT(find_loop);
SIMD_EXPORT(find_square_loop);
SIMD_EXPORT(canonical);

Loop find_loop(Op op, Scalar from, Scalar type, Known known) noexcept { return SIMD_CALL(find_loop)(op, from, type, known); }
Loop find_square_loop(Op last, Scalar type) noexcept { return SIMD_CALL(find_square_loop)(last, type); }
void canonical(Scalar type, void* values, std::size_t count) noexcept { SIMD_CALL(canonical)(type, values, count); }

}  // namespace samesum::formula
#endif  // HWY_ONCE
