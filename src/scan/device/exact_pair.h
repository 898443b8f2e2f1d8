// An exact sum of doubles as two of them, s + e, after groups/expansion.h: e is a NaN where two do not hold it, as of infinities, NaNs and numbers
// that span more than about 100 bits.
typedef struct {
  double s, e;
} PAIR;

FN PAIR pair_zero(void) {
  PAIR p;
  p.s = p.e = -0.0;  // the identity of addition: a sum of zeros of one sign keeps it
  return p;
}

// sum = a + b, or a NaN where that has an error.
FN double exact_or_nan(double a, double b, double sum) { return adds_exactly(a, b, sum) ? sum : as_double((ulong)0x7ff8 << 48); }

FN PAIR pair_add(PAIR p, double x) {
  const double s = p.s + x, error = error_of_sum(p.s, x, s);
  p.e = exact_or_nan(p.e, error, p.e + error);
  p.s = s;
  return p;
}

// Without a branch: look-back waits for a chain of these.
FN PAIR pair_merge(PAIR p, PAIR q) {
  const double s = p.s + q.s;
  const double error = error_of_sum(p.s, q.s, s), both = exact_or_nan(p.e, q.e, p.e + q.e);
  p.e = exact_or_nan(both, error, both + error);
  p.s = s;
  return p;
}

// The same sum with s the nearest number to it, or the second nearest at a tie.
FN PAIR pair_normalized(PAIR p) {
  if (p.e == 0) return p;
  const double s = p.s + p.e;
  p.e = error_of_sum(p.s, p.e, s);
  p.s = s;
  return p;
}

// The sum of two numbers as a float, rounded once. Only in the middle between two floats does the error of s + e decide: there the bits of a double
// that a float lacks are 1000…, unless the float is denormal.
FN float sum_to_float(double s, double e) {
  const double sum = s + e;
  if (((uint)as_ulong(sum) & 0x1fffffffu) != 0x10000000u && (sum > 0x1p-120 || sum < -0x1p-120)) return (float)sum;
  return nearest_float(sum, error_of_sum(s, e, sum));
}

// Stores the sum rounded to the nearest number, ties to even; 1 where it is not known.
FN uint pair_rounded(PAIR p, double* to) {
  const double sum = p.e == 0 ? p.s : p.s + p.e;  // of zeros the sign of s
  *to = sum;
  return !(sum - sum == 0);
}
FN uint pair_to_float(PAIR p, float* to) {
  *to = p.e == 0 && p.s == 0 ? (float)p.s : sum_to_float(p.s, p.e);
  return !(p.s < 0x1p126 && p.s > -0x1p126 && p.e < 0x1p126 && p.e > -0x1p126);
}
