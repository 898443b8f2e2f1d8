// log, log1p, log2, log10 by fixed operations. Behind parts.h.

FN float fixed_log_f32(float x) {
  float k;
  const float f = log_parts_f32(x, &k), h = 0.5f * f * f;
  return log_at_ends_f32(x, k * 0x1.62e4p-1f - ((h - (log_rest_f32(f, h) + k * 0x1.7f7d1cp-20f)) - f));
}
// Of the rounded sum u = 1 + x = 2^k (1 + f), where f gets what the rounding lost.
FN float fixed_log1p_f32(float x) {
  const float one = 1.0f, u = one + x, lost = x > one ? one - (u - x) : x - (u - one);
  float k;
  const float of_u = log_parts_f32(u, &k);
  const float f = of_u + lost * power_of_two_f32(shifted_f32(k < 60.0f ? -k : -60.0f), 0), h = 0.5f * f * f;
  const float value = log_at_ends_f32(u, k * 0x1.62e4p-1f - ((h - (log_rest_f32(f, h) + k * 0x1.7f7d1cp-20f)) - f));
  return abs_f32(x) < 0x1p-25f ? x : value;
}
// log(x) c for a constant c. c and c log(2) are given in two parts each; products of the first parts are exact.
FN float log_times_f32(float x, float high, float low, float two_high, float two_low) {
  float k;
  const float f = log_parts_f32(x, &k), h = 0.5f * f * f;
  const float first = first_half_f32(f - h), second = ((f - first) - h) + log_rest_f32(f, h);
  const float whole = k * two_high, product = first * high, sum = whole + product;
  const float rest = k * two_low + ((first + second) * low + second * high) + ((whole - sum) + product);
  return log_at_ends_f32(x, rest + sum);
}
FN float fixed_log2_f32(float x) { return log_times_f32(x, 0x1.714p+0f, 0x1.47652cp-12f, 1.0f, 0.0f); }
FN float fixed_log10_f32(float x) { return log_times_f32(x, 0x1.bcap-2f, 0x1.7b1526p-14f, 0x1.344p-2f, 0x1.3509f8p-18f); }

#if SAMESUM_FP64
FN double fixed_log_f64(double x) {
  double k;
  const double f = log_parts_f64(x, &k), h = 0.5 * f * f;
  return log_at_ends_f64(x, k * 0x1.62e42fefa38p-1 - ((h - (log_rest_f64(f, h) + k * 0x1.ef35793c7673p-45)) - f));
}
// Of the rounded sum u = 1 + x = 2^k (1 + f), where f gets what the rounding lost.
FN double fixed_log1p_f64(double x) {
  const double one = 1.0, u = one + x, lost = x > one ? one - (u - x) : x - (u - one);
  double k;
  const double of_u = log_parts_f64(u, &k);
  const double f = of_u + lost * power_of_two_f64(shifted_f64(k < 100.0 ? -k : -100.0), 0), h = 0.5 * f * f;
  const double value = log_at_ends_f64(u, k * 0x1.62e42fefa38p-1 - ((h - (log_rest_f64(f, h) + k * 0x1.ef35793c7673p-45)) - f));
  return abs_f64(x) < 0x1p-54 ? x : value;
}
// log(x) c for a constant c. c and c log(2) are given in two parts each; products of the first parts are exact.
FN double log_times_f64(double x, double high, double low, double two_high, double two_low) {
  double k;
  const double f = log_parts_f64(x, &k), h = 0.5 * f * f;
  const double first = first_half_f64(f - h), second = ((f - first) - h) + log_rest_f64(f, h);
  const double whole = k * two_high, product = first * high, sum = whole + product;
  const double rest = k * two_low + ((first + second) * low + second * high) + ((whole - sum) + product);
  return log_at_ends_f64(x, rest + sum);
}
FN double fixed_log2_f64(double x) { return log_times_f64(x, 0x1.715476p+0, 0x1.4ae0bf85ddf44p-26, 1.0, 0.0); }
FN double fixed_log10_f64(double x) {
  return log_times_f64(x, 0x1.bcb7b1p-2, 0x1.49b9438ca9aaep-28, 0x1.34413509f6p-2, 0x1.9fef311f12b36p-42);
}
#endif
