// Sums of float64 in registers, for sum_window.cl, after running_sum.h.
#define REAL double
#define REALS (LOADS * ELEMENTS_PER_LOAD)  // of a tile that a work-item holds
#define SUMS 2                                // in which a work-item leaves its share
#define SHARE RUNNING

FN REAL real_of(ELEMENT x, ELEMENT y) { return as_double(x); }

FN SHARE empty_share(uint zero) { return empty_running(zero); }

FN void add_reals(SHARE* share, const REAL* v) {
#pragma unroll
  for (int i = 0; i < REALS; ++i) *share = add_to_running(*share, v[i]);
}

#define close_share(share)
FN uint is_exact(const SHARE* share) { return is_exact_running(*share); }

// Whether there was anything but -0.0.
FN uint has_other(const SHARE* share) { return as_ulong(share->sum) != 0x8000000000000000UL; }

FN void sums_of(const SHARE* share, double* sums) {
  sums[0] = share->sum;
  sums[1] = share->down;
}

#define FIXED_SPACING 50
#define UPPER_PIECES 3
#define LOWER_PIECES 3
#define FIXED_SHIFT 0
#define FIXED_ROOM 4
#define FIXED_SCALE 1.0
FN uint to_fixed(const SHARE* share, double upper, double lower, long* high, long* low) {
  const double t = add_rn_f64(share->sum, upper), rest = add_rn_f64(share->sum, -add_rn_f64(t, -upper));
  const double u = add_rn_f64(rest, lower), w = add_rn_f64(share->down, lower);
  const long lost = (long)(as_ulong(w) - as_ulong(lower));
  *high = (long)(as_ulong(t) - as_ulong(upper));
  *low = (long)(as_ulong(u) - as_ulong(lower)) + lost;
  return is_exact(share) && (uint)(*high >> 32) + 0x40000 < 0x80000 && (uint)(lost >> 32) + 0x20000 < 0x40000 &&
         add_rn_f64(u, -lower) == rest && add_rn_f64(w, -lower) == share->down;
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
