// Exact sums of pairs: a work-item has one x and a part of the y, and adds each fl(w f) to its own superaccumulator (exact.h): three digits
// change. Work-items do not synchronize. pairs_exact_round adds the parts' digits up and rounds once.
//
// Included after exact.h, for digits in private memory, function.h and reduction.h. REAL uses digits FIRST_DIGIT .. FIRST_DIGIT + DIGITS -
// 1; a word of flags for other values follows them.

#if REAL_BYTES == 4
#define FIRST_DIGIT 28  // of 2^-149
#define DIGITS 14
#else
#define FIRST_DIGIT 0
#define DIGITS EXACT_DIGITS
#endif
#define NAN_SEEN 1
#define POSITIVE_INFINITY_SEEN 2
#define NEGATIVE_INFINITY_SEEN 4
#define OTHER_SEEN 8  // values other than NaN and -0.0
#define MOST_ADDITIONS 0x20000000  // between carry propagations: each changes a digit by less than 2^32

KERNEL FIXED_GROUP(GROUP, RESIDENT) void pairs_exact(GLOBAL const uchar* a_bytes, ulong a_offset, GLOBAL const uchar* b_bytes,
                                                     ulong b_offset, GLOBAL const REAL* extras, ulong x_count, ulong y_count,
                                                     ulong share, uint parts F_TAKES, GLOBAL long* results) {
  GLOBAL const STORED* const a = REALS_AT(a_bytes, a_offset);
  GLOBAL const STORED* const b = REALS_AT(b_bytes, b_offset);
  const ulong n = x_count * parts;
  const ulong id = global_id() < n ? global_id() : n - 1;
  const uint part = (uint)(id / x_count);
  const ulong begin = part * share;
  const ulong end = begin + share < y_count ? begin + share : y_count;
  REAL x[D];
  for (uint d = 0; d < D; ++d) x[d] = LOADED(a[id % x_count * D + d]);
  long digits[DIGITS];
  for (int i = 0; i < DIGITS; ++i) digits[i] = 0;
  uint seen = 0;
  uint additions = 0;
  for (ulong j = begin; j < end; ++j) {
    REAL y[D + EXTRAS];
    for (uint d = 0; d < D; ++d) y[d] = LOADED(b[j * D + d]);
#if EXTRAS > 0
    for (uint e = 0; e < EXTRAS; ++e) y[D + e] = extras[j * EXTRAS + e];
#endif
    const REAL value = pair_value(x, y F_GIVES);
#if REAL_BYTES == 4
    const uint bits = as_uint(value);
    const int exponent = (int)(bits >> 23) & 0xff;
    const uint fraction = bits & 0x7fffffu;
    const uint special = exponent == 0xff;
    const long mantissa = (long)(exponent != 0 ? fraction | 0x800000u : fraction);
    const int position = (exponent != 0 ? exponent - 1 : 0) + EXACT_FLOAT32_SHIFT - 32 * FIRST_DIGIT;
    const uint negative = bits >> 31;
    seen |= bits != 0x80000000u && !(special && fraction != 0) ? OTHER_SEEN : 0;
#else
    const ulong bits = as_ulong(value);
    const int exponent = (int)(bits >> 52) & 0x7ff;
    const ulong fraction = bits & 0xfffffffffffffL;
    const uint special = exponent == 0x7ff;
    const long mantissa = (long)(exponent != 0 ? fraction | 0x10000000000000L : fraction);
    const int position = exponent != 0 ? exponent - 1 : 0;
    const uint negative = (uint)(bits >> 63);
    seen |= bits != 0x8000000000000000UL && !(special && fraction != 0) ? OTHER_SEEN : 0;
#endif
    seen |= !special ? 0 : fraction != 0 ? NAN_SEEN : negative ? NEGATIVE_INFINITY_SEEN : POSITIVE_INFINITY_SEEN;
    const long term = special ? 0 : negative ? -mantissa : mantissa;
    exact_add_scaled(digits, term, special ? 0 : position);
    if (++additions == MOST_ADDITIONS) {
      exact_normalize(digits, 0, DIGITS - 1);
      additions = 0;
    }
  }
  exact_normalize(digits, 0, DIGITS - 1);
  if (global_id() < n) {
    for (int i = 0; i < DIGITS; ++i) results[i * n + id] = digits[i];
    results[DIGITS * n + id] = seen;
  }
}

KERNEL FIXED_GROUP(GROUP, RESIDENT) void pairs_exact_round(GLOBAL const long* results, ulong x_count, uint parts, GLOBAL uchar* c_bytes,
                                                           ulong c_offset) {
  GLOBAL REAL* const c = (GLOBAL REAL*)(c_bytes + c_offset);
  const ulong n = x_count * parts;
  const ulong x = global_id() < x_count ? global_id() : x_count - 1;
  long digits[EXACT_DIGITS];
  for (int i = 0; i < EXACT_DIGITS; ++i) digits[i] = 0;
  uint seen = 0;
  for (uint part = 0; part < parts; ++part) {
    for (int i = 0; i < DIGITS; ++i) digits[FIRST_DIGIT + i] += results[i * n + part * x_count + x];
    seen |= (uint)results[DIGITS * n + part * x_count + x];
  }
  const int last = FIRST_DIGIT + DIGITS - 1;
  exact_normalize(digits, FIRST_DIGIT, last);
  const int special = exact_special(1, seen & NAN_SEEN, seen & POSITIVE_INFINITY_SEEN, seen & NEGATIVE_INFINITY_SEEN, seen & OTHER_SEEN, 0);
  // The magnitude: where the sum is negative, all digits are negated.
  const uint negative = digits[last] < 0;
  for (int i = FIRST_DIGIT; i <= last; ++i) digits[i] = negative ? -digits[i] : digits[i];
  exact_normalize(digits, FIRST_DIGIT, last);
#if REAL_BYTES == 4
  const uint bits = exact_round_float32(digits, FIRST_DIGIT, last) | negative << 31;
  const REAL value = as_float(special == EXACT_FINITE ? bits : exact_special_float32(special));
#else
  const ulong bits = exact_round_float64(digits, FIRST_DIGIT, last) | (ulong)negative << 63;
  const REAL value = as_double(special == EXACT_FINITE ? bits : exact_special_float64(special));
#endif
  if (global_id() < x_count) c[x] = value;
}
