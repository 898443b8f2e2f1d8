// The exact sum's elements: float16. Two ways: IN_FLOAT64 adds elements up in float64, which is exact for a while; else a mantissa of 11
// bits that moves by up to 3 is one piece under 2^15.
#define ELEMENT ushort
#define ELEMENTS_PER_LOAD 8
#define ROW_BASE (1074 - 24)
#define ABSENT 0x80008000u, 0x80008000u, 0x80008000u, 0x80008000u
#define FRACTION_BITS 10
#define EXPONENT 0x7c00u
#define HIDDEN 0x0400u

// Adding one to the exponent fields carries out of those of infinities and NaNs.
FN uint is_special(uint pair) {
  return (((pair & (EXPONENT << 16 | EXPONENT)) + (HIDDEN << 16 | HIDDEN)) & 0x80008000u) != 0;
}

#if IN_FLOAT64
#define ROW_BITS 16
#define BIN_ROWS 8  // positive and negative


// An infinity or a NaN is counted, and replaced by -0.0.
FN STATE add_pair(LOCAL uint* column, uint pair, STATE state) {
  if (is_special(pair)) {
    if ((pair & EXPONENT) == EXPONENT) {
      state.other |= count_kind(column, pair >> 15 & 1, pair & (HIDDEN - 1));
      pair = (pair & 0xffff0000u) | 0x8000u;
    }
    if ((pair >> 16 & EXPONENT) == EXPONENT) {
      state.other |= count_kind(column, pair >> 31, pair >> 16 & (HIDDEN - 1));
      pair = (pair & 0xffffu) | 0x80000000u;
    }
  }
  state.sum += (double)half_to_float((ushort)pair);
  state.sum += (double)half_to_float((ushort)(pair >> 16));
  state.other |= pair ^ 0x80008000u;
  return state;
}

#else
#define MOVE_BITS 2
#define MOST_PIECES 32768  // under 2^15 each
#define ROW_BITS 4
#define ROWS 8
#define BIN_ROWS (2 * ROWS)

// Sign and upper exponent bits choose the row.
FN LOCAL uint* bin_of(LOCAL uint* column, uint x) {
  return bin_at(column, (x >> (FRACTION_BITS + MOVE_BITS - COLUMN_BITS - 2)) & ((2 * ROWS - 1) << (COLUMN_BITS + 2)));
}

FN void add_element(LOCAL uint* column, uint x) {
  const uint unit = min_u32(x & EXPONENT, HIDDEN);
  const uint rest = x - unit;
  atomic_add_local32(bin_of(column, rest), ((x & (HIDDEN - 1)) | unit) << ((rest >> FRACTION_BITS) & (ROW_BITS - 1)));
}

// What the element leaves in the state.
FN uint add_any(LOCAL uint* column, uint x) {
  if ((x & EXPONENT) == EXPONENT) return count_kind(column, x >> 15, x & (HIDDEN - 1));
  add_element(column, x);
  return x ^ 0x8000u;
}

FN STATE add_pair(LOCAL uint* column, uint pair, STATE other) {
  if (is_special(pair)) return other | add_any(column, pair & 0xffffu) | add_any(column, pair >> 16);
  add_element(column, pair & 0xffffu);
  add_element(column, pair >> 16);
  return other | (pair ^ 0x80008000u);
}

#endif

FN long row_of(LOCAL const uint* bins, int row) { return bin_row(bins, row) - bin_row(bins, ROWS + row); }

FN STATE add_load(LOCAL uint* column, uint4 v, STATE state) {
  state = add_pair(column, v.x, state);
  state = add_pair(column, v.y, state);
  state = add_pair(column, v.z, state);
  return add_pair(column, v.w, state);
}

FN uint4 load_single(GLOBAL const ushort* element) { return make_uint4(0x80000000u | *element, 0x80008000u, 0x80008000u, 0x80008000u); }
