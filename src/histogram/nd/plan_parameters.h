// The plan (slots.cl) as parameters of a kernel, thresholds and trie in global memory. Where patterns are looked up (GUESS 0) the thresholds
// are the slots of all patterns.

#if SAMPLE_TYPE == 0
typedef uchar Sample;
#elif SAMPLE_TYPE == 1
typedef ushort Sample;
#else
typedef Key Sample;
#endif

#define PLAN_PARAMETERS                                                                                                            \
  GLOBAL const Key *thresholds, uint threshold_count, uint nan_slot, GLOBAL const uint *trie, uint shift, Key first, Key span, Key flip, \
      Real low, Real scale, Real top, Real tolerance, Real last_tolerance
#define SET_PLAN(plan)                 \
  plan.thresholds = thresholds;        \
  plan.trie = trie;                    \
  plan.threshold_count = threshold_count; \
  plan.nan_slot = nan_slot;            \
  plan.shift = shift;                  \
  plan.first = first;                  \
  plan.span = span;                    \
  plan.flip = flip;                    \
  plan.low = low;                      \
  plan.scale = scale;                  \
  plan.top = top;                      \
  plan.tolerance = tolerance;          \
  plan.last_tolerance = last_tolerance

FN uint slot_of_sample(const Plan* plan, Sample sample) {
#if GUESS == 0
  return plan->thresholds[sample];
#elif GUESS == 1
  // Compared with an edge only where it may be on the other side.
  Place place = place_of(plan, sample);
  if (is_nan(sample) || fabs(place.off) < plan->tolerance || fabs(place.last) < plan->last_tolerance) return slot_of(plan, sample);
  return guess_of(place);
#else
  return slot_of(plan, sample);
#endif
}
