// The limits of a sub-group: bits of the greatest and of the least element that it has seen. A load of floats whose elements lie between them has no
// new extreme and is not searched; in data without a trend nearly all loads are such. Where limits are not used, each load is searched.
//
// Follows extremes.h. Of float64 the upper halves are compared, as floats; where they are equal, the keys are.

#define LIMITED (EXTREMES && FLOATS && NAN_EXTREMES && LANES > 1)
#if LIMITED
typedef struct {
  uint top, bottom;  // of 16-bit floats twice
} LIMITS;

#define NO_LIMIT (~0u)  // a NaN that no instruction returns: the first load differs from it
FN LIMITS no_limits(void) {
  LIMITS none;
  none.top = none.bottom = NO_LIMIT;
  return none;
}

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
FN LIMITS share_extremes(EXTREMES_STATE* state) {
  const KEY max_key = subgroup_max_key(state->max.key), min_key = subgroup_max_key(state->min.key);
  if (state->max.key != max_key) state->max.index = NO_INDEX;
  if (state->min.key != min_key) state->min.index = NO_INDEX;
  state->max.key = max_key;
  state->min.key = min_key;
  LIMITS limits;
  limits.top = max_key == KEY_MIN ? NO_LIMIT : limit_of(max_key);
  limits.bottom = min_key == KEY_MIN ? NO_LIMIT : limit_of(reversed(min_key));
  return limits;
}

#if EXPONENT_BITS == 5
#define max2_nan max2_nan_f16
#define min2_nan min2_nan_f16
#elif BITS == 16
#define max2_nan max2_nan_bf16
#define min2_nan min2_nan_bf16
#endif

// Whether a load may have a new extreme, or has a NaN. `greatest`: the greatest magnitude of 16-bit floats, as bits.
FN uint lies_outside(uint4 v, LIMITS limits, uint* greatest) {
#if BITS == 16
  const uint high = max2_nan(max2_nan(v.x, v.y), max2_nan(v.z, v.w)), low = min2_nan(min2_nan(v.x, v.y), min2_nan(v.z, v.w));
  *greatest = greater_half(max2_u16(magnitudes_of(high), magnitudes_of(low)));
  return (max2_nan(high, limits.top) ^ limits.top) | (min2_nan(low, limits.bottom) ^ limits.bottom);
#elif BITS == 32
  const uint high = max_nan_f32(max_nan_f32(v.x, v.y), max_nan_f32(v.z, v.w)), low = min_nan_f32(min_nan_f32(v.x, v.y), min_nan_f32(v.z, v.w));
  return (max_nan_f32(high, limits.top) ^ limits.top) | (min_nan_f32(low, limits.bottom) ^ limits.bottom);
#else
  const float high = as_float(max_nan_f32(v.y, v.w)), low = as_float(min_nan_f32(v.y, v.w));
  return !(high < as_float(limits.top) && low > as_float(limits.bottom));
#endif
}

// The same, exactly.
FN uint has_extreme(uint4 v, EXTREMES_STATE state) {
#if BITS == 64
  const KEY key0 = key_of(element_of(v, 0)), key1 = key_of(element_of(v, 1));
  return key0 > state.max.key || key1 > state.max.key || reversed(key0) > state.min.key || reversed(key1) > state.min.key;
#else
  return 1;
#endif
}
#endif
