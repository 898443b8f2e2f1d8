// Functions by fixed operations, none of them fused: the same bits wherever those of IEEE 754 are right. Behind operations.h. Everything is chosen, and nothing branched to, so
// that compilers make vectors of loops. Bounds, in units in the last place: exp and log 1.5, tanh 3 (docs/formulas.md; held against MPFR by the tests).
//
// The polynomials are Taylor's: a term or two more than the best ones have, and nothing to be searched for.

// 2^k and what is left of a: a = k ln 2 + r, where k is next to a / ln 2, and e^r - 1.
FN float exp_parts_f32(float a, float* k, float* shifted) {
  *shifted = a * 0x1.715476p+0f + 12582912.0f;  // its last bits are those of k
  *k = *shifted - 12582912.0f;
  const float r = (a - *k * 0x1.62e4p-1f) - *k * 0x1.7f7d1cp-20f;  // the first product is exact
  float p = 0x1.a01a02p-13f;
  p = p * r + 0x1.6c16c2p-10f;
  p = p * r + 0x1.111112p-7f;
  p = p * r + 0x1.555556p-5f;
  p = p * r + 0x1.555556p-3f;
  p = p * r + 0x1.0p-1f;
  return r + r * r * p;
}
FN float fixed_exp_f32(float x) {
  float k, shifted;
  const float p = exp_parts_f32(x > 100.0f ? 100.0f : x < -110.0f ? -110.0f : x, &k, &shifted);
  // Two factors: the power may be one that no number of the type is. Only the last product rounds.
  const uint both = as_uint(shifted) - 0x4b400000u + 256u;
  const uint half = both >> 1;
  return (1.0f + p) * as_float((half - 1) << 23) * as_float((both - half - 1) << 23);
}
// By e^2|x| - 1, for which k is not negative.
FN float fixed_tanh_f32(float x) {
  const float a = abs_f32(x);
  float k, shifted;
  const float p = exp_parts_f32(a > 10.0f ? 20.0f : a + a, &k, &shifted);
  const float scale = as_float((as_uint(shifted) - 0x4b400000u + 127u) << 23);
  const float e = p * scale + (scale - 1.0f);
  return as_float(as_uint(e / (e + 2.0f)) | (as_uint(x) & 0x80000000u));
}
// x = 2^k (1 + f) with 1 + f between the roots of 1/2 and 2; log(1 + f) by the series of atanh(s), s = f/(2 + f).
FN float fixed_log_f32(float x) {
  const int tiny = x < 0x1p-126f;
  const uint t = as_uint(tiny ? x * 0x1p25f : x) + (0x3f800000u - 0x3f3504f3u);
  const float k = as_float(0x4b000000u | t >> 23) - (tiny ? 8388760.0f : 8388735.0f);
  const float f = as_float((t & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
  const float s = f / (2.0f + f);
  const float z = s * s;
  float p = 0x1.745d18p-3f;
  p = p * z + 0x1.c71c72p-3f;
  p = p * z + 0x1.24924ap-2f;
  p = p * z + 0x1.99999ap-2f;
  p = p * z + 0x1.555556p-1f;
  const float h = 0.5f * f * f;
  const float value = k * 0x1.62e4p-1f - ((h - (s * (h + z * p) + k * 0x1.7f7d1cp-20f)) - f);
  const float infinity = as_float(0x7f800000u);
  return x > 0.0f ? (x < infinity ? value : x) : x == 0.0f ? -infinity : as_float(0x7fc00000u);
}

// A word of zeros, and the bits of 2/pi.
CONSTANT ulong two_over_pi[20] = {
    0x0000000000000000UL, 0xa2f9836e4e441529UL, 0xfc2757d1f534ddc0UL, 0xdb6295993c439041UL,
    0xfe5163abdebbc561UL, 0xb7246e3a424dd2e0UL, 0x06492eea09d1921cUL, 0xfe1deb1cb129a73eUL,
    0xe88235f52ebb4484UL, 0xe99c7026b45f7e41UL, 0x3991d639835339f4UL, 0x9c845f8bbdf9283bUL,
    0x1ff897ffde05980fUL, 0xef2f118b5a0a6d1fUL, 0x6d367ecf27cb09b7UL, 0x4f463f669e5fea2dUL,
    0x7527bac7ebe5f17bUL, 0x3d0739f78a5292eaUL, 0x6bfb5fb11f8d5d08UL, 0x56033046fc7b6babUL};

// x = mantissa 2^exponent, at least 1/2, for exponents from -53 on: the quarter turn that is next to it, modulo 4, and what is left. That is, in quarter turns, `left` 2^-(64 + `zeros`)
// with a sign; `left` has 64 bits. Of x 2/pi, bits that are multiples of 4 are not computed; 126 behind the point are (Payne and Hanek, 1983).
FN uint quarter_turns(ulong mantissa, int exponent, ulong* left, uint* zeros, uint* negative) {
  const uint first = (uint)(exponent - 2 + 64);
  const uint word = first >> 6, shift = first & 63;
  const ulong a = two_over_pi[word], b = two_over_pi[word + 1], c = two_over_pi[word + 2], d = two_over_pi[word + 3];
  const ulong q0 = shift == 0 ? a : a << shift | b >> (64 - shift);
  const ulong q1 = shift == 0 ? b : b << shift | c >> (64 - shift);
  const ulong q2 = shift == 0 ? c : c << shift | d >> (64 - shift);
  const ulong low = mantissa * q1 + multiply_high_u64(mantissa, q2);
  const ulong high = mantissa * q0 + multiply_high_u64(mantissa, q1) + (low < mantissa * q1 ? 1 : 0);
  ulong f_high = high << 2 | low >> 62, f_low = low << 2;
  *negative = (uint)(f_high >> 63);
  if (*negative != 0) {  // nearer to the next quarter turn
    f_high = ~f_high + (f_low == 0 ? 1 : 0);
    f_low = 0 - f_low;
  }
  *zeros = f_high == 0 ? 63 : clz64(f_high);  // no number of 53 bits comes so near
  *left = *zeros == 0 ? f_high : f_high << *zeros | f_low >> (64 - *zeros);
  return ((uint)(high >> 62) + *negative) & 3;
}

// Of a not negative and finite: r between -pi/4 and pi/4, and how many quarter turns a is from it, modulo 4.
FN uint reduced_f32(float a, float* r) {
  *r = a;
  if (a < 0.78f) return 0;
  const uint word = as_uint(a);
  ulong left;
  uint zeros, negative;
  const uint turns = quarter_turns((ulong)((word & 0x007fffffu) | 0x00800000u), (int)(word >> 23) - 150, &left, &zeros, &negative);
  // Times pi/2, of which 64 bits are enough.
  const float size = (float)multiply_high_u64(left, 0xc90fdaa22168c234UL) * as_float((uint)(127 - 63 - (int)zeros) << 23);
  *r = negative != 0 ? -size : size;
  return turns;
}
// The sine of r, a quarter turn on for each of `turns`.
FN float turned_f32(float r, uint turns) {
  const float z = r * r;
  float p = 0x1.71de3ap-19f;
  p = p * z + -0x1.a01a02p-13f;
  p = p * z + 0x1.111112p-7f;
  p = p * z + -0x1.555556p-3f;
  const float sine = r + r * z * p;
  float q = -0x1.27e4fcp-22f;
  q = q * z + 0x1.a01a02p-16f;
  q = q * z + -0x1.6c16c2p-10f;
  q = q * z + 0x1.555556p-5f;
  const float h = 0.5f * z, w = 1.0f - h;
  const float cosine = w + (((1.0f - w) - h) + z * z * q);
  const float value = (turns & 1) != 0 ? cosine : sine;
  return (turns & 2) != 0 ? -value : value;
}
FN float fixed_sin_f32(float x) {
  float r = 0;
  const float a = abs_f32(x);
  if (!(a < as_float(0x7f800000u))) return as_float(0x7fc00000u);
  const uint turns = reduced_f32(a, &r);
  const float value = turned_f32(r, turns);
  return as_float(as_uint(value) ^ (as_uint(x) & 0x80000000u));
}
FN float fixed_cos_f32(float x) {
  float r = 0;
  const float a = abs_f32(x);
  if (!(a < as_float(0x7f800000u))) return as_float(0x7fc00000u);
  const uint turns = reduced_f32(a, &r);
  return turned_f32(r, turns + 1);
}

#if SAMESUM_FP64
// 2^k and what is left of a: a = k ln 2 + r, where k is next to a / ln 2, and e^r - 1.
FN double exp_parts_f64(double a, double* k, double* shifted) {
  *shifted = a * 0x1.71547652b82fep+0 + 6755399441055744.0;  // its last bits are those of k
  *k = *shifted - 6755399441055744.0;
  const double r = (a - *k * 0x1.62e42fefa38p-1) - *k * 0x1.ef35793c7673p-45;  // the first product is exact
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
  return r + r * r * p;
}
FN double fixed_exp_f64(double x) {
  double k, shifted;
  const double p = exp_parts_f64(x > 720.0 ? 720.0 : x < -760.0 ? -760.0 : x, &k, &shifted);
  // Two factors: the power may be one that no number of the type is. Only the last product rounds.
  const ulong both = as_ulong(shifted) - 0x4338000000000000UL + 2048UL;
  const ulong half = both >> 1;
  return (1.0 + p) * as_double((half - 1) << 52) * as_double((both - half - 1) << 52);
}
// By e^2|x| - 1, for which k is not negative.
FN double fixed_tanh_f64(double x) {
  const double a = abs_f64(x);
  double k, shifted;
  const double p = exp_parts_f64(a > 20.0 ? 40.0 : a + a, &k, &shifted);
  const double scale = as_double((as_ulong(shifted) - 0x4338000000000000UL + 1023UL) << 52);
  const double e = p * scale + (scale - 1.0);
  return as_double(as_ulong(e / (e + 2.0)) | (as_ulong(x) & 0x8000000000000000UL));
}
// x = 2^k (1 + f) with 1 + f between the roots of 1/2 and 2; log(1 + f) by the series of atanh(s), s = f/(2 + f).
FN double fixed_log_f64(double x) {
  const int tiny = x < 0x1p-1022;
  const ulong t = as_ulong(tiny ? x * 0x1p54 : x) + (0x3ff0000000000000UL - 0x3fe6a09e667f3bcdUL);
  const double k = as_double(0x4330000000000000UL | t >> 52) - (tiny ? 4503599627371573.0 : 4503599627371519.0);
  const double f = as_double((t & 0x000fffffffffffffUL) + 0x3fe6a09e667f3bcdUL) - 1.0;
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
  const double h = 0.5 * f * f;
  const double value = k * 0x1.62e42fefa38p-1 - ((h - (s * (h + z * p) + k * 0x1.ef35793c7673p-45)) - f);
  const double infinity = as_double(0x7ff0000000000000UL);
  return x > 0.0 ? (x < infinity ? value : x) : x == 0.0 ? -infinity : as_double(0x7ff8000000000000UL);
}
// Of a not negative and finite: r between -pi/4 and pi/4, and how many quarter turns a is from it, modulo 4.
FN uint reduced_f64(double a, double* r) {
  *r = a;
  if (a < 0.78) return 0;
  const ulong word = as_ulong(a);
  ulong left;
  uint zeros, negative;
  const uint turns = quarter_turns((ulong)((word & 0x000fffffffffffffUL) | 0x0010000000000000UL), (int)(word >> 52) - 1075, &left, &zeros, &negative);
  // Times pi/2, of which 64 bits are enough.
  const double size = (double)multiply_high_u64(left, 0xc90fdaa22168c234UL) * as_double((ulong)(1023 - 63 - (int)zeros) << 52);
  *r = negative != 0 ? -size : size;
  return turns;
}
// The sine of r, a quarter turn on for each of `turns`.
FN double turned_f64(double r, uint turns) {
  const double z = r * r;
  double p = 0x1.952c77030ad4ap-49;
  p = p * z + -0x1.ae7f3e733b81fp-41;
  p = p * z + 0x1.6124613a86d09p-33;
  p = p * z + -0x1.ae64567f544e4p-26;
  p = p * z + 0x1.71de3a556c734p-19;
  p = p * z + -0x1.a01a01a01a01ap-13;
  p = p * z + 0x1.1111111111111p-7;
  p = p * z + -0x1.5555555555555p-3;
  const double sine = r + r * z * p;
  double q = -0x1.6827863b97d97p-53;
  q = q * z + 0x1.ae7f3e733b81fp-45;
  q = q * z + -0x1.93974a8c07c9dp-37;
  q = q * z + 0x1.1eed8eff8d898p-29;
  q = q * z + -0x1.27e4fb7789f5cp-22;
  q = q * z + 0x1.a01a01a01a01ap-16;
  q = q * z + -0x1.6c16c16c16c17p-10;
  q = q * z + 0x1.5555555555555p-5;
  const double h = 0.5 * z, w = 1.0 - h;
  const double cosine = w + (((1.0 - w) - h) + z * z * q);
  const double value = (turns & 1) != 0 ? cosine : sine;
  return (turns & 2) != 0 ? -value : value;
}
FN double fixed_sin_f64(double x) {
  double r = 0;
  const double a = abs_f64(x);
  if (!(a < as_double(0x7ff0000000000000UL))) return as_double(0x7ff8000000000000UL);
  const uint turns = reduced_f64(a, &r);
  const double value = turned_f64(r, turns);
  return as_double(as_ulong(value) ^ (as_ulong(x) & 0x8000000000000000UL));
}
FN double fixed_cos_f64(double x) {
  double r = 0;
  const double a = abs_f64(x);
  if (!(a < as_double(0x7ff0000000000000UL))) return as_double(0x7ff8000000000000UL);
  const uint turns = reduced_f64(a, &r);
  return turned_f64(r, turns + 1);
}
#endif
