// Elements of sums of small arrays: float64. Rows of sixteen exponents.
#define ELEMENT ulong
#define ELEMENTS_PER_LOAD 2
#define ROW_BITS 16
#define ROW_BASE 0
#define ROWS 133
#define ABSENT 0, 0x80000000u, 0, 0x80000000u

FN uint is_special(uint high) { return (high & 0x7ff00000u) == 0x7ff00000u; }
