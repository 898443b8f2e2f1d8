// The exact sum's elements: bfloat16. A work-item adds them up in registers, in two slices of the exponents below the greatest that it has
// met, as window_float32.cl says. What is left of an element goes to bins, as all of it does where much is left: eight exponents share a row,
// as a mantissa of 8 bits that moves by up to 7 is one piece under 2^15.
#define FRACTION_BITS 7
#define ELEMENT ushort
#define ELEMENTS_PER_LOAD 8
#define ROW_BASE (1074 - 134)  // 2^-134 divides all numbers
#define ROW_BITS 8
#define ROWS 32
#define BIN_ROWS (2 * ROWS)
#define ABSENT 0x80008000u, 0x80008000u, 0x80008000u, 0x80008000u

#define SLICE 21
#define SLICE_ROOM 2  // bits: for 2048 elements
#define LEAST_FIELD (SLICE + 17)
#define GREATEST_FIELD 192  // greater elements go to bins: sums stay below the last rows
#define MOST_MISSES 8       // loads that needed bins, until all go there
#define NO_MISSES (SAMESUM_DENORMALS ? 0 : MOST_MISSES + 1)

typedef struct {
  uint field;     // exponent field of the upper C
  uint sums[2];   // of the slices
  uint misses;
  uint other;     // non-zero with anything but -0.0 and NaN
} STATE;
#define ROOM (2048 / (LOADS * ELEMENTS_PER_LOAD) - 1)

FN STATE empty_state(void) {
  STATE state;
  state.field = LEAST_FIELD;
  state.sums[0] = state.sums[1] = state.other = 0;
  state.misses = NO_MISSES;
  return state;
}
#define EMPTY_STATE empty_state()

FN uint is_special(uint x) { return (x & 0x7f80u) == 0x7f80u; }

// Sign and upper exponent bits choose the row. The lower exponent bits and the fraction are a float 1.f * 2^(e - 7); with 768 added, its lowest
// bit is that of 2^-14, so that the float's own bits are an integer plus a constant. Where the exponent is zero it should have been 0.f * 2^-6.
FN void add_element(LOCAL uint* column, uint x) {
  LOCAL uint* bin = bin_at(column, (x >> (FRACTION_BITS + 3 - COLUMN_BITS - 2)) & ((2 * ROWS - 1) << (COLUMN_BITS + 2)));
  const uint none = (x & 0x7f80u) == 0;
  const float moved = as_float((x & 0x3ffu) << 16 | 0x3c000000u);
  atomic_add_local32(bin, as_uint(fma_rn_f32(moved, none ? 2.0f : 1.0f, none ? 767.984375f : 768.0f)) - 0x44400000u);
}

// What the element leaves in the state.
FN uint add_any(LOCAL uint* column, uint x) {
  if (is_special(x)) return count_kind(column, x >> 15, x & 0x7fu);
  add_element(column, x);
  return x ^ 0x8000u;
}
// Adding one to the exponent fields carries out of those of infinities and NaNs.
FN uint add_pair(LOCAL uint* column, uint pair) {
  if ((((pair & 0x7f807f80u) + 0x00800080u) & 0x80008000u) != 0) return add_any(column, pair & 0xffffu) | add_any(column, pair >> 16);
  add_element(column, pair & 0xffffu);
  add_element(column, pair >> 16);
  return pair ^ 0x80008000u;
}
FN STATE add_to_bins(LOCAL uint* column, uint4 v, STATE state) {
  state.other |= add_pair(column, v.x) | add_pair(column, v.y) | add_pair(column, v.z) | add_pair(column, v.w);
  return state;
}

FN void flush_slice(LOCAL uint* column, uint sum, uint position) {
  const uint negative = sum >> 31;
  const ulong moved = (ulong)(negative ? 0 - sum : sum) << (position & 7);
  LOCAL uint* bin = column + (negative * ROWS + (position >> 3)) * COLUMNS;
  for (uint piece = 0; piece < 3; ++piece) atomic_add_local32(bin + 2 * piece * COLUMNS, (uint)(moved >> (16 * piece)) & 0xffffu);
}
FN STATE flush_slices(LOCAL uint* column, STATE state) {
  flush_slice(column, state.sums[0], state.field - 16);
  flush_slice(column, state.sums[1], state.field - 16 - SLICE);
  state.sums[0] = state.sums[1] = 0;
  return state;
}
FN STATE flush_state(LOCAL uint* column, STATE state) {
  state = flush_slices(column, state);
  if (state.other != 0) count_one(column, OTHERS);
  state.other = 0;
  state.misses = NO_MISSES;
  return state;
}

FN uint magnitudes(uint pair) { return pair & 0x7fff7fffu; }
FN uint greater_of(uint pair, uint greatest) { return max_u32(greatest, max_u32(pair & 0x7fffu, pair >> 16 & 0x7fffu)); }

// What is left of the element, bits of a float.
FN uint add_slices(uint x, uint c0, uint c1, uint* s0, uint* s1) {
  const float t0 = add_rn_f32(as_float(x), as_float(c0));
  const float r0 = add_rn_f32(as_float(x), -add_rn_f32(t0, -as_float(c0)));
  const float t1 = add_rn_f32(r0, as_float(c1));
  *s0 += as_uint(t0);
  *s1 += as_uint(t1);
  return as_uint(add_rn_f32(r0, -add_rn_f32(t1, -as_float(c1))));
}

FN STATE add_load(LOCAL uint* column, uint4 v, STATE state) {
  uint fits = state.misses <= MOST_MISSES;
  // Adding to the exponent fields carries out of those that are too great for the window.
  const uint margin = (0x8000u - ((state.field - 1 - SLICE_ROOM) << FRACTION_BITS)) * 0x10001u;
  const uint sums = (magnitudes(v.x) + margin) | (magnitudes(v.y) + margin) | (magnitudes(v.z) + margin) | (magnitudes(v.w) + margin);
  if (fits && (sums & 0x80008000u) != 0) {
    const uint greatest = greater_of(v.x, greater_of(v.y, greater_of(v.z, greater_of(v.w, 0)))) >> FRACTION_BITS;
    fits = greatest <= GREATEST_FIELD;
    if (fits) {
      state = flush_slices(column, state);
      state.field = greatest + 2 + SLICE_ROOM;
    } else {
      ++state.misses;
    }
  }
  if (!fits) return add_to_bins(column, v, state);
  const uint c0 = state.field << 23 | 0x00400000u, c1 = c0 - (SLICE << 23);
  uint s0 = state.sums[0] - 8 * c0, s1 = state.sums[1] - 8 * c1;
  uint left[8];
  const uint words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    left[2 * i] = add_slices(words[i] << 16, c0, c1, &s0, &s1);
    left[2 * i + 1] = add_slices(words[i] & 0xffff0000u, c0, c1, &s0, &s1);
  }
  state.sums[0] = s0;
  state.sums[1] = s1;
  state.other |= (v.x ^ 0x80008000u) | (v.y ^ 0x80008000u) | (v.z ^ 0x80008000u) | (v.w ^ 0x80008000u);
  const uint any = left[0] | left[1] | left[2] | left[3] | left[4] | left[5] | left[6] | left[7];
  if ((any & 0x7fffffffu) != 0) {
    ++state.misses;
#pragma unroll
    for (int i = 0; i < 8; ++i) add_element(column, left[i] >> 16);
  }
  return state;
}

FN uint4 load_single(GLOBAL const ushort* element) { return make_uint4(0x80000000u | *element, 0x80008000u, 0x80008000u, 0x80008000u); }

FN long row_of(LOCAL const uint* bins, int row) { return bin_row(bins, row) - bin_row(bins, ROWS + row); }
