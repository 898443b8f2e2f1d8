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

// Functions by fixed operations, by the type of their operands.
#define FIXED1(name)                               \
  FN float name(float a) { return name##_f32(a); } \
  FN double name(double a) { return name##_f64(a); }
#define FIXED2(name)                                           \
  FN float name(float a, float b) { return name##_f32(a, b); } \
  FN double name(double a, double b) { return name##_f64(a, b); }
FIXED1(fixed_exp)
FIXED1(fixed_exp2)
FIXED1(fixed_expm1)
FIXED1(fixed_sinh)
FIXED1(fixed_cosh)
FIXED1(fixed_tanh)
FIXED1(fixed_log)
FIXED1(fixed_log1p)
FIXED1(fixed_log2)
FIXED1(fixed_log10)
FIXED1(fixed_sin)
FIXED1(fixed_cos)
FIXED1(fixed_tan)
FIXED1(near_sin)
FIXED1(near_cos)
FIXED1(near_tan)
FIXED1(fixed_asin)
FIXED1(fixed_acos)
FIXED1(fixed_atan)
FIXED1(fixed_erf)
FIXED1(fixed_erfc)
FIXED1(fixed_cbrt)
FIXED2(fixed_atan2)
FIXED2(fixed_pow)
FIXED2(fixed_hypot)
FN bool is_near(float a) { return is_near_f32(a) != 0; }
FN bool is_near(double a) { return is_near_f64(a) != 0; }
#undef FIXED1
#undef FIXED2

#define NEAR(name, function)                                       \
  struct name {                                                    \
    static bool is_near(T a) { return HWY_NAMESPACE::is_near(a); } \
    static T near_of(T a) { return near_##function(a); }           \
    static T of(T a) { return fixed_##function(a); }               \
  };

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
  OPERATION1(Log1p, T, T, fixed_log1p(a))
  OPERATION1(Expm1, T, T, fixed_expm1(a))
  OPERATION1(Exp, T, T, fixed_exp(a))
  OPERATION1(Log, T, T, fixed_log(a))
  OPERATION1(Tanh, T, T, fixed_tanh(a))
  NEAR(Sin, sin)
  NEAR(Cos, cos)
  NEAR(Tan, tan)
  OPERATION1(Exp2, T, T, fixed_exp2(a))
  OPERATION1(Log2, T, T, fixed_log2(a))
  OPERATION1(Log10, T, T, fixed_log10(a))
  OPERATION1(Cbrt, T, T, fixed_cbrt(a))
  OPERATION1(Sinh, T, T, fixed_sinh(a))
  OPERATION1(Cosh, T, T, fixed_cosh(a))
  OPERATION1(Asin, T, T, fixed_asin(a))
  OPERATION1(Acos, T, T, fixed_acos(a))
  OPERATION1(Atan, T, T, fixed_atan(a))
  OPERATION1(Erf, T, T, fixed_erf(a))
  OPERATION1(Erfc, T, T, fixed_erfc(a))
  OPERATION2(Add, T, T, a + b)
  OPERATION2(Subtract, T, T, a - b)
  OPERATION2(Multiply, T, T, a* b)
  OPERATION2(Divide, T, T, a / b)
  OPERATION2(Modulo, T, T, std::fmod(a, b))
  OPERATION2(Atan2, T, T, fixed_atan2(a, b))
  OPERATION2(Pow, T, T, fixed_pow(a, b))
  OPERATION2(Hypot, T, T, fixed_hypot(a, b))
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
      case Op::exp:
        return loop1<Exp, T>;
      case Op::log:
        return loop1<Log, T>;
      case Op::tanh:
        return loop1<Tanh, T>;
      case Op::log1p:
        return loop1<Log1p, T>;
      case Op::expm1:
        return loop1<Expm1, T>;
      case Op::sin:
        return loop1_near<Sin, T>;
      case Op::cos:
        return loop1_near<Cos, T>;
      case Op::tan:
        return loop1_near<Tan, T>;
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
OPERATION1(AbsF32, float, float, abs_f32(a))
OPERATION2(MinF32, float, float, min_f32(a, b))
OPERATION2(MaxF32, float, float, max_f32(a, b))
OPERATION1(AbsF64, double, double, abs_f64(a))
OPERATION2(MinF64, double, double, min_f64(a, b))
OPERATION2(MaxF64, double, double, max_f64(a, b))

Loop find_f32(Op op) {
  if (op == Op::abs) return loop1<AbsF32, float>;
  if (op == Op::min) return loop2<MinF32, float>;
  if (op == Op::max) return loop2<MaxF32, float>;
  return Floats<float>::find(op);
}
Loop find_f64(Op op) {
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
#undef NEAR
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
