// Rounds a sum's digits: by a sub-group, one digit per lane; or by one work-item, with the serial arithmetic of exact.h. Included after
// exact.h; requires GROUP_SIZE.

// The work-items that round a sum together: a sub-group, if the group consists of whole ones; otherwise, or with ONE_LANE, one.
#if SUBGROUP > 1 && GROUP_SIZE % SUBGROUP == 0 && !ONE_LANE
#define LANES SUBGROUP
#else
#define LANES 1
#endif

typedef struct {
  ulong float64;  // bits
  uint float32;
  // For sums of integers, whose base is 1074:
  ulong integer;   // the lowest 64 bits
  uint bits;       // length of the magnitude; 0 for zero
  uint is_lowest;  // whether it is -2^63
} ROUNDED_SUM;

#define FULL_DIGIT 0xffffffffL

// The encoding of a magnitude: `top` is the position of its highest bit, `word` the 64 bits from there down, `sticky` whether any lower bit
// is set. Positions count from 2^-1074. `precision` bits are kept, none below `lowest`; `greatest` is the greatest exponent field.
FN ulong encode(ulong word, uint sticky, int top, int precision, int lowest, int greatest) {
  const int drop = top - precision + 1 > lowest ? top - precision + 1 : lowest;
  const int shift = 63 - top + drop;  // dropped bits of the word: at least 11
  if (shift > 64) return 0;
  const ulong quotient = shift == 64 ? 0 : word >> shift;
  const ulong half_and_rest = word << (64 - shift);
  const uint guard = (uint)(half_and_rest >> 63);
  const uint rest = (half_and_rest << 1) != 0 || sticky != 0;
  const ulong infinity = (ulong)(greatest + 1) << (precision - 1);
  if (drop - lowest > greatest) return infinity;
  // The quotient's leading bit is bit precision - 1: adding it increments the exponent field, and so does a carry out of rounding. Without
  // that bit the number is denormal.
  const ulong bits = ((ulong)(drop - lowest) << (precision - 1)) + quotient + (guard & (rest | (uint)(quotient & 1)));
  return bits > infinity ? infinity : bits;
}

// Rounds on one work-item; `scratch` has EXACT_DIGITS elements, or count + 3 where `base` is negative.
FN ROUNDED_SUM round_serially(LOCAL const long* digits, int count, int base, LOCAL long* scratch) {
  const int first = base >> 5;
  const int last = first < 0 || first + count + 2 < EXACT_DIGITS ? first + count + 2 : EXACT_DIGITS - 1;
  if (first < 0) scratch -= first;
  for (int i = first; i <= last; ++i) scratch[i] = 0;
  for (int i = 0; i < count; ++i) exact_add_scaled(scratch, digits[i], base + 32 * i);
  exact_normalize(scratch, first, last);
  ROUNDED_SUM rounded;
  int digit = base >> 5;
  int shift = base & 31;
  rounded.integer = (ulong)scratch[digit] >> shift | (ulong)scratch[digit + 1] << (32 - shift);
  if (shift > 0) rounded.integer |= (ulong)scratch[digit + 2] << (64 - shift);
  uint negative = (uint)exact_make_magnitude(scratch, first, last);
  rounded.bits = 0;
  for (int i = digit; i <= last; ++i) {
    if (scratch[i] != 0) rounded.bits = (uint)(32 * (i - digit) - shift) + 32 - clz32((uint)scratch[i]);
  }
  rounded.is_lowest = negative && rounded.bits == 64 && rounded.integer == (ulong)1 << 63;
  rounded.float64 = (ulong)negative << 63 | exact_round_float64(scratch, first, last);
  rounded.float32 = negative << 31 | exact_round_float32(scratch, first, last);
  return rounded;
}

#if LANES > 1
#define lanes_shuffle(value, lane) subgroup_shuffle(value, lane)
#define lanes_sync() subgroup_sync()

FN long digit_at(LOCAL const long* digits, int count, int i) { return i >= 0 && i < count ? digits[i] : 0; }
FN long carry_of(long digit) { return (digit >> 32) + (long)((uint)digit >> 31); }

// Digit i of the same number in digits from -2^31 - 1 to 2^31 + 1, by two steps of carries; there are two more than `count`. Such a digit outweighs all
// below it: the highest one that is not zero has the number's sign.
FN long balanced_digit(LOCAL const long* digits, int count, int i) {
  const long below = digit_at(digits, count, i - 1);
  const long once = (long)(int)digit_at(digits, count, i) + carry_of(below);
  const long once_below = (long)(int)below + carry_of(digit_at(digits, count, i - 2));
  return (long)(int)once + carry_of(once_below);
}

// `digits` may have any values under 2^62; digit i weighs 2^(base + 32 i - 1074). The first lane returns the result.
FN ROUNDED_SUM round_digits(LOCAL const long* digits, int count, int base, LOCAL long* scratch) {
  const uint lane = local_id();
  // The highest digit, and the sign of all that is more than two digits below it.
  int highest = -1;
  uint negative = 0;
  int rest = 0;
  for (int first = (count + 1) / LANES * LANES; first >= 0 && rest == 0; first -= LANES) {
    const long digit = balanced_digit(digits, count, first + (int)lane);
    uint used = subgroup_ballot(digit != 0);
    const uint signs = subgroup_ballot(digit < 0);
    if (highest < 0 && used != 0) {
      highest = first + 31 - (int)clz32(used);
      negative = signs >> (highest - first) & 1;
    }
    const int lower = highest - 2 - first;  // the number of digits here that are more than two below the highest
    used &= lower >= LANES ? ~0u : lower > 0 ? (1u << lower) - 1 : 0;
    if (used != 0) rest = (signs >> (31 - clz32(used)) & 1) == negative ? 1 : -1;
  }
  const long sign = negative ? -1 : 0;
  const long low = ((balanced_digit(digits, count, highest - 2) ^ sign) - sign) - (rest < 0);
  const long middle = ((balanced_digit(digits, count, highest - 1) ^ sign) - sign) + (low >> 32);
  const long high = ((balanced_digit(digits, count, highest) ^ sign) - sign) + (middle >> 32);
  // The highest digit may be used up: then the next one has the highest bit, or the one below it.
  const uint is_short = high == 0;
  const uint word0 = is_short ? (uint)middle : (uint)high, word1 = is_short ? (uint)low : (uint)middle, word2 = is_short ? 0 : (uint)low;
  const uint zeros = word0 != 0 ? clz32(word0) : 0;
  const ulong word = ((ulong)word0 << 32 | word1) << zeros | (((ulong)word2 << zeros) >> 32);
  const uint sticky = word2 << zeros != 0 || rest != 0;
  const int top = base + 32 * (highest - (int)is_short) + 31 - (int)zeros;
  // Rounds to both formats in parallel.
  const uint is_double = lane != 1, is_zero_sum = highest < 0;
  ulong bits = encode(word, sticky, top, is_double ? 53 : 24, is_double ? 0 : EXACT_FLOAT32_SHIFT, is_double ? 2046 : 254);
  if (is_zero_sum) bits = 0;
  ROUNDED_SUM rounded;
  rounded.float64 = bits | (ulong)negative << 63;
  rounded.float32 = subgroup_shuffle((uint)bits, 1) | negative << 31;
  rounded.integer = (ulong)digit_at(digits, count, 0) + ((ulong)digit_at(digits, count, 1) << 32);
  rounded.bits = is_zero_sum ? 0 : (uint)(top - base + 1);
  rounded.is_lowest = negative && rounded.bits == 64 && rounded.integer == (ulong)1 << 63;
  return rounded;
}
#else
#define lanes_shuffle(value, lane) (value)
#define lanes_sync()
FN ROUNDED_SUM round_digits(LOCAL const long* digits, int count, int base, LOCAL long* scratch) {
  return round_serially(digits, count, base, scratch);
}
#endif
