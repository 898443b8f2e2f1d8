// The slot of a sample as the index of its weight (groups/index/by_index.cl); included after plan_parameters.h.
#define INDEX_OF(sample) ((ulong)slot_of_sample(&plan, sample))
#define INDEX_PARAMETERS , PLAN_PARAMETERS
#define INDEX_SETUP \
  Plan plan;        \
  SET_PLAN(plan);
