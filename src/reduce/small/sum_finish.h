// The end of an exact sum of a small array: its entries, and how they are rounded and stored in device memory. Follows the element type's
// file.

// Entries are the exact state of a sum. First digits, of which digit i weighs 2^(ROW_BASE + 32 i - 1074): two more than the rows need, for the
// carries and the sign. Then the counters.
#define ROWS_TO_A_DIGIT (32 / ROW_BITS)
#define DIGITS ((ROWS + ROWS_TO_A_DIGIT - 1) / ROWS_TO_A_DIGIT + 2)
#define ENTRIES (DIGITS + SUM_COUNTERS)

// The first sub-group stores the entries in `result`, rounds their sum, and writes a SumRecord (samesum/sum.hpp) to `record`.
FN ulong finish(GLOBAL long* result, GLOBAL ulong* record, ulong count, int skip_nans, LOCAL long* entries, LOCAL long* scratch) {
  lanes_sync();
  for (uint i = local_id(); i < ENTRIES; i += LANES) result[i] = entries[i];
  return write_sum_record(record, count, skip_nans, 0, entries, DIGITS, ROW_BASE, entries + DIGITS, scratch);
}
