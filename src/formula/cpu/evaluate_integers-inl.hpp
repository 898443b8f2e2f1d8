// Operations on int64 and uint64. Included once for each instruction set, by evaluate_simd.cpp, after evaluate_loops-inl.hpp.

#include "formula/cpu/evaluate.hpp"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace samesum::formula {
namespace HWY_NAMESPACE {

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
  static constexpr bool kFails = true;
  using Result = long;
  static long of(long a, uint* error) { return subtract_i64(0, a, error); }
};
CHECKED2(AddI64, long, long, add_i64)
CHECKED2(SubtractI64, long, long, subtract_i64)
struct MultiplyI64 {  // as multiply_i64, in fewer instructions
  static constexpr bool kFails = true;
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
  static constexpr bool kFails = true;
  using Result = ulong;
  static ulong of(ulong a, uint* error) { return subtract_u64(0, a, error); }
};
CHECKED2(AddU64, ulong, ulong, add_u64)
CHECKED2(SubtractU64, ulong, ulong, subtract_u64)
struct MultiplyU64 {
  static constexpr bool kFails = true;
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

}  // namespace HWY_NAMESPACE
}  // namespace samesum::formula
HWY_AFTER_NAMESPACE();
