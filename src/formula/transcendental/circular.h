// sin, cos, tan by fixed operations. Behind parts.h.

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

// Of a finite, from 1500 on: r between -pi/4 and pi/4, and how many quarter turns a is from it, modulo 4.
FN uint far_turns_f32(float a, float* r) {
  const uint word = as_uint(a);
  ulong left;
  uint zeros, negative;
  const uint turns = quarter_turns((ulong)((word & 0x007fffffu) | 0x00800000u), (int)(word >> 23) - 150, &left, &zeros, &negative);
  // Times pi/2, of which 64 bits are enough.
  const float size = (float)multiply_high_u64(left, 0xc90fdaa22168c234UL) * as_float((uint)(127 - 63 - (int)zeros) << 23);
  *r = negative != 0 ? -size : size;
  return turns;
}
// Of a below 1500, not negative: the same. pi/2 is in four parts, of which the products with a number of quarter turns are exact but for the last (Cody and Waite, 1980).
FN uint near_turns_f32(float a, float* r) {
  const float shifted = shifted_f32(a * 0x1.45f306p-1f);
  const float k = shifted - 12582912.0f;
  const float first = a - k * 0x1.9218p+0f;
  const float second = k * 0x1.ed5p-14f, third = k * 0x1.10bp-30f;
  const float b = first - second, b_lost = (first - b) - second;
  const float c = b - third, c_lost = (b - c) - third;
  *r = c + ((b_lost + c_lost) - k * 0x1.184698p-44f);
  return as_uint(shifted) & 3;
}
FN void sine_and_cosine_f32(float r, float* sine, float* cosine) {
  const float z = r * r;
  float p = 0x1.71de3ap-19f;
  p = p * z + -0x1.a01a02p-13f;
  p = p * z + 0x1.111112p-7f;
  p = p * z + -0x1.555556p-3f;
  *sine = r + r * z * p;
  float q = -0x1.27e4fcp-22f;
  q = q * z + 0x1.a01a02p-16f;
  q = q * z + -0x1.6c16c2p-10f;
  q = q * z + 0x1.555556p-5f;
  const float h = 0.5f * z, w = 1.0f - h;
  *cosine = w + (((1.0f - w) - h) + z * z * q);
}
// The sine of r, a quarter turn on for each of `turns`.
FN float turned_f32(float r, uint turns) {
  float sine, cosine;
  sine_and_cosine_f32(r, &sine, &cosine);
  const float value = (turns & 1) != 0 ? cosine : sine;
  return (turns & 2) != 0 ? -value : value;
}
// The tangent of r and as many quarter turns.
FN float tangent_f32(float r, uint turns) {
  float sine, cosine;
  sine_and_cosine_f32(r, &sine, &cosine);
  const int odd = (turns & 1) != 0;
  return (odd ? -cosine : sine) / (odd ? sine : cosine);
}
// Loops on the CPU take those of near numbers first, which are vectors.
FN int is_near_f32(float x) { return abs_f32(x) < 1500.0f; }
FN uint turns_f32(float a, float* r) {
  if (a < 1500.0f) return near_turns_f32(a, r);
  if (a < as_float(0x7f800000u)) return far_turns_f32(a, r);
  *r = as_float(0x7fc00000u);
  return 0;
}
FN float near_sin_f32(float x) {
  float r;
  const uint turns = near_turns_f32(abs_f32(x), &r);
  return times_sign_f32(turned_f32(r, turns), x);
}
FN float fixed_sin_f32(float x) {
  float r;
  const uint turns = turns_f32(abs_f32(x), &r);
  return times_sign_f32(turned_f32(r, turns), x);
}
FN float near_cos_f32(float x) {
  float r;
  const uint turns = near_turns_f32(abs_f32(x), &r);
  return turned_f32(r, turns + 1);
}
FN float fixed_cos_f32(float x) {
  float r;
  const uint turns = turns_f32(abs_f32(x), &r);
  return turned_f32(r, turns + 1);
}
FN float near_tan_f32(float x) {
  float r;
  const uint turns = near_turns_f32(abs_f32(x), &r);
  return times_sign_f32(tangent_f32(r, turns), x);
}
FN float fixed_tan_f32(float x) {
  float r;
  const uint turns = turns_f32(abs_f32(x), &r);
  return times_sign_f32(tangent_f32(r, turns), x);
}

#if SAMESUM_FP64
// Of a finite, from 200,000 on: r between -pi/4 and pi/4, and how many quarter turns a is from it, modulo 4.
FN ulong far_turns_f64(double a, double* r) {
  const ulong word = as_ulong(a);
  ulong left;
  uint zeros, negative;
  const uint turns = quarter_turns((ulong)((word & 0x000fffffffffffffUL) | 0x0010000000000000UL), (int)(word >> 52) - 1075, &left, &zeros, &negative);
  // Times pi/2, of which 64 bits are enough.
  const double size = (double)multiply_high_u64(left, 0xc90fdaa22168c234UL) * as_double((ulong)(1023 - 63 - (int)zeros) << 52);
  *r = negative != 0 ? -size : size;
  return turns;
}
// Of a below 200,000, not negative: the same. pi/2 is in four parts, of which the products with a number of quarter turns are exact but for the last (Cody and Waite, 1980).
FN ulong near_turns_f64(double a, double* r) {
  const double shifted = shifted_f64(a * 0x1.45f306dc9c883p-1);
  const double k = shifted - 6755399441055744.0;
  const double first = a - k * 0x1.921fb544p+0;
  const double second = k * 0x1.0b4611a6p-34, third = k * 0x1.3198a2ep-69;
  const double b = first - second, b_lost = (first - b) - second;
  const double c = b - third, c_lost = (b - c) - third;
  *r = c + ((b_lost + c_lost) - k * 0x1.b839a252049c1p-104);
  return as_ulong(shifted) & 3;
}
FN void sine_and_cosine_f64(double r, double* sine, double* cosine) {
  const double z = r * r;
  double p = 0x1.952c77030ad4ap-49;
  p = p * z + -0x1.ae7f3e733b81fp-41;
  p = p * z + 0x1.6124613a86d09p-33;
  p = p * z + -0x1.ae64567f544e4p-26;
  p = p * z + 0x1.71de3a556c734p-19;
  p = p * z + -0x1.a01a01a01a01ap-13;
  p = p * z + 0x1.1111111111111p-7;
  p = p * z + -0x1.5555555555555p-3;
  *sine = r + r * z * p;
  double q = -0x1.6827863b97d97p-53;
  q = q * z + 0x1.ae7f3e733b81fp-45;
  q = q * z + -0x1.93974a8c07c9dp-37;
  q = q * z + 0x1.1eed8eff8d898p-29;
  q = q * z + -0x1.27e4fb7789f5cp-22;
  q = q * z + 0x1.a01a01a01a01ap-16;
  q = q * z + -0x1.6c16c16c16c17p-10;
  q = q * z + 0x1.5555555555555p-5;
  const double h = 0.5 * z, w = 1.0 - h;
  *cosine = w + (((1.0 - w) - h) + z * z * q);
}
// The sine of r, a quarter turn on for each of `turns`.
FN double turned_f64(double r, ulong turns) {
  double sine, cosine;
  sine_and_cosine_f64(r, &sine, &cosine);
  const double value = (turns & 1) != 0 ? cosine : sine;
  return (turns & 2) != 0 ? -value : value;
}
// The tangent of r and as many quarter turns.
FN double tangent_f64(double r, ulong turns) {
  double sine, cosine;
  sine_and_cosine_f64(r, &sine, &cosine);
  const int odd = (turns & 1) != 0;
  return (odd ? -cosine : sine) / (odd ? sine : cosine);
}
// Loops on the CPU take those of near numbers first, which are vectors.
FN int is_near_f64(double x) { return abs_f64(x) < 200000.0; }
FN ulong turns_f64(double a, double* r) {
  if (a < 200000.0) return near_turns_f64(a, r);
  if (a < as_double(0x7ff0000000000000UL)) return far_turns_f64(a, r);
  *r = as_double(0x7ff8000000000000UL);
  return 0;
}
FN double near_sin_f64(double x) {
  double r;
  const ulong turns = near_turns_f64(abs_f64(x), &r);
  return times_sign_f64(turned_f64(r, turns), x);
}
FN double fixed_sin_f64(double x) {
  double r;
  const ulong turns = turns_f64(abs_f64(x), &r);
  return times_sign_f64(turned_f64(r, turns), x);
}
FN double near_cos_f64(double x) {
  double r;
  const ulong turns = near_turns_f64(abs_f64(x), &r);
  return turned_f64(r, turns + 1);
}
FN double fixed_cos_f64(double x) {
  double r;
  const ulong turns = turns_f64(abs_f64(x), &r);
  return turned_f64(r, turns + 1);
}
FN double near_tan_f64(double x) {
  double r;
  const ulong turns = near_turns_f64(abs_f64(x), &r);
  return times_sign_f64(tangent_f64(r, turns), x);
}
FN double fixed_tan_f64(double x) {
  double r;
  const ulong turns = turns_f64(abs_f64(x), &r);
  return times_sign_f64(tangent_f64(r, turns), x);
}
#endif
