// The record of statistics, from the words that statistics.cl leaves: every sum rounded once, in one small launch behind it. By integers
// alone, so a device without float64 runs it as well. One work-item does the arithmetic of a number; those of different sub-groups work on
// different numbers.
//
// Stands after exact.h, quotient.h, exact_lanes.h, layout.h, elements.h and sum_record.h. Defined by the host, beside what elements.h takes: GROUP_SIZE,
// a multiple of TASK_SIZE; EXTREMES, SUM, PRODUCTS, NONZEROS (what was collected); SUM_DIGITS and PRODUCT_DIGITS of the words (layout.h), which
// weigh 2^(SUM_BASE - 1074) and 2^(PRODUCT_BASE - 1074) and more; SUM_LOW, PRODUCT_LOW and NUMERATOR_LOW, the lowest digit of each number below,
// and SUM_ROOM, PRODUCT_ROOM and NUMERATOR_ROOM, how many there may be.
#define TASK_SIZE 32
#define TASKS (GROUP_SIZE / TASK_SIZE)  // at the same time
#define ROOT_ROOM 6

// The root of a number of 128 bits, the highest of which or the one below it is set; `rest` is set if it is not a whole number. A root of 16 bits is found
// bit by bit, one of 32 and one of 64 by a division each. (Zimmermann, Karatsuba Square Root, INRIA research report 3805, 1999.)
FN ulong whole_root(ulong high, ulong low, uint* rest) {
  const uint top = (uint)(high >> 32);
  uint root16 = 0;
  for (int bit = 15; bit >= 0; --bit) {
    const uint next = root16 | 1u << bit;
    if (next * next <= top) root16 = next;
  }
  const ulong quotient16 = ((ulong)(top - root16 * root16) << 16 | (uint)high >> 16) / (2 * root16);
  ulong root32 = (ulong)root16 << 16 | (quotient16 > 0xffffu ? 0xffffu : quotient16);
  if (root32 * root32 > high) --root32;
  const ulong quotient32 = ((high - root32 * root32) << 31 | low >> 33) / root32;
  ulong root = root32 << 32 | (quotient32 > 0xffffffffu ? 0xffffffffu : quotient32);
  const ulong square = mul_hi64(root, root);
  if (square > high || (square == high && root * root > low)) --root;
  *rest |= mul_hi64(root, root) != high || root * root != low;
  return root;
}

// The float64 nearest to the square root of a number and a rest. From the 127 or 128 bits from the highest one on comes a root of 64 bits.
FN ulong rounded_root(MAGNITUDE x, uint rest, LOCAL long* storage) {
  const int top = exact_top_bit(x.digits, x.first, x.last);
  int any = 0;
  for (int i = x.first; i <= x.last; ++i) any |= x.digits[i] != 0;
  if (!any) return 0;  // a rest lies below a number that is not zero
  const int unit = (top - 126) & ~1;  // of the bits that are taken: even, as its root's must be whole
  const int digit = unit >> 5;
  const int shift = unit & 31;
  ulong words[3];
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    words[k] = exact_digit_in(x.digits, x.first, x.last, digit + 2 * k) |
               exact_digit_in(x.digits, x.first, x.last, digit + 2 * k + 1) << 32;
  }
  ulong low = words[0] >> shift;
  ulong high = words[1] >> shift;
  if (shift != 0) {
    low |= words[1] << (64 - shift);
    high |= words[2] << (64 - shift);
  }
  if (x.first <= digit) rest |= (exact_digit_in(x.digits, x.first, x.last, digit) & (((ulong)1 << shift) - 1)) != 0;
  for (int i = x.first; i < digit && i <= x.last; ++i) rest |= x.digits[i] != 0;
  const ulong root = whole_root(high, low, &rest);
  const int position = unit / 2 + 537;  // of 2^((unit - 1074) / 2), from 2^-1074 on
  MAGNITUDE y;
  y.first = (position - 32) >> 5;
  y.last = y.first + ROOT_ROOM - 1;
  y.digits = storage - y.first;
  clear_number(y);
  exact_add_scaled(y.digits, (long)(root & 0xffffffffUL), position);
  exact_add_scaled(y.digits, (long)(root >> 32), position + 32);
  return rounded(y, rest);
}

#define NAN_BITS ((ulong)0x7ff8 << 48)
#define NO_INDEX (~(ulong)0)

// Words of a StatisticsRecord (samesum/plan.hpp).
#define WORD_COUNT 0
#define WORD_NONZEROS 1
#define WORD_SUM 2
#define WORD_MEAN 5
#define WORD_VARIANCE 6
#define WORD_DEVIATION 7
#define WORD_SQUARED_NORM 8
#define WORD_NORM 9
#define WORD_MIN 10
#define WORD_MIN_INDEX 11
#define WORD_MAX 12
#define WORD_MAX_INDEX 13
#define WORD_FIRST_NAN 14
#define WORD_NANS 15

#if EXTREMES
FN void write_extremum(GLOBAL ulong* to, KEY key, uint index, ulong count) {
  // Where all integers have the worst of keys, none of them was better than nothing.
  if (!FLOATS && index == ~0u && count != 0) index = 0;
  to[0] = index == ~0u ? 0 : (ulong)element_with(key);
  to[1] = index == ~0u ? NO_INDEX : index;
}
#endif

#if SUM || PRODUCTS
#define USED_WORDS ((SUM_DIGITS + PRODUCT_DIGITS + 31) / 32)
// The number with `count` of the digits from digit `from` on. A bit of `used` is set for each digit that is not zero.
FN MAGNITUDE magnitude_of_used(LOCAL long* storage, int low, LOCAL const long* digits, LOCAL const uint* used, int from, int count, int base) {
  int first = count;
  int last = 0;
  for (int word = from / 32; word <= (from + count - 1) / 32; ++word) {
    uint bits = used[word];
    if (word == from / 32) bits &= ~0u << (from % 32);
    if (32 * word + 31 >= from + count) bits &= ~0u >> (32 * word + 32 - (from + count));
    if (bits == 0) continue;
    if (first == count) first = 32 * word + (int)lowest_bit(bits) - from;
    last = 32 * word + 31 - (int)clz32(bits) - from;
  }
  if (first == count) first = last = 0;
  return magnitude_of_range(storage, low, digits + from, first, last, base);
}
#endif

#if SUM
// The sum, whose rounded bits are given, divided by `used`.
FN ulong mean_of(MAGNITUDE sum, ulong sum_bits, ulong used, LOCAL long* storage) {
  LOCAL long* const from = storage + FRACTION_DIGITS;
  for (int i = 0; i <= sum.last - sum.first; ++i) from[i] = sum.digits[sum.first + i];
  MAGNITUDE mean = sum;
  mean.digits = from - sum.first;
  uint rest = 0;
  mean = highest_digits(with_fraction(mean), FRACTION_DIGITS + 1, &rest);
  rest |= divide(mean, (uint)used);
  return (sum_bits & (ulong)1 << 63) | rounded(mean, rest);
}
#endif

#if SUM && PRODUCTS
// n² times the variance: n Σx² - (Σx)², exactly.
FN MAGNITUDE numerator_of(MAGNITUDE sum, MAGNITUDE squares, ulong used, LOCAL long* storage) {
  MAGNITUDE numerator;
  numerator.digits = numbered_from(storage, NUMERATOR_LOW);
  const int low = (64 * sum.first - 1074) >> 5;
  const int high = ((64 * sum.last + 32 - 1074) >> 5) + 3;
  numerator.first = low < squares.first ? low : squares.first;
  numerator.last = high > squares.last + 4 ? high : squares.last + 4;
  numerator.negative = 0;
  clear_number(numerator);
  for (int i = squares.first; i <= squares.last; ++i) {
    exact_add_scaled(numerator.digits, (long)((ulong)squares.digits[i] * used), 32 * i);
  }
  for (int k = 2 * sum.first; k <= 2 * sum.last; ++k) {
    long lower = 0;
    long upper = 0;
    for (int i = sum.first; i <= sum.last; ++i) {
      if (k - i < sum.first || k - i > sum.last) continue;
      const ulong product = (ulong)sum.digits[i] * (ulong)sum.digits[k - i];
      lower += (long)(product & 0xffffffffUL);
      upper += (long)(product >> 32);
    }
    exact_add_scaled(numerator.digits, -lower, 32 * k - 1074);
    exact_add_scaled(numerator.digits, -upper, 32 * k + 32 - 1074);
  }
  exact_normalize(numerator.digits, numerator.first, numerator.last);
  return trimmed(numerator);
}
#endif

// `words`: of one launch over `count` elements.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void statistics_record(GLOBAL const ulong* words, GLOBAL uchar* records, ulong record_offset, ulong count, int skip_nans) {
  LOCAL_VAR long digits[SUM_DIGITS + PRODUCT_DIGITS + RECORD_COUNTERS];
  LOCAL_VAR ulong sum_bits;
#if SUM
  LOCAL_VAR MAGNITUDE sum;
  LOCAL_VAR long sum_digits[SUM_ROOM];
  LOCAL_VAR long mean_digits[SUM_ROOM + FRACTION_DIGITS];
  LOCAL_VAR long numerator_digits[NUMERATOR_ROOM];  // and for what a rounding needs
#endif
#if PRODUCTS
  LOCAL_VAR MAGNITUDE squares;
  LOCAL_VAR long product_digits[PRODUCT_ROOM];
  LOCAL_VAR long root_digits[2 * ROOT_ROOM];
#endif
#if SUM || PRODUCTS
  LOCAL_VAR uint used_digits[USED_WORDS];
  if (local_id() < USED_WORDS) used_digits[local_id()] = 0;
#endif
  if (local_id() == 0) sum_bits = NAN_BITS;
  barrier_local();
  grid_dependency_wait();
  for (uint i = local_id(); i < SUM_DIGITS + PRODUCT_DIGITS + RECORD_COUNTERS; i += GROUP_SIZE) {
    const long digit = (long)words[RECORD_EXTREMES + i];
    digits[i] = digit;
#if SUM || PRODUCTS
    if (i < SUM_DIGITS + PRODUCT_DIGITS && digit != 0) atomic_add_local32(&used_digits[i / 32], 1u << (i % 32));
#endif
  }
  barrier_local();

  GLOBAL ulong* const record = (GLOBAL ulong*)(records + record_offset);
  LOCAL const long* const counters = digits + SUM_DIGITS + PRODUCT_DIGITS;
  const uint is_first = local_id() % TASK_SIZE == 0;
  for (uint task = local_id() / TASK_SIZE; task < 3; task += TASKS) {
#if SUM
    if (task == 0 && local_id() < LANES) {
      const ulong bits = write_sum_record(record + WORD_SUM, count, skip_nans, FLOATS ? 0 : SIGNED ? 2 : 1, digits, SUM_DIGITS, SUM_BASE, counters,
                                          numerator_digits);
      if (local_id() == 0) sum_bits = bits;
    }
    if (task == 1 && is_first) sum = magnitude_of_used(sum_digits, SUM_LOW, digits, used_digits, 0, SUM_DIGITS, SUM_BASE);
#endif
#if PRODUCTS
    if (task == 2 && is_first) {
      squares = magnitude_of_used(product_digits, PRODUCT_LOW, digits, used_digits, SUM_DIGITS, PRODUCT_DIGITS, PRODUCT_BASE);
    }
#endif
  }
  barrier_local();

  if (!is_first) return;
#if !SUM && !PRODUCTS
  const ulong nans = words[RECORD_NANS] >> 32;
#else
  const ulong nans = (ulong)counters[COUNTER_NANS];
#endif
  ulong infinities = 0;
#if FLOATS
  infinities = (ulong)(counters[COUNTER_POSITIVE_INFINITIES] + counters[COUNTER_NEGATIVE_INFINITIES]);
#endif
  const ulong used = count - (skip_nans ? nans : 0);
  const uint has_nan = nans != 0 && !skip_nans, is_finite = !has_nan && infinities == 0;
  for (uint task = local_id() / TASK_SIZE; task < 4; task += TASKS) {
    if (task == 0) {
      ulong squared_norm = NAN_BITS, norm = NAN_BITS;
#if PRODUCTS
      if (!has_nan) squared_norm = norm = (ulong)0x7ff << 52;
      if (is_finite) {
        squared_norm = rounded(squares, 0);
        norm = rounded_root(squares, 0, root_digits);
      }
#endif
      record[WORD_SQUARED_NORM] = squared_norm;
      record[WORD_NORM] = norm;
    } else if (task == 1) {
      ulong mean = sum_bits;
#if SUM
      uint zero = 1;
      for (int i = sum.first; i <= sum.last; ++i) zero &= sum.digits[i] == 0;
      if (is_finite && !zero) mean = mean_of(sum, sum_bits, used, mean_digits);
#endif
      record[WORD_MEAN] = used != 0 ? mean : NAN_BITS;
    } else if (task == 2) {
      ulong variance = NAN_BITS, deviation = NAN_BITS;
#if SUM && PRODUCTS
      if (is_finite && used != 0) {
        // Each division takes one digit at most; those that remain have the 128 bits that a root needs.
        uint rest = 0;
        const MAGNITUDE numerator = numerator_of(sum, squares, used, numerator_digits);
        const MAGNITUDE quotient = highest_digits(with_fraction(numerator), FRACTION_DIGITS + 2, &rest);
        rest |= divide(quotient, (uint)used);
        rest |= divide(quotient, (uint)used);
        deviation = rounded_root(quotient, rest, root_digits + ROOT_ROOM);
        variance = rounded(quotient, rest);
      }
#endif
      record[WORD_VARIANCE] = variance;
      record[WORD_DEVIATION] = deviation;
    } else {
      record[WORD_COUNT] = count;
      record[WORD_NONZEROS] = NONZEROS ? (ulong)counters[COUNTER_NONZEROS] - (skip_nans ? nans : 0) : 0;
      record[WORD_NANS] = nans;
#if !SUM
      record[WORD_SUM] = NAN_BITS;
      record[WORD_SUM + 1] = 0;
      record[WORD_SUM + 2] = 0x7fc00000;
#endif
#if EXTREMES
      write_extremum(record + WORD_MIN, (KEY)~(long)words[RECORD_MIN_KEY], (uint)words[RECORD_INDICES], count);
      write_extremum(record + WORD_MAX, (KEY)(long)words[RECORD_MAX_KEY], (uint)(words[RECORD_INDICES] >> 32), count);
      const uint first_nan = (uint)words[RECORD_NANS];
      record[WORD_FIRST_NAN] = first_nan == ~0u ? NO_INDEX : first_nan;
#else
      record[WORD_MIN] = 0;
      record[WORD_MIN_INDEX] = NO_INDEX;
      record[WORD_MAX] = 0;
      record[WORD_MAX_INDEX] = NO_INDEX;
      record[WORD_FIRST_NAN] = NO_INDEX;
#endif
    }
  }
}
