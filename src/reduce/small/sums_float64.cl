// Sums of float64 in registers, for small_sum.cl, after running_sum.h, fixed_point.h and anchored_sum.h. Rows of sixteen exponents.
#define ELEMENT ulong
#define ELEMENTS_PER_LOAD 2
#define ROW_BITS 16
#define ROW_BASE 0
#define ROWS 133
#define ABSENT 0, 0x80000000u, 0, 0x80000000u
#define REAL double
#define REALS (LOADS * ELEMENTS_PER_LOAD)  // of a tile that a work-item holds

FN uint is_special(uint high) { return (high & 0x7ff00000u) == 0x7ff00000u; }

FN REAL real_of(ELEMENT x, ELEMENT y) { return as_double(x); }

FN void add_reals(SHARE* share, const REAL* v) {
#pragma unroll
  for (int i = 0; i < REALS; ++i) share->running = add_to_running(share->running, v[i]);
}

// Whether there was anything but -0.0.
FN uint has_other(const SHARE* share) { return as_ulong(share->running.sum) != 0x8000000000000000UL; }

FN void add_anchored(SHARE* share, const REAL* v, double power) {
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    const double sum = share->running.sum, next = add_rn_f64(sum, v[i]);
    add_to_anchored(share, next, add_rn_f64(v[i], -add_rn_f64(next, -sum)), power);
  }
}

FN double term_of(REAL value) { return value; }

FN uint add_to_column(LOCAL uint* column, REAL value) {
  const ulong x = as_ulong(value);
  const uint high = (uint)(x >> 32);
  if (is_special(high)) return count_kind(column, high >> 31, (high & 0x000fffffu) | (uint)x);
  if (x << 1 == 0) return x == 0;
  const uint unit = min_u32(high & 0x7ff00000u, 0x00100000u);
  const ulong mantissa = (ulong)((high & 0x000fffffu) | unit) << 32 | (uint)x;
  add_to_limbs(column, mantissa, ((high & 0x7fffffffu) - unit) >> 20, high >> 31);
  return 1;
}
