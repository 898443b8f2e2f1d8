// Writes a SumRecord (samesum/sum.hpp), by the first sub-group: the sum of digits, of which digit i weighs 2^(base + 32 i - 1074), rounded once.
// `integers` is 0 for floats, 1 for unsigned and 2 for signed integers. Returns the rounded sum of floats.
FN ulong write_sum_record(GLOBAL ulong* record, ulong count, int skip_nans, int integers, LOCAL const long* digits, int digit_count, int base,
                          LOCAL const long* counters, LOCAL long* scratch) {
  lanes_sync();
  const int special = integers ? EXACT_FINITE
                               : exact_special(count, (ulong)counters[COUNTER_NANS], (ulong)counters[COUNTER_POSITIVE_INFINITIES],
                                               (ulong)counters[COUNTER_NEGATIVE_INFINITIES], (ulong)counters[COUNTER_OTHERS], skip_nans);
  const ROUNDED_SUM rounded = round_digits(digits, digit_count, base, scratch);
  const ulong float64 = special == EXACT_FINITE ? rounded.float64 : exact_special_float64(special);
  const ulong overflow = integers && rounded.bits > (integers == 2 ? 63u : 64u) && !(integers == 2 && rounded.is_lowest);
  if (local_id() == 0) {
    record[0] = float64;
    record[1] = integers && !overflow ? rounded.integer : 0;
    record[2] = (special == EXACT_FINITE ? rounded.float32 : exact_special_float32(special)) | overflow << 32;
  }
  return float64;
}
