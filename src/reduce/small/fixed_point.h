// Fixed-point numbers: words, the lowest first. Each is a multiple of a power of two, which is 2^LOWER_BITS times that of the word below, or
// 2^FIRST_BITS times that of the first word.
#if PRODUCTS || BITS == 64
#define FIXED_WORDS 4
#else
#define FIXED_WORDS 2
#endif
#define UPPER (FIXED_WORDS - 1)                   // the last word
#define FIXED_ROOM ((3 * FIXED_WORDS + 5) / 4 * 4)  // words that a group has of them in local memory
typedef struct {
  long words[FIXED_WORDS];
  uint failed, other;  // other: whether any term was not -0.0
  uint failed_groups;  // of a sum of groups
} FIXED;

// 1.5 times the power with this exponent field. Adding it to a number that has at most POWER_BITS bits above the power's last bit, with the sign,
// rounds the number to that bit; the difference of the bits of sum and power is then the multiple.
#define POWER_BITS 52
FN double power_of(uint field) { return as_double((ulong)(field << 20 | 0x00080000u) << 32); }
// The power of the word this many words below.
#define power_below(power, words) as_double(as_ulong(power) - ((ulong)((words) * LOWER_BITS) << 52))
FN long multiple_of(double sum, double power) { return (long)(as_ulong(sum) - as_ulong(power)); }
FN uint in_bits(long x, int bits) { return ((ulong)x + ((ulong)1 << (bits - 1))) >> bits == 0; }
// The sum modulo 2^64: words of a sum that does not fit may be anything, and are added up before that is known.
FN long wrapping_sum(long a, long b) { return (long)((ulong)a + (ulong)b); }

FN FIXED sum_identity(void) {
  FIXED sum;
#pragma unroll
  for (int i = 0; i < FIXED_WORDS; ++i) sum.words[i] = 0;
  sum.failed = sum.other = sum.failed_groups = 0;
  return sum;
}
