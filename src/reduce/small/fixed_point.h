// Fixed-point numbers: words, the lowest first, each a multiple of a power of two, which is 2^LOWER_BITS times that of the word below;
// 2^FIRST_BITS times that of the first.
#if PRODUCTS && FRACTION_BITS == 52
#define FIXED_WORDS 4
#else
#define FIXED_WORDS 2
#endif
#define UPPER (FIXED_WORDS - 1)                   // the last word
#define FIXED_ROOM ((3 * FIXED_WORDS + 5) / 4 * 4)  // words that a group has of them in local memory
typedef struct {
  long words[FIXED_WORDS];
  uint failed, other;  // other: whether there was anything but -0.0
  uint failed_groups;  // of a sum of groups
} FIXED;

// 1.5 times the power that has this exponent field. A float64 of so many bits above its last one, with the sign, is rounded to that by being
// added, and as a multiple of it the difference of the sum's bits and the power's.
#define POWER_BITS 52
FN double power_of(uint field) { return as_double((ulong)(field << 20 | 0x00080000u) << 32); }
// The power of a word so many below.
#define power_below(power, words) as_double(as_ulong(power) - ((ulong)((words) * LOWER_BITS) << 52))
FN long multiple_of(double sum, double power) { return (long)(as_ulong(sum) - as_ulong(power)); }
FN uint in_bits(long x, int bits) { return (ulong)(x + ((long)1 << (bits - 1))) >> bits == 0; }

FN FIXED sum_identity(void) {
  FIXED sum;
#pragma unroll
  for (int i = 0; i < FIXED_WORDS; ++i) sum.words[i] = 0;
  sum.failed = sum.other = sum.failed_groups = 0;
  return sum;
}
