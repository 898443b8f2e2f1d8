// Exact quotients of sums in kernels, rounded once. Stands after exact.h; by one work-item.

// Digits first..last of a magnitude, of which digit i weighs 2^(32 i - 1074), and its sign. Digits below 0 may be there.
typedef struct {
  LOCAL long* digits;
  int first, last;
  int negative;
} MAGNITUDE;

FN void clear_number(MAGNITUDE x) {
  for (int i = x.first; i <= x.last; ++i) x.digits[i] = 0;
}

// A pointer p such that p[lowest] is the first of `digits`.
FN LOCAL long* numbered_from(LOCAL long* digits, int lowest) { return digits - lowest; }

// The number without zeros at its ends.
FN MAGNITUDE trimmed(MAGNITUDE x) {
  while (x.last > x.first && x.digits[x.last] == 0) --x.last;
  while (x.first < x.last && x.digits[x.first] == 0) ++x.first;
  return x;
}

// The number with digits from..to, of which digit i weighs 2^(base + 32 i - 1074). `storage` begins with digit `low`, and has room for
// four digits more.
FN MAGNITUDE magnitude_of_range(LOCAL long* storage, int low, LOCAL const long* digits, int from, int to, int base) {
  MAGNITUDE x;
  x.digits = numbered_from(storage, low);
  x.first = (base + 32 * from) >> 5;
  x.last = ((base + 32 * to) >> 5) + 3;
  clear_number(x);
  for (int i = from; i <= to; ++i) exact_add_scaled(x.digits, digits[i], base + 32 * i);
  exact_normalize(x.digits, x.first, x.last);
  x.negative = exact_make_magnitude(x.digits, x.first, x.last);
  return trimmed(x);
}

// The same of `count` digits, with as many of them as are in use.
FN MAGNITUDE magnitude_of_digits(LOCAL long* storage, int low, LOCAL const long* digits, int count, int base) {
  int from = 0;
  int to = count - 1;
  while (from < to && digits[from] == 0) ++from;
  while (to > from && digits[to] == 0) --to;
  return magnitude_of_range(storage, low, digits, from, to, base);
}

// The number divided by `divisor`, in place, with one digit for each of x; 1 is returned if something remains.
FN uint divide(MAGNITUDE x, uint divisor) {
  ulong rest = 0;
  for (int i = x.last; i >= x.first; --i) {
    const ulong dividend = rest << 32 | (ulong)x.digits[i];
    x.digits[i] = (long)(dividend / divisor);
    rest = dividend % divisor;
  }
  return rest != 0;
}

// The number of digits below a number that decide how its quotient by two numbers of 32 bits is rounded.
#define FRACTION_DIGITS 5
FN MAGNITUDE with_fraction(MAGNITUDE x) {
  for (int i = 1; i <= FRACTION_DIGITS; ++i) x.digits[x.first - i] = 0;
  x.first -= FRACTION_DIGITS;
  return x;
}

// The digits of a number that are divided: at most `count`, from the highest one on. `rest` is set if any below them is not zero.
FN MAGNITUDE highest_digits(MAGNITUDE x, int count, uint* rest) {
  for (; x.last - x.first >= count; ++x.first) *rest |= x.digits[x.first] != 0;
  return x;
}

// The nearest float64 to a number and a rest below its lowest digit.
FN ulong rounded(MAGNITUDE x, uint rest) {
  if (rest != 0) x.digits[x.first] |= 1;
  return exact_round_float64(x.digits, x.first, x.last);
}
