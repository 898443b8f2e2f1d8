// A running sum of float64: the rounded sum of the elements, and the sum of the additions' rounding errors (Knuth, TAOCP 2, 4.2.2, theorem B), once
// rounded down and once up. If these are equal, all is exact: once different, they stay different.
typedef struct {
  double sum, down, up;
} RUNNING;
#define GREATEST_FIELD 2000  // exponent field of a sum; above, additions could overflow

FN RUNNING empty_running(uint zero) {
  RUNNING running;
  running.sum = as_double((ulong)(zero | 0x80000000u) << 32);
  running.down = running.up = 0;
  return running;
}

FN RUNNING add_to_running(RUNNING running, double value) {
  RUNNING next;
  next.sum = add_rn_f64(running.sum, value);
  const double added = add_rn_f64(next.sum, -running.sum);
  const double lost = add_rn_f64(add_rn_f64(running.sum, -add_rn_f64(next.sum, -added)), add_rn_f64(value, -added));
  next.down = add_down_f64(running.down, lost);
  next.up = add_up_f64(running.up, lost);
  return next;
}

// After infinities and NaNs the difference is a NaN.
FN uint is_exact_running(RUNNING running) {
  const uint field = (uint)(as_ulong(running.sum) >> 52) & 0x7ffu;
  return (add_rn_f64(running.up, -running.down) == 0) & (field <= GREATEST_FIELD);
}
