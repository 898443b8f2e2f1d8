// Products of two elements of float32, float16 or bfloat16 (FRACTION_BITS 23, 10 or 7), which are exact as float64: what window_float64.cl
// sums, in place of elements of that type. The least is 2^-298, and its last bit as float64 2^-350.
#define ELEMENTS_PER_LOAD (FRACTION_BITS == 23 ? 4 : 8)
#define ROW_BITS 16
#define ROW_BASE (1074 - 350)
#define ROWS 38

#if FRACTION_BITS == 23
#define ELEMENT uint
FN double number_of(ELEMENT x) { return as_float(x); }
#elif FRACTION_BITS == 10
#define ELEMENT ushort
FN double number_of(ELEMENT x) { return half_to_float(x); }
#else
#define ELEMENT ushort
FN double number_of(ELEMENT x) { return as_float((uint)x << 16); }
#endif

FN double real_of(ELEMENT x, ELEMENT y) { return mul_rn_f64(number_of(x), number_of(y)); }

FN uint is_special(uint high) { return (high & 0x7ff00000u) == 0x7ff00000u; }
