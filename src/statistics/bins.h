// Bins: exact sums of numbers with exponents anywhere, in local memory.
//
// Each number is cut into pieces of 16 bits, which are added to or taken off 32-bit bins by their weight; a group has COLUMNS columns of bins,
// so that lanes seldom meet. Bins are collected in 64-bit rows before they can overflow.

// Rows: row r of the sum weighs 2^(16 r) in units of the least positive number, row r of the products in those of its square.
#if !FLOATS
#define SUM_ROWS 8
#define PRODUCT_ROWS 12
#elif BITS == 64
#define SUM_ROWS 132
#define PRODUCT_ROWS 263
#else
#define MOST_POSITION ((1 << EXPONENT_BITS) - 3)
#define SUM_PIECES ((FRACTION_BITS + 16 + 15) / 16)
#define PRODUCT_PIECES ((2 * FRACTION_BITS + 2 + 15 + 15) / 16)
// Two more than elements need, for the pieces of running sums.
#define SUM_ROWS ((MOST_POSITION >> 4) + SUM_PIECES + 2)
#define PRODUCT_ROWS ((2 * MOST_POSITION >> 4) + PRODUCT_PIECES + 2)
#endif
#define FIRST_PRODUCT_ROW (SUM ? SUM_ROWS : 0)
#define ALL_ROWS (FIRST_PRODUCT_ROW + (PRODUCTS ? PRODUCT_ROWS : 0))
#define ROOMY_ROWS (ALL_ROWS > 0 ? ALL_ROWS : 1)

#define COLUMNS (1 << COLUMN_BITS)
// Elements that a work-item adds between collections: a bin takes 2^15 pieces of 16 bits, and one of each element; with running sums that
// are emptied now and then, up to two.
#define ROOM (32768u / (WINDOWS ? 2 : 1) / ((GROUP_SIZE + COLUMNS - 1) / COLUMNS))

FN void add_piece(LOCAL uint* column, uint row, uint piece, uint sign) { atomic_add_local32(column + row * COLUMNS, (piece ^ sign) - sign); }

// Adds `pieces` pieces of high:low · 2^position.
FN void add_number(LOCAL uint* column, uint row, ulong low, ulong high, uint position, uint sign, uint pieces) {
  const uint shift = position & 15;
  const ulong word1 = high << shift | (low >> 1) >> (63 - shift);
  const ulong word0 = low << shift;
  row += position >> 4;
#pragma unroll
  for (uint i = 0; i < pieces; ++i) add_piece(column, row + i, (uint)((i < 4 ? word0 : word1) >> (16 * (i & 3))) & 0xffffu, sign);
}

// Adds the columns of each row up, and clears them. All work-items of the group come here.
FN void collect_bins(LOCAL uint* bins, LOCAL long* rows) {
#if ALL_ROWS > 0
  barrier_local();
  for (uint row = local_id(); row < ALL_ROWS; row += GROUP_SIZE) {
    long sum = 0;
    for (uint i = 0; i < COLUMNS; ++i) {
      const uint column = (i + row) & (COLUMNS - 1);  // rows begin in different banks
      sum += (int)bins[row * COLUMNS + column];
      bins[row * COLUMNS + column] = 0;
    }
    rows[row] += sum;
  }
  barrier_local();
#endif
}
