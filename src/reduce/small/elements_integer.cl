// Elements of sums of small arrays: integers of BITS bits.
#define ELEMENTS_PER_LOAD (128 / BITS)

#if BITS == 8
#define ELEMENT uchar
#elif BITS == 16
#define ELEMENT ushort
#elif BITS == 32
#define ELEMENT uint
#else
#define ELEMENT ulong
#endif
