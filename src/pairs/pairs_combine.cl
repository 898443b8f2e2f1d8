// Reduces the parts of the y in a fixed order: COLUMNS of the x per group, whose work-items take the parts cyclically. Included after
// pairs_blocks.cl, with the same defines.

#define COLUMNS (GROUP >= 64 && GROUP % 32 == 0 ? 32 : GROUP)
#define ROWS (GROUP / COLUMNS)

KERNEL FIXED_GROUP(GROUP, 1) void pairs_combine(GLOBAL const uchar* a_bytes, ulong a_offset, GLOBAL const uchar* b_bytes, ulong b_offset,
                                                GLOBAL const REAL* extras, ulong x_count, ulong y_count, uint parts F_TAKES,
                                                GLOBAL const REAL* sums, GLOBAL const ulong* places, GLOBAL uchar* c_bytes,
                                                ulong c_offset) {
  GLOBAL const STORED* const a = REALS_AT(a_bytes, a_offset);
  GLOBAL const STORED* const b = REALS_AT(b_bytes, b_offset);
  GLOBAL REAL* const c = (GLOBAL REAL*)(c_bytes + c_offset);
  const uint column = local_id() % COLUMNS;
  const uint row = local_id() / COLUMNS;
  const ulong x = (ulong)group_id() * COLUMNS + column;
  const ulong from = x < x_count ? x : x_count - 1;
#if REDUCTION == R_SUM
  LOCAL_VAR REAL row_sums[GROUP];
#if COMPENSATED
  LOCAL_VAR REAL row_rests[GROUP];
#endif
  REAL sum = 0;
  REAL rest = 0;
  for (uint part = row; part < parts; part += ROWS) {
#if COMPENSATED
    two_sum(&sum, &rest, sums[part * x_count + from]);
    rest += sums[(parts + part) * x_count + from];
#else
    sum += sums[part * x_count + from];
#endif
  }
  row_sums[local_id()] = sum;
#if COMPENSATED
  row_rests[local_id()] = rest;
#endif
  barrier_local();
  if (row == 0) {
    for (uint r = 1; r < ROWS; ++r) {
#if COMPENSATED
      two_sum(&sum, &rest, row_sums[r * COLUMNS + column]);
      rest += row_rests[r * COLUMNS + column];
#else
      sum += row_sums[r * COLUMNS + column];
#endif
    }
#if COMPENSATED
    // Where the sum is not finite, the compensation is not a number.
    sum = sum - sum == 0 ? sum + rest : sum;
#endif
    if (x < x_count) c[x] = sum == sum ? sum : VALUE_OF_BITS(NAN_BITS);
  }
#else
  LOCAL_VAR KEY row_keys[GROUP];
#if PLACED
  LOCAL_VAR ulong row_places[GROUP];
#endif
  KEY best = KEY_SIGN;
  ulong place = 0;
  for (uint part = row; part < parts; part += ROWS) {
    const KEY key = ((GLOBAL const KEY*)sums)[part * x_count + from];
#if PLACED
    place = key < best ? places[part * x_count + from] : place;
#endif
    best = key < best ? key : best;
  }
  row_keys[local_id()] = best;
#if PLACED
  row_places[local_id()] = place;
#endif
  barrier_local();
  if (row == 0) {
    for (uint r = 1; r < ROWS; ++r) {
      const KEY key = row_keys[r * COLUMNS + column];
#if PLACED
      const ulong other = row_places[r * COLUMNS + column];
      place = key < best || (key == best && other < place) ? other : place;
#endif
      best = key < best ? key : best;
    }
#if PLACED
    // Finds the first y of the chunk with that value. The loop has no early exit, so that its loads are independent.
    REAL ours[D], theirs[USED];
    UNROLL_COMPONENTS
    for (uint d = 0; d < D; ++d) ours[d] = LOADED(a[from * D + d]);
    ulong first = place;
    for (uint k = CHUNK; k-- > 0;) {
      const ulong y = place + k < y_count ? place + k : y_count - 1;
      UNROLL_COMPONENTS
      for (uint d = 0; d < D; ++d) theirs[d] = LOADED(b[y * D + d]);
#if EXTRAS > 0
      for (uint e = 0; e < EXTRAS; ++e) theirs[D + e] = extras[y * EXTRAS + e];
#endif
      first = ORDER_OF(pair_value(ours, theirs F_GIVES)) == best ? y : first;
    }
    if (x < x_count) ((GLOBAL ulong*)c)[x] = first;
#else
    if (x < x_count) c[x] = value_of_key(best);
#endif
  }
#endif
}
