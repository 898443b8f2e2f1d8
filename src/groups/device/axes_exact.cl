// Computes the pending results of axes.cl in integers. If there are many, this is faster than copying their elements to the host. Follows axes.h,
// leading.h and what that follows, of which one work-item calls the functions (ONE_LANE).
//
// A group computes one result at a time. Each work-item adds its elements to private digits; these are then added up DIGITS_AT_ONCE digits at a time.

#define DIGITS_AT_ONCE 8
#define DIGIT_COUNT 72  // EXACT_DIGITS, and room for carries

FN void add_own(long* digits, ulong magnitude, uint negative, uint position) {
  const uint digit = position >> 5;
  const uint shift = position & 31;
  const ulong low = magnitude << shift;
  const long d0 = (long)(low & 0xffffffffUL);
  const long d1 = (long)(low >> 32);
  const long d2 = (long)((magnitude >> 32) >> (32 - shift));
  digits[digit] += negative ? -d0 : d0;
  digits[digit + 1] += negative ? -d1 : d1;
  digits[digit + 2] += negative ? -d2 : d2;
}

// Of the elements of one result.
#define NANS 0
#define POSITIVE_INFINITIES 1
#define NEGATIVE_INFINITIES 2
#define OTHERS 3  // than NaNs and -0.0
#define COUNTERS 4

FN void add_element(long* digits, LOCAL uint* counters, ELEMENT x) {
#if INTEGERS
  const ulong bits = (ulong)VALUE(x);
  const uint negative = SIGNED && (long)bits < 0;
  add_own(digits, negative ? 0 - bits : bits, negative, 0);
#else
  const ulong bits = as_ulong(VALUE(x));
  const uint negative = (uint)(bits >> 63);
  const uint exponent = (uint)(bits >> 52) & 0x7ff;
  const ulong fraction = bits & (((ulong)1 << 52) - 1);
  if (exponent == 0x7ff) {
    atomic_add_local32(&counters[fraction != 0 ? NANS : negative ? NEGATIVE_INFINITIES : POSITIVE_INFINITIES], 1);
    if (fraction == 0) counters[OTHERS] = 1;
    return;
  }
  if (bits != (ulong)1 << 63) counters[OTHERS] = 1;
  if (exponent != 0 || fraction != 0) {
    add_own(digits, exponent != 0 ? fraction | (ulong)1 << 52 : fraction, negative, exponent != 0 ? exponent - 1 : 0);
  }
#endif
}

// The bits of the result; `none` becomes 1 if the result does not exist or does not fit.
FN ulong exact_result(LOCAL long* digits, LOCAL long* storage, LOCAL const uint* counters, ulong each, int mean, uint* none) {
  const ulong used = each - (SKIP ? counters[NANS] : 0);
  if (mean && used == 0) {
    *none = 1;
    return (ulong)0x7ff8 << 48;
  }
#if INTEGERS
  const int count = 6;
  const int base = 1074;
  if (!mean) {
    exact_normalize(digits, 0, 5);
    const ulong low = (ulong)digits[0] | (ulong)digits[1] << 32;
    const long sign = SIGNED && (low >> 63) != 0 ? -1 : 0;
    *none = digits[2] != (sign & 0xffffffffL) || digits[3] != (sign & 0xffffffffL) || digits[4] != (sign & 0xffffffffL) || digits[5] != sign;
    return *none ? 0 : low;
  }
#else
  const int count = EXACT_DIGITS;
  const int base = 0;
  const int special = exact_special(each, counters[NANS], counters[POSITIVE_INFINITIES], counters[NEGATIVE_INFINITIES], counters[OTHERS], SKIP);
  if (special != EXACT_FINITE) return exact_special_float64(special);
#endif
  const NUMBER sum = number_of_words(storage, digits, count, base);
  if (sum.digits[sum.last] == 0) return 0;
  LEADING x = leading_of(sum);
  if (mean) x = with_top_bit(divided(x, (uint)used, reciprocal_of((uint)used), 1, ~(ulong)0));
  return (ulong)sum.negative << 63 | leading_float64(x);
}

// Groups of a launch that have ended, and those of them with a result that there is none of: both in one word, which they add to.
#define ENDED 1u
#define WITHOUT (1u << 16)

// `words` as in axes.cl; but if `kept_axes` is 0, results are of segments (segments.cl), and `offsets` is where they begin. state[0] is 0 before a launch and after it; state[1] is the number of groups that found no result, after it. The launch
// sets the number of pending results to 0.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void axes_exact(GLOBAL const uchar* data, ulong offset, GLOBAL ulong* words, uint kept_axes, uint reduced_axes, ulong results, ulong each_result,
                GLOBAL const ulong* offsets, long kept_stride, int mean, GLOBAL ulong* to, ulong to_offset, GLOBAL const ulong* pending, ulong capacity, GLOBAL uint* state) {
  LOCAL_VAR long shared[GROUP_SIZE * DIGITS_AT_ONCE];
  LOCAL_VAR long digits[DIGIT_COUNT];
  LOCAL_VAR long storage[DIGIT_COUNT + 4];
  LOCAL_VAR uint used[DIGIT_COUNT / DIGITS_AT_ONCE];
  LOCAL_VAR uint counters[COUNTERS];
  const uint id = local_id();
  GLOBAL const ulong* const kept = words + 1;
  GLOBAL const ulong* const reduced = kept + 2 * kept_axes;
  const uint noted = ((GLOBAL const uint*)words)[0];
  const ulong wanted = noted <= capacity ? noted : results;
  uint without = 0;  // of the first work-item
  for (ulong number = group_id(); number < wanted; number += group_count()) {
    const ulong result = noted <= capacity ? pending[number] : number;
    for (uint i = id; i < DIGIT_COUNT; i += GROUP_SIZE) digits[i] = 0;
    for (uint i = id; i < DIGIT_COUNT / DIGITS_AT_ONCE; i += GROUP_SIZE) used[i] = 0;
    for (uint i = id; i < COUNTERS; i += GROUP_SIZE) counters[i] = 0;
    barrier_local();
    long own[DIGIT_COUNT];
    for (uint i = 0; i < DIGIT_COUNT; ++i) own[i] = 0;
    GLOBAL const uchar* from = data + offset;
    ulong each = each_result;
    if (kept_axes != 0) {
      from += offset_of(kept, kept_axes, kept_stride, result, results >> 32 == 0);
    } else {
      from += offsets[result] * sizeof(ELEMENT);
      each = offsets[result + 1] - offsets[result];
    }
    for (ulong i = id; i < each; i += GROUP_SIZE) {
      GLOBAL const uchar* at = kept_axes != 0 ? from : from + i * sizeof(ELEMENT);
      ulong index = i;
      for (uint axis = 0; axis < reduced_axes; ++axis) {
        const ulong extent = reduced[2 * axis];
        const ulong before = axis + 1 < reduced_axes ? index / extent : 0;
        at += (long)(index - before * extent) * (long)reduced[2 * axis + 1];
        index = before;
      }
      add_element(own, counters, *(GLOBAL const ELEMENT*)at);
    }
    for (uint i = 0; i < DIGIT_COUNT; ++i) {
      if (own[i] != 0) used[i / DIGITS_AT_ONCE] = 1;
    }
    barrier_local();
    uint first = 0;
    uint end = DIGIT_COUNT / DIGITS_AT_ONCE;
    while (first < end && used[first] == 0) ++first;
    while (end > first && used[end - 1] == 0) --end;
#pragma unroll 1  // NVIDIA's compiler would write this nine times, and take five times as long
    for (uint part = first; part < end; ++part) {
      for (uint k = 0; k < DIGITS_AT_ONCE; ++k) shared[k * GROUP_SIZE + id] = own[part * DIGITS_AT_ONCE + k];
      barrier_local();
      for (uint k = id; k < DIGITS_AT_ONCE; k += GROUP_SIZE) {
        long sum = 0;
        for (uint i = 0; i < GROUP_SIZE; ++i) sum += shared[k * GROUP_SIZE + i];
        digits[part * DIGITS_AT_ONCE + k] = sum;
      }
      barrier_local();
    }
    if (id == 0) {
      uint none = 0;
      to[to_offset + result] = exact_result(digits, storage, counters, each, mean, &none);
      without |= none;
    }
    barrier_local();
  }
  if (id != 0) return;
  const uint change = ENDED + (without ? WITHOUT : 0);
  const uint all = atomic_add_global32(state, change) + change;
  if ((all & (WITHOUT - 1)) != group_count()) return;
  // All groups have ended: no work-item reads these any more.
  state[1] = all / WITHOUT;
  state[0] = 0;
  ((GLOBAL uint*)words)[0] = 0;
}
