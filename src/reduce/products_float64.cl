// Products of two elements of float64, for sum_window.cl, after running_sum.h: each as a float64 and the exact rest, of which there are two
// sums. Products whose rest would lie below the least float64, or that are beyond the greatest, go to columns, which reach as far as
// products do: from 2^-2148 on.
#define ELEMENT ulong
#define ELEMENTS_PER_LOAD 2
#define ROW_BITS 16
#define ROW_BASE (1074 - 2148)
#define ROWS 263
#define LEAST_HIGH 0x03700000u  // upper half of 2^-968: the rest of a product from there on has no bit below 2^-1074

typedef struct {
  double a, b;
} FACTORS;
#define REAL FACTORS
#define REALS (LOADS * ELEMENTS_PER_LOAD)  // of a tile that a work-item holds
#define SUMS 4                                // in which a work-item leaves its share

FN REAL real_of(ELEMENT x, ELEMENT y) {
  REAL factors;
  factors.a = as_double(x);
  factors.b = as_double(y);
  return factors;
}

typedef struct {
  RUNNING products, rests;
  uint inexact;
} SHARE;

FN SHARE empty_share(uint zero) {
  SHARE share;
  share.products = share.rests = empty_running(zero);
  share.inexact = zero;
  return share;
}

FN uint is_small(double product) { return ((uint)(as_ulong(product) >> 32) & 0x7fffffffu) < LEAST_HIGH; }

FN void add_reals(SHARE* share, const REAL* v) {
  uint small = 0;
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    const double product = mul_rn_f64(v[i].a, v[i].b);
    small |= is_small(product);
    share->products = add_to_running(share->products, product);
    share->rests = add_to_running(share->rests, fma_rn_f64(v[i].a, v[i].b, -product));
  }
  if (small) {  // zeros are not too small
#pragma unroll
    for (int i = 0; i < REALS; ++i) share->inexact |= is_small(mul_rn_f64(v[i].a, v[i].b)) && v[i].a != 0 && v[i].b != 0;
  }
}

FN uint is_exact(const SHARE* share) {
  return is_exact_running(share->products) && is_exact_running(share->rests) && !share->inexact;
}

// Whether there was anything but -0.0.
FN uint has_other(const SHARE* share) { return as_ulong(share->products.sum) != 0x8000000000000000UL; }

FN void sums_of(const SHARE* share, double* sums) {
  sums[0] = share->products.sum;
  sums[1] = share->products.down;
  sums[2] = share->rests.sum;
  sums[3] = share->rests.down;
}

FN uint is_special(ulong x) { return (x & 0x7ff0000000000000UL) == 0x7ff0000000000000UL; }
FN ulong magnitude_of(ulong x) { return x & 0x7fffffffffffffffUL; }

// Adds a product to the work-item's own column: exactly, whatever it is. Says whether it was anything but -0.0 and NaN.
FN uint add_to_column(LOCAL uint* column, REAL factors) {
  const ulong x = as_ulong(factors.a), y = as_ulong(factors.b);
  const uint negative = (uint)((x ^ y) >> 63);
  if (is_special(x) || is_special(y)) {
    const double product = mul_rn_f64(factors.a, factors.b);  // infinity times zero is a NaN
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
