// Sums of squares along axes, with those of the numbers if VARIANCE is set, for axes.cl, after expansion.h and moments.h. The host defines
// VALUE(x), MISSING and INTEGERS, of up to 32 bits, as for axes_sums.h.
#define RESULT ulong

#if INTEGERS
// Sums of fewer than 2^31 numbers.
typedef struct {
  long sum;
  ulong low, high;  // of the squares
} SUM;
#define SUM_WORDS 3
FN SUM sum_zero(void) {
  SUM x;
  x.sum = 0;
  x.low = x.high = 0;
  return x;
}
FN SUM sum_merge(SUM x, SUM y) {
  x.sum += y.sum;
  x.low += y.low;
  x.high += y.high + (x.low < y.low ? 1 : 0);
  return x;
}
FN SUM sum_add(SUM x, long value) {
  SUM y;
  y.sum = value;
  y.low = (ulong)value * (ulong)value;  // of a uint32 more than a long may hold
  y.high = 0;
  return sum_merge(x, y);
}
FN ulong word_of(SUM x, uint i) { return i == 0 ? (ulong)x.sum : i == 1 ? x.low : x.high; }
FN SUM sum_of_words(const ulong* words) {
  SUM x;
  x.sum = (long)words[0];
  x.low = words[1];
  x.high = words[2];
  return x;
}
FN EXPANSION numbers_of(SUM x) {
  EXPANSION sum = expansion_zero();
  sum.s = (double)(x.sum >> 32) * 0x1p32;
  sum.e = (double)(uint)x.sum;
  return sum;
}
FN SQUARES squares_of(SUM x) {
  SQUARES sum = squares_zero();
  sum.s = (double)x.high * 0x1p64;  // below 2^32
  sum.e = (double)(uint)(x.low >> 32) * 0x1p32;
  sum.f = (double)(uint)x.low;
  return sum;
}
#else
typedef struct {
#if VARIANCE
  EXPANSION numbers;
#endif
#if SKIP
  ulong skipped;  // NaNs that are left out
#endif
  SQUARES squares;
} SUM;
#define SUM_WORDS ((VARIANCE ? 8 : 4) + SKIP)
FN SUM sum_zero(void) {
  SUM x;
#if SKIP
  x.skipped = 0;
#endif
#if VARIANCE
  x.numbers = expansion_zero();
#endif
  x.squares = squares_zero();
  return x;
}
FN SUM sum_merge(SUM x, SUM y) {
#if SKIP
  x.skipped += y.skipped;
#endif
#if VARIANCE
  x.numbers = expansion_merge(x.numbers, y.numbers);
#endif
  x.squares = squares_merge(x.squares, y.squares);
  return x;
}
FN SUM sum_add(SUM x, double value) {
#if SKIP
  if (value != value) {
    ++x.skipped;
    return x;
  }
#endif
#if VARIANCE
  x.numbers = expansion_add(x.numbers, value);
#endif
#if SHORT
  x.squares = add_short_square(x.squares, value);
#else
  x.squares = add_square(x.squares, value);
#endif
  return x;
}
FN ulong word_of(SUM x, uint i) {
#if SKIP
  if (i == SUM_WORDS - 1) return x.skipped;
#endif
#if VARIANCE
  if (i >= 4) return i == 4 ? as_ulong(x.numbers.s) : i == 5 ? as_ulong(x.numbers.e) : i == 6 ? as_ulong(x.numbers.f) : x.numbers.inexact;
#endif
  return as_ulong(i == 0 ? x.squares.s : i == 1 ? x.squares.e : i == 2 ? x.squares.f : x.squares.lost);
}
FN SUM sum_of_words(const ulong* words) {
  SUM x;
  x.squares.s = as_double(words[0]);
  x.squares.e = as_double(words[1]);
  x.squares.f = as_double(words[2]);
  x.squares.lost = as_double(words[3]);
#if VARIANCE
  x.numbers.s = as_double(words[4]);
  x.numbers.e = as_double(words[5]);
  x.numbers.f = as_double(words[6]);
  x.numbers.inexact = (uint)words[7];
#endif
#if SKIP
  x.skipped = words[SUM_WORDS - 1];
#endif
  return x;
}
FN EXPANSION numbers_of(SUM x) {
#if VARIANCE
  return x.numbers;
#else
  return expansion_zero();
#endif
}
FN SQUARES squares_of(SUM x) { return x.squares; }
#endif

FN uint finished(SUM x, ulong count, int what, ulong ddof, GLOBAL RESULT* to) {
#if SKIP && VARIANCE
  count -= x.skipped;
  if (count <= ddof) return 1;  // there is none
#endif
  const ROUNDED found = moment((uint)what, numbers_of(x), squares_of(x), (double)count, (double)ddof);
  *to = as_ulong(found.value);
  return !found.certain;
}

FN SUM add_all(SUM sum, const ELEMENT* x, uint count, ulong first, ulong apart, uint together) {
#pragma unroll
  for (uint k = 0; k < count; ++k) sum = sum_add(sum, VALUE(x[k]));
  return sum;
}
