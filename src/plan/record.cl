// The record of statistics, from the words that statistics.cl leaves: every sum rounded once, in one small launch behind it. Without
// float64, so that devices that lack it run it as well. A sub-group works on a number, and others on other numbers; where there are no sub-groups,
// single work-items do.
//
// Stands after exact.h, exact_lanes.h, number.h, leading.h, layout.h and elements.h. Defined by the host, beside what elements.h takes:
// GROUP_SIZE, a multiple of TASK_SIZE; EXTREMES, SUM, PRODUCTS, NONZEROS (what was collected); SUM_DIGITS and PRODUCT_DIGITS of the words (layout.h),
// which weigh 2^(SUM_BASE - 1074) and 2^(PRODUCT_BASE - 1074) and more; NUMERATOR_LOW, the lowest digit of the variance's numerator, and NUMERATOR_ROOM.
#define TASK_SIZE 32
#define TASKS (GROUP_SIZE / TASK_SIZE)  // at the same time
#define OF_SQUARES 0
#define OF_SUM 1
#define OF_NUMERATOR 2  // of the variance
#define OF_OTHERS 3
#define ALL_WORDS (SUM_DIGITS + PRODUCT_DIGITS + RECORD_COUNTERS)
#define WORDS_EACH ((ALL_WORDS + GROUP_SIZE - 1) / GROUP_SIZE)

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

#if SUM
// Writes a SumRecord (samesum/sum.hpp), and returns the rounded sum.
FN ulong write_sum(GLOBAL ulong* record, NUMBER sum, ulong count, LOCAL const long* counters, int skip_nans, uint writes) {
  ulong integer = 0, overflow = 0, float64 = 0, float32 = 0;
  if (sum.digits[sum.last] != 0) {
    const LEADING x = leading_of(sum);
    float64 = leading_float64(x) | (ulong)sum.negative << 63;
    float32 = leading_float32(x) | sum.negative << 31;
#if !FLOATS
    const int one = 1074;  // where the bit of 1 is: in digit 33
    const ulong magnitude = exact_digit_in(sum.digits, sum.first, sum.last, one / 32) >> one % 32 |
                            exact_digit_in(sum.digits, sum.first, sum.last, one / 32 + 1) << (32 - one % 32) |
                            exact_digit_in(sum.digits, sum.first, sum.last, one / 32 + 2) << (64 - one % 32);
    overflow = x.top > one + (SIGNED ? 62 : 63) && !(sum.negative && x.top == one + 63 && magnitude == (ulong)1 << 63);
    if (!overflow) integer = sum.negative ? 0 - magnitude : magnitude;
#endif
  }
#if FLOATS
  const int special = exact_special(count, (ulong)counters[COUNTER_NANS], (ulong)counters[COUNTER_POSITIVE_INFINITIES],
                                    (ulong)counters[COUNTER_NEGATIVE_INFINITIES], (ulong)counters[COUNTER_OTHERS], skip_nans);
  if (special != EXACT_FINITE) {
    float64 = exact_special_float64(special);
    float32 = exact_special_float32(special);
  }
#endif
  if (writes) {
    record[0] = float64;
    record[1] = integer;
    record[2] = float32 | overflow << 32;
  }
  return float64;
}
#endif

#if SUM && PRODUCTS
// n² times the variance: n Σx² - (Σx)², exactly.
FN NUMBER numerator_of(NUMBER sum, NUMBER squares, ulong n, LOCAL long* storage) {
  const int above = 34;        // the square of digit i weighs as much as digit 2 i - 34 ...
  const long weight = 1 << 14; // ... by this: 2^(64 i - 2 * 1074)
  const int first = 2 * sum.first - above;
  const int last = 2 * sum.last - above + 2;
  NUMBER x;
  x.digits = storage - NUMERATOR_LOW;
  x.negative = 0;
  x.first = first < squares.first ? first : squares.first;
  x.last = (last > squares.last ? last : squares.last) + 1;
  clear_number(x);
  for (int from = x.first; from < x.last; from += LANES) {
    const int i = from + LANE;
    const ulong product = exact_digit_in(squares.digits, squares.first, squares.last, i) * n;
    long low = 0;
    long high = 0;
    const int k = i + above;  // products of digits a and k - a
    const int least = k - sum.last > sum.first ? k - sum.last : sum.first;
    const int most = k - sum.first < sum.last ? k - sum.first : sum.last;
#pragma unroll 4
    for (int a = least; a <= most; ++a) {
      const ulong square = (ulong)sum.digits[a] * (ulong)sum.digits[k - a];
      low += (long)(square & 0xffffffffu);
      high += (long)(square >> 32);
    }
    add_to_digits(x.digits, i, i < x.last, (long)(product & 0xffffffffu) - low * weight, (long)(product >> 32) - high * weight);
  }
  normalize_number(x);
  return trimmed(x);
}
#endif

// `words`: of one launch over `count` elements.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void statistics_record(GLOBAL const ulong* words, GLOBAL uchar* records, ulong record_offset, ulong count, int skip_nans) {
  LOCAL_VAR long digits[ALL_WORDS];
#if SUM
  LOCAL_VAR NUMBER sum;
  LOCAL_VAR long sum_digits[SUM_DIGITS + 4];
#endif
#if PRODUCTS
  LOCAL_VAR NUMBER squares;
  LOCAL_VAR long product_digits[PRODUCT_DIGITS + 4];
#endif
#if SUM && PRODUCTS
  LOCAL_VAR long numerator_digits[NUMERATOR_ROOM];
#endif
  const uint first_task = local_id() / TASK_SIZE, is_first = local_id() % TASK_SIZE == 0;
  const uint works = local_id() % TASK_SIZE < LANES;
  GLOBAL ulong* const record = (GLOBAL ulong*)(records + record_offset);
  LOCAL const long* const counters = digits + SUM_DIGITS + PRODUCT_DIGITS;
  ulong reciprocal = reciprocal_of(count != 0 ? (uint)count : 1);
  grid_dependency_wait();
  ulong loaded[WORDS_EACH];  // together, to wait for memory once
#pragma unroll
  for (uint k = 0; k < WORDS_EACH; ++k) {
    const uint i = local_id() + k * GROUP_SIZE;
    loaded[k] = i < ALL_WORDS ? words[RECORD_EXTREMES + i] : 0;
  }
#pragma unroll
  for (uint k = 0; k < WORDS_EACH; ++k) {
    const uint i = local_id() + k * GROUP_SIZE;
    if (i < ALL_WORDS) digits[i] = (long)loaded[k];
  }
  barrier_local();

  for (uint task = first_task; task < 2; task += TASKS) {
#if PRODUCTS
    if (task == OF_SQUARES && works) {
      const NUMBER found = number_of_words(product_digits, digits + SUM_DIGITS, PRODUCT_DIGITS, PRODUCT_BASE);
      if (is_first) squares = found;
    }
#endif
#if SUM
    if (task == OF_SUM && works) {
      const NUMBER found = number_of_words(sum_digits, digits, SUM_DIGITS, SUM_BASE);
      if (is_first) sum = found;
    }
#endif
  }
  barrier_local();

#if SUM || PRODUCTS
  const ulong nans = (ulong)counters[COUNTER_NANS];
#else
  const ulong nans = words[RECORD_NANS] >> 32;
#endif
  ulong infinities = 0;
#if FLOATS
  infinities = (ulong)(counters[COUNTER_POSITIVE_INFINITIES] + counters[COUNTER_NEGATIVE_INFINITIES]);
#endif
  const ulong used = count - (skip_nans ? nans : 0);
  const uint has_nan = nans != 0 && !skip_nans, is_finite = !has_nan && infinities == 0;
  if (used != count && used != 0) reciprocal = reciprocal_of((uint)used);
  for (uint task = first_task; task < 3; task += TASKS) {
    ulong quotient = NAN_BITS, root = NAN_BITS;  // of a number, divided or not
    NUMBER number;
    uint wanted = 0;
#if PRODUCTS
    if (task == OF_SQUARES) {
      number = squares;
      wanted = is_finite;
      if (!has_nan) quotient = root = (ulong)0x7ff << 52;
    }
#endif
#if SUM
    if (task == OF_SUM) {
      number = sum;
      const ulong rounded = works ? write_sum(record + WORD_SUM, sum, count, counters, skip_nans, is_first) : 0;
      wanted = is_finite && used != 0 && (rounded << 1) != 0;
      if (used != 0) quotient = rounded;
    }
#endif
#if SUM && PRODUCTS
    if (task == OF_NUMERATOR) {
      wanted = is_finite && used != 0;
      if (wanted && works) number = numerator_of(sum, squares, used, numerator_digits);
    }
#endif
    if (wanted && works) {
      quotient = root = 0;
      if (number.digits[number.last] != 0) {
        const uint is_twice = task == OF_NUMERATOR, is_once = task != OF_SQUARES;
        const LEADING x = with_top_bit(
            divided(leading_of(number), is_once ? (uint)used : 1, is_once ? reciprocal : ~(ulong)0, is_twice ? (uint)used : 1, is_twice ? reciprocal : ~(ulong)0));
        quotient = leading_float64(x) | (ulong)number.negative << 63;
        if (task != OF_SUM) root = leading_float64(leading_root(x));
      }
    }
    if (is_first) {
      record[task == OF_SQUARES ? WORD_SQUARED_NORM : task == OF_SUM ? WORD_MEAN : WORD_VARIANCE] = quotient;
      if (task != OF_SUM) record[task == OF_SQUARES ? WORD_NORM : WORD_DEVIATION] = root;
    }
  }
  if (first_task == OF_OTHERS % TASKS && is_first) {
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
