// Bins: exact sums of numbers with exponents anywhere, in local memory.
//
// A float is `digits` times a power of 2^8: its mantissa, moved by the lower three bits of its exponent, while the upper bits name the row.
// Digits are cut into pieces of 16 bits, which are added to 32-bit bins by their weight; the product of two floats is that of their digits.
// A group has COLUMNS copies of the bins, so that lanes seldom add to one word. Bins are added to 64-bit rows before they can overflow.

#define SUM_ROW_BITS SUM_ROW_BITS_OF(EXPONENT_BITS)
#define PRODUCT_ROW_BITS PRODUCT_ROW_BITS_OF(EXPONENT_BITS, DOT)
#define ROW_BIT ROW_BIT_OF(EXPONENT_BITS, LOWEST_BIT)
#if FLOATS
#define DIGIT_BITS (FRACTION_BITS + 8)
#define SUM_PIECES SUM_PIECES_OF(FRACTION_BITS)
#define PRODUCT_PIECES ((2 * DIGIT_BITS + 15) / 16)
#else
#define SUM_PIECES 1
#endif
#define SUM_ROWS (SUM ? SUM_ROWS_OF(EXPONENT_BITS) : 0)
#define PRODUCT_ROWS (PRODUCTS ? PRODUCT_ROWS_OF(EXPONENT_BITS, DOT) : 0)
#define FIRST_PRODUCT_ROW SUM_ROWS
#define ALL_ROWS (SUM_ROWS + PRODUCT_ROWS)
#define SIGN_IN_BINS (SUM && SIGN_IN_BINS_OF(EXPONENT_BITS))
#define ELEMENT_ROWS (SUM ? ELEMENT_ROWS_OF(EXPONENT_BITS) : 0)
#define MORE_BINS (SUM ? MORE_BINS_OF(EXPONENT_BITS, FRACTION_BITS) : 0)
#define ALL_BINS (ALL_ROWS + MORE_BINS)
#define FIRST_PRODUCT_BIN (SUM_ROWS + MORE_BINS)
// The bin for additions to row r other than those of elements.
#define BIN_OF_ROW(r) ((int)(r) < ELEMENT_ROWS ? (r) * SUM_PIECES : (r) + MORE_BINS)

#define COLUMNS (1 << COLUMN_BITS)
#define PART 8
#define PARTS (COLUMNS / PART)
// The elements that a work-item may add between collections. A bin has room for 2^15 pieces of 16 bits; an element adds one to it, and with running
// sums that are emptied at times up to two. Sums of integers are in registers, which have room for 2^31 of them.
#define ROOM (FLOATS ? 32768u / (WINDOWS ? 2 : 1) / ((GROUP_SIZE + COLUMNS - 1) / COLUMNS) : 1u << 28)

// Adds the pieces of a number of 64 bits in two's complement to every `step`th row; the last of them has the sign.
FN void add_pieces(LOCAL uint* bin, ulong number, int pieces, int step) {
#pragma unroll
  for (int i = 0; i < pieces; ++i) {
    const uint word = (uint)(number >> (32 * (i / 2)));
    const uint piece = i + 1 == pieces ? (i % 2 ? (uint)((int)word >> 16) : word) : i % 2 ? word >> 16 : word & 0xffffu;
    atomic_add_local32(bin + i * step * COLUMNS, piece);
  }
}
FN ulong with_sign(ulong number, uint negative) {
  const ulong sign = negative ? ~(ulong)0 : 0;
  return (number ^ sign) - sign;
}

#if FLOATS
// Of a finite element: its lowest normal bit where it has the hidden one, else 0.
#if BITS == 64
FN WORD unit_of(WORD x) { return (ulong)min_u32((uint)(x >> 32) & 0x7ff00000u, 0x00100000u) << 32; }
#else
FN WORD unit_of(WORD x) { return min_u32(x & INFINITE, HIDDEN); }
#endif

// The exponent, in the place of its field; its lower three bits say how far the mantissa is moved. With 8 bits it is the field itself, 1 for denormal
// numbers; else one less, as the unit of the rows is larger (layout.h).
FN WORD exponent_of(WORD x) { return x - unit_of(x) + (EXPONENT_BITS == 8 ? HIDDEN : 0); }

// Floats are moved by a multiplication, and cut into pieces by additions, where denormal numbers are kept: fewer instructions than those of integers,
// and on GPUs other units execute them. Not float16, of which running sums hold all finite numbers.
#define BY_FLOATS (SAMESUM_DENORMALS && (BITS == 64 ? SAMESUM_FP64 : EXPONENT_BITS == 8))
#define ROW_SHIFT (34 - EXPONENT_BITS)
typedef struct {
  uint row;  // from bit ROW_SHIFT on; in bit 31 the sign, but of float64 none, because its digits are in two's complement
#if !BY_FLOATS
  WORD digits;
#elif BITS == 64
  uint high;  // digits >> 32, plus 1 where `low` is negative
  ulong low;  // from -2^31 to 2^31: the lower 48 bits of this number, of which the others are those of 0.75
#else
  uint high, low;  // the digits are high * 2^16 + low, of a 16-bit float only `high`
#endif
} DIGITS;

FN DIGITS digits_of(WORD x) {
  DIGITS a;
#if BITS == 64
  a.row = ((uint)(x >> 32) - (uint)(unit_of(x) >> 32)) & 0x7f800000u;
#else
  a.row = ((EXPONENT_BITS == 8 ? x : x - unit_of(x)) << (32 - BITS)) & (~0u << ROW_SHIFT);
#endif
#if !BY_FLOATS
  const WORD digits = ((x & (HIDDEN - 1)) | unit_of(x)) << ((uint)(exponent_of(x) >> FRACTION_BITS) & 7);
  a.digits = BITS == 64 ? with_sign(digits, sign_of(x)) : digits;
#elif BITS == 64
  const double digits = as_double(x) * as_double((ulong)(0x7fc00000u - a.row) << 32);  // times 2^-53
  const double high = digits + 0x1.8p31;                                               // a multiple of 2^-21
  a.high = (uint)as_ulong(high);
  a.low = as_ulong((digits - (high - 0x1.8p31)) + 0.75);
#else
  const float digits = as_float(x << (32 - BITS)) * as_float(0x7e800000u - a.row);  // times 2^-24, of a 16-bit float 2^-8
  const float high = digits + 32768.0f;                                             // a multiple of 2^-8
  a.high = as_uint(high) - as_uint(32768.0f);
  a.low = as_uint((digits - (high - 32768.0f)) + 0.75f) - as_uint(0.75f);
#endif
  return a;
}
FN uint row_of(DIGITS a) { return (a.row & 0x7fffffffu) >> ROW_SHIFT; }
FN WORD number_of(DIGITS a) {
#if !BY_FLOATS
  return a.digits;
#elif BITS == 64
  return ((ulong)a.high << 32) + (a.low - as_ulong(0.75));
#else
  return BITS == 16 ? a.high : (a.high << 16) + a.low;
#endif
}

// Bins are addressed in bytes, which saves a shift.
FN void add_to_sum(LOCAL uint* column, DIGITS a) {
#if BITS == 64
  LOCAL uint* bin = (LOCAL uint*)((LOCAL uchar*)column + (a.row >> (ROW_SHIFT - COLUMN_BITS - 2)));
#if BY_FLOATS
  atomic_add_local32(bin, (uint)a.low & 0xffffu);
  atomic_add_local32(bin + 2 * COLUMNS, (uint)(a.low >> 16));
  atomic_add_local32(bin + 4 * COLUMNS, a.high & 0xffffu);
  atomic_add_local32(bin + 6 * COLUMNS, (uint)((int)a.high >> 16));
#else
  add_pieces(bin, a.digits, SUM_PIECES, 2);
#endif
#else
  // The sign chooses bins too.
  LOCAL uint* bin = (LOCAL uint*)((LOCAL uchar*)column + (a.row >> (ROW_SHIFT - COLUMN_BITS - 1 - SUM_PIECES)));
#if BY_FLOATS
  if (SUM_PIECES == 2) atomic_add_local32(bin, a.low);
  atomic_add_local32(bin + (SUM_PIECES - 1) * COLUMNS, a.high);
#else
  atomic_add_local32(bin, a.digits & 0xffffu);
  if (SUM_PIECES == 2) atomic_add_local32(bin + COLUMNS, a.digits >> 16);
#endif
#endif
}
FN void add_to_products(LOCAL uint* column, DIGITS a, DIGITS b) {
  LOCAL uint* bin = column + (FIRST_PRODUCT_BIN + (DOT ? row_of(a) + row_of(b) : row_of(a))) * COLUMNS;
  const WORD x = number_of(a);
  const WORD y = number_of(b);
  const int step = 16 / PRODUCT_ROW_BITS;
#if BITS == 64
  const ulong low = x * y;
  const ulong high = product_high(x, y) - (x >> 63 ? y : 0) - (y >> 63 ? x : 0);  // of signed numbers
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const uint word = (uint)(low >> (32 * (i / 2)));
    atomic_add_local32(bin + i * step * COLUMNS, i % 2 ? word >> 16 : word & 0xffffu);
  }
  add_pieces(bin + 4 * step * COLUMNS, high, PRODUCT_PIECES - 4, step);
#else
  add_pieces(bin, DOT ? with_sign((ulong)x * y, (a.row ^ b.row) >> 31) : (ulong)x * y, PRODUCT_PIECES, step);
#endif
}
#endif

// Adds magnitude · 2^position, or subtracts it.
FN void add_number(LOCAL uint* column, uint row, uint row_bits, ulong magnitude, uint position, uint sign) {
  const uint shift = position & (row_bits - 1);
  const ulong word1 = (magnitude >> 1) >> (63 - shift);
  const ulong word0 = magnitude << shift;
  row += position / row_bits;
#pragma unroll
  for (uint i = 0; i < 5; ++i) {
    const uint piece = (uint)(i < 4 ? word0 >> (16 * i) : word1) & 0xffffu;
    atomic_add_local32(column + BIN_OF_ROW(row + i * (16 / row_bits)) * COLUMNS, (piece ^ sign) - sign);
  }
}

#if SIGN_IN_BINS
// A row's sum, from the sums of the bins over all columns.
FN long sum_of_bins(LOCAL const long* sums, int row) {
  const int lower = row - 2;  // rows whose elements' second piece weighs this
  long sum = sums[BIN_OF_ROW(row)];
  if (row < ELEMENT_ROWS) sum -= sums[(ELEMENT_ROWS + row) * SUM_PIECES];
  if (SUM_PIECES == 2 && lower >= 0 && lower < ELEMENT_ROWS) sum += sums[2 * lower + 1] - sums[2 * (ELEMENT_ROWS + lower) + 1];
  return sum;
}
#endif

// Adds the columns of each bin to the rows, and the group's counters to the words after the rows; clears both. All work-items of the group call
// it. `sums` has a word for each bin.
FN void collect_bins(LOCAL uint* bins, LOCAL uint* counters, LOCAL long* sums, LOCAL long* rows) {
  barrier_local();
  for (uint i = local_id(); i < RECORD_COUNTERS; i += GROUP_SIZE) {
    rows[ALL_ROWS + i] += counters[i];
    counters[i] = 0;
  }
#if LANES > 1 && COLUMNS >= PART
  // A work-item adds PART columns; neighbouring work-items have the parts of one bin.
  LOCAL uint4* parts = (LOCAL uint4*)bins;
  for (uint first = 0; first < ALL_BINS * PARTS; first += GROUP_SIZE) {
    const uint i = first + local_id();
    long sum = 0;
    if (i < ALL_BINS * PARTS) {
      const uint4 a = parts[2 * i];
      const uint4 b = parts[2 * i + 1];
      parts[2 * i] = parts[2 * i + 1] = make_uint4(0, 0, 0, 0);
      sum = (long)(int)a.x + (int)a.y + (int)a.z + (int)a.w + (int)b.x + (int)b.y + (int)b.z + (int)b.w;
    }
#pragma unroll
    for (uint distance = 1; distance < PARTS; distance *= 2) sum += subgroup_shuffle64(sum, (local_id() ^ distance) & (LANES - 1));
    if (i < ALL_BINS * PARTS && i % PARTS == 0) sums[i / PARTS] = SIGN_IN_BINS ? sum : sums[i / PARTS] + sum;
  }
#else
  for (uint bin = local_id(); bin < ALL_BINS; bin += GROUP_SIZE) {
    long sum = 0;
    for (uint i = 0; i < COLUMNS; ++i) {
      const uint column = (i + bin) & (COLUMNS - 1);  // bins begin in different banks
      sum += (int)bins[bin * COLUMNS + column];
      bins[bin * COLUMNS + column] = 0;
    }
    sums[bin] = SIGN_IN_BINS ? sum : sums[bin] + sum;
  }
#endif
#if SIGN_IN_BINS
  barrier_local();
  for (uint row = local_id(); row < ALL_ROWS; row += GROUP_SIZE) rows[row] += sum_of_bins(sums, (int)row);
#endif
  barrier_local();
}

// Digit i of the sum of the rows: each row extends over three digits.
FN long digit_of_rows(LOCAL const long* rows, int row_count, int row_bits, int digit) {
  const int rows_to_a_digit = 32 / row_bits;
  long sum = 0;
#pragma unroll
  for (int i = 0; i < 3 * rows_to_a_digit; ++i) {
    const int row = (digit - 2) * rows_to_a_digit + i, shift = row_bits * (i % rows_to_a_digit);
    if (row < 0 || row >= row_count) continue;
    const ulong low = ((ulong)rows[row] & 0xffffffffu) << shift;
    const long high = (long)((ulong)(rows[row] >> 32) << shift);
    const int below = 2 - i / rows_to_a_digit;  // digits from the row's first one
    sum += below == 0 ? (long)(low & 0xffffffffu) : below == 1 ? (long)(low >> 32) + (high & 0xffffffffL) : high >> 32;
  }
  return sum;
}
