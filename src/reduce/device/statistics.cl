// Statistics of an array in one pass: extremes with their indices, exact sums of elements and of products, counts. One launch, if the device has
// 64-bit atomic additions.
//
// Extremes stay in registers, as keys (extremes.h). Exact sums are histograms of mantissas by exponent in local memory (bins.h): no branch depends
// on the value of a finite element. If the device has float64, most floats are first added up in registers (exponent_window.h). Each group turns
// its rows into digits (layout.h), adds them to the counted words of all groups, and publishes its extremes in a slot (meet.h). One group
// gathers them and, if ROUND, rounds the sum or the products: if POLLED, the last one by its number; else the one that draws the last ticket. Without
// 64-bit atomic operations each group writes a record, and a second launch adds up the records.
//
// Defined by the host, beside what elements.h takes: EXTREMES, SUM, PRODUCTS, NONZEROS (what is wanted), DOT (products are a·b; else
// squares), ROUND (a sum alone, or products a·b, go to a SumRecord too), STRIDED, CACHED (walk.h), GROUP_SIZE, RESIDENT, POLLED, LOADS (of 16 bytes, in flight),
// STEPS (of LOADS, to a tile), COLUMN_BITS, OWN_BINS (layout.h), WINDOWS.

// The arrays: the kernel's first parameters. If TERM, those of the formula (term.hpp).
#if !TERM
#define ARRAYS (DOT ? 2 : 1)
#define TERM_PARAMETERS \
  GLOBAL const uchar *a, ulong a_offset, long a_stride, long a_row_stride, GLOBAL const uchar *b, ulong b_offset, long b_stride, \
      long b_row_stride
#endif

#define RECORD (RECORD_EXTREMES + WORDS)

#define STEP (GROUP_SIZE * LOADS)  // 16-byte loads that a group has in flight
// The size of local memory in units of 16 bytes: first for bins; later the same memory serves to combine extremes, and to round.
#define BIN_LOADS ((ALL_BINS * COLUMNS + 3) / 4)
#define BEST_LOADS (GROUP_SIZE / LANES * 2 * (1 + POLLED))
#if ROUND
#define SCRATCH_LOADS ((SCRATCH_DIGITS + 3) / 2)
#else
#define SCRATCH_LOADS 1
#endif
#define MOST_LOADS (BIN_LOADS > BEST_LOADS ? BIN_LOADS : BEST_LOADS)
#define STORAGE_LOADS (MOST_LOADS > SCRATCH_LOADS ? MOST_LOADS : SCRATCH_LOADS)
// Tiles between collections, each with elements in bins or ROOM_OF_WINDOWS without.
#define ROOM_TILES (ROOM / (STEPS * LOADS * ELEMENTS_PER_LOAD) - 1)
#if FLOATS && ROOM < 2 * STEPS * LOADS * ELEMENTS_PER_LOAD
#error "the bins have no room for a tile"
#endif
#if WINDOWS
#define FLUSH_STEPS (ELEMENTS_A_WINDOW / (LOADS * ELEMENTS_PER_LOAD))  // after which running sums are full
#endif

// What a work-item has found, beside the extremes. NVIDIA's OpenCL compiler would keep a larger structure in memory instead of in registers.
typedef struct {
  SUMS_STATE sums;
  uint nonzeros;
} STATE;

// Searches `count` elements of a load for extremes, the first of which has this index.
#if EXTREMES
FN EXTREMES_STATE search_load(uint4 v, uint index, int count, EXTREMES_STATE state) {
  KEY max_key;
  KEY min_key;
  POSITIONS at;
  const uint any_nan = extremes_of_load(v, count, &max_key, &min_key, &at);
  return accumulate_found(state, v, index, count, max_key, min_key, at, any_nan);
}
// A step's loads, the first of which is load `first`.
FN EXTREMES_STATE search_loads(const uint4* v, WALK walk, ulong first, EXTREMES_STATE state) {
#pragma unroll
  for (int k = 0; k < LOADS; ++k) state = search_load(v[k], (uint)index_of_load(walk, first + k * GROUP_SIZE), ELEMENTS_PER_LOAD, state);
  return state;
}
#endif

#if NONZEROS && FLOATS
// Few loads have a zero: the least magnitude of wide elements says so in fewer instructions.
FN uint nonzeros_of_loads(const uint4* v, const int count) {
#if BITS == 16
  uint nonzeros = 0;
#pragma unroll
  for (int k = 0; k < count; ++k) nonzeros += nonzeros_of(less_one_of(v[k]));
#else
#if BITS == 32
  float least = as_float(v[0].x);
#pragma unroll
  for (int i = 1; i < count * ELEMENTS_PER_LOAD; ++i) {
    least = min_magnitude_f32(least, as_float(element_of(v[i / ELEMENTS_PER_LOAD], i % ELEMENTS_PER_LOAD)));
  }
#else  // of the upper halves, which may be zero where the element is not
  uint least = ~0u;
#pragma unroll
  for (int k = 0; k < count; ++k) least = min_u32(least, min_u32(v[k].y & 0x7fffffffu, v[k].w & 0x7fffffffu));
#endif
  uint nonzeros = (uint)(count * ELEMENTS_PER_LOAD);
  if (least == 0) {
#pragma unroll
    for (int i = 0; i < count * ELEMENTS_PER_LOAD; ++i) nonzeros -= is_zero(element_of(v[i / ELEMENTS_PER_LOAD], i % ELEMENTS_PER_LOAD));
  }
#endif
  return nonzeros;
}
#endif

// Adds a step's loads, which have these bounds if LIMITED. A sub-group asks of all its elements at once whether the window holds them; or, where no
// window is in use, whether the bins do.
FN STATE accumulate_step(LOCAL uint* column, LOCAL uint* counters, const uint4* v, const uint4* w, LIMITS bounds, STATE state) {
#if WINDOWS
  if (is_in_use(state.sums.window)) {
    CLASSES a = classes_of(v, LOADS);
    const CLASSES b = DOT ? classes_of(w, LOADS) : a;
#if LIMITED
    a.greatest = (int)greatest_magnitude_within(bounds) - 1;
#endif
    const uint narrow = holds(state.sums.window, a, b, 1);
    if (narrow || holds(state.sums.window, a, b, 0)) {
#if NONZEROS
      state.nonzeros += a.nonzeros;
#endif
#if LIMITED  // of zeros, the greatest is +0.0 if any is
      state.sums.other |= (a.least ^ CLASS_OF_ZERO) | (bounds.top ^ (BITS == 16 ? 0x80008000u : 0x80000000u));
#else
      state.sums = note_others(v, w, LOADS, state.sums);
#endif
      if (narrow) {
        state.sums = add_loads_to_window(v, w, LOADS, state.sums, 1);
      } else {
        state.sums = add_loads_to_window(v, w, LOADS, state.sums, 0);
      }
      return state;
    }
  }
#if EXPONENT_BITS != 5  // of float16 a window holds all finite numbers
  else {
#if LIMITED && BITS < 64
    const uint special = greatest_magnitude_within(bounds) >= INFINITE;
#else
    const uint special = any_special_of_loads(v, LOADS) | (DOT ? any_special_of_loads(w, LOADS) : 0);
#endif
    if (!ANY_LANE(special)) {
#if NONZEROS
      state.nonzeros += nonzeros_of_loads(v, LOADS);
#endif
      state.sums = note_others(v, w, LOADS, state.sums);
      state.sums.in_bins = 1;
#pragma unroll
      for (int k = 0; k < LOADS; ++k) add_finite_load(column, v[k], w[k]);
      return state;
    }
  }
#endif
#endif
#pragma unroll
  for (int k = 0; k < LOADS; ++k) {
#if NONZEROS && FLOATS
    state.nonzeros += nonzeros_of_loads(&v[k], 1);
#elif NONZEROS
#pragma unroll
    for (int i = 0; i < ELEMENTS_PER_LOAD; ++i) state.nonzeros += !is_zero(element_of(v[k], i));
#endif
#if SUM || PRODUCTS
    state.sums = add_load(column, counters, v[k], w[k], state.sums);
#endif
  }
  return state;
}

// Adds a single element, by the bins.
FN STATE accumulate_element(LOCAL uint* column, LOCAL uint* counters, WORD x, WORD y, STATE state) {
#if NONZEROS
  state.nonzeros += !is_zero(x);
#endif
#if SUM || PRODUCTS
#if FLOATS
  state.sums = take_special(counters, &x, &y, state.sums);
#endif
  state.sums = add_exactly(column, x, y, state.sums);
#endif
  return state;
}

// If loads were not kept, indices are those of the loads' first elements until the loads are read again here.
#if EXTREMES
FN uint index_again(KEY key, uint index, uint of_min, ARRAY a, WALK walk, ulong count) {
  uint at = index;
#pragma unroll
  for (int i = ELEMENTS_PER_LOAD - 1; i >= 0; --i) {
    const uint next = index != NO_INDEX && index + i < count ? index + i : 0;
    const KEY found = key_of(element_at(a, walk, next));
    at = next >= index && (of_min ? reversed(found) : found) == key ? next : at;
  }
  return at;
}
FN MIN_MAX_STATE with_indices(MIN_MAX_STATE found, ARRAY a, WALK walk, ulong count) {
#if !KNOWN_INDICES
  if (count == 0) return found;
  found.max_index = index_again(found.max_key, found.max_index, 0, a, walk, count);
  found.min_index = index_again(found.min_key, found.min_index, 1, a, walk, count);
#endif
  return found;
}
#endif

// Words of `schedule`: zero before the first launch, and again after each.
#define TICKETS 0  // groups that have added their words
#define TILES 1    // tiles drawn

#define FEW_ROUNDS 8  // where each group has fewer tiles than this, none is drawn

// For `count` elements, with extremes fewer than 2^31. `loads` loads of 16 bytes are read; the other elements are read one by one. walk.h has
// the other arguments. Tiles are taken in the order of memory; the last ones have one step each, so that groups are done at about the same time.
// Each group has as many of the first ones as any other, without a barrier between them. Where there are many, half of them are drawn from a
// counter, so that no group waits for a slower one.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void statistics(TERM_PARAMETERS, ulong row_length, uint head, ulong row_loads, ulong loads, ulong count, GLOBAL ulong* slots,
                GLOBAL ulong* merged, GLOBAL uint* schedule, GLOBAL ulong* result, GLOBAL uchar* record, ulong record_offset,
                int skip_nans) {
  LOCAL_VAR uint4 storage[STORAGE_LOADS];
  LOCAL_VAR long sums[ALL_BINS + RECORD_COUNTERS];
#if OWN_BINS
  LOCAL_VAR long rows[ALL_ROWS + RECORD_COUNTERS];
#else
  LOCAL long* rows = sums;
#endif
  LOCAL_VAR long words[WORDS];
  LOCAL_VAR uint counters[COUNTERS];
  LOCAL_VAR uint drawn[2];
  LOCAL uint* bins = (LOCAL uint*)storage;
  LOCAL uint* column = bins + (local_id() & (COLUMNS - 1));
#if TERM
  const ARRAY left = TERM_VALUE;
#define right left
#else
  const ARRAY left = {a + a_offset, a_stride, a_row_stride};
  const ARRAY right = {b + b_offset, b_stride, b_row_stride};
#endif
  WALK walk;
#if STRIDED || TERM
  walk.elements = rows_of(row_length);
  walk.loads = rows_of(row_loads);
#endif
  walk.head = head;
  walk.cached = CACHED ? (uint)cached_loads(loads) / ARRAYS : 0;
  const uint steps = (uint)(loads / STEP);
  // Of STEPS steps each, but for the last STEPS steps of each group, which are tiles of their own.
  const uint wide_tiles = (steps - min_u32(steps, STEPS > 1 ? STEPS * group_count() : 0)) / STEPS;
  const uint tiles = wide_tiles + steps - wide_tiles * STEPS;
  const uint rounds = max_u32(tiles / group_count(), 1);
  uint own_tiles = rounds < FEW_ROUNDS ? rounds + 1 : rounds / 2;  // of this group, or fewer
  const uint first_drawn = own_tiles * group_count();

  for (uint i = local_id(); i < BIN_LOADS; i += GROUP_SIZE) storage[i] = make_uint4(0, 0, 0, 0);
  FOR_EACH(i, ALL_BINS + RECORD_COUNTERS) sums[i] = 0;
  FOR_EACH(i, COUNTERS) counters[i] = 0;
  grid_dependency_wait();
  barrier_local();

#if EXTREMES
  EXTREMES_STATE extremes = empty_extremes();
#endif
#if LIMITED
  LIMITS limits = no_limits();
#endif
  STATE state;
  state.sums = empty_sums();
  state.nonzeros = 0;
  uint tile = group_id(), turn = 0;
#if WINDOWS
  uint filled = 0;  // steps in the running sums
  uint begun = 0;
#endif
  // Elements before the first load, loads, the rest: in this order, because the first index of equal elements is the result.
#if !STRIDED
  for (uint i = (uint)global_id(); i < head; i += (uint)global_size()) {
    const WORD x = (WORD)element_at(left, walk, i);
#if EXTREMES
    extremes = search_load(load_of(x), i, 1, extremes);
#endif
    state = accumulate_element(column, counters, x, DOT ? (WORD)element_at(right, walk, i) : x, state);
  }
#endif
  for (;;) {
    uint room = ROOM_TILES * ROOM_OF_WINDOWS;
    while (room >= ROOM_OF_WINDOWS && tile < tiles) {
      const uint own = min_u32(own_tiles, room / ROOM_OF_WINDOWS), taken = max_u32(own, 1), end = tile + taken * group_count();
      own_tiles -= own;
      // Stored behind the tiles, so that no work-item waits for the counter.
      uint next_tile = own_tiles > 0 ? end : tiles;
      if (own_tiles == 0 && first_drawn < tiles && local_id() == 0) next_tile = atomic_add_global32(&schedule[TILES], 1) + first_drawn;
      for (; tile < end; tile += group_count()) {
        const uint first_step = min_u32(tile, wide_tiles) * (STEPS - 1) + tile;
        for (uint step = first_step; step < first_step + (tile < wide_tiles ? STEPS : 1) && step < steps; ++step) {
          const ulong first = (ulong)step * STEP + local_id();
          uint4 v[LOADS];
          uint4 w[LOADS];
#pragma unroll
          for (int k = 0; k < LOADS; ++k) {
            v[k] = load_at(left, walk, first + k * GROUP_SIZE);
            w[k] = DOT ? load_at(right, walk, first + k * GROUP_SIZE) : v[k];
          }
#if WINDOWS
          if (!begun) state.sums.window = guess_window(v, w);
          begun = 1;
#endif
#if LIMITED  // few steps have a new extreme in most data
          const LIMITS bounds = bounds_of(v, LOADS);
          if (RARELY(ANY_LANE(lie_outside(bounds, limits)) && ANY_LANE(have_extreme(v, LOADS, extremes)))) {
            extremes = share_extremes(search_loads(v, walk, first, extremes));
            limits = limits_of(extremes);
          }
#else
          const LIMITS bounds = no_limits();
#endif
          state = accumulate_step(column, counters, v, w, bounds, state);
#if EXTREMES && !LIMITED  // after the sums: before them, some compilers need more registers
          extremes = search_loads(v, walk, first, extremes);
#endif
#if WINDOWS
          ++filled;
          state.sums.window = move_window(column, state.sums.window, filled * LOADS);
          if (filled == FLUSH_STEPS) {
            state.sums.window = empty_window(column, state.sums.window);
            filled = 0;
          }
#endif
        }
      }
      if (local_id() == 0) drawn[turn] = next_tile;
#if WINDOWS
      if (state.sums.in_bins) counters[IN_BINS + turn] = 1;
      state.sums.in_bins = 0;
#endif
      barrier_local();
      tile = drawn[turn];
      room -= WINDOWS && !counters[IN_BINS + turn] ? taken : taken * ROOM_OF_WINDOWS;
      turn ^= 1;
    }
    if (tile >= tiles && room >= ROOM_TILES * ROOM_OF_WINDOWS / 2) break;  // the bins have room for the rest
#if !FLOATS
    state.sums = flush_integers(column, state.sums);
#endif
    collect_bins(bins, counters, sums);
    if (tile >= tiles) break;
  }
  launch_dependents();
#if WINDOWS
  flush_together(column, state.sums.window);
#endif
  // The rest: less than a step, and the elements of rows before and after their loads; or all elements, if there are few.
  const ulong in_steps = (ulong)steps * STEP;
  ulong rest = count - (STRIDED ? 0 : head) - in_steps * ELEMENTS_PER_LOAD;
  ulong next = global_id();
  do {
    const ulong round = rest < ROOM / 2 * global_size() ? rest : ROOM / 2 * global_size();
    for (ulong i = global_id(); i < round; i += global_size()) {
      const ulong at = index_of_rest(walk, in_steps, loads, next);
      const WORD x = (WORD)element_at(left, walk, at);
#if EXTREMES
      extremes = search_load(load_of(x), (uint)at, 1, extremes);
#endif
      state = accumulate_element(column, counters, x, DOT ? (WORD)element_at(right, walk, at) : x, state);
      next += global_size();
    }
    rest -= round;
#if !FLOATS
    state.sums = flush_integers(column, state.sums);
#endif
    if (rest == 0) {
      if (state.sums.other != 0) atomic_add_local32(&counters[COUNTER_OTHERS], 1);
      if (NONZEROS) atomic_add_local32(&counters[COUNTER_NONZEROS], state.nonzeros);
    }
    collect_bins(bins, counters, sums);
  } while (rest != 0);
  add_bins_to_rows(sums, rows);

  const uint alone = group_count() == 1;
#if POLLED  // the last group gathers, and adds what it has itself
  const uint gathers = !alone && group_id() == group_count() - 1, publishes = !alone && !gathers;
#else
  const uint publishes = !alone;
#endif
  if (alone && local_id() == 0) schedule[TILES] = 0;
  // Slots of extremes; without 64-bit atomic operations records, of which the beginning is the slot.
  GLOBAL ulong* own = slots + (ulong)group_id() * (SAMESUM_INT64_ATOMICS ? RECORD_EXTREMES : RECORD);
#if EXTREMES
  LOCAL BEST* best = (LOCAL BEST*)storage;
  MIN_MAX_STATE found = combine_group(best, result_of(extremes));
  if (local_id() < LANES) {
    found = with_indices(found, left, walk, count);
    if (publishes) publish(own, found);
    if (alone && local_id() == 0) write_record(result, found);
  }
#endif
#if SAMESUM_INT64_ATOMICS
  FOR_EACH_WORD(i) words[i] = word_of_rows(rows, i);
  if (publishes) publish_words(merged, words);
#if POLLED
  const uint last = gathers;
#else
  if (local_id() == 0) drawn[0] = !alone && draws_last_ticket(&schedule[TICKETS]);
  barrier_local();
  const uint last = drawn[0];
#endif
  RETURN_IF(!last && !alone);
  const uint published = group_count() - POLLED;
  if (last) {
#if !POLLED  // what the group has itself is among what it has published
    FOR_EACH_WORD(i) words[i] = 0;
#endif
    gather_words(merged, published, words);
    if (ITEM_OF_WORD == 0) {  // it has waited for a word of each group: none draws another tile
      store_settled_global32(&schedule[TICKETS], 0);
      store_settled_global32(&schedule[TILES], 0);
    }
  }
  if (last || alone) {
    FOR_EACH_WORD(i) result[RECORD_EXTREMES + i] = (ulong)words[i];
  }
#if EXTREMES
  RETURN_IF(alone);
  // If POLLED, `best + 1`: without a barrier since the first combination, slots are gathered while other work-items gather words.
  found = combine_group(best + POLLED, gather(slots, last ? published : 0, RECORD_EXTREMES, POLLED && local_id() == 0 ? found : identity()));
  if (last && local_id() == 0) write_record(result, found);
#endif
#if ROUND
  barrier_local();
  if ((last || alone) && local_id() < LANES) round_words(record, record_offset, count, skip_nans, words, storage);
#endif
#else
  GLOBAL ulong* to = alone ? result : own;
  FOR_EACH_WORD(i) {
    words[i] = word_of_rows(rows, i);
    to[RECORD_EXTREMES + i] = (ulong)words[i];
  }
#if ROUND
  barrier_local();
  if (alone && local_id() < LANES) round_words(record, record_offset, count, skip_nans, words, storage);
#endif
#endif
}

// The second launch, for devices without 64-bit atomic operations: a work-item for each word.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void statistics_combine(GLOBAL ulong* records, uint groups, GLOBAL uint* schedule, GLOBAL ulong* result, GLOBAL uchar* record,
                        ulong record_offset, ulong count, int skip_nans) {
#if ROUND
  LOCAL_VAR long words[WORDS];
#endif
  grid_dependency_wait();
  if (local_id() == 0) schedule[TILES] = 0;
#if EXTREMES
  LOCAL_VAR BEST best;
  const MIN_MAX_STATE found = combine_group(&best, gather(records, groups, RECORD, identity()));
  if (local_id() == 0) write_record(result, found);
#endif
  for (uint i = local_id(); i < WORDS; i += GROUP_SIZE) {
    ulong sum = 0;
    for (uint group = 0; group < groups; ++group) sum += records[(ulong)group * RECORD + RECORD_EXTREMES + i];
#if ROUND
    words[i] = (long)sum;
#endif
    result[RECORD_EXTREMES + i] = sum;
  }
#if ROUND
  LOCAL_VAR uint4 storage[SCRATCH_LOADS];
  barrier_local();
  if (local_id() < LANES) round_words(record, record_offset, count, skip_nans, words, storage);
#endif
}
