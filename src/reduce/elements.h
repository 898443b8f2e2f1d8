// What the files of the element types (elements_*.cl) stand on: where the exact sum (sum_exact.cl) keeps its bins, and the state that a
// work-item carries along.
//
// Such a file has: ELEMENT, an unsigned integer of the type's size; ELEMENTS_PER_LOAD; ABSENT, a load of elements that count for nothing;
// BIN_ROWS, and ROWS, of which row r weighs 2^(ROW_BASE + ROW_BITS r - 1074); add_load(), load_single() and row_of().

#define COLUMNS (1 << COLUMN_BITS)

// Counters: rows of bins before those of the type, in this order from there on.
#define NANS 0
#define POSITIVE_INFINITIES 1
#define NEGATIVE_INFINITIES 2
#define OTHERS 3  // work-items that saw anything but -0.0 and NaN
#define COUNTERS 4
FN void count_one(LOCAL uint* column, uint counter) { atomic_add_local32(column - (counter + 1) * COLUMNS, 1); }

// `column` is the work-item's own column of the bins. They are addressed in bytes, which saves a shift.
FN LOCAL uint* bin_at(LOCAL uint* column, uint bytes) { return (LOCAL uint*)((LOCAL uchar*)column + bytes); }

// Adds up the columns of each row of bins, and leaves the sum in the row's first bins, for bin_row(). PART columns are a work-item's; the
// parts are added up within the sub-group, or by bin_row().
#define PART 8
#define PARTS (COLUMNS / PART)
FN void add_up_columns(LOCAL uint4* storage, uint rows) {
  for (uint first = 0; first < rows * PARTS; first += GROUP_SIZE) {
    const uint i = first + local_id();
    uint low = 0;
    uint high = 0;
    if (i < rows * PARTS) {
      const uint4 a = storage[2 * i];
      const uint4 b = storage[2 * i + 1];
      low = (a.x & 0xffffu) + (a.y & 0xffffu) + (a.z & 0xffffu) + (a.w & 0xffffu) + (b.x & 0xffffu) + (b.y & 0xffffu) + (b.z & 0xffffu) +
            (b.w & 0xffffu);
      high = (a.x >> 16) + (a.y >> 16) + (a.z >> 16) + (a.w >> 16) + (b.x >> 16) + (b.y >> 16) + (b.z >> 16) + (b.w >> 16);
    }
#if LANES > 1
    for (uint distance = 1; distance < PARTS; distance *= 2) {
      low += lanes_shuffle(low, local_id() ^ distance);
      high += lanes_shuffle(high, local_id() ^ distance);
    }
#endif
    if (i < rows * PARTS) *(LOCAL ulong*)(storage + 2 * i) = ((ulong)high << 16) + low;
  }
}

FN long bin_row(LOCAL const uint* bins, int row) {
  LOCAL const uint* first = bins + row * COLUMNS;
#if LANES > 1
  return *(LOCAL const long*)first;
#else
  long sum = 0;
  for (uint part = 0; part < PARTS; ++part) sum += *(LOCAL const long*)(first + part * PART);
  return sum;
#endif
}
FN long counter(LOCAL const uint* bins, uint counter) { return bin_row(bins, -1 - (int)counter); }

#if INTEGERS
// Sums of the lower and the upper 32 bits of elements; other sums are in the lower.
typedef struct {
  ulong low, high;
} STATE;
#define ROOM (0x40000000u / (LOADS * ELEMENTS_PER_LOAD))  // tiles between collections: neither sum overflows

FN STATE empty_state(void) {
  STATE state;
  state.low = state.high = 0;
  return state;
}
#define EMPTY_STATE empty_state()

FN STATE flush_state(LOCAL uint* column, STATE state) {
  for (uint piece = 0; piece < 4; ++piece) {
    atomic_add_local32(column + piece * COLUMNS, (uint)(state.low >> (16 * piece)) & 0xffffu);
    atomic_add_local32(column + (4 + piece) * COLUMNS, (uint)(state.high >> (16 * piece)) & 0xffffu);
  }
  count_one(column, OTHERS);
  return empty_state();
}
#else
#if IN_FLOAT64
// Elements are multiples of 2^-24 and under 2^16: sums of fewer than 2^13 of them are exact. Such a sum has 53 bits: four rows.
#define ROWS 4
typedef struct {
  double sum;
  uint other;  // non-zero with anything but -0.0 and NaN
} STATE;
#define ROOM (4096 / (LOADS * ELEMENTS_PER_LOAD))

FN STATE empty_state(void) {
  STATE state;
  state.sum = 0;
  state.other = 0;
  return state;
}
#define EMPTY_STATE empty_state()

FN STATE flush_state(LOCAL uint* column, STATE state) {
  const uint negative = state.sum < 0;
  const ulong magnitude = (ulong)((negative ? -state.sum : state.sum) * 16777216.0);
  LOCAL uint* bin = column + negative * (ROWS * COLUMNS);
  for (uint piece = 0; piece < ROWS; ++piece) atomic_add_local32(bin + piece * COLUMNS, (uint)(magnitude >> (16 * piece)) & 0xffffu);
  if (state.other != 0) count_one(column, OTHERS);
  return empty_state();
}
#elif !IN_FLOAT32  // bfloat16 has a state of its own
// An element is taken apart in the same way for every type of floats. `unit` is the exponent field's lowest bit where the exponent is not
// zero, and becomes the hidden bit; `rest` has the exponent less one there, so that denormals (exponent 0) and the first binade
// (exponent 1) share a weight without a branch. Infinities and NaNs are replaced by -0.0, which counts for nothing, and left to a branch
// that finite data never take. The state becomes non-zero with anything but -0.0 and NaN.
typedef uint STATE;
#define EMPTY_STATE 0
// A column takes MOST_PIECES pieces between collections, so that no bin overflows, of which the elements outside of tiles are a few.
#define ROOM (MOST_PIECES / (LOADS * ELEMENTS_PER_LOAD * ((GROUP_SIZE + COLUMNS - 1) / COLUMNS)) - 1)

FN STATE flush_state(LOCAL uint* column, STATE other) {
  if (other != 0) count_one(column, OTHERS);
  return 0;
}

#endif

// Counts an element that is no finite number; 0 for a NaN.
FN uint count_kind(LOCAL uint* column, uint negative, uint is_nan) {
  count_one(column, is_nan ? NANS : negative ? NEGATIVE_INFINITIES : POSITIVE_INFINITIES);
  return is_nan ? 0 : 1;
}

// Adds a mantissa of 53 bits, whose last one weighs 2^`position` of a limb's first, to a column of limbs of 16 bits.
FN void add_to_limbs(LOCAL uint* column, ulong mantissa, uint position, uint negative) {
  const uint shift = position & 15, sign = negative ? 0xffffffffu : 1;
  LOCAL uint* limb = column + (position >> 4) * COLUMNS;
#pragma unroll
  for (int i = 0; i < 4; ++i) atomic_add_local32(limb + i * COLUMNS, sign * ((uint)((mantissa << shift) >> (16 * i)) & 0xffffu));
  atomic_add_local32(limb + 4 * COLUMNS, sign * (uint)((mantissa >> 1) >> (63 - shift)));
}
#endif
