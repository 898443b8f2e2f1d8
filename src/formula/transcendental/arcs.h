// asin, acos, atan, atan2 by fixed operations. Behind parts.h. Polynomials of least greatest error.

// The angle of the point (x, y). First that of (b, a), where a is the lesser magnitude of the two and b the greater: atan(a/b), or from tan(pi/8) on pi/4 + atan((a - b)/(a + b)). The angle
// of (x, y) is a number of eighths of a turn (pi/4) plus or minus that arc tangent.
FN float arc_f32(float y, float x) {
  const float own_y = abs_f32(y), own_x = abs_f32(x), infinity = as_float(0x7f800000u);
  const int steep = own_y > own_x;
  const float greater = steep ? own_y : own_x, lesser = steep ? own_x : own_y;
  const int zeros = greater == 0.0f && lesser == 0.0f, infinities = greater == infinity && lesser == infinity;
  const float b = zeros || infinities ? 1.0f : greater, a = infinities ? 1.0f : lesser;
  const int far = a > 0x1.a8279ap-2f * b;
  const float unit = b > 1.0f ? 0.5f : 1.0f;  // so that the sum does not overflow
  const float t = (far ? a * unit - b * unit : a) / (far ? a * unit + b * unit : b);
  const float z = t * t;
  float p = -0x1.f25fd6p-5f;
  p = p * z + 0x1.b2044p-4f;
  p = p * z + -0x1.23b6e2p-3f;
  p = p * z + 0x1.9991bp-3f;
  p = p * z + -0x1.55554ap-2f;
  int eighths = far ? 1 : 0;
  float side = 1.0f;
  eighths = steep ? 2 - eighths : eighths;
  side = steep ? -side : side;
  const int left = with_sign_f32(1.0f, x) < 0.0f;
  eighths = left ? 4 - eighths : eighths;
  side = left ? -side : side;
  const float count = (float)eighths;
  const float angle = (count * 0x1.921fbp-1f + side * t) + (count * 0x1.5110b4p-23f + side * (t * (z * p)));  // the first product is exact
  return with_sign_f32(angle, y);
}
FN float fixed_atan_f32(float x) { return arc_f32(x, 1.0f); }
FN float fixed_atan2_f32(float y, float x) { return arc_f32(y, x); }
// Up to 1/2 s = a; above, s = sqrt((1 - a)/2), for asin(a) = pi/2 - 2 asin(s). Gives s, and by a polynomial asin(s) - s.
FN float arc_sine_f32(float a, int* far, float* more) {
  *far = a > 0.5f;
  const float halved = 0.5f * (1.0f - a);
  const float z = *far ? halved : a * a, s = *far ? sqrt(halved) : a;
  float p = 0x1.59dba6p-5f;
  p = p * z + 0x1.8ba354p-6f;
  p = p * z + 0x1.748cp-5f;
  p = p * z + 0x1.330156p-4f;
  p = p * z + 0x1.5555cap-3f;
  *more = s * (z * p);
  return s;
}
FN float fixed_asin_f32(float x) {
  int far;
  float more;
  const float s = arc_sine_f32(abs_f32(x), &far, &more);
  const float rest = 0x1.921fb6p+0f - (s + s), lost = (0x1.921fb6p+0f - rest) - (s + s);
  return with_sign_f32(far ? rest - ((more + more + 0x1.777a5cp-25f) - lost) : s + more, x);
}
FN float fixed_acos_f32(float x) {
  int far;
  float more;
  const float s = arc_sine_f32(abs_f32(x), &far, &more);
  const float v = s + more;
  const float near_value = 0x1.921fb6p+0f - (times_sign_f32(v, x) + 0x1.777a5cp-25f);
  return far ? (x > 0.0f ? v + v : 0x1.921fb6p+1f - (v + v + 0x1.777a5cp-24f)) : near_value;
}

#if SAMESUM_FP64
// The angle of the point (x, y). First that of (b, a), where a is the lesser magnitude of the two and b the greater: atan(a/b), or from tan(pi/8) on pi/4 + atan((a - b)/(a + b)). The angle
// of (x, y) is a number of eighths of a turn (pi/4) plus or minus that arc tangent.
FN double arc_f64(double y, double x) {
  const double own_y = abs_f64(y), own_x = abs_f64(x), infinity = as_double(0x7ff0000000000000UL);
  const int steep = own_y > own_x;
  const double greater = steep ? own_y : own_x, lesser = steep ? own_x : own_y;
  const int zeros = greater == 0.0 && lesser == 0.0, infinities = greater == infinity && lesser == infinity;
  const double b = zeros || infinities ? 1.0 : greater, a = infinities ? 1.0 : lesser;
  const int far = a > 0x1.a827999fcef32p-2 * b;
  const double unit = b > 1.0 ? 0.5 : 1.0;  // so that the sum does not overflow
  const double t = (far ? a * unit - b * unit : a) / (far ? a * unit + b * unit : b);
  const double z = t * t;
  double p = -0x1.25a4102df31ffp-6;
  p = p * z + 0x1.37f0487f963bap-5;
  p = p * z + -0x1.9cdd514f74de5p-5;
  p = p * z + 0x1.df11a7f38ae2ep-5;
  p = p * z + -0x1.10ebe1e8821a4p-4;
  p = p * z + 0x1.3b111cc19177ep-4;
  p = p * z + -0x1.745cf9101b05bp-4;
  p = p * z + 0x1.c71c70e7cc863p-4;
  p = p * z + -0x1.24924922b1863p-3;
  p = p * z + 0x1.99999999958fap-3;
  p = p * z + -0x1.555555555553dp-2;
  int eighths = far ? 1 : 0;
  double side = 1.0;
  eighths = steep ? 2 - eighths : eighths;
  side = steep ? -side : side;
  const int left = with_sign_f64(1.0, x) < 0.0;
  eighths = left ? 4 - eighths : eighths;
  side = left ? -side : side;
  const double count = (double)eighths;
  const double angle = (count * 0x1.921fb54442d18p-1 + side * t) + (count * 0x1.1a62633145c07p-55 + side * (t * (z * p)));  // the first product is exact
  return with_sign_f64(angle, y);
}
FN double fixed_atan_f64(double x) { return arc_f64(x, 1.0); }
FN double fixed_atan2_f64(double y, double x) { return arc_f64(y, x); }
// Up to 1/2 s = a; above, s = sqrt((1 - a)/2), for asin(a) = pi/2 - 2 asin(s). Gives s, and by a polynomial asin(s) - s.
FN double arc_sine_f64(double a, int* far, double* more) {
  *far = a > 0.5;
  const double halved = 0.5 * (1.0 - a);
  const double z = *far ? halved : a * a, s = *far ? sqrt(halved) : a;
  double p = 0x1.0baf3e18b8429p-5;
  p = p * z + -0x1.59508ec0ba637p-6;
  p = p * z + 0x1.648fa9bf4fec9p-6;
  p = p * z + 0x1.e2c952936069p-9;
  p = p * z + 0x1.61732d37f2305p-7;
  p = p * z + 0x1.757ba0c1dec83p-7;
  p = p * z + 0x1.ca20c8dcbd244p-7;
  p = p * z + 0x1.1c49e2f8b47fdp-6;
  p = p * z + 0x1.6e8bdfa2a58ap-6;
  p = p * z + 0x1.f1c71a8de9a97p-6;
  p = p * z + 0x1.6db6db7225984p-5;
  p = p * z + 0x1.333333332df89p-4;
  p = p * z + 0x1.5555555555578p-3;
  *more = s * (z * p);
  return s;
}
FN double fixed_asin_f64(double x) {
  int far;
  double more;
  const double s = arc_sine_f64(abs_f64(x), &far, &more);
  const double rest = 0x1.921fb54442d18p+0 - (s + s), lost = (0x1.921fb54442d18p+0 - rest) - (s + s);
  return with_sign_f64(far ? rest - ((more + more - 0x1.1a62633145c07p-54) - lost) : s + more, x);
}
FN double fixed_acos_f64(double x) {
  int far;
  double more;
  const double s = arc_sine_f64(abs_f64(x), &far, &more);
  const double v = s + more;
  const double near_value = 0x1.921fb54442d18p+0 - (times_sign_f64(v, x) - 0x1.1a62633145c07p-54);
  return far ? (x > 0.0 ? v + v : 0x1.921fb54442d18p+1 - (v + v - 0x1.1a62633145c07p-53)) : near_value;
}
#endif
