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
FN ulong word_of(SUM x, uint i) { return i == 0 ? x.low : (ulong)x.high; }
FN SUM sum_of_words(const ulong* words) {
  SUM x;
  x.low = words[0];
  x.high = (long)words[1];
  return x;
}
// Stores the bits of the result. Returns 1 if the sum does not determine them.
FN uint finished(SUM x, ulong count, int what, ulong ddof, GLOBAL RESULT* to) {
  const int mean = what == OF_MEAN;
  // One division if both operands are exact as doubles.
  const long value = (long)x.low;
  const uint fits = x.high == value >> 63 && value <= (1L << 53) && value >= -(1L << 53) && count <= (1UL << 53);
  *to = mean ? as_ulong((double)value / (double)count) : x.low;
  return mean ? !fits : SIGNED ? x.high != value >> 63 : x.high != 0;
}
#else
#if SKIP
// With the number of NaNs that are left out.
typedef struct {
  EXPANSION terms;
  ulong skipped;
} SUM;
#define TERMS(sum) (sum).terms
#else
#define SUM EXPANSION
#define TERMS(sum) (sum)
#define SHUFFLES 1  // sub-groups exchange the terms (axes.h)
#endif
#define SUM_WORDS (4 + SKIP)
FN ulong word_of(SUM x, uint i) {
#if SKIP
  if (i == 4) return x.skipped;
#endif
  return i == 0 ? as_ulong(TERMS(x).s) : i == 1 ? as_ulong(TERMS(x).e) : i == 2 ? as_ulong(TERMS(x).f) : TERMS(x).inexact;
}
FN SUM sum_of_words(const ulong* words) {
  SUM x;
  TERMS(x).s = as_double(words[0]);
  TERMS(x).e = as_double(words[1]);
  TERMS(x).f = as_double(words[2]);
  TERMS(x).inexact = (uint)words[3];
#if SKIP
  x.skipped = words[4];
#endif
  return x;
}
FN SUM sum_zero(void) {
  SUM x;
  TERMS(x) = expansion_zero();
#if SKIP
  x.skipped = 0;
#endif
  return x;
}
FN SUM sum_merge(SUM x, SUM y) {
  TERMS(x) = expansion_merge(TERMS(x), TERMS(y));
#if SKIP
  x.skipped += y.skipped;
#endif
  return x;
}
FN SUM sum_add(SUM x, double value) {
#if SKIP
  if (value != value) {
    ++x.skipped;
    return x;
  }
#endif
#if SHORT
  TERMS(x) = expansion_add_short(TERMS(x), value);
#else
  TERMS(x) = expansion_add(TERMS(x), value);
#endif
  return x;
}
FN uint finished(SUM x, ulong count, int what, ulong ddof, GLOBAL RESULT* to) {
#if SKIP
  count -= x.skipped;
  if (count == 0) {
    *to = 0;
    return what == OF_MEAN;  // there is none
  }
#endif
  const ROUNDED found = moment((uint)what, TERMS(x), squares_zero(), (double)count, 0);
  *to = as_ulong(found.value);
  return !found.certain;
}
#endif

// Adds `count` elements, up to 16. Floats are first added as doubles. That is exact if their exponents span at most 25: the sum of 2^4 numbers below
// 2^(e - 126) that are multiples of 2^(e - 25 - 150) has 53 bits.
#if INTEGERS || !SHORT
FN SUM add_all(SUM sum, const ELEMENT* x, uint count, ulong first, ulong apart, uint together) {
#pragma unroll
  for (uint k = 0; k < count; ++k) sum = sum_add(sum, VALUE(x[k]));
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
    if (!adds_exactly(TERMS(sum).s, all, TERMS(sum).s + all)) return sum_add(sum, all);
    TERMS(sum).s += all;
    return sum;
  }
#pragma unroll
  for (uint k = 0; k < count; ++k) sum = sum_add(sum, VALUE(x[k]));
  return sum;
}
#endif
