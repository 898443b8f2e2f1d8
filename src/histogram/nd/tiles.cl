// The slot counts of tiles, all of them in one launch; included after slots.cl and plan_parameters.h.
// Defined by the host: LOCAL_COUNTS: a group counts in local memory; else in global memory.

// A tile has `height` rows of `width` samples; its rows are shared out to `parts` groups. Strides are in samples, numbers of tiles in the
// result are `number` plus those along three axes: slices, rows and columns of tiles. Counts are 0 before.
KERNEL FIXED_GROUP(GROUP_SIZE, 1) void histogram_tiles(GLOBAL const Sample* samples, long from, ulong slices, ulong down, ulong across,
                                                       uint height, uint width, long slice_stride, long row_stride, long column_stride,
                                                       ulong number, ulong slice_number, ulong row_number, ulong column_number, uint parts,
                                                       GLOBAL uint* counts, uint slots, PLAN_PARAMETERS DYNLOCAL_PARAMETER(memory)) {
#if LOCAL_COUNTS
  DYNLOCAL(memory);
#endif
  Plan plan;
  SET_PLAN(plan);
  const ulong units = slices * down * across * parts;
  // A work-item's next sample is GROUP_SIZE samples further: this many rows and columns.
  const uint row_step = GROUP_SIZE / width, column_step = GROUP_SIZE % width;
  for (ulong unit = group_id(); unit < units; unit += group_count()) {
    const uint part = (uint)(unit % parts);
    const ulong tile = unit / parts, slice = tile / (down * across), tile_row = tile / across % down, tile_column = tile % across;
    const uint first_row = (uint)((ulong)height * part / parts), end_row = (uint)((ulong)height * (part + 1) / parts);
    const long place = from + (long)slice * slice_stride + (long)(tile_row * height) * row_stride + (long)(tile_column * width) * column_stride;
    GLOBAL uint* own = counts + (number + slice * slice_number + tile_row * row_number + tile_column * column_number) * slots;
#if LOCAL_COUNTS
    for (uint i = local_id(); i < slots; i += GROUP_SIZE) memory[i] = 0;
    barrier_local();
#endif
    uint row = first_row + local_id() / width, column = local_id() % width;
    while (row < end_row) {
      const uint slot = slot_of_sample(&plan, samples[place + (long)row * row_stride + (long)column * column_stride]);
#if LOCAL_COUNTS
      atomic_add_local32(&memory[slot], 1);
#else
      atomic_add_global32(&own[slot], 1);
#endif
      row += row_step;
      column += column_step;
      if (column >= width) {
        column -= width;
        ++row;
      }
    }
#if LOCAL_COUNTS
    barrier_local();
    for (uint i = local_id(); i < slots; i += GROUP_SIZE) {
      const uint count = memory[i];
      if (parts == 1) {
        own[i] = count;
      } else if (count != 0) {
        atomic_add_global32(&own[i], count);
      }
    }
    barrier_local();
#endif
  }
}
