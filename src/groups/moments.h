// Means, variances and norms from exact sums, each rounded once: one source for the host and for kernels, after expansion.h and
// near_moment.h.
//
// All of them are a quotient N / D, or its root: N is an exact sum of doubles, D the number of elements n, n (n - ddof), or 1. It is computed
// with twice the digits of a double and a bound of the error first (near_moment.h). If that does not decide between two doubles (Ziv: Fast
// evaluation of elementary mathematical functions with correctly rounded last bit, ACM TOMS 17, 1991), the sign of N - D * m or N - D *
// m^2, where m is the middle between them, does. It is computed exactly: N and D * m are sums of doubles, as the error of a product is a
// double, and sums of doubles become terms that do not overlap (Shewchuk: Adaptive precision floating-point arithmetic, Discrete &
// Computational Geometry 18, 1997).

// What is rounded: the value, and whether it is certain.
typedef struct {
  REAL value;
  uint certain;
} ROUNDED;

// The sum of squares, or of other products: three terms as an EXPANSION, and a bound of what they lack.
typedef struct {
  REAL s, e, f, lost;
} SQUARES;

FN SQUARES squares_zero(void) {
  SQUARES x;
  x.s = x.e = x.f = x.lost = 0;
  return x;
}

// Whether products of two such numbers, and their errors, are doubles.
FN uint is_moderate(REAL x) { return x == 0 || (magnitude_of_real(x) > (REAL)0x1p-450 && magnitude_of_real(x) < (REAL)0x1p450); }
FN uint is_moderate_square(REAL x) { return x == 0 || (magnitude_of_real(x) > (REAL)0x1p-900 && magnitude_of_real(x) < (REAL)0x1p900); }

// The squares of smaller numbers, and products of less than the square of this, may have bits that no double has, of which LOST_OF_SMALL is a bound.
#define LEAST_SQUARED 0x1p-480
#define LOST_OF_SMALL 0x1p-1070

// A product goes to the first term, its rounding error to the second.
FN SQUARES add_product(SQUARES x, REAL a, REAL b) {
  const REAL product = a * b, rest = fma(a, b, -product);
  const REAL s = x.s + product, of_s = error_of_sum(x.s, product, s);
  const REAL more = x.e + of_s, of_more = error_of_sum(x.e, of_s, more);
  const REAL e = more + rest, of_e = error_of_sum(more, rest, e);
  const REAL third = x.f + of_more, f = third + of_e;
  x.lost += magnitude_of_real(error_of_sum(x.f, of_more, third)) + magnitude_of_real(error_of_sum(third, of_e, f));
  x.s = s;
  x.e = e;
  x.f = f;
  return x;
}
FN SQUARES add_square(SQUARES x, REAL value) {
  x = add_product(x, value, value);
  if (value != 0 && magnitude_of_real(value) < LEAST_SQUARED) x.lost += LOST_OF_SMALL;
  return x;
}

// The same of a float of up to 32 bits, whose square is a number. Two terms hold most sums of these.
FN SQUARES add_short_square(SQUARES x, REAL value) {
  const REAL square = value * value, s = x.s + square, of_s = error_of_sum(x.s, square, s), e = x.e + of_s;
  x.lost += magnitude_of_real(error_of_sum(x.e, of_s, e));
  x.s = s;
  x.e = e;
  return x;
}

FN SQUARES squares_merge(SQUARES x, SQUARES y) {
  const REAL s = x.s + y.s, of_s = error_of_sum(x.s, y.s, s);
  const REAL both = x.e + y.e, of_both = error_of_sum(x.e, y.e, both);
  const REAL e = both + of_s, of_e = error_of_sum(both, of_s, e);
  const REAL thirds = x.f + y.f, more = thirds + of_both, f = more + of_e;
  x.lost += y.lost + magnitude_of_real(error_of_sum(x.f, y.f, thirds)) + magnitude_of_real(error_of_sum(thirds, of_both, more)) +
            magnitude_of_real(error_of_sum(more, of_e, f));
  x.s = s;
  x.e = e;
  x.f = f;
  return x;
}

FN void put_product(REAL* terms, uint at, REAL a, REAL b) {
  terms[at] = a * b;
  terms[at + 1] = fma(a, b, -terms[at]);
}

// The terms of count * q - s^2 for the sums s of numbers and q of their squares: count^2 times the variance.
#define VARIANCE_TERMS 18
FN void variance_terms(REAL* terms, EXPANSION s, SQUARES q, REAL count) {
  put_product(terms, 0, count, q.s);
  put_product(terms, 2, -s.s, s.s);
  put_product(terms, 4, count, q.e);
  put_product(terms, 6, -2 * s.s, s.e);
  put_product(terms, 8, count, q.f);
  put_product(terms, 10, -2 * s.s, s.f);
  put_product(terms, 12, -s.e, s.e);
  put_product(terms, 14, -2 * s.e, s.f);
  put_product(terms, 16, -s.f, s.f);
}

// Makes terms that do not overlap of the first `count`, with the same sum, in ascending order, without zeros; returns how many.
FN uint distill(REAL* terms, uint count) {
  uint left = 0;
  for (uint i = 0; i < count; ++i) {
    REAL above = terms[i];
    uint kept = 0;
    for (uint k = 0; k < left; ++k) {
      const REAL sum = above + terms[k], error = error_of_sum(above, terms[k], sum);
      above = sum;
      if (error != 0) terms[kept++] = error;
    }
    if (above != 0) terms[kept++] = above;
    left = kept;
  }
  return left;
}

#define MOST_TERMS (VARIANCE_TERMS + 16)

// The sign of N - D * (value + beyond), or with `root` N - D * (value + beyond)^2; N is the sum of `size` terms, D is upper + lower, and
// beyond is a power of two.
FN int side_of(const REAL* terms, uint size, REAL upper, REAL lower, uint root, REAL value, REAL beyond) {
  REAL all[MOST_TERMS], m[4];
  for (uint i = 0; i < size; ++i) all[i] = terms[i];
  m[0] = value;
  m[1] = beyond;
  m[2] = m[3] = 0;
  if (root) {
    put_product(m, 0, value, value);
    m[2] = 2 * value * beyond;
    m[3] = beyond * beyond;
  }
  for (uint i = 0; i < (root ? 4u : 2u); ++i) {
    put_product(all, size, -upper, m[i]);
    put_product(all, size + 2, -lower, m[i]);
    size += 4;
  }
  const uint left = distill(all, size);
  return left == 0 ? 0 : all[left - 1] > 0 ? 1 : -1;
}

// Whether all values that are x.lost away from x at most are rounded to x.high.
FN uint is_certain(TWO_TERMS x) { return x.high + (x.low + x.lost) == x.high && x.high + (x.low - x.lost) == x.high; }

// The result of sums that lack nothing.
SELDOM ROUNDED sure_moment(uint what, EXPANSION s, SQUARES q, REAL count, REAL ddof) {
  const uint is_variance = what == OF_VARIANCE || what == OF_DEVIATION, root = what == OF_DEVIATION || what == OF_NORM;
  ROUNDED result;
  result.value = 0;
  result.certain = 0;
  if ((what <= OF_MEAN || is_variance) && !(is_moderate(s.s) && is_moderate(s.e) && is_moderate(s.f))) return result;
  if (what > OF_MEAN && !(is_moderate_square(q.s) && is_moderate_square(q.e) && is_moderate_square(q.f))) return result;
  REAL terms[VARIANCE_TERMS];
  uint size = 3;
  if (is_variance) {
    variance_terms(terms, s, q, count);
    size = VARIANCE_TERMS;
  } else {
    terms[0] = what <= OF_MEAN ? s.f : q.f;
    terms[1] = what <= OF_MEAN ? s.e : q.e;
    terms[2] = what <= OF_MEAN ? s.s : q.s;
  }
  size = distill(terms, size);
  result.certain = 1;
  if (size == 0) return result;
  const uint negative = terms[size - 1] < 0;
  for (uint i = 0; i < size && negative; ++i) terms[i] = -terms[i];
  // The greatest terms may be few bits: one number has as many of them as it can.
  TWO_TERMS x;
  x.high = terms[size - 1];
  x.low = 0;
  for (uint i = size - 1; i > 0; --i) {
    const REAL term = terms[i - 1], sum = x.high + term;
    if (x.low == 0) {
      x.low = error_of_sum(x.high, term, sum);
      x.high = sum;
    } else {
      x.low += term;
    }
  }
  x.lost = size > 2 ? magnitude_of_real(x.low) * (REAL)0x1p-48 : 0;
  const TWO_TERMS near = near_quotient(what, x, count, ddof);
  result.value = near.high;
  result.certain = is_certain(near);
  if (!result.certain && is_moderate(result.value)) {
    // The value lies between this double and the next one on the side of what was rounded off, about in their middle.
    const REAL less = count - ddof, divisor = count * less, upper = is_variance ? divisor : what == OF_MEAN ? count : 1;
    const REAL lower = is_variance ? fma(count, less, -divisor) : 0;
    const ulong bits = as_ulong(result.value);
    const REAL next = as_double(near.low > 0 ? bits + 1 : bits - 1);
    const int side = side_of(terms, size, upper, lower, root, result.value, (next - result.value) / 2);
    if (side == 0 ? (bits & 1) != 0 : (side > 0) == (near.low > 0)) result.value = next;
    result.certain = 1;
  }
  if (negative) result.value = -result.value;
  return result;
}

// The result from the sum of `count` numbers, which is more than `ddof` and at most 2^52, and that of their squares, of which only what it needs
// is looked at. If it is not certain, it is not determined by these: they lack too much, or are very large or very small.
FN ROUNDED moment(uint what, EXPANSION s, SQUARES squares, REAL count, REAL ddof) {
  if (what == OF_SUM) {  // few operations, of which most sums of few numbers need none
    const EXPANSION sum = expansion_rounded(s);
    ROUNDED result;
    result.value = sum.s;
    result.certain = sum.inexact == 0;
    return result.certain != 0 || s.inexact != 0 ? result : sure_moment(what, s, squares, count, ddof);
  }
  const TWO_TERMS near = near_moment(what, two_terms(s.s, s.e, s.f, 0), two_terms(squares.s, squares.e, squares.f, squares.lost), count, ddof);
  const uint lacks_numbers = s.inexact != 0 && what != OF_SQUARED_NORM && what != OF_NORM,
             lacks_squares = squares.lost != 0 && what > OF_MEAN;
  ROUNDED result;
  result.value = near.high;
  result.certain = !lacks_numbers && is_certain(near);
  return result.certain || lacks_numbers || lacks_squares ? result : sure_moment(what, s, squares, count, ddof);
}
