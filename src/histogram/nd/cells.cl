// The cells of samples, axis by axis; included after slots.cl and plan_parameters.h.

// cells[i] becomes the place of sample i on this axis, plus, where an axis preceded (`add`), that of the axes so far times the places of
// this one. Samples are `stride` elements apart, from number `from` on. `merge`: the bin after the last one belongs above it.
KERNEL FIXED_GROUP(GROUP_SIZE, 1) void histogram_cells(GLOBAL const Sample* samples, ulong from, long stride, ulong count, GLOBAL uint* cells,
                                                       uint places, int merge, int add, PLAN_PARAMETERS) {
  Plan plan;
  SET_PLAN(plan);
  for (ulong i = global_id(); i < count; i += global_size()) {
    uint place = slot_of_sample(&plan, samples[(long)from + (long)i * stride]);
    if (merge && place >= places - 1) --place;
    cells[i] = add ? cells[i] * places + place : place;
  }
}
