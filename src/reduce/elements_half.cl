// The exact sum's elements: float16 (EXPONENT_BITS 5) and bfloat16 (8). Two ways: IN_FLOAT64, for float16, adds elements up in float64,
// which is exact for a while; else a mantissa of 11 bits that moves by up to 3, or of 8 bits that moves by up to 7, is one piece under 2^15.
#define FRACTION_BITS (15 - EXPONENT_BITS)
#define LOWEST_BIT (EXPONENT_BITS == 5 ? 24 : 134)  // 2^-LOWEST_BIT divides all numbers
#define ELEMENT ushort
#define ELEMENTS_PER_LOAD 8
#define ROW_BASE (1074 - LOWEST_BIT)
#define ABSENT 0x80008000u, 0x80008000u, 0x80008000u, 0x80008000u
#define EXPONENT (((1u << EXPONENT_BITS) - 1) << FRACTION_BITS)
#define HIDDEN (1u << FRACTION_BITS)

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
#define MOVE_BITS (EXPONENT_BITS == 5 ? 2 : 3)
#define MOST_PIECES 32768  // under 2^15 each
#define ROW_BITS (1 << MOVE_BITS)
#define ROWS (1 << (EXPONENT_BITS - MOVE_BITS))
#define BIN_ROWS (2 * ROWS)

// Sign and upper exponent bits choose the row.
FN LOCAL uint* bin_of(LOCAL uint* column, uint x) {
  return bin_at(column, (x >> (FRACTION_BITS + MOVE_BITS - COLUMN_BITS - 2)) & ((2 * ROWS - 1) << (COLUMN_BITS + 2)));
}

FN void add_element(LOCAL uint* column, uint x) {
#if EXPONENT_BITS == 8
  // The lower exponent bits and the fraction as a float 1.f * 2^(e - 7); with 768 added, its lowest bit is that of 2^-14, so that the float's
  // own bits are an integer plus a constant. Where the exponent is zero it should have been 0.f * 2^-6.
  const uint none = (x & EXPONENT) == 0;
  const float moved = as_float((x & 0x3ffu) << 16 | 0x3c000000u);
  atomic_add_local32(bin_of(column, x), as_uint(fma_rn_f32(moved, none ? 2.0f : 1.0f, none ? 767.984375f : 768.0f)) - 0x44400000u);
#else
  const uint unit = min_u32(x & EXPONENT, HIDDEN);
  const uint rest = x - unit;
  atomic_add_local32(bin_of(column, rest), ((x & (HIDDEN - 1)) | unit) << ((rest >> FRACTION_BITS) & (ROW_BITS - 1)));
#endif
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
