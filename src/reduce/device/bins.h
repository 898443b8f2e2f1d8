// Bins: exact sums of numbers with exponents anywhere, in local memory.
//
// A float is `digits` times a power of two: its mantissa, moved by the lower bits of its exponent, while the upper bits name the row. Digits are cut into
// pieces, which are added to 32-bit bins by their weight; the product of two floats is that of their digits. A group has COLUMNS copies of the
// bins, so that lanes seldom add to one word. Bins are added to 64-bit sums before they can overflow, and these are in the end the rows of layout.h, or
// are added up to them.

#define SUM_ROW_BITS SUM_ROW_BITS_OF(EXPONENT_BITS)
#define PRODUCT_ROW_BITS PRODUCT_ROW_BITS_OF(EXPONENT_BITS, DOT)
#define ROW_BIT ROW_BIT_OF(EXPONENT_BITS, LOWEST_BIT)
#define SUM_ROWS (SUM ? SUM_ROWS_OF(EXPONENT_BITS) : 0)
#define PRODUCT_ROWS (PRODUCTS ? PRODUCT_ROWS_OF(EXPONENT_BITS, DOT) : 0)
#define FIRST_PRODUCT_ROW SUM_ROWS
#define ALL_ROWS (SUM_ROWS + PRODUCT_ROWS)
#if OWN_BINS
// All rows' bins of the first piece, those of the second, …
#define ROW_EXPONENTS ROW_EXPONENTS_OF(FRACTION_BITS)
#define SUM_PIECES SUM_PIECES_OF(FRACTION_BITS)
#define PRODUCT_PIECES SQUARE_PIECES_OF(FRACTION_BITS)
#define PRODUCT_PIECE_BITS SQUARE_PIECE_BITS
#define FIRST_PRODUCT_BIN (SUM ? OWN_SUM_BINS_OF(EXPONENT_BITS, FRACTION_BITS) : 0)
#define ALL_BINS (FIRST_PRODUCT_BIN + OWN_SQUARE_BINS_OF(EXPONENT_BITS, FRACTION_BITS))
#define ELEMENT_ROWS ELEMENT_ROWS_OF(EXPONENT_BITS, FRACTION_BITS)
#define SUM_STEP ELEMENT_ROWS  // from a piece's bin to that of the next
#define PRODUCT_STEP ELEMENT_ROWS
#else
// A bin for each row: that of the first piece, those after it.
#define ROW_EXPONENTS (FLOATS ? 3 : 0)
#define SUM_PIECES ((FRACTION_BITS + 8 + 15) / 16)
#define PRODUCT_PIECES ((2 * (FRACTION_BITS + 8) + 15) / 16)
#define PRODUCT_PIECE_BITS 16
#define FIRST_PRODUCT_BIN FIRST_PRODUCT_ROW
#define ALL_BINS ALL_ROWS
#define SUM_STEP (16 / SUM_ROW_BITS)
#define PRODUCT_STEP (16 / PRODUCT_ROW_BITS)
#endif
#define PRODUCT_ROW_EXPONENTS (DOT ? ROW_EXPONENTS : ROW_EXPONENTS + 1)

#define COLUMNS (1 << COLUMN_BITS)
#define PART 8
#define PARTS (COLUMNS / PART)
// The elements that a work-item may add between collections. Pieces of elements take three quarters of a bin's room. The rest is for running sums, whose
// pieces of 16 bits are at most 12 in ELEMENTS_A_WINDOW elements. Sums of integers are in registers, which have room for 2^31 of them.
#define LARGEST_PIECE (PRODUCTS ? PRODUCT_PIECE_BITS : 16)
#define COLUMN_SHARERS ((GROUP_SIZE + COLUMNS - 1) / COLUMNS)
#define ROOM (FLOATS ? (3u << (29 - LARGEST_PIECE)) / COLUMN_SHARERS : 1u << 28)
// So many times that, if all are in running sums.
#if WINDOWS
#define ROOM_OF_WINDOWS ((ELEMENTS_A_WINDOW << (LARGEST_PIECE - 16)) / 64)
#else
#define ROOM_OF_WINDOWS 1
#endif

// The group's counters: those of the record, and whether elements were added to bins in tiles of even and of odd turns (statistics.cl).
#define IN_BINS RECORD_COUNTERS
#define COUNTERS (RECORD_COUNTERS + 2)

// A loop over i < n by the work-items of a group, from this work-item's first i on. On GPUs the number of turns is a constant, mostly 1: then the
// compiler leaves no loop. PoCL 3.1 compiles that form of publish_words() to wrong code, so devices without sub-groups have a plain loop.
#if LANES > 1
#define FOR_EACH_FROM(i, first, n) \
  _Pragma("unroll") for (uint i = (first), turn = 0; turn < ((n) + GROUP_SIZE - 1) / GROUP_SIZE; ++turn, i += GROUP_SIZE) if (i < (n))
#else
#define FOR_EACH_FROM(i, first, n) for (uint i = (first); i < (n); i += GROUP_SIZE)
#endif
#define FOR_EACH(i, n) FOR_EACH_FROM(i, local_id(), n)
#define FOR_EACH_BY_LAST(i, n) FOR_EACH_FROM(i, GROUP_SIZE - 1 - local_id(), n)  // from the last work-item on

FN void add_piece(LOCAL uint* bins, uint piece, uint bin) { atomic_add_local32(bins + bin * COLUMNS, piece); }

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
#define ROW_SHIFT (31 - EXPONENT_BITS + ROW_EXPONENTS)
#define ROW_MASK (0x7fffffffu & ~0u << ROW_SHIFT)
typedef struct {
  uint row;  // from bit ROW_SHIFT on
#if BITS < 64
  int digits;
#elif !BY_FLOATS
  ulong digits;
#else
  uint high;  // digits >> 32, plus 1 where `low` is negative
  ulong low;  // from -2^31 to 2^31: the lower 48 bits of this number, of which the others are those of 0.75
#endif
} DIGITS;

FN DIGITS digits_of(WORD x) {
  DIGITS a;
#if BITS == 64
  a.row = ((uint)(x >> 32) - (uint)(unit_of(x) >> 32)) & ROW_MASK;
#else
  a.row = ((EXPONENT_BITS == 8 ? x : x - unit_of(x)) << (32 - BITS)) & ROW_MASK;
#endif
#if !BY_FLOATS
  const WORD shift = exponent_of(x) >> FRACTION_BITS & ((1 << ROW_EXPONENTS) - 1);
  const WORD digits = ((x & (HIDDEN - 1)) | unit_of(x)) << shift;
  a.digits = BITS == 64 ? with_sign(digits, sign_of(x)) : (int)with_sign(digits, sign_of(x));
#elif BITS == 64
  const double digits = as_double(x) * as_double((ulong)(0x7fc00000u - a.row) << 32);  // times 2^-53
  const double high = digits + 0x1.8p31;                                               // a multiple of 2^-21
  a.high = (uint)as_ulong(high);
  a.low = as_ulong((digits - (high - 0x1.8p31)) + 0.75);
#elif BITS == 32
  a.digits = (int)(as_float(x) * as_float(0x7e800000u - a.row) * 0x1p24f);
#else
  const float root = as_float(0x5f000000u - (a.row >> 1));                            // the power itself may be denormal
  const float sum = fma_rn_f32(as_float(x << 16) * root, root, 49152.0f);  // of digits times 2^-8
  a.digits = (int)(as_uint(sum) - as_uint(49152.0f));
#endif
  return a;
}

// Bins are addressed in bytes, which saves a shift.
FN LOCAL uint* bin_of_row(LOCAL uint* column, uint row) { return (LOCAL uint*)((LOCAL uchar*)column + (row >> (ROW_SHIFT - COLUMN_BITS - 2))); }

FN void add_to_sum(LOCAL uint* column, DIGITS a) {
  LOCAL uint* bin = bin_of_row(column, a.row);
#if BITS < 64
  add_piece(bin, SUM_PIECES == 2 ? a.digits & 0xffffu : (uint)a.digits, 0);
  if (SUM_PIECES == 2) add_piece(bin, (uint)(a.digits >> 16), SUM_STEP);
#elif BY_FLOATS
  add_piece(bin, (uint)a.low & 0xffffu, 0);
  add_piece(bin, (uint)(a.low >> 16), SUM_STEP);
  add_piece(bin, a.high & 0xffffu, 2 * SUM_STEP);
  add_piece(bin, (uint)((int)a.high >> 16), 3 * SUM_STEP);
#else
#pragma unroll
  for (int i = 0; i < 4; ++i) add_piece(bin, i == 3 ? (uint)((long)a.digits >> 48) : (uint)(a.digits >> (16 * i)) & 0xffffu, i * SUM_STEP);
#endif
}
#if BITS == 64
// Digits as high_digits * 2^32 + low_digits, both signed. opaque(): else NVIDIA's compilers multiply numbers of 64 bits, which takes three times as
// many instructions.
FN int low_digits(DIGITS a) {
#if BY_FLOATS
  return (int)opaque((uint)a.low);
#else
  return (int)opaque((uint)a.digits);
#endif
}
FN int high_digits(DIGITS a) {
#if BY_FLOATS
  return (int)(a.high + ((uint)(a.low >> 32) - 0x3fe80000u) + ((uint)a.low >> 31));
#else
  return (int)(uint)((a.digits + 0x80000000u) >> 32);
#endif
}
FN void add_to_products(LOCAL uint* column, DIGITS a, DIGITS b) {
  // Shifted before they are added, which needs fewer registers.
  LOCAL uint* bin = DOT ? column + ((a.row >> ROW_SHIFT) + (b.row >> ROW_SHIFT)) * COLUMNS : bin_of_row(column, a.row);
  bin += FIRST_PRODUCT_BIN * COLUMNS;
  const int a0 = low_digits(a), a1 = high_digits(a);
#if DOT
  const int b0 = low_digits(b), b1 = high_digits(b);
  const long low = (long)a0 * b0;
  const long middle = (long)a1 * b0 + ((long)a0 * b1 + (low >> 32));
  const long high = (long)a1 * b1 + (middle >> 32);
#else
  const ulong low = (ulong)((long)a0 * a0);
  const long middle = (long)a0 * (2 * a1) + (long)(low >> 32);
  const long high = (long)a1 * a1 + (middle >> 32);
#endif
  const uint words[4] = {(uint)low, (uint)middle, (uint)high, (uint)(high >> 32)};
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const uint word = words[i / 2];
    add_piece(bin, i == 7 ? (uint)((int)word >> 16) : i % 2 ? word >> 16 : word & 0xffffu, i * PRODUCT_STEP);
  }
}
#else
FN void add_to_products(LOCAL uint* column, DIGITS a, DIGITS b) {
  LOCAL uint* bin = bin_of_row(column, DOT ? a.row + b.row : a.row) + FIRST_PRODUCT_BIN * COLUMNS;
  const long product = (long)a.digits * b.digits;
  const uint mask = (1u << PRODUCT_PIECE_BITS) - 1;
#pragma unroll
  for (int i = 0; i < PRODUCT_PIECES; ++i) {
    const uint rest = (uint)(product >> (i * PRODUCT_PIECE_BITS));
    add_piece(bin, i == PRODUCT_PIECES - 1 ? rest : rest & mask, i * PRODUCT_STEP);
  }
}
#endif
#endif

// A row's bin, for additions other than those of elements. `product`: of the products' rows.
FN uint bin_of(uint row, const uint product) {
#if OWN_BINS
  const uint to_a_row = product ? PRODUCT_ROW_BITS >> PRODUCT_ROW_EXPONENTS : SUM_ROW_BITS >> ROW_EXPONENTS;
  const uint pieces = product ? PRODUCT_PIECES : SUM_PIECES, first = product ? FIRST_PRODUCT_BIN : 0;
  return first + (row * to_a_row < ELEMENT_ROWS ? row * to_a_row : row + pieces * ELEMENT_ROWS - ELEMENT_ROWS / to_a_row);
#else
  return (product ? FIRST_PRODUCT_BIN : 0) + row;
#endif
}

// Adds magnitude · 2^position to rows from `row` on, or subtracts it.
FN void add_number(LOCAL uint* column, uint row, const uint product, ulong magnitude, uint position, uint sign) {
  const uint row_bits = product ? PRODUCT_ROW_BITS : SUM_ROW_BITS;
  const uint shift = position & (row_bits - 1);
  const ulong word1 = (magnitude >> 1) >> (63 - shift);
  const ulong word0 = magnitude << shift;
  row += position / row_bits;
#pragma unroll
  for (uint i = 0; i < 5; ++i) {
    const uint piece = (uint)(i < 4 ? word0 >> (16 * i) : word1) & 0xffffu;
    add_piece(column, (piece ^ sign) - sign, bin_of(row + i * (16 / row_bits), product));
  }
}

// Adds the columns of each bin, and the group's counters after them, to `sums`; clears both. All work-items of the group call it.
FN void collect_bins(LOCAL uint* bins, LOCAL uint* counters, LOCAL long* sums) {
  barrier_local();
  FOR_EACH(i, COUNTERS) {
    if (i < RECORD_COUNTERS) sums[ALL_BINS + i] += counters[i];
    counters[i] = 0;
  }
#if LANES > 1 && COLUMNS >= PART
  // A work-item adds PART columns; neighbouring work-items have the parts of one bin. Most bins are empty in most data.
  LOCAL uint4* parts = (LOCAL uint4*)bins;
  for (uint first = 0; first < ALL_BINS * PARTS; first += GROUP_SIZE) {
    const uint i = first + local_id(), in_bins = i < ALL_BINS * PARTS;
    LOCAL uint4* part = parts + 2 * i - i % PARTS;  // and PARTS further: neighbours read what lies side by side
    uint4 a = make_uint4(0, 0, 0, 0);
    uint4 b = a;
    if (in_bins) {
      a = part[0];
      b = part[PARTS];
    }
    if (!ANY_LANE((a.x | a.y | a.z | a.w | b.x | b.y | b.z | b.w) != 0)) continue;
    if (in_bins) part[0] = part[PARTS] = make_uint4(0, 0, 0, 0);
    long sum = (long)(int)a.x + (int)a.y + (int)a.z + (int)a.w + (int)b.x + (int)b.y + (int)b.z + (int)b.w;
#pragma unroll
    for (uint distance = 1; distance < PARTS; distance *= 2) sum += subgroup_shuffle64(sum, (local_id() ^ distance) & (LANES - 1));
    if (in_bins && i % PARTS == 0) sums[i / PARTS] += sum;
  }
#else
  for (uint bin = local_id(); bin < ALL_BINS; bin += GROUP_SIZE) {
    long sum = 0;
    for (uint i = 0; i < COLUMNS; ++i) {
      const uint column = (i + bin) & (COLUMNS - 1);  // bins begin in different banks
      sum += (int)bins[bin * COLUMNS + column];
      bins[bin * COLUMNS + column] = 0;
    }
    sums[bin] += sum;
  }
#endif
  barrier_local();
}

#if OWN_BINS
// What the bins add to a row, in two halves, because the lower bits of such a sum may be moved up by the width of a row.
FN long row_of_bins(LOCAL const long* sums, int row, const uint product) {
  const int exponents = product ? PRODUCT_ROW_EXPONENTS : ROW_EXPONENTS, row_bits = product ? PRODUCT_ROW_BITS : SUM_ROW_BITS;
  const int pieces = product ? PRODUCT_PIECES : SUM_PIECES;
  const int past = row - (ELEMENT_ROWS << exponents) / row_bits;
  long sum = past >= 0 ? sums[pieces * ELEMENT_ROWS + past] : 0;
#pragma unroll
  for (int i = 0; i < 2 * pieces; ++i) {
    const int position = row * row_bits - i / 2 * (product ? PRODUCT_PIECE_BITS : 16) - i % 2 * 32;
    const int first = (position + (1 << exponents) - 1) >> exponents;  // the first bin of the piece that begins in the row
#pragma unroll
    for (int bin = first; bin < first + (row_bits >> exponents); ++bin) {
      if (bin < 0 || bin >= ELEMENT_ROWS) continue;
      const long of_bin = sums[i / 2 * ELEMENT_ROWS + bin];
      sum += (long)((ulong)(i % 2 ? of_bin >> 32 : of_bin & 0xffffffffL) << ((bin << exponents) - position));
    }
  }
  return sum;
}
#endif

// Turns the sums of bins into those of rows, and copies the counters after them. Where each row has one bin, both are one array.
FN void add_bins_to_rows(LOCAL const long* sums, LOCAL long* rows) {
#if OWN_BINS
#if SUM
  FOR_EACH(i, SUM_ROWS) rows[i] = row_of_bins(sums, (int)i, 0);
#endif
#if PRODUCTS
  FOR_EACH_BY_LAST(i, PRODUCT_ROWS) rows[FIRST_PRODUCT_ROW + i] = row_of_bins(sums + FIRST_PRODUCT_BIN, (int)i, 1);
#endif
  FOR_EACH(i, RECORD_COUNTERS) rows[ALL_ROWS + i] = sums[ALL_BINS + i];
  barrier_local();
#endif
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
