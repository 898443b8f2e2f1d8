// The end of an exact sum: entries, which hold what there is to know of it, and what is left of them in device memory. Stands after the
// element type's file.

// Entries: what a group hands on. First digits, of which digit i weighs 2^(ROW_BASE + 32 i - 1074); two more than the rows need, for the
// carries and the sign. Then the counters.
#define ROWS_TO_A_DIGIT (32 / ROW_BITS)
#define DIGITS ((ROWS + ROWS_TO_A_DIGIT - 1) / ROWS_TO_A_DIGIT + 2)
#define ENTRIES (DIGITS + COUNTERS)

// Entries lie apart where groups add to them, as the device adds to one line of memory one after the other.
#define SPACING 16

#if INTEGERS && INTEGER_SIGNED
// Takes off what each element was counted too high: 2^(INTEGER_BITS - 1). By the first sub-group.
FN void take_off_offsets(LOCAL long* entries, ulong count) {
  lanes_sync();
  if (local_id() == 0) {
    exact_add_scaled(entries, -(long)(count & 0xffffffffu), INTEGER_BITS - 1);
    exact_add_scaled(entries, -(long)(count >> 32), INTEGER_BITS - 1 + 32);
  }
}
#else
#define take_off_offsets(entries, count)
#endif

// The first sub-group rounds what `entries` add up to: they go to `result`, and a SumRecord (samesum/sum.hpp) to `record`.
FN ulong finish(GLOBAL long* result, GLOBAL ulong* record, ulong count, int skip_nans, LOCAL long* entries, LOCAL long* scratch) {
  lanes_sync();
  for (uint i = local_id(); i < ENTRIES; i += LANES) result[i] = entries[i];
  LOCAL const long* counters = entries + DIGITS;
  int special = exact_special(count, (ulong)counters[NANS], (ulong)counters[POSITIVE_INFINITIES], (ulong)counters[NEGATIVE_INFINITIES],
                              (ulong)counters[OTHERS], skip_nans);
  ROUNDED rounded = round_digits(entries, DIGITS, ROW_BASE, scratch);
  if (local_id() == 0) {
    record[0] = special == EXACT_FINITE ? rounded.float64 : exact_special_float64(special);
#if INTEGERS
    const ulong overflow = rounded.bits > 64 - INTEGER_SIGNED && !(INTEGER_SIGNED & rounded.is_lowest);
    record[1] = overflow ? 0 : rounded.integer;
#else
    const ulong overflow = 0;
    record[1] = 0;
#endif
    record[2] = (special == EXACT_FINITE ? rounded.float32 : exact_special_float32(special)) | overflow << 32;
  }
  return special == EXACT_FINITE ? rounded.float64 : exact_special_float64(special);
}
