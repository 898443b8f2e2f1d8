// The slot of a sample as the index of its weight (groups/index/device/by_index.cl); included after plan_parameters.h.
#define INDEX_OF(sample) ((ulong)slot_of_sample(&plan, sample))
// Of as many samples as 16 bytes hold, in few instructions.
#if SAMPLE_TYPE > 1
#define INDICES_OF(vector, found) slots_of(&plan, vector, found)
#define INDICES PER_VECTOR
#endif
#define INDEX_PARAMETERS , PLAN_PARAMETERS
#define INDEX_SETUP \
  Plan plan;        \
  SET_PLAN(plan);
