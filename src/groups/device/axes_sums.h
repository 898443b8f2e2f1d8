// Sums and means along axes, for axes.cl, after expansion.h and moments.h for floats. The host defines:
//   VALUE(x)       an element's value: a double; if INTEGERS, a long (the bits of a uint64)
//   SIGNED         whether integers are signed
//   SHORT          whether expansions of two terms are enough for most data
//   FLOAT_BITS(x)  the bits of an element as a float, for floats of at most 32 bits
//   MISSING        the identity of addition as an element
#define RESULT ulong
#if INTEGERS
#define OF_MEAN 1
#endif

#if INTEGERS
// A sum of 128 bits.
typedef struct {
  ulong low;
  long high;
} SUM;
#define SUM_WORDS 2
FN SUM sum_zero(void) {
  SUM x;
  x.low = 0;
  x.high = 0;
  return x;
}
FN SUM sum_merge(SUM x, SUM y) {
  x.low += y.low;
  x.high += y.high + (x.low < y.low ? 1 : 0);
  return x;
}
FN SUM sum_add(SUM x, long value) {
  SUM y;
  y.low = (ulong)value;
  y.high = SIGNED ? value >> 63 : 0;
  return sum_merge(x, y);
}
FN void store_sum(GLOBAL ulong* to, ulong apart, SUM x) {
  to[0] = x.low;
  to[apart] = (ulong)x.high;
}
FN SUM stored_sum(GLOBAL const ulong* from, ulong apart) {
  SUM x;
  x.low = from[0];
  x.high = (long)from[apart];
  return x;
}
FN void share_sum(LOCAL ulong* to, SUM x) {
  to[0] = x.low;
  to[GROUP_SIZE] = (ulong)x.high;
}
FN SUM shared_sum(LOCAL const ulong* from) {
  SUM x;
  x.low = from[0];
  x.high = (long)from[GROUP_SIZE];
  return x;
}
// Stores the bits of the result. Returns 1 if the sum does not determine them.
FN uint finished(SUM x, ulong count, int what, GLOBAL RESULT* to) {
  const int mean = what == OF_MEAN;
  // One division if both operands are exact as doubles.
  const long value = (long)x.low;
  const uint fits = x.high == value >> 63 && value <= (1L << 53) && value >= -(1L << 53) && count <= (1UL << 53);
  *to = mean ? as_ulong((double)value / (double)count) : x.low;
  return mean ? !fits : SIGNED ? x.high != value >> 63 : x.high != 0;
}
#else
#define SUM EXPANSION
#define SUM_WORDS 4
#define sum_zero expansion_zero
#define sum_merge expansion_merge
#if SHORT
#define sum_add expansion_add_short
#else
#define sum_add expansion_add
#endif
FN void store_sum(GLOBAL ulong* to, ulong apart, SUM x) {
  to[0] = as_ulong(x.s);
  to[apart] = as_ulong(x.e);
  to[2 * apart] = as_ulong(x.f);
  to[3 * apart] = x.inexact;
}
FN SUM stored_sum(GLOBAL const ulong* from, ulong apart) {
  SUM x;
  x.s = as_double(from[0]);
  x.e = as_double(from[apart]);
  x.f = as_double(from[2 * apart]);
  x.inexact = (uint)from[3 * apart];
  return x;
}
FN void share_sum(LOCAL ulong* to, SUM x) {
  to[0] = as_ulong(x.s);
  to[GROUP_SIZE] = as_ulong(x.e);
  to[2 * GROUP_SIZE] = as_ulong(x.f);
  to[3 * GROUP_SIZE] = x.inexact;
}
FN SUM shared_sum(LOCAL const ulong* from) {
  SUM x;
  x.s = as_double(from[0]);
  x.e = as_double(from[GROUP_SIZE]);
  x.f = as_double(from[2 * GROUP_SIZE]);
  x.inexact = (uint)from[3 * GROUP_SIZE];
  return x;
}
FN uint finished(SUM x, ulong count, int what, GLOBAL RESULT* to) {
  const ROUNDED found = moment((uint)what, x, squares_zero(), (double)count);
  *to = as_ulong(found.value);
#if SKIP
  return what == OF_MEAN || found.value == 0 || !found.certain;  // the number of elements that are not NaN is unknown
#else
  return !found.certain;
#endif
}
#define SHUFFLES 1  // sub-groups exchange the terms (axes.cl)
#endif


#if INTEGERS
#define NUMBER long
#define NOTHING 0
#else
#define NUMBER double
#define NOTHING -0.0
#endif
#if SKIP
FN NUMBER number_of(ELEMENT x) {
  const NUMBER value = VALUE(x);
  return value == value ? value : NOTHING;
}
#else
#define number_of(x) VALUE(x)
#endif

// Adds `count` elements, up to 16. Floats are first added as doubles. That is exact if their exponents span at most 25: the sum of 2^4 numbers below
// 2^(e - 126) that are multiples of 2^(e - 25 - 150) has 53 bits.
#if INTEGERS || !SHORT
FN SUM add_all(SUM sum, const ELEMENT* x, uint count, ulong first, ulong apart, uint together) {
#pragma unroll
  for (uint k = 0; k < count; ++k) sum = sum_add(sum, number_of(x[k]));
  return sum;
}
#else
FN SUM add_all(SUM sum, const ELEMENT* x, uint count, ulong first, ulong apart, uint together) {
  double all = -0.0;
  uint greatest = 0;
  uint least = ~0u;
#pragma unroll
  for (uint k = 0; k < count; ++k) {
    const uint magnitude = FLOAT_BITS(x[k]) & 0x7fffffffu;
    greatest = max(greatest, magnitude);
    least = min(least, magnitude - 1);  // zeros become the greatest
    all += VALUE(x[k]);
  }
  if (greatest < 0x7f800000u && greatest >> 23 < (least >> 23) + 26) {
    if (!adds_exactly(sum.s, all, sum.s + all)) return sum_add(sum, all);
    sum.s += all;
    return sum;
  }
#pragma unroll
  for (uint k = 0; k < count; ++k) sum = sum_add(sum, number_of(x[k]));
  return sum;
}
#endif
