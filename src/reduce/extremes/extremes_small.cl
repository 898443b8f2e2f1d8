// The extremes of small arrays, after extremes.cl: a group for each tile, all of which is in registers. There are no loops, because in so short a
// kernel nothing hides the latency of fetching their instructions.

// The extremes of a tile, whose load k begins at index `indices[k]`. Returns whether there is a NaN; then the extremes are not valid.
FN uint extremes_of_tile(const uint4* v, const uint* indices, EXTREMES_STATE* state) {
#if !INDICES && FLOATS && BITS == 32 && NAN_EXTREMES
  uint high = v[0].x;
  uint low = v[0].x;
#pragma unroll
  for (int k = 0; k < LOADS; ++k) {
    high = max_nan_f32(high, max_nan_f32(max_nan_f32(v[k].x, v[k].y), max_nan_f32(v[k].z, v[k].w)));
    low = min_nan_f32(low, min_nan_f32(min_nan_f32(v[k].x, v[k].y), min_nan_f32(v[k].z, v[k].w)));
  }
  state->max.key = key_of(high);
  state->min.key = reversed(key_of(low));
  return is_nan(FIND_MAX ? high : low);
#else
  uint nan = 0;
#pragma unroll
  for (int k = 0; k < LOADS; ++k) {
    KEY max_key, min_key;
    POSITIONS at;
    nan |= extremes_of_load(v[k], ELEMENTS_PER_LOAD, &max_key, &min_key, &at);
    state->max = update(state->max, max_key, indices[k] + at.max, v[k]);
    state->min = update(state->min, min_key, indices[k] + at.min, v[k]);
  }
  return nan;
#endif
}

// Writes the result by a sub-group whose lanes all have the state: a lane stores each word.
FN void write_words(GLOBAL ulong* to, MIN_MAX_STATE found, uint count) {
  const uint lane = local_id();
  found = completed(found, count);
  ulong word = lane == NAN_COUNT ? found.nans : whole_index(found.first_nan, 0);
  word = lane == MIN_ELEMENT ? (found.min_index == NO_INDEX ? 0 : (ulong)element_with(reversed(found.min_key))) : word;
  word = lane == MIN_INDEX ? whole_index(found.min_index, 0) : word;
  word = lane == MAX_ELEMENT ? (found.max_index == NO_INDEX ? 0 : (ulong)element_with(found.max_key)) : word;
  word = lane == MAX_INDEX ? whole_index(found.max_index, 0) : word;
  if (lane <= NAN_COUNT) atomic_store_global64(to, word);
}

// For contiguous arrays that have at least one aligned load of 16 bytes. Work-items beyond the last load read it again, which changes no extreme.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void extremes_small(GLOBAL const uchar* data, ulong offset, uint head, uint count, GLOBAL ulong* slots, GLOBAL uchar* results,
                     ulong result_offset) {
  LOCAL_VAR BEST best;
  const uint others = materialize(group_count() - 1), is_last = group_id() == others;
  if (others == 0) launch_dependents();
  grid_dependency_wait();
  GLOBAL ulong* const to = materialize_address((GLOBAL ulong*)(results + result_offset) + min_u32(local_id(), NAN_COUNT));
  GLOBAL const ELEMENT* elements = (GLOBAL const ELEMENT*)(data + offset);
  GLOBAL const uint4* aligned = (GLOBAL const uint4*)(elements + head);
  const uint last = (count - head) / ELEMENTS_PER_LOAD - 1;
  const uint first = group_id() * TILE + local_id();
  const uint whole = head == 0 && count % ELEMENTS_PER_LOAD == 0 && (group_id() + 1) * TILE <= last + 1;
  uint4 v[LOADS];
  uint indices[LOADS];
  if (whole) {
#pragma unroll
    for (int k = 0; k < LOADS; ++k) v[k] = ((GLOBAL const uint4*)elements)[first + k * GROUP_SIZE];
  } else {
#pragma unroll
    for (int k = 0; k < LOADS; ++k) v[k] = aligned[min_u32(first + k * GROUP_SIZE, last)];
  }
#pragma unroll
  for (int k = 0; k < LOADS; ++k) indices[k] = head + min_u32(first + k * GROUP_SIZE, last) * ELEMENTS_PER_LOAD;
  EXTREMES_STATE state = empty_extremes();
  if (extremes_of_tile(v, indices, &state)) {  // again, with NaNs counted, and each load by one work-item only
    state = empty_extremes();
#pragma unroll 1
    for (uint at = first; at < first + TILE - local_id() && at <= last; at += GROUP_SIZE) {
      state = accumulate(state, aligned[at], head + at * ELEMENTS_PER_LOAD, ELEMENTS_PER_LOAD);
    }
  }
  MIN_MAX_STATE found = result_of(state);
  if (!whole) {  // elements before the first load and after the last
    const uint item = group_id() * GROUP_SIZE + local_id();
    const uint rest = head + (last + 1) * ELEMENTS_PER_LOAD + item;
    state = empty_extremes();
    if (item < head) state = accumulate(state, load_of((WORD)elements[item]), item, 1);
    if (rest < count) state = accumulate(state, load_of((WORD)elements[rest]), rest, 1);
    found = combine(found, result_of(state));
  }
  if (is_last && others != 0) {
    launch_dependents();
    found = gather(slots, others, RECORD_EXTREMES, found);
  }
  found = combine_group(&best, found);
  if (local_id() >= LANES) return;
  if (is_last) {
    write_words(to, found, count);
  } else {
    publish(slots + group_id() * RECORD_EXTREMES, found);
  }
}
