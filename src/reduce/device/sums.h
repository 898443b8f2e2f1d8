// A work-item's exact sums of elements and of their products. They are in bins (bins.h), or in registers while that is exact
// (exponent_window.h); sums of integers are always in registers.

typedef struct {
  uint other;  // not 0: saw anything but -0.0 and NaN
#if !FLOATS
  long sum0, sum1;  // of 32-bit pieces
  long product0, product1, product2, product3;
#endif
#if WINDOWS
  WINDOW window;
  uint in_bins;  // whether elements were added to bins
#endif
} SUMS_STATE;

FN SUMS_STATE empty_sums(void) {
  SUMS_STATE state;
  state.other = 0;
#if !FLOATS
  state.sum0 = state.sum1 = state.product0 = state.product1 = state.product2 = state.product3 = 0;
#endif
#if WINDOWS
  state.window = open_window(CLOSED, CLOSED);
  state.in_bins = 0;
#endif
  return state;
}

#if FLOATS
FN void add_finite(LOCAL uint* column, WORD x, WORD y) {
  const DIGITS a = digits_of(x);
  if (SUM) add_to_sum(column, a);
  if (PRODUCTS) add_to_products(column, a, DOT ? digits_of(y) : a);
}

// Adds a finite element and a product.
FN SUMS_STATE add_exactly(LOCAL uint* column, WORD x, WORD y, SUMS_STATE state) {
  add_finite(column, x, y);
#if DOT
  state.other |= (magnitude_of(x) != 0 && magnitude_of(y) != 0) || sign_of(x ^ y) == 0;
#else
  state.other |= (uint)(x ^ SIGN_BIT) | (BITS == 64 ? (uint)((x ^ SIGN_BIT) >> (BITS / 2)) : 0);
#endif
  return state;
}

// Counts an element or a product that is an infinity or a NaN, and takes it away: -0.0 adds nothing.
FN SUMS_STATE take_special(LOCAL uint* counters, WORD* x, WORD* y, SUMS_STATE state) {
#if DOT
  const uint special = is_special(*x) | is_special(*y);
  // Infinity times zero is a NaN too.
  const uint nan = is_nan(*x) | is_nan(*y) | (special & (is_zero(*x) | is_zero(*y)));
  const uint negative = sign_of(*x ^ *y) & 1;
#else
  const uint special = is_special(*x);
  const uint nan = is_nan(*x);
  const uint negative = SUM && sign_of(*x) & 1;  // squares have no sign
#endif
  if (!special) return state;
  atomic_add_local32(&counters[nan ? COUNTER_NANS : negative ? COUNTER_NEGATIVE_INFINITIES : COUNTER_POSITIVE_INFINITIES], 1);
  state.other |= !nan;
  *x = SIGN_BIT;
  *y = DOT ? 0 : SIGN_BIT;
  return state;
}
#else
#if SIGNED
FN long integer_product(WORD x, WORD y) { return integer_of(x) * integer_of(y); }
#else
#define integer_product(x, y) 0
#endif
FN SUMS_STATE add_exactly(LOCAL uint* column, WORD x, WORD y, SUMS_STATE state) {
#if SUM
#if BITS == 64
  state.sum0 += (long)(x & 0xffffffffu);
  state.sum1 += SIGNED ? (long)x >> 32 : (long)(x >> 32);
#elif SIGNED
  state.sum0 += integer_of(x);
#else
  state.sum0 += (long)x;
#endif
#endif
#if PRODUCTS && PACKED
  state.product0 += SIGNED ? integer_product(x, y) : (long)((ulong)x * y);
#elif PRODUCTS
  const ulong a = absolute_of(x);
  const ulong b = absolute_of(y);
  const long sign = (long)(int)(sign_of(x) ^ sign_of(y));
  const ulong low = a * b;
  state.product0 += ((long)(low & 0xffffffffu) ^ sign) - sign;
  state.product1 += ((long)(low >> 32) ^ sign) - sign;
#if BITS == 64
  const ulong high = product_high(a, b);
  state.product2 += ((long)(high & 0xffffffffu) ^ sign) - sign;
  state.product3 += ((long)(high >> 32) ^ sign) - sign;
#endif
#endif
  return state;
}
#endif

#if PACKED
// A load's sum fits into 32 bits, and so does its sum of products of 8 bits.
FN SUMS_STATE add_integers(uint4 v, uint4 w, SUMS_STATE state) {
  int sum = 0;
  int products = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const uint x = word_of(v, i);
    const uint y = word_of(w, i);
#if BITS == 8
    sum = SIGNED ? dot4_s8(x, 0x01010101u, sum) : (int)dot4_u8(x, 0x01010101u, (uint)sum);
    products = SIGNED ? dot4_s8(x, y, products) : (int)dot4_u8(x, y, (uint)products);
#elif SIGNED
    const int x_low = (int)(x << 16) >> 16, x_high = (int)x >> 16;
    const int y_low = (int)(y << 16) >> 16, y_high = (int)y >> 16;
    sum += x_low + x_high;
    state.product0 += (long)x_low * y_low + (long)x_high * y_high;
#else
    const uint x_low = x & 0xffffu, x_high = x >> 16;
    const uint y_low = y & 0xffffu, y_high = y >> 16;
    sum += (int)(x_low + x_high);
    state.product0 += (long)((ulong)x_low * y_low + (ulong)x_high * y_high);
#endif
  }
  state.sum0 += sum;
  state.product0 += products;
  return state;
}
#else
#if FLOATS
// Whether any element of a load is an infinity or a NaN.
FN uint any_special_of(uint4 v) {
#if BITS == 16  // adding one to an exponent field of ones carries out of the field
  const uint fields = INFINITE << 16 | INFINITE, ones = HIDDEN << 16 | HIDDEN;
  const uint carries = ((v.x & fields) + ones) | ((v.y & fields) + ones) | ((v.z & fields) + ones) | ((v.w & fields) + ones);
  return (carries & 0x80008000u) != 0;
#elif BITS == 32  // zero times which is a NaN
  const float zero = fma_rn_f32(as_float(v.y), 0, as_float(v.x) * 0) + fma_rn_f32(as_float(v.w), 0, as_float(v.z) * 0);
  return !(zero == 0);
#else
  return is_special(element_of(v, 0)) | is_special(element_of(v, 1));
#endif
}
FN uint any_special_of_loads(const uint4* v, const int count) {
  uint any = 0;
#pragma unroll
  for (int k = 0; k < count; ++k) any |= any_special_of(v[k]);
  return any;
}
// Not 0 if any element is not -0.0.
FN uint others_of(uint4 v) {
#if BITS == 64
  return v.x | (v.y ^ 0x80000000u) | v.z | (v.w ^ 0x80000000u);
#elif BITS == 32 && SAMESUM_DENORMALS  // only sums of -0.0 are
  return as_uint((as_float(v.x) + as_float(v.y)) + (as_float(v.z) + as_float(v.w))) ^ SIGN_BIT;
#else
  const uint zeros = BITS == 16 ? 0x80008000u : 0x80000000u;
  return (v.x ^ zeros) | (v.y ^ zeros) | (v.z ^ zeros) | (v.w ^ zeros);
#endif
}
// The same of some loads, or of their products, all of finite numbers.
FN uint others_of_loads(const uint4* v, const uint4* w, const int count) {
  uint other = 0;
#if DOT
#pragma unroll
  for (int i = 0; i < count * ELEMENTS_PER_LOAD; ++i) {
    const WORD x = element_of(v[i / ELEMENTS_PER_LOAD], i % ELEMENTS_PER_LOAD), y = element_of(w[i / ELEMENTS_PER_LOAD], i % ELEMENTS_PER_LOAD);
    other |= (magnitude_of(x) != 0 && magnitude_of(y) != 0) || sign_of(x ^ y) == 0;
  }
#else
#pragma unroll
  for (int k = 0; k < count; ++k) other |= others_of(v[k]);
#endif
  return other;
}
// Keeps whether there is one. Once any work-item of the sub-group has met one, loads need not be looked at any more.
FN SUMS_STATE note_others(const uint4* v, const uint4* w, const int count, SUMS_STATE state) {
  if (!ANY_LANE(state.other != 0)) state.other = others_of_loads(v, w, count);
  return state;
}
#endif

#if FLOATS
FN SUMS_STATE take_specials(LOCAL uint* counters, uint4* v, uint4* w, SUMS_STATE state) {
#pragma unroll
  for (int i = 0; i < ELEMENTS_PER_LOAD; ++i) {
    WORD x = element_of(*v, i), y = element_of(*w, i);
    state = take_special(counters, &x, &y, state);
    *v = with_element(*v, i, x);
    *w = with_element(*w, i, y);
  }
  return state;
}
FN void add_finite_load(LOCAL uint* column, uint4 v, uint4 w) {
#pragma unroll
  for (int i = 0; i < ELEMENTS_PER_LOAD; ++i) add_finite(column, element_of(v, i), element_of(w, i));
}
#endif

FN SUMS_STATE add_load_to_bins(LOCAL uint* column, LOCAL uint* counters, uint4 v, uint4 w, SUMS_STATE state) {
#if FLOATS
  if (any_special_of(v) | (DOT ? any_special_of(w) : 0)) state = take_specials(counters, &v, &w, state);
  add_finite_load(column, v, w);
  state.other |= others_of_loads(&v, &w, 1);
#else
#pragma unroll
  for (int i = 0; i < ELEMENTS_PER_LOAD; ++i) state = add_exactly(column, element_of(v, i), element_of(w, i), state);
#endif
  return state;
}
#endif

#if WINDOWS
// Adds loads that lie in the window.
FN SUMS_STATE add_loads_to_window(const uint4* v, const uint4* w, const int count, SUMS_STATE state, const uint narrow) {
#pragma unroll
  for (int i = 0; i < count * ELEMENTS_PER_LOAD; ++i) {
    const int load = i / ELEMENTS_PER_LOAD, element = i % ELEMENTS_PER_LOAD;
    state.window = add_to_window(state.window, element_of(v[load], element), element_of(w[load], element), narrow);
  }
  state.window.fixed += count;
  return state;
}
// Adds a load to the running sums or to the bins.
FN SUMS_STATE add_load(LOCAL uint* column, LOCAL uint* counters, uint4 v, uint4 w, SUMS_STATE state) {
  if (is_in_use(state.window)) {
    const CLASSES a = classes_of(&v, 1), b = DOT ? classes_of(&w, 1) : a;
    if (holds(state.window, a, b, 0)) {
      state = note_others(&v, &w, 1, state);
      return add_loads_to_window(&v, &w, 1, state, 0);
    }
    state.window = note_missed(state.window, a, b);
  }
  state.in_bins = 1;
  return add_load_to_bins(column, counters, v, w, state);
}
#elif !PACKED
#define add_load(column, counters, v, w, state) add_load_to_bins(column, counters, v, w, state)
#else
#define add_load(column, counters, v, w, state) add_integers(v, w, state)
#endif

#if !FLOATS
// Moves the sums in registers to the bins.
FN SUMS_STATE flush_integers(LOCAL uint* column, SUMS_STATE state) {
  const long words[6] = {state.sum0, state.sum1, state.product0, state.product1, state.product2, state.product3};
#pragma unroll
  for (uint i = 0; i < 6; ++i) {
    const uint sign = words[i] < 0 ? ~0u : 0;
    const ulong magnitude = words[i] < 0 ? 0 - (ulong)words[i] : (ulong)words[i];
    if (i < 2 ? SUM : PRODUCTS) add_number(column, i < 2 ? 2 * i : 2 * (i - 2), i >= 2, magnitude, 0, sign);
  }
  return empty_sums();
}
#endif
