// The minimum and the maximum with their first indices, the number of NaNs and the index of the first NaN, in one launch.
//
// Each work-item keeps the extremes of its elements; sub-groups and groups combine them (extremes.h). Each group publishes a slot (meet.h), and one
// group gathers the slots: if POLLED the last group, else the group that draws the last ticket.
//
// Defined by the host, beside what elements.h and extremes.h take: GROUP_SIZE, RESIDENT (groups of it to a compute unit), LOADS (of 16
// bytes, in flight), STRIDED (walk.h), DRAWN (groups draw tiles from a counter, in the order of memory: 3% faster
// than equal shares if there are many tiles).

#define TILE (GROUP_SIZE * LOADS)
#define IS_CACHED(tile) (POLLED && (tile) < CACHED_LOADS / TILE)  // not of more than 128 MiB

// The words of the result (ExtremaRecord). Indices count from the beginning of the array; this launch's elements begin at index `base`, and the
// record has the result of the launches for the elements before.
#define MIN_ELEMENT 0
#define MIN_INDEX 1
#define MAX_ELEMENT 2
#define MAX_INDEX 3
#define FIRST_NAN 4
#define NAN_COUNT 5

FN ulong whole_index(uint index, ulong base) { return index == NO_INDEX ? ~(ulong)0 : INDICES ? base + index : 0; }
// Completes the state of `count` elements in the cases where update() found no better key than the initial one.
FN MIN_MAX_STATE completed(MIN_MAX_STATE found, uint count) {
#if !INDICES  // an index of 0 says that the extreme exists
  found.max_index = FIND_MAX && (FLOATS ? found.max_key != KEY_MIN : count != 0) ? 0 : NO_INDEX;
  found.min_index = FIND_MIN && (FLOATS ? found.min_key != KEY_MIN : count != 0) ? 0 : NO_INDEX;
  found.first_nan = found.first_nan != NO_INDEX ? 0 : NO_INDEX;
#elif !FLOATS
  // All elements have the initial key: the first of them is the extreme.
  found.max_index = FIND_MAX && found.max_index == NO_INDEX && count != 0 ? 0 : found.max_index;
  found.min_index = FIND_MIN && found.min_index == NO_INDEX && count != 0 ? 0 : found.min_index;
#endif
  return found;
}
FN void write_result(GLOBAL ulong* result, MIN_MAX_STATE found, uint count, ulong base) {
  found = completed(found, count);
  const uint is_first_min = base == 0 || result[MIN_INDEX] == ~(ulong)0;
  if (is_first_min || (found.min_index != NO_INDEX && found.min_key > reversed(key_of((WORD)result[MIN_ELEMENT])))) {
    result[MIN_ELEMENT] = found.min_index == NO_INDEX ? 0 : (ulong)element_with(reversed(found.min_key));
    result[MIN_INDEX] = whole_index(found.min_index, base);
  }
  const uint is_first_max = base == 0 || result[MAX_INDEX] == ~(ulong)0;
  if (is_first_max || (found.max_index != NO_INDEX && found.max_key > key_of((WORD)result[MAX_ELEMENT]))) {
    result[MAX_ELEMENT] = found.max_index == NO_INDEX ? 0 : (ulong)element_with(found.max_key);
    result[MAX_INDEX] = whole_index(found.max_index, base);
  }
  if (base == 0 || result[FIRST_NAN] == ~(ulong)0) result[FIRST_NAN] = whole_index(found.first_nan, base);
  result[NAN_COUNT] = found.nans + (base == 0 ? 0 : result[NAN_COUNT]);
}

// Words of `schedule`: zero before the first launch, and again after each.
#define TICKETS 0
#define TILES 1  // drawn, in addition to each group's first tile
#define DRAWS_TICKETS (SAMESUM_INT64_ATOMICS && !POLLED)

// Of `count` elements, under 2^31. For the other arguments see walk.h and layout.h.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void extremes(GLOBAL const uchar* data, ulong offset, long stride, long row_stride, ulong row_length, uint head, ulong row_loads, ulong all_loads,
              uint count, GLOBAL ulong* slots, GLOBAL uint* schedule, GLOBAL uchar* results, ulong result_offset, ulong base) {
  LOCAL_VAR BEST best;
#if DRAWN || DRAWS_TICKETS
  LOCAL_VAR uint drawn[2];
#endif
  grid_dependency_wait();
  GLOBAL ulong* result = (GLOBAL ulong*)(results + result_offset);
  const ARRAY array = {data + offset, stride, row_stride};
  WALK walk;
  walk.head = head;
  walk.cached = 0;
#if STRIDED
  walk.elements = rows_of(row_length);
  walk.loads = rows_of(row_loads);
#endif
  EXTREMES_STATE state = empty_extremes();
  const uint loads = (uint)all_loads, tiles = loads / TILE;
  // In the order of memory, because the first index of equal elements is the result.
#if !STRIDED
  for (uint i = (uint)global_id(); i < head; i += (uint)global_size()) {
    state = accumulate(state, load_of((WORD)element_at(array, walk, i)), i, 1);
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
    for (int k = 0; k < LOADS; ++k) v[k] = IS_CACHED(tile) ? aligned[first + k * GROUP_SIZE] : load_streaming(&aligned[first + k * GROUP_SIZE]);
#endif
#pragma unroll
    for (int k = 0; k < LOADS; ++k) {
      state = accumulate(state, v[k], (uint)index_of_load(walk, first + k * GROUP_SIZE), ELEMENTS_PER_LOAD);
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
    state = accumulate(state, load_at(array, walk, i), (uint)index_of_load(walk, i), ELEMENTS_PER_LOAD);
  }
  const uint rest = count - (STRIDED ? 0 : head) - loads * ELEMENTS_PER_LOAD;
  for (uint i = (uint)global_id(); i < rest; i += (uint)global_size()) {
    const uint at = (uint)index_of_rest(walk, loads, loads, i);
    state = accumulate(state, load_of((WORD)element_at(array, walk, at)), at, 1);
  }

  MIN_MAX_STATE found = result_of(state);
  const uint alone = group_count() == 1;
#if POLLED
  const uint last = group_id() == group_count() - 1;
  if (last && !alone) found = gather(slots, group_count() - 1, RECORD_EXTREMES, found);
  found = combine_group(&best, found);
  if (!last && local_id() < LANES) publish(slots + group_id() * RECORD_EXTREMES, found);
#else
  found = combine_group(&best, found);
  if (!alone && local_id() < LANES) publish(slots + group_id() * RECORD_EXTREMES, found);
#if DRAWS_TICKETS
  if (local_id() == 0) drawn[0] = !alone && draws_last_ticket(&schedule[TICKETS]);
  barrier_local();
  const uint last = drawn[0];
  RETURN_IF(!last && !alone);
  const MIN_MAX_STATE all = combine_group(&best, gather(slots, last ? group_count() : 0, RECORD_EXTREMES, identity()));
  if (last) found = all;
  if (last && local_id() == 0) schedule[TICKETS] = 0;
#else
  const uint last = 0;
#endif
#endif
  if (local_id() != 0 || !(last || alone)) return;
  write_result(result, found, count, base);
  if (DRAWN) schedule[TILES] = 0;
}

// The second launch, for devices without 64-bit atomic operations.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void extremes_finish(GLOBAL ulong* slots, uint groups, GLOBAL uint* schedule, GLOBAL uchar* results, ulong result_offset, uint count,
                     ulong base) {
  LOCAL_VAR BEST best;
  grid_dependency_wait();
  const MIN_MAX_STATE found = combine_group(&best, gather(slots, groups, RECORD_EXTREMES, identity()));
  if (local_id() != 0) return;
  schedule[TILES] = 0;
  write_result((GLOBAL ulong*)(results + result_offset), found, count, base);
}
