// A sum of float64 in registers: of its elements, and of what the additions rounded off (Knuth, TAOCP 2, 4.2.2, theorem B), this once
// rounding down and once up. Where both come to the same, nothing was lost, as what once was apart stays apart.
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

// Infinities and NaNs leave a difference too, a NaN.
FN uint is_exact_running(RUNNING running) {
  const uint field = (uint)(as_ulong(running.sum) >> 52) & 0x7ffu;
  return (add_rn_f64(running.up, -running.down) == 0) & (field <= GREATEST_FIELD);
}
