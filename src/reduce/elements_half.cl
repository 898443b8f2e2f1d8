// The exact sum's elements: float16 (EXPONENT_BITS 5) and bfloat16 (8). A mantissa of 11 bits that moves by up to 3, or of 8 bits that
// moves by up to 7, is one piece under 2^15.
#define FRACTION_BITS (15 - EXPONENT_BITS)
#define MOVE_BITS (EXPONENT_BITS == 5 ? 2 : 3)
#define LOWEST_BIT (EXPONENT_BITS == 5 ? 24 : 133)  // 2^-LOWEST_BIT is the smallest positive number

#define ELEMENT ushort
#define ELEMENTS_PER_LOAD 8
#define MOST_PIECES 32768  // under 2^15 each
#define ROW_BITS (1 << MOVE_BITS)
#define ROW_BASE (1074 - LOWEST_BIT)
#define ROWS (1 << (EXPONENT_BITS - MOVE_BITS))
#define BIN_ROWS (2 * ROWS)
#define ABSENT 0x80008000u, 0x80008000u, 0x80008000u, 0x80008000u
#define EXPONENT (((1u << EXPONENT_BITS) - 1) << FRACTION_BITS)
#define HIDDEN (1u << FRACTION_BITS)

FN void add_element(LOCAL uint* column, uint x) {
  uint unit = min_u32(x & EXPONENT, HIDDEN);
  uint rest = x - unit;
  uint moved = ((x & (HIDDEN - 1)) | unit) << ((rest >> FRACTION_BITS) & (ROW_BITS - 1));
  // Sign and upper exponent bits choose the row.
  uint bytes = (rest >> (FRACTION_BITS + MOVE_BITS - COLUMN_BITS - 2)) & ((2 * ROWS - 1) << (COLUMN_BITS + 2));
  atomic_add_local32(bin_at(column, bytes), moved);
}

// What the element leaves in the state.
FN uint add_any(LOCAL uint* column, uint x) {
  if ((x & EXPONENT) == EXPONENT) return count_kind(column, x >> 15, x & (HIDDEN - 1));
  add_element(column, x);
  return x ^ 0x8000u;
}

// Two elements. Adding one to the exponent fields carries out of those of infinities and NaNs.
FN STATE add_pair(LOCAL uint* column, uint pair, STATE other) {
  const uint both = EXPONENT << 16 | EXPONENT;
  if ((((pair & both) + (HIDDEN << 16 | HIDDEN)) & 0x80008000u) != 0) {
    return other | add_any(column, pair & 0xffffu) | add_any(column, pair >> 16);
  }
  add_element(column, pair & 0xffffu);
  add_element(column, pair >> 16);
  return other | (pair ^ 0x80008000u);
}

FN STATE add_load(LOCAL uint* column, uint4 v, STATE other) {
  other = add_pair(column, v.x, other);
  other = add_pair(column, v.y, other);
  other = add_pair(column, v.z, other);
  return add_pair(column, v.w, other);
}

FN uint4 load_single(GLOBAL const ushort* element) { return make_uint4(0x80000000u | *element, 0x80008000u, 0x80008000u, 0x80008000u); }

FN long row_of(LOCAL const uint* bins, int row) { return bin_row(bins, row) - bin_row(bins, ROWS + row); }
