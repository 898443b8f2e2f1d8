// Sums of float32 in registers, for small_sum.cl: float64 additions of the elements times 2^-896.
//
// A running sum begins at the power and stays in its binade, so it takes the nearest multiple of the power's last bit of each element. Another sum takes
// the exact rests, once rounded down and once up: if both are equal, they are exact; once different, they stay different. (The first sum as in
// Demmel and Nguyen, Fast Reproducible Floating-Point Summation, ARITH 2013.)
#define REAL float

typedef struct {
  double sum, down, up;
  float special;   // becomes a NaN after an infinity or a NaN
  float greatest;  // magnitude
  uint zero, count;
} SHARE;

FN SHARE empty_share(uint zero, double power) {
  SHARE share;
  share.sum = power;
  share.down = share.up = -0.0;
  share.special = share.greatest = as_float(zero);
  share.zero = zero;
  share.count = 0;
  return share;
}

FN REAL real_of(WORD x, WORD y) { return as_float(x); }

// The element times 2^-896, denormal or not: its bits, with an exponent field that is three bits wider.
FN double widen(REAL value, uint zero) {
  const int x = (int)as_uint(value);
  return as_double((ulong)((uint)(x >> (3 + zero)) & 0x8fffffffu) << 32 | (uint)x * (0x20000000u + zero));
}

FN void add_terms(SHARE* share, const REAL* v, double power) {
  share->count += REALS;
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    const double term = widen(v[i], share->zero), sum = add_rn_f64(share->sum, term);
    const double rest = add_rn_f64(term, -add_rn_f64(sum, -share->sum));
    share->sum = sum;
    share->down = add_down_f64(share->down, rest);
    share->up = add_up_f64(share->up, rest);
    share->special = fma_rn_f32(v[i], 0, share->special);
    share->greatest = max_magnitude_f32(share->greatest, v[i]);
  }
}

// Whether any element was not -0.0: only then the sum of the rests, rounded up, is not -0.0.
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
  const double lower = power_below(upper, 1), rests = add_rn_f64(share->down, lower);
  // The first sum cannot have left the power's binade, whose ends are a third of it away.
  const uint stays = mul_rn_f64(widen(share->greatest, 0), 3.0 * share->count) < upper;
  FIXED fixed = sum_identity();
  fixed.words[0] = multiple_of(rests, lower);
  fixed.failed = !stays | (share->special != 0) | (share->down != share->up) | (add_rn_f64(rests, -lower) != share->down) |
                 !in_bits(fixed.words[0], POWER_BITS);
  fixed.words[UPPER] = wrapping_sum(multiple_of(share->sum, upper), fixed.words[0] >> LOWER_BITS);
  fixed.words[0] &= ((long)1 << LOWER_BITS) - 1;
  fixed.failed |= !in_bits(fixed.words[UPPER], UPPER_BITS);
  return fixed;
}

// What the sum's field is expected to be from that of the greatest element of a sample: as if one element in 256 were as great. More would lose
// small elements of data that span many binades.
FN uint field_of_term(WORD x, WORD y, ulong count) { return (magnitude_of(x) >> FRACTION_BITS) + 896 + 63 - 8 - (uint)clz64(count | 1); }
