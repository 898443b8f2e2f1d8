// Sums of float64 in registers, for sum_window.cl, after running_sum.h.
#define REAL double
#define REALS (LOADS * ELEMENTS_PER_LOAD)  // of a tile that a work-item holds
#define SUMS 2                                // in which a work-item leaves its share
#ifndef NEAR
#define NEAR 0
#endif
#if NEAR
typedef struct {
  double sum, down, up;
  uint most;
} SHARE;
#else
#define SHARE RUNNING
#endif

// As fixed-point numbers (fixed_point.h).
#define FIXED_POINT 1
#define LOWER_BITS 50
#define UPPER_BITS 51
#define UPPER_PIECES 3
#define LOWER_PIECES 3
#define TERM_SCALE 0
#define HEADROOM 10

FN REAL real_of(ELEMENT x, ELEMENT y) { return as_double(x); }

#if NEAR
FN RUNNING running_of(const SHARE* share) {
  RUNNING running;
  running.sum = share->sum;
  running.down = share->down;
  running.up = share->up;
  return running;
}
FN SHARE empty_share(uint zero) {
  const RUNNING running = empty_running(zero);
  SHARE share;
  share.sum = running.sum;
  share.down = running.down;
  share.up = running.up;
  share.most = zero;
  return share;
}
FN void add_reals(SHARE* share, const REAL* v) {
  RUNNING running = running_of(share);
#pragma unroll
  for (int i = 0; i < REALS; ++i) running = add_to_running(running, v[i]);
  share->sum = running.sum;
  share->down = running.down;
  share->up = running.up;
}
FN uint is_exact(const SHARE* share) { return is_exact_running(running_of(share)); }

// The same to a sum that begins with a power far above all elements: what is below its last bit is its rest.
FN void begin_near(SHARE* share, double upper) {
  share->sum = upper;
  share->up = share->down = -0.0;
}
FN void add_near(SHARE* share, const REAL* v, double upper) {
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    const double next = add_rn_f64(share->sum, v[i]);
    const double rest = add_rn_f64(v[i], -add_rn_f64(next, -share->sum));
    share->sum = next;
    share->down = add_down_f64(share->down, rest);
    share->up = add_up_f64(share->up, rest);
    share->most = max_u32(share->most, (uint)(as_ulong(v[i]) >> 32) & 0x7fffffffu);
  }
  // Far from it, additions could have rounded.
  if (!in_bits(multiple_of(share->sum, upper), UPPER_BITS)) share->most = 0x7fffffffu;
}
FN void end_near(SHARE* share, double upper) {
  const uint limit = (uint)(as_ulong(upper) >> 32) - (6 << 20);
  share->sum = add_rn_f64(share->sum, -upper);
  if (share->sum == 0 && share->up == 0) share->sum = share->up;  // -0.0 where all are
  if (share->most >= limit) share->up = as_double((ulong)0x7ff80000u << 32);
}
#else
FN SHARE empty_share(uint zero) { return empty_running(zero); }

FN void add_reals(SHARE* share, const REAL* v) {
#pragma unroll
  for (int i = 0; i < REALS; ++i) *share = add_to_running(*share, v[i]);
}

FN uint is_exact(const SHARE* share) { return is_exact_running(*share); }
#endif
#if !NEAR
#define begin_near(share, power)
#define add_near(share, v, power) add_reals(share, v)
#define end_near(share, power)
#endif

// Whether there was anything but -0.0.
FN uint has_other(const SHARE* share) { return as_ulong(share->sum) != 0x8000000000000000UL; }

FN void sums_of(const SHARE* share, double* sums) {
  sums[0] = share->sum;
  sums[1] = share->down;
}

#if NEAR
FN FIXED fixed_of_share(const SHARE* share, double upper, double lower) {
  const double more = add_rn_f64(share->sum, upper), last = add_rn_f64(share->down, lower);
  FIXED fixed = no_sum();
  fixed.upper = multiple_of(more, upper);
  fixed.lower = multiple_of(last, lower);
  fixed.failed = !is_exact(share) || !in_bits(fixed.lower, LOWER_BITS) || add_rn_f64(last, -lower) != share->down;
  return fixed;
}
#else
FN FIXED fixed_of_share(const SHARE* share, double upper, double lower) {
  const double more = add_rn_f64(share->sum, upper), rest = add_rn_f64(share->sum, -add_rn_f64(more, -upper));
  const double u = add_rn_f64(rest, lower), w = add_rn_f64(share->down, lower);
  const long lost = multiple_of(w, lower);
  FIXED fixed = no_sum();
  fixed.upper = multiple_of(more, upper);
  fixed.lower = multiple_of(u, lower) + lost;
  fixed.failed = !is_exact(share) || !in_bits(fixed.upper, UPPER_BITS) || !in_bits(lost, LOWER_BITS) || add_rn_f64(u, -lower) != rest ||
                 add_rn_f64(w, -lower) != share->down;
  return fixed;
}
#endif
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
