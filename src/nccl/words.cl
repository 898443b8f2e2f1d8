// Exact sums that stay in device memory as words, to be added up over devices as integers: DIGITS digits, of which digit i weighs
// 2^(BASE + 32 i - 1074); the four counters of a sum (layout.h); and the number of terms. A pass over elements (statistics.cl, or small_sum.cl)
// has left digits and counters, which the words take over.
//
// Stands after exact.h, exact_lanes.h and layout.h. Defined by the host: GROUP_SIZE, which is WORDS at least; BASE, DIGITS.
#define WORDS (DIGITS + SUM_COUNTERS + 1)
#define FULL ((ulong)0xffffffffu)

// What a digit of weight 2^0 has of value * 2^at: 32 bits, or in the highest of its digits what is left, with the sign.
FN ulong bits_of(long value, int at) {
  const ulong low = (ulong)value & FULL;
  const long high = value >> 32;
  ulong bits = 0;
  if (at > -32 && at < 32) bits = at >= 0 ? low << at & FULL : low >> -at;
  if (at >= -32 && at < 0) bits += (ulong)high << (at + 32) & FULL;
  if (at >= -64 && at < -32) bits += (ulong)(high >> (-32 - at));
  return bits;
}

KERNEL void words_clear(GLOBAL ulong* words) {
  grid_dependency_wait();
  if (local_id() < WORDS) words[local_id()] = 0;
}

// By one group: adds what a pass over `count` terms has left from word `first` of `left` on, or with `assign` sets the words to it. It is `digits`
// digits, of which the lowest weighs 2^(base - 1074), or a fixed-point number of `fixed_words` words (SmallSumEntries), and counters. What a digit of
// the words has above 32 bits goes to the next one, so that they never overflow.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void words_add(GLOBAL const long* left, uint first, uint digits, int base, uint fixed_words, int lower_bits, int first_bits, ulong count,
               GLOBAL ulong* words, uint assign) {
  grid_dependency_wait();
  left += first;
  const uint i = local_id();
  const long field = fixed_words != 0 ? left[digits + SUM_COUNTERS] : 0;
  ulong word = 0;
  if (i < DIGITS) {
    const ulong own = assign ? 0 : words[i], below = assign || i == 0 ? 0 : words[i - 1];
    word = (i + 1 < DIGITS ? own & FULL : own) + (ulong)((long)below >> 32);
    const int distance = base - BASE - 32 * (int)i;  // from this digit to the lowest one that was left
    if (field != 0) {
      for (uint k = 0; k < fixed_words; ++k) {
        const int under = lower_bits * (int)(fixed_words - 1 - k) + (k == 0 ? first_bits - lower_bits : 0);
        word += bits_of(left[k], (int)field - 1 - under - base + distance);
      }
    } else {
      const int lowest = (-64 - distance + 31) >> 5;  // three digits, or two, have bits here
      for (int k = lowest; k <= lowest + 2; ++k) {
        if (k >= 0 && k < (int)digits) word += bits_of(left[k], distance + 32 * k);
      }
    }
  } else if (i < WORDS) {
    const uint counter = i - DIGITS;
    word = assign ? 0 : words[i];
    if (counter == SUM_COUNTERS) {
      word += count;
    } else if (field == 0) {
      word += (ulong)left[digits + counter];
    } else if (counter == COUNTER_OTHERS) {
      word += (ulong)left[fixed_words];
    }
  }
  barrier_all();
  if (i < WORDS) words[i] = word;
}

// By one group: the sum, rounded once, to byte `offset` of `to`.
KERNEL FIXED_GROUP(GROUP_SIZE, 1) void words_round(GLOBAL const ulong* words, GLOBAL ulong* to, ulong offset) {
  LOCAL_VAR long all[WORDS];
  LOCAL_VAR long scratch[DIGITS + 3 > EXACT_DIGITS ? DIGITS + 3 : EXACT_DIGITS];
  grid_dependency_wait();
  const uint i = local_id();
  if (i < WORDS) all[i] = (long)words[i];
  barrier_local();
  if (i >= LANES) return;
  LOCAL const long* const counters = all + DIGITS;
  const int special = exact_special((ulong)counters[SUM_COUNTERS], (ulong)counters[COUNTER_NANS], (ulong)counters[COUNTER_POSITIVE_INFINITIES],
                                    (ulong)counters[COUNTER_NEGATIVE_INFINITIES], (ulong)counters[COUNTER_OTHERS], 0);
  const ROUNDED_SUM rounded = round_digits(all, DIGITS, BASE, scratch);
  if (i == 0) to[offset / 8] = special == EXACT_FINITE ? rounded.float64 : exact_special_float64(special);
}
