// How the groups of a launch combine their results. There are three ways:
//
// 1. Counted words, for states that add as integers: each group adds its value to a word of all groups. The lowest bits of the word count the
//    groups that have added.
// 2. Slots: each group stores its words in a slot of its own. The highest bit of a word says that it is present.
// 3. A second launch of one group, for devices without 64-bit atomic operations: it reads the same slots.
//
// In 1 and 2 one group gathers. It is the last group by its number if the device holds at least two groups at once: it polls while others
// still compute, and these wait for nothing. Elsewhere it is the group that draws the last ticket. No fence is needed: each word is
// changed by single atomic operations, and tells by itself whether it is complete.
//
// Words are zero before a launch. The group that gathers clears them by plain stores, because no other group accesses them any more.
//
// Functions of sub-groups are called by all lanes of one, which a group has only if its size is a multiple of theirs: else LANES is 1.
#if SUBGROUP > 1 && GROUP_SIZE % SUBGROUP == 0
#define LANES SUBGROUP
#define ANY_LANE(condition) (subgroup_ballot(condition) != 0)
#else
#define LANES 1
#define ANY_LANE(condition) (condition)
#endif

#if SAMESUM_INT64_ATOMICS
// 1. Adds the group's value to a word whose lowest `count_bits` bits count.
FN void publish_counted(GLOBAL ulong* word, ulong value, const uint count_bits) { atomic_merge_global64(word, (value << count_bits) + 1); }
FN uint is_of_groups(ulong word, uint groups, const uint count_bits) { return ((uint)word & ((1u << count_bits) - 1)) == groups; }
#if LANES > 1
// Polls the counted word of each lane until it is that of `groups` groups, and clears it. The lanes of the sub-group leave the loop together: where
// they leave one by one, the code that follows is slow.
FN ulong gather_counted(GLOBAL ulong* from, uint groups, const uint count_bits) {
  ulong word;
  do {
    word = atomic_load_global64(from);
  } while (subgroup_ballot(!is_of_groups(word, groups, count_bits)) != 0);
  store_settled_global64(from, 0);
  return word;
}
#endif
#endif

// 2 and 3. Stores a word of a slot, of which it has the lower 63 bits.
#define PRESENT ((ulong)1 << 63)
#if SAMESUM_INT64_ATOMICS
FN void publish_word(GLOBAL ulong* to, ulong word) { atomic_store_global64(to, PRESENT | word); }
#else
FN void publish_word(GLOBAL ulong* to, ulong word) { *to = PRESENT | word; }
#endif

// Polls the slot of each lane, of four words, until those of all lanes are present.
FN void gather_slot(GLOBAL ulong* slot, ulong* words) {
#if SAMESUM_INT64_ATOMICS
  uint absent;
  do {
    atomic_load_pair_global64(slot, &words[0], &words[1]);
    atomic_load_pair_global64(slot + 2, &words[2], &words[3]);
    absent = (words[0] & words[1] & words[2] & words[3]) >> 63 == 0;
#if LANES > 1
    absent = subgroup_ballot(absent);
#endif
  } while (absent != 0);
#else
#pragma unroll
  for (int i = 0; i < 4; ++i) words[i] = slot[i];
#endif
}
FN void clear_slot(GLOBAL ulong* slot) {
#if SAMESUM_INT64_ATOMICS
  clear_settled_global128(slot);
  clear_settled_global128(slot + 2);
#endif
}

// Whether the work-item draws the last ticket of all groups; for one work-item of each, after the group has published.
FN uint draws_last_ticket(GLOBAL uint* tickets) { return atomic_add_global32(tickets, 1) == group_count() - 1; }
