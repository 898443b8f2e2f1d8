// Sums of float32 in registers, for small_sum.cl: added up as float64, once rounded down and once up. If both sums are equal, they are exact: once
// different, they stay different.
#define REAL float

typedef struct {
  double down, up;
  float special;  // becomes a NaN after an infinity or a NaN
  uint zero;
} SHARE;

FN SHARE empty_share(uint zero) {
  SHARE share;
  share.down = share.up = -0.0;
  share.special = as_float(zero);
  share.zero = zero;
  return share;
}

FN REAL real_of(WORD x, WORD y) { return as_float(x); }

// The element times 2^-896, denormal or not: its bits, with an exponent field that is three bits wider.
FN double widen(REAL value, uint zero) {
  const int x = (int)as_uint(value);
  return as_double((ulong)((uint)(x >> (3 + zero)) & 0x8fffffffu) << 32 | (uint)x * (0x20000000u + zero));
}

FN void add_terms(SHARE* share, const REAL* v, double power) {
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    share->down = add_down_f64(share->down, widen(v[i], share->zero));
    share->up = add_up_f64(share->up, widen(v[i], share->zero));
    share->special = fma_rn_f32(v[i], 0, share->special);
  }
}

FN uint is_exact(const SHARE* share) { return (share->down == share->up) & (share->special == 0); }

// Whether any element was not -0.0: only then the sum, rounded up, is not -0.0.
FN uint has_other(const SHARE* share) { return as_ulong(share->up) != 0x8000000000000000UL; }

// As fixed-point numbers (fixed_point.h).
#define FIRST_BITS 42
#define LOWER_BITS 42
#define UPPER_BITS 42
#define UPPER_PIECES 2
#define LOWER_PIECES 2
#define TERM_SCALE 896
#define GROWTH 16
FN FIXED fixed_of_share(const SHARE* share, double upper) {
  const double lower = power_below(upper, 1);
  const double sum = share->down, more = add_rn_f64(sum, upper), rest = add_rn_f64(sum, -add_rn_f64(more, -upper));
  const double last = add_rn_f64(rest, lower);
  FIXED fixed = sum_identity();
  fixed.words[UPPER] = multiple_of(more, upper);
  fixed.words[0] = multiple_of(last, lower);
  fixed.failed = !is_exact(share) | !in_bits(fixed.words[UPPER], UPPER_BITS) | (add_rn_f64(last, -lower) != rest);
  return fixed;
}
#define TERM_BY_TERM 1
FN double term_of(REAL value) { return fma_rn_f32(value, 0, 0) == 0 ? widen(value, 0) : as_double(~(ulong)0); }

// Adds a term; returns whether that is exact.
FN uint add_to_fixed(FIXED* sum, double term, double upper) {
  const double lower = power_below(upper, 1), more = add_rn_f64(term, upper), rest = add_rn_f64(term, -add_rn_f64(more, -upper));
  const double last = add_rn_f64(rest, lower);
  const long words[2] = {multiple_of(last, lower), multiple_of(more, upper)};
  sum->words[0] = wrapping_sum(sum->words[0], words[0]);
  sum->words[1] = wrapping_sum(sum->words[1], wrapping_sum(words[1], sum->words[0] >> LOWER_BITS));
  sum->words[0] &= ((long)1 << LOWER_BITS) - 1;
  return in_bits(words[1], POWER_BITS - 1) && add_rn_f64(last, -lower) == rest;
}

// What the sum's field is expected to be from one element's.
FN uint field_of_term(WORD x, WORD y, ulong count) { return (magnitude_of(x) >> FRACTION_BITS) + 896 + 63 - (uint)clz64(count | 1); }
