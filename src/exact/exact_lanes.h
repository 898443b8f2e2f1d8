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

// One step of carry propagation. The carry out of the last lane is dropped, so the lanes are a number modulo 2^(32 LANES).
FN long carry_step(long digit, uint lane) {
  const long below = subgroup_shuffle64(digit, (lane - 1) & (LANES - 1)) >> 32;
  return (digit & FULL_DIGIT) + (lane == 0 ? 0 : below);
}

// `digits` may have any values under 2^62; digit i weighs 2^(base + 32 i - 1074). All lanes return the result.
FN ROUNDED_SUM round_digits(LOCAL const long* digits, int count, int base, LOCAL long* scratch) {
  const uint lane = local_id();
  // The range of nonzero digits.
  int first = 0;
  if (count > LANES - 2) {
    int last = 0;
    first = count;
    for (int i = 0; i < count; i += LANES) {
      const uint used = subgroup_ballot(i + (int)lane < count && digits[i + (int)lane < count ? i + (int)lane : 0] != 0);
      if (used == 0) continue;
      if (first == count) first = i + (int)lowest_bit(used);
      last = i + 31 - (int)clz32(used);
    }
    if (first == count) first = 0;
    if (last - first > LANES - 3) {  // more digits than lanes: serially
      ROUNDED_SUM rounded;
      rounded.float64 = rounded.integer = 0;
      rounded.float32 = rounded.bits = rounded.is_lowest = 0;
      if (lane == 0) rounded = round_serially(digits, count, base, scratch);
      return rounded;
    }
    base += 32 * first;
  }
  long digit = first + (int)lane < count ? digits[first + (int)lane] : 0;
  digit = carry_step(carry_step(digit, lane), lane);
  // Assumes the sign of the highest digit. If that is wrong, carry propagation fills all lanes, and the sign is flipped below.
  uint negative = 0;
  uint used = subgroup_ballot(digit != 0);
  if (used != 0 && subgroup_shuffle64(digit, 31 - clz32(used)) < 0) {
    negative = 1;
    digit = -digit;
  }
  for (;;) {
    while (subgroup_ballot(digit < 0 || digit > FULL_DIGIT) != 0) digit = carry_step(digit, lane);
    if (subgroup_shuffle64(digit, LANES - 1) == 0) break;
    negative ^= 1;
    digit = -digit;
  }

  used = subgroup_ballot(digit != 0);
  const int highest = used != 0 ? 31 - (int)clz32(used) : 0;
  const uint word32 = (uint)digit;
  const uint high = subgroup_shuffle(word32, (uint)highest);
  const uint middle = highest > 0 ? subgroup_shuffle(word32, (uint)(highest - 1) & (LANES - 1)) : 0;
  const uint low = highest > 1 ? subgroup_shuffle(word32, (uint)(highest - 2) & (LANES - 1)) : 0;
  const uint below = highest > 2 ? used & ((1u << (highest - 2)) - 1) : 0;
  const uint zeros = high != 0 ? clz32(high) : 0;
  const ulong word = ((ulong)high << 32 | middle) << zeros | (((ulong)low << zeros) >> 32);
  const uint sticky = ((low << zeros) | below) != 0;
  const int top = base + 32 * highest + 31 - (int)zeros;
  // Rounds to both formats in parallel.
  const uint is_double = lane != 1;
  ulong bits = encode(word, sticky, top, is_double ? 53 : 24, is_double ? 0 : EXACT_FLOAT32_SHIFT, is_double ? 2046 : 254);
  if (used == 0) bits = 0;
  ROUNDED_SUM rounded;
  rounded.float64 = bits | (ulong)(used != 0 ? negative : 0) << 63;
  rounded.float32 = subgroup_shuffle((uint)bits, 1) | (used != 0 ? negative : 0) << 31;
  const ulong magnitude = subgroup_shuffle(word32, 0) | (ulong)subgroup_shuffle(word32, 1) << 32;
  rounded.integer = negative ? 0 - magnitude : magnitude;
  rounded.bits = used != 0 ? (uint)(top - base + 1) : 0;
  rounded.is_lowest = negative && rounded.bits == 64 && magnitude == (ulong)1 << 63;
  return rounded;
}
#else
#define lanes_shuffle(value, lane) (value)
#define lanes_sync()
FN ROUNDED_SUM round_digits(LOCAL const long* digits, int count, int base, LOCAL long* scratch) {
  return round_serially(digits, count, base, scratch);
}
#endif
