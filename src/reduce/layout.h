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

// Bins (bins.h) of floats with 16 and 32 bits are by row of elements, and by piece. Such a row has 2^ROW_EXPONENTS exponents: fewer than 2^3 where the
// squares of a row's elements then have a piece less. Other numbers have a bin for each of the rows above.
#define OWN_BINS_OF(exponent_bits) ((exponent_bits) == 5 || (exponent_bits) == 8)
#define ROW_EXPONENTS_OF(exponent_bits, fraction_bits, dot) \
  ((exponent_bits) == 0 ? 0 : (exponent_bits) != 8 || (dot) ? 3 : (fraction_bits) == 23 ? 2 : 1)
#define ELEMENT_ROWS_OF(exponent_bits, fraction_bits, dot) (1 << ((exponent_bits) - ROW_EXPONENTS_OF(exponent_bits, fraction_bits, dot)))
#define ELEMENT_PRODUCT_ROWS_OF(exponent_bits, fraction_bits, dot) \
  ((dot) ? 2 * ELEMENT_ROWS_OF(exponent_bits, fraction_bits, dot) - 1 : ELEMENT_ROWS_OF(exponent_bits, fraction_bits, dot))
// The bits of an element's digits, in pieces of 16 bits; of products in such that bins seldom need to be emptied.
#define ELEMENT_DIGITS_OF(exponent_bits, fraction_bits, dot) ((fraction_bits) + (1 << ROW_EXPONENTS_OF(exponent_bits, fraction_bits, dot)))
#define PRODUCT_PIECE_BITS_OF(exponent_bits, dot) ((exponent_bits) == 8 && !(dot) ? 18 : 16)
#define SUM_PIECES_OF(exponent_bits, fraction_bits, dot) ((ELEMENT_DIGITS_OF(exponent_bits, fraction_bits, dot) + 15) / 16)
#define PRODUCT_PIECES_OF(exponent_bits, fraction_bits, dot)                                                            \
  ((2 * ELEMENT_DIGITS_OF(exponent_bits, fraction_bits, dot) + PRODUCT_PIECE_BITS_OF(exponent_bits, dot) - 1) / \
   PRODUCT_PIECE_BITS_OF(exponent_bits, dot))
// Rows beyond those of elements have a bin each.
#define SUM_BINS_OF(exponent_bits, fraction_bits, dot)                                                                             \
  (SUM_ROWS_OF(exponent_bits) + (OWN_BINS_OF(exponent_bits) ? ELEMENT_ROWS_OF(exponent_bits, fraction_bits, dot) *                 \
                                                                  SUM_PIECES_OF(exponent_bits, fraction_bits, dot) -               \
                                                                  (1 << (exponent_bits)) / SUM_ROW_BITS_OF(exponent_bits)          \
                                                            : 0))
#define PRODUCT_BINS_OF(exponent_bits, fraction_bits, dot)                                                                              \
  (PRODUCT_ROWS_OF(exponent_bits, dot) +                                                                                                \
   (OWN_BINS_OF(exponent_bits) ? ELEMENT_PRODUCT_ROWS_OF(exponent_bits, fraction_bits, dot) * PRODUCT_PIECES_OF(exponent_bits, fraction_bits, dot) - \
                                     ((dot) ? ELEMENT_PRODUCT_ROWS_OF(exponent_bits, fraction_bits, dot) : (1 << (exponent_bits)) / 8)                \
                               : 0))

// Rows become digits, of which digit i weighs 2^(32 i) in the same units: two more than the rows begin in, for carries and the sign.
#define DIGITS_OF(rows, row_bits) ((rows) * (row_bits) / 32 + 2)
