// erf, erfc by fixed operations. Behind parts.h. Polynomials of least greatest error.

// erf(x)/x - 1 for z = x² up to 1.
FN float erf_near_f32(float z) {
  float p = 0x1.4ae4c6p-14f;
  p = p * z + -0x1.a485f8p-11f;
  p = p * z + 0x1.5419fap-8f;
  p = p * z + -0x1.b7fbb6p-6f;
  p = p * z + 0x1.ce2d2p-4f;
  p = p * z + -0x1.81273ep-2f;
  p = p * z + 0x1.06eba8p-3f;
  return p;
}
// erfc(a) for a from 1/2 on: e^(-a²) p/(1 + 2a), where the polynomial p in t varies little. a² is computed in two parts, of which the first is exact.
FN float erfc_far_f32(float x) {
  const float a = x > 10.25f ? 10.25f : x;
  const float high = first_half_f32(a);
  float shifted, low;
  const float left = exp_left_f32(-(high * high), &shifted, &low);
  const float t = (a - 2.0f) / (a + 2.0f);
  float p = -0x1.d5403ep-13f;
  p = p * t + -0x1.4be032p-10f;
  p = p * t + 0x1.2c4aecp-10f;
  p = p * t + 0x1.1bbfecp-7f;
  p = p * t + -0x1.06538ep-7f;
  p = p * t + -0x1.bc1946p-5f;
  p = p * t + 0x1.4ff8cap-3f;
  p = p * t + -0x1.5407f8p-3f;
  p = p * t + -0x1.7bf5dcp-4f;
  p = p * t + 0x1.46e80ep+0f;
  return scaled_f32(exp_sum_f32(left, low - (a - high) * (a + high)) * p / (1.0f + (a + a)), shifted, 0);
}
FN float fixed_erf_f32(float x) {
  const float a = abs_f32(x);
  const float near_value = x + x * erf_near_f32(a < 1.0f ? a * a : 0.0f);
  return a < 1.0f ? near_value : with_sign_f32(1.0f - erfc_far_f32(a), x);
}
FN float fixed_erfc_f32(float x) {
  const float a = abs_f32(x);
  const float near_value = 1.0f - (x + x * erf_near_f32(a < 1.0f ? a * a : 0.0f));
  const float far_value = erfc_far_f32(a);
  return x >= 0.5f ? far_value : a < 1.0f ? near_value : 2.0f - far_value;
}

#if SAMESUM_FP64
// erf(x)/x - 1 for z = x² up to 1.
FN double erf_near_f64(double z) {
  double p = 0x1.062759c5be8ecp-34;
  p = p * z + -0x1.38ac2290d3965p-30;
  p = p * z + 0x1.f7b99d7c8709ap-27;
  p = p * z + -0x1.5f1f40faeea79p-23;
  p = p * z + 0x1.b9df305cad6f7p-20;
  p = p * z + -0x1.f4d1e434bc0cfp-17;
  p = p * z + 0x1.f9a321e4b84f9p-14;
  p = p * z + -0x1.c02db3db49762p-11;
  p = p * z + 0x1.565bcd0dbd921p-8;
  p = p * z + -0x1.b82ce31284f38p-6;
  p = p * z + 0x1.ce2f21a042b34p-4;
  p = p * z + -0x1.812746b0379e6p-2;
  p = p * z + 0x1.06eba8214db69p-3;
  return p;
}
// erfc(a) for a from 1/2 on: e^(-a²) p/(1 + 2a), where the polynomial p in t varies little. a² is computed in two parts, of which the first is exact.
FN double erfc_far_f64(double x) {
  const double a = x > 27.5 ? 27.5 : x;
  const double high = first_half_f64(a);
  double shifted, low;
  const double left = exp_left_f64(-(high * high), &shifted, &low);
  const double t = (a - 3.0) / (a + 3.0);
  double p = -0x1.15895e0f31c94p-28;
  p = p * t + -0x1.7a67ae67dcefap-27;
  p = p * t + 0x1.1fd3b351b88adp-25;
  p = p * t + 0x1.ac6377f59e25bp-24;
  p = p * t + -0x1.1eca7c7816a32p-23;
  p = p * t + -0x1.4a972bc0e9c49p-21;
  p = p * t + 0x1.7a368f0077a95p-22;
  p = p * t + 0x1.d20da7713b053p-19;
  p = p * t + -0x1.87dc3372e4793p-21;
  p = p * t + -0x1.513bc4759e626p-16;
  p = p * t + 0x1.4c218be837402p-18;
  p = p * t + 0x1.065a3b6e0d5edp-13;
  p = p * t + -0x1.b9126da73ee8ap-14;
  p = p * t + -0x1.98db51410c18p-11;
  p = p * t + 0x1.ef1bdd3f86764p-10;
  p = p * t + 0x1.4b884e453b696p-9;
  p = p * t + -0x1.8574c40bc9c29p-6;
  p = p * t + 0x1.17ca2877f08fep-4;
  p = p * t + -0x1.e88b803a49365p-4;
  p = p * t + 0x1.098366a5b46dap-3;
  p = p * t + -0x1.85a15c58aa5cep-5;
  p = p * t + -0x1.15c084bb9e8f3p-3;
  p = p * t + 0x1.40c522d7e4987p+0;
  return scaled_f64(exp_sum_f64(left, low - (a - high) * (a + high)) * p / (1.0 + (a + a)), shifted, 0);
}
FN double fixed_erf_f64(double x) {
  const double a = abs_f64(x);
  const double near_value = x + x * erf_near_f64(a < 1.0 ? a * a : 0.0);
  return a < 1.0 ? near_value : with_sign_f64(1.0 - erfc_far_f64(a), x);
}
FN double fixed_erfc_f64(double x) {
  const double a = abs_f64(x);
  const double near_value = 1.0 - (x + x * erf_near_f64(a < 1.0 ? a * a : 0.0));
  const double far_value = erfc_far_f64(a);
  return x >= 0.5 ? far_value : a < 1.0 ? near_value : 2.0 - far_value;
}
#endif
