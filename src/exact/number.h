// Exact numbers of any length in local memory, by the lanes of a sub-group, or by one work-item where LANES is 1 (exact_lanes.h). All lanes call
// each function. Stands after exact.h and exact_lanes.h.

#define LANE ((int)(local_id() & (LANES - 1)))

// Digits first..last, of which digit i weighs 2^(32 i - 1074), as in exact.h. Digits below 0 may be there.
typedef struct {
  LOCAL long* digits;
  int first, last;
  uint negative;  // the digits are those of the magnitude
} NUMBER;

// The number without zeros at its ends; of zero, one digit is left.
FN NUMBER trimmed(NUMBER x) {
#if LANES > 1
  int first = x.last + 1;
  int last = x.first;
  for (int from = x.first; from <= x.last; from += LANES) {
    const int i = from + LANE;
    const uint used = subgroup_ballot(i <= x.last && x.digits[i <= x.last ? i : x.last] != 0);
    if (used == 0) continue;
    if (first > x.last) first = from + (int)lowest_bit(used);
    last = from + 31 - (int)clz32(used);
  }
  x.first = first > x.last ? last : first;
  x.last = last;
#else
  while (x.last > x.first && x.digits[x.last] == 0) --x.last;
  while (x.first < x.last && x.digits[x.first] == 0) ++x.first;
#endif
  return x;
}

FN void clear_number(NUMBER x) {
  for (int i = x.first + LANE; i <= x.last; i += LANES) x.digits[i] = 0;
  lanes_sync();
}

// Adds `low` to digit i and `high` to digit i + 1. No two lanes with an addition have the same i.
FN void add_to_digits(LOCAL long* digits, int i, uint adds, long low, long high) {
  if (adds) digits[i] += low;
  lanes_sync();
  if (adds) digits[i + 1] += high;
  lanes_sync();
}

// exact_normalize() by all lanes.
FN void normalize_number(NUMBER x) {
#if LANES > 1
  long carry = 0;
  for (int from = x.first; from <= x.last; from += LANES) {
    const int i = from + LANE;
    long digit = (i <= x.last ? x.digits[i] : 0) + (LANE == 0 ? carry : 0);
    carry = 0;
    do {
      const long over = i < x.last ? digit >> 32 : 0;
      const long below = subgroup_shuffle64(over, (uint)(LANE - 1) & (LANES - 1));
      carry += subgroup_shuffle64(over, LANES - 1);
      digit = (i < x.last ? digit & FULL_DIGIT : digit) + (LANE == 0 ? 0 : below);
    } while (subgroup_ballot(i < x.last && (digit < 0 || digit > FULL_DIGIT)) != 0);
    if (i <= x.last) x.digits[i] = digit;
  }
  lanes_sync();
#else
  exact_normalize(x.digits, x.first, x.last);
#endif
}

// The sum of words[0 ... count - 1], which may have any values under 2^62, and of which word i weighs 2^(base + 32 i - 1074).
// `storage` begins with digit base / 32, rounded down, and has room for four digits more than words.
FN NUMBER number_of_words(LOCAL long* storage, LOCAL long* words, int count, int base) {
  NUMBER in_use = {words, 0, count - 1, 0};
  in_use = trimmed(in_use);
  const int digit = base >> 5;
  const int shift = base & 31;
  NUMBER x = {storage - digit, digit + in_use.first, digit + in_use.last + 3, 0};
  clear_number(x);
  for (int from = in_use.first; from <= in_use.last; from += LANES) {
    const int i = from + LANE;
    const long word = i <= in_use.last ? words[i] : 0;
    const ulong low = ((ulong)word & 0xffffffffu) << shift;
    add_to_digits(x.digits, digit + i, i <= in_use.last, (long)(low & 0xffffffffu), (long)(low >> 32) + (word >> 32) * ((long)1 << shift));
  }
  normalize_number(x);
  x.negative = x.digits[x.last] < 0;
  lanes_sync();
  if (x.negative) {
    for (int i = x.first + LANE; i <= x.last; i += LANES) x.digits[i] = -x.digits[i];
    lanes_sync();
    normalize_number(x);
  }
  return trimmed(x);
}
