// Counts the samples of each slot (plan.hpp). Every sample is one atomic addition, without a branch on the data that is often taken.
// Defined by the host:
//   ELEMENT          0 uint8, 1 uint16, 2 integers of 32 bits, 3 of 64, 4 float, 5 double
//   GUESS            0 the sample is the slot, 1 Even, 2 Trie by key, 3 Trie by value: thresholds are values then, no keys
//   COUNTERS         0 in local memory, 32 bits, several copies; 1 in local memory, 16 bits (of bytes several copies too); 2 in global memory
//   CHANNELS         of uint8: bytes take turns; channel c has slots c * 256 ...
//   COPY_BITS        there are 2^COPY_BITS copies of local counters: work-item i adds to copy i % copies, so that few lanes of a
//                    sub-group meet in one bank, whatever the data
//   EDGES_LOCAL      thresholds and trie are copied into local memory
//   AHEAD            the next tile is loaded while one is counted: where a compute unit has one group only
//   GROUP_SIZE, RESIDENT, LOADS (of 16 bytes, in flight)
//   HOT              of 16-bit counters: slots with many samples have further ones
//   STEPS            so many tiles of LOADS are drawn at once

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
  uint one;  // 1: from the host, and so in a register, whatever compilers think of it
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
FN uint below(const Plan* plan, Key bits, uint node) {
  return plan->trie[((uint)(offset_of(plan, bits) >> (node >> 25 & 63)) - node) & 0x1ffffff];
}
// The slot of a leaf's samples; nearly all leaves have one threshold, or none.
FN uint slot_in(const Plan* plan, Key bits, uint leaf) {
  uint low = leaf & 0x1ffffff, count = leaf >> 25;
  if (count > 2) {
    uint high = count == 63 ? plan->threshold_count : low + count;
    while (low < high) {
      uint middle = (low + high) >> 1;
      int reached = reaches(plan, bits, middle);
      low = reached ? middle + 1 : low;
      high = reached ? high : middle;
    }
    return low;
  }
  uint slot = low;
  if (count > 0) slot += reaches(plan, bits, low) ? 1 : 0;
  if (count > 1) slot += reaches(plan, bits, low + 1) ? 1 : 0;
  return slot;
}
FN uint slot_of(const Plan* plan, Key bits) {
  if (is_nan(bits)) return plan->nan_slot;
  uint word = root_of(plan, bits);
  while (word >> 31 != 0) word = below(plan, bits, word);
  return slot_in(plan, bits, word);
}
#endif
#endif

#if GUESS == 0
#define SLOT(bits) (uint)(bits)
#else
#define SLOT(bits) slot_of(plan, bits)
#endif

// Adds `number` samples to a slot.
#define PAIRED (ELEMENT == 0 && COUNTERS == 1)
#if PAIRED
// Two channels share a word, so that there is room for twice as many copies. All are emptied before a half could have been added to 2^16
// times.
#define COUNTER_WORDS ((CHANNELS + 1) / 2 * 256 << COPY_BITS)
#define MOST_IN_TILE ((GROUP_SIZE + COPIES - 1) / COPIES * LOADS * ((15 + CHANNELS) / CHANNELS))
#define TILES_BETWEEN (32767 / MOST_IN_TILE)
#elif COUNTERS == 0
#define COUNTER_WORDS (slots << COPY_BITS)
FN void add(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint slot, uint number) {
  atomic_add_local32(&counters[slot << COPY_BITS], number);
}
#elif COUNTERS == 1
// Slots i and i + upper share a word, so that neighbours do not: its lower half counts samples of both, its upper half those of the second.
// Words with the same lower bits are spread over the banks, as samples often differ in other bits only. A word is emptied by who first sees
// that its lower half has reached 2^15, before he adds what comes after the next load; and by all who see it at LATE, as nobody waits for
// him: until they do each work-item adds 2 loads at most, and all of them less than is left.
#define LATE 0xbf00u
#if ELEMENT == 1
#define UPPER 32768u
#define SPREAD(pairs) (((((pairs) >> 8 ^ (pairs) >> 5) & 0x001f001fu) ^ (pairs)) & 0x7fff7fffu)  // of one, or of two in the halves of a word
#else
#define UPPER plan->upper
#define SPREAD(pair) ((pair) ^ ((pair) >> 6 & 31))
#endif
#define COUNTER_WORDS (UPPER + (HOT ? TAGS * 33 : 0))
FN uint word_of(const Plan* plan, uint slot) {
  uint pair = slot < UPPER ? slot : slot - UPPER;
  return SPREAD(pair);
}
// Slots that many samples are in have further words, one for each lane of a sub-group, or its lanes would wait for one another: tags behind
// the counters tell which slots have them, and the words are behind the tags.
#define TAGS 256
#define TAG_BITS(slot) ((slot) ^ (slot) >> 8)  // the lowest byte: of one, or of two in the halves of a word
FN uint tag_of(uint slot) { return TAG_BITS(slot) & 255; }
FN uint word_at(const Plan* plan, LOCAL uint* counters, uint slot, const int hot) {
  uint word = word_of(plan, slot);
  if (hot) {
    const uint tag = tag_of(slot);
    word = counters[UPPER + tag] == slot ? UPPER + TAGS + tag * 32 + local_id() % 32 : word;
  }
  return word;
}
FN uint add_narrow(const Plan* plan, LOCAL uint* counters, uint slot, uint number, const int hot) {
  return atomic_add_local32(&counters[word_at(plan, counters, slot, hot)], slot < UPPER ? number : number * 0x10001u);
}
FN void empty(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint slot, const int hot) {
  LOCAL uint* word = &counters[word_at(plan, counters, slot, hot)];
  if ((*word & 0x8000u) == 0) return;  // somebody else has
  const uint old = atomic_exchange_local32(word, 0);
  const uint pair = slot < UPPER ? slot : slot - UPPER, second = old >> 16, first = (old & 65535) - second;
  if (first != 0) atomic_add_global32(&counts[pair], first);
  if (second != 0) atomic_add_global32(&counts[pair + UPPER], second);
}
FN void add(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint slot, uint number) {
  add_narrow(plan, counters, slot, number, 0);
}
#else
#define COUNTER_WORDS 0
FN void add(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint slot, uint number) { atomic_add_global32(&counts[slot], number); }
#endif

#if COUNTERS == 1 && !PAIRED
// A load's additions, of which nobody has seen yet what they returned: that is looked at when the next load's are on their way.
typedef struct {
  uint old[PER_VECTOR];
  uint slots[PER_VECTOR];
} Watch;

FN void look(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, const Watch* watch, const int hot) {
  uint seen = 0;
  _Pragma("unroll") for (uint i = 0; i < PER_VECTOR; ++i) seen |= watch->old[i];
  if ((seen & 0x8000u) != 0) {
    _Pragma("unroll") for (uint i = 0; i < PER_VECTOR; ++i) {
      const uint seen_here = watch->old[i] & 0xfff8;  // PER_VECTOR or fewer are added at once
      if (seen_here == 0x8000u || seen_here >= LATE) empty(plan, counters, counts, watch->slots[i], hot);
    }
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
    for (;;) {
      uint nodes = 0;
      _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) nodes |= words[k];
      if (nodes >> 31 == 0) break;
      _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) words[k] = words[k] >> 31 != 0 ? below(plan, bits[k], words[k]) : words[k];
    }
    _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) slots[k] = slot_in(plan, bits[k], words[k]);
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
FN void add_two(const Plan* plan, LOCAL uint* counters, uint word, uint* old0, uint* old1, const int hot) {
  const uint pairs = opaque(SPREAD(word));
  uint word0 = opaque(pairs & 0xffff), word1 = opaque(pairs >> 16);
  if (hot) {
    const uint bits = TAG_BITS(word), tag0 = bits & 255, tag1 = bits >> 16 & 255, lane = UPPER + TAGS + local_id() % 32;
    word0 = counters[UPPER + tag0] == (word & 65535) ? tag0 * 32 + lane : word0;
    word1 = counters[UPPER + tag1] == word >> 16 ? tag1 * 32 + lane : word1;
  }
  *old0 = atomic_add_local32(&counters[word0], (word << 1 & 0x10000) | plan->one);
  *old1 = atomic_add_local32(&counters[word1], (word >> 15 & 0x10000) | plan->one);
}
#endif

#if ELEMENT == 0
FN void add_byte(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint channel, uint value) {
#if PAIRED
  atomic_add_local32(&counters[((channel >> 1) * 256 + value) << COPY_BITS], 1u << (channel & 1) * 16);
#else
  add(plan, counters, counts, channel * 256 + value, 1);
#endif
}
#endif

// `phase` is the load's number, of which the remainder by 3 counts; `hot`: whether some slots have words of their own.
FN void add_vector(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint4 vector, uint phase, Watch* watch, const int hot) {
#if ELEMENT == 0
#if CHANNELS == 3
  // Of 16 bytes a vector; 16 % 3 is 1.
  const uint first = phase % 3, second = first == 2 ? 0 : first + 1, third = first == 0 ? 2 : first - 1;
#define CHANNEL(k) ((k) % 3 == 0 ? first : (k) % 3 == 1 ? second : third)
#else
#define CHANNEL(k) ((k) % CHANNELS)
#endif
#define ADD_WORD(word, k)                                                    \
  add_byte(plan, counters, counts, CHANNEL(k), (word)&255);                  \
  add_byte(plan, counters, counts, CHANNEL(k + 1), (word) >> 8 & 255);       \
  add_byte(plan, counters, counts, CHANNEL(k + 2), (word) >> 16 & 255);      \
  add_byte(plan, counters, counts, CHANNEL(k + 3), (word) >> 24)
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
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) watch->slots[k] = slots[k];
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) watch->old[k] = 0;
  if (same) {
    watch->old[0] = add_narrow(plan, counters, slots[0], PER_VECTOR, hot);
  } else {
#if ELEMENT == 1
    add_two(plan, counters, vector.x, &watch->old[0], &watch->old[1], hot);
    add_two(plan, counters, vector.y, &watch->old[2], &watch->old[3], hot);
    add_two(plan, counters, vector.z, &watch->old[4], &watch->old[5], hot);
    add_two(plan, counters, vector.w, &watch->old[6], &watch->old[7], hot);
#else
    _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) watch->old[k] = add_narrow(plan, counters, slots[k], 1, hot);
#endif
  }
  look(plan, counters, counts, &before, hot);
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

#if HOT
// Tags the slots of which the first samples have more than an eighth.
FN void find_hot(const Plan* plan, LOCAL uint* counters, uint4 vector, int there, LOCAL uint* found) {
  if (there) {
    uint slots[PER_VECTOR];
    slots_of(plan, vector, slots);
    _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) add_narrow(plan, counters, slots[k], 1, 0);
  }
  barrier_local();
  for (uint word = local_id(); word < UPPER; word += GROUP_SIZE) {
    const uint pair = SPREAD(word), both = counters[word] & 65535, second = counters[word] >> 16;
    counters[word] = 0;
    const uint many = GROUP_SIZE * PER_VECTOR / 8;
    if (both - second >= many) counters[UPPER + tag_of(pair)] = pair;
    if (second >= many) counters[UPPER + tag_of(pair + UPPER)] = pair + UPPER;
    if (both >= many) *found = 1;
  }
  barrier_local();
}
#endif

#define TILE (GROUP_SIZE * LOADS)  // loads that a group counts in one go

FN void load_tile(uint4* loaded, GLOBAL const uint4* data, uint tile) {
  _Pragma("unroll") for (uint k = 0; k < LOADS; ++k) loaded[k] = load_once(&data[(ulong)tile * TILE + k * GROUP_SIZE + local_id()]);
}

// Samples that lie `stride` bytes apart, the first at byte `offset`, one after the other.
KERNEL void histogram_pack(GLOBAL const uchar* from, ulong offset, long stride, ulong count, GLOBAL Sample* to) {
  for (ulong i = global_id(); i < count; i += global_size()) to[i] = *(GLOBAL const Sample*)(from + offset + (long)i * stride);
}

// Adds the group's counters to the counts. Groups begin in different places, or all of them would wait for the same one.
#if PAIRED
FN void pass_on(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint slots) {
  const uint words = COUNTER_WORDS >> COPY_BITS, begin = group_id() * GROUP_SIZE % words;
  for (uint i = local_id(); i < words; i += GROUP_SIZE) {
    const uint word = i < words - begin ? i + begin : i - (words - begin), slot = (word >> 8) * 512 + (word & 255);
    uint first = 0, second = 0;
    _Pragma("unroll 4") for (uint copy = 0; copy < COPIES; ++copy) {
      LOCAL uint* counter = &counters[(word << COPY_BITS) + ((local_id() + copy) & (COPIES - 1))];
      first += *counter & 65535;
      second += *counter >> 16;
      *counter = 0;
    }
    if (first != 0) atomic_add_global32(&counts[slot], first);
    if (second != 0) atomic_add_global32(&counts[slot + 256], second);
  }
}
#else
FN void pass_on(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint slots) {
  const uint begin = (group_id() * GROUP_SIZE % slots) & ~31u;
#if HOT
  for (uint i = local_id(); i < TAGS * 32; i += GROUP_SIZE) {
    const uint number = counters[UPPER + TAGS + i] & 65535;  // a second slot's are in both halves
    if (number != 0) atomic_add_global32(&counts[counters[UPPER + i / 32]], number);
  }
#endif
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
#endif

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
                                                              Real last_tolerance, uint one DYNLOCAL_PARAMETER(memory)) {
  DYNLOCAL(memory);
  GLOBAL const uint4* data = (GLOBAL const uint4*)(bytes + offset);
  const ulong vectors = count / PER_VECTOR;
  const uint shares = (uint)(vectors / (TILE * STEPS));
  uint share = group_id();
  uint next = share + group_count();
  const int more = shares > 2 * group_count();
  uint4 loaded[LOADS];
  if (share < shares) load_tile(loaded, data, share * STEPS);  // on its way while counters are cleared
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
  values.one = one;
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
  if (local_id() == 0) drawn[2] = 0;
  for (ulong i = global_id(); i < spare_slots; i += global_size()) spare[i] = 0;
  barrier_local();

#if COUNTERS == 0 || PAIRED
  LOCAL uint* mine = counters + (local_id() & (COPIES - 1));
#else
  LOCAL uint* mine = counters;
#endif
  Watch watch;
#if COUNTERS == 1 && !PAIRED
  const Watch nothing = {0};
  watch = nothing;
#else
  watch = 0;
#endif
#if HOT
  find_hot(plan, counters, loaded[0], share < shares, &drawn[2]);
  const int hot = drawn[2] != 0;
#endif
  uint turn = 0, unpassed = 0;
  while (share < shares) {
    uint ticket = 0;
    if (more && local_id() == 0) ticket = atomic_ticket_global32(&counts[slots]);
    for (uint step = 0; step < STEPS; ++step) {
      const uint tile = share * STEPS + step, phase = tile % 3 * (TILE % 3) + local_id() % 3;
      uint4 counted[LOADS];
      _Pragma("unroll") for (uint k = 0; k < LOADS; ++k) counted[k] = loaded[k];
#if AHEAD
      if (step + 1 < STEPS) {
        load_tile(loaded, data, tile + 1);
      } else if (next < shares) {
        load_tile(loaded, data, next * STEPS);
      }
#endif
#if HOT
      if (hot) {
        _Pragma("unroll") for (uint k = 0; k < LOADS; ++k) add_vector(plan, mine, counts, counted[k], 0, &watch, 1);
        continue;
      }
#endif
      _Pragma("unroll") for (uint k = 0; k < LOADS; ++k) {
        add_vector(plan, mine, counts, counted[k], phase + k * (GROUP_SIZE % 3), &watch, 0);
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
    if (share < shares) load_tile(loaded, data, share);
#endif
  }
  for (ulong i = (ulong)shares * (TILE * STEPS) + global_id(); i < vectors; i += global_size()) {
    add_vector(plan, mine, counts, data[i], (uint)(i % 3), &watch, 0);
  }
#if COUNTERS == 1 && !PAIRED
  look(plan, mine, counts, &watch, 0);
#endif
  barrier_local();
  ulong last = vectors * PER_VECTOR + global_id();
  if (last < count) {
#if ELEMENT == 0
    add_byte(plan, mine, counts, (uint)(last % CHANNELS), bytes[offset + last]);
#else
    add(plan, mine, counts, SLOT(((GLOBAL const Sample*)data)[last]), 1);
#endif
  }
  barrier_local();

  pass_on(plan, counters, counts, slots);
}

// Of the counts, and of the number of tiles drawn.
KERNEL void histogram_clear(GLOBAL uint* counts, uint words) {
  for (ulong i = global_id(); i < words; i += global_size()) counts[i] = 0;
}
