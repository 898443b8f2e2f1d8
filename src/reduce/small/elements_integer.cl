// Elements of sums of little data: integers of INTEGER_BITS bits.
#define ELEMENTS_PER_LOAD (128 / INTEGER_BITS)
#define ROW_BITS 16
#define ROW_BASE 1074
#define ROWS 8

#if INTEGER_BITS == 8
#define ELEMENT uchar
#elif INTEGER_BITS == 16
#define ELEMENT ushort
#elif INTEGER_BITS == 32
#define ELEMENT uint
#else
#define ELEMENT ulong
#endif
