// Functions by fixed operations, none of them fused: the same bits wherever those of IEEE 754 are right. Behind operations.h. Almost everything is chosen, and little branched
// to, so that compilers make vectors of loops. docs/formulas.md states the bounds, which the tests hold against MPFR.
//
// What several of the functions share. Polynomials are Taylor's, a term or two more than the best ones have, or, where they say so, those of least greatest error (tools/polynomials.py).

FN float with_sign_f32(float magnitude, float sign) { return as_float((as_uint(magnitude) & 0x7fffffffu) | (as_uint(sign) & 0x80000000u)); }
FN float times_sign_f32(float value, float sign) { return as_float(as_uint(value) ^ (as_uint(sign) & 0x80000000u)); }
// The first 12 bits: products of two such numbers are exact.
FN float first_half_f32(float a) { return as_float(as_uint(a) & 0xfffff000u); }

// e^r - 1 - r for r of up to ln 2 / 2.
FN float exp_bend_f32(float r) {
  float p = 0x1.a01a02p-13f;
  p = p * r + 0x1.6c16c2p-10f;
  p = p * r + 0x1.111112p-7f;
  p = p * r + 0x1.555556p-5f;
  p = p * r + 0x1.555556p-3f;
  p = p * r + 0x1.0p-1f;
  return r * r * p;
}
// 12582912 + k for the whole number k next to a, by rounding: k stands in the last bits. a is at most 2^20 in magnitude.
FN float shifted_f32(float a) { return a + 12582912.0f; }
// r and low of a = k ln 2 + r + low, and k as shifted() gives it. r has no rounding error.
FN float exp_left_f32(float a, float* shifted, float* low) {
  *shifted = shifted_f32(a * 0x1.715476p+0f);
  const float k = *shifted - 12582912.0f;
  *low = k * -0x1.7f7d1cp-20f;
  return a - k * 0x1.62e4p-1f;
}
// e^(r + low). What the sum 1 + r loses by rounding is added again.
FN float exp_sum_f32(float r, float low) {
  const float one = 1.0f + r;
  return one + (((1.0f - one) + r) + (low + exp_bend_f32(r + low)));
}
// power e^(r + low) - unit, for a power of 2. Where the result is near 0, its greatest terms are added without rounding.
FN float exp_less_f32(float r, float low, float power, float unit) {
  return ((power - unit) + r * power) + (low + exp_bend_f32(r + low)) * power;
}
// 2^(r + low) for r of up to 1/2.
FN float exp2_sum_f32(float r, float low) {
  const float high = first_half_f32(r);
  return exp_sum_f32(high * 0x1.62ep-1f, high * 0x1.0bfbe8p-15f + ((r - high) + low) * 0x1.62e43p-1f);
}
// value 2^(k + more), k as above, at most 250 in magnitude. By two factors, as the power itself may be out of range. Only the last product rounds.
FN float scaled_f32(float value, float shifted, int more) {
  const uint both = as_uint(shifted) - 0x4b400000u + 256u + (uint)more;
  const uint low_part = both >> 1;
  return value * as_float((low_part - 1) << 23) * as_float((both - low_part - 1) << 23);
}
// 2^(k + more), which has to be in range.
FN float power_of_two_f32(float shifted, int more) { return as_float((as_uint(shifted) - 0x4b400000u + 127u + (uint)more) << 23); }

// x = 2^k (1 + f) with 1 + f between the roots of 1/2 and 2. Of x > 0 and finite.
FN float log_parts_f32(float x, float* k) {
  const int tiny = x < 0x1p-126f;
  const uint t = as_uint(tiny ? x * 0x1p25f : x) + (0x3f800000u - 0x3f3504f3u);
  *k = as_float(0x4b000000u | t >> 23) - (tiny ? 8388760.0f : 8388735.0f);
  return as_float((t & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
}
// log(1 + f) - f + h for such f and h = f²/2, by the series of atanh(s), s = f/(2 + f).
FN float log_rest_f32(float f, float h) {
  const float s = f / (2.0f + f);
  const float z = s * s;
  float p = 0x1.745d18p-3f;
  p = p * z + 0x1.c71c72p-3f;
  p = p * z + 0x1.24924ap-2f;
  p = p * z + 0x1.99999ap-2f;
  p = p * z + 0x1.555556p-1f;
  return s * (h + z * p);
}
// The value of a logarithm of x from that for finite x > 0.
FN float log_at_ends_f32(float x, float value) {
  const float infinity = as_float(0x7f800000u);
  return x > 0.0f ? (x < infinity ? value : x) : x == 0.0f ? -infinity : as_float(0x7fc00000u);
}

#if SAMESUM_FP64
FN double with_sign_f64(double magnitude, double sign) {
  return as_double((as_ulong(magnitude) & 0x7fffffffffffffffUL) | (as_ulong(sign) & 0x8000000000000000UL));
}
FN double times_sign_f64(double value, double sign) { return as_double(as_ulong(value) ^ (as_ulong(sign) & 0x8000000000000000UL)); }
// The first 26 bits: products of two such numbers are exact.
FN double first_half_f64(double a) { return as_double(as_ulong(a) & 0xfffffffff8000000UL); }

// e^r - 1 - r for r of up to ln 2 / 2.
FN double exp_bend_f64(double r) {
  double p = 0x1.6124613a86d09p-33;
  p = p * r + 0x1.1eed8eff8d898p-29;
  p = p * r + 0x1.ae64567f544e4p-26;
  p = p * r + 0x1.27e4fb7789f5cp-22;
  p = p * r + 0x1.71de3a556c734p-19;
  p = p * r + 0x1.a01a01a01a01ap-16;
  p = p * r + 0x1.a01a01a01a01ap-13;
  p = p * r + 0x1.6c16c16c16c17p-10;
  p = p * r + 0x1.1111111111111p-7;
  p = p * r + 0x1.5555555555555p-5;
  p = p * r + 0x1.5555555555555p-3;
  p = p * r + 0x1.0000000000000p-1;
  return r * r * p;
}
// 6755399441055744 + k for the whole number k next to a, by rounding: k stands in the last bits. a is at most 2^50 in magnitude.
FN double shifted_f64(double a) { return a + 6755399441055744.0; }
// r and low of a = k ln 2 + r + low, and k as shifted() gives it. r has no rounding error.
FN double exp_left_f64(double a, double* shifted, double* low) {
  *shifted = shifted_f64(a * 0x1.71547652b82fep+0);
  const double k = *shifted - 6755399441055744.0;
  *low = k * -0x1.ef35793c7673p-45;
  return a - k * 0x1.62e42fefa38p-1;
}
// e^(r + low). What the sum 1 + r loses by rounding is added again.
FN double exp_sum_f64(double r, double low) {
  const double one = 1.0 + r;
  return one + (((1.0 - one) + r) + (low + exp_bend_f64(r + low)));
}
// power e^(r + low) - unit, for a power of 2. Where the result is near 0, its greatest terms are added without rounding.
FN double exp_less_f64(double r, double low, double power, double unit) {
  return ((power - unit) + r * power) + (low + exp_bend_f64(r + low)) * power;
}
// 2^(r + low) for r of up to 1/2.
FN double exp2_sum_f64(double r, double low) {
  const double high = first_half_f64(r);
  return exp_sum_f64(high * 0x1.62e42f8p-1, high * 0x1.be8e7bcd5e4f2p-27 + ((r - high) + low) * 0x1.62e42fefa39efp-1);
}
// value 2^(k + more), k as above, at most 2000 in magnitude. By two factors, as the power itself may be out of range. Only the last product rounds.
FN double scaled_f64(double value, double shifted, int more) {
  const ulong both = as_ulong(shifted) - 0x4338000000000000UL + (ulong)(2048 + more);
  const ulong low_part = both >> 1;
  return value * as_double((low_part - 1) << 52) * as_double((both - low_part - 1) << 52);
}
// 2^(k + more), which has to be in range.
FN double power_of_two_f64(double shifted, int more) { return as_double((as_ulong(shifted) - 0x4338000000000000UL + (ulong)(1023 + more)) << 52); }

// x = 2^k (1 + f) with 1 + f between the roots of 1/2 and 2. Of x > 0 and finite.
FN double log_parts_f64(double x, double* k) {
  const int tiny = x < 0x1p-1022;
  const ulong t = as_ulong(tiny ? x * 0x1p54 : x) + (0x3ff0000000000000UL - 0x3fe6a09e667f3bcdUL);
  *k = as_double(0x4330000000000000UL | t >> 52) - (tiny ? 4503599627371573.0 : 4503599627371519.0);
  return as_double((t & 0x000fffffffffffffUL) + 0x3fe6a09e667f3bcdUL) - 1.0;
}
// log(1 + f) - f + h for such f and h = f²/2, by the series of atanh(s), s = f/(2 + f).
FN double log_rest_f64(double f, double h) {
  const double s = f / (2.0 + f);
  const double z = s * s;
  double p = 0x1.8618618618618p-4;
  p = p * z + 0x1.af286bca1af28p-4;
  p = p * z + 0x1.e1e1e1e1e1e1ep-4;
  p = p * z + 0x1.1111111111111p-3;
  p = p * z + 0x1.3b13b13b13b14p-3;
  p = p * z + 0x1.745d1745d1746p-3;
  p = p * z + 0x1.c71c71c71c71cp-3;
  p = p * z + 0x1.2492492492492p-2;
  p = p * z + 0x1.999999999999ap-2;
  p = p * z + 0x1.5555555555555p-1;
  return s * (h + z * p);
}
// The value of a logarithm of x from that for finite x > 0.
FN double log_at_ends_f64(double x, double value) {
  const double infinity = as_double(0x7ff0000000000000UL);
  return x > 0.0 ? (x < infinity ? value : x) : x == 0.0 ? -infinity : as_double(0x7ff8000000000000UL);
}
#endif
