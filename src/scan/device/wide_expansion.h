// An exact sum of doubles that span more than the three terms of groups/expansion.h hold, after that file: of WIDE_TERMS terms, each of which takes
// the rounding errors of the one before. Infinities and NaNs are added up apart, as such.
#define WIDE_TERMS 6

typedef struct {
  double term[WIDE_TERMS];
  double special;  // the sum of infinities and NaNs; 0 without any
  uint inexact;    // an error of the last term: the sum is not known
  uint any;        // whether there was an element
} WIDE;

FN WIDE wide_zero(void) {
  WIDE x;
#pragma unroll
  for (uint k = 0; k < WIDE_TERMS; ++k) x.term[k] = -0.0;  // a sum of zeros of one sign keeps it
  x.special = 0;
  x.inexact = x.any = 0;
  return x;
}

FN WIDE wide_grow(WIDE x, double value) {
#pragma unroll
  for (uint k = 0; k < WIDE_TERMS; ++k) {
    const double sum = x.term[k] + value;
    value = error_of_sum(x.term[k], value, sum);
    x.term[k] = sum;
  }
  x.inexact |= !(value == 0);  // beyond the range it is a NaN
  return x;
}

FN WIDE wide_add(WIDE x, double value) {
  x.any = 1;
  if (value - value == 0) return wide_grow(x, value);
  x.special += value;
  return x;
}

FN WIDE wide_merge(WIDE x, WIDE y) {
  x = wide_grow(x, y.term[0]);
#pragma unroll
  for (uint k = 1; k < WIDE_TERMS; ++k) {
    if (y.term[k] != 0) x = wide_grow(x, y.term[k]);
  }
  x.special += y.special;
  x.inexact |= y.inexact;
  x.any |= y.any;
  return x;
}

// The same sum with each term the nearest number to it and those behind it, or the second nearest at a tie. By passes from the last term to the
// first (Ogita, Rump, Oishi: Accurate sum and dot product, SIAM J. Sci. Comput. 26, 2005), which end when that is seen to hold.
FN WIDE wide_normalized(WIDE x) {
  for (uint pass = 0; pass <= WIDE_TERMS; ++pass) {
    uint settled = 1;
#pragma unroll
    for (uint k = 0; k + 1 < WIDE_TERMS; ++k) settled &= x.term[k] + x.term[k + 1] == x.term[k];
    if (settled) return x;
#pragma unroll
    for (uint k = WIDE_TERMS - 1; k > 0; --k) {
      const double sum = x.term[k - 1] + x.term[k];
      x.term[k] = error_of_sum(x.term[k - 1], x.term[k], sum);
      x.term[k - 1] = sum;
    }
  }
  x.inexact = 1;
  return x;
}

// A sum of nothing but zeros, infinities and NaNs is a number without more: 1 where it is one.
FN uint wide_is_plain(const WIDE* x, double* to) {
  *to = x->special;
  if (x->special != 0) {
    if (x->special != x->special) *to = as_double((ulong)0x7ff8 << 48);
    return 1;
  }
  *to = x->any != 0 ? x->term[0] : 0;
  return x->inexact == 0 && x->term[0] == 0 && x->term[1] == 0;
}

// Stores the sum rounded to the nearest number, ties to even; 1 where it is not known.
FN uint wide_rounded(WIDE x, double* to) {
  x = wide_normalized(x);
  if (wide_is_plain(&x, to)) return 0;
  const double beyond = x.term[0] + 2 * x.term[1];
  // Only at a tie between two numbers do the later terms decide.
  const uint tie = x.term[2] != 0 && beyond - x.term[0] == 2 * x.term[1];
  *to = tie && (x.term[2] > 0) == (x.term[1] > 0) ? beyond : x.term[0];
  return x.inexact | !((x.term[0] < 0 ? -x.term[0] : x.term[0]) < 0x1p1022);
}

FN uint wide_to_float(WIDE x, float* to) {
  x = wide_normalized(x);
  double plain = 0;
  if (wide_is_plain(&x, &plain)) {
    *to = plain == plain ? (float)plain : as_float((uint)0x7fc00000);
    return 0;
  }
  *to = nearest_float(x.term[0], x.term[1]);
  return x.inexact | !((x.term[0] < 0 ? -x.term[0] : x.term[0]) < 0x1p127);
}
