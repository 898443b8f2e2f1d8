// The exact sum's elements: float32. Eight exponents share a pair of bin rows, for the low and the high 16 bits of a mantissa of 24 bits
// that moves by up to 7.
#define ELEMENT uint
#define ELEMENTS_PER_LOAD 4
#define MOST_PIECES 65536  // under 2^16 each
#define ROW_BITS 8
#define ROW_BASE EXACT_FLOAT32_SHIFT
#define ROWS 34
#define BIN_ROWS 128
#define ABSENT 0x80000000u, 0x80000000u, 0x80000000u, 0x80000000u

FN uint is_special(uint x) { return !is_finite_f32(x); }

FN uint add_element(LOCAL uint* column, uint x, uint other) {
  x = is_special(x) ? 0x80000000u : x;
  uint unit = min_u32(x & 0x7f800000u, 0x00800000u);
  uint rest = x - unit;
  uint moved = ((x & 0x007fffffu) | unit) << ((rest >> 23) & 7);
  // Sign and upper exponent bits choose one of 64 pairs of rows.
  LOCAL uint* bin = bin_at(column, (rest >> (23 - COLUMN_BITS)) & (0x3fu << (COLUMN_BITS + 3)));
  atomic_add_local32(bin, moved & 0xffffu);
  atomic_add_local32(bin + COLUMNS, moved >> 16);
  return other | (x ^ 0x80000000u);
}

FN uint count_special(LOCAL uint* column, uint x) {
  return is_special(x) ? count_kind(column, x >> 31, x & 0x007fffffu) : 0;
}

FN STATE add_load(LOCAL uint* column, uint4 v, STATE other) {
  other = add_element(column, v.x, other);
  other = add_element(column, v.y, other);
  other = add_element(column, v.z, other);
  other = add_element(column, v.w, other);
  if (is_special(v.x) | is_special(v.y) | is_special(v.z) | is_special(v.w)) {
    other |= count_special(column, v.x);
    other |= count_special(column, v.y);
    other |= count_special(column, v.z);
    other |= count_special(column, v.w);
  }
  return other;
}

FN uint4 load_single(GLOBAL const uint* element) { return make_uint4(*element, 0x80000000u, 0x80000000u, 0x80000000u); }

// Row r holds the low pieces of the exponents 8r.. and the high pieces of those 16 bits below.
FN long row_of(LOCAL const uint* bins, int row) {
  long sum = 0;
  if (row < 32) sum += bin_row(bins, 2 * row) - bin_row(bins, 64 + 2 * row);
  if (row >= 2) sum += bin_row(bins, 2 * (row - 2) + 1) - bin_row(bins, 64 + 2 * (row - 2) + 1);
  return sum;
}
