// The exact sum's elements: float64. Sixteen exponents share a row: a mantissa of 53 bits moves by up to 15 and covers five rows.
#define ELEMENT ulong
#define ELEMENTS_PER_LOAD 2
#define MOST_PIECES 65536  // under 2^16 each
#define ROW_BITS 16
#define ROW_BASE 0
#define ROWS 133
#define BIN_ROWS (2 * ROWS)
#define ABSENT 0, 0x80000000u, 0, 0x80000000u

FN uint is_special(uint high) { return (high & 0x7ff00000u) == 0x7ff00000u; }

FN uint add_element(LOCAL uint* column, uint low, uint high, uint other) {
  uint special = is_special(high);
  low = special ? 0 : low;
  high = special ? 0x80000000u : high;
  uint unit = min_u32(high & 0x7ff00000u, 0x00100000u);
  uint rest = high - unit;
  uint mantissa = (high & 0x000fffffu) | unit;
  uint shift = (rest >> 20) & 15;
  uint w0 = low << shift;
  uint w1 = funnel_left(low, mantissa, shift);
  uint w2 = funnel_left(mantissa, 0, shift);
  uint bytes = (rest >> (22 - COLUMN_BITS)) & (0x7fu << (COLUMN_BITS + 2));
  LOCAL uint* bin = bin_at(column, bytes + (rest >> 31) * (4 * ROWS * COLUMNS));
  atomic_add_local32(bin, w0 & 0xffffu);
  atomic_add_local32(bin + COLUMNS, w0 >> 16);
  atomic_add_local32(bin + 2 * COLUMNS, w1 & 0xffffu);
  atomic_add_local32(bin + 3 * COLUMNS, w1 >> 16);
  atomic_add_local32(bin + 4 * COLUMNS, w2);
  return other | (high ^ 0x80000000u) | low;
}

FN uint count_special(LOCAL uint* column, uint low, uint high) {
  return is_special(high) ? count_kind(column, high >> 31, (high & 0x000fffffu) | low) : 0;
}

FN STATE add_load(LOCAL uint* column, uint4 v, STATE other) {
  other = add_element(column, v.x, v.y, other);
  other = add_element(column, v.z, v.w, other);
  if (is_special(v.y) | is_special(v.w)) {
    other |= count_special(column, v.x, v.y);
    other |= count_special(column, v.z, v.w);
  }
  return other;
}

FN uint4 load_single(GLOBAL const ulong* element) { return make_uint4((uint)*element, (uint)(*element >> 32), 0, 0x80000000u); }

FN long row_of(LOCAL const uint* bins, int row) { return bin_row(bins, row) - bin_row(bins, ROWS + row); }
