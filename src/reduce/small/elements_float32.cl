// Elements of sums of small arrays: float32. Rows of eight exponents.
#define ELEMENT uint
#define ELEMENTS_PER_LOAD 4
#define ROW_BITS 8
#define ROW_BASE EXACT_FLOAT32_SHIFT
#define ROWS 34
#define ABSENT 0x80000000u, 0x80000000u, 0x80000000u, 0x80000000u

FN uint is_special(uint x) { return !is_finite_f32(x); }
