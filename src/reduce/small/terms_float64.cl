// Terms that are float64 numbers, for small_sum.cl, after fixed_point.h: elements of float64; products of float32, float16 or bfloat16, which are
// exact as float64; and products of float64, each a float64 and an exact rest, if that does not lie below the least float64.
//
// They are added up as fixed-point numbers (fixed_sum.h): with powers that lie 51 bits apart, and are the same for all terms, each term and its rest
// are cut; what comes of that is added up as integers. The last word is for what the others carry.
#define HAS_RESTS (PRODUCTS && BITS == 64)

#if SUM
#define REAL double
FN REAL real_of(WORD x, WORD y) { return as_double(x); }
FN double term_of(REAL v) { return v; }
FN uint is_nonzero(REAL v) { return v != 0; }
#else
#if BITS == 64
#define FACTOR double
FN FACTOR factor_of(WORD x) { return as_double(x); }
#else
#define FACTOR float
#if BITS == 32
FN FACTOR factor_of(WORD x) { return as_float(x); }
#elif EXPONENT_BITS == 5
FN FACTOR factor_of(WORD x) { return half_to_float((ushort)x); }
#else
FN FACTOR factor_of(WORD x) { return as_float(x << 16); }
#endif
#endif
#if DOT
typedef struct {
  FACTOR a, b;
} FACTORS;
#define SECOND(factors) (factors).b
#else
typedef struct {
  FACTOR a;
} FACTORS;
#define SECOND(factors) (factors).a
#endif
#define REAL FACTORS
FN REAL real_of(WORD x, WORD y) {
  REAL factors;
  factors.a = factor_of(x);
  SECOND(factors) = factor_of(y);
  return factors;
}
FN double term_of(REAL factors) { return mul_rn_f64(factors.a, SECOND(factors)); }
FN uint is_nonzero(REAL factors) { return factors.a != 0 && SECOND(factors) != 0; }
#endif

#if HAS_RESTS
#define LEAST_HIGH 0x03700000u  // upper half of 2^-968: the rest of a product from there on has no bit below 2^-1074
FN uint is_small(double product) { return ((uint)(as_ulong(product) >> 32) & 0x7fffffffu) < LEAST_HIGH; }
FN double exact_rest(REAL factors, double product) { return fma_rn_f64(factors.a, SECOND(factors), -product); }
#else
#define LEAST_HIGH 0u
#endif

// The same term, by a conversion less.
#if PRODUCTS && DOT && BITS < 64
// By integer operations: a wider exponent field, whose bias the multiplication corrects. Conversions have a low throughput; this runs beside those of
// the other factors. Infinities and NaNs become finite numbers.
FN double widen(float value) {
  const int x = (int)as_uint(value);
  return mul_rn_f64(as_double((ulong)((uint)(x >> 3) & 0x8fffffffu) << 32 | (uint)x << 29), 0x1p896);
}
FN double fast_term(REAL factors) { return mul_rn_f64(widen(factors.a), factors.b); }
#else
#define fast_term(v) term_of(v)
#endif

typedef struct {
  ulong words[UPPER];       // as a fixed-point number, by the powers
  ulong finer;              // what is below the last of these
  uint left, small, other;  // bits in which sums left the power; whether any term was too small; whether any was not -0.0
} SHARE;

FN SHARE empty_share(uint zero, double power) {
  SHARE share;
  share.left = share.small = share.other = zero;
  share.finer = zero;
#pragma unroll
  for (int i = 0; i < UPPER; ++i) share.words[i] = zero;
  return share;
}
FN uint has_other(const SHARE* share) { return share->other; }

#define FIRST_BITS 61
#define LOWER_BITS 51
#define UPPER_BITS 40
#define LOWER_PIECES 3
#define UPPER_PIECES 0
#define TERM_SCALE 0
#define GREATEST_NOTED 1
// From the sum of two exponent fields: terms are below a quarter of the second word's power. More where finer powers cost nothing.
#define GROWTH (LOWER_BITS - 1019 + (HAS_RESTS ? 0 : 20))
// The distance in bits from which on terms, of at most 53 bits, have no bit below the last bit of the powers by which they are cut.
#define LEAST_BITS (HAS_RESTS ? 49 : 100)

// The sum of the exponent fields of the greatest factors, as float64; of an element and 1.
FN uint field_of_class(uint greatest) { return BITS == 64 ? greatest >> 20 : EXPONENT_BITS == 5 ? (greatest >> 10) + 1008 : (greatest >> FRACTION_BITS) + 896; }
FN uint class_of(WORD x) { return (uint)(magnitude_of(x) >> (BITS == 64 ? 32 : 0)); }
FN uint greatest_field(const uint4* x, const uint4* y) {
  uint a_most = 0, b_most = 0;
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    a_most = max_u32(a_most, class_of(element_of(x[i / ELEMENTS_PER_LOAD], i % ELEMENTS_PER_LOAD)));
    b_most = max_u32(b_most, class_of(element_of(y[i / ELEMENTS_PER_LOAD], i % ELEMENTS_PER_LOAD)));
  }
  return field_of_class(a_most) + (SUM ? 1023 : field_of_class(b_most));
}
// What the sum's field is expected to be from one term's.
FN uint field_of_term(WORD x, WORD y, ulong count) { return field_of_class(class_of(x)) + (SUM ? 1023 : field_of_class(class_of(y))); }

// Adds what a small term and its rest have below the last bits of the powers by which they were cut.
FN void add_finer(SHARE* share, REAL v, uint first_high) {
  const double first = as_double((ulong)first_high << 32), second = power_below(first, 1), third = power_below(first, 2);
  const double finest = as_double(as_ulong(third) - ((ulong)(FIRST_BITS - LOWER_BITS) << 52));
  const double term = term_of(v);
  const double beside = add_rn_f64(add_rn_f64(first, second), -add_rn_f64(term, first)), lower = add_rn_f64(term, beside);
  const double lost = add_rn_f64(term, -add_rn_f64(lower, -beside)), more = add_rn_f64(lost, third);
  const double left = add_rn_f64(lost, -add_rn_f64(more, -third)), a = add_rn_f64(left, finest);
  share->finer += (ulong)multiple_of(a, finest);
  share->small |= add_rn_f64(a, -finest) != left;
#if HAS_RESTS
  share->words[0] += (ulong)multiple_of(more, third);
  const double rest = exact_rest(v, term);
  const double beside_rest = add_rn_f64(add_rn_f64(second, third), -add_rn_f64(rest, second)), last = add_rn_f64(rest, beside_rest);
  const double lost_rest = add_rn_f64(rest, -add_rn_f64(last, -beside_rest)), b = add_rn_f64(lost_rest, finest);
  share->finer += (ulong)multiple_of(b, finest);
  share->small |= add_rn_f64(b, -finest) != lost_rest || (is_small(term) && is_nonzero(v));
#endif
}

// Terms that are processed at once: with more, compilers keep all of them in registers. LOADS is a power of two.
#define AT_ONCE (REALS < 8 ? REALS : 8)

FN void add_terms(SHARE* share, const REAL* v, double power) {
  const double first = power_below(power, 1), second = power_below(power, 2), third = power_below(power, 3);
  const double to_second = add_rn_f64(first, second), to_third = add_rn_f64(second, third);
  const uint first_high = (uint)(as_ulong(first) >> 32);
  const uint limit = max_u32((first_high & 0x7ff00000u) - (LEAST_BITS << 20), LEAST_HIGH);
  share->words[2] -= (ulong)(REALS * first_high) << 32;
  share->words[1] -= (ulong)((HAS_RESTS ? 2 : 1) * REALS * (uint)(as_ulong(second) >> 32)) << 32;
  share->words[0] -= (ulong)(REALS * (uint)(as_ulong(third) >> 32)) << 32;
#if PRODUCTS && DOT && BITS < 64
  float special = 0;
#pragma unroll
  for (int i = 0; i < REALS; ++i) special = fma_rn_f32(v[i].a, 0, special);
  if (special != 0) share->left = ~0u;
#endif
#pragma unroll
  for (int start = 0; start < REALS; start += AT_ONCE) {
    float least = as_float(0x7f7fffffu);
#pragma unroll
    for (int i = start; i < start + AT_ONCE; ++i) {
      const double term = fast_term(v[i]);
      // Rounded to the first power's last bit; and what is left, exactly, beside the second power, and the third.
      const double upper = add_rn_f64(term, first);
#if HAS_RESTS
      const double lower = add_rn_f64(term, add_rn_f64(to_second, -upper)), rest = exact_rest(v[i], term), middle = add_rn_f64(rest, second);
      const double last = add_rn_f64(rest, add_rn_f64(to_third, -middle));
      share->words[1] += as_ulong(middle);
#else
      const double left = add_rn_f64(term, add_rn_f64(first, -upper)), lower = add_rn_f64(left, second);
      const double last = add_rn_f64(left, add_rn_f64(to_third, -lower));
#endif
      share->words[2] += as_ulong(upper);
      share->words[1] += as_ulong(lower);
      share->words[0] += as_ulong(last);
      share->left |= (uint)(as_ulong(upper) >> 32) ^ first_high;
      least = min_magnitude_f32(least, as_float((uint)(as_ulong(term) >> 32)));
    }
    if (as_uint(least) >= limit) {
      share->other = 1;
      continue;
    }
    uint small = 0;
#pragma unroll
    for (int i = start; i < start + AT_ONCE; ++i) {  // zeros are not too small
      const ulong term = as_ulong(fast_term(v[i]));
      share->other |= term != 0x8000000000000000UL;
      small |= ((uint)(term >> 32) & 0x7fffffffu) < limit && is_nonzero(v[i]);
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
