// Counts the samples of each slot (plan.hpp). Every sample is one atomic addition, without a branch on the data that is often taken.
// Defined by the host:
//   ELEMENT          0 uint8, 1 uint16, 2 integers of 32 bits, 3 of 64, 4 float, 5 double
//   GUESS            0 the sample is the slot, 1 Even, 2 Trie by key, 3 Trie by value: thresholds are values then, no keys
//   COUNTERS         0 in local memory, 32 bits, several copies; 1 in local memory, 16 bits; 2 in global memory
//   CHANNELS         of uint8: bytes take turns; channel c has slots c * 256 ...
//   COPY_BITS        there are 2^COPY_BITS copies of local counters: work-item i adds to copy i % copies, so that few lanes of a
//                    sub-group meet in one bank, whatever the data
//   EDGES_LOCAL      thresholds and trie are copied into local memory
//   AHEAD            the next tile is loaded while one is counted: where a compute unit has one group only
//   GROUP_SIZE, RESIDENT, LOADS (of 16 bytes, in flight)

#if ELEMENT == 3 || ELEMENT == 5
typedef ulong Key;
#define PER_VECTOR 2
#else
typedef uint Key;
#define PER_VECTOR (ELEMENT == 0 ? 16 : ELEMENT == 1 ? 8 : 4)
#endif
#if ELEMENT == 5 && SAMESUM_FP64
typedef double Real;
#define ROUNDER 6755399441055744.0  // 1.5 * 2^52: what is added to it is rounded to a whole number, which the lowest bits then are
#define WHOLE(shifted) (uint) as_ulong(shifted)
#define SIGN(x) (uint)(as_ulong(x) >> 63)
#else
typedef float Real;
#define ROUNDER 12582912.0f  // 1.5 * 2^23
#define WHOLE(shifted) (as_uint(shifted) - 0x4b400000u)
#define SIGN(x) (as_uint(x) >> 31)
#endif
#if EDGES_LOCAL
#define EDGES LOCAL
#else
#define EDGES GLOBAL
#endif
#define COPIES (1u << COPY_BITS)

typedef struct {
  EDGES const Key* thresholds;
  EDGES const uint* trie;
  uint threshold_count, nan_slot, upper, shift;
  Key first, span, flip;
  Real low, scale, top, tolerance, last_tolerance;
} Plan;

#if GUESS != 0
#if ELEMENT == 2 || ELEMENT == 3
FN int is_nan(Key bits) { return 0; }
FN Key key_of(const Plan* plan, Key bits) { return bits ^ plan->flip; }
#elif ELEMENT == 4
FN int is_nan(Key bits) { return (bits & 0x7fffffffu) > 0x7f800000u; }
FN Key key_of(const Plan* plan, Key bits) { return bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u); }
#else
FN int is_nan(Key bits) { return (bits << 1) > 0xffe0000000000000ul; }
FN Key key_of(const Plan* plan, Key bits) { return bits ^ ((bits >> 63) != 0 ? ~(Key)0 : (Key)1 << 63); }
#endif

#if GUESS == 1 || GUESS == 3
FN Real real_of(const Plan* plan, Key bits) {
#if ELEMENT == 4
  return (as_float(bits) - plan->low) * plan->scale;
#elif ELEMENT == 5
  return (as_double(bits) - plan->low) * plan->scale;
#else
  Key key = bits ^ plan->flip;
  return (key < plan->first ? -1.0f : (float)(key - plan->first)) * plan->scale;
#endif
}
#endif

// Whether the sample is not below this threshold.
FN int reaches(const Plan* plan, Key bits, uint threshold) {
#if GUESS == 3
  return as_float(bits) >= as_float(plan->thresholds[threshold]);
#else
  return key_of(plan, bits) >= plan->thresholds[threshold];
#endif
}

#if GUESS == 1
typedef struct {
  uint edge;
  Real off;   // from it
  Real last;  // from the last edge
} Place;
FN Place place_of(const Plan* plan, Key bits) {
  Real real = fmin(fmax(real_of(plan, bits), (Real)-0.5f), plan->top);
  Real shifted = real + ROUNDER;
  Place place;
  place.edge = WHOLE(shifted);
  place.off = real - (shifted - ROUNDER);
  place.last = real - (plan->top - (Real)0.5f);
  return place;
}
FN uint guess_of(Place place) { return place.edge + 1 - SIGN(place.off); }  // which is never -0.0
// Without a guess: by a look at the nearest edge.
FN uint slot_of(const Plan* plan, Key bits) {
  uint edge = min_u32(place_of(plan, bits).edge, plan->threshold_count - 1);
  uint slot = edge + (reaches(plan, bits, edge) ? 1u : 0u);
  return is_nan(bits) ? plan->nan_slot : slot;
}
#else
// The word that the search begins with; and the rest of it.
FN Key offset_of(const Plan* plan, Key bits) {
  Key key = key_of(plan, bits);
  Key offset = key < plan->first ? 0 : key - plan->first;
  return offset < plan->span ? offset : plan->span;
}
FN uint root_of(const Plan* plan, Key bits) {
#if GUESS == 2
  return plan->trie[(uint)(offset_of(plan, bits) >> plan->shift)];
#else
  return plan->trie[WHOLE(fmin(fmax(real_of(plan, bits), 0.0f), plan->top) + ROUNDER)];
#endif
}
FN uint slot_from(const Plan* plan, Key bits, uint word) {
  while (word >> 31 != 0) word = plan->trie[((uint)(offset_of(plan, bits) >> (word >> 25 & 63)) - word) & 0x1ffffff];
  uint low = word & 0x1ffffff;
  // Nearly all leaves have one threshold, or none.
  if (word >> 25 == 1) low += reaches(plan, bits, low) ? 1 : 0;
  if (word >> 25 > 1) {
    uint high = word >> 25 == 63 ? plan->threshold_count : low + (word >> 25);
    while (low < high) {
      uint middle = (low + high) >> 1;
      int reached = reaches(plan, bits, middle);
      low = reached ? middle + 1 : low;
      high = reached ? high : middle;
    }
  }
  return low;
}
FN uint slot_of(const Plan* plan, Key bits) {
  if (is_nan(bits)) return plan->nan_slot;
  return slot_from(plan, bits, root_of(plan, bits));
}
#endif
#endif

#if GUESS == 0
#define SLOT(bits) (uint)(bits)
#else
#define SLOT(bits) slot_of(plan, bits)
#endif

// Adds `number` samples to a slot.
#if COUNTERS == 0
#define COUNTER_WORDS ((ulong)slots << COPY_BITS)
FN void add(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint slot, uint number) {
  atomic_add_local32(&counters[slot << COPY_BITS], number);
}
#elif COUNTERS == 1
// Slots i and i + upper share a word, so that neighbours do not: its lower half counts samples of both, its upper half those of the second.
// Words with the same lower bits are spread over the banks, as samples often differ in other bits only. Whoever makes a half reach 2^15
// takes so much out of it before the next barrier; until then at most 2^15 are added.
#if ELEMENT == 1
#define UPPER 32768u
#define SPREAD(pairs) ((pairs) ^ (((pairs) >> 8 ^ (pairs) >> 6) & 0x001f001fu))  // of one, or of two in the halves of a word
#else
#define UPPER plan->upper
#define SPREAD(pair) ((pair) ^ ((pair) >> 6 & 31))
#endif
#define COUNTER_WORDS UPPER
FN uint word_of(const Plan* plan, uint slot) {
  uint pair = slot < UPPER ? slot : slot - UPPER;
  return SPREAD(pair);
}
FN uint add_narrow(const Plan* plan, LOCAL uint* counters, uint slot, uint number) {
  return atomic_add_local32(&counters[word_of(plan, slot)], slot < UPPER ? number : number * 0x10001u);
}
// Of a slot of which a half may have reached 2^15. Whoever clears the bit moves what it stood for.
FN void take_out(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint slot) {
  LOCAL uint* word = &counters[word_of(plan, slot)];
  if ((*word & 0x80008000u) == 0) return;
  uint pair = slot < UPPER ? slot : slot - UPPER;
  uint old = atomic_and_local32(word, 0x7fff7fffu);
  uint both = old & 0x8000u, second = old >> 16 & 0x8000u;
  if (both != second) atomic_add_global32(&counts[pair], both - second);
  if (second != 0) atomic_add_global32(&counts[pair + UPPER], second);
}
FN void add(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint slot, uint number) {
  add_narrow(plan, counters, slot, number);
  take_out(plan, counters, counts, slot);
}
#else
#define COUNTER_WORDS 0
FN void add(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint slot, uint number) { atomic_add_global32(&counts[slot], number); }
#endif

#if COUNTERS == 1
// A load's additions, of which nobody has seen yet what they returned: that is looked at when the next load's are on their way.
typedef struct {
  uint number;  // what was added to each of the counters
  uint old[PER_VECTOR];
  uint slots[PER_VECTOR];
} Watch;

FN void look(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, const Watch* watch) {
  // Adding to both halves: where one was not added to, its highest bit changes rarely, and then to no harm.
  uint changed = 0;
  _Pragma("unroll") for (uint i = 0; i < PER_VECTOR; ++i) changed |= watch->old[i] ^ (watch->old[i] + watch->number * 0x10001u);
  if ((changed & 0x80008000u) != 0) {
    _Pragma("unroll") for (uint i = 0; i < PER_VECTOR; ++i) take_out(plan, counters, counts, watch->slots[i]);
  }
}
#else
typedef int Watch;
#endif

#if ELEMENT != 0
// The samples of a load, and their slots.
#if ELEMENT == 1
FN void samples_of(uint4 vector, uint* samples) {
#define SET_SAMPLES(word, i) samples[i] = (word)&65535, samples[i + 1] = (word) >> 16
  SET_SAMPLES(vector.x, 0);
  SET_SAMPLES(vector.y, 2);
  SET_SAMPLES(vector.z, 4);
  SET_SAMPLES(vector.w, 6);
}
#elif PER_VECTOR == 4
FN void samples_of(uint4 vector, uint* samples) {
  samples[0] = vector.x;
  samples[1] = vector.y;
  samples[2] = vector.z;
  samples[3] = vector.w;
}
#else
FN void samples_of(uint4 vector, ulong* samples) {
  samples[0] = (ulong)vector.y << 32 | vector.x;
  samples[1] = (ulong)vector.w << 32 | vector.z;
}
#endif

FN void slots_of(const Plan* plan, uint4 vector, uint* slots) {
#if GUESS == 0
  samples_of(vector, slots);
#else
  Key bits[PER_VECTOR];
  samples_of(vector, bits);
  // What nearly no sample needs is asked once for all of them: is any near an edge, or not a number?
#if ELEMENT == 4
  float nans = 0;
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) nans += as_float(bits[k]);
  int unsure = nans != nans;
#elif ELEMENT == 5
  int unsure = is_nan(bits[0]) || is_nan(bits[1]);
#else
  int unsure = 0;
#endif
#if GUESS == 1
  Real nearest = 1, last = 1;
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) {
    Place place = place_of(plan, bits[k]);
    slots[k] = guess_of(place);
    nearest = fmin(nearest, fabs(place.off));
    last = fmin(last, fabs(place.last));
  }
  unsure |= nearest < plan->tolerance || last < plan->last_tolerance;
#else
  if (!unsure) {  // not for NaNs: their cell by value need not be that of their key
    uint words[PER_VECTOR];
    _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) words[k] = root_of(plan, bits[k]);
    _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) slots[k] = slot_from(plan, bits[k], words[k]);
  }
#endif
  if (unsure) {
    _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) slots[k] = slot_of(plan, bits[k]);
  }
#endif
}
#endif

#if ELEMENT == 1 && COUNTERS == 1
// Two samples in few instructions, as there is hardly time for more.
FN void add_two(LOCAL uint* counters, uint word, uint* old0, uint* old1) {
  const uint pairs = SPREAD(word);
  *old0 = atomic_add_local32(&counters[pairs & 0x7fff], (word & 0x8000) * 2 + 1);
  *old1 = atomic_add_local32(&counters[pairs >> 16 & 0x7fff], (word >> 31) * 0x10000 + 1);
}
#endif

// `phase` is the load's number, of which the remainder by 3 counts.
FN void add_vector(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint4 vector, uint phase, Watch* watch) {
#if ELEMENT == 0
#if CHANNELS == 3
  // Of 16 bytes a vector; 16 % 3 is 1.
  uint c0 = phase % 3 * 256, c1 = c0 == 512 ? 0 : c0 + 256, c2 = c0 == 0 ? 512 : c0 - 256;
#define CHANNEL(k) ((k) % 3 == 0 ? c0 : (k) % 3 == 1 ? c1 : c2)
#else
#define CHANNEL(k) ((k) % CHANNELS * 256)
#endif
#define ADD_WORD(word, k)                                                         \
  add(plan, counters, counts, ((word)&255) + CHANNEL(k), 1);                      \
  add(plan, counters, counts, ((word) >> 8 & 255) + CHANNEL(k + 1), 1);           \
  add(plan, counters, counts, ((word) >> 16 & 255) + CHANNEL(k + 2), 1);          \
  add(plan, counters, counts, ((word) >> 24) + CHANNEL(k + 3), 1)
  ADD_WORD(vector.x, 0);
  ADD_WORD(vector.y, 4);
  ADD_WORD(vector.z, 8);
  ADD_WORD(vector.w, 12);
#else
  uint slots[PER_VECTOR];
  slots_of(plan, vector, slots);
#if ELEMENT == 1
  int same = vector.x == vector.y && vector.x == vector.z && vector.x == vector.w && slots[0] == slots[1];
#else
  int same = 1;
  _Pragma("unroll") for (uint k = 1; k < PER_VECTOR; ++k) same &= slots[k] == slots[0];
#endif
#if COUNTERS == 0
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) add(plan, counters, counts, slots[k], 1);
#elif COUNTERS == 1
  const Watch before = *watch;
  watch->number = same ? PER_VECTOR : 1;
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) watch->slots[k] = slots[k];
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) watch->old[k] = 0;
  if (same) {
    watch->old[0] = add_narrow(plan, counters, slots[0], PER_VECTOR);
  } else {
#if ELEMENT == 1
    add_two(counters, vector.x, &watch->old[0], &watch->old[1]);
    add_two(counters, vector.y, &watch->old[2], &watch->old[3]);
    add_two(counters, vector.z, &watch->old[4], &watch->old[5]);
    add_two(counters, vector.w, &watch->old[6], &watch->old[7]);
#else
    _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) watch->old[k] = add_narrow(plan, counters, slots[k], 1);
#endif
  }
  look(plan, counters, counts, &before);
#else
  add(plan, counters, counts, slots[0], same ? PER_VECTOR : 1);
  if (!same) {
    _Pragma("unroll") for (uint k = 1; k < PER_VECTOR; ++k) add(plan, counters, counts, slots[k], 1);
  }
#endif
#endif
}

#if ELEMENT == 0
typedef uchar Sample;
#elif ELEMENT == 1
typedef ushort Sample;
#else
typedef Key Sample;
#endif

#define TILE (GROUP_SIZE * LOADS)  // loads that a group counts in one go

FN void load_tile(uint4* loaded, GLOBAL const uint4* data, uint tile, uint tiles) {
  if (tile >= tiles) return;
  _Pragma("unroll") for (uint k = 0; k < LOADS; ++k) loaded[k] = load_once(&data[(ulong)tile * TILE + k * GROUP_SIZE + local_id()]);
}

// Samples that lie `stride` bytes apart, the first at byte `offset`, one after the other.
KERNEL void histogram_pack(GLOBAL const uchar* from, ulong offset, long stride, ulong count, GLOBAL Sample* to) {
  for (ulong i = global_id(); i < count; i += global_size()) to[i] = *(GLOBAL const Sample*)(from + offset + (long)i * stride);
}

// The data begin at byte `offset`, a multiple of 16. `spare` are counters for the next histogram: they are cleared by the way, which a launch of its own would take microseconds for.
//
// Groups draw their tiles one by one, in the order of memory: reading stays in step all over the device, and no group waits for a slower
// one. What counts them is the word after the counts; it was at `drawn_before` when the kernel was launched.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT) void histogram_count(GLOBAL const uchar* bytes, ulong offset, ulong count,
                                                              GLOBAL uint* counts, uint slots,
                                                              uint drawn_before, GLOBAL uint* spare, uint spare_slots,
                                                              GLOBAL const Key* thresholds, uint threshold_count,
                                                              GLOBAL const uint* trie, uint trie_words, uint shift, Key first,
                                                              Key span, Key flip,
                                                              Real low, Real scale, Real top, Real tolerance,
                                                              Real last_tolerance DYNLOCAL_PARAMETER(memory)) {
  DYNLOCAL(memory);
  GLOBAL const uint4* data = (GLOBAL const uint4*)(bytes + offset);
  const ulong vectors = count / PER_VECTOR;
  const uint tiles = (uint)(vectors / TILE);
  uint tile = group_id();
  uint next = tile + group_count();
  const int more = tiles > 2 * group_count();
  uint4 loaded[LOADS];
  load_tile(loaded, data, tile, tiles);  // on its way while counters are cleared
  // Local memory: two numbers of tiles, thresholds, trie, counters.
  LOCAL uint* drawn = memory;
#if EDGES_LOCAL
  LOCAL Key* local_thresholds = (LOCAL Key*)(memory + 4);
  LOCAL uint* local_trie = memory + 4 + threshold_count * (sizeof(Key) / 4);
  LOCAL uint* counters = local_trie + trie_words;
  for (uint i = local_id(); i < threshold_count; i += GROUP_SIZE) local_thresholds[i] = thresholds[i];
  for (uint i = local_id(); i < trie_words; i += GROUP_SIZE) local_trie[i] = trie[i];
#else
  LOCAL uint* counters = memory + 4;
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
  values.first = first;
  values.span = span;
  values.flip = flip;
  values.low = low;
  values.scale = scale;
  values.top = top;
  values.tolerance = tolerance;
  values.last_tolerance = last_tolerance;
  const Plan* plan = &values;
#if COUNTERS != 2
  for (uint i = local_id(); i < COUNTER_WORDS; i += GROUP_SIZE) counters[i] = 0;
#endif
  for (ulong i = global_id(); i < spare_slots; i += global_size()) spare[i] = 0;
  barrier_local();

#if COUNTERS == 0
  LOCAL uint* mine = counters + (local_id() & (COPIES - 1));
#else
  LOCAL uint* mine = counters;
#endif
  Watch watch;
#if COUNTERS == 1
  const Watch nothing = {0};
  watch = nothing;
#else
  watch = 0;
#endif
  uint turn = 0;
  while (tile < tiles) {
    uint4 counted[LOADS];
    _Pragma("unroll") for (uint k = 0; k < LOADS; ++k) counted[k] = loaded[k];
    uint ticket = 0;
    if (more && local_id() == 0) ticket = atomic_ticket_global32(&counts[slots]);
#if AHEAD
    load_tile(loaded, data, next, tiles);
#endif
    const uint phase = tile % 3 * (TILE % 3) + local_id();
    _Pragma("unroll") for (uint k = 0; k < LOADS; ++k) add_vector(plan, mine, counts, counted[k], phase + k * GROUP_SIZE, &watch);
#if COUNTERS == 1
    look(plan, mine, counts, &watch);
    watch = nothing;
#endif
    if (local_id() == 0) drawn[turn] = ticket - drawn_before + 2 * group_count();
    barrier_local();
    tile = next;
    next = more ? drawn[turn] : tiles;
    turn ^= 1;
#if !AHEAD
    load_tile(loaded, data, tile, tiles);
#endif
  }
  for (ulong i = (ulong)tiles * TILE + global_id(); i < vectors; i += global_size()) {
    add_vector(plan, mine, counts, data[i], (uint)(i % 3), &watch);
  }
#if COUNTERS == 1
  look(plan, mine, counts, &watch);
#endif
  barrier_local();
  ulong last = vectors * PER_VECTOR + global_id();
  if (last < count) {
    uint channel = ELEMENT == 0 ? (uint)(last % CHANNELS) * 256 : 0;
    add(plan, mine, counts, channel + SLOT(((GLOBAL const Sample*)data)[last]), 1);
  }
  barrier_local();

  // Groups begin in different places, or all of them would wait for the same counter.
  const uint begin = (group_id() * GROUP_SIZE % slots) & ~31u;
  for (uint i = local_id(); i < slots; i += GROUP_SIZE) {
    const uint slot = i < slots - begin ? i + begin : i - (slots - begin);
#if COUNTERS == 0
    uint number = 0;
    for (uint copy = 0; copy < COPIES; ++copy) number += counters[(slot << COPY_BITS) + ((local_id() + copy) & (COPIES - 1))];
#elif COUNTERS == 1
    const uint word = counters[word_of(plan, slot)];
    const uint number = slot < UPPER ? (word & 65535) - (word >> 16) : word >> 16;
#else
    const uint number = 0;
#endif
    if (number != 0) atomic_add_global32(&counts[slot], number);
  }
}

// Of the counts, and of the number of tiles drawn.
KERNEL void histogram_clear(GLOBAL uint* counts, uint words) {
  for (ulong i = global_id(); i < words; i += global_size()) counts[i] = 0;
}
