// Where samples are counted, by the work-items of a group. What the host defines stands in count.cl.

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
#define SPREAD(pairs) \
  (((((pairs) >> 8 ^ (pairs) >> 5) & 0x001f001fu) ^ (pairs)) & 0x7fff7fffu)  // of one, or of two in the halves of a word
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
FN void add(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint slot, uint number) {
  atomic_add_global32(&counts[slot], number);
}
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
#define ADD_WORD(word, k)                                               \
  add_byte(plan, counters, counts, CHANNEL(k), (word)&255);             \
  add_byte(plan, counters, counts, CHANNEL(k + 1), (word) >> 8 & 255);  \
  add_byte(plan, counters, counts, CHANNEL(k + 2), (word) >> 16 & 255); \
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
