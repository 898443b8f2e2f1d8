// Counts the samples of each slot (plan.hpp); included after slots.cl and counters.cl. Every sample is one atomic addition; branches that
// depend on the data are rarely taken.
// Defined by the host:
//   SAMPLE_TYPE      0 uint8, 1 uint16, 2 integers of 32 bits, 3 of 64, 4 float, 5 double
//   GUESS            0 the sample is the slot, 1 Even, 2 Trie by key, 3 Trie by value: thresholds are then values instead of keys; 4 Floor
//   COUNTERS         0 in local memory, 32 bits, in copies; 1 in local memory, 16 bits, for bytes in copies; 2 in global memory
//   CHANNELS         of uint8: bytes are interleaved channels; channel c has slots c * 256 ...
//   COPY_BITS        there are 2^COPY_BITS copies of local counters: work-item i adds to copy i % copies, so that few lanes of a
//                    sub-group meet in one bank, whatever the data
//   NEAR_SLOTS       of counters in global memory: that many slots, a power of two or 0, have counters in local memory as well
//   HOT              of 16-bit counters: slots with many samples have additional words
//   EDGES_LOCAL      thresholds and trie are copied into local memory
//   AHEAD            the next tile is loaded while one is counted: for compute units with only one group
//   GROUP_SIZE, RESIDENT, LOADS (of 16 bytes, in flight)
//   STEPS            the number of tiles of LOADS that a group takes at once
//   TERM             samples are values of a formula: generated code between counters.cl and this file computes them (reduce/term.hpp)

#if SAMPLE_TYPE == 0
typedef uchar Sample;
#elif SAMPLE_TYPE == 1
typedef ushort Sample;
#else
typedef Key Sample;
#endif

#define TILE (GROUP_SIZE * LOADS)  // vectors that a group counts in one step

#if TERM
#define DATA_PARAMETERS TERM_PARAMETERS, ulong row_length
#define LOAD_TILE(to, tile) load_tile(to, terms, walk, tile)
#define LOAD(i) load_at(terms, walk, i)
#define SAMPLE(place) element_at(terms, walk, (ulong)((long)head + (place)))
FN void load_tile(uint4* loaded, ARRAY terms, WALK walk, uint tile) {
  _Pragma("unroll") for (uint k = 0; k < LOADS; ++k) loaded[k] = load_at(terms, walk, (ulong)tile * TILE + k * GROUP_SIZE + local_id());
}
#else
#define DATA_PARAMETERS GLOBAL const uchar *bytes, ulong offset
#define LOAD_TILE(to, tile) load_tile(to, data, tile)
#define LOAD(i) data[i]
#define SAMPLE(place) ((GLOBAL const Sample*)data)[place]
FN void load_tile(uint4* loaded, GLOBAL const uint4* data, uint tile) {
  _Pragma("unroll") for (uint k = 0; k < LOADS; ++k) loaded[k] = load_streaming(&data[(ulong)tile * TILE + k * GROUP_SIZE + local_id()]);
}
#endif

// The data begin at byte `offset`, a multiple of 16; the `head` samples before it count too (in one channel). `spare` are the counters of
// the next histogram: this launch clears them, as a launch of its own would take microseconds.
//
// Groups take tiles dynamically, in memory order: the whole device reads neighbouring memory, and no group waits for a slower one. The word
// after the counts is the tile counter; its value was `drawn_before` when the kernel was launched.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT) void histogram_count(DATA_PARAMETERS, uint head, ulong count, GLOBAL uint* counts,
                                                              uint slots, uint drawn_before, GLOBAL uint* spare, uint spare_slots,
                                                              GLOBAL const Key* thresholds, uint threshold_count, GLOBAL const uint* trie,
                                                              uint trie_words, uint shift, Key first, Key span, Key flip, Real low,
                                                              Real scale, Real top, Real tolerance, Real last_tolerance,
                                                              Real high, uint one DYNLOCAL_PARAMETER(memory)) {
  DYNLOCAL(memory);
#if TERM
  const ARRAY terms = TERM_VALUE;
  WALK walk;
  walk.elements = rows_of(row_length);
  walk.loads = rows_of(0);
  walk.head = head;
  walk.cached = 0;
#else
  GLOBAL const uint4* data = (GLOBAL const uint4*)(bytes + offset);
#endif
  const ulong vectors = count / PER_VECTOR;
  const uint shares = (uint)(vectors / (TILE * STEPS));
  uint share = group_id();
  uint next = share + group_count();
  const int more = shares > 2 * group_count();
  uint4 loaded[LOADS];
  if (share < shares) LOAD_TILE(loaded, share * STEPS);  // in flight while counters are cleared
  // Local memory: thresholds, trie, counters, two tile numbers, four words on hot slots or samples counted by work-items; the
  // candidates.
#if EDGES_LOCAL
  LOCAL Key* local_thresholds = (LOCAL Key*)memory;
  LOCAL uint* local_trie = memory + threshold_count * (sizeof(Key) / 4);
  LOCAL uint* counters = local_trie + trie_words;
  for (uint i = local_id(); i < threshold_count; i += GROUP_SIZE) local_thresholds[i] = thresholds[i];
  for (uint i = local_id(); i < trie_words; i += GROUP_SIZE) local_trie[i] = trie[i];
#else
  LOCAL uint* counters = memory;
#endif
  Plan values;
#if EDGES_LOCAL
  values.thresholds = local_thresholds;
  values.trie = local_trie;
#else
  values.thresholds = thresholds;
  values.trie = trie;
#endif
  values.threshold_count = threshold_count;
  values.nan_slot = slots - 1;
  values.upper = ((slots + 1) / 2 + 31) & ~31u;
  values.shift = shift;
  values.one = one;
#if HOT && SAMPLE_TYPE == 1
  values.lane = opaque(UPPER * 4 | 128 | local_id() % 32 * 4);
#endif
  values.first = first;
  values.span = span;
  values.flip = flip;
  values.low = low;
  values.scale = scale;
  values.top = top;
  values.tolerance = tolerance;
  values.last_tolerance = last_tolerance;
  values.high = high;
  const Plan* plan = &values;
  LOCAL uint* drawn = counters + COUNTER_WORDS;
#if HOT
  LOCAL Found* found = (LOCAL Found*)(drawn + 2);
#endif
  for (uint i = local_id(); i < COUNTER_WORDS; i += GROUP_SIZE) counters[i] = 0;
  for (uint i = local_id(); i < 4; i += GROUP_SIZE) drawn[2 + i] = 0;
  for (ulong i = global_id(); i < spare_slots; i += global_size()) spare[i] = 0;
  barrier_local();

#if COUNTERS == 0 || PAIRED
  LOCAL uint* mine = counters + opaque(local_id() & (COPIES - 1));  // else compilers combine it with the bits of each slot
#else
  LOCAL uint* mine = counters;
#endif
  LOCAL uint* of_loads = SAMPLE_TYPE == 0 ? counters : mine;  // of bytes, set_channels() adds the work-item's copy
  Watch watch;
#if COUNTERS == 1 && !PAIRED
  const Watch nothing = {0};
  watch = nothing;
#elif COUNTERS == 2
  watch.under = watch.over = watch.nan = watch.in_hot = 0;
  watch.hot = NO_SLOT;
#if SAMPLE_TYPE != 0
  if (share < shares) {
    uint slots_of_first[PER_VECTOR];
    slots_of(plan, loaded[0], slots_of_first);
    find_frequent(plan, counters, drawn + 6, slots_of_first, &watch);
  }
#endif
#else
  watch = 0;
#endif
#if HOT
  // Inspects samples from all over the data, but on few pages of memory: each sub-group reads another part, next to those of other groups.
  const int enough = shares >= group_count();
  uint4 sample = make_uint4(0, 0, 0, 0);
  if (enough) sample = LOAD(local_id() / 32 * (vectors / ((GROUP_SIZE + 31) / 32)) + group_id() * 32 + local_id() % 32);
  const int hot = find_hot(&values, counters, sample, enough, found);
#endif
  uint turn = 0, unpassed = 0;
  while (share < shares) {
    uint ticket = 0;
    if (more && local_id() == 0) ticket = atomic_ticket_global32(&counts[slots]);
    for (uint step = 0; step < STEPS; ++step) {
      const uint tile = share * STEPS + step;
#if SAMPLE_TYPE == 0  // with three channels, load n begins with channel n % 3
      set_channels(&values, CHANNELS == 3 ? (tile % 3 * (TILE % 3) + local_id() % 3) % 3 : 0);
#endif
      uint4 counted[LOADS];
      _Pragma("unroll") for (uint k = 0; k < LOADS; ++k) counted[k] = loaded[k];
#if AHEAD
      if (step + 1 < STEPS) {
        LOAD_TILE(loaded, tile + 1);
      } else if (next < shares) {
        LOAD_TILE(loaded, next * STEPS);
      }
#endif
#if HOT
      if (hot == ALONE) {
#if SAMPLE_TYPE != 1
        set_alone(&values, found);  // reloaded from local memory to save registers
#endif
        _Pragma("unroll") for (uint k = 0; k < LOADS; ++k) add_vector(plan, mine, counts, counted[k], 0, &watch, ALONE);
        continue;
      }
#endif
#if HOT
      if (hot == TAGGED) {
        _Pragma("unroll") for (uint k = 0; k < LOADS; ++k) add_vector(plan, mine, counts, counted[k], 0, &watch, TAGGED);
        continue;
      }
#endif
      _Pragma("unroll") for (uint k = 0; k < LOADS; ++k) {
        add_vector(plan, of_loads, counts, counted[k], CHANNELS == 3 ? k * (GROUP_SIZE % 3) : 0, &watch, 0);
      }
    }
    if (local_id() == 0) drawn[turn] = ticket - drawn_before + 2 * group_count();
    barrier_local();
#if PAIRED
    if (++unpassed >= TILES_BETWEEN) {
      pass_on(plan, counters, counts, slots);
      unpassed = 0;
      barrier_local();
    }
#endif
    share = next;
    next = more ? drawn[turn] : shares;
    turn ^= 1;
#if !AHEAD
    if (share < shares) LOAD_TILE(loaded, share);
#endif
  }
  for (ulong i = (ulong)shares * (TILE * STEPS) + global_id(); i < vectors; i += global_size()) {
#if SAMPLE_TYPE == 0
    set_channels(&values, CHANNELS == 3 ? (uint)(i % 3) : 0);
#endif
    add_vector(plan, of_loads, counts, LOAD(i), 0, &watch, 0);
  }
#if COUNTERS == 1 && !PAIRED
  look(plan, mine, counts, &watch, 0);
#endif
  barrier_local();
  // The samples after the last whole vector, then those before the first.
  for (ulong i = vectors * PER_VECTOR + global_id(); i < count + head; i += global_size()) {
    const long place = i < count ? (long)i : (long)(count - 1) - (long)i;
#if SAMPLE_TYPE == 0
    add_byte(plan, mine, counts, i < count ? (uint)(i % CHANNELS) : 0, (uint)SAMPLE(place));
#else
    add(plan, mine, counts, SLOT(SAMPLE(place)), 1);
#endif
  }
#if COUNTERS == 2
  if (watch.under != 0) atomic_add_local32(&drawn[2], watch.under);
  if (watch.over != 0) atomic_add_local32(&drawn[3], watch.over);
  if (watch.nan != 0) atomic_add_local32(&drawn[4], watch.nan);
  if (watch.in_hot != 0) atomic_add_local32(&drawn[5], watch.in_hot);
  barrier_local();
  for (uint i = local_id(); i < 4; i += GROUP_SIZE) {
    if (drawn[2 + i] != 0) atomic_add_global32(&counts[i == 0 ? 0 : i == 3 ? watch.hot : slots - 3 + i], drawn[2 + i]);
  }
  for (uint i = local_id(); i < NEAR_SLOTS; i += GROUP_SIZE) {
    if (counters[i] != 0) atomic_add_global32(&counts[NEAR_TAGS(counters)[i]], counters[i]);
  }
#else
  barrier_local();
  pass_on(plan, counters, counts, slots);
#endif
}

// Clears the counts and the tile counter.
KERNEL void histogram_clear(GLOBAL uchar* bytes, ulong offset, uint words) {
  GLOBAL uint* counts = (GLOBAL uint*)(bytes + offset);
  for (ulong i = global_id(); i < words; i += global_size()) counts[i] = 0;
}

// Writes the counts as 64-bit numbers, for consumers on the device. Where patterns were counted instead of slots, `slot_of` maps each
// pattern to its slot, and `result` has been cleared.
KERNEL void histogram_export(GLOBAL const uint* counts, uint count, GLOBAL const uint* slot_of, GLOBAL uchar* to, ulong offset) {
  GLOBAL ulong* result = (GLOBAL ulong*)(to + offset);
  for (ulong i = global_id(); i < count; i += global_size()) {
#if SAMPLE_TYPE < 2 && SAMESUM_INT64_ATOMICS
    if (counts[i] != 0) atomic_add_global64(&result[slot_of[i]], counts[i]);
#elif SAMPLE_TYPE >= 2
    result[i] = counts[i];
#endif
  }
}
