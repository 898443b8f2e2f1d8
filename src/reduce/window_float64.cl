// Sums of float64 in registers, for sum_window.cl, after running_sum.h and fixed_point.h.
#define REAL double
#define REALS (LOADS * ELEMENTS_PER_LOAD)  // of a tile that a work-item holds
#define SUMS 2                             // in which a work-item leaves its share

FN REAL real_of(ELEMENT x, ELEMENT y) { return as_double(x); }

typedef struct {
  RUNNING running;
  uint most;  // upper half of the greatest magnitude
} SHARE;

FN SHARE empty_share(uint zero) {
  SHARE share;
  share.running = empty_running(zero);
  share.most = zero;
  return share;
}

FN void add_reals(SHARE* share, const REAL* v) {
#pragma unroll
  for (int i = 0; i < REALS; ++i) share->running = add_to_running(share->running, v[i]);
}

FN uint is_exact(const SHARE* share) { return is_exact_running(share->running); }

// Whether there was anything but -0.0.
FN uint has_other(const SHARE* share) { return as_ulong(share->running.sum) != 0x8000000000000000UL; }

FN void sums_of(const SHARE* share, double* sums) {
  sums[0] = share->running.sum;
  sums[1] = share->running.down;
}

// As fixed-point numbers (fixed_sum.h).
#define FIXED_POINT 1
#define LOWER_BITS 46
#define UPPER_BITS 51
#define UPPER_PIECES 3
#define LOWER_PIECES 3
#define TERM_SCALE 0
#define HEADROOM 6

// A sum that begins with a power far above all elements: what of these is below its last bit is their rest, by five additions instead of
// eight.
FN void begin_near(SHARE* share, double upper) {
  share->running.sum = upper;
  share->running.up = share->running.down = -0.0;
}

FN void add_near(SHARE* share, const REAL* v, double upper) {
  RUNNING running = share->running;
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    const double next = add_rn_f64(running.sum, v[i]);
    const double rest = add_rn_f64(v[i], -add_rn_f64(next, -running.sum));
    running.sum = next;
    running.down = add_down_f64(running.down, rest);
    running.up = add_up_f64(running.up, rest);
    share->most = max_u32(share->most, (uint)(as_ulong(v[i]) >> 32) & 0x7fffffffu);
  }
  share->running = running;
  if (!in_bits(multiple_of(running.sum, upper), UPPER_BITS)) share->most = 0x7fffffffu;
}

// What is not as far below as that, for 32 elements between two looks at the sum, is not exact.
#define NEAR_BITS 6
FN void end_near(SHARE* share, double upper) {
  share->running.sum = add_rn_f64(share->running.sum, -upper);
  if (share->running.sum == 0 && share->running.up == 0) share->running.sum = share->running.up;  // -0.0 where all are
  const uint limit = (uint)(as_ulong(upper) >> 32) - (NEAR_BITS << 20);
  if (share->most >= limit) share->running.up = as_double((ulong)0x7ff80000u << 32);
}

FN FIXED fixed_of_share(const SHARE* share, double upper, double lower) {
  const double more = add_rn_f64(share->running.sum, upper), last = add_rn_f64(share->running.down, lower);
  FIXED fixed = no_sum();
  fixed.upper = multiple_of(more, upper);
  fixed.lower = multiple_of(last, lower);
  fixed.failed = !is_exact(share) | !in_bits(fixed.lower, POWER_BITS) | (add_rn_f64(last, -lower) != share->running.down);
  return fixed;
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
