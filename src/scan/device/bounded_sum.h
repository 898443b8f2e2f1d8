// A sum of doubles as two of them, s + e, and a bound of how far off that is: 0 where it is exact. After groups/expansion.h.
//
// The rounding error of each addition to s is a number itself (Knuth's TwoSum), and goes to e; those of the additions to e go to the bound.
// A result is known where it is the same at both ends of the interval that the bound leaves (A. Ziv, Fast evaluation of elementary
// mathematical functions with correctly rounded last bit, TOMS 17, 1991). Infinities, NaNs and sums beyond the range make e or the bound a
// NaN, so that it is not known.
typedef struct {
  double s, e, bound;
} BOUNDED;

FN BOUNDED bounded_zero(void) {
  BOUNDED x;
  x.s = x.e = -0.0;  // the identity of addition: a sum of zeros of one sign keeps it
  x.bound = 0;
  return x;
}

FN double magnitude_of(double x) { return x < 0 ? -x : x; }

FN BOUNDED bounded_add(BOUNDED x, double value) {
  const double s = x.s + value, error = error_of_sum(x.s, value, s), e = x.e + error;
  x.bound += magnitude_of(error_of_sum(x.e, error, e));
  x.s = s;
  x.e = e;
  return x;
}

FN BOUNDED bounded_merge(BOUNDED x, BOUNDED y) {
  const double both = x.e + y.e;
  x.bound += y.bound + magnitude_of(error_of_sum(x.e, y.e, both));
  x.e = both;
  return bounded_add(x, y.s);
}

// How far e is from the ends of the interval; the bound itself has been rounded too, and so will be their sum.
FN double bounded_reach(BOUNDED x) { return x.bound * (1 + 0x1p-20) + magnitude_of(x.e) * 0x1p-52; }

// Stores the sum rounded to the nearest number, ties to even; 1 where it is not known.
FN uint bounded_rounded(BOUNDED x, double* to) {
  const double sum = x.e == 0 ? x.s : x.s + x.e;  // of zeros the sign of s
  *to = sum;
  if (x.bound == 0) return !(sum - sum == 0);
  const double reach = bounded_reach(x);
  return !(x.s + (x.e - reach) == x.s + (x.e + reach));
}

// The sum of two numbers as a float. Only in the middle between two floats does the error of s + e decide: there the bits of a double that
// a float lacks are 1000…, unless the float is denormal.
FN float bounded_end(double s, double e) {
  const double sum = s + e;
  if (((uint)as_ulong(sum) & 0x1fffffffu) != 0x10000000u && magnitude_of(sum) > 0x1p-120) return (float)sum;
  return nearest_float(sum, error_of_sum(s, e, sum));
}
FN uint bounded_to_float(BOUNDED x, float* to) {
  *to = x.e == 0 ? (float)x.s : bounded_end(x.s, x.e);
  const uint beyond = !(magnitude_of(x.s) < 0x1p126 && magnitude_of(x.e) < 0x1p126);
  if (x.bound == 0) return beyond;
  const double reach = bounded_reach(x);
  return beyond | !(bounded_end(x.s, x.e - reach) == bounded_end(x.s, x.e + reach));
}
