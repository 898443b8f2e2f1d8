// Atomic additions at a device's best: nothing else than additions of one to words in local or in global memory.
// Defined by the host: GROUP (work-items of a group), WORDS (words of local memory, a power of two).
//
// A work-item's words follow from x -> x * factor + step, modulo 2^32, and `mask`: 0 for one word, factor 1 for neighbouring words of neighbouring
// work-items, a multiplier of a linear congruential generator for words all over the memory. The compiler knows none of these. All words
// together are the number of additions, which the host checks.

#define ADDITIONS(atomic_add, words)        \
  for (uint r = 0; r < rounds; ++r) {       \
    atomic_add(&(words)[x & mask], 1);      \
    x = x * factor + step;                  \
  }
// The next word depends on what the last addition returned, by bit 31 of a count, which is never set. One work-item, so that nothing else is
// under way.
#define DEPENDENT_ADDITIONS(atomic_add, words)                  \
  if (local_id() == 0) {                                        \
    uint next = x & mask;                                       \
    for (uint r = 0; r < rounds; ++r) {                         \
      const uint before = atomic_add(&(words)[next], 1);        \
      x = x * factor + step;                                    \
      next = (x & mask) + (before >> 31);                       \
    }                                                           \
  }

#define PARAMETERS GLOBAL uint* total, uint mask, uint factor, uint step, uint rounds

KERNEL FIXED_GROUP(GROUP, 1) void add_global(PARAMETERS) {
  uint x = (uint)global_id();
  ADDITIONS(atomic_add_global32, total)
}

KERNEL FIXED_GROUP(GROUP, 1) void add_global_waiting(PARAMETERS) {
  uint x = (uint)global_id();
  DEPENDENT_ADDITIONS(atomic_add_global32, total)
}

FN void clear(LOCAL uint* words) {
  for (uint i = local_id(); i < WORDS; i += GROUP) words[i] = 0;
  barrier_local();
}

// Each group's words are added up in total[0].
FN void add_up(LOCAL uint* words, GLOBAL uint* total) {
  barrier_local();
  uint sum = 0;
  for (uint i = local_id(); i < WORDS; i += GROUP) sum += words[i];
  atomic_add_global32(total, sum);
}

KERNEL FIXED_GROUP(GROUP, 1) void add_local(PARAMETERS) {
  LOCAL_VAR uint words[WORDS];
  clear(words);
  uint x = local_id();
  ADDITIONS(atomic_add_local32, words)
  add_up(words, total);
}

KERNEL FIXED_GROUP(GROUP, 1) void add_local_waiting(PARAMETERS) {
  LOCAL_VAR uint words[WORDS];
  clear(words);
  uint x = local_id();
  DEPENDENT_ADDITIONS(atomic_add_local32, words)
  add_up(words, total);
}
