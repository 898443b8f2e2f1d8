// The extremes of little data, as extremes.cl has them: a group for each tile, which it holds in registers. There are no loops, as nothing
// here would hide what a processor takes to fetch them.
//
// Of contiguous elements, one load of 16 bytes at least. Work-items beyond the last load take that one again, which changes no extreme.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void extremes_little(GLOBAL const uchar* data, ulong offset, uint head, uint count, GLOBAL ulong* slots, GLOBAL uchar* results,
                     ulong result_offset) {
  LOCAL_VAR FOUND best[GROUP_SIZE / LANES];
  GLOBAL const ELEMENT* elements = (GLOBAL const ELEMENT*)(data + offset);
  GLOBAL const uint4* aligned = (GLOBAL const uint4*)(elements + head);
  const uint last = (count - head) / ELEMENTS_PER_LOAD - 1;
  const uint first = group_id() * TILE + local_id();
  uint4 v[LOADS];
#pragma unroll
  for (int k = 0; k < LOADS; ++k) v[k] = load_once(&aligned[min_u32(first + k * GROUP_SIZE, last)]);
  EXTREMES_STATE state = empty_extremes();
  if (global_id() < head) state = take_load(state, load_of((WORD)elements[global_id()]), (uint)global_id(), 1);
  uint nans = 0;
#pragma unroll
  for (int k = 0; k < LOADS; ++k) {
    KEY greatest, least;
    nans |= ends_of(v[k], ELEMENTS_PER_LOAD, &greatest, &least);
    const uint place = head + min_u32(first + k * GROUP_SIZE, last) * ELEMENTS_PER_LOAD;
    state.greatest = take(state.greatest, greatest, place, v[k]);
    state.least = take(state.least, least, place, v[k]);
  }
  if (nans) {  // once more, with more care, and each load by one work-item
    state = empty_extremes();
    if (global_id() < head) state = take_load(state, load_of((WORD)elements[global_id()]), (uint)global_id(), 1);
#pragma unroll 1
    for (uint at = first; at < first + TILE - local_id() && at <= last; at += GROUP_SIZE) {
      state = take_load(state, aligned[at], head + at * ELEMENTS_PER_LOAD, ELEMENTS_PER_LOAD);
    }
  }
  const uint rest = head + (last + 1) * ELEMENTS_PER_LOAD + (uint)global_id();
  if (rest < count) state = take_load(state, load_of((WORD)elements[rest]), rest, 1);

  FOUND found = combine_group(best, found_by(state));
  if (local_id() >= LANES) return;
  if (group_id() != group_count() - 1) {
    leave(slots + group_id() * EXTREMES_WORDS, found);
    return;
  }
  if (group_count() > 1) found = take_slots(slots, found);
  if (local_id() == 0) write_result((GLOBAL ulong*)(results + result_offset), found, count, 0);
}
