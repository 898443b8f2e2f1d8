// Counts the samples of each slot (plan.hpp). Every sample is one atomic addition, without a branch on the data that is often taken.
// Defined by the host:
//   ELEMENT          0 uint8, 1 uint16, 2 integers of 32 bits, 3 of 64, 4 float, 5 double
//   GUESS            0 the sample is the slot, 1 Even, 2 Fixed, 3 Trie by key, 4 Trie by value
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
#if GUESS == 2
typedef double Real;
#else
typedef float Real;
#endif
#define ROUNDER 12582912.0f      // 1.5 * 2^23: what is added to it is rounded to a whole number, which the lowest bits then are
#define FIXED_BITS 26            // of a fraction
#define FIXED_ROUNDER 100663296.0  // 1.5 * 2^26: likewise, to a multiple of 2^-FIXED_BITS
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
  Real low, scale, bottom, top, tolerance;
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

#if GUESS == 1 || GUESS == 4
FN float real_of(const Plan* plan, Key bits) {
#if ELEMENT == 4
  return (as_float(bits) - plan->low) * plan->scale;
#else
  Key key = bits ^ plan->flip;
  return (key < plan->first ? -1.0f : (float)(key - plan->first)) * plan->scale;
#endif
}
#endif

// Of the guess, all that comes before a look at an edge.
#if GUESS == 1
typedef struct {
  uint edge;
  float off;  // from it
} Place;
FN Place place_of(const Plan* plan, Key bits) {
  float real = fmin(fmax(real_of(plan, bits), -0.5f), plan->top);
  float shifted = real + ROUNDER;
  Place place;
  place.edge = as_uint(shifted) - 0x4b400000u;
  place.off = real - (shifted - ROUNDER);
  return place;
}
FN uint guess_of(Place place) { return place.edge + 1 - (as_uint(place.off) >> 31); }  // never -0.0
FN uint slot_of(const Plan* plan, Key bits) {
  Place place = place_of(plan, bits);
  if (is_nan(bits)) return plan->nan_slot;
  if (!(fabs(place.off) < plan->tolerance)) return guess_of(place);
  return place.edge + (key_of(plan, bits) >= plan->thresholds[place.edge] ? 1u : 0u);
}
#elif GUESS == 2
typedef ulong Place;
FN Place place_of(const Plan* plan, Key bits) {
#if ELEMENT == 4
  double sample = (double)fmin(fmax(as_float(bits), (float)plan->bottom), (float)plan->top);
#else
  double sample = fmin(fmax(as_double(bits), plan->bottom), plan->top);
#endif
  return as_ulong((sample - plan->low) * plan->scale + FIXED_ROUNDER) - as_ulong(FIXED_ROUNDER);
}
FN uint guess_of(Place place) { return (uint)(place >> FIXED_BITS) + 1; }
// Less than twice the tolerance near an edge.
FN uint beyond_edge(const Plan* plan, Place place) { return ((uint)place + (uint)plan->tolerance) & ((1u << FIXED_BITS) - 1); }
FN uint slot_of(const Plan* plan, Key bits) {
  Place place = place_of(plan, bits);
  uint edge = (uint)((place + (1u << (FIXED_BITS - 1))) >> FIXED_BITS);
  if (is_nan(bits)) return plan->nan_slot;
  if (beyond_edge(plan, place) >= 2 * (uint)plan->tolerance || edge >= plan->threshold_count) return guess_of(place);
  return edge + (key_of(plan, bits) >= plan->thresholds[edge] ? 1u : 0u);
}
#else
// The word that the search begins with; and the rest of it.
FN Key offset_of(const Plan* plan, Key bits) {
  Key key = key_of(plan, bits);
  Key offset = key < plan->first ? 0 : key - plan->first;
  return offset < plan->span ? offset : plan->span;
}
FN uint root_of(const Plan* plan, Key bits) {
#if GUESS == 3
  return plan->trie[(uint)(offset_of(plan, bits) >> plan->shift)];
#else
  return plan->trie[as_uint(fmin(fmax(real_of(plan, bits), 0.0f), plan->top) + ROUNDER) - 0x4b400000u];
#endif
}
FN uint slot_from(const Plan* plan, Key bits, uint word) {
  while (word >> 31 != 0) word = plan->trie[((uint)(offset_of(plan, bits) >> (word >> 25 & 63)) - word) & 0x1ffffff];
  Key key = key_of(plan, bits);
  uint low = word & 0x1ffffff;
  uint high = word >> 25 == 63 ? plan->threshold_count : low + (word >> 25);
  while (low < high) {
    uint middle = (low + high) >> 1;
    int reached = key >= plan->thresholds[middle];
    low = reached ? middle + 1 : low;
    high = reached ? high : middle;
  }
  return is_nan(bits) ? plan->nan_slot : low;
}
FN uint slot_of(const Plan* plan, Key bits) { return slot_from(plan, bits, root_of(plan, bits)); }
#endif
#endif

// Adds `number` samples to a slot.
#if COUNTERS == 0
#define COUNTER_WORDS ((ulong)slots << COPY_BITS)
FN void add(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint slot, uint number) {
  atomic_add_local32(&counters[slot << COPY_BITS], number);
}
#elif COUNTERS == 1
// Slots i and i + upper share a word, so that neighbours do not; and words with the same lower bits are spread over the banks, as samples
// often differ in other bits only. Whoever makes a counter reach 2^15 takes so many out of it: `reached` is not zero then. Until all have
// done so, at the next barrier, at most 2^15 are added.
#define COUNTER_WORDS plan->upper
FN uint word_of(const Plan* plan, uint slot) {
  uint pair = slot < plan->upper ? slot : slot - plan->upper;
  return pair ^ (pair >> 8 & 31);
}
FN uint add_some(const Plan* plan, LOCAL uint* counters, uint slot, uint number) {
  uint shift = slot < plan->upper ? 0 : 16;
  uint more = number << shift;
  uint old = atomic_add_local32(&counters[word_of(plan, slot)], more);
  return (old ^ (old + more)) & (0x8000u << shift);
}
FN void take_out(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint slot, uint reached) {
  if (reached == 0) return;
  atomic_add_local32(&counters[word_of(plan, slot)], 0u - reached);
  atomic_add_global32(&counts[slot], 0x8000u);
}
FN void add(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint slot, uint number) {
  take_out(plan, counters, counts, slot, add_some(plan, counters, slot, number));
}
#else
#define COUNTER_WORDS 0
FN void add(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint slot, uint number) { atomic_add_global32(&counts[slot], number); }
#endif

// Adds the samples of a load. Additions whose results matter are all on their way before one is looked at.
FN void add_all(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, const uint* slots, uint number) {
#if COUNTERS != 0
  int same = 1;
  _Pragma("unroll") for (uint i = 1; i < number; ++i) same &= slots[i] == slots[0];
  if (same) {
    add(plan, counters, counts, slots[0], number);
    return;
  }
#endif
#if COUNTERS == 1
  uint reached[PER_VECTOR];
  uint any = 0;
  _Pragma("unroll") for (uint i = 0; i < number; ++i) {
    reached[i] = add_some(plan, counters, slots[i], 1);
    any |= reached[i];
  }
  if (any != 0) {
    _Pragma("unroll") for (uint i = 0; i < number; ++i) take_out(plan, counters, counts, slots[i], reached[i]);
  }
#else
  _Pragma("unroll") for (uint i = 0; i < number; ++i) add(plan, counters, counts, slots[i], 1);
#endif
}

#if GUESS == 0
#define SLOT(bits) (uint)(bits)
#else
#define SLOT(bits) slot_of(plan, bits)
#endif

// `phase` is the load's number, of which the remainder by 3 counts.
FN void add_vector(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint4 vector, uint phase) {
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
#if ELEMENT == 1
#define SET_SLOTS(word, i) slots[i] = (word)&65535, slots[i + 1] = (word) >> 16
  SET_SLOTS(vector.x, 0);
  SET_SLOTS(vector.y, 2);
  SET_SLOTS(vector.z, 4);
  SET_SLOTS(vector.w, 6);
#else
  Key bits[PER_VECTOR];
#if PER_VECTOR == 4
  bits[0] = vector.x;
  bits[1] = vector.y;
  bits[2] = vector.z;
  bits[3] = vector.w;
#else
  bits[0] = (ulong)vector.y << 32 | vector.x;
  bits[1] = (ulong)vector.w << 32 | vector.z;
#endif
#if GUESS >= 3
  uint roots[PER_VECTOR];
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) roots[k] = root_of(plan, bits[k]);
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) slots[k] = slot_from(plan, bits[k], roots[k]);
#else
  // One question for all: is any near an edge, or not a number?
#if GUESS == 1
  float nearest = 1;
#else
  uint nearest = 0xffffffffu;
#endif
#if ELEMENT == 4
  float nans = 0;
#elif ELEMENT == 5
  double nans = 0;
#else
  int nans = 0;
#endif
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) {
    Place place = place_of(plan, bits[k]);
    slots[k] = guess_of(place);
#if GUESS == 1
    nearest = fmin(nearest, fabs(place.off));
#else
    nearest = min_u32(nearest, beyond_edge(plan, place));
#endif
#if ELEMENT == 4
    nans += as_float(bits[k]);
#elif ELEMENT == 5
    nans += as_double(bits[k]);
#endif
  }
#if GUESS == 1
  if (nearest < plan->tolerance || nans != nans) {
#else
  if (nearest < 2 * (uint)plan->tolerance || nans != nans) {
#endif
    uint careful[PER_VECTOR];
    _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) careful[k] = slot_of(plan, bits[k]);
    add_all(plan, counters, counts, careful, PER_VECTOR);
    return;
  }
#endif
#endif
  add_all(plan, counters, counts, slots, PER_VECTOR);
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
                                                              Real low, Real scale, Real bottom, Real top,
                                                              Real tolerance DYNLOCAL_PARAMETER(memory)) {
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
  values.bottom = bottom;
  values.top = top;
  values.tolerance = tolerance;
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
    _Pragma("unroll") for (uint k = 0; k < LOADS; ++k) add_vector(plan, mine, counts, counted[k], phase + k * GROUP_SIZE);
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
    add_vector(plan, mine, counts, data[i], (uint)(i % 3));
  }
  barrier_local();
  ulong last = vectors * PER_VECTOR + global_id();
  if (last < count) {
    uint channel = ELEMENT == 0 ? (uint)(last % CHANNELS) * 256 : 0;
    add(plan, mine, counts, channel + SLOT(((GLOBAL const Sample*)data)[last]), 1);
  }
  barrier_local();

  // Groups begin in different places, or all of them would wait for the same counter.
  const uint begin = group_id() * GROUP_SIZE % slots;
  for (uint i = local_id(); i < slots; i += GROUP_SIZE) {
    const uint slot = i < slots - begin ? i + begin : i - (slots - begin);
#if COUNTERS == 0
    uint number = 0;
    for (uint copy = 0; copy < COPIES; ++copy) number += counters[(slot << COPY_BITS) + ((local_id() + copy) & (COPIES - 1))];
#elif COUNTERS == 1
    const uint number = counters[word_of(plan, slot)] >> (slot < plan->upper ? 0 : 16) & 65535;
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
