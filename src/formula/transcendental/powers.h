// cbrt, hypot, pow by fixed operations. Behind parts.h.

// sqrt(x² + y²), of numbers scaled so that no square leaves the range.
FN float fixed_hypot_f32(float x, float y) {
  const float own_x = abs_f32(x), own_y = abs_f32(y), infinity = as_float(0x7f800000u);
  const float greater = own_x > own_y ? own_x : own_y;
  const int huge = greater > 0x1p60f, tiny = greater < 0x1p-40f;
  const float scale = huge ? 0x1p-80f : tiny ? 0x1p100f : 1.0f, back = huge ? 0x1p80f : tiny ? 0x1p-100f : 1.0f;
  const float a = own_x * scale, b = own_y * scale;
  const float root = sqrt(a * a + b * b) * back;
  return own_x == infinity || own_y == infinity ? infinity : root;
}

// r = 1/cbrt(a): a guess that has a third of a's exponent, and two iterations by h = 1 - a r³, each of which triples the number of right bits: then 30 are. t is the first half of the
// bits of the root; a - t³ is computed without a rounding error that matters, and with d = (a - t³) r²/3 the root is t + d + d² r.
FN float fixed_cbrt_f32(float x) {
  const float own = abs_f32(x), infinity = as_float(0x7f800000u);
  const int tiny = own < 0x1p-60f, huge = own > 0x1p60f;
  const float a = own * (tiny ? 0x1p90f : huge ? 0x1p-60f : 1.0f);
  float r = as_float(0x54a2fa8cu - as_uint(a) / 3u);
  float h = 1.0f - a * r * (r * r);
  r = r + r * h * (0x1.555556p-2f + h * 0x1.c71c72p-3f);
  h = 1.0f - a * r * (r * r);
  r = r + r * h * (0x1.555556p-2f + h * 0x1.c71c72p-3f);
  const float t = first_half_f32(a * (r * r));
  const float square = t * t, square_high = first_half_f32(square);
  const float missing = (a - square_high * t) - (square - square_high) * t;
  const float first = missing * (r * r) * 0x1.555556p-2f;
  const float root = t + (first + first * first * r);
  return own > 0.0f && own < infinity ? with_sign_f32(root * (tiny ? 0x1p-30f : huge ? 0x1p20f : 1.0f), x) : x;
}

// |x|^y = 2^(y log2 |x|). The logarithm, and each of its terms, has two parts: a number, and what its rounding lost. Of a factor of an exact product the first half of the bits is taken.
FN float fixed_pow_f32(float x, float y) {
  const float infinity = as_float(0x7f800000u), own = abs_f32(x);
  float k;
  const float f = log_parts_f32(own, &k);
  // s = f/(2 + f), where 1 + f is exact and 2 + f may not be.
  const float w = 2.0f + f, w_lost = f - (w - 2.0f);
  const float inverse = 1.0f / w, s = first_half_f32(f * inverse), w_high = first_half_f32(w);
  const float s_low = ((f - s * w_high) - s * ((w - w_high) + w_lost)) * inverse;
  // atanh(s) = s + s c, c = s²/3 + s⁴/5 + ...
  const float square = s * s, square_low = s_low * (s + s) + s_low * s_low;
  const float z = square + square_low;
  float p = 0x1.3b13b2p-4f;
  p = p * z + 0x1.745d18p-4f;
  p = p * z + 0x1.c71c72p-4f;
  p = p * z + 0x1.24924ap-3f;
  p = p * z + 0x1.99999ap-3f;
  const float third_high = first_half_f32(square * 0x1.555556p-2f);
  const float third_low = ((square - third_high * 3.0f) + square_low) * 0x1.555556p-2f + z * z * p;
  const float c = third_high + third_low, c_low = (third_high - c) + third_low;
  const float c_high = first_half_f32(c);
  const float product = s * c_high, product_low = s * ((c - c_high) + c_low) + s_low * c;
  const float half_log = s + product, half_log_low = ((s - half_log) + product) + (s_low + product_low);
  // log2 |x| = k + half_log 2/ln 2
  const float half_log_high = first_half_f32(half_log);
  const float whole = half_log_high * 0x1.714p+1f, whole_low = half_log_high * 0x1.47652cp-11f + ((half_log - half_log_high) + half_log_low) * 0x1.715476p+1f;
  const float sum = k + whole, sum_low = ((k - sum) + whole) + whole_low;
  // Times y. Beyond the limit the result is 0, 1 or inf, as it is at the limit.
  const float limit = 0x1p40f;
  const float power = y > limit ? limit : y < -limit ? -limit : y;
  const float sum_high = first_half_f32(sum), power_high = first_half_f32(power);
  const float exponent = power_high * sum_high, exponent_low = power * ((sum - sum_high) + sum_low) + (power - power_high) * sum_high;
  const float both = exponent + exponent_low;
  const float inside = both > 150.0f ? 150.0f : both < -200.0f ? -200.0f : both;
  const float shifted = shifted_f32(inside);
  const float near_rest = inside == both ? exponent - (shifted - 12582912.0f) : 0.0f, rest = inside == both ? near_rest + exponent_low : 0.0f;
  const float rest_low = inside == both ? (near_rest - rest) + exponent_low : 0.0f;
  const float value = scaled_f32(exp2_sum_f32(rest, rest_low), shifted, 0);
  // Zeros, infinities, NaNs and signs as C's pow has them.
  const float at_end = (own == 0.0f) == (y > 0.0f) ? 0.0f : infinity;
  const float magnitude = own == 0.0f || own == infinity ? at_end : value;
  const int negative = with_sign_f32(1.0f, x) < 0.0f, whole_power = floor(y) == y, odd = whole_power && floor(y * 0.5f) * 2.0f != y;
  const float result = negative && odd ? -magnitude : negative && !whole_power && own > 0.0f && own < infinity ? as_float(0x7fc00000u) : magnitude;
  return x == 1.0f || y == 0.0f ? 1.0f : x != x || y != y ? x + y : result;
}

#if SAMESUM_FP64
// sqrt(x² + y²), of numbers scaled so that no square leaves the range.
FN double fixed_hypot_f64(double x, double y) {
  const double own_x = abs_f64(x), own_y = abs_f64(y), infinity = as_double(0x7ff0000000000000UL);
  const double greater = own_x > own_y ? own_x : own_y;
  const int huge = greater > 0x1p500, tiny = greater < 0x1p-400;
  const double scale = huge ? 0x1p-600 : tiny ? 0x1p700 : 1.0, back = huge ? 0x1p600 : tiny ? 0x1p-700 : 1.0;
  const double a = own_x * scale, b = own_y * scale;
  const double root = sqrt(a * a + b * b) * back;
  return own_x == infinity || own_y == infinity ? infinity : root;
}

// r = 1/cbrt(a): a guess that has a third of a's exponent, and two iterations by h = 1 - a r³, each of which triples the number of right bits: then 30 are. t is the first half of the
// bits of the root; a - t³ is computed without a rounding error that matters, and with d = (a - t³) r²/3 the root is t + d + d² r.
FN double fixed_cbrt_f64(double x) {
  const double own = abs_f64(x), infinity = as_double(0x7ff0000000000000UL);
  const int tiny = own < 0x1p-500, huge = own > 0x1p500;
  const double a = own * (tiny ? 0x1p600 : huge ? 0x1p-600 : 1.0);
  double r = as_double((ulong)(0x553ef0ffu - (uint)(as_ulong(a) >> 32) / 3u) << 32);
  double h = 1.0 - a * r * (r * r);
  r = r + r * h * (0x1.5555555555555p-2 + h * 0x1.c71c71c71c71cp-3);
  h = 1.0 - a * r * (r * r);
  r = r + r * h * (0x1.5555555555555p-2 + h * 0x1.c71c71c71c71cp-3);
  const double t = first_half_f64(a * (r * r));
  const double square = t * t, square_high = first_half_f64(square);
  const double missing = (a - square_high * t) - (square - square_high) * t;
  const double first = missing * (r * r) * 0x1.5555555555555p-2;
  const double root = t + (first + first * first * r);
  return own > 0.0 && own < infinity ? with_sign_f64(root * (tiny ? 0x1p-200 : huge ? 0x1p200 : 1.0), x) : x;
}

// |x|^y = 2^(y log2 |x|). The logarithm, and each of its terms, has two parts: a number, and what its rounding lost. Of a factor of an exact product the first half of the bits is taken.
FN double fixed_pow_f64(double x, double y) {
  const double infinity = as_double(0x7ff0000000000000UL), own = abs_f64(x);
  double k;
  const double f = log_parts_f64(own, &k);
  // s = f/(2 + f), where 1 + f is exact and 2 + f may not be.
  const double w = 2.0 + f, w_lost = f - (w - 2.0);
  const double inverse = 1.0 / w, s = first_half_f64(f * inverse), w_high = first_half_f64(w);
  const double s_low = ((f - s * w_high) - s * ((w - w_high) + w_lost)) * inverse;
  // atanh(s) = s + s c, c = s²/3 + s⁴/5 + ...
  const double square = s * s, square_low = s_low * (s + s) + s_low * s_low;
  const double z = square + square_low;
  double p = 0x1.2f684bda12f68p-5;
  p = p * z + 0x1.47ae147ae147bp-5;
  p = p * z + 0x1.642c8590b2164p-5;
  p = p * z + 0x1.8618618618618p-5;
  p = p * z + 0x1.af286bca1af28p-5;
  p = p * z + 0x1.e1e1e1e1e1e1ep-5;
  p = p * z + 0x1.1111111111111p-4;
  p = p * z + 0x1.3b13b13b13b14p-4;
  p = p * z + 0x1.745d1745d1746p-4;
  p = p * z + 0x1.c71c71c71c71cp-4;
  p = p * z + 0x1.2492492492492p-3;
  p = p * z + 0x1.999999999999ap-3;
  const double third_high = first_half_f64(square * 0x1.5555555555555p-2);
  const double third_low = ((square - third_high * 3.0) + square_low) * 0x1.5555555555555p-2 + z * z * p;
  const double c = third_high + third_low, c_low = (third_high - c) + third_low;
  const double c_high = first_half_f64(c);
  const double product = s * c_high, product_low = s * ((c - c_high) + c_low) + s_low * c;
  const double half_log = s + product, half_log_low = ((s - half_log) + product) + (s_low + product_low);
  // log2 |x| = k + half_log 2/ln 2
  const double half_log_high = first_half_f64(half_log);
  const double whole = half_log_high * 0x1.715476p+1, whole_low = half_log_high * 0x1.4ae0bf85ddf44p-25 + ((half_log - half_log_high) + half_log_low) * 0x1.71547652b82fep+1;
  const double sum = k + whole, sum_low = ((k - sum) + whole) + whole_low;
  // Times y. Beyond the limit the result is 0, 1 or inf, as it is at the limit.
  const double limit = 0x1p70;
  const double power = y > limit ? limit : y < -limit ? -limit : y;
  const double sum_high = first_half_f64(sum), power_high = first_half_f64(power);
  const double exponent = power_high * sum_high, exponent_low = power * ((sum - sum_high) + sum_low) + (power - power_high) * sum_high;
  const double both = exponent + exponent_low;
  const double inside = both > 1100.0 ? 1100.0 : both < -1200.0 ? -1200.0 : both;
  const double shifted = shifted_f64(inside);
  const double near_rest = inside == both ? exponent - (shifted - 6755399441055744.0) : 0.0, rest = inside == both ? near_rest + exponent_low : 0.0;
  const double rest_low = inside == both ? (near_rest - rest) + exponent_low : 0.0;
  const double value = scaled_f64(exp2_sum_f64(rest, rest_low), shifted, 0);
  // Zeros, infinities, NaNs and signs as C's pow has them.
  const double at_end = (own == 0.0) == (y > 0.0) ? 0.0 : infinity;
  const double magnitude = own == 0.0 || own == infinity ? at_end : value;
  const int negative = with_sign_f64(1.0, x) < 0.0, whole_power = floor(y) == y, odd = whole_power && floor(y * 0.5) * 2.0 != y;
  const double result = negative && odd ? -magnitude : negative && !whole_power && own > 0.0 && own < infinity ? as_double(0x7ff8000000000000UL) : magnitude;
  return x == 1.0 || y == 0.0 ? 1.0 : x != x || y != y ? x + y : result;
}
#endif
