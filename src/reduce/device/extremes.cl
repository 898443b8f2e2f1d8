// The least and the greatest element, where each is first, and how many NaNs there are and where the first is: in one launch.
//
// Each work-item keeps the best of what it meets (extremes.h), sub-groups and groups choose among their work-items; each group leaves a
// record, and one chooses among these: the one that draws the last ticket, or, where POLLED, the last one, which waits for the others.
//
// Defined by the host, beside what elements.h and extremes.h take: GROUP_SIZE, RESIDENT (groups of it to a compute unit), LOADS (of 16
// bytes, in flight), STRIDED (walk.h), DRAWN (groups draw their tiles one by one, in the order of memory: worth
// 3% over equal shares where there are many).

#define TILE (GROUP_SIZE * LOADS)
#define IS_KEPT(tile) (POLLED && (tile) < KEPT_LOADS / TILE)  // not of more than 128 MiB

// The result (ExtremaRecord): elements as they are, indices in the whole array, of which this launch begins at `base`; what lies before
// was found by the launches before.
#define LEAST_ELEMENT 0
#define AT_LEAST 1
#define GREATEST_ELEMENT 2
#define AT_GREATEST 3
#define FIRST_NAN 4
#define NAN_COUNT 5

FN ulong whole_index(uint place, ulong base) { return place == NOWHERE ? ~(ulong)0 : PLACES ? base + place : 0; }
// Of `count` elements; where nothing was better than nothing.
FN FOUND completed(FOUND found, uint count) {
#if !PLACES  // only whether there is one
  found.at_greatest = GREATEST && (FLOATS ? found.greatest != KEY_LEAST : count != 0) ? 0 : NOWHERE;
  found.at_least = LEAST && (FLOATS ? found.least != KEY_LEAST : count != 0) ? 0 : NOWHERE;
  found.first_nan = found.first_nan != NOWHERE ? 0 : NOWHERE;
#elif !FLOATS
  // Where all elements have the worst of keys, none of them was better than nothing.
  found.at_greatest = GREATEST && found.at_greatest == NOWHERE && count != 0 ? 0 : found.at_greatest;
  found.at_least = LEAST && found.at_least == NOWHERE && count != 0 ? 0 : found.at_least;
#endif
  return found;
}
FN void write_result(GLOBAL ulong* result, FOUND found, uint count, ulong base) {
  found = completed(found, count);
  const uint is_first_least = base == 0 || result[AT_LEAST] == ~(ulong)0;
  if (is_first_least || (found.at_least != NOWHERE && found.least > turned(key_of((WORD)result[LEAST_ELEMENT])))) {
    result[LEAST_ELEMENT] = found.at_least == NOWHERE ? 0 : (ulong)element_with(turned(found.least));
    result[AT_LEAST] = whole_index(found.at_least, base);
  }
  const uint is_first_greatest = base == 0 || result[AT_GREATEST] == ~(ulong)0;
  if (is_first_greatest || (found.at_greatest != NOWHERE && found.greatest > key_of((WORD)result[GREATEST_ELEMENT]))) {
    result[GREATEST_ELEMENT] = found.at_greatest == NOWHERE ? 0 : (ulong)element_with(found.greatest);
    result[AT_GREATEST] = whole_index(found.at_greatest, base);
  }
  if (base == 0 || result[FIRST_NAN] == ~(ulong)0) result[FIRST_NAN] = whole_index(found.first_nan, base);
  result[NAN_COUNT] = found.nans + (base == 0 ? 0 : result[NAN_COUNT]);
}

// Words of `schedule`: zero before the first launch, and again after each.
#define TICKETS 0
#define TILES 1  // that were drawn, beyond the one that each group starts with

// Of `count` elements, under 2^31. For the other arguments see walk.h and layout.h.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void extremes(GLOBAL const uchar* data, ulong offset, long stride, long row_stride, ulong row_length, uint head, ulong row_loads, ulong all_loads,
              uint count, GLOBAL ulong* records, GLOBAL uint* schedule, GLOBAL uchar* results, ulong result_offset, ulong base) {
  LOCAL_VAR BEST best;
#if DRAWN
  LOCAL_VAR uint drawn[2];
#endif
  after_launches();
  GLOBAL ulong* result = (GLOBAL ulong*)(results + result_offset);
  const ARRAY array = {data + offset, stride, row_stride};
  WALK walk;
  walk.head = head;
  walk.kept = 0;
#if STRIDED
  walk.elements = rows_of(row_length);
  walk.loads = rows_of(row_loads);
#endif
  EXTREMES_STATE state = empty_extremes();
  const uint loads = (uint)all_loads, tiles = loads / TILE;
  // In the order of memory, as of equal elements the first counts.
#if !STRIDED
  for (uint i = (uint)global_id(); i < head; i += (uint)global_size()) {
    state = take_load(state, load_of((WORD)element_at(array, walk, i)), i, 1);
  }
#endif
#if DRAWN
  const uint more = tiles > group_count();
  uint turn = 0;
#endif
  for (uint tile = group_id(); tile < tiles;) {
#if DRAWN
    if (more && local_id() == 0) drawn[turn] = atomic_add_global32(&schedule[TILES], 1) + group_count();
#endif
    const uint first = tile * TILE + local_id();
    uint4 v[LOADS];
#if STRIDED
#pragma unroll
    for (int k = 0; k < LOADS; ++k) v[k] = load_at(array, walk, first + k * GROUP_SIZE);
#else
    GLOBAL const uint4* aligned = (GLOBAL const uint4*)(array.first + head * sizeof(ELEMENT));
#pragma unroll
    for (int k = 0; k < LOADS; ++k) v[k] = IS_KEPT(tile) ? aligned[first + k * GROUP_SIZE] : load_once(&aligned[first + k * GROUP_SIZE]);
#endif
#pragma unroll
    for (int k = 0; k < LOADS; ++k) {
      state = take_load(state, v[k], (uint)index_of_load(walk, first + k * GROUP_SIZE), ELEMENTS_PER_LOAD);
    }
#if DRAWN
    barrier_local();
    tile = more ? drawn[turn] : tiles;
    turn ^= 1;
#else
    tile += group_count();
#endif
  }
  for (uint i = tiles * TILE + (uint)global_id(); i < loads; i += (uint)global_size()) {
    state = take_load(state, load_at(array, walk, i), (uint)index_of_load(walk, i), ELEMENTS_PER_LOAD);
  }
  const uint rest = count - (STRIDED ? 0 : head) - loads * ELEMENTS_PER_LOAD;
  for (uint i = (uint)global_id(); i < rest; i += (uint)global_size()) {
    const uint at = (uint)index_of_rest(walk, loads, loads, i);
    state = take_load(state, load_of((WORD)element_at(array, walk, at)), at, 1);
  }

  FOUND found = found_by(state);
#if POLLED
  if (group_count() > 1 && group_id() == group_count() - 1) found = take_slots(records, found);
#endif
  found = combine_group(&best, found);
  if (local_id() >= LANES) return;
  if (group_count() == 1) {
    if (local_id() == 0) write_result(result, found, count, base);
#if DRAWN
    if (local_id() == 0) schedule[TILES] = 0;
#endif
    return;
  }
#if POLLED
  if (group_id() != group_count() - 1) {
    leave(records + group_id() * RECORD_EXTREMES, found);
    return;
  }
  if (local_id() == 0) write_result(result, found, count, base);
#if DRAWN
  if (local_id() == 0) schedule[TILES] = 0;
#endif
#else
  if (local_id() == 0) write_record(records + group_id() * RECORD_EXTREMES, found);
#if SAMESUM_DEVICE_FENCE
  uint ticket = 0;
  if (local_id() == 0) ticket = atomic_add_ordered_global32(&schedule[TICKETS], 1);
#if LANES > 1
  ticket = subgroup_shuffle(ticket, 0);
  subgroup_sync();
#endif
  if (ticket != group_count() - 1) return;
  if (local_id() == 0) schedule[TICKETS] = schedule[TILES] = 0;
  found = nothing();
  for (uint i = local_id(); i < group_count(); i += LANES) found = combine(found, read_record(records + i * RECORD_EXTREMES));
  found = combine_lanes(found);
  if (local_id() == 0) write_result(result, found, count, base);
#endif
#endif
}

// The second launch, where a device cannot order what its groups write.
KERNEL FIXED_GROUP(1, 1)
void extremes_finish(GLOBAL const ulong* records, uint groups, GLOBAL uint* schedule, GLOBAL uchar* results, ulong result_offset,
                     uint count, ulong base) {
  after_launches();
  FOUND found = nothing();
  for (uint i = 0; i < groups; ++i) found = combine(found, read_record(records + i * RECORD_EXTREMES));
  schedule[TILES] = 0;
  write_result((GLOBAL ulong*)(results + result_offset), found, count, base);
}
