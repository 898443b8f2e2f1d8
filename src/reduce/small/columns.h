// Columns of counters and limbs in local memory, for sums of small arrays (small_sum.cl, sum_integers.cl). The file of the element type defines
// ELEMENT, an unsigned integer of the type's size; ELEMENTS_PER_LOAD; ROWS, of which row r weighs 2^(ROW_BASE + ROW_BITS r -
// 1074).

#define COLUMNS (1 << COLUMN_BITS)

// Counters (layout.h) are rows before the first limb, in descending order.
FN void count_one(LOCAL uint* column, uint counter) { atomic_add_local32(column - (counter + 1) * COLUMNS, 1); }

#if FLOATS
// Counts an infinity or a NaN; returns 0 for a NaN.
FN uint count_kind(LOCAL uint* column, uint negative, uint is_nan) {
  count_one(column, is_nan ? COUNTER_NANS : negative ? COUNTER_NEGATIVE_INFINITIES : COUNTER_POSITIVE_INFINITIES);
  return is_nan ? 0 : 1;
}

// Adds a 53-bit mantissa times 2^`position`, in units of limb 0, to a column of limbs.
FN void add_to_limbs(LOCAL uint* column, ulong mantissa, uint position, uint negative) {
  const uint shift = position & 15, sign = negative ? 0xffffffffu : 1;
  LOCAL uint* limb = column + (position >> 4) * COLUMNS;
#pragma unroll
  for (int i = 0; i < 4; ++i) atomic_add_local32(limb + i * COLUMNS, sign * ((uint)((mantissa << shift) >> (16 * i)) & 0xffffu));
  atomic_add_local32(limb + 4 * COLUMNS, sign * (uint)((mantissa >> 1) >> (63 - shift)));
}
#endif
