// The exact sum: a histogram of mantissas by exponent.
//
// A finite float is an integer times a power of two, so a sum of floats is one sum of integers for each exponent. Every element is cut
// into pieces of 16 bits, and each piece is added to a 32-bit bin in local memory that stands for its weight and sign. A group has 32
// columns of bins, one for each lane: lanes never meet in a bank, whatever the data, and no branch depends on a finite element. So the
// speed is that of reading, for any data. Bins are collected in 64-bit rows before they can overflow.
//
// Defined by the host: FLOAT64 (0, 1: the element type), LOADS (16-byte loads that a work-item has in flight), GROUP_SIZE, RESIDENT
// (groups of it to a compute unit), COLUMN_BITS (5 for 32 columns; less where local memory is short).

#define COLUMNS (1 << COLUMN_BITS)
#define NANS 0
#define POSITIVE_INFINITIES 1
#define NEGATIVE_INFINITIES 2
#define OTHERS 3  // work-items that saw anything but -0.0 and NaN
#define COUNTERS 4

// Rows of one sign: row r weighs 2^(ROW_BASE + ROW_BITS r - 1074).
#if FLOAT64
// Sixteen exponents share a row: a mantissa of 53 bits moves by up to 15 and covers five rows.
#define ROW_BITS 16
#define ROW_BASE 0
#define ROWS 133
#define BIN_ROWS (2 * ROWS)
#define ELEMENTS_PER_LOAD 2
#define NEGATIVE_ZERO_LOAD 0, 0x80000000u, 0, 0x80000000u
#else
// Eight exponents share a pair of bin rows, for the low and the high 16 bits of a mantissa of 24 bits that moves by up to 7.
#define ROW_BITS 8
#define ROW_BASE EXACT_FLOAT32_SHIFT
#define ROWS 34
#define BIN_ROWS 128
#define ELEMENTS_PER_LOAD 4
#define NEGATIVE_ZERO_LOAD 0x80000000u, 0x80000000u, 0x80000000u, 0x80000000u
#endif

#define BINS (BIN_ROWS * COLUMNS)
#define SLOTS (ROWS + COUNTERS)  // what a group hands on: its rows, then its counters

// Counts an element that is no finite number; 0 for a NaN.
FN uint count_kind(LOCAL uint* column, uint negative, uint is_nan) {
  uint kind = is_nan ? NANS : negative ? NEGATIVE_INFINITIES : POSITIVE_INFINITIES;
  atomic_add_local32(&column[BINS + kind * COLUMNS], 1);
  return is_nan ? 0 : 1;
}

// An element is taken apart in the same way for either type. `unit` is the exponent field's lowest bit where the exponent is not zero, and
// becomes the hidden bit; `rest` has the exponent less one there, so that denormals (exponent 0) and the first binade (exponent 1) share
// a weight without a branch. Infinities and NaNs are replaced by -0.0, which counts for nothing, and left to a branch that finite data
// never take. `other` becomes non-zero with anything but -0.0 and NaN. `column` is the work-item's own column of the bins; they are addressed
// in bytes, which saves a shift.
FN LOCAL uint* bin_at(LOCAL uint* column, uint bytes) { return (LOCAL uint*)((LOCAL uchar*)column + bytes); }

#if FLOAT64
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

FN uint add_load(LOCAL uint* column, uint4 v, uint other) {
  other = add_element(column, v.x, v.y, other);
  other = add_element(column, v.z, v.w, other);
  if (is_special(v.y) | is_special(v.w)) {
    other |= count_special(column, v.x, v.y);
    other |= count_special(column, v.z, v.w);
  }
  return other;
}

FN uint4 load_single(GLOBAL const uint* words, ulong i) { return make_uint4(words[2 * i], words[2 * i + 1], 0, 0x80000000u); }

// The bins of row `row`, all columns, both signs. Columns are visited from a different one by each work-item: no two meet in a bank.
FN long sum_bins(LOCAL const uint* bins, uint row) {
  long sum = 0;
#pragma unroll 4
  for (uint i = 0; i < COLUMNS; ++i) {
    uint bin = row * COLUMNS + ((i + row) & (COLUMNS - 1));
    sum += (long)bins[bin] - (long)bins[ROWS * COLUMNS + bin];
  }
  return sum;
}
#else
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

FN uint add_load(LOCAL uint* column, uint4 v, uint other) {
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

FN uint4 load_single(GLOBAL const uint* words, ulong i) { return make_uint4(words[i], 0x80000000u, 0x80000000u, 0x80000000u); }

// Row r holds the low pieces of the exponents 8r.. and the high pieces of those 16 bits below.
FN long sum_bins(LOCAL const uint* bins, uint row) {
  long sum = 0;
#pragma unroll 4
  for (uint i = 0; i < COLUMNS; ++i) {
    uint column = (i + row) & (COLUMNS - 1);
    if (row < 32) {
      uint low = 2 * row * COLUMNS + column;
      sum += (long)bins[low] - (long)bins[BINS / 2 + low];
    }
    if (row >= 2) {
      uint high = (2 * (row - 2) + 1) * COLUMNS + column;
      sum += (long)bins[high] - (long)bins[BINS / 2 + high];
    }
  }
  return sum;
}
#endif

// Adds the bins to the slots. All work-items of the group must come here, and to clear_bins().
FN void collect_bins(LOCAL const uint* bins, LOCAL long* slots) {
  barrier_local();
  for (uint slot = local_id(); slot < SLOTS; slot += GROUP_SIZE) {
    if (slot < ROWS) {
      slots[slot] += sum_bins(bins, slot);
    } else {
      for (uint i = 0; i < COLUMNS; ++i) slots[slot] += (long)bins[BINS + (slot - ROWS) * COLUMNS + ((i + slot) & (COLUMNS - 1))];
    }
  }
  barrier_local();
}

FN void clear_bins(LOCAL uint* bins) {
  for (uint i = local_id(); i < BINS + COUNTERS * COLUMNS; i += GROUP_SIZE) bins[i] = 0;
  barrier_local();
}

// The part of value * 2^shift that falls to the digit `distance` above: the three parts weigh 1, 2^32, 2^64 and add up to it exactly.
FN long part_in_digit(long value, int shift, int distance) {
  if (distance == 0) return (long)((ulong)value << shift & 0xffffffffu);
  if (distance == 1) return (value >> (32 - shift)) & 0xffffffffL;
  return (value >> 32) >> (32 - shift);
}

// One group merges what all groups hand on, and rounds. The result: EXACT_DIGITS normalized digits, COUNTERS counters, the bits of the
// sum as float64, as float32. `scratch` has room for the larger of SLOTS and the group size.
#define RESULT_FLOAT64 (EXACT_DIGITS + COUNTERS)
#define RESULT_FLOAT32 (EXACT_DIGITS + COUNTERS + 1)
#define ROWS_TO_A_DIGIT (96 / ROW_BITS)  // that begin in it, or in the two digits before: a row reaches 96 bits far
#define BATCH 8

FN void finish(GLOBAL const long* handed_on, uint groups, GLOBAL long* result, ulong count, int skip_nans, LOCAL long* scratch,
               LOCAL long* slots, LOCAL long* digits, LOCAL uint* used) {
  // Slots summed over the groups; a large group shares the groups out over `parts` work-items a slot. All loads of a batch are in flight
  // at once.
  const uint parts = GROUP_SIZE < SLOTS ? 1 : GROUP_SIZE / SLOTS;
  for (uint i = local_id(); i < parts * SLOTS; i += GROUP_SIZE) {
    long sum = 0;
    for (uint first = i / SLOTS; first < groups; first += BATCH * parts) {
      long loaded[BATCH];
#pragma unroll
      for (uint k = 0; k < BATCH; ++k) {
        uint group = first + k * parts;
        loaded[k] = group < groups ? handed_on[(ulong)group * SLOTS + i % SLOTS] : 0;
      }
#pragma unroll
      for (uint k = 0; k < BATCH; ++k) sum += loaded[k];
    }
    scratch[i] = sum;
  }
  for (uint i = local_id(); i < 3; i += GROUP_SIZE) used[i] = 0;
  barrier_local();
  for (uint slot = local_id(); slot < SLOTS; slot += GROUP_SIZE) {
    long sum = 0;
#pragma unroll 8
    for (uint part = 0; part < parts; ++part) sum += scratch[part * SLOTS + slot];
    slots[slot] = sum;
  }
  barrier_local();
  for (int digit = (int)local_id(); digit < EXACT_DIGITS; digit += GROUP_SIZE) {
    long sum = 0;
    // The first row that begins in digit - 2, at its bit ROW_BASE % ROW_BITS: the same for every digit, as ROW_BITS divides 32.
    int row = (32 * (digit - 2) - ROW_BASE + ROW_BASE % ROW_BITS) / ROW_BITS;
#pragma unroll
    for (int i = 0; i < ROWS_TO_A_DIGIT; ++i) {
      int bit = ROW_BITS * i + ROW_BASE % ROW_BITS;
      if (row + i >= 0 && row + i < ROWS) sum += part_in_digit(slots[row + i], bit % 32, 2 - bit / 32);
    }
    digits[digit] = sum;
    if (sum != 0) atomic_add_local32(&used[digit >> 5], 1u << (digit & 31));
  }
  barrier_local();
  // The window in use, and one digit more for the sign.
  int first = used[0] != 0 ? (int)lowest_bit(used[0]) : used[1] != 0 ? 32 + (int)lowest_bit(used[1]) : 64 + (int)lowest_bit(used[2] | 32);
  int last = used[2] != 0 ? 95 - (int)clz32(used[2]) : used[1] != 0 ? 63 - (int)clz32(used[1]) : 31 - (int)clz32(used[0] | 1);
  if (last < first) last = first;
  if (last < EXACT_DIGITS - 1) ++last;
  if (local_id() == 0) exact_normalize(digits, first, last);
  barrier_local();
  for (uint i = local_id(); i < EXACT_DIGITS; i += GROUP_SIZE) result[i] = digits[i];
  for (uint i = local_id(); i < COUNTERS; i += GROUP_SIZE) result[EXACT_DIGITS + i] = slots[ROWS + i];
  barrier_local();
  if (local_id() == 0) used[0] = (uint)exact_make_magnitude(digits, first, last);
  barrier_local();
  // Two roundings side by side: by different sub-groups where there is more than one.
  uint sign = used[0];
  int special = exact_special(count, (ulong)slots[ROWS + NANS], (ulong)slots[ROWS + POSITIVE_INFINITIES],
                              (ulong)slots[ROWS + NEGATIVE_INFINITIES], (ulong)slots[ROWS + OTHERS], skip_nans);
  if (local_id() == 0) {
    ulong bits = (ulong)sign << 63 | exact_round_float64(digits, first, last);
    result[RESULT_FLOAT64] = (long)(special == EXACT_FINITE ? bits : exact_special_float64(special));
  }
  if (local_id() == GROUP_SIZE - 1) {
    uint bits = sign << 31 | exact_round_float32(digits, first, last);
    result[RESULT_FLOAT32] = (long)(special == EXACT_FINITE ? bits : exact_special_float32(special));
  }
}

#define SCRATCH (BINS / 2)  // longs that fit into the bins: at least 1024, the largest group
#define TILE (GROUP_SIZE * LOADS)  // 16-byte loads that a group adds in one go

// Words of `schedule`: zero before the first launch, and again after each.
#define TICKETS 0  // groups that have handed on
#define TILES 1    // tiles that were drawn, beyond the one that each group starts with

// handed_on: SLOTS longs a group. Groups draw their tiles one by one, in the order of memory: reading stays in step all over the device and
// no group waits for a slower one, which is worth 3% over equal shares. Where the device has a fence, the group that draws the last ticket
// finishes the sum in the same launch; otherwise sum_exact_finish does it in a second one.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void sum_exact(GLOBAL const uint4* data, ulong count, GLOBAL long* handed_on, GLOBAL uint* schedule, GLOBAL long* result, int skip_nans) {
  LOCAL_VAR ulong storage[SCRATCH + COUNTERS * COLUMNS / 2];  // the bins, and in the end the scratch of finish()
  LOCAL_VAR long slots[SLOTS];
  LOCAL_VAR long digits[EXACT_DIGITS];
  LOCAL_VAR uint used[4];
  LOCAL_VAR uint drawn[2];
  LOCAL uint* bins = (LOCAL uint*)storage;
  LOCAL uint* column = bins + (local_id() & (COLUMNS - 1));

  for (uint i = local_id(); i < SLOTS; i += GROUP_SIZE) slots[i] = 0;
  clear_bins(bins);

  const ulong loads = count / ELEMENTS_PER_LOAD;
  const uint tiles = (uint)((loads + TILE - 1) / TILE);
  uint other = 0;
  for (ulong i = loads * ELEMENTS_PER_LOAD + global_id(); i < count; i += global_size()) {
    other = add_load(column, load_single((GLOBAL const uint*)data, i), other);
  }

  // A piece is under 2^16 and a bin holds 2^32: a column takes 65536 pieces between flushes, of which the elements above are a few.
  const uint pieces_of_a_tile = LOADS * ELEMENTS_PER_LOAD * ((GROUP_SIZE + COLUMNS - 1) / COLUMNS);
  uint turn = 0;
  uint tile = group_id();
  for (;;) {
    // What the flush needs stays out of the inner loop, or compilers keep it in registers there.
    for (uint room = 65536 / pieces_of_a_tile - 1; room > 0 && tile < tiles; --room) {
      if (local_id() == 0) drawn[turn] = atomic_add_global32(&schedule[TILES], 1) + group_count();
      const ulong first = (ulong)tile * TILE;
      uint4 v[LOADS];
      if (first + TILE <= loads) {
#pragma unroll
        for (int k = 0; k < LOADS; ++k) v[k] = load_once(&data[first + k * GROUP_SIZE + local_id()]);
      } else {  // the last tile: absent elements are -0.0, which counts for nothing
#pragma unroll
        for (int k = 0; k < LOADS; ++k) {
          const ulong i = first + k * GROUP_SIZE + local_id();
          v[k] = make_uint4(NEGATIVE_ZERO_LOAD);
          if (i < loads) v[k] = load_once(&data[i]);
        }
      }
#pragma unroll
      for (int k = 0; k < LOADS; ++k) other = add_load(column, v[k], other);
      barrier_local();
      tile = drawn[turn];
      turn ^= 1;
    }
    if (tile >= tiles) break;
    collect_bins(bins, slots);
    clear_bins(bins);
  }
  if (other != 0) atomic_add_local32(&column[BINS + OTHERS * COLUMNS], 1);
  collect_bins(bins, slots);

  GLOBAL long* mine = handed_on + (ulong)group_id() * SLOTS;
  for (uint slot = local_id(); slot < SLOTS; slot += GROUP_SIZE) mine[slot] = slots[slot];
#if SAMESUM_DEVICE_FENCE
  // The ticket orders the group's writes before it, and the last group's reads after all of them: the barriers pass that on.
  barrier_all();
  if (local_id() == 0) used[3] = atomic_add_ordered_global32(&schedule[TICKETS], 1);
  barrier_all();
  if (used[3] != group_count() - 1) return;
  finish(handed_on, group_count(), result, count, skip_nans, (LOCAL long*)storage, slots, digits, used);
  if (local_id() == 0) schedule[TICKETS] = schedule[TILES] = 0;
#endif
}

KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void sum_exact_finish(GLOBAL const long* handed_on, uint groups, GLOBAL uint* schedule, GLOBAL long* result, ulong count, int skip_nans) {
  LOCAL_VAR ulong storage[SCRATCH];
  LOCAL_VAR long slots[SLOTS];
  LOCAL_VAR long digits[EXACT_DIGITS];
  LOCAL_VAR uint used[4];
  finish(handed_on, groups, result, count, skip_nans, (LOCAL long*)storage, slots, digits, used);
  if (local_id() == 0) schedule[TILES] = 0;
}
