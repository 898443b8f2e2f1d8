// Of sums into groups (by_index.cl) what does not depend on the types of elements and indices: no digits, carries, rounding.
//
// Defined by the host: FLOATS, whether elements are floats; COUNTS; GROUP_SIZE.

KERNEL FIXED_GROUP(GROUP_SIZE, 1) void clear_words(GLOBAL ulong* words, ulong first, ulong count) {
  for (ulong i = global_id(); i < count; i += global_size()) words[first + i] = 0;
}

// Propagates carries in the digits of a group from number `first` on: they become less than 2^DIGIT_BITS, and none negative, but for number `last`.
FN void carry_group(GLOBAL ulong* digits, ulong groups, uint first, uint last) {
  GLOBAL ulong* at = digits + first * groups;
  long carry = 0;
  for (uint d = first; d < last; ++d, at += groups) {
    const ulong before = *at;
    const long digit = (long)before + carry;
    const ulong after = (ulong)digit & DIGIT_MASK;
    carry = digit >> DIGIT_BITS;
    if (after != before) *at = after;
  }
  if (carry != 0) *at += (ulong)carry;
}

// The same of all groups, whose digits begin at word number `digits`.
KERNEL FIXED_GROUP(GROUP_SIZE, 1) void carry_digits(GLOBAL ulong* planes, ulong digits, ulong groups, uint first, uint last) {
  for (ulong group = global_id(); group < groups; group += global_size()) carry_group(planes + digits + group, groups, first, last);
}

// Digit d of the magnitude of a number whose lowest digit that is not zero is number `lowest`.
FN ulong magnitude_digit(ulong digit, uint d, uint lowest, uint last, int negative) {
  if (!negative) return digit;
  if (d < lowest) return 0;
  const ulong inverse = d == lowest ? 0 - digit : ~digit;
  return d == last ? inverse : inverse & DIGIT_MASK;
}

#if FLOATS
// The bits of the float64 nearest to a sum whose carries are propagated, ties to even. The digits' unit is 2^(unit - 1074).
FN ulong rounded(GLOBAL const ulong* digits, ulong groups, uint first, uint last, int unit) {
  const int negative = (long)digits[last * groups] < 0;
  uint lowest = first;
  while (lowest < last && digits[lowest * groups] == 0) ++lowest;
  uint top = last;
  while (top > lowest && magnitude_digit(digits[top * groups], top, lowest, last, negative) == 0) --top;
  ulong bits = magnitude_digit(digits[top * groups], top, lowest, last, negative);
  if (bits == 0) return 0;
  // The upper 62 bits or more, and whether any below them is set.
  int length = 64 - (int)clz64(bits), place = DIGIT_BITS * (int)top + unit;
  ulong sticky = 0;
  for (uint d = top; d-- > lowest;) {
    const ulong digit = magnitude_digit(digits[d * groups], d, lowest, last, negative);
    const int take = length >= 62 ? 0 : 62 - length < DIGIT_BITS ? 62 - length : DIGIT_BITS;
    bits = bits << take | digit >> (DIGIT_BITS - take);
    sticky |= digit & ((1UL << (DIGIT_BITS - take)) - 1);
    length += take;
    place -= take;
  }
  // As exact_round_float64(): denormals have the spacing of the first binade of normal numbers.
  const int highest = place + length - 1;
  const int drop = highest > 52 ? highest - 52 : 0, shift = drop - place;
  const ulong sign = (ulong)negative << 63;
  if (drop > 2046) return sign | 0x7ffUL << 52;
  ulong quotient;
  if (shift <= 0) {
    quotient = bits << -shift;
  } else {
    quotient = bits >> shift;
    const ulong upper = bits >> (shift - 1) & 1;
    sticky |= bits & ((1UL << (shift - 1)) - 1);
    quotient += upper & (ulong)(sticky != 0 || (quotient & 1) != 0);
  }
  const ulong result = ((ulong)drop << 52) + quotient;
  return sign | (result > 0x7ffUL << 52 ? 0x7ffUL << 52 : result);
}
#endif

// The sums of all groups, after their carries are propagated: float64, or 64-bit integers, with a sign if `is_signed`. `unit` as above; `specials`:
// whether any element is a NaN, an infinity or -0.0.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void round_sums(GLOBAL ulong* planes, ulong groups, GLOBAL const uint* others, GLOBAL uint* words, uint rows, uint first, uint last, int unit,
                int specials, int skip, int is_signed, GLOBAL ulong* to, ulong to_offset) {
  for (ulong group = global_id(); group < groups; group += global_size()) {
    GLOBAL const ulong* const digits = planes + group;
    carry_group(planes + group, groups, first, last);
#if FLOATS
    GLOBAL const ulong* const kinds = digits + rows * groups;
    ulong nans = 0, positive = 0, negative = 0, zeros = 0;
    if (specials) {
      nans = kinds[0];
      positive = kinds[groups];
      negative = kinds[2 * groups];
      zeros = kinds[3 * groups];
    }
#if COUNTS
    const ulong numbers = kinds[4 * groups] - nans - positive - negative - zeros;
#else
    const ulong numbers = others[group >> 5] >> (group & 31) & 1;
#endif
    const int special = exact_special(nans + positive + negative + zeros + numbers, nans, positive, negative, numbers, skip);
    to[to_offset + group] = special != EXACT_FINITE ? exact_special_float64(special) : rounded(digits, groups, first, last, unit);
#else
    // first is 0 and last is 2: the last one has the sign.
    const ulong lower = digits[0], middle = digits[groups];
    const long upper = (long)digits[2 * groups];
    int fits = upper == 0 && middle < (is_signed ? 1UL << 29 : 1UL << 30);
    if (is_signed && upper == -1 && middle >= (1UL << DIGIT_BITS) - (1UL << 29)) fits = 1;
    if (!fits) atomic_max_global32(&words[UNFIT], 1);
    to[to_offset + group] = lower + (middle << DIGIT_BITS);
#endif
  }
}
