// Where the words of results lie, which kernels write and the host reads: one source for both, so macros alone. A float format is an
// argument, as its exponent bits; integers have none.

// A record of collect.cl, in 64-bit words: what there is to know of the extremes, digits of the sum, digits of the products, counters.
// What is not asked for has no digits. Records of sums by exponent_window kernels have the digits and the counters of one sum.
#define RECORD_MAX_KEY 0
#define RECORD_MIN_KEY 1
#define RECORD_INDICES 2     // of the maximum in the upper half, of the minimum in the lower
#define RECORD_NANS 3        // their number in the upper half, the index of the first in the lower
#define RECORD_EXTREMES 4    // words
#define COUNTER_NANS 0       // among the elements, or the products
#define COUNTER_POSITIVE_INFINITIES 1
#define COUNTER_NEGATIVE_INFINITIES 2
#define COUNTER_OTHERS 3     // of floats: work-items that met anything but -0.0 and NaN
#define SUM_COUNTERS 4       // the number of counters of a sum
#define COUNTER_NONZEROS 4
#define RECORD_COUNTERS 5

// The words of all groups (meet.h) lie SPACING words apart, because a device executes additions to one line of memory one after the other. Their
// lowest RECORD_COUNT_BITS count up to MAX_GROUPS groups. The sum of that many words stays under 2^49.
#define SPACING 16
#define RECORD_COUNT_BITS 12
#define MAX_GROUPS 4095

// Exact sums are kept in rows of 64 bits: row r weighs 2^(row_bits r) in units of the least positive number (of products: of its square).
// There are some more than elements need, for the pieces of running sums. Squares need no row between those of 16 bits.
#define FLOAT_POSITIONS(exponent_bits) ((1 << (exponent_bits)) - 3)
// With exponent fields of 8 bits the unit is half the least positive number: a row then follows from the exponent field itself, although its values 0
// and 1 weigh the same.
#define ROW_BIT_OF(exponent_bits, lowest_bit) ((lowest_bit) + ((exponent_bits) == 8 ? 1 : 0))
#define SUM_ROW_BITS_OF(exponent_bits) ((exponent_bits) != 0 ? 8 : 16)
#define SUM_ROWS_OF(exponent_bits) ((exponent_bits) != 0 ? FLOAT_POSITIONS(exponent_bits) / 8 + 16 : 8)
#define PRODUCT_ROW_BITS_OF(exponent_bits, dot) ((exponent_bits) != 0 && (dot) ? 8 : 16)
#define PRODUCT_ROWS_OF(exponent_bits, dot) \
  ((exponent_bits) == 0 ? 12 : (dot) ? FLOAT_POSITIONS(exponent_bits) / 4 + 32 : FLOAT_POSITIONS(exponent_bits) / 8 + 16)

// Bins (bins.h): one for each of the rows above, into which a row's elements add their lowest piece; the others go to the rows after it. Or (OWN_BINS,
// where squares of numbers with exponent fields of 8 bits are added up) rows of elements have bins of their own, by piece: such a row has fewer
// exponents than 2^3, and the squares of its elements a piece less.
#define ROW_EXPONENTS_OF(fraction_bits) ((fraction_bits) == 23 ? 2 : 1)
#define ELEMENT_ROWS_OF(exponent_bits, fraction_bits) (1 << ((exponent_bits) - ROW_EXPONENTS_OF(fraction_bits)))
// The bits of an element's digits, in pieces of 16 bits; of squares in such that bins seldom need to be emptied.
#define ELEMENT_DIGITS_OF(fraction_bits) ((fraction_bits) + (1 << ROW_EXPONENTS_OF(fraction_bits)))
#define SQUARE_PIECE_BITS 18
#define SUM_PIECES_OF(fraction_bits) ((ELEMENT_DIGITS_OF(fraction_bits) + 15) / 16)
#define SQUARE_PIECES_OF(fraction_bits) ((2 * ELEMENT_DIGITS_OF(fraction_bits) + SQUARE_PIECE_BITS - 1) / SQUARE_PIECE_BITS)
// Rows beyond those of elements have a bin each.
#define OWN_SUM_BINS_OF(exponent_bits, fraction_bits) \
  (SUM_ROWS_OF(exponent_bits) - (1 << (exponent_bits)) / 8 + ELEMENT_ROWS_OF(exponent_bits, fraction_bits) * SUM_PIECES_OF(fraction_bits))
#define OWN_SQUARE_BINS_OF(exponent_bits, fraction_bits)            \
  (PRODUCT_ROWS_OF(exponent_bits, 0) - (1 << (exponent_bits)) / 8 + \
   ELEMENT_ROWS_OF(exponent_bits, fraction_bits) * SQUARE_PIECES_OF(fraction_bits))

// Rows become digits, of which digit i weighs 2^(32 i) in the same units: two more than the rows begin in, for carries and the sign.
#define DIGITS_OF(rows, row_bits) ((rows) * (row_bits) / 32 + 2)
