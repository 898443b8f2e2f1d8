// Fixed-point numbers: a multiple of a power of two, and below it a multiple of another one, which is 2^LOWER_BITS times less.
typedef struct {
  long upper, lower;
  uint failed, other;  // other: whether there was anything but -0.0
} FIXED;

// 1.5 times the power that has this exponent field. A float64 of so many bits above its last one, with the sign, is rounded to that by being
// added, and as a multiple of it the difference of the sum's bits and the power's.
#define POWER_BITS 52
FN double power_of(uint field) { return as_double((ulong)(field << 20 | 0x00080000u) << 32); }
FN long multiple_of(double sum, double power) { return (long)(as_ulong(sum) - as_ulong(power)); }
FN uint in_bits(long x, int bits) { return (ulong)(x + ((long)1 << (bits - 1))) >> bits == 0; }

FN FIXED no_sum(void) {
  FIXED sum;
  sum.upper = sum.lower = sum.failed = sum.other = 0;
  return sum;
}
