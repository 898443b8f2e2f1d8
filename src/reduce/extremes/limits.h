// The limits of a sub-group: bits of the greatest and of the least element that it has seen. A load of floats whose elements lie between them has no
// new extreme and is not searched; in data without a trend nearly all loads are such. Where limits are not used, each load is searched.
//
// Follows extremes.h. Of float64 the upper halves are compared, as floats; where they are equal, the keys are.

#define LIMITED (EXTREMES && FLOATS && NAN_EXTREMES && LANES > 1)
typedef struct {
  uint top, bottom;  // of 16-bit floats twice
} LIMITS;

#define NO_LIMIT (~0u)  // a NaN that no instruction returns: the first load differs from it
FN LIMITS no_limits(void) {
  LIMITS none;
  none.top = none.bottom = NO_LIMIT;
  return none;
}

#if LIMITED

FN uint limit_of(KEY key) {
#if BITS == 64
  // Beyond 2^1017 these bits would be those of a NaN.
  const uint upper = (uint)(element_with(key) >> 32);
  return (upper & 0x80000000u) | min_u32(upper & 0x7fffffffu, 0x7f800000u);
#else
  return BITS == 16 ? (uint)element_with(key) * 0x00010001u : (uint)element_with(key);
#endif
}

// Gives all lanes of a sub-group the extremes of all, after which their limits are the same. Where extremes are wanted, elements are read in the
// order of their indices (walk.cpp): one that equals the extreme of another lane is not the first. Only the lane that found an extreme has its index.
FN EXTREMES_STATE share_extremes(EXTREMES_STATE state) {
  const KEY max_key = subgroup_max_key(state.max.key), min_key = subgroup_max_key(state.min.key);
  if (state.max.key != max_key) state.max.index = NO_INDEX;
  if (state.min.key != min_key) state.min.index = NO_INDEX;
  state.max.key = max_key;
  state.min.key = min_key;
  return state;
}
FN LIMITS limits_of(EXTREMES_STATE shared) {
  LIMITS limits;
  limits.top = shared.max.key == KEY_MIN ? NO_LIMIT : limit_of(shared.max.key);
  limits.bottom = shared.min.key == KEY_MIN ? NO_LIMIT : limit_of(reversed(shared.min.key));
  return limits;
}

#if EXPONENT_BITS == 5
#define max2_nan max2_nan_f16
#define min2_nan min2_nan_f16
#elif BITS == 16
#define max2_nan max2_nan_bf16
#define min2_nan min2_nan_bf16
#endif

// The greatest and the least of some loads, as the limits' bits; NaN if any element is one.
FN LIMITS bounds_of(const uint4* loads, const int count) {
  LIMITS bounds;
#pragma unroll
  for (int k = 0; k < count; ++k) {
    const uint4 v = loads[k];
#if BITS == 16
    const uint high = max2_nan(max2_nan(v.x, v.y), max2_nan(v.z, v.w)), low = min2_nan(min2_nan(v.x, v.y), min2_nan(v.z, v.w));
    bounds.top = k == 0 ? high : max2_nan(bounds.top, high);
    bounds.bottom = k == 0 ? low : min2_nan(bounds.bottom, low);
#else
#if BITS == 32
    const uint high = max_nan_f32(max_nan_f32(v.x, v.y), max_nan_f32(v.z, v.w)), low = min_nan_f32(min_nan_f32(v.x, v.y), min_nan_f32(v.z, v.w));
#else
    const uint high = max_nan_f32(v.y, v.w), low = min_nan_f32(v.y, v.w);
#endif
    bounds.top = k == 0 ? high : max_nan_f32(bounds.top, high);
    bounds.bottom = k == 0 ? low : min_nan_f32(bounds.bottom, low);
#endif
  }
  return bounds;
}

// Whether loads with these bounds may have a new extreme, or have a NaN.
FN uint lie_outside(LIMITS bounds, LIMITS limits) {
#if BITS == 16
  return (max2_nan(bounds.top, limits.top) ^ limits.top) | (min2_nan(bounds.bottom, limits.bottom) ^ limits.bottom);
#elif BITS == 32
  return (max_nan_f32(bounds.top, limits.top) ^ limits.top) | (min_nan_f32(bounds.bottom, limits.bottom) ^ limits.bottom);
#else
  return !(as_float(bounds.top) < as_float(limits.top) && as_float(bounds.bottom) > as_float(limits.bottom));
#endif
}

// The same, exactly, of the loads themselves.
FN uint have_extreme(const uint4* loads, const int count, EXTREMES_STATE state) {
#if BITS == 64
  uint any = 0;
#pragma unroll
  for (int i = 0; i < count * ELEMENTS_PER_LOAD; ++i) {
    const KEY key = key_of(element_of(loads[i / ELEMENTS_PER_LOAD], i % ELEMENTS_PER_LOAD));
    any |= key > state.max.key || reversed(key) > state.min.key;
  }
  return any;
#else
  return 1;
#endif
}

// The greatest magnitude of loads with these bounds, as bits; of float64 the upper half of it.
FN uint greatest_magnitude_within(LIMITS bounds) {
#if BITS == 16
  return greater_half(max2_u16(magnitudes_of(bounds.top), magnitudes_of(bounds.bottom)));
#else
  return max_u32(bounds.top & 0x7fffffffu, bounds.bottom & 0x7fffffffu);
#endif
}
#endif
