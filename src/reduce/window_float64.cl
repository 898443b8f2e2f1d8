// Sums of float64 in registers, for sum_window.cl: a sum, and that of what its additions rounded off (Knuth, TAOCP 2, 4.2.2, theorem B),
// once rounding down and once up. Where both come to the same, nothing was lost.
#define REAL double
#define REALS_PER_LOAD 2
#define REALS (LOADS * REALS_PER_LOAD)  // of a tile that a work-item holds
#define SUMS 2                          // in which a work-item leaves its share
#define GREATEST_FIELD 2000             // exponent field of a sum; above, additions could overflow

typedef struct {
  double sum, down, up;
} SHARE;

FN SHARE empty_share(uint zero) {
  SHARE share;
  share.sum = as_double((ulong)(zero | 0x80000000u) << 32);
  share.down = share.up = 0;
  return share;
}

FN void unpack(REAL* v, uint4 load) {
  v[0] = as_double((ulong)load.y << 32 | load.x);
  v[1] = as_double((ulong)load.w << 32 | load.z);
}

// Adds the elements, if what is rounded off can be kept, and says whether it cannot.
FN uint add_reals(SHARE* share, const REAL* v) {
  SHARE next = *share;
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    const double sum = add_rn_f64(next.sum, v[i]);
    const double added = add_rn_f64(sum, -next.sum);
    const double lost = add_rn_f64(add_rn_f64(next.sum, -add_rn_f64(sum, -added)), add_rn_f64(v[i], -added));
    next.sum = sum;
    next.down = add_down_f64(next.down, lost);
    next.up = add_up_f64(next.up, lost);
  }
  // Infinities and NaNs leave a difference too, a NaN.
  const uint field = (uint)(as_ulong(next.sum) >> 52) & 0x7ffu;
  const uint inexact = !(add_rn_f64(next.up, -next.down) == 0 && field <= GREATEST_FIELD);
  share->sum = inexact ? share->sum : next.sum;
  share->down = inexact ? share->down : next.down;
  share->up = inexact ? share->up : next.up;
  return inexact;
}

// Whether there was anything but -0.0.
FN uint has_other(const SHARE* share) { return as_ulong(share->sum) != 0x8000000000000000UL; }

FN void sums_of(const SHARE* share, double* sums) {
  sums[0] = share->sum;
  sums[1] = share->down;
}

FN uint add_to_column(LOCAL uint* column, REAL value) {
  const ulong x = as_ulong(value);
  const uint high = (uint)(x >> 32);
  if (is_special(high)) return count_kind(column, high >> 31, (high & 0x000fffffu) | (uint)x);
  if (x << 1 == 0) return x == 0;
  const uint unit = min_u32(high & 0x7ff00000u, 0x00100000u);
  const uint position = ((high & 0x7fffffffu) - unit) >> 20;
  const uint shift = position & 15;
  const ulong mantissa = (ulong)((high & 0x000fffffu) | unit) << 32 | (uint)x;
  const uint sign = high >> 31 != 0 ? 0xffffffffu : 1;
  LOCAL uint* limb = column + (position >> 4) * COLUMNS;
#pragma unroll
  for (int i = 0; i < 4; ++i) atomic_add_local32(limb + i * COLUMNS, sign * ((uint)((mantissa << shift) >> (16 * i)) & 0xffffu));
  atomic_add_local32(limb + 4 * COLUMNS, sign * (uint)((mantissa >> 1) >> (63 - shift)));
  return 1;
}
