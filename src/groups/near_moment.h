// Moments as sums of two terms, with bounds of their errors: what moments.h tries first. One source for the host, for kernels, and for
// several results at once, as REAL may be a vector of doubles here: branches depend on `what`, `count` and `ddof` alone. Before it come
// error_of_sum(), fma(), sqrt(), magnitude_of_real(), and where_zero(x, a, b), which is a where x is zero, otherwise b.
//
// What each rounding loses is computed, and is often nothing. So most ties, and results without error, are decided here too.

#define OF_SUM 0
#define OF_MEAN 1
#define OF_VARIANCE 2  // the squared deviations divided by the number of elements less `ddof`
#define OF_DEVIATION 3
#define OF_SQUARED_NORM 4
#define OF_NORM 5

// A value that is `lost` away from high + low at most, but for a few roundings of `lost`.
typedef struct {
  REAL high, low, lost;
} TWO_TERMS;

FN REAL add_noting(REAL a, REAL b, REAL* lost) {
  const REAL sum = a + b;
  *lost = *lost + magnitude_of_real(error_of_sum(a, b, sum));
  return sum;
}

// If anything is lost, at least as much as products that are too small for a double lose.
FN REAL at_least(REAL lost) { return where_zero(lost, lost, lost + (REAL)0x1p-900); }

FN TWO_TERMS two_terms(REAL s, REAL e, REAL f, REAL lost) {
  TWO_TERMS x;
  x.high = where_zero(e, s, s + e);  // a zero keeps its sign
  x.lost = lost;
  x.low = add_noting(error_of_sum(s, e, x.high), f, &x.lost);
  return x;
}

// count * q - s^2: count^2 times the variance of `count` numbers, of which s is the sum, and q that of the squares.
FN TWO_TERMS scaled_variance(TWO_TERMS s, TWO_TERMS q, REAL count) {
  const REAL p = count * q.high, of_p = fma(count, q.high, -p), p_low = count * q.low;
  const REAL r = s.high * s.high, of_r = fma(s.high, s.high, -r), twice = s.high + s.high, r_low = twice * s.low;
  TWO_TERMS x;
  x.high = p - r;
  x.lost = count * q.lost + magnitude_of_real(twice) * s.lost + s.low * s.low + magnitude_of_real(fma(count, q.low, -p_low)) +
           magnitude_of_real(fma(twice, s.low, -r_low));
  x.low = add_noting(of_p, -of_r, &x.lost);
  x.low = add_noting(x.low, p_low, &x.lost);
  x.low = add_noting(x.low, -r_low, &x.lost);
  x.low = add_noting(x.low, error_of_sum(p, -r, x.high), &x.lost);
  return x;
}

// The same sum with the nearest number to it as the first term.
FN TWO_TERMS normalized(TWO_TERMS x) {
  TWO_TERMS y;
  y.high = where_zero(x.low, x.high, x.high + x.low);  // a zero keeps its sign
  y.low = error_of_sum(x.high, x.low, y.high);
  y.lost = x.lost;
  return y;
}

// x divided by a number that is at most 2^52, and an integer.
FN TWO_TERMS quotient_of(TWO_TERMS x, REAL divisor, REAL inverse) {
  TWO_TERMS y;
  y.high = x.high * inverse;
  y.lost = x.lost;
  // Quotients by such numbers leave remainders that are numbers (Markstein, 1990), also if they are not rounded to the nearest.
  const REAL rest = add_noting(fma(y.high, divisor, -x.high), -x.low, &y.lost), low = rest * inverse;
  y.low = -low;
  y.lost = y.lost + magnitude_of_real(fma(low, divisor, -rest));
  y.lost = at_least(y.lost) * inverse;
  return y;
}

FN TWO_TERMS root_of(TWO_TERMS x) {
  TWO_TERMS y;
  y.high = sqrt(x.high);
  y.lost = x.lost;
  const REAL twice = y.high + y.high;
  const REAL inverse = where_zero(y.high, (REAL)0x1p900, (REAL)1.0 / twice);  // nothing is known of the root of a small rest
  const REAL rest = add_noting(fma(y.high, y.high, -x.high), -x.low, &y.lost), low = rest * inverse;
  y.low = -low;
  // (y.high + y.low)^2 is larger than x by this.
  y.lost = at_least(y.lost + magnitude_of_real(fma(low, low, -fma(low, twice, -rest)))) * inverse;
  return y;
}

// The moment of `count` numbers, more than `ddof`, that follows from x by a quotient or a root, or both. The first term is the nearest number to the sum.
FN TWO_TERMS near_quotient(uint what, TWO_TERMS x, double count, double ddof) {
  x = normalized(x);
  if (what == OF_MEAN) x = quotient_of(x, (REAL)count, (REAL)(1 / count));
  if (what == OF_VARIANCE || what == OF_DEVIATION) {
    const double less = count - ddof, divisor = count * less;
    if (divisor > 0x1p52) {
      x.low = add_noting(x.low, x.high * (REAL)(-fma(count, less, -divisor) / divisor), &x.lost);
      x.lost = x.lost + magnitude_of_real(x.high) * (REAL)0x1p-99;
    }
    x = quotient_of(x, (REAL)divisor, (REAL)(1 / divisor));
  }
  if (what == OF_DEVIATION || what == OF_NORM) x = root_of(x);
  x = normalized(x);
  // More than the errors of these bounds, and of sums with the second term.
  x.lost = at_least(x.lost * (REAL)(1 + 0x1p-20) + where_zero(x.lost, x.lost, magnitude_of_real(x.high) * (REAL)0x1p-99));
  return x;
}

// A moment of `count` numbers, of which s is the sum, and q that of the squares; of these only what it needs is looked at.
FN TWO_TERMS near_moment(uint what, TWO_TERMS s, TWO_TERMS q, double count, double ddof) {
  if (what == OF_VARIANCE || what == OF_DEVIATION) return near_quotient(what, scaled_variance(s, q, (REAL)count), count, ddof);
  return near_quotient(what, what <= OF_MEAN ? s : q, count, ddof);
}
