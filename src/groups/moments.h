// Means, variances and norms from exact sums, each rounded once: one source for the host and for kernels, after expansion.h.
//
// All of them are a quotient N / D, or its root: N is an exact sum of doubles, D the number of elements, its square, or 1. It is computed with
// twice the digits of a double and a bound of the error first. If that does not decide between two doubles (Ziv: Fast evaluation of elementary
// mathematical functions with correctly rounded last bit, ACM TOMS 17, 1991), the sign of N - D * m or N - D * m^2, where m is the middle between
// them, does. It is computed exactly: N and D * m are sums of doubles, as the error of a product is a double, and sums of doubles become terms
// that do not overlap (Shewchuk: Adaptive precision floating-point arithmetic, Discrete & Computational Geometry 18, 1997).

#define OF_SUM 0
#define OF_MEAN 1
#define OF_VARIANCE 2   // of the population
#define OF_DEVIATION 3
#define OF_SQUARED_NORM 4
#define OF_NORM 5

// What is rounded: the value, and whether it is certain; about how much was rounded off.
typedef struct {
  REAL value;
  REAL left;
  uint certain;
} ROUNDED;

// The sum of squares: three terms as an EXPANSION, and a bound of what they lack.
typedef struct {
  REAL s, e, f, lost;
} SQUARES;

FN SQUARES squares_zero(void) {
  SQUARES x;
  x.s = x.e = x.f = x.lost = 0;
  return x;
}

FN REAL magnitude_of_real(REAL x) { return x < 0 ? -x : x; }
// Whether products of two such numbers, and their errors, are doubles.
FN uint is_moderate(REAL x) { return x == 0 || (magnitude_of_real(x) > (REAL)0x1p-450 && magnitude_of_real(x) < (REAL)0x1p450); }
FN uint is_moderate_square(REAL x) { return x == 0 || (magnitude_of_real(x) > (REAL)0x1p-900 && magnitude_of_real(x) < (REAL)0x1p900); }

// The squares of smaller numbers may have bits that no double has, of which LOST_OF_SMALL is a bound.
#define LEAST_SQUARED 0x1p-480
#define LOST_OF_SMALL 0x1p-1070

// A number's square goes to the first term, its rounding error to the second.
FN SQUARES add_square(SQUARES x, REAL value) {
  const REAL square = value * value, rest = fma(value, value, -square);
  const REAL s = x.s + square, of_s = error_of_sum(x.s, square, s);
  const REAL more = x.e + of_s, of_more = error_of_sum(x.e, of_s, more);
  const REAL e = more + rest, of_e = error_of_sum(more, rest, e);
  const REAL third = x.f + of_more, f = third + of_e;
  x.lost += magnitude_of_real(error_of_sum(x.f, of_more, third)) + magnitude_of_real(error_of_sum(third, of_e, f));
  if (value != 0 && magnitude_of_real(value) < LEAST_SQUARED) x.lost += LOST_OF_SMALL;
  x.s = s;
  x.e = e;
  x.f = f;
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

// Adds a product to a sum of two doubles, of which the second has the errors of the first.
FN void add_product(REAL* high, REAL* low, REAL a, REAL b) {
  if (a == 0 || b == 0) return;  // of third terms, and often of second ones
  const REAL product = a * b, rest = fma(a, b, -product), sum = *high + product;
  *low += error_of_sum(*high, product, sum) + rest;
  *high = sum;
}

// The terms of count * q - s^2 for the sums s of numbers and q of their squares: count^2 times the variance.
#define VARIANCE_TERMS 18
FN void variance_terms(REAL* terms, EXPANSION s, EXPANSION q, REAL count) {
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

// (high + low) / (upper + lower), or its root, if this determines it; `bound` is that of the error of the dividend. No operand is negative.
FN ROUNDED quick_ratio(REAL high, REAL low, REAL bound, REAL upper, REAL lower, uint root) {
  REAL first = high / upper;
  REAL second = (fma(-first, upper, high) + (low - first * lower)) / upper;
  REAL unsure = bound / upper + magnitude_of_real(second) * (REAL)0x1p-48 + first * (REAL)0x1p-99;
  if (root && first > 0) {
    const REAL square = first;
    first = sqrt(square);
    const REAL twice = 2 * first;
    second = (fma(-first, first, square) + second) / twice;
    unsure = unsure / twice + magnitude_of_real(second) * (REAL)0x1p-48 + first * (REAL)0x1p-97;
  }
  unsure += unsure * (REAL)0x1p-20;
  ROUNDED result;
  result.value = first + second;
  result.left = error_of_sum(first, second, result.value);
  result.certain = result.value + (result.left + unsure) == result.value && result.value + (result.left - unsure) == result.value &&
                   result.value > (REAL)0x1p-450;
  return result;
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

#define MOST_TERMS (VARIANCE_TERMS + 12)

// The sign of N - D * (value + beyond), or with `root` N - (count * (value + beyond))^2; N is the sum of `size` terms, D is upper + lower.
FN int side_of(const REAL* terms, uint size, REAL upper, REAL lower, REAL count, uint root, REAL value, REAL beyond) {
  REAL all[MOST_TERMS];
  for (uint i = 0; i < size; ++i) all[i] = terms[i];
  if (root) {
    const REAL a = count * value, b = fma(count, value, -a), c = count * beyond;
    put_product(all, size, -a, a);
    put_product(all, size + 2, -2 * a, b);
    put_product(all, size + 4, -2 * a, c);
    put_product(all, size + 6, -b, b);
    put_product(all, size + 8, -2 * b, c);
    put_product(all, size + 10, -c, c);
    size += 12;
  } else {
    put_product(all, size, -upper, value);
    put_product(all, size + 2, -lower, value);
    all[size + 4] = -upper * beyond;  // beyond is a power of two
    all[size + 5] = -lower * beyond;
    size += 6;
  }
  const uint left = distill(all, size);
  return left == 0 ? 0 : all[left - 1] > 0 ? 1 : -1;
}

// The quotient or root of the sum of `terms`, which are overwritten.
FN ROUNDED sure_ratio(REAL* terms, uint size, REAL upper, REAL lower, REAL count, uint root) {
  ROUNDED result;
  result.value = result.left = 0;
  result.certain = 1;
  size = distill(terms, size);
  if (size == 0) return result;
  const uint negative = terms[size - 1] < 0;
  for (uint i = 0; i < size && negative; ++i) terms[i] = -terms[i];
  result = quick_ratio(terms[size - 1], size > 1 ? terms[size - 2] : 0, 0, upper, lower, root);
  if (!result.certain && is_moderate(result.value)) {
    // The value lies between this double and the next one on the side of what was rounded off, about in their middle.
    const ulong bits = as_ulong(result.value);
    const REAL next = as_double(result.left > 0 ? bits + 1 : bits - 1);
    const int side = side_of(terms, size, upper, lower, count, root, result.value, (next - result.value) / 2);
    if (side == 0 ? (bits & 1) != 0 : (side > 0) == (result.left > 0)) result.value = next;
    result.certain = 1;
  }
  if (negative) result.value = -result.value;
  return result;
}

SELDOM ROUNDED sure_moment(uint what, EXPANSION s, EXPANSION q, REAL count) {
  REAL terms[VARIANCE_TERMS];
  if (what == OF_VARIANCE || what == OF_DEVIATION) {
    variance_terms(terms, s, q, count);
    const REAL upper = count * count;
    return sure_ratio(terms, VARIANCE_TERMS, upper, fma(count, count, -upper), count, what == OF_DEVIATION);
  }
  const EXPANSION from = what <= OF_MEAN ? s : q;
  terms[0] = from.f;
  terms[1] = from.e;
  terms[2] = from.s;
  return sure_ratio(terms, 3, what == OF_MEAN ? count : 1, 0, 1, what == OF_NORM);
}

// The result from the sum of `count` numbers, which is at least 1 and at most 2^53, and that of their squares, of which only what it needs is
// looked at. If it is not certain, it is not determined by these: they lack too much, or are very large or very small.
FN ROUNDED moment(uint what, EXPANSION s, SQUARES squares, REAL count) {
  const EXPANSION none = expansion_zero();
  ROUNDED result;
  if (what <= OF_MEAN) {
    const EXPANSION x = what == OF_MEAN ? expansion_mean(s, count) : expansion_rounded(s);
    result.value = x.s;
    result.left = 0;
    result.certain = x.inexact == 0;
    if (result.certain || s.inexact != 0 || !is_moderate(s.s) || !is_moderate(s.e) || !is_moderate(s.f)) return result;
    return sure_moment(what, s, none, count);
  }
  result.value = result.left = 0;
  result.certain = 0;
  if (!(squares.lost <= squares.s) || !is_moderate_square(squares.s) || !is_moderate_square(squares.e) || !is_moderate_square(squares.f)) return result;
  EXPANSION q = none;
  q.s = squares.s;
  q.e = squares.e;
  q.f = squares.f;
  q = expansion_normalized(q);
  if (q.s == 0) {  // all numbers are zeros
    result.certain = 1;
    return result;
  }
  const uint is_variance = what == OF_VARIANCE || what == OF_DEVIATION;
  REAL high = q.s, low = q.e + q.f, bound = squares.lost + q.s * (REAL)0x1p-104, upper = 1, lower = 0;
  if (is_variance) {
    if (s.inexact != 0 || !is_moderate(s.s) || !is_moderate(s.e) || !is_moderate(s.f)) return result;
    s = expansion_normalized(s);
    high = count * q.s;
    low = fma(count, q.s, -high);
    bound = count * squares.lost + high * (REAL)0x1p-95;
    add_product(&high, &low, -s.s, s.s);
    add_product(&high, &low, count, q.e);
    add_product(&high, &low, -2 * s.s, s.e);
    add_product(&high, &low, count, q.f);
    add_product(&high, &low, -2 * s.s, s.f);
    add_product(&high, &low, -s.e, s.e);
    add_product(&high, &low, -2 * s.e, s.f);
    add_product(&high, &low, -s.f, s.f);
    upper = count * count;
    lower = fma(count, count, -upper);
    const REAL sum = high + low;
    low = error_of_sum(high, low, sum);
    high = sum;
  }
  if (high > 2 * bound) {
    result = quick_ratio(high, low, bound, upper, lower, what == OF_DEVIATION || what == OF_NORM);
    if (result.certain) return result;
  }
  return squares.lost == 0 ? sure_moment(what, s, q, is_variance ? count : 1) : result;
}
