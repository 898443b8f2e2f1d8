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
#else
// Eight exponents share a pair of bin rows, for the low and the high 16 bits of a mantissa of 24 bits that moves by up to 7.
#define ROW_BITS 8
#define ROW_BASE EXACT_FLOAT32_SHIFT
#define ROWS 34
#define BIN_ROWS 128
#define ELEMENTS_PER_LOAD 4
#endif

#define BINS (BIN_ROWS * COLUMNS)
#define SLOTS (ROWS + COUNTERS)  // what a group hands on: its rows, then its counters

// Counts an element that is no finite number.
FN void count_special(LOCAL uint* bins, uint lane, uint negative, uint is_nan) {
  uint kind = is_nan ? NANS : negative ? NEGATIVE_INFINITIES : POSITIVE_INFINITIES;
  atomic_add_local32(&bins[BINS + kind * COLUMNS + lane], 1);
}

// The two functions below take an element apart in the same way. `unit` is the exponent field's lowest bit where the exponent is not
// zero, and becomes the hidden bit; `rest` has the exponent less one there, so that denormals (exponent 0) and the first binade
// (exponent 1) share a weight without a branch. They return zero for -0.0 and NaN alone.
#if FLOAT64
FN uint add_element(LOCAL uint* bins, uint lane, uint low, uint high) {
  uint exponent = high & 0x7ff00000u;
  uint unit = min_u32(exponent, 0x00100000u);
  uint rest = high - unit;
  uint mantissa = (high & 0x000fffffu) | unit;
  uint shift = (rest >> 20) & 15;
  uint w0 = low << shift;
  uint w1 = funnel_left(low, mantissa, shift);
  uint w2 = funnel_left(mantissa, 0, shift);
  uint bin = (((rest >> (24 - COLUMN_BITS)) & (0x7fu << COLUMN_BITS)) | lane) + (rest >> 31) * (ROWS * COLUMNS);
  if (exponent != 0x7ff00000u) {
    atomic_add_local32(&bins[bin], w0 & 0xffffu);
    atomic_add_local32(&bins[bin + COLUMNS], w0 >> 16);
    atomic_add_local32(&bins[bin + 2 * COLUMNS], w1 & 0xffffu);
    atomic_add_local32(&bins[bin + 3 * COLUMNS], w1 >> 16);
    atomic_add_local32(&bins[bin + 4 * COLUMNS], w2);
  } else {
    uint is_nan = (high & 0x000fffffu) | low;
    count_special(bins, lane, high >> 31, is_nan);
    if (is_nan) return 0;
  }
  return (high ^ 0x80000000u) | low;
}

FN uint add_load(LOCAL uint* bins, uint lane, uint4 v) {
  uint other = add_element(bins, lane, v.x, v.y);
  return other | add_element(bins, lane, v.z, v.w);
}

FN uint add_single(LOCAL uint* bins, uint lane, GLOBAL const uint* words, ulong i) {
  return add_element(bins, lane, words[2 * i], words[2 * i + 1]);
}

// The bins of row `row`, all columns, both signs. Columns are visited from a different one by each work-item: no two meet in a bank.
FN long sum_bins(LOCAL const uint* bins, uint row) {
  long sum = 0;
#pragma unroll
  for (uint i = 0; i < COLUMNS; ++i) {
    uint bin = row * COLUMNS + ((i + row) & (COLUMNS - 1));
    sum += (long)bins[bin] - (long)bins[ROWS * COLUMNS + bin];
  }
  return sum;
}
#else
FN uint add_element(LOCAL uint* bins, uint lane, uint x) {
  uint exponent = x & 0x7f800000u;
  uint unit = min_u32(exponent, 0x00800000u);
  uint rest = x - unit;
  uint moved = ((x & 0x007fffffu) | unit) << ((rest >> 23) & 7);
  uint bin = ((rest >> (25 - COLUMN_BITS)) & (0x3fu << (COLUMN_BITS + 1))) | lane;  // sign and upper exponent bits choose one of 64 pairs of rows
  if (exponent != 0x7f800000u) {
    atomic_add_local32(&bins[bin], moved & 0xffffu);
    atomic_add_local32(&bins[bin + COLUMNS], moved >> 16);
  } else {
    uint is_nan = x & 0x007fffffu;
    count_special(bins, lane, x >> 31, is_nan);
    if (is_nan) return 0;
  }
  return x ^ 0x80000000u;
}

FN uint add_load(LOCAL uint* bins, uint lane, uint4 v) {
  uint other = add_element(bins, lane, v.x);
  other |= add_element(bins, lane, v.y);
  other |= add_element(bins, lane, v.z);
  return other | add_element(bins, lane, v.w);
}

FN uint add_single(LOCAL uint* bins, uint lane, GLOBAL const uint* words, ulong i) { return add_element(bins, lane, words[i]); }

// Row r holds the low pieces of the exponents 8r.. and the high pieces of those 16 bits below.
FN long sum_bins(LOCAL const uint* bins, uint row) {
  long sum = 0;
#pragma unroll
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

// The share of a row in digit `digit`: bits 32 (digit - d).. of value * 2^(32 d + shift), with the value's sign.
FN long share_of_row(long value, int position, int digit) {
  ulong magnitude = value < 0 ? 0 - (ulong)value : (ulong)value;
  int shift = position & 31;
  int distance = digit - (position >> 5);
  ulong low = magnitude << shift;
  ulong share = distance == 0 ? low & 0xffffffffu : distance == 1 ? low >> 32 : (magnitude >> 32) >> (32 - shift);
  return value < 0 ? -(long)share : (long)share;
}

// One group merges what all groups hand on, and rounds. The result: EXACT_DIGITS normalized digits, COUNTERS counters, the bits of the
// sum as float64, as float32. `scratch` has room for the larger of SLOTS and the group size.
#define RESULT_FLOAT64 (EXACT_DIGITS + COUNTERS)
#define RESULT_FLOAT32 (EXACT_DIGITS + COUNTERS + 1)
#define ROWS_TO_A_DIGIT (96 / ROW_BITS)  // that begin in it, or in the two digits before: a row reaches 96 bits far

FN void finish(GLOBAL const long* handed_on, uint groups, GLOBAL long* result, ulong count, int skip_nans, LOCAL long* scratch,
               LOCAL long* slots, LOCAL long* digits, LOCAL uint* used) {
  // Slots summed over the groups; a large group shares the groups out over `parts` work-items a slot.
  const uint parts = GROUP_SIZE < SLOTS ? 1 : GROUP_SIZE / SLOTS;
  for (uint i = local_id(); i < parts * SLOTS; i += GROUP_SIZE) {
    long sum = 0;
#pragma unroll 8
    for (uint g = i / SLOTS; g < groups; g += parts) sum += handed_on[(ulong)g * SLOTS + i % SLOTS];
    scratch[i] = sum;
  }
  if (local_id() < 3) used[local_id()] = 0;
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
    int row = (32 * digit - 64 - ROW_BASE + 4096 * ROW_BITS + ROW_BITS - 1) / ROW_BITS - 4096;  // the first: rounded up, of either sign
#pragma unroll
    for (int i = 0; i < ROWS_TO_A_DIGIT; ++i, ++row) {
      if (row >= 0 && row < ROWS) sum += share_of_row(slots[row], ROW_BASE + ROW_BITS * row, digit);
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

// handed_on: SLOTS longs a group. ticket: zero before the first launch, and again after each. Where the device has a fence, the group
// that draws the last ticket finishes the sum in the same launch; otherwise sum_exact_finish does it in a second one.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void sum_exact(GLOBAL const uint4* data, ulong count, GLOBAL long* handed_on, GLOBAL uint* ticket, GLOBAL long* result, int skip_nans) {
  LOCAL_VAR ulong storage[SCRATCH + COUNTERS * COLUMNS / 2];  // the bins, and in the end the scratch of finish()
  LOCAL_VAR long slots[SLOTS];
  LOCAL_VAR long digits[EXACT_DIGITS];
  LOCAL_VAR uint used[4];
  LOCAL uint* bins = (LOCAL uint*)storage;

  for (uint i = local_id(); i < SLOTS; i += GROUP_SIZE) slots[i] = 0;
  clear_bins(bins);

  const uint lane = local_id() & (COLUMNS - 1);
  const ulong loads = count / ELEMENTS_PER_LOAD;
  const uint stride = (uint)global_size();
  ulong passes = loads / (LOADS * (ulong)stride);
  uint other = 0;

  // What whole passes leave over.
  for (ulong i = passes * LOADS * stride + global_id(); i < loads; i += stride) other |= add_load(bins, lane, load_once(&data[i]));
  for (ulong i = loads * ELEMENTS_PER_LOAD + global_id(); i < count; i += stride) {
    other |= add_single(bins, lane, (GLOBAL const uint*)data, i);
  }

  // A piece is under 2^16 and a bin holds 2^32: a column takes 65536 pieces between flushes, of which what is left over has had as many
  // as one pass at most.
  const uint pieces_of_a_pass = LOADS * ELEMENTS_PER_LOAD * ((GROUP_SIZE + COLUMNS - 1) / COLUMNS);
  const uint passes_to_a_flush = 65536 / pieces_of_a_pass - 1;
  GLOBAL const uint4* next = data + global_id();
  for (;;) {
    uint batch = passes < passes_to_a_flush ? (uint)passes : passes_to_a_flush;
    passes -= batch;
    for (; batch > 0; --batch) {
      uint4 v[LOADS];
#pragma unroll
      for (int k = 0; k < LOADS; ++k) v[k] = load_once(next + (ulong)k * stride);
      next += LOADS * (ulong)stride;
#pragma unroll
      for (int k = 0; k < LOADS; ++k) other |= add_load(bins, lane, v[k]);
    }
    if (passes == 0) break;
    collect_bins(bins, slots);
    clear_bins(bins);
  }
  if (other != 0) atomic_add_local32(&bins[BINS + OTHERS * COLUMNS + lane], 1);
  collect_bins(bins, slots);

  GLOBAL long* mine = handed_on + (ulong)group_id() * SLOTS;
  for (uint slot = local_id(); slot < SLOTS; slot += GROUP_SIZE) mine[slot] = slots[slot];
#if SAMESUM_DEVICE_FENCE
  // The ticket orders the group's writes before it, and the last group's reads after all of them: the barriers pass that on.
  barrier_all();
  if (local_id() == 0) used[3] = atomic_add_ordered_global32(ticket, 1);
  barrier_all();
  if (used[3] != group_count() - 1) return;
  finish(handed_on, group_count(), result, count, skip_nans, (LOCAL long*)storage, slots, digits, used);
  if (local_id() == 0) *ticket = 0;
#endif
}

KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void sum_exact_finish(GLOBAL const long* handed_on, uint groups, GLOBAL long* result, ulong count, int skip_nans) {
  LOCAL_VAR ulong storage[SCRATCH];
  LOCAL_VAR long slots[SLOTS];
  LOCAL_VAR long digits[EXACT_DIGITS];
  LOCAL_VAR uint used[4];
  finish(handed_on, groups, result, count, skip_nans, (LOCAL long*)storage, slots, digits, used);
}
