// The counters of a group. count.cl lists the defines that the host sets.

#define AT(counters, bytes) ((LOCAL uint*)((LOCAL uchar*)(counters) + (bytes)))

// Adds `number` samples to a slot.
#define PAIRED (SAMPLE_TYPE == 0 && COUNTERS == 1)
#if PAIRED
// Two channels share a word, so that there is room for twice as many copies. All are added to the counts before a half could overflow.
#define COUNTER_WORDS ((CHANNELS + 1) / 2 * 256 << COPY_BITS)
#define MOST_IN_TILE ((GROUP_SIZE + COPIES - 1) / COPIES * LOADS * ((15 + CHANNELS) / CHANNELS))
#define TILES_BETWEEN (32767 / MOST_IN_TILE)
#elif COUNTERS == 0
#define COUNTER_WORDS (slots << COPY_BITS)
FN void add(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint slot, uint number) {
  atomic_add_local32(AT(counters, slot << (COPY_BITS + 2)), number);  // in bytes, which saves a shift
}
#elif COUNTERS == 1
// Slots i and i + upper share a word, so that neighbours do not: its lower half counts samples of both, its upper half those of the second.
// Words with the same lower bits are spread over the banks, as samples often differ only in other bits. A word must be emptied before its
// lower half overflows. The work-item whose addition brings it to 2^15 empties it before it adds what comes after the next load. That may
// be late, so from LATE on every work-item that sees the word empties it: until then each adds at most 2 loads, and all together less than
// the remaining range.
#define LATE 0xbf00u
#if SAMPLE_TYPE == 1
#define UPPER 32768u
#define SPREAD(pairs) \
  (((((pairs) >> 8 ^ (pairs) >> 5) & 0x001f001fu) ^ (pairs)) & 0x7fff7fffu)  // of one sample, or of two in the halves of a word
#else
#define UPPER plan->upper
#define SPREAD(pair) ((pair) ^ ((pair) >> 6 & 31))
#endif
#define COUNTER_WORDS (UPPER + (HOT ? TAG_WORDS + 32 : 0))
FN uint pair_of(const Plan* plan, uint slot) { return min_u32(slot, slot - UPPER); }  // slots below UPPER become larger by the subtraction
FN uint word_of(const Plan* plan, uint slot) {
  const uint pair = pair_of(plan, slot);
  return SPREAD(pair);
}
// What `number` samples of a slot add to its word, and how many samples of the first and of the second slot a word has counted.
#define ADDED(slot, number) ((slot) < UPPER ? (number) : (number) * 0x10001u)
#define IN_SECOND(word) ((word) >> 16)
#define IN_FIRST(word) (((word) & 65535) - IN_SECOND(word))
// Slots with many samples have additional words, one for each lane of a sub-group, so that lanes do not contend for one word. They lie
// behind the counters at a hash of the slot: 32 tag words that hold the slot, one per lane to avoid bank conflicts, and 32 counters. A
// single hot slot has the last 32 words and needs no tags. `hot` says which case it is. (Slots outside of all bins are often hot. Their numbers
// and those of the first bins differ in few bits; so slots of 32-bit samples are hashed by multiplication, as in Knuth, TAOCP 3, 6.4.)
#define ALONE 1
#define TAGGED 2
#define TAGS (SAMPLE_TYPE == 1 ? 256 : 128)  // fewer leave more of the first-level cache to loads
#define TAG_WORDS (TAGS * 64)
#define TAG_BITS(slot) ((slot) ^ (slot) << 8)  // the hash is in the second byte: of one sample, or of two in the halves of a word
#define TAG_FOR(slot) (SAMPLE_TYPE == 1 ? (slot) * 0x10001u : (slot))
#define SLOT_IN(tag) (SAMPLE_TYPE == 1 ? (tag) & 65535 : (tag))
FN uint tag_of(uint slot) {  // in bytes
#if SAMPLE_TYPE == 1
  return TAG_BITS(slot) & (TAGS - 1) << 8;
#else
  return opaque(slot * 0x9e3779b1u >> 25) << 8;  // the product's 7 highest bits; opaque(), so that a multiply-add makes the address
#endif
}
FN LOCAL uint* word_at(const Plan* plan, LOCAL uint* counters, uint slot, const int hot) {
  LOCAL uint* word = &counters[word_of(plan, slot)];
  if (hot == ALONE) word = slot == plan->alone ? counters + plan->own : word;
  if (hot == TAGGED) {
    LOCAL uint* own = AT(counters + (UPPER + 32 + local_id() % 32), tag_of(slot));
    word = SLOT_IN(own[-32]) == slot ? own : word;
  }
  return word;
}
FN uint add_narrow(const Plan* plan, LOCAL uint* counters, uint slot, uint number, const int hot) {
  return atomic_add_local32(word_at(plan, counters, slot, hot), ADDED(slot, number));
}
FN void empty(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint slot, const int hot) {
  LOCAL uint* word = word_at(plan, counters, slot, hot);
  if ((*word & 0x8000u) == 0) return;  // another work-item has emptied it
  const uint old = atomic_exchange_local32(word, 0);
  const uint pair = pair_of(plan, slot);
  if (IN_FIRST(old) != 0) atomic_add_global32(&counts[pair], IN_FIRST(old));
  if (IN_SECOND(old) != 0) atomic_add_global32(&counts[pair + UPPER], IN_SECOND(old));
}
FN void add(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint slot, uint number) {
  add_narrow(plan, counters, slot, number, 0);
}
#else
#define COUNTER_WORDS (2 * NEAR_SLOTS)
FN void add(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint slot, uint number) {
  atomic_add_global32(&counts[slot], number);
}
#endif

#if COUNTERS == 1 && !PAIRED
// The additions of a load whose returned values were not checked yet: they are checked when the next load's additions are in flight.
typedef struct {
  uint old[PER_VECTOR];
  uint slots[PER_VECTOR];
} Watch;

FN void look(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, const Watch* watch, const int hot) {
  uint seen = 0;
  _Pragma("unroll") for (uint i = 0; i < PER_VECTOR; ++i) seen |= watch->old[i];
  if (opaque(seen & 0x8000u) != 0) {  // opaque(), so that the test is part of the last OR
    Watch rest = *watch;
    _Pragma("unroll 1") for (uint i = 0; i < PER_VECTOR; ++i) {  // not unrolled, as this is rare, and instructions have to be fetched
      const uint seen_here = rest.old[0] & 0xfff8;  // at most PER_VECTOR are added at once
      if (seen_here == 0x8000u || seen_here >= LATE) empty(plan, counters, counts, rest.slots[0], hot);
      _Pragma("unroll") for (uint k = 1; k < PER_VECTOR; ++k) {
        rest.old[k - 1] = rest.old[k];
        rest.slots[k - 1] = rest.slots[k];
      }
    }
  }
}
#elif COUNTERS == 2
// Additions to global memory are made one after the other where they go to one word or its neighbours. So a work-item counts by itself the samples
// below, above and outside of all bins, and those of the slot that most of the group's first samples are in. NEAR_SLOTS slots have counters in
// local memory, each at its remainder, where a tag says which slot that is: those around most of the first samples, and others that are frequent.
typedef struct {
  uint under, over, nan;
  uint hot, in_hot;  // that slot
} Watch;
#define NO_SLOT ~0u
#define NEAR_MASK (NEAR_SLOTS - 1u)
#define NEAR_TAGS(counters) ((counters) + NEAR_SLOTS)
FN void add_here(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, Watch* watch, uint slot, uint number) {
  if (slot == watch->hot) {
    watch->in_hot += number;
  } else if (slot == 0) {
    watch->under += number;
  } else if (slot == plan->nan_slot - 1) {
    watch->over += number;
  } else if (slot == plan->nan_slot) {
    watch->nan += number;
#if NEAR_SLOTS
  } else if (NEAR_TAGS(counters)[slot & NEAR_MASK] == slot) {
    atomic_add_local32(&counters[slot & NEAR_MASK], number);
#endif
  } else {
    atomic_add_global32(&counts[slot], number);
  }
}

// Sets `hot` and the tags by the slots of each work-item's first load: of CANDIDATES slots the one that is found most often, and at least twice.
// `found` has 3 CANDIDATES words.
#define CANDIDATES 8
FN void find_frequent(const Plan* plan, LOCAL uint* counters, LOCAL uint* found, const uint* slots, Watch* watch) {
  LOCAL uint* in_slot = found + CANDIDATES;
  LOCAL uint* in_near = in_slot + CANDIDATES;
  for (uint k = local_id(); k < 3 * CANDIDATES; k += GROUP_SIZE) found[k] = k < CANDIDATES ? NO_SLOT : 0;
  barrier_local();
#define IS_INSIDE(slot) ((slot) - 1 < plan->nan_slot - 2)  // of a bin
  const uint slot = slots[0];
  if (IS_INSIDE(slot)) atomic_exchange_local32(&found[local_id() % CANDIDATES], slot);
  barrier_local();
  for (uint k = 0; k < CANDIDATES; ++k) {
    if (IS_INSIDE(slot) && found[k] == slot) atomic_add_local32(&in_slot[k], 1);
    if (IS_INSIDE(slot) && ((found[k] ^ slot) & ~NEAR_MASK) == 0) atomic_add_local32(&in_near[k], 1);
  }
  barrier_local();
  uint most = 1;
  for (uint k = 0; k < CANDIDATES; ++k) {
    watch->hot = in_slot[k] > most ? found[k] : watch->hot;
    most = max(most, in_slot[k]);
  }
#if NEAR_SLOTS
  uint near = NO_SLOT;
  most = 1;
  for (uint k = 0; k < CANDIDATES; ++k) {
    near = in_near[k] > most ? found[k] & ~NEAR_MASK : near;
    most = max(most, in_near[k]);
  }
  // A slot elsewhere takes the counter at its remainder if more than one in 512 of the samples have that remainder and lie elsewhere.
#define IS_ELSEWHERE(slot) (IS_INSIDE(slot) && ((slot) & ~NEAR_MASK) != near)
  for (uint i = local_id(); i < NEAR_SLOTS; i += GROUP_SIZE) NEAR_TAGS(counters)[i] = near == NO_SLOT ? NO_SLOT : near + i;
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) {
    if (IS_ELSEWHERE(slots[k])) atomic_add_local32(&counters[slots[k] & NEAR_MASK], 1);
  }
  barrier_local();
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) {
    const uint at = slots[k] & NEAR_MASK;
    if (IS_ELSEWHERE(slots[k]) && counters[at] > GROUP_SIZE * PER_VECTOR / 512) atomic_exchange_local32(&NEAR_TAGS(counters)[at], slots[k]);
  }
  barrier_local();
  for (uint i = local_id(); i < NEAR_SLOTS; i += GROUP_SIZE) counters[i] = 0;
  barrier_local();
#endif
}
#else
typedef int Watch;
#endif

#if SAMPLE_TYPE == 1
FN int all_same(uint4 vector) {
  return vector.x == vector.y && vector.x == vector.z && vector.x == vector.w && (vector.x & 0xffff) == vector.x >> 16;
}
#endif

#if SAMPLE_TYPE == 1 && COUNTERS == 1
// Processes two samples with few instructions, as this loop is bound by them: the words that count them, and the additions.
FN void words_of_two(const Plan* plan, LOCAL uint* counters, uint samples, LOCAL uint** words, const int hot) {
  const uint pairs = opaque(SPREAD(samples)), word0 = opaque(pairs & 0xffff), word1 = opaque(pairs >> 16);
  if (hot == ALONE) {
    LOCAL uint* const own = counters + plan->own;
    const uint other = samples ^ plan->alone * 0x10001u;
    words[0] = (other & 0xffff) == 0 ? own : &counters[word0];
    words[1] = other >> 16 == 0 ? own : &counters[word1];
  } else if (hot == TAGGED) {
    const uint bits = TAG_BITS(samples), lane = plan->lane;
    LOCAL uint* const hot0 = AT(counters, (bits & 0xff00) | lane);
    LOCAL uint* const hot1 = AT(counters, (bits >> 16 & 0xff00) | lane);
    words[0] = opaque((hot0[-32] ^ samples) & 0xffff) == 0 ? hot0 : &counters[word0];
    words[1] = ((hot1[-32] ^ samples) & 0xffff0000u) == 0 ? hot1 : &counters[word1];
  } else {
    words[0] = &counters[word0];
    words[1] = &counters[word1];
  }
}
// The words of all samples, before the first addition: tags cannot be read ahead of atomics.
FN void words_of(const Plan* plan, LOCAL uint* counters, uint4 vector, LOCAL uint** words, const int hot) {
  words_of_two(plan, counters, vector.x, words, hot);
  words_of_two(plan, counters, vector.y, words + 2, hot);
  words_of_two(plan, counters, vector.z, words + 4, hot);
  words_of_two(plan, counters, vector.w, words + 6, hot);
}
FN void add_two(const Plan* plan, uint samples, LOCAL uint** words, uint* old) {
  old[0] = atomic_add_local32(words[0], (samples << 1 & 0x10000) | plan->one);
  old[1] = atomic_add_local32(words[1], (samples >> 15 & 0x10000) | plan->one);
}
#endif

#if HOT && SAMPLE_TYPE == 1
// Whether all samples of a load are in `alone` and at most one other slot; that slot, and how many are in it.
FN int two_values(const Plan* plan, uint4 vector, const uint* slots, uint* other, uint* number) {
  const uint alone = plan->alone * 0x10001u;
  const uint x = vector.x ^ alone, y = vector.y ^ alone, z = vector.z ^ alone, w = vector.w ^ alone;
  uint bits = x | y | z | w;
  bits = (bits | bits >> 16) & 0xffff;  // the bits in which the other one differs: a half of a word has all or none of them
  const uint highest = 31 - clz32(bits | 1);
#define HAS(half) ((half) >> highest & 0x10001u)
  const uint has_x = HAS(x), has_y = HAS(y), has_z = HAS(z), has_w = HAS(w);
#undef HAS
  const uint all = has_x + has_y + has_z + has_w;
  *number = (all & 0xffff) + (all >> 16);
  *other = bits ^ plan->alone;
  return ((x - has_x * bits) | (y - has_y * bits) | (z - has_z * bits) | (w - has_w * bits)) == 0;
}
#endif

#if SAMPLE_TYPE == 0
FN void add_byte(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint channel, uint value) {
#if PAIRED
  atomic_add_local32(&counters[((channel >> 1) * 256 + value) << COPY_BITS], 1u << (channel & 1) * 16);
#else
  add(plan, counters, counts, channel * 256 + value, 1);
#endif
}

// For a load whose first byte has the channel `first`: where its channels have the work-item's counters, in bytes, and what a sample adds. The bits
// of a byte are others than these, so that a shift and one logical operation give the address of its counter.
#define BYTE_SHIFT (COPY_BITS + 2)
FN void set_channels(Plan* plan, uint first) {
  const uint copy = (local_id() & (COPIES - 1)) * 4;
  _Pragma("unroll") for (uint i = 0; i < CHANNELS; ++i) {
    const uint channel = first + i < CHANNELS ? first + i : first + i - CHANNELS;
    plan->place[i] = (PAIRED ? channel >> 1 : channel) << (8 + BYTE_SHIFT) | copy;
    plan->number[i] = PAIRED ? 1u << (channel & 1) * 16 : 1;
  }
}
// The four bytes of a word, of which the first is byte `at` after one of the channel `first`.
FN void add_bytes(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint word, const uint at) {
  _Pragma("unroll") for (uint i = 0; i < 4; ++i) {
    const uint channel = (at + i) % CHANNELS;
#if COUNTERS == 2
    add_byte(plan, counters, counts, plan->place[channel] >> (8 + BYTE_SHIFT), word >> 8 * i & 255);
#else
    const uint moved = 8 * i < BYTE_SHIFT ? word << (BYTE_SHIFT - 8 * i & 31) : word >> (8 * i - BYTE_SHIFT & 31);
    atomic_add_local32(AT(counters, (moved & 255u << BYTE_SHIFT) | plan->place[channel]), plan->number[channel]);
#endif
  }
}
#endif

// Of bytes, the first one is byte `turn` after one of set_channels(). `hot`: which slots have words of their own.
FN void add_vector(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint4 vector, const uint turn, Watch* watch, const int hot) {
#if SAMPLE_TYPE == 0
  add_bytes(plan, counters, counts, vector.x, turn);
  add_bytes(plan, counters, counts, vector.y, turn + 4);
  add_bytes(plan, counters, counts, vector.z, turn + 8);
  add_bytes(plan, counters, counts, vector.w, turn + 12);
#else
  uint slots[PER_VECTOR];
  slots_of(plan, vector, slots);
#if SAMPLE_TYPE == 1
  int same = all_same(vector);
#else
  int same = 1;
  _Pragma("unroll") for (uint k = 1; k < PER_VECTOR; ++k) same &= slots[k] == slots[0];
#endif
#if COUNTERS == 0
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) add(plan, counters, counts, slots[k], 1);
#elif COUNTERS == 1
  const Watch before = *watch;
  LOCAL uint* words[PER_VECTOR];
#if SAMPLE_TYPE == 1
  uint first = slots[0], number = PER_VECTOR;  // the size of one addition
#if HOT
  if (hot == ALONE) same = two_values(plan, vector, slots, &first, &number);
#endif
  if (hot == TAGGED) {
    words_of(plan, counters, vector, words, TAGGED);
    same = same && words[0] < counters + UPPER;
  }
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) watch->slots[k] = slots[k];
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) watch->old[k] = 0;
  if (hot == ALONE) {
    watch->slots[0] = same ? first : slots[0];
    watch->slots[1] = same ? plan->alone : slots[1];
  }
  if (same) {
    watch->old[0] = add_narrow(plan, counters, first, number, hot == TAGGED ? 0 : hot);
    if (hot == ALONE) watch->old[1] = add_narrow(plan, counters, plan->alone, PER_VECTOR - number, ALONE);
  } else {
    if (hot != TAGGED) words_of(plan, counters, vector, words, hot);
    add_two(plan, vector.x, words, watch->old);
    add_two(plan, vector.y, words + 2, watch->old + 2);
    add_two(plan, vector.z, words + 4, watch->old + 4);
    add_two(plan, vector.w, words + 6, watch->old + 6);
  }
#else
  // The words of all samples, before the first addition: tags cannot be read ahead of atomics. Of equal samples only the first one is added.
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) words[k] = word_at(plan, counters, slots[k], hot);
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) watch->slots[k] = slots[k];
  watch->old[0] = atomic_add_local32(words[0], ADDED(slots[0], same ? PER_VECTOR : 1));
  _Pragma("unroll") for (uint k = 1; k < PER_VECTOR; ++k) watch->old[k] = 0;
  if (!same) {
    _Pragma("unroll") for (uint k = 1; k < PER_VECTOR; ++k) watch->old[k] = atomic_add_local32(words[k], ADDED(slots[k], 1));
  }
#endif
  look(plan, counters, counts, &before, hot);
#else
  add_here(plan, counters, counts, watch, slots[0], same ? PER_VECTOR : 1);
  if (!same) {
    _Pragma("unroll") for (uint k = 1; k < PER_VECTOR; ++k) add_here(plan, counters, counts, watch, slots[k], 1);
  }
#endif
#endif
}

#if HOT
// The result of inspecting some of the samples.
typedef struct {
  uint hot;    // samples in slots with many samples
  uint large;  // of uint16: samples in slots with over an eighth of them, and from bit 24 on the number of such slots
  uint alone;  // one of those slots
  uint runs;   // loads whose samples are all in `alone` and, at least twice, in one other slot
} Found;
#define LOOKED_AT (GROUP_SIZE * PER_VECTOR)
FN void set_alone(Plan* plan, LOCAL const Found* found) {
  plan->alone = found->alone;
  plan->own = UPPER + TAG_WORDS + local_id() % 32;
}
FN int hot_of(LOCAL const Found* found) {
  const int alone = found->large >> 24 == 1 && found->hot - (found->large & 0xffffff) < LOOKED_AT / 8;
  return found->hot < LOOKED_AT / 8 ? 0 : alone && (SAMPLE_TYPE != 1 || found->runs >= GROUP_SIZE / 4) ? ALONE : TAGGED;
}

// Gives additional words to slots with many samples, estimated from some of the samples: those of `vector`, if it is `there`. Loads of
// equal samples of 16 bits are excluded: each is one addition.
FN int find_hot(Plan* plan, LOCAL uint* counters, uint4 vector, int there, LOCAL Found* found) {
  uint slots[PER_VECTOR];
  slots_of(plan, vector, slots);
  int same = SAMPLE_TYPE == 1;
  _Pragma("unroll") for (uint k = 1; k < PER_VECTOR; ++k) same &= slots[k] == slots[0];
  const uint one = there && !same ? 1 : 0;
  // More than about a sixteenth (slightly less, so that all of sixteen values qualify). It pays off if together they are an eighth.
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) add_narrow(plan, counters, slots[k], one, 0);
  barrier_local();
  for (uint word = local_id(); word < UPPER; word += GROUP_SIZE) {
    const uint pair = SPREAD(word), both = counters[word];
    counters[word] = 0;
    for (uint upper = 0; upper < 2; ++upper) {
      const uint slot = pair + upper * UPPER, number = upper != 0 ? IN_SECOND(both) : IN_FIRST(both);
      if (number >= LOOKED_AT / 18) {
        for (uint lane = 0; lane < 32; ++lane) AT(counters + UPPER, tag_of(slot))[lane] = TAG_FOR(slot);
        atomic_add_local32(&found->hot, number);
        if (number >= LOOKED_AT / 8) {
          atomic_add_local32(&found->large, 1u << 24 | number);
          found->alone = slot;
        }
      }
    }
  }
  barrier_local();
  set_alone(plan, found);
#if SAMPLE_TYPE == 1
  // Where the other samples come in runs, most loads have only one other value, so they are two additions.
  uint other, others;
  if (found->hot != 0 && two_values(plan, vector, slots, &other, &others) && others > 1) atomic_add_local32(&found->runs, 1);
  barrier_local();
#endif
  return hot_of(found);
}
#endif

// Adds the group's counters to the counts. Groups begin at different counters, to avoid contention.
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
  LOCAL const Found* found = (LOCAL const Found*)(counters + COUNTER_WORDS + 2);
  for (uint i = local_id(); i < 32; i += GROUP_SIZE) {
    const uint number = counters[UPPER + TAG_WORDS + i] & 65535;
    if (number != 0) atomic_add_global32(&counts[found->alone], number);
  }
  for (uint i = local_id(); i < TAGS * 32; i += GROUP_SIZE) {
    LOCAL uint* tag = counters + UPPER + i / 32 * 64 + i % 32;
    const uint number = tag[32] & 65535;  // samples of a second slot are counted in both halves
    if (number != 0) atomic_add_global32(&counts[SLOT_IN(*tag)], number);
  }
#endif
  for (uint i = local_id(); i < slots; i += GROUP_SIZE) {
    const uint slot = i < slots - begin ? i + begin : i - (slots - begin);
#if COUNTERS == 0
    uint number = 0;
    for (uint copy = 0; copy < COPIES; ++copy) number += counters[(slot << COPY_BITS) + ((local_id() + copy) & (COPIES - 1))];
#elif COUNTERS == 1
    const uint word = counters[word_of(plan, slot)];
    const uint number = slot < UPPER ? IN_FIRST(word) : IN_SECOND(word);
#else
    const uint number = 0;
#endif
    if (number != 0) atomic_add_global32(&counts[slot], number);
  }
}
#endif
