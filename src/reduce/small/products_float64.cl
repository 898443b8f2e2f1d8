// Products of two elements of float64, for small_sum.cl, after running_sum.h and fixed_point.h: each as a float64 and the exact rest. With
// a power of two far above a tile's products, and one 46 bits lower, both are cut in two, as in products_float32.cl. Products whose rest
// would lie below the least float64, or that are beyond the greatest, go to columns, which reach as far as products do: from 2^-2148 on.
#define ELEMENT ulong
#define ELEMENTS_PER_LOAD 2
#define ROW_BITS 16
#define ROW_BASE (1074 - 2148)
#define ROWS 263
#define LEAST_HIGH 0x03700000u  // upper half of 2^-968: the rest of a product from there on has no bit below 2^-1074

#if DOT
typedef struct {
  double a, b;
} FACTORS;
#define SECOND(factors) (factors).b
#else
typedef struct {
  double a;
} FACTORS;
#define SECOND(factors) (factors).a
#endif
#define REAL FACTORS
#define REALS (LOADS * ELEMENTS_PER_LOAD)  // of a tile that a work-item holds
#define SUMS (STREAM ? 4 : 3)              // float64 numbers of a work-item's share

FN REAL real_of(ELEMENT x, ELEMENT y) {
  REAL factors;
  factors.a = as_double(x);
  SECOND(factors) = as_double(y);
  return factors;
}

typedef struct {
  RUNNING products, rests;
  uint inexact;
  uint greatest;          // the sum of the exponent fields of the greatest factors
  ulong words[UPPER];     // as a fixed-point number, by the powers
  ulong finer;            // what is below the last of these
  uint left, small, other;  // of anchored products: bits in which sums left the power; whether any was too small; whether any was not -0.0
} SHARE;

FN SHARE empty_share(uint zero) {
  SHARE share;
  share.products = share.rests = empty_running(zero);
  share.rests.up = share.rests.sum;  // -0.0
  share.inexact = share.greatest = share.left = share.small = share.other = zero;
  share.finer = zero;
#pragma unroll
  for (int i = 0; i < UPPER; ++i) share.words[i] = zero;
  return share;
}

FN uint is_small(double product) { return ((uint)(as_ulong(product) >> 32) & 0x7fffffffu) < LEAST_HIGH; }

// Adds a value to a sum that is far greater; returns the part of the value below the sum's last bit.
FN double add_upper(double* sum, double value) {
  const double more = add_rn_f64(*sum, value);
  const double rest = add_rn_f64(value, -add_rn_f64(more, -*sum));
  *sum = more;
  return rest;
}
FN void add_rest(SHARE* share, double rest) {
  share->rests.down = add_down_f64(share->rests.down, rest);
  share->rests.up = add_up_f64(share->rests.up, rest);
}

FN void add_reals(SHARE* share, const REAL* v) {
  uint a_most = 0, b_most = 0;
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    a_most = max_u32(a_most, (uint)(as_ulong(v[i].a) >> 32) & 0x7fffffffu);
    b_most = max_u32(b_most, (uint)(as_ulong(SECOND(v[i])) >> 32) & 0x7fffffffu);
  }
  share->greatest = max_u32(share->greatest, (a_most >> 20) + (b_most >> 20));
  // 1.5 times the powers, to stay between them and their doubles, 32 products or fewer; a NaN where that would be too great.
  const uint field = min_u32(max_u32((a_most >> 20) + (b_most >> 20), 1014 + 110) - 1014, 0x7ffu);
  const double upper_start = as_double((ulong)(field << 20 | 0x00080000u) << 32);
  const double lower_start = as_double((ulong)((field - 46) << 20 | 0x00080000u) << 32);
  double upper = upper_start, lower = lower_start;
  uint small = 0;
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    const double product = mul_rn_f64(v[i].a, SECOND(v[i]));
    small |= is_small(product);
    add_rest(share, add_upper(&lower, add_upper(&upper, product)));
    add_rest(share, add_upper(&lower, fma_down_f64(v[i].a, SECOND(v[i]), -product)));  // exact; down, so that there is no zero but -0.0
  }
  upper = add_rn_f64(upper, -upper_start);
  lower = add_rn_f64(lower, -lower_start);
#if STREAM
  if (upper != 0) share->products = add_to_running(share->products, upper);
  if (lower != 0) share->rests = add_to_running(share->rests, lower);
#else
  share->products.sum = upper;
  share->rests.sum = lower;
#endif
  if (small) {  // zeros are not too small
#pragma unroll
    for (int i = 0; i < REALS; ++i) share->inexact |= is_small(mul_rn_f64(v[i].a, SECOND(v[i]))) && v[i].a != 0 && SECOND(v[i]) != 0;
  }
}

FN uint is_exact(const SHARE* share) {
  return is_exact_running(share->products) && is_exact_running(share->rests) && !share->inexact;
}

// Whether any product was not -0.0: only then the sum of the last rests, rounded up, is not -0.0.
FN uint has_other(const SHARE* share) {
  return share->other || share->products.sum != 0 || share->rests.sum != 0 || as_ulong(share->rests.up) != 0x8000000000000000UL;
}

FN void sums_of(const SHARE* share, double* sums) {
  sums[0] = share->products.sum;
  sums[1] = share->rests.sum;
  sums[2] = share->rests.down;
#if STREAM
  sums[3] = share->products.down;
#endif
}

// As fixed-point numbers (fixed_sum.h): with powers that lie 51 bits apart, and are the same for all products, each product is cut in two,
// and its rest as well; what comes of that is added up as integers. The last word is for what the others carry.
#define FIXED_POINT 1
#define FIRST_BITS 61
#define LOWER_BITS 51
#define UPPER_BITS 40
#define LOWER_PIECES 3
#define UPPER_PIECES 0
#define TERM_SCALE 0
#define GREATEST_NOTED 1
#define HEADROOM (LOWER_BITS - 1019)  // from the sum of two exponent fields: products are below a quarter of the second word's power
#define LEAST_BITS 49                 // the distance in bits from which on products and their rests have no bit below the last bit of the powers

FN void begin_anchored(SHARE* share, double power) {
  share->inexact = 1;
  share->left = share->small = share->other = 0;
  share->finer = 0;
#pragma unroll
  for (int i = 0; i < UPPER; ++i) share->words[i] = 0;
}
FN void end_anchored(SHARE* share, double power) {}

// Adds what a small product and its rest have below the last bits of the powers by which they were cut.
FN void add_finer(SHARE* share, REAL factors, uint first_high) {
  const double first = as_double((ulong)first_high << 32), second = power_below(first, 1), third = power_below(first, 2);
  const double finest = as_double(as_ulong(third) - ((ulong)(FIRST_BITS - LOWER_BITS) << 52));
  const double product = mul_rn_f64(factors.a, SECOND(factors)), rest = fma_rn_f64(factors.a, SECOND(factors), -product);
  const double beside = add_rn_f64(add_rn_f64(first, second), -add_rn_f64(product, first)), lower = add_rn_f64(product, beside);
  const double beside_rest = add_rn_f64(add_rn_f64(second, third), -add_rn_f64(rest, second)), last = add_rn_f64(rest, beside_rest);
  const double lost = add_rn_f64(product, -add_rn_f64(lower, -beside)), lost_rest = add_rn_f64(rest, -add_rn_f64(last, -beside_rest));
  const double more = add_rn_f64(lost, third), left = add_rn_f64(lost, -add_rn_f64(more, -third));
  const double a = add_rn_f64(left, finest), b = add_rn_f64(lost_rest, finest);
  share->words[0] += (ulong)multiple_of(more, third);
  share->finer += (ulong)multiple_of(a, finest) + (ulong)multiple_of(b, finest);
  const uint exact = add_rn_f64(a, -finest) == left && add_rn_f64(b, -finest) == lost_rest;
  share->small |= !exact || (is_small(product) && factors.a != 0 && SECOND(factors) != 0);
}

// Products that are processed at once: with more, compilers keep all factors in registers. LOADS is a power of two.
#define AT_ONCE (REALS < 8 ? REALS : 8)

FN void add_anchored(SHARE* share, const REAL* v, double power) {
  const double first = power_below(power, 1), second = power_below(power, 2), third = power_below(power, 3);
  const double to_second = add_rn_f64(first, second), to_third = add_rn_f64(second, third);
  const uint first_high = (uint)(as_ulong(first) >> 32);
  const uint limit = max_u32((first_high & 0x7ff00000u) - (LEAST_BITS << 20), LEAST_HIGH);
  share->words[2] -= (ulong)(REALS * first_high) << 32;
  share->words[1] -= (ulong)(2 * REALS * (uint)(as_ulong(second) >> 32)) << 32;
  share->words[0] -= (ulong)(REALS * (uint)(as_ulong(third) >> 32)) << 32;
#pragma unroll
  for (int start = 0; start < REALS; start += AT_ONCE) {
    float least = as_float(0x7f7fffffu);
#pragma unroll
    for (int i = start; i < start + AT_ONCE; ++i) {
      const double product = mul_rn_f64(v[i].a, SECOND(v[i])), rest = fma_rn_f64(v[i].a, SECOND(v[i]), -product);
      // Rounded to the first power's last bit; and what is left, exactly, beside the second power.
      const double upper = add_rn_f64(product, first), lower = add_rn_f64(product, add_rn_f64(to_second, -upper));
      const double middle = add_rn_f64(rest, second), last = add_rn_f64(rest, add_rn_f64(to_third, -middle));
      share->words[2] += as_ulong(upper);
      share->words[1] += as_ulong(lower) + as_ulong(middle);
      share->words[0] += as_ulong(last);
      share->left |= (uint)(as_ulong(upper) >> 32) ^ first_high;
      least = min_magnitude_f32(least, as_float((uint)(as_ulong(product) >> 32)));
    }
    if (as_uint(least) >= limit) {
      share->other = 1;
      continue;
    }
    uint small = 0;
#pragma unroll
    for (int i = start; i < start + AT_ONCE; ++i) {  // zeros are not too small
      const ulong product = as_ulong(mul_rn_f64(v[i].a, SECOND(v[i])));
      share->other |= product != 0x8000000000000000UL;
      small |= ((uint)(product >> 32) & 0x7fffffffu) < limit && v[i].a != 0 && SECOND(v[i]) != 0;
    }
    if (!RARELY(small)) continue;
    REAL left[AT_ONCE];
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) left[i] = v[start + i];
#pragma unroll 1
    for (int i = 0; i < AT_ONCE; ++i) {
      add_finer(share, left[0], opaque(first_high));
#pragma unroll
      for (int k = 0; k < AT_ONCE - 1; ++k) left[k] = left[k + 1];
    }
  }
}

FN FIXED fixed_of_share(const SHARE* share, double power) {
  FIXED fixed = sum_identity();
#pragma unroll
  for (int i = 0; i < UPPER; ++i) fixed.words[i] = (long)share->words[i];
  fixed.words[1] = wrapping_sum(fixed.words[1], fixed.words[0] >> LOWER_BITS);
  fixed.words[0] = (fixed.words[0] & (((long)1 << LOWER_BITS) - 1)) << (FIRST_BITS - LOWER_BITS);
  fixed.words[0] = wrapping_sum(fixed.words[0], (long)share->finer);
  fixed.failed = share->left >> 20 != 0 || share->small;
  return fixed;
}

// A product and its rest; a NaN if that is not exact.
FN double term_of(REAL factors) { return mul_rn_f64(factors.a, SECOND(factors)); }
FN double rest_of(REAL factors) {
  const double product = term_of(factors), rest = fma_rn_f64(factors.a, SECOND(factors), -product);
  return is_small(product) && factors.a != 0 && SECOND(factors) != 0 ? as_double(~(ulong)0) : rest;
}
#define HAS_RESTS 1

FN uint is_special(ulong x) { return (x & 0x7ff0000000000000UL) == 0x7ff0000000000000UL; }
FN ulong magnitude_of(ulong x) { return x & 0x7fffffffffffffffUL; }

// Adds any product exactly to the work-item's own column. Returns whether it was not -0.0 or NaN.
FN uint add_to_column(LOCAL uint* column, REAL factors) {
  const ulong x = as_ulong(factors.a), y = as_ulong(SECOND(factors));
  const uint negative = (uint)((x ^ y) >> 63);
  if (is_special(x) || is_special(y)) {
    const double product = mul_rn_f64(factors.a, SECOND(factors));  // infinity times zero is a NaN
    return count_kind(column, negative, product != product);
  }
  if (magnitude_of(x) == 0 || magnitude_of(y) == 0) return !negative;
  const ulong hidden = 0x0010000000000000UL;
  const ulong x_unit = x & 0x7ff0000000000000UL ? hidden : 0, y_unit = y & 0x7ff0000000000000UL ? hidden : 0;
  const ulong a = (x & (hidden - 1)) | x_unit, b = (y & (hidden - 1)) | y_unit;
  const uint position = (uint)((magnitude_of(x) - x_unit) >> 52) + (uint)((magnitude_of(y) - y_unit) >> 52);
  const uint shift = position & 15, sign = negative ? 0xffffffffu : 1;
  // 106 bits, that move by up to 15.
  const ulong low = a * b, high = mul_hi64(a, b);
  const ulong words[2] = {low << shift, high << shift | (low >> 1) >> (63 - shift)};
  LOCAL uint* limb = column + (position >> 4) * COLUMNS;
#pragma unroll
  for (int i = 0; i < 8; ++i) atomic_add_local32(limb + i * COLUMNS, sign * ((uint)(words[i / 4] >> (16 * (i % 4))) & 0xffffu));
  return 1;
}
