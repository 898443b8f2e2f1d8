// The operations of formulas that are no operators of C, or whose C has undefined cases: one source for kernels and for the host
// (cpu/evaluate_simd.cpp), so that values have the same bits. `error` receives the bits of Fault (program.hpp).

#define FAULT_OVERFLOW 1u
#define FAULT_DIVISION 2u
#define FAULT_SHIFT 4u
#define FAULT_CONVERSION 8u
#define FAULT_MODULUS 16u

#if defined(__OPENCL_VERSION__) || defined(__CUDACC__)
FN uint trailing_zeros_u32(uint a) { return 31u - clz32(a & (0 - a)); }
FN uint trailing_zeros_u64(ulong a) { return 63u - (uint)clz64(a & (0 - a)); }
#endif
#if defined(__OPENCL_VERSION__)
FN long multiply_high_i64(long a, long b) { return mul_hi(a, b); }
FN ulong multiply_high_u64(ulong a, ulong b) { return mul_hi(a, b); }
#elif defined(__CUDACC__)
FN long multiply_high_i64(long a, long b) { return (long)__mul64hi((long long)a, (long long)b); }
FN ulong multiply_high_u64(ulong a, ulong b) { return mul_hi64(a, b); }
#endif

FN long add_i64(long a, long b, uint* error) {
  const ulong sum = (ulong)a + (ulong)b;
  *error |= (uint)((((ulong)a ^ sum) & ((ulong)b ^ sum)) >> 63);
  return (long)sum;
}
FN ulong add_u64(ulong a, ulong b, uint* error) {
  *error |= a + b < a ? FAULT_OVERFLOW : 0u;
  return a + b;
}
FN long subtract_i64(long a, long b, uint* error) {
  const ulong difference = (ulong)a - (ulong)b;
  *error |= (uint)((((ulong)a ^ (ulong)b) & ((ulong)a ^ difference)) >> 63);
  return (long)difference;
}
FN ulong subtract_u64(ulong a, ulong b, uint* error) {
  *error |= a < b ? FAULT_OVERFLOW : 0u;
  return a - b;
}
FN long multiply_i64(long a, long b, uint* error) {
  const long low = (long)((ulong)a * (ulong)b);
  *error |= multiply_high_i64(a, b) != (low >> 63) ? FAULT_OVERFLOW : 0u;
  return low;
}
FN ulong multiply_u64(ulong a, ulong b, uint* error) {
  *error |= multiply_high_u64(a, b) != 0 ? FAULT_OVERFLOW : 0u;
  return a * b;
}
// Where the result is known to fit. In long it may be undefined to compilers all the same: they do not know that.
FN long add_fits_i64(long a, long b) { return (long)((ulong)a + (ulong)b); }
FN long subtract_fits_i64(long a, long b) { return (long)((ulong)a - (ulong)b); }
FN long multiply_fits_i64(long a, long b) { return (long)((ulong)a * (ulong)b); }
// Where both operands fit 32 bits: one multiplication in place of four.
FN long multiply_narrow_i64(long a, long b) { return (long)(int)a * (long)(int)b; }
FN ulong multiply_narrow_u64(ulong a, ulong b) { return (ulong)(uint)a * (ulong)(uint)b; }
FN ulong add_fits_u64(ulong a, ulong b) { return a + b; }
FN ulong subtract_fits_u64(ulong a, ulong b) { return a - b; }
FN ulong multiply_fits_u64(ulong a, ulong b) { return a * b; }

#define LEAST_I64 (-9223372036854775807L - 1)

FN long divide_i64(long a, long b, uint* error) {
  const int wraps = a == LEAST_I64 && b == -1;
  *error |= b == 0 ? FAULT_DIVISION : wraps ? FAULT_OVERFLOW : 0u;
  return a / (b == 0 || wraps ? 1 : b);
}
FN ulong divide_u64(ulong a, ulong b, uint* error) {
  *error |= b == 0 ? FAULT_DIVISION : 0u;
  return a / (b == 0 ? 1 : b);
}
FN long modulo_i64(long a, long b, uint* error) {
  *error |= b == 0 ? FAULT_DIVISION : 0u;
  return a % (b == 0 || b == -1 ? 1 : b);
}
FN ulong modulo_u64(ulong a, ulong b, uint* error) {
  *error |= b == 0 ? FAULT_DIVISION : 0u;
  return a % (b == 0 ? 1 : b);
}

FN long shift_left_i64(long a, long n, uint* error) {
  *error |= (ulong)n > 63 ? FAULT_SHIFT : 0u;
  return (long)((ulong)a << (n & 63));
}
FN ulong shift_left_u64(ulong a, ulong n, uint* error) {
  *error |= n > 63 ? FAULT_SHIFT : 0u;
  return a << (n & 63);
}
FN long shift_right_i64(long a, long n, uint* error) {
  *error |= (ulong)n > 63 ? FAULT_SHIFT : 0u;
  return a >> (n & 63);
}
FN ulong shift_right_u64(ulong a, ulong n, uint* error) {
  *error |= n > 63 ? FAULT_SHIFT : 0u;
  return a >> (n & 63);
}

FN ulong magnitude_i64(long a) { return a < 0 ? 0 - (ulong)a : (ulong)a; }
FN long abs_i64(long a, uint* error) {
  *error |= a == LEAST_I64 ? FAULT_OVERFLOW : 0u;
  return (long)magnitude_i64(a);
}
FN ulong popcount_u64(ulong a) {
  a -= a >> 1 & 0x5555555555555555UL;
  a = (a & 0x3333333333333333UL) + (a >> 2 & 0x3333333333333333UL);
  a = (a + (a >> 4)) & 0x0f0f0f0f0f0f0f0fUL;
  return a * 0x0101010101010101UL >> 56;
}
FN ulong clz_u64(ulong a) { return clz64(a); }

// a / b and a % b for b from 2^shift to 2^(shift + 1), shift at most 29, and a < 2^(32 + shift), by the method of P. Barrett (1986): with
// reciprocal = floor(2^(32 + shift) / b), the quotient is too small by 2 at most.
FN uint modulo_narrow_u64(ulong a, uint b, uint reciprocal, uint shift) {
  uint rest = (uint)a - (uint)(((ulong)(uint)(a >> shift) * reciprocal) >> 32) * b;
  rest = rest < rest - b ? rest : rest - b;
  return rest < rest - b ? rest : rest - b;
}
FN ulong divide_narrow_u64(ulong a, uint b, uint reciprocal, uint shift) {
  ulong quotient = ((ulong)(uint)(a >> shift) * reciprocal) >> 32;
  uint rest = (uint)a - (uint)quotient * b;
  quotient += rest >= b ? 1u : 0u;
  rest = rest >= b ? rest - b : rest;
  return quotient + (rest >= b ? 1u : 0u);
}
FN long modulo_narrow_i64(long a, uint b, uint reciprocal, uint shift) {
  const long rest = (long)modulo_narrow_u64(magnitude_i64(a), b, reciprocal, shift);
  return a < 0 ? -rest : rest;
}
FN long divide_narrow_i64(long a, uint b, uint reciprocal, uint shift) {
  const long quotient = (long)divide_narrow_u64(magnitude_i64(a), b, reciprocal, shift);
  return a < 0 ? -quotient : quotient;
}

// The greatest common divisor: one remainder, which brings numbers of unequal length together, then binary steps (J. Stein, 1967), of which
// each takes all factors of 2 at once. Where elements are folded, one number is soon 1 or 0: the rest is a function of its own, so that
// compilers do not repeat it in loops that are unrolled.
// Of numbers that are not 0, least at most other. trailing() counts the zeros below the lowest 1.
#define GREATEST_COMMON_DIVISOR(type, trailing)     \
  other %= least;                                   \
  if (other == 0) return least;                     \
  const uint twos = trailing(least | other);        \
  least >>= trailing(least);                        \
  while (other != 0) {                              \
    other >>= trailing(other);                      \
    const type difference = other - least;          \
    const int less = other < least;                 \
    least = less ? other : least;                   \
    other = less ? 0 - difference : difference;     \
  }                                                 \
  return least << twos;

SELDOM ulong gcd_of_great_u64(ulong least, ulong other) { GREATEST_COMMON_DIVISOR(ulong, trailing_zeros_u64) }
FN ulong gcd_u64(ulong a, ulong b) {
  const ulong least = a < b ? a : b, other = a < b ? b : a;
  return least > 1 ? gcd_of_great_u64(least, other) : least == 0 ? other : 1;
}
SELDOM uint gcd_of_great_u32(uint least, uint other) { GREATEST_COMMON_DIVISOR(uint, trailing_zeros_u32) }
FN uint gcd_u32(uint a, uint b) {
  const uint least = a < b ? a : b, other = a < b ? b : a;
  return least > 1 ? gcd_of_great_u32(least, other) : least == 0 ? other : 1;
}
FN long gcd_i64(long a, long b, uint* error) {
  const ulong divisor = gcd_u64(magnitude_i64(a), magnitude_i64(b));
  *error |= divisor >> 63 != 0 ? FAULT_OVERFLOW : 0u;
  return (long)divisor;
}
// Of numbers whose magnitudes fit 32 bits.
FN long gcd_narrow_i64(long a, long b) { return (long)gcd_u32((uint)magnitude_i64(a), (uint)magnitude_i64(b)); }
FN ulong gcd_narrow_u64(ulong a, ulong b) { return gcd_u32((uint)a, (uint)b); }

// The remainder of high·2^64 + low by m, for high < m: a long division by two digits of 32 bits (D. Knuth, The Art of Computer Programming,
// volume 2, 4.3.1, algorithm D).
FN ulong remainder_wide(ulong high, ulong low, ulong m) {
  const uint shift = (uint)clz64(m);
  m <<= shift;
  if (shift != 0) high = high << shift | low >> (64 - shift);
  low <<= shift;
  for (int digit = 0; digit < 2; ++digit) {
    const ulong next = low >> 32, first = m >> 32, second = m & 0xffffffffu;
    low <<= 32;
    ulong quotient = high / first, rest = high - quotient * first;
    while (quotient >> 32 != 0 || quotient * second > (rest << 32 | next)) {  // twice at most
      --quotient;
      rest += first;
      if (rest >> 32 != 0) break;
    }
    high = (high << 32 | next) - quotient * m;
  }
  return high >> shift;
}
// a and b are less than m.
FN ulong product_modulo(ulong a, ulong b, ulong m) {
  const ulong high = multiply_high_u64(a, b);
  const ulong low = a * b;
  return high == 0 ? low % m : remainder_wide(high, low, m);
}
FN ulong mulmod_u64(ulong a, ulong b, ulong m, uint* error) {
  *error |= m == 0 ? FAULT_MODULUS : 0u;
  if (m == 0) return 0;
  return product_modulo(a % m, b % m, m);
}
FN long mulmod_i64(long a, long b, long m, uint* error) {
  *error |= m < 1 ? FAULT_MODULUS : 0u;
  if (m < 1) return 0;
  a %= m;
  b %= m;
  return (long)product_modulo((ulong)(a < 0 ? a + m : a), (ulong)(b < 0 ? b + m : b), (ulong)m);
}
// Where a·b fits 64 bits, and m is positive.
FN long mulmod_narrow_i64(long a, long b, long m) {
  const long rest = multiply_fits_i64(a, b) % m;
  return rest < 0 ? rest + m : rest;
}
FN ulong mulmod_narrow_u64(ulong a, ulong b, ulong m) { return a * b % m; }

FN long min_i64(long a, long b) { return b < a ? b : a; }
FN long max_i64(long a, long b) { return a < b ? b : a; }
FN ulong min_u64(ulong a, ulong b) { return b < a ? b : a; }
FN ulong max_u64(ulong a, ulong b) { return a < b ? b : a; }

// Of equal numbers the bits decide, so that -0.0 is less than +0.0; a sum with a NaN is one. NVIDIA has an instruction that does the same.
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
FN float min_f32(float a, float b) {
  float least;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
  return least;
}
FN float max_f32(float a, float b) {
  float greatest;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(greatest) : "f"(a), "f"(b));
  return greatest;
}
#else
FN float min_f32(float a, float b) { return a < b ? a : b < a ? b : a == b ? as_float(as_uint(a) | as_uint(b)) : a + b; }
FN float max_f32(float a, float b) { return a < b ? b : b < a ? a : a == b ? as_float(as_uint(a) & as_uint(b)) : a + b; }
#endif
FN float abs_f32(float a) { return as_float(as_uint(a) & 0x7fffffffu); }
FN float canonical_f32(float a) { return a == a ? a : as_float(0x7fc00000u); }

FN long int64_of_f32(float a, uint* error) {
  const int fits = a >= -0x1p63f && a < 0x1p63f;
  *error |= fits ? 0u : FAULT_CONVERSION;
  return (long)(fits ? a : 0.0f);
}
FN ulong uint64_of_f32(float a, uint* error) {
  const int fits = a > -1.0f && a < 0x1p64f;
  *error |= fits ? 0u : FAULT_CONVERSION;
  return (ulong)(fits ? a : 0.0f);
}
FN long int64_of_u64(ulong a, uint* error) {
  *error |= a >> 63 != 0 ? FAULT_CONVERSION : 0u;
  return (long)a;
}
FN ulong uint64_of_i64(long a, uint* error) {
  *error |= a < 0 ? FAULT_CONVERSION : 0u;
  return (ulong)a;
}

#if SAMESUM_FP64
FN double min_f64(double a, double b) { return a < b ? a : b < a ? b : a == b ? as_double(as_ulong(a) | as_ulong(b)) : a + b; }
FN double max_f64(double a, double b) { return a < b ? b : b < a ? a : a == b ? as_double(as_ulong(a) & as_ulong(b)) : a + b; }
FN double abs_f64(double a) { return as_double(as_ulong(a) & 0x7fffffffffffffffUL); }
FN double canonical_f64(double a) { return a == a ? a : as_double(0x7ff8000000000000UL); }
FN long int64_of_f64(double a, uint* error) {
  const int fits = a >= -0x1p63 && a < 0x1p63;
  *error |= fits ? 0u : FAULT_CONVERSION;
  return (long)(fits ? a : 0.0);
}
FN ulong uint64_of_f64(double a, uint* error) {
  const int fits = a > -1.0 && a < 0x1p64;
  *error |= fits ? 0u : FAULT_CONVERSION;
  return (ulong)(fits ? a : 0.0);
}
#endif
