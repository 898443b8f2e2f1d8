// What one asks of an array, in one pass and one launch: extremes with their indices, exact sums of elements and of products, counts.
//
// Extremes are kept in registers, as keys (extremes.h). Exact sums are histograms (bins.h), as the exact sum's are (reduce/sum_exact.cl);
// where the device has doubles, most floats are added up in registers before (window.h). Where all groups can add to the same words, each
// adds its rows in use to those of all, and the one that draws the last ticket takes them; else each writes a record, for a second launch.
//
// Defined by the host, beside what elements.h takes: EXTREMES, SUM, PRODUCTS, NONZEROS (what is wanted), DOT (products are a·b; else
// squares), GROUP_SIZE, RESIDENT, LOADS (of 16 bytes, in flight), STEPS (of LOADS, to a tile), COLUMN_BITS, WINDOWS.

#define MERGED (SAMESUM_INT64_ATOMICS && SAMESUM_DEVICE_FENCE)

// Words of a record: what extremes.h writes, counters, the rows of bins.h. Of the latter two, those of all groups lie SPACING words apart, as a
// device adds to one line of memory one after the other.
#define COUNTERS EXTREMES_WORDS
#define OTHERS 3  // behind those of sums.h: work-items that saw anything but -0.0 and NaN
#define COUNTED_NONZEROS 4
#define COUNTER_WORDS 5
#define FIRST_ROW (COUNTERS + COUNTER_WORDS)
#define RECORD (FIRST_ROW + ALL_ROWS)
#define SPACING 16
#define WORDS_EACH ((COUNTER_WORDS + ALL_ROWS + GROUP_SIZE - 1) / GROUP_SIZE)

// Ends a group early, where barriers may follow (PoCL takes none behind a condition).
#if LANES > 1
#define RETURN_IF(condition) \
  if (condition) return
#else
#define RETURN_IF(condition)
#endif

#define STEP (GROUP_SIZE * LOADS)  // 16-byte loads that a group takes in one go
// Local memory: bins, or, after them, what the group's choice takes (in loads of 16 bytes).
#define BIN_LOADS ((ALL_ROWS * COLUMNS + 3) / 4)
#define BEST_LOADS (GROUP_SIZE / LANES * 2)
#define STORAGE_LOADS (BIN_LOADS > BEST_LOADS ? BIN_LOADS : BEST_LOADS)
#define ROOMY_ROWS (ALL_ROWS > 0 ? ALL_ROWS : 1)
#define ROOM_TILES (ROOM / (STEPS * LOADS * ELEMENTS_PER_LOAD) - 1)  // tiles between collections
#if WINDOWS
#define FLUSH_STEPS (ELEMENTS_A_WINDOW / (LOADS * ELEMENTS_PER_LOAD))  // after which running sums are full
#endif

typedef struct {
#if EXTREMES
  EXTREMES_STATE extremes;
#endif
  SUMS_STATE sums;
  uint nonzeros;
} STATE;

// `count` elements of a load, of which the first is element `place`. A single one goes to the bins.
FN STATE see_load(LOCAL uint* column, LOCAL uint* counters, uint4 v, uint4 w, uint place, int count, STATE state) {
#if SUM || PRODUCTS
  if (count == ELEMENTS_PER_LOAD) {
    state.sums = add_load(column, counters, v, w, state.sums);
  } else {
    state.sums = add_exactly(column, element_of(v, 0), element_of(w, 0), state.sums);
#if FLOATS
    state.sums = count_special(counters, element_of(v, 0), element_of(w, 0), state.sums);
#endif
  }
#endif
#if EXTREMES
  state.extremes = take_load(state.extremes, v, place, count);
#endif
#if NONZEROS
#pragma unroll
  for (int i = 0; i < count; ++i) state.nonzeros += !is_zero(element_of(v, i));
#endif
  return state;
}

// Words of `schedule`: zero before the first launch, and again after each.
#define TICKETS 0
#define TILES 1  // that were drawn, beyond the one that each group starts with

// Where an array lies: element i at byte `offset + i * stride` of `data`.
FN ELEMENT element_at(GLOBAL const uchar* data, ulong offset, long stride, ulong i) {
  return *(GLOBAL const ELEMENT*)(data + (offset + (ulong)((long)i * stride)));
}

// Of `count` elements, under 2^32. From element `head` on there are `loads` whole ones of 16 bytes, of both arrays; other elements are
// taken one by one. Groups draw their tiles one by one, in the order of memory: reading stays in step all over the device, and no group waits for
// a slower one.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void statistics(GLOBAL const uchar* a, ulong a_offset, long a_stride, GLOBAL const uchar* b, ulong b_offset, long b_stride, uint head,
                uint loads, uint count, GLOBAL ulong* records, GLOBAL ulong* merged, GLOBAL uint* schedule, GLOBAL ulong* result) {
  LOCAL_VAR uint4 storage[STORAGE_LOADS];
  LOCAL_VAR long rows[ROOMY_ROWS];
  LOCAL_VAR uint counters[COUNTER_WORDS];
  LOCAL_VAR uint drawn[2];
  LOCAL uint* bins = (LOCAL uint*)storage;
  LOCAL BEST* best = (LOCAL BEST*)storage;
  LOCAL uint* column = bins + (local_id() & (COLUMNS - 1));
  GLOBAL const uint4* a_loads = (GLOBAL const uint4*)(a + (a_offset + head * sizeof(ELEMENT)));
  GLOBAL const uint4* b_loads = (GLOBAL const uint4*)(b + (b_offset + head * sizeof(ELEMENT)));
  const uint steps = loads / STEP;
  const uint tiles = (steps + STEPS - 1) / STEPS;

  for (uint i = local_id(); i < ALL_ROWS * COLUMNS; i += GROUP_SIZE) bins[i] = 0;
  for (uint i = local_id(); i < ALL_ROWS; i += GROUP_SIZE) rows[i] = 0;
  for (uint i = local_id(); i < COUNTER_WORDS; i += GROUP_SIZE) counters[i] = 0;
  after_launches();
  barrier_local();

  STATE state;
#if EXTREMES
  state.extremes = empty_extremes();
#endif
  state.sums = empty_sums();
  state.nonzeros = 0;
  uint tile = group_id();
#if WINDOWS
  uint filled = 0;  // steps in the running sums
  uint begun = 0;
#endif
  // Elements before the first load, then loads, then what is left: in this order, as of equal elements the first counts.
  for (uint i = (uint)global_id(); i < head; i += (uint)global_size()) {
    const uint4 x = load_of((WORD)element_at(a, a_offset, a_stride, i));
    state = see_load(column, counters, x, DOT ? load_of((WORD)element_at(b, b_offset, b_stride, i)) : x, i, 1, state);
  }
  for (;;) {
    uint room = ROOM_TILES;
    for (; room > 0 && tile < tiles; --room) {
      if (local_id() == 0) drawn[room & 1] = tiles > group_count() ? atomic_add_global32(&schedule[TILES], 1) + group_count() : tiles;
      for (uint step = tile * STEPS; step < (tile + 1) * STEPS && step < steps; ++step) {
        const uint first = step * STEP + local_id();
        uint4 v[LOADS];
        uint4 w[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; ++k) {
          v[k] = load_once(&a_loads[first + k * GROUP_SIZE]);
          w[k] = DOT ? load_once(&b_loads[first + k * GROUP_SIZE]) : v[k];
        }
#if WINDOWS
        if (!begun) state.sums.window = guess_window(v, w);
        begun = 1;
#endif
#pragma unroll
        for (int k = 0; k < LOADS; ++k) {
          state = see_load(column, counters, v[k], w[k], head + (first + k * GROUP_SIZE) * ELEMENTS_PER_LOAD, ELEMENTS_PER_LOAD, state);
        }
#if WINDOWS
        state.sums.window = move_window(column, state.sums.window);
        if (++filled == FLUSH_STEPS) {
          state.sums.window = empty_window(column, state.sums.window);
          filled = 0;
        }
#endif
      }
      barrier_local();
      tile = drawn[room & 1];
    }
    if (tile >= tiles && room >= ROOM_TILES / 2) break;  // there is room for what is left
    collect_bins(bins, rows);
    if (tile >= tiles) break;
  }
#if WINDOWS
  flush_together(column, state.sums.window);
#endif
  // What is left: less than a step; or everything, of arrays that do not lie in loads.
  uint left = count - head - steps * (STEP * ELEMENTS_PER_LOAD);
  uint next = count - left + (uint)global_id();
  do {
    const uint round = left < ROOM / 2 * (uint)global_size() ? left : ROOM / 2 * (uint)global_size();
    for (uint i = (uint)global_id(); i < round; i += (uint)global_size()) {
      const uint4 x = load_of((WORD)element_at(a, a_offset, a_stride, next));
      state = see_load(column, counters, x, DOT ? load_of((WORD)element_at(b, b_offset, b_stride, next)) : x, next, 1, state);
      next += (uint)global_size();
    }
    left -= round;
#if !FLOATS
    if (left == 0) flush_integers(column, state.sums);
#endif
    collect_bins(bins, rows);
  } while (left != 0);

  GLOBAL ulong* record = group_count() == 1 ? result : records + (ulong)group_id() * (MERGED ? EXTREMES_WORDS : RECORD);
#if EXTREMES
  FOUND found = combine_group(best, found_by(state.extremes));
  if (local_id() == 0) write_record(record, with_places(found, a + a_offset, a_stride, count));
#endif
  if (state.sums.other != 0) atomic_add_local32(&counters[OTHERS], 1);
  if (NONZEROS) atomic_add_local32(&counters[COUNTED_NONZEROS], state.nonzeros);
  barrier_local();
  const uint alone = group_count() == 1;
  if (alone && local_id() == 0) schedule[TILES] = 0;
  if (!MERGED || alone) {
    for (uint i = local_id(); i < COUNTER_WORDS; i += GROUP_SIZE) record[COUNTERS + i] = counters[i];
    for (uint i = local_id(); i < ALL_ROWS; i += GROUP_SIZE) record[FIRST_ROW + i] = (ulong)rows[i];
  }
#if MERGED
  RETURN_IF(alone);
  for (uint i = local_id(); i < COUNTER_WORDS + ALL_ROWS; i += GROUP_SIZE) {
    const ulong word = i < COUNTER_WORDS ? counters[i] : (ulong)rows[i - COUNTER_WORDS];
    if (word != 0 && !alone) atomic_add_global64(&merged[i * SPACING], word);
  }
  barrier_all();
  if (local_id() == 0) drawn[0] = !alone && atomic_add_ordered_global32(&schedule[TICKETS], 1) == group_count() - 1;
  barrier_local();
  const uint last = drawn[0];
  RETURN_IF(!last);
  fence_device();
  if (last && local_id() == 0) schedule[TICKETS] = schedule[TILES] = 0;
  ulong words[WORDS_EACH];  // all on their way at once
#pragma unroll
  for (uint k = 0; k < WORDS_EACH; ++k) {
    const uint i = local_id() + k * GROUP_SIZE;
    words[k] = last && i < COUNTER_WORDS + ALL_ROWS ? merged[i * SPACING] : 0;
  }
#pragma unroll
  for (uint k = 0; k < WORDS_EACH; ++k) {
    const uint i = local_id() + k * GROUP_SIZE;
    if (last && i < COUNTER_WORDS + ALL_ROWS) {
      result[COUNTERS + i] = words[k];
      merged[i * SPACING] = 0;
    }
  }
#if EXTREMES
  found = nothing();
  for (uint i = local_id(); i < (last ? group_count() : 0); i += GROUP_SIZE) {
    found = combine(found, read_record(records + i * EXTREMES_WORDS));
  }
  found = combine_group(best, found);
  if (last && local_id() == 0) write_record(result, found);
#endif
#endif
}

// The second launch, where groups cannot add to the same words: a work-item for each of them.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void statistics_combine(GLOBAL const ulong* records, uint groups, GLOBAL uint* schedule, GLOBAL ulong* result) {
  LOCAL_VAR BEST best;
  after_launches();
  if (local_id() == 0) schedule[TILES] = 0;
#if EXTREMES
  FOUND found = nothing();
  for (uint i = local_id(); i < groups; i += GROUP_SIZE) found = combine(found, read_record(records + (ulong)i * RECORD));
  found = combine_group(&best, found);
  if (local_id() == 0) write_record(result, found);
#endif
  for (uint word = COUNTERS + local_id(); word < RECORD; word += GROUP_SIZE) {
    ulong sum = 0;
    for (uint i = 0; i < groups; ++i) sum += records[(ulong)i * RECORD + word];
    result[word] = sum;
  }
}
