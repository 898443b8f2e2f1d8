// Bins: exact sums of numbers with exponents anywhere, in local memory.
//
// A float is `digits` times a power of 2^8: its mantissa, moved by the lower three bits of its exponent, while the upper bits name the row.
// Digits are cut into pieces of 16 bits, which are added to 32-bit bins by their weight; the product of two floats is that of their digits.
// A group has COLUMNS columns of bins, so that lanes seldom meet. Bins are collected in 64-bit rows before they can overflow.

// Row r of the sum weighs 2^(SUM_ROW_BITS r) in units of the least positive number, row r of the products 2^(PRODUCT_ROW_BITS r) in units
// of its square. Squares need no row between those of 16 bits.
#if !FLOATS
#define SUM_ROW_BITS 16
#define PRODUCT_ROW_BITS 16
#define SUM_ROWS 8
#define PRODUCT_ROWS 12
#else
#define SUM_ROW_BITS 8
#define PRODUCT_ROW_BITS (DOT ? 8 : 16)
#define MOST_POSITION ((1 << EXPONENT_BITS) - 3)
#define DIGIT_BITS (FRACTION_BITS + 8)
#define SUM_PIECES ((DIGIT_BITS + 15) / 16)
#define PRODUCT_PIECES ((2 * DIGIT_BITS + 15) / 16)
// Some more than elements need, for the pieces of running sums.
#define SUM_ROWS (MOST_POSITION / SUM_ROW_BITS + 16)
#define PRODUCT_ROWS (2 * MOST_POSITION / PRODUCT_ROW_BITS + (DOT ? 32 : 16))
#endif
#define FIRST_PRODUCT_ROW (SUM ? SUM_ROWS : 0)
#define ALL_ROWS (FIRST_PRODUCT_ROW + (PRODUCTS ? PRODUCT_ROWS : 0))

#define COLUMNS (1 << COLUMN_BITS)
#define PART 8
#define PARTS (COLUMNS / PART)
// Elements that a work-item adds between collections: a bin takes 2^15 pieces of 16 bits, and one of each element; with running sums that
// are emptied now and then, up to two.
#define ROOM (32768u / (WINDOWS ? 2 : 1) / ((GROUP_SIZE + COLUMNS - 1) / COLUMNS))

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
// Of a finite element: its lowest normal bit where it has the hidden one, else 0; and the exponent less one, if there is one, in its place,
// so that denormals and the first binade share a weight.
#if BITS == 64
FN WORD unit_of(WORD x) { return (ulong)min_u32((uint)(x >> 32) & 0x7ff00000u, 0x00100000u) << 32; }
#else
FN WORD unit_of(WORD x) { return min_u32(x & INFINITE, HIDDEN); }
#endif
FN WORD digits_of(WORD x) {
  const WORD unit = unit_of(x);
  return ((x & (HIDDEN - 1)) | unit) << ((uint)((x - unit) >> FRACTION_BITS) & 7);
}
FN uint row_of(WORD x) { return (uint)((x - unit_of(x)) >> (FRACTION_BITS + 3)) & ((1u << (EXPONENT_BITS - 3)) - 1); }

FN void add_to_sum(LOCAL uint* column, WORD x) {
  add_pieces(column + row_of(x) * COLUMNS, with_sign(digits_of(x), sign_of(x)), SUM_PIECES, 2);
}
FN void add_to_products(LOCAL uint* column, WORD x, WORD y) {
  const WORD a = digits_of(x);
  const WORD b = digits_of(y);
  LOCAL uint* bin = column + (FIRST_PRODUCT_ROW + (DOT ? row_of(x) + row_of(y) : row_of(x))) * COLUMNS;
  const int step = 16 / PRODUCT_ROW_BITS;
#if BITS == 64
  const ulong low = a * b;
  const ulong high = product_high(a, b);
  const uint negative = DOT && sign_of(x ^ y);
  const ulong lower = negative ? 0 - low : low;
  const ulong upper = negative ? ~high + (low == 0) : high;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const uint word = (uint)(lower >> (32 * (i / 2)));
    atomic_add_local32(bin + i * step * COLUMNS, i % 2 ? word >> 16 : word & 0xffffu);
  }
  add_pieces(bin + 4 * step * COLUMNS, upper, PRODUCT_PIECES - 4, step);
#else
  add_pieces(bin, DOT ? with_sign((ulong)a * b, sign_of(x ^ y)) : (ulong)a * b, PRODUCT_PIECES, step);
#endif
}
#endif

// Adds magnitude · 2^position, or takes it off.
FN void add_number(LOCAL uint* column, uint row, uint row_bits, ulong magnitude, uint position, uint sign) {
  const uint shift = position & (row_bits - 1);
  const ulong word1 = (magnitude >> 1) >> (63 - shift);
  const ulong word0 = magnitude << shift;
  row += position / row_bits;
#pragma unroll
  for (uint i = 0; i < 5; ++i) {
    const uint piece = (uint)(i < 4 ? word0 >> (16 * i) : word1) & 0xffffu;
    atomic_add_local32(column + (row + i * (16 / row_bits)) * COLUMNS, (piece ^ sign) - sign);
  }
}

// Adds the columns of each row up, and clears them. All work-items of the group come here.
FN void collect_bins(LOCAL uint* bins, LOCAL long* rows) {
#if ALL_ROWS > 0
  barrier_local();
#if LANES > 1 && COLUMNS >= PART
  // PART columns are a work-item's; the parts of a row are neighbours'.
  LOCAL uint4* parts = (LOCAL uint4*)bins;
  for (uint first = 0; first < ALL_ROWS * PARTS; first += GROUP_SIZE) {
    const uint i = first + local_id();
    long sum = 0;
    if (i < ALL_ROWS * PARTS) {
      const uint4 a = parts[2 * i];
      const uint4 b = parts[2 * i + 1];
      parts[2 * i] = parts[2 * i + 1] = make_uint4(0, 0, 0, 0);
      sum = (long)(int)a.x + (int)a.y + (int)a.z + (int)a.w + (int)b.x + (int)b.y + (int)b.z + (int)b.w;
    }
#pragma unroll
    for (uint distance = 1; distance < PARTS; distance *= 2) sum += subgroup_shuffle64(sum, (local_id() ^ distance) & (LANES - 1));
    if (i < ALL_ROWS * PARTS && i % PARTS == 0) rows[i / PARTS] += sum;
  }
#else
  for (uint row = local_id(); row < ALL_ROWS; row += GROUP_SIZE) {
    long sum = 0;
    for (uint i = 0; i < COLUMNS; ++i) {
      const uint column = (i + row) & (COLUMNS - 1);  // rows begin in different banks
      sum += (int)bins[row * COLUMNS + column];
      bins[row * COLUMNS + column] = 0;
    }
    rows[row] += sum;
  }
#endif
  barrier_local();
#endif
}
