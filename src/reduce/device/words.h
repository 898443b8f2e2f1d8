// A group's exact sums as words: digits and counters, which groups add up in counted words (meet.h). Follows bins.h; for rounding, also
// exact_lanes.h and sum_record.h.

// In this order: digits of the sum, digits of the products, counters. In a record they follow the extremes.
#define SUM_DIGITS (SUM ? DIGITS_OF(SUM_ROWS, SUM_ROW_BITS) : 0)
#define PRODUCT_DIGITS (PRODUCTS ? DIGITS_OF(PRODUCT_ROWS, PRODUCT_ROW_BITS) : 0)
#define FIRST_COUNTER (SUM_DIGITS + PRODUCT_DIGITS)
#define WORDS (FIRST_COUNTER + RECORD_COUNTERS)
// A work-item for each word. If there are EXTREMES the last work-items, because the first sub-group combines extremes at that time.
#define ITEM_OF_WORD (EXTREMES ? GROUP_SIZE - 1 - local_id() : local_id())
#define FOR_EACH_WORD(i) FOR_EACH_FROM(i, ITEM_OF_WORD, WORDS)
#define WORDS_EACH ((WORDS + GROUP_SIZE - 1) / GROUP_SIZE)

// Word i of the group, from its rows.
FN long word_of_rows(LOCAL const long* rows, uint i) {
#if SUM
  if (i < SUM_DIGITS) return digit_of_rows(rows, SUM_ROWS, SUM_ROW_BITS, (int)i);
#endif
#if PRODUCTS
  if (i < FIRST_COUNTER) return digit_of_rows(rows + FIRST_PRODUCT_ROW, PRODUCT_ROWS, PRODUCT_ROW_BITS, (int)i - SUM_DIGITS);
#endif
  return rows[ALL_ROWS + i - FIRST_COUNTER];
}

#if SAMESUM_INT64_ATOMICS
FN void publish_words(GLOBAL ulong* merged, LOCAL const long* words) {
  FOR_EACH_WORD(i) publish_counted(&merged[i * SPACING], (ulong)words[i], RECORD_COUNT_BITS);
}

// Adds the words of `groups` groups to `words`, and clears them.
FN void gather_words(GLOBAL ulong* merged, uint groups, LOCAL long* words) {
  ulong totals[WORDS_EACH];  // loaded together, to wait for memory once
#pragma unroll
  for (uint k = 0; k < WORDS_EACH; ++k) {
    const uint i = ITEM_OF_WORD + k * GROUP_SIZE;
    totals[k] = i < WORDS ? atomic_load_global64(&merged[i * SPACING]) : 0;
  }
#pragma unroll
  for (uint k = 0; k < WORDS_EACH; ++k) {
    const uint i = ITEM_OF_WORD + k * GROUP_SIZE;
    if (i >= WORDS) continue;
    while (!is_of_groups(totals[k], groups, RECORD_COUNT_BITS)) totals[k] = atomic_load_global64(&merged[i * SPACING]);
    store_settled_global64(&merged[i * SPACING], 0);
    words[i] += (long)totals[k] >> RECORD_COUNT_BITS;
  }
}
#endif

// A sum alone, or products, rounded to a SumRecord (samesum/sum.hpp), by the first sub-group. Digit i of the words weighs 2^(ROUND_BASE + 32 i -
// 1074). `scratch` has SCRATCH_DIGITS elements.
#define ROUND_BASE (FLOATS ? 1074 - (PRODUCTS ? 2 : 1) * ROW_BIT : 1074)
#define SCRATCH_DIGITS (FIRST_COUNTER > EXACT_DIGITS ? FIRST_COUNTER + 3 : EXACT_DIGITS)  // exact_lanes.h
#if ROUND
FN ulong round_words(GLOBAL uchar* record, ulong record_offset, ulong count, int skip_nans, LOCAL const long* words, LOCAL uint4* scratch) {
  return write_sum_record((GLOBAL ulong*)(record + record_offset), count, skip_nans, FLOATS ? 0 : SIGNED ? 2 : 1, words, FIRST_COUNTER, ROUND_BASE,
                          words + FIRST_COUNTER, (LOCAL long*)scratch);
}
#endif
