// exp, exp2, expm1, sinh, cosh, tanh by fixed operations. Behind parts.h.

FN float fixed_exp_f32(float x) {
  float shifted, low;
  const float r = exp_left_f32(x > 100.0f ? 100.0f : x < -110.0f ? -110.0f : x, &shifted, &low);
  return scaled_f32(exp_sum_f32(r, low), shifted, 0);
}
FN float fixed_exp2_f32(float x) {
  const float a = x > 130.0f ? 130.0f : x < -155.0f ? -155.0f : x;
  const float shifted = shifted_f32(a);
  return scaled_f32(exp2_sum_f32(a - (shifted - 12582912.0f), 0.0f), shifted, 0);
}
FN float fixed_expm1_f32(float x) {
  float shifted, low;
  const float r = exp_left_f32(x > 89.0f ? 89.0f : x < -20.0f ? -20.0f : x, &shifted, &low);
  const float half_power = power_of_two_f32(shifted, -1);
  const float half_value = exp_less_f32(r, low, half_power, 0.5f);
  return abs_f32(x) < 0x1p-25f ? x : half_value + half_value;
}
FN float fixed_cosh_f32(float x) {
  const float a = abs_f32(x);
  float shifted, low;
  const float r = exp_left_f32(a > 100.0f ? 100.0f : a, &shifted, &low);
  const float h = scaled_f32(exp_sum_f32(r, low), shifted, -1);
  return h + 0.25f / h;
}
// By e^|x| - 1 below 1.
FN float fixed_sinh_f32(float x) {
  const float a = abs_f32(x);
  float shifted, low;
  const float r = exp_left_f32(a > 100.0f ? 100.0f : a, &shifted, &low);
  const int small = a < 1.0f;
  const float power = power_of_two_f32(small ? shifted : 12582912.0f, 0);
  const float e = exp_less_f32(r, low, power, 1.0f);
  const float h = scaled_f32(exp_sum_f32(r, low), shifted, -1);
  const float q = (small ? e : 0.25f) / (small ? e + 1.0f : h);
  return with_sign_f32(small ? 0.5f * (e + q) : h - q, x);
}
// By e^2|x| - 1, for which k is not negative.
FN float fixed_tanh_f32(float x) {
  const float a = abs_f32(x);
  float shifted, low;
  const float r = exp_left_f32(a > 10.0f ? 20.0f : a + a, &shifted, &low);
  const float power = power_of_two_f32(shifted, 0);
  const float e = exp_less_f32(r, low, power, 1.0f);
  return with_sign_f32(e / (e + 2.0f), x);
}

#if SAMESUM_FP64
FN double fixed_exp_f64(double x) {
  double shifted, low;
  const double r = exp_left_f64(x > 720.0 ? 720.0 : x < -760.0 ? -760.0 : x, &shifted, &low);
  return scaled_f64(exp_sum_f64(r, low), shifted, 0);
}
FN double fixed_exp2_f64(double x) {
  const double a = x > 1030.0 ? 1030.0 : x < -1080.0 ? -1080.0 : x;
  const double shifted = shifted_f64(a);
  return scaled_f64(exp2_sum_f64(a - (shifted - 6755399441055744.0), 0.0), shifted, 0);
}
FN double fixed_expm1_f64(double x) {
  double shifted, low;
  const double r = exp_left_f64(x > 710.0 ? 710.0 : x < -40.0 ? -40.0 : x, &shifted, &low);
  const double half_power = power_of_two_f64(shifted, -1);
  const double half_value = exp_less_f64(r, low, half_power, 0.5);
  return abs_f64(x) < 0x1p-54 ? x : half_value + half_value;
}
FN double fixed_cosh_f64(double x) {
  const double a = abs_f64(x);
  double shifted, low;
  const double r = exp_left_f64(a > 720.0 ? 720.0 : a, &shifted, &low);
  const double h = scaled_f64(exp_sum_f64(r, low), shifted, -1);
  return h + 0.25 / h;
}
// By e^|x| - 1 below 1.
FN double fixed_sinh_f64(double x) {
  const double a = abs_f64(x);
  double shifted, low;
  const double r = exp_left_f64(a > 720.0 ? 720.0 : a, &shifted, &low);
  const int small = a < 1.0;
  const double power = power_of_two_f64(small ? shifted : 6755399441055744.0, 0);
  const double e = exp_less_f64(r, low, power, 1.0);
  const double h = scaled_f64(exp_sum_f64(r, low), shifted, -1);
  const double q = (small ? e : 0.25) / (small ? e + 1.0 : h);
  return with_sign_f64(small ? 0.5 * (e + q) : h - q, x);
}
// By e^2|x| - 1, for which k is not negative.
FN double fixed_tanh_f64(double x) {
  const double a = abs_f64(x);
  double shifted, low;
  const double r = exp_left_f64(a > 20.0 ? 40.0 : a + a, &shifted, &low);
  const double power = power_of_two_f64(shifted, 0);
  const double e = exp_less_f64(r, low, power, 1.0);
  return with_sign_f64(e / (e + 2.0), x);
}
#endif
