// Exact sums that stay in device memory as words (samesum/device/exact_sum.h), to be added up over devices as integers.
//   REAL      float or double: the elements; WIDE: whether it is double
//   PRODUCTS  1: products of two arrays' elements
//   GROUP, LOADS
// Products of doubles reach from 2^-2148 to 2^2048, and three sums of 70 digits hold them: of products of a usual size as they are, of small
// ones times 2^1088 = 2^(32 * 34), of great ones divided by it.

#define BLOCKS (PRODUCTS && WIDE ? 3 : 1)
#define FORMAT (WIDE || PRODUCTS ? EXACT_SUM_FLOAT64 : EXACT_SUM_FLOAT32)
#define BLOCK_WORDS EXACT_SUM_WORDS(FORMAT)
#define APART 34  // digits between two blocks

#if !PRODUCTS
FN ExactSum add_term(ExactSum sum, REAL x, REAL y, GLOBAL exact_ulong* words) { return exact_sum_add(sum, (double)x, words, FORMAT); }
#elif BLOCKS == 1
// The product of two floats has 48 bits.
FN ExactSum add_term(ExactSum sum, REAL x, REAL y, GLOBAL exact_ulong* words) {
  return exact_sum_add(sum, (double)x * (double)y, words, EXACT_SUM_FLOAT64);
}
#else
#ifdef __OPENCL_VERSION__
FN double fused(double a, double b, double c) { return fma(a, b, c); }
#else
FN double fused(double a, double b, double c) { return fma_rn_f64(a, b, c); }
#endif

// The exact product as two numbers, each to these words.
FN void deposit_product(double a, double b, GLOBAL exact_ulong* words) {
  const double product = a * b, error = fused(a, b, -product);
  exact_sum_deposit(product, words, EXACT_SUM_FLOAT64);
  if (error != 0) exact_sum_deposit(error, words, EXACT_SUM_FLOAT64);
}

FN ExactSum add_term(ExactSum sum, REAL a, REAL b, GLOBAL exact_ulong* words) {
  const double product = a * b, size = product < 0 ? -product : product;
  if (size > 0x1p-960 && size < 0x1p1020) {
    const double error = fused(a, b, -product);
    sum = exact_sum_add(sum, product, words, EXACT_SUM_FLOAT64);
    return error != 0 ? exact_sum_add(sum, error, words, EXACT_SUM_FLOAT64) : sum;
  }
  // Zeros, and NaNs and infinities of a factor; what is small; what is great, or infinite only as a double.
  if (a == 0 || b == 0 || !(a - a == 0) || !(b - b == 0)) {
    exact_sum_deposit(product, words, EXACT_SUM_FLOAT64);
  } else if (size < 1) {
    deposit_product(a * 0x1p544, b * 0x1p544, words + BLOCK_WORDS);
  } else {
    deposit_product(a * 0x1p-544, b * 0x1p-544, words + 2 * BLOCK_WORDS);
  }
  sum.left = 1;
  return sum;
}
#endif

// One group.
KERNEL void words_clear(GLOBAL exact_ulong* words) {
  for (uint i = local_id(); i < BLOCKS * BLOCK_WORDS; i += group_size()) words[i] = 0;
}

// Offsets in elements. Elements are loaded before any is added, as an addition may write to memory.
KERNEL FIXED_GROUP(GROUP, 1) void words_add(GLOBAL const REAL* x, ulong x_offset, GLOBAL const REAL* y, ulong y_offset, ulong count,
                                            GLOBAL exact_ulong* words) {
  LOCAL_VAR double scratch[EXACT_SUM_SCRATCH(GROUP)];
  ExactSum sum = exact_sum_begin();
  const ulong step = (ulong)group_count() * GROUP * LOADS;
  for (ulong tile = (ulong)group_id() * GROUP * LOADS; tile < count; tile += step) {
    REAL a[LOADS], b[LOADS];
    for (uint k = 0; k < LOADS; ++k) {
      const ulong i = tile + k * GROUP + local_id();
      a[k] = i < count ? x[x_offset + i] : (REAL)-0.0;  // the identity of addition
      b[k] = PRODUCTS && i < count ? y[y_offset + i] : (REAL)1;
    }
    for (uint k = 0; k < LOADS; ++k) {
      if (tile + k * GROUP + local_id() < count) sum = add_term(sum, a[k], b[k], words);
    }
  }
  sum = exact_sum_group(sum, scratch, words, FORMAT);
  if (local_id() == 0) exact_sum_deposit_sum(sum, words, FORMAT);
}

// Makes room for as many additions again. One group.
KERNEL void words_normalize(GLOBAL exact_ulong* words) {
  if (local_id() < BLOCKS) exact_sum_normalize(words + local_id() * BLOCK_WORDS, FORMAT);
}

// The sum of all blocks, rounded once, to byte `offset` of `to`. One work-item. Of products `last` is the last of the digits of all blocks:
// an argument, as compilers unroll loops whose number of steps they know.
KERNEL void words_round(GLOBAL exact_ulong* words, GLOBAL double* to, ulong offset, int last) {
#if PRODUCTS
  long digits[EXACT_DIGITS + 2 * APART];
  exact_ulong kinds[5] = {0, 0, 0, 0, 0};
  const int middle = BLOCKS == 3 ? 1 : 0;
  for (int i = 0; i <= last; ++i) digits[i] = 0;
  for (int block = 0; block < BLOCKS; ++block) {
    // In ascending weight: small ones, which are behind the usual ones, first.
    GLOBAL const exact_ulong* const own = words + (block == 0 ? middle : block == 1 ? 0 : 2) * BLOCK_WORDS;
    const int first = BLOCKS == 3 ? block * APART : APART;
    for (int i = 0; i <= last - 2 * APART; ++i) digits[first + i] += (long)own[i];
    for (int i = 0; i < 5; ++i) kinds[i] += own[EXACT_DIGITS + i];
  }
  const int special = exact_special(kinds[4] != 0, kinds[0], kinds[1], kinds[2], kinds[3] != 0 || kinds[4] == 0, 0);
  exact_normalize((exact_long*)digits, 0, last);
  const exact_ulong sign = (exact_ulong)exact_make_magnitude((exact_long*)digits, 0, last) << 63;
  const exact_ulong bits = special != EXACT_FINITE ? exact_special_float64(special)
                                                   : sign | exact_round_float64((exact_long*)digits + APART, -APART, last - APART);
  to[offset / 8] = exact_double(bits);
#else
  to[offset / 8] = exact_sum_round_float64(words, FORMAT);
#endif
}
