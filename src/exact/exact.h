// The superaccumulator's arithmetic, in integers only: one source for the host (inside namespace samesum::dialect, after
// device/dialect/host.h) and for kernels (after a prelude; there the digits lie in local memory).
//
// An accumulator is EXACT_DIGITS signed 64-bit digits of radix 2^32; digit i weighs 2^(32 i - 1074). Between normalizations digits may
// hold any value, so additions need no carry. Normalized, every digit but the last lies in [0, 2^32) and the last holds the sign: a
// two's complement number of 2240 bits, of which a double reaches bit 2098 and the sum of 2^64 doubles bit 2162.

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

// Propagates carries: the normalized form, which is unique. Digits must be under 2^62 in magnitude.
FN void exact_normalize(LOCAL long* digits) {
  long carry = 0;
  for (int i = 0; i < EXACT_DIGITS - 1; ++i) {
    long digit = digits[i] + carry;
    carry = digit >> 32;  // arithmetic: rounds towards minus infinity
    digits[i] = digit & 0xffffffffL;
  }
  digits[EXACT_DIGITS - 1] += carry;
}

// Turns a normalized accumulator into its magnitude, in place; the result is 1 where it was negative.
FN int exact_make_magnitude(LOCAL long* digits) {
  if (digits[EXACT_DIGITS - 1] >= 0) return 0;
  for (int i = 0; i < EXACT_DIGITS; ++i) digits[i] = -digits[i];
  exact_normalize(digits);
  return 1;
}

// Rounds magnitude / 2^drop to the nearest integer, ties to even; `drop` >= 1 and the quotient has at most 53 bits.
FN ulong exact_drop_bits(LOCAL const long* magnitude, int drop) {
  int half_digit = (drop - 1) >> 5;
  int half_bit = (drop - 1) & 31;
  int digit = drop >> 5;
  int shift = drop & 31;
  ulong quotient = (ulong)magnitude[digit] >> shift;
  if (digit + 1 < EXACT_DIGITS) quotient |= (ulong)magnitude[digit + 1] << (32 - shift);
  if (digit + 2 < EXACT_DIGITS && shift > 0) quotient |= (ulong)magnitude[digit + 2] << (64 - shift);
  ulong half_set = ((ulong)magnitude[half_digit] >> half_bit) & 1;
  ulong sticky = (ulong)magnitude[half_digit] & (((ulong)1 << half_bit) - 1);
  for (int i = 0; i < half_digit; ++i) sticky |= (ulong)magnitude[i];
  return quotient + (half_set & (ulong)(sticky != 0 || (quotient & 1) != 0));
}

// The index of the highest set bit of a magnitude, -1 for zero.
FN int exact_top_bit(LOCAL const long* magnitude) {
  int i = EXACT_DIGITS - 1;
  while (i >= 0 && magnitude[i] == 0) --i;
  return i < 0 ? -1 : 32 * i + 63 - (int)clz64((ulong)magnitude[i]);
}

// The bits of the float64 nearest to a normalized accumulator, ties to even; +0.0 for zero. Leaves the magnitude in `digits`.
FN ulong exact_round_float64(LOCAL long* digits) {
  ulong sign = (ulong)exact_make_magnitude(digits) << 63;
  int top = exact_top_bit(digits);
  if (top < 0) return 0;
  // Up to bit 52 the magnitude is the encoding: denormals, and the first binade of normal numbers.
  if (top <= 52) return sign | (ulong)digits[0] | ((ulong)digits[1] << 32);
  int drop = top - 52;
  // The quotient has its leading bit at 52: adding it to the exponent field counts one binade up, and so does a carry out of rounding.
  ulong bits = ((ulong)drop << 52) + exact_drop_bits(digits, drop);
  const ulong infinity = (ulong)0x7ff << 52;
  return sign | (drop > 2046 || bits > infinity ? infinity : bits);
}

// The same for the nearest float32.
FN uint exact_round_float32(LOCAL long* digits) {
  uint sign = (uint)exact_make_magnitude(digits) << 31;
  int top = exact_top_bit(digits);
  if (top < 0) return 0;
  int drop = top - 23 > EXACT_FLOAT32_SHIFT ? top - 23 : EXACT_FLOAT32_SHIFT;  // denormals share the lowest binade's spacing
  int exponent = drop - EXACT_FLOAT32_SHIFT;
  if (exponent > 254) return sign | 0x7f800000u;
  uint bits = ((uint)exponent << 23) + (uint)exact_drop_bits(digits, drop);
  return sign | (bits > 0x7f800000u ? 0x7f800000u : bits);
}
