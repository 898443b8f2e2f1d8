// Products of two elements of float32, float16 or bfloat16 (FRACTION_BITS 23, 10 or 7), for small_sum.cl, after anchored_sum.h. Each is exact as a float64;
// its least bit is 2^-350.
//
// A power of two far above a tile's products cuts each product in two. The upper parts are added up without rounding. The rests, which are exact,
// are added up once rounded down and once up (Rump, Ogita, Oishi, "Accurate floating-point summation part I", SIAM J. Sci.
// Comput. 31, 2008). If both sums of the rests are equal, they are exact.
#define ELEMENTS_PER_LOAD (FRACTION_BITS == 23 ? 4 : 8)
#define ROW_BITS 16
#define ROW_BASE (1074 - 350)
#define ROWS 38

#if FRACTION_BITS == 23
#define ELEMENT uint
FN float number_of(ELEMENT x) { return as_float(x); }
#elif FRACTION_BITS == 10
#define ELEMENT ushort
FN float number_of(ELEMENT x) { return half_to_float(x); }
#else
#define ELEMENT ushort
FN float number_of(ELEMENT x) { return as_float((uint)x << 16); }
#endif

typedef struct {
  float a, b;
} FACTORS;
#define REAL FACTORS
#define REALS (LOADS * ELEMENTS_PER_LOAD)  // of a tile that a work-item holds

FN REAL real_of(ELEMENT x, ELEMENT y) {
  REAL factors;
  factors.a = number_of(x);
  factors.b = number_of(y);
  return factors;
}
FN double product_of(REAL v) { return mul_rn_f64(v.a, v.b); }

// The same number as a float64, by integer operations: a wider exponent field, whose bias the multiplication corrects. Conversions have a low
// throughput; this runs beside those of the other factors. Infinities and NaNs become finite numbers.
FN double widen(float value) {
  const int x = (int)as_uint(value);
  return mul_rn_f64(as_double((ulong)((uint)(x >> 3) & 0x8fffffffu) << 32 | (uint)x << 29), 0x1p896);
}

FN void add_reals(SHARE* share, const REAL* v) {
  float a_most = 0, b_most = 0;
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    a_most = max_magnitude_f32(a_most, v[i].a);
    b_most = max_magnitude_f32(b_most, v[i].b);
  }
  // 1.5 times the power, to stay between it and its double, 64 products or fewer.
  const uint field = (as_uint(a_most) >> 23) + (as_uint(b_most) >> 23) + 778;
  const double start = as_double((ulong)(field << 20 | 0x00080000u) << 32);
  double sum = start;
  float special = 0;  // becomes a NaN after an infinity or a NaN
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    if (DOT) special = fma_rn_f32(v[i].a, 0, special);
    const double b = v[i].b, a = DOT ? widen(v[i].a) : b, more = fma_rn_f64(a, b, sum);
    const double rest = fma_rn_f64(a, b, -add_rn_f64(more, -sum));
    sum = more;
    share->running.down = add_down_f64(share->running.down, rest);
    share->running.up = add_up_f64(share->running.up, rest);
  }
  sum = add_rn_f64(add_rn_f64(sum, -start), special);
#if STREAM
  if (sum != 0) share->running = add_to_running(share->running, sum);
#else
  share->running.sum = sum;
#endif
}

FN void add_anchored(SHARE* share, const REAL* v, double power) {
  float special = 0;
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    if (DOT) special = fma_rn_f32(v[i].a, 0, special);
    const double b = v[i].b, a = DOT ? widen(v[i].a) : b, sum = share->running.sum, next = fma_rn_f64(a, b, sum);
    add_to_anchored(share, next, fma_rn_f64(a, b, -add_rn_f64(next, -sum)), power);
  }
  if (special != 0) share->left = ~0u;
}

FN double term_of(REAL factors) { return product_of(factors); }

// Whether any product was not -0.0: only then the sum of the rests, rounded up, is not -0.0.
FN uint has_other(const SHARE* share) {
  return share->running.sum != 0 || as_ulong(share->running.up) != 0x8000000000000000UL;
}

FN uint is_special(uint high) { return (high & 0x7ff00000u) == 0x7ff00000u; }

// Adds any product exactly to the work-item's own column. Returns whether it was not -0.0 or NaN.
FN uint add_to_column(LOCAL uint* column, REAL factors) {
  const ulong x = as_ulong(product_of(factors));
  const uint high = (uint)(x >> 32);
  if (is_special(high)) return count_kind(column, high >> 31, (high & 0x000fffffu) | (uint)x);
  if (x << 1 == 0) return x == 0;
  const ulong mantissa = (ulong)((high & 0x000fffffu) | 0x00100000u) << 32 | (uint)x;
  add_to_limbs(column, mantissa, (high >> 20 & 0x7ffu) - 1 - ROW_BASE, high >> 31);
  return 1;
}
