// Exact sums in user kernels, in OpenCL C and in CUDA C++: a work-item's sum in registers, that of its group, and sums in global memory to
// which any work-item of any launch may add. Usable without samesum's library.
//
//   EXACT_SUM_KERNEL void k(EXACT_SUM_GLOBAL const float* x, unsigned int n, EXACT_SUM_GLOBAL exact_ulong* total) {
//     EXACT_SUM_LOCAL_VAR double scratch[EXACT_SUM_SCRATCH(256)];
//     ExactSum sum = exact_sum_begin();
//     for (unsigned int i = …; i < n; i += …) sum = exact_sum_add(sum, x[i], total, EXACT_SUM_FLOAT32);
//     sum = exact_sum_group(sum, scratch, total, EXACT_SUM_FLOAT32);                     // all work-items of the group
//     if (exact_sum_item() == 0) exact_sum_deposit_sum(sum, total, EXACT_SUM_FLOAT32);
//   }
//   … and in a later launch:  *result = exact_sum_round_float64(total, EXACT_SUM_FLOAT32);
//
// A sum is the real-number sum of all that was added, whatever the order, rounded once at the end: the same bits in each run, for any
// number of groups, on every device. In registers it is an unevaluated sum of three doubles; a number that would round there goes to the
// words in global memory instead, exactly.
//
// Words in global memory: EXACT_SUM_WORDS(format) 64-bit words, all 0 before the first addition, aligned to 8 bytes. EXACT_SUM_FLOAT32 is
// for sums of float32 (and narrower) numbers, EXACT_SUM_FLOAT64 for any. They are digits of radix 2^32, each with 31 bits of room for
// carries, so that additions are atomic additions of integers that propagate nothing; then counts of NaNs and infinities. Words of several
// sums, added word by word as integers, are the words of the sum of all. A sum has room for 2^30 additions to its words
// (exact_sum_deposit(), or what does not fit into registers); exact_sum_normalize() between two launches makes room for as many again.
//
// Needs 64-bit atomic additions (OpenCL: cl_khr_int64_base_atomics) and float64 (cl_khr_fp64). Compile without
// -cl-unsafe-math-optimizations, -cl-fast-relaxed-math, -ffast-math; nvcc's --use_fast_math changes nothing here, as it is for float32.
// Groups are one-dimensional.
#ifndef SAMESUM_DEVICE_EXACT_SUM_H
#define SAMESUM_DEVICE_EXACT_SUM_H

#define EXACT_SUM_FLOAT32 0
#define EXACT_SUM_FLOAT64 1

// 64-bit words of a sum: digits, then NaNs, positive infinities, negative infinities, whether a number other than -0.0 was added, and
// whether -0.0 was.
#define EXACT_SUM_DIGITS(format) ((format) == EXACT_SUM_FLOAT32 ? 11 : 70)
#define EXACT_SUM_WORDS(format) (EXACT_SUM_DIGITS(format) + 5)
// The position of the first digit among those of exact_sum_round_float64(): a float32 is a multiple of 2^-149.
#define EXACT_SUM_FIRST(format) ((format) == EXACT_SUM_FLOAT32 ? 28 : 0)
// Doubles of local memory for exact_sum_group() of that number of work-items.
#define EXACT_SUM_SCRATCH(items) (4 * (items))

#if defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(__OPENCL_VERSION__)  // hosts need only the words above
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define EXACT_SUM_KERNEL extern "C" __global__
#if __cplusplus < 201703L
#define EXACT_SUM_UNUSED __attribute__((unused))
#else
#define EXACT_SUM_UNUSED [[maybe_unused]]
#endif
#define EXACT_SUM_FN EXACT_SUM_UNUSED static __device__ __forceinline__
#define EXACT_SUM_SELDOM EXACT_SUM_UNUSED static __device__ __noinline__  // takes no registers from what is called often
#define EXACT_SUM_GLOBAL
#define EXACT_SUM_LOCAL
#define EXACT_SUM_LOCAL_VAR __shared__
typedef unsigned int exact_uint;
typedef long long exact_long;
typedef unsigned long long exact_ulong;
EXACT_SUM_FN exact_uint exact_clz64(exact_ulong x) { return (exact_uint)__clzll((exact_long)x); }
EXACT_SUM_FN exact_ulong exact_bits(double x) { return (exact_ulong)__double_as_longlong(x); }
EXACT_SUM_FN double exact_double(exact_ulong x) { return __longlong_as_double((exact_long)x); }
EXACT_SUM_FN float exact_float(exact_uint x) { return __uint_as_float(x); }
EXACT_SUM_FN exact_uint exact_sum_item(void) { return threadIdx.x; }
EXACT_SUM_FN exact_uint exact_sum_items(void) { return blockDim.x; }
EXACT_SUM_FN void exact_sum_barrier(void) { __syncthreads(); }
EXACT_SUM_FN exact_ulong exact_sum_atomic_add(exact_ulong* p, exact_ulong x) { return atomicAdd(p, x); }
#else
#ifdef __OPENCL_C_VERSION__
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif
#define EXACT_SUM_KERNEL __kernel
#define EXACT_SUM_FN static inline __attribute__((always_inline))
#define EXACT_SUM_SELDOM static inline __attribute__((always_inline))
#define EXACT_SUM_GLOBAL __global
#define EXACT_SUM_LOCAL __local
#define EXACT_SUM_LOCAL_VAR __local
typedef uint exact_uint;
typedef long exact_long;
typedef ulong exact_ulong;
EXACT_SUM_FN exact_uint exact_clz64(exact_ulong x) { return (exact_uint)clz(x); }
EXACT_SUM_FN exact_ulong exact_bits(double x) { return as_ulong(x); }
EXACT_SUM_FN double exact_double(exact_ulong x) { return as_double(x); }
EXACT_SUM_FN float exact_float(exact_uint x) { return as_float(x); }
EXACT_SUM_FN exact_uint exact_sum_item(void) { return (exact_uint)get_local_id(0); }
EXACT_SUM_FN exact_uint exact_sum_items(void) { return (exact_uint)get_local_size(0); }
EXACT_SUM_FN void exact_sum_barrier(void) { barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); }
EXACT_SUM_FN exact_ulong exact_sum_atomic_add(volatile __global exact_ulong* p, exact_ulong x) { return atom_add(p, x); }
#endif
// clang-format off
// --- of src/exact/exact.h and src/groups/expansion.h, by tools/write-device-headers.py ----------------------------------------------------
#define EXACT_DIGITS 70
#define EXACT_FLOAT32_SHIFT 925  // the lowest bit of a float32 is 2^-149 = 2^(925 - 1074)

// Adds value * 2^(position - 1074): three digits change, by less than 2^32 each.
EXACT_SUM_FN void exact_add_scaled(exact_long* digits, exact_long value, int position) {
  exact_ulong magnitude = value < 0 ? 0 - (exact_ulong)value : (exact_ulong)value;
  int digit = position >> 5;
  int shift = position & 31;
  exact_ulong low = magnitude << shift;
  exact_long d0 = (exact_long)(low & 0xffffffffu);
  exact_long d1 = (exact_long)(low >> 32);
  exact_long d2 = (exact_long)((magnitude >> 32) >> (32 - shift));
  digits[digit] += value < 0 ? -d0 : d0;
  digits[digit + 1] += value < 0 ? -d1 : d1;
  digits[digit + 2] += value < 0 ? -d2 : d2;
}

// Propagates carries: the normalized form, which is unique for a range. Requires digits under 2^62 in magnitude.
EXACT_SUM_FN void exact_normalize(exact_long* digits, int first, int last) {
  exact_long carry = 0;
  for (int i = first; i < last; ++i) {
    exact_long digit = digits[i] + carry;
    carry = digit >> 32;  // arithmetic shift: rounds towards minus infinity
    digits[i] = digit & (exact_long)0xffffffffu;
  }
  digits[last] += carry;
}

// Replaces a normalized range by its magnitude; returns 1 where it was negative.
EXACT_SUM_FN int exact_make_magnitude(exact_long* digits, int first, int last) {
  if (digits[last] >= 0) return 0;
  for (int i = first; i <= last; ++i) digits[i] = -digits[i];
  exact_normalize(digits, first, last);
  return 1;
}

// The index of the highest set bit of a magnitude, counted from digit 0; -1 for zero.
EXACT_SUM_FN int exact_top_bit(const exact_long* magnitude, int first, int last) {
  int i = last;
  while (i >= first && magnitude[i] == 0) --i;
  return i < first ? -1 : 32 * i + 63 - (int)exact_clz64((exact_ulong)magnitude[i]);
}

EXACT_SUM_FN exact_ulong exact_digit_in(const exact_long* magnitude, int first, int last, int i) { return i < first || i > last ? 0 : (exact_ulong)magnitude[i]; }

// Rounds magnitude / 2^drop to the nearest integer, ties to even; `drop` >= 0 and the quotient has at most 53 bits.
EXACT_SUM_FN exact_ulong exact_drop_bits(const exact_long* magnitude, int first, int last, int drop) {
  int half_digit = (drop - 1) >> 5;
  int half_bit = (drop - 1) & 31;
  int digit = drop >> 5;
  int shift = drop & 31;
  exact_ulong quotient = exact_digit_in(magnitude, first, last, digit) >> shift;
  quotient |= exact_digit_in(magnitude, first, last, digit + 1) << (32 - shift);
  if (shift > 0) quotient |= exact_digit_in(magnitude, first, last, digit + 2) << (64 - shift);
  exact_ulong half_word = exact_digit_in(magnitude, first, last, half_digit);
  exact_ulong sticky = half_word & (((exact_ulong)1 << half_bit) - 1);
  for (int i = first; i < half_digit && i <= last && sticky == 0; ++i) sticky = (exact_ulong)magnitude[i];
  return quotient + (((half_word >> half_bit) & 1) & (exact_ulong)(sticky != 0 || (quotient & 1) != 0));
}

// The bits of the float64 nearest to a magnitude, ties to even; +0.0 for zero. The caller sets the sign. Digits below `first` may weigh
// less than 2^-1074, as in sums of products.
EXACT_SUM_FN exact_ulong exact_round_float64(const exact_long* magnitude, int first, int last) {
  const exact_ulong infinity = (exact_ulong)0x7ff << 52;
  // Denormals have the same spacing as the first binade of normal numbers, so the quotient is their encoding.
  int top = exact_top_bit(magnitude, first, last);
  int drop = top > 52 ? top - 52 : 0;
  if (drop > 2046) return infinity;
  // The quotient's leading bit is bit 52: adding it increments the exponent field, and so does a carry out of rounding.
  exact_ulong bits = ((exact_ulong)drop << 52) + exact_drop_bits(magnitude, first, last, drop);
  return bits > infinity ? infinity : bits;
}

// The same for the nearest float32.
EXACT_SUM_FN exact_uint exact_round_float32(const exact_long* magnitude, int first, int last) {
  int top = exact_top_bit(magnitude, first, last);
  int drop = top - 23 > EXACT_FLOAT32_SHIFT ? top - 23 : EXACT_FLOAT32_SHIFT;  // denormals have the lowest binade's spacing
  int exponent = drop - EXACT_FLOAT32_SHIFT;
  if (exponent > 254) return 0x7f800000u;
  exact_uint bits = ((exact_uint)exponent << 23) + (exact_uint)exact_drop_bits(magnitude, first, last, drop);
  return bits > 0x7f800000u ? 0x7f800000u : bits;
}

// Results that are not determined by finite digits.
#define EXACT_FINITE 0
#define EXACT_NAN 1
#define EXACT_POSITIVE_INFINITY 2
#define EXACT_NEGATIVE_INFINITY 3
#define EXACT_NEGATIVE_ZERO 4

// Which of these applies to `count` elements with the given numbers of NaNs and infinities; `other` is 0 where all but the NaNs were -0.0.
EXACT_SUM_FN int exact_special(exact_ulong count, exact_ulong nans, exact_ulong positive_infinities, exact_ulong negative_infinities, exact_ulong other, int skip_nans) {
  if (nans != 0 && !skip_nans) return EXACT_NAN;
  if (positive_infinities != 0) return negative_infinities != 0 ? EXACT_NAN : EXACT_POSITIVE_INFINITY;
  if (negative_infinities != 0) return EXACT_NEGATIVE_INFINITY;
  return other == 0 && count != nans ? EXACT_NEGATIVE_ZERO : EXACT_FINITE;
}

// The bits of such a result; the NaN is the canonical one.
EXACT_SUM_FN exact_ulong exact_special_float64(int special) {
  if (special == EXACT_NAN) return (exact_ulong)0x7ff8 << 48;
  if (special == EXACT_POSITIVE_INFINITY) return (exact_ulong)0x7ff0 << 48;
  return special == EXACT_NEGATIVE_INFINITY ? (exact_ulong)0xfff0 << 48 : (exact_ulong)0x8000 << 48;
}
EXACT_SUM_FN exact_uint exact_special_float32(int special) {
  if (special == EXACT_NAN) return 0x7fc00000u;
  if (special == EXACT_POSITIVE_INFINITY) return 0x7f800000u;
  return special == EXACT_NEGATIVE_INFINITY ? 0xff800000u : 0x80000000u;
}

typedef struct {
  double s, e, f;
  exact_uint inexact;
} ExactExpansion;

EXACT_SUM_FN ExactExpansion exact_expansion_zero(void) {
  ExactExpansion x;
  x.s = x.e = x.f = (double)-0.0;  // the identity of addition: a sum of zeros of one sign keeps it
  x.inexact = 0;
  return x;
}

// The error of sum = a + b.
EXACT_SUM_FN double exact_error_of_sum(double a, double b, double sum) {
  const double of_b = sum - a;
  return (a - (sum - of_b)) + (b - of_b);
}

// Whether sum = a + b has no error. The difference between the sum and the greater operand is exact, so comparing it suffices.
EXACT_SUM_FN exact_uint exact_adds_exactly(double a, double b, double sum) { return sum - a == b && sum - b == a; }

EXACT_SUM_FN ExactExpansion exact_expansion_add(ExactExpansion x, double value) {
  const double s = x.s + value;
  const double first = exact_error_of_sum(x.s, value, s);
  const double e = x.e + first;
  x.s = s;
  if (!exact_adds_exactly(x.e, first, e)) {  // rare
    const double second = exact_error_of_sum(x.e, first, e);
    const double f = x.f + second;
    x.inexact |= !exact_adds_exactly(x.f, second, f);
    x.f = f;
  }
  x.e = e;
  return x;
}

// With two terms only: enough for float32 numbers added up as doubles, as exact_long as they span no more than 2^50.
EXACT_SUM_FN ExactExpansion exact_expansion_add_short(ExactExpansion x, double value) {
  const double s = x.s + value;
  const double first = exact_error_of_sum(x.s, value, s);
  const double e = x.e + first;
  x.inexact |= !exact_adds_exactly(x.e, first, e);
  x.s = s;
  x.e = e;
  return x;
}

EXACT_SUM_FN ExactExpansion exact_expansion_merge(ExactExpansion x, ExactExpansion y) {
  // Most sums have one term or two.
  const double s = x.s + y.s;
  if (y.f == 0 && y.inexact == 0) {
    if (y.e == 0 && exact_adds_exactly(x.s, y.s, s)) {
      x.s = s;
      return x;
    }
    const double both = x.e + y.e, error = exact_error_of_sum(x.s, y.s, s), e = both + error;
    if (exact_adds_exactly(x.e, y.e, both) && exact_adds_exactly(both, error, e)) {
      x.s = s;
      x.e = e;
      return x;
    }
  }
  x = exact_expansion_add(x, y.s);
  if (y.e != 0) x = exact_expansion_add(x, y.e);  // not a zero, which would turn -0.0 into +0.0
  if (y.f != 0) x = exact_expansion_add(x, y.f);
  x.inexact |= y.inexact;
  return x;
}

// The same sum with s the nearest number to it; at a tie, either of the two nearest. The terms may be any numbers, in any order. A pass from the
// last term to the first makes a double of what is largest, and what it leaves is not small where terms have cancelled; a second pass is enough for
// three terms.
EXACT_SUM_FN ExactExpansion exact_expansion_normalized(ExactExpansion x) {
  if (x.e == 0 && x.f == 0) return x;
  const double u = x.e + x.f, r = exact_error_of_sum(x.e, x.f, u);
  const double s = x.s + u, w = exact_error_of_sum(x.s, u, s);
  const double v = w + r;
  x.f = exact_error_of_sum(w, r, v);
  x.s = s + v;
  x.e = exact_error_of_sum(s, v, x.s);
  return x;
}

// The sum rounded to the nearest number, ties to even. If `inexact` becomes 1, the result is undefined.
EXACT_SUM_FN ExactExpansion exact_expansion_rounded(ExactExpansion x) {
  x = exact_expansion_normalized(x);
  // Only at a tie between two numbers does the third term decide.
  x.inexact |= x.f != 0 && (x.s + 2 * x.e) - x.s == 2 * x.e;
  x.inexact |= !(x.s - x.s == 0);
  return x;
}

// The nearest float, ties to even, to a number below 2^127 and a rest of at most half a place of it. Only where the number lies in the middle
// between two floats does the rest decide.
EXACT_SUM_FN float nearest_float(double s, double rest) {
  const float nearest = (float)s;
  const double apart = s - (double)nearest, beyond = (double)nearest + 2 * apart;
  const float other = (float)beyond;  // the float on the other side, where s is in the middle
  return rest != 0 && apart != 0 && (double)other == beyond && (rest > 0) == (apart > 0) ? other : nearest;
}
EXACT_SUM_FN float exact_expansion_to_float(ExactExpansion normalized) { return nearest_float(normalized.s, normalized.e != 0 ? normalized.e : normalized.f); }
// --- end of what tools/write-device-headers.py writes -------------------------------------------------------------------------------------
// clang-format on

// --- a number to words in global memory -------------------------------------------------------------------------------------------------

// Adds x to a sum's words, from any work-item of any launch, with any others at the same time.
EXACT_SUM_SELDOM void exact_sum_deposit(double x, EXACT_SUM_GLOBAL exact_ulong* words, int format) {
  EXACT_SUM_GLOBAL exact_ulong* const kinds = words + EXACT_SUM_DIGITS(format);
  const exact_ulong bits = exact_bits(x);
  const exact_uint field = (exact_uint)(bits >> 52) & 0x7ffu;
  const exact_ulong fraction = bits & (((exact_ulong)1 << 52) - 1);
  if (field == 0x7ff) {
    exact_sum_atomic_add(&kinds[fraction != 0 ? 0 : bits >> 63 == 0 ? 1 : 2], 1);
    return;
  }
  // A word that is set needs no other addition: it is read first, as one address would make all wait.
  if (bits == (exact_ulong)1 << 63) {
    if (kinds[4] == 0) exact_sum_atomic_add(&kinds[4], 1);
    return;
  }
  if (kinds[3] == 0) exact_sum_atomic_add(&kinds[3], 1);
  if (bits == 0) return;
  exact_ulong mantissa = field != 0 ? fraction | (exact_ulong)1 << 52 : fraction;
  int position = field != 0 ? (int)field - 1 : 0;
  const int lowest = 32 * EXACT_SUM_FIRST(format);
  if (position < lowest) {  // of a double that is a multiple of 2^-149
    mantissa >>= lowest - position;
    position = lowest;
  }
  exact_long parts[3] = {0, 0, 0};
  exact_add_scaled(parts, bits >> 63 != 0 ? -(exact_long)mantissa : (exact_long)mantissa, position & 31);
  EXACT_SUM_GLOBAL exact_ulong* const at = words + (position >> 5) - EXACT_SUM_FIRST(format);
  for (int i = 0; i < 3; ++i) {
    if (parts[i] != 0) exact_sum_atomic_add(&at[i], (exact_ulong)parts[i]);
  }
}

// --- a sum in registers -----------------------------------------------------------------------------------------------------------------

typedef struct {
  ExactExpansion terms;
  exact_uint any;   // is there a number in the terms?
  exact_uint left;  // did one go to the words instead?
} ExactSum;

EXACT_SUM_FN ExactSum exact_sum_begin(void) {
  ExactSum sum;
  sum.terms = exact_expansion_zero();
  sum.any = sum.left = 0;
  return sum;
}

// The sum with x; what would round in registers, infinities and NaNs too, goes to the words. As it may write there, compilers load nothing
// ahead of it: load several elements before adding the first.
EXACT_SUM_SELDOM ExactSum exact_sum_add_anything(ExactSum sum, double x, EXACT_SUM_GLOBAL exact_ulong* words, int format) {
  const ExactExpansion terms = exact_expansion_add(sum.terms, x);
  if (terms.inexact == 0 && terms.s - terms.s == 0) {
    sum.terms = terms;
    sum.any = 1;
  } else {
    exact_sum_deposit(x, words, format);
    sum.left = 1;
  }
  return sum;
}
EXACT_SUM_FN ExactSum exact_sum_add(ExactSum sum, double x, EXACT_SUM_GLOBAL exact_ulong* words, int format) {
  const double s = sum.terms.s + x;
  if (format == EXACT_SUM_FLOAT32) {  // one double holds most sums of floats
    if (!exact_adds_exactly(sum.terms.s, x, s)) return exact_sum_add_anything(sum, x, words, format);
  } else {
    const double error = exact_error_of_sum(sum.terms.s, x, s), e = sum.terms.e + error;
    if (!exact_adds_exactly(sum.terms.e, error, e)) return exact_sum_add_anything(sum, x, words, format);
    sum.terms.e = e;
  }
  sum.terms.s = s;
  sum.any = 1;
  return sum;
}

// Adds a sum to words.
EXACT_SUM_FN void exact_sum_deposit_sum(ExactSum sum, EXACT_SUM_GLOBAL exact_ulong* words, int format) {
  if (sum.any == 0) return;
  exact_sum_deposit(sum.terms.s, words, format);
  if (sum.terms.e != 0) exact_sum_deposit(sum.terms.e, words, format);
  if (sum.terms.f != 0) exact_sum_deposit(sum.terms.f, words, format);
}

// Both in one; what would round goes to the words.
EXACT_SUM_FN ExactSum exact_sum_merge(ExactSum sum, ExactSum other, EXACT_SUM_GLOBAL exact_ulong* words, int format) {
  sum.left |= other.left;
  if (other.any == 0) return sum;
  const ExactExpansion terms = exact_expansion_merge(sum.terms, other.terms);
  if (terms.inexact == 0 && terms.s - terms.s == 0) {
    sum.terms = terms;
    sum.any = 1;
  } else {
    exact_sum_deposit_sum(other, words, format);
    sum.left = 1;
  }
  return sum;
}

EXACT_SUM_FN void exact_sum_to_scratch(EXACT_SUM_LOCAL double* scratch, exact_uint place, exact_uint items, ExactSum sum) {
  scratch[place] = sum.terms.s;
  scratch[place + items] = sum.terms.e;
  scratch[place + 2 * items] = sum.terms.f;
  scratch[place + 3 * items] = (double)(sum.any + 2 * sum.left);
}
EXACT_SUM_FN ExactSum exact_sum_from_scratch(EXACT_SUM_LOCAL const double* scratch, exact_uint place, exact_uint items) {
  ExactSum sum;
  sum.terms.s = scratch[place];
  sum.terms.e = scratch[place + items];
  sum.terms.f = scratch[place + 2 * items];
  sum.terms.inexact = 0;
  const exact_uint flags = (exact_uint)scratch[place + 3 * items];
  sum.any = flags & 1u;
  sum.left = flags >> 1;
  return sum;
}

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
// The sum of a warp's sums from lanes under 2 `distance`, to its first lane.
EXACT_SUM_SELDOM ExactSum exact_sum_warp_of_anything(ExactSum sum, exact_uint distance, exact_ulong* words, int format) {
#pragma unroll 1
  for (; distance != 0; distance /= 2) {
    ExactSum other;
    other.terms.s = __shfl_down_sync(0xffffffffu, sum.terms.s, distance);
    other.terms.e = __shfl_down_sync(0xffffffffu, sum.terms.e, distance);
    other.terms.f = __shfl_down_sync(0xffffffffu, sum.terms.f, distance);
    const exact_uint flags = __shfl_down_sync(0xffffffffu, sum.any + 2 * sum.left, distance);
    other.terms.inexact = 0;
    other.any = flags & 1u;
    other.left = flags >> 1;
    if ((exact_sum_item() & 31u) < distance) sum = exact_sum_merge(sum, other, words, format);
  }
  return sum;
}

// The sum of a warp's sums, to its first lane; what the others get is of no use. While all are sums of one double or of two that round
// nothing, as most are, only those are moved and added.
EXACT_SUM_FN ExactSum exact_sum_warp(ExactSum sum, exact_ulong* words, int format) {
  exact_uint distance = 16;
  if (__all_sync(0xffffffffu, sum.left == 0 && sum.terms.f == 0)) {
    sum.any = __any_sync(0xffffffffu, sum.any != 0) != 0;  // a sum of no number is -0.0, which changes none
    if (__all_sync(0xffffffffu, sum.terms.e == 0)) {
#pragma unroll
      for (; distance != 0; distance /= 2) {
        const double other = __shfl_down_sync(0xffffffffu, sum.terms.s, distance), s = sum.terms.s + other;
        if (!__all_sync(0xffffffffu, exact_adds_exactly(sum.terms.s, other, s))) break;
        sum.terms.s = s;
      }
    }
    for (; distance != 0; distance /= 2) {
      const double other = __shfl_down_sync(0xffffffffu, sum.terms.s, distance), s = sum.terms.s + other;
      const double other_e = __shfl_down_sync(0xffffffffu, sum.terms.e, distance), both = sum.terms.e + other_e;
      const double error = exact_error_of_sum(sum.terms.s, other, s), e = both + error;
      if (!__all_sync(0xffffffffu, exact_adds_exactly(sum.terms.e, other_e, both) && exact_adds_exactly(both, error, e))) break;
      sum.terms.s = s;
      sum.terms.e = e;
    }
  }
  return distance == 0 ? sum : exact_sum_warp_of_anything(sum, distance, words, format);
}
#endif

// The sum of the group's sums, to its first work-item; the others get what is of no use. All work-items of the group call it. `scratch` has
// EXACT_SUM_SCRATCH(work-items) doubles, which are free again afterwards. What any of them added to the words before is seen by the first
// work-item behind it.
EXACT_SUM_FN ExactSum exact_sum_group(ExactSum sum, EXACT_SUM_LOCAL double* scratch, EXACT_SUM_GLOBAL exact_ulong* words, int format) {
  exact_uint items = exact_sum_items();
  const exact_uint item = exact_sum_item();
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
  if ((items & 31u) == 0) {
    sum = exact_sum_warp(sum, words, format);
    const exact_uint warps = items >> 5;
    if ((item & 31u) == 0) exact_sum_to_scratch(scratch, item >> 5, warps, sum);
    if (sum.left != 0) __threadfence();
    exact_sum_barrier();
    if (item < 32) sum = exact_sum_warp(item < warps ? exact_sum_from_scratch(scratch, item, warps) : exact_sum_begin(), words, format);
    exact_sum_barrier();
    return sum;
  }
#endif
  exact_sum_to_scratch(scratch, item, items, sum);
  exact_sum_barrier();
  const exact_uint all = items;
  while (items > 1) {
    const exact_uint next = (items + 1) / 2;
    if (item + next < items) {
      sum = exact_sum_merge(sum, exact_sum_from_scratch(scratch, item + next, all), words, format);
      exact_sum_to_scratch(scratch, item, all, sum);
    }
    exact_sum_barrier();
    items = next;
  }
  return sum;
}

// --- rounding ---------------------------------------------------------------------------------------------------------------------------

// Reads words to digits, normalized, as a magnitude. Returns its sign, and what the result is if no number: EXACT_FINITE and so on. Words
// are read as atomics read them, past caches that are not kept coherent.
EXACT_SUM_SELDOM int exact_sum_magnitude(EXACT_SUM_GLOBAL exact_ulong* words, int format, exact_long* digits, int* special) {
  const int first = EXACT_SUM_FIRST(format), count = EXACT_SUM_DIGITS(format);
  for (int i = 0; i < EXACT_DIGITS; ++i) digits[i] = 0;
  for (int i = 0; i < count; ++i) digits[first + i] = (exact_long)exact_sum_atomic_add(&words[i], 0);
  exact_ulong kinds[5];
  for (int i = 0; i < 5; ++i) kinds[i] = exact_sum_atomic_add(&words[count + i], 0);
  *special = exact_special(kinds[4] != 0, kinds[0], kinds[1], kinds[2], kinds[3] != 0 || kinds[4] == 0, 0);
  const int last = format == EXACT_SUM_FLOAT32 ? first + count + 2 : EXACT_DIGITS - 1;
  exact_normalize(digits, first, last);
  return exact_make_magnitude(digits, first, last);
}

// The sum in the words, rounded to the nearest double or float, ties to even; NaN and infinities as IEEE 754 adds them; -0.0 if only
// that was added, +0.0 if nothing was. By one work-item, behind all additions: in a later launch, behind a grid barrier, or behind
// exact_sum_group() if only this group adds to them.
EXACT_SUM_SELDOM double exact_sum_round_float64(EXACT_SUM_GLOBAL exact_ulong* words, int format) {
  exact_long digits[EXACT_DIGITS];
  int special;
  const int negative = exact_sum_magnitude(words, format, digits, &special);
  if (special != EXACT_FINITE) return exact_double(exact_special_float64(special));
  return exact_double((exact_ulong)negative << 63 | exact_round_float64(digits, EXACT_SUM_FIRST(format), EXACT_DIGITS - 1));
}
EXACT_SUM_SELDOM float exact_sum_round_float32(EXACT_SUM_GLOBAL exact_ulong* words, int format) {
  exact_long digits[EXACT_DIGITS];
  int special;
  const int negative = exact_sum_magnitude(words, format, digits, &special);
  if (special != EXACT_FINITE) return exact_float(exact_special_float32(special));
  return exact_float((exact_uint)negative << 31 | exact_round_float32(digits, EXACT_SUM_FIRST(format), EXACT_DIGITS - 1));
}

// A sum in registers, rounded; with what went to the words, which no other work-item adds to. For the first work-item, behind exact_sum_group().
EXACT_SUM_FN double exact_sum_finish_float64(ExactSum sum, EXACT_SUM_GLOBAL exact_ulong* words, int format) {
  if (sum.left == 0) {
    if (sum.any == 0) return 0;
    const ExactExpansion rounded = exact_expansion_rounded(sum.terms);
    if (rounded.inexact == 0) return rounded.s;
  }
  exact_sum_deposit_sum(sum, words, format);
  return exact_sum_round_float64(words, format);
}
EXACT_SUM_FN float exact_sum_finish_float32(ExactSum sum, EXACT_SUM_GLOBAL exact_ulong* words, int format) {
  if (sum.left == 0) {
    if (sum.any == 0) return 0;
    const ExactExpansion nearest = exact_expansion_normalized(sum.terms);
    if ((nearest.s < 0 ? -nearest.s : nearest.s) < 0x1p127) return exact_expansion_to_float(nearest);
  }
  exact_sum_deposit_sum(sum, words, format);
  return exact_sum_round_float32(words, format);
}

// Propagates carries in the words of a sum, so that they have room for 2^30 additions again. By one work-item, while no other adds to them.
EXACT_SUM_FN void exact_sum_normalize(EXACT_SUM_GLOBAL exact_ulong* words, int format) {
  exact_long carry = 0;
  const int last = EXACT_SUM_DIGITS(format) - 1;
  for (int i = 0; i < last; ++i) {
    const exact_long digit = (exact_long)words[i] + carry;
    carry = digit >> 32;
    words[i] = (exact_ulong)(digit & 0xffffffffL);
  }
  words[last] += (exact_ulong)carry;
}

#endif  // for devices
#endif
