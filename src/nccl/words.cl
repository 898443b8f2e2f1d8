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

// Both in registers, at three levels: the sum; the errors of its additions and of the products; the errors of that. Two levels, which are enough
// for most sums of doubles, hold few sums of products, which have twice as many bits. What would round in the third goes to the words.
FN ExactSum add_term(ExactSum sum, REAL a, REAL b, GLOBAL exact_ulong* words) {
  const double product = a * b, size = product < 0 ? -product : product;
  if (size > 0x1p-960 && size < 0x1p1020) {
    const ExactExpansion terms = sum.terms;
    const double error = fused(a, b, -product);
    const double s = terms.s + product, of_s = exact_error_of_sum(terms.s, product, s);
    const double more = terms.e + of_s, of_more = exact_error_of_sum(terms.e, of_s, more);
    const double e = more + error, of_e = exact_error_of_sum(more, error, e);
    const double rest = terms.f + of_more, f = rest + of_e;
    if (exact_adds_exactly(terms.f, of_more, rest) && exact_adds_exactly(rest, of_e, f)) {
      sum.terms.s = s;
      sum.terms.e = e;
      sum.terms.f = f;
      sum.any = 1;
    } else {
      exact_sum_deposit(product, words, EXACT_SUM_FLOAT64);
      if (error != 0) exact_sum_deposit(error, words, EXACT_SUM_FLOAT64);
      sum.left = 1;
    }
    return sum;
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

// Carries what each digit has above 32 bits to the next one, which makes room for as many additions again. By additions, so that the sum is
// the same at any moment. For one group.
FN void make_room(GLOBAL exact_ulong* words) {
  for (uint i = local_id(); i < BLOCKS * BLOCK_WORDS; i += group_size()) {
    if (i % BLOCK_WORDS + 1 >= EXACT_SUM_DIGITS(FORMAT)) continue;
    const exact_ulong carry = (exact_ulong)((exact_long)exact_sum_atomic_add(&words[i], 0) >> 32);
    if (carry != 0) {
      exact_sum_atomic_add(&words[i], 0 - (carry << 32));
      exact_sum_atomic_add(&words[i + 1], carry);
    }
  }
}

// One group.
KERNEL void words_clear(GLOBAL exact_ulong* words, GLOBAL uint* tickets) {
  for (uint i = local_id(); i < BLOCKS * BLOCK_WORDS; i += group_size()) words[i] = 0;
  if (local_id() == 0) *tickets = 0;
}

// Offsets in elements. Elements are loaded before any is added, as an addition may write to memory. The last group makes room; on devices
// where no group can know that all others have added, words_normalize does.
KERNEL FIXED_GROUP(GROUP, 1) void words_add(GLOBAL const REAL* x, ulong x_offset, GLOBAL const REAL* y, ulong y_offset, ulong count,
                                            GLOBAL exact_ulong* words, GLOBAL uint* tickets) {
  LOCAL_VAR double scratch[EXACT_SUM_SCRATCH(GROUP)];
#if SAMESUM_DEVICE_FENCE
  LOCAL_VAR uint is_last;
#endif
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
#if SAMESUM_DEVICE_FENCE
  barrier_all();
  if (local_id() == 0) is_last = atomic_add_ordered_global32(tickets, 1) == group_count() - 1;
  barrier_local();
  if (is_last != 0) {
    make_room(words);
    if (local_id() == 0) *tickets = 0;
  }
#endif
}

// One group.
KERNEL void words_normalize(GLOBAL exact_ulong* words) { make_room(words); }

// The digits of all blocks as those of one number; ZERO is the place of the digit of weight 2^-1074.
#define ZERO (BLOCKS == 3 ? APART : 0)
#define LAST (BLOCKS == 3 ? EXACT_DIGITS + 2 * APART - 1 : EXACT_SUM_FIRST(FORMAT) + EXACT_SUM_DIGITS(FORMAT) - 1)
#define LOW ((exact_long)0xffffffffu)

// Where digits are -1 to 2^32, carries are -1, 0 and 1: what a digit makes of each of them, two bits for each.
FN uint carry_map(exact_long digit) {
  return (uint)(((digit - 1) >> 32) + 1) | (uint)((digit >> 32) + 1) << 2 | (uint)(((digit + 1) >> 32) + 1) << 4;
}
// What a digit makes of that which the digits below it make of each carry.
FN uint carry_after(uint below, uint own) {
  return (own >> 2 * (below & 3) & 3) | (own >> 2 * (below >> 2 & 3) & 3) << 2 | (own >> 2 * (below >> 4 & 3) & 3) << 4;
}

// The least of all work-items' numbers, for all of them. GROUP is a power of two.
FN uint group_least(LOCAL uint* scratch, uint own) {
  scratch[local_id()] = own;
  barrier_local();
  for (uint left = GROUP / 2; left > 0; left /= 2) {
    if (local_id() < left && scratch[local_id() + left] < scratch[local_id()]) scratch[local_id()] = scratch[local_id() + left];
    barrier_local();
  }
  const uint least = scratch[0];
  barrier_local();
  return least;
}

// The sum, rounded once, to byte `offset` of `to`. One group, of which each work-item has a digit: one work-item alone would wait for memory
// as often as there are digits.
KERNEL FIXED_GROUP(GROUP, 1) void words_round(GLOBAL const exact_ulong* words, GLOBAL double* to, ulong offset) {
  LOCAL_VAR exact_long digits[GROUP];
  LOCAL_VAR exact_ulong kinds[5];
  LOCAL_VAR uint scratch[GROUP];
  const int i = (int)local_id();
  exact_long own = 0;
  for (int block = 0; block < BLOCKS; ++block) {
    // Small ones, which are behind the usual ones, have the lowest weight.
    const int place = BLOCKS == 3 ? (block == 0 ? 1 : block == 1 ? 0 : 2) * APART : EXACT_SUM_FIRST(FORMAT);
    if (i >= place && i < place + EXACT_SUM_DIGITS(FORMAT)) own += (exact_long)words[block * BLOCK_WORDS + i - place];
  }
  if (i < 5) {
    exact_ulong kind = 0;
    for (int block = 0; block < BLOCKS; ++block) kind += words[block * BLOCK_WORDS + EXACT_SUM_DIGITS(FORMAT) + i];
    kinds[i] = kind;
  }
  // Each digit gives what it has above 32 bits to the next one: then it is -2^30 to 2^33, and then -1 to 2^32.
  for (int pass = 0; pass < 2; ++pass) {
    digits[i] = own;
    barrier_local();
    if (i < LAST) own &= LOW;
    if (i > 0 && i <= LAST) own += digits[i - 1] >> 32;
    barrier_local();
  }
  // The carries that are left go any number of digits up: what all digits up to each one make of a carry, by doubling.
  uint map = carry_map(own);
  for (int step = 1; step <= LAST; step *= 2) {
    scratch[i] = map;
    barrier_local();
    if (i >= step) map = carry_after(scratch[i - step], map);
    barrier_local();
  }
  scratch[i] = map;
  barrier_local();
  if (i > 0 && i <= LAST) own += (exact_long)(scratch[i - 1] >> 2 & 3) - 1;
  if (i < LAST) own &= LOW;
  digits[i] = own;
  barrier_local();
  // The magnitude of a negative number: digits below the lowest that is not 0 stay.
  const exact_ulong negative = digits[LAST] < 0;
  const int lowest = (int)group_least(scratch, own != 0 ? (uint)i : GROUP);
  if (negative != 0 && i >= lowest && i <= LAST) own = (i < LAST ? LOW : -1) - own + (i == lowest ? 1 : 0);
  digits[i] = own;
  barrier_local();
  const int top = GROUP - 1 - (int)group_least(scratch, GROUP - 1 - (own != 0 ? (uint)i : 0));
  if (i != 0) return;
  // Four digits have more bits than a double. Of those below, it matters whether any is not 0.
  exact_long upper[LAST + 1];
  const int first = top >= 4 ? top - 4 : 0;
  upper[first] = top >= 4 ? (exact_long)(lowest <= first) : digits[0];
  for (int k = first + 1; k <= top; ++k) upper[k] = digits[k];
  const int special = exact_special(kinds[4] != 0, kinds[0], kinds[1], kinds[2], kinds[3] != 0 || kinds[4] == 0, 0);
  const exact_ulong bits = special != EXACT_FINITE ? exact_special_float64(special)
                                                   : negative << 63 | exact_round_float64(upper + ZERO, first - ZERO, top - ZERO);
  to[offset / 8] = exact_double(bits);
}
