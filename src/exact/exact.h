// The superaccumulator's arithmetic, in integers only: one source for the host (inside namespace samesum::dialect, after
// device/dialect/host.h) and for kernels (after a prelude; the digits are then in local memory).
//
// An accumulator is EXACT_DIGITS signed 64-bit digits of radix 2^32; digit i weighs 2^(32 i - 1074). Between normalizations digits may hold
// any value, so additions propagate no carries. When normalized, every digit but the last lies in [0, 2^32) and the last holds the sign: a
// two's complement number of 2240 bits, of which a double reaches bit 2098 and the sum of 2^64 doubles bit 2162.
//
// Most sums use few of the digits, so the functions work on a range, digits first..last: all digits outside are zero, and `last` holds the
// sign.

#define EXACT_DIGITS 70
#define EXACT_FLOAT32_SHIFT 925  // the lowest bit of a float32 is 2^-149 = 2^(925 - 1074)

// Adds value * 2^(position - 1074): three digits change, by less than 2^32 each.
FN void exact_add_scaled(LOCAL long* digits, long value, int position) {
  ulong magnitude = value < 0 ? 0 - (ulong)value : (ulong)value;
  int digit = position >> 5;
  int shift = position & 31;
  ulong low = magnitude << shift;
  long d0 = (long)(low & 0xffffffffu);
  long d1 = (long)(low >> 32);
  long d2 = (long)((magnitude >> 32) >> (32 - shift));
  digits[digit] += value < 0 ? -d0 : d0;
  digits[digit + 1] += value < 0 ? -d1 : d1;
  digits[digit + 2] += value < 0 ? -d2 : d2;
}

// Propagates carries: the normalized form, which is unique for a range. Requires digits under 2^62 in magnitude.
FN void exact_normalize(LOCAL long* digits, int first, int last) {
  long carry = 0;
  for (int i = first; i < last; ++i) {
    long digit = digits[i] + carry;
    carry = digit >> 32;  // arithmetic shift: rounds towards minus infinity
    digits[i] = digit & 0xffffffffL;
  }
  digits[last] += carry;
}

// Replaces a normalized range by its magnitude; returns 1 where it was negative.
FN int exact_make_magnitude(LOCAL long* digits, int first, int last) {
  if (digits[last] >= 0) return 0;
  for (int i = first; i <= last; ++i) digits[i] = -digits[i];
  exact_normalize(digits, first, last);
  return 1;
}

// The index of the highest set bit of a magnitude, counted from digit 0; -1 for zero.
FN int exact_top_bit(LOCAL const long* magnitude, int first, int last) {
  int i = last;
  while (i >= first && magnitude[i] == 0) --i;
  return i < first ? -1 : 32 * i + 63 - (int)clz64((ulong)magnitude[i]);
}

FN ulong exact_digit_in(LOCAL const long* magnitude, int first, int last, int i) { return i < first || i > last ? 0 : (ulong)magnitude[i]; }

// Rounds magnitude / 2^drop to the nearest integer, ties to even; `drop` >= 0 and the quotient has at most 53 bits.
FN ulong exact_drop_bits(LOCAL const long* magnitude, int first, int last, int drop) {
  int half_digit = (drop - 1) >> 5;
  int half_bit = (drop - 1) & 31;
  int digit = drop >> 5;
  int shift = drop & 31;
  ulong quotient = exact_digit_in(magnitude, first, last, digit) >> shift;
  quotient |= exact_digit_in(magnitude, first, last, digit + 1) << (32 - shift);
  if (shift > 0) quotient |= exact_digit_in(magnitude, first, last, digit + 2) << (64 - shift);
  ulong half_word = exact_digit_in(magnitude, first, last, half_digit);
  ulong sticky = half_word & (((ulong)1 << half_bit) - 1);
  for (int i = first; i < half_digit && i <= last && sticky == 0; ++i) sticky = (ulong)magnitude[i];
  return quotient + (((half_word >> half_bit) & 1) & (ulong)(sticky != 0 || (quotient & 1) != 0));
}

// The bits of the float64 nearest to a magnitude, ties to even; +0.0 for zero. The caller sets the sign. Digits below `first` may weigh
// less than 2^-1074, as in sums of products.
FN ulong exact_round_float64(LOCAL const long* magnitude, int first, int last) {
  const ulong infinity = (ulong)0x7ff << 52;
  // Denormals have the same spacing as the first binade of normal numbers, so the quotient is their encoding.
  int top = exact_top_bit(magnitude, first, last);
  int drop = top > 52 ? top - 52 : 0;
  if (drop > 2046) return infinity;
  // The quotient's leading bit is bit 52: adding it increments the exponent field, and so does a carry out of rounding.
  ulong bits = ((ulong)drop << 52) + exact_drop_bits(magnitude, first, last, drop);
  return bits > infinity ? infinity : bits;
}

// The same for the nearest float32.
FN uint exact_round_float32(LOCAL const long* magnitude, int first, int last) {
  int top = exact_top_bit(magnitude, first, last);
  int drop = top - 23 > EXACT_FLOAT32_SHIFT ? top - 23 : EXACT_FLOAT32_SHIFT;  // denormals have the lowest binade's spacing
  int exponent = drop - EXACT_FLOAT32_SHIFT;
  if (exponent > 254) return 0x7f800000u;
  uint bits = ((uint)exponent << 23) + (uint)exact_drop_bits(magnitude, first, last, drop);
  return bits > 0x7f800000u ? 0x7f800000u : bits;
}

// Results that are not determined by finite digits.
#define EXACT_FINITE 0
#define EXACT_NAN 1
#define EXACT_POSITIVE_INFINITY 2
#define EXACT_NEGATIVE_INFINITY 3
#define EXACT_NEGATIVE_ZERO 4

// Which of these applies to `count` elements with the given numbers of NaNs and infinities; `other` is 0 where all but the NaNs were -0.0.
FN int exact_special(ulong count, ulong nans, ulong positive_infinities, ulong negative_infinities, ulong other, int skip_nans) {
  if (nans != 0 && !skip_nans) return EXACT_NAN;
  if (positive_infinities != 0) return negative_infinities != 0 ? EXACT_NAN : EXACT_POSITIVE_INFINITY;
  if (negative_infinities != 0) return EXACT_NEGATIVE_INFINITY;
  return other == 0 && count != nans ? EXACT_NEGATIVE_ZERO : EXACT_FINITE;
}

// The bits of such a result; the NaN is the canonical one.
FN ulong exact_special_float64(int special) {
  if (special == EXACT_NAN) return (ulong)0x7ff8 << 48;
  if (special == EXACT_POSITIVE_INFINITY) return (ulong)0x7ff0 << 48;
  return special == EXACT_NEGATIVE_INFINITY ? (ulong)0xfff0 << 48 : (ulong)0x8000 << 48;
}
FN uint exact_special_float32(int special) {
  if (special == EXACT_NAN) return 0x7fc00000u;
  if (special == EXACT_POSITIVE_INFINITY) return 0x7f800000u;
  return special == EXACT_NEGATIVE_INFINITY ? 0xff800000u : 0x80000000u;
}
