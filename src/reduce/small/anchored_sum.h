// Sums of float64 in registers, for small_sum.cl, after running_sum.h and fixed_point.h: running sums, or anchored ones, which begin with a power
// far above all terms. The part of a term below an anchored sum's last bit is its rest: exact, and found by five additions instead of eight (Rump,
// Ogita, Oishi, "Accurate floating-point summation part I", SIAM J. Sci. Comput. 31, 2008). Anchored sums become fixed-point numbers (fixed_sum.h).
#define SUMS 2  // float64 numbers of a work-item's share

typedef struct {
  RUNNING running;
  uint left;  // bits in which the upper half of any sum differed from the power's; all bits after an infinity or a NaN
} SHARE;

FN SHARE empty_share(uint zero) {
  SHARE share;
  share.running = empty_running(zero);
  share.running.up = share.running.sum;  // -0.0
  share.left = zero;
  return share;
}

FN uint is_exact(const SHARE* share) { return is_exact_running(share->running); }

FN void sums_of(const SHARE* share, double* sums) {
  sums[0] = share->running.sum;
  sums[1] = share->running.down;
}

#define FIXED_POINT 1
#define FIRST_BITS 46
#define LOWER_BITS 46
#define UPPER_BITS 51
#define UPPER_PIECES 3
#define LOWER_PIECES 3
#define TERM_SCALE 0
#define HEADROOM 6

FN void begin_anchored(SHARE* share, double power) {
  share->running.sum = power;
  share->running.up = share->running.down = -0.0;
}

// `next`: the rounded sum with the term; `rest`: the term's part that it lacks.
FN void add_to_anchored(SHARE* share, double next, double rest, double power) {
  share->running.sum = next;
  share->running.down = add_down_f64(share->running.down, rest);
  share->running.up = add_up_f64(share->running.up, rest);
  share->left |= (uint)(as_ulong(next) >> 32) ^ (uint)(as_ulong(power) >> 32);
}

// Rests are exact if all sums had the power's sign and exponent: then all terms were less than the sums.
FN void end_anchored(SHARE* share, double power) {
  share->running.sum = add_rn_f64(share->running.sum, -power);
  if (share->running.sum == 0 && share->running.up == 0) share->running.sum = share->running.up;  // -0.0 if all terms are
  if (share->left >> 20 != 0) share->running.up = as_double((ulong)0x7ff80000u << 32);
}

FN FIXED fixed_of_share(const SHARE* share, double upper) {
  const double lower = power_below(upper, 1);
  const double more = add_rn_f64(share->running.sum, upper), last = add_rn_f64(share->running.down, lower);
  FIXED fixed = sum_identity();
  fixed.words[UPPER] = multiple_of(more, upper);
  fixed.words[0] = multiple_of(last, lower);
  fixed.failed = !is_exact(share) | !in_bits(fixed.words[UPPER], UPPER_BITS) | !in_bits(fixed.words[0], POWER_BITS) |
                 (add_rn_f64(last, -lower) != share->running.down);
  return fixed;
}
