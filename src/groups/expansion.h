// An exact sum of numbers as an expansion, an unevaluated sum of three terms: one source for the host (inside a namespace, after device/dialect/host.h)
// and for kernels (after a prelude). REAL is double.
//
// The rounding error of an addition is a floating-point number (Knuth's TwoSum); it is added to the next term. The error of the last term must be
// zero. If it is not, `inexact` is set and stays set: the sum must be computed in another way. Infinities and NaNs set it too.
// (Ogita, Rump, Oishi: Accurate sum and dot product, SIAM J. Sci. Comput. 26, 2005.)

typedef struct {
  REAL s, e, f;
  uint inexact;
} EXPANSION;

FN EXPANSION expansion_zero(void) {
  EXPANSION x;
  x.s = x.e = x.f = (REAL)-0.0;  // the identity of addition: a sum of zeros of one sign keeps it
  x.inexact = 0;
  return x;
}

// The error of sum = a + b.
FN REAL error_of_sum(REAL a, REAL b, REAL sum) {
  const REAL of_b = sum - a;
  return (a - (sum - of_b)) + (b - of_b);
}

// Whether sum = a + b has no error. The difference between the sum and the greater operand is exact, so comparing it suffices.
FN uint adds_exactly(REAL a, REAL b, REAL sum) { return sum - a == b && sum - b == a; }

FN EXPANSION expansion_add(EXPANSION x, REAL value) {
  const REAL s = x.s + value;
  const REAL first = error_of_sum(x.s, value, s);
  const REAL e = x.e + first;
  x.s = s;
  if (!adds_exactly(x.e, first, e)) {  // rare
    const REAL second = error_of_sum(x.e, first, e);
    const REAL f = x.f + second;
    x.inexact |= !adds_exactly(x.f, second, f);
    x.f = f;
  }
  x.e = e;
  return x;
}

// With two terms only: enough for float32 numbers added up as doubles, as long as they span no more than 2^50.
FN EXPANSION expansion_add_short(EXPANSION x, REAL value) {
  const REAL s = x.s + value;
  const REAL first = error_of_sum(x.s, value, s);
  const REAL e = x.e + first;
  x.inexact |= !adds_exactly(x.e, first, e);
  x.s = s;
  x.e = e;
  return x;
}

FN EXPANSION expansion_merge(EXPANSION x, EXPANSION y) {
  // Most sums have one term or two.
  const REAL s = x.s + y.s;
  if (y.f == 0 && y.inexact == 0) {
    if (y.e == 0 && adds_exactly(x.s, y.s, s)) {
      x.s = s;
      return x;
    }
    const REAL both = x.e + y.e, error = error_of_sum(x.s, y.s, s), e = both + error;
    if (adds_exactly(x.e, y.e, both) && adds_exactly(both, error, e)) {
      x.s = s;
      x.e = e;
      return x;
    }
  }
  x = expansion_add(x, y.s);
  if (y.e != 0) x = expansion_add(x, y.e);  // not a zero, which would turn -0.0 into +0.0
  if (y.f != 0) x = expansion_add(x, y.f);
  x.inexact |= y.inexact;
  return x;
}

// The same sum with s the nearest number to it; at a tie, either of the two nearest. The terms may be any numbers, in any order. A pass from the
// last term to the first makes a double of what is largest, and what it leaves is not small where terms have cancelled; a second pass is enough for
// three terms.
FN EXPANSION expansion_normalized(EXPANSION x) {
  if (x.e == 0 && x.f == 0) return x;
  const REAL u = x.e + x.f, r = error_of_sum(x.e, x.f, u);
  const REAL s = x.s + u, w = error_of_sum(x.s, u, s);
  const REAL v = w + r;
  x.f = error_of_sum(w, r, v);
  x.s = s + v;
  x.e = error_of_sum(s, v, x.s);
  return x;
}

// The sum rounded to the nearest number, ties to even. If `inexact` becomes 1, the result is undefined.
FN EXPANSION expansion_rounded(EXPANSION x) {
  x = expansion_normalized(x);
  // Only at a tie between two numbers does the third term decide.
  x.inexact |= x.f != 0 && (x.s + 2 * x.e) - x.s == 2 * x.e;
  x.inexact |= !(x.s - x.s == 0);
  return x;
}

// The nearest float, ties to even, to a number below 2^127 and a rest of at most half a place of it. Only where the number lies in the middle
// between two floats does the rest decide.
FN float nearest_float(REAL s, REAL rest) {
  const float nearest = (float)s;
  const REAL apart = s - (REAL)nearest, beyond = (REAL)nearest + 2 * apart;
  const float other = (float)beyond;  // the float on the other side, where s is in the middle
  return rest != 0 && apart != 0 && (REAL)other == beyond && (rest > 0) == (apart > 0) ? other : nearest;
}
FN float expansion_to_float(EXPANSION normalized) { return nearest_float(normalized.s, normalized.e != 0 ? normalized.e : normalized.f); }

// The sum divided by `count`, rounded once, as s. If `inexact` becomes 1, the result is undefined.
FN EXPANSION expansion_mean(EXPANSION x, REAL count) {
  x = expansion_normalized(x);
  if (x.e == 0 && x.f == 0) {
    x.s = x.s / count;
    x.inexact |= !(x.s - x.s == 0);
    return x;
  }
  const REAL quotient = x.s / count;
  const REAL rest = fma(-quotient, count, x.s) + (x.e + x.f);  // the remainder of a quotient is a number (Markstein, 1990)
  const REAL correction = rest / count;
  const REAL mean = quotient + correction;
  const REAL left = error_of_sum(quotient, correction, mean);
  // The error of `left` is below 2^-45 of the mean's last place: unless that reaches a tie, the mean is the nearest number.
  const REAL more = left * (REAL)(1 + 0x1p-40), less = left * (REAL)(1 - 0x1p-40);
  const REAL size = mean < 0 ? -mean : mean;
  x.inexact |= mean + more != mean || mean + less != mean || !(size > (REAL)0x1p-900 && size < (REAL)0x1p1000);
  x.s = mean;
  return x;
}

FN REAL magnitude_of_real(REAL x) { return x < 0 ? -x : x; }
FN REAL where_zero(REAL x, REAL then, REAL otherwise) { return x == 0 ? then : otherwise; }
