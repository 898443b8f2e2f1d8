// Sums of float32 in registers, for small_sum.cl: added up as float64, once rounded down and once up. If both sums are equal, they are exact: once
// different, they stay different. Rows of eight exponents.
#define ELEMENT uint
#define ELEMENTS_PER_LOAD 4
#define ROW_BITS 8
#define ROW_BASE EXACT_FLOAT32_SHIFT
#define ROWS 34
#define ABSENT 0x80000000u, 0x80000000u, 0x80000000u, 0x80000000u
#define REAL float
#define REALS (LOADS * ELEMENTS_PER_LOAD)  // of a tile that a work-item holds
#define SUMS 1                             // float64 numbers of a work-item's share

FN uint is_special(uint x) { return !is_finite_f32(x); }

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

FN REAL real_of(ELEMENT x, ELEMENT y) { return as_float(x); }

// The element times 2^-896, denormal or not: its bits, with an exponent field that is three bits wider.
FN double widen(REAL value, uint zero) {
  const int x = (int)as_uint(value);
  return as_double((ulong)((uint)(x >> (3 + zero)) & 0x8fffffffu) << 32 | (uint)x * (0x20000000u + zero));
}

FN void add_reals(SHARE* share, const REAL* v) {
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

FN void sums_of(const SHARE* share, double* sums) { sums[0] = share->down * 0x1p896; }

// As fixed-point numbers (fixed_point.h).
#define FIXED_POINT 1
#define FIRST_BITS 42
#define LOWER_BITS 42
#define UPPER_BITS 42
#define UPPER_PIECES 2
#define LOWER_PIECES 2
#define TERM_SCALE 896
#define HEADROOM 16
#define begin_anchored(share, power)
#define add_anchored(share, v, power) add_reals(share, v)
#define end_anchored(share, power)
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
FN double term_of(REAL value) { return fma_rn_f32(value, 0, 0) == 0 ? widen(value, 0) : as_double(~(ulong)0); }

// Adds any element exactly to the work-item's own column. Returns whether it was not -0.0 or NaN.
FN uint add_to_column(LOCAL uint* column, REAL value) {
  const uint x = as_uint(value);
  if (is_special(x)) return count_kind(column, x >> 31, x & 0x007fffffu);
  if ((x & 0x7fffffffu) == 0) return x == 0;
  const uint unit = min_u32(x & 0x7f800000u, 0x00800000u);
  const uint position = ((x & 0x7fffffffu) - unit) >> 23;
  const ulong moved = (ulong)((x & 0x007fffffu) | unit) << (position & 15);
  const uint sign = x >> 31 != 0 ? 0xffffffffu : 1;
  LOCAL uint* limb = column + (position >> 4) * COLUMNS;
#pragma unroll
  for (int i = 0; i < 3; ++i) atomic_add_local32(limb + i * COLUMNS, sign * ((uint)(moved >> (16 * i)) & 0xffffu));
  return 1;
}
