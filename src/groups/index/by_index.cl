// Exact sums into groups by index (shares.h). The sums of the pair are kept in local memory, of all groups or of those that are frequent, and added to
// the planes at the end.
//
// Defined by the host, beside what shares.h names: INDEX, the type of indices; FIELDS, whether local memory has sums of all groups, as in fields.h;
// GROUP_SIZE; ITEMS, elements that a work-item loads at once.
//
// A file ahead of this one may say how an index follows from an INDEX: INDEX_OF(x), by the parameters INDEX_PARAMETERS and INDEX_SETUP, a statement.
#ifndef INDEX_OF
#define INDEX_OF(x) ((ulong)(x))
#define INDEX_PARAMETERS
#define INDEX_SETUP
#endif

#define LANE_MASK (SUBGROUP - 1)

// Sums of the pair in local memory: 64-bit words as two of 32 bits, apart from each other. The lower one's old value tells the carry.
FN void add_local(LOCAL uint* lower, LOCAL uint* upper, long value) {
  const uint low = (uint)value;
  uint high = (uint)((ulong)value >> 32);
  if (low != 0) high += (uint)(atomic_add_local32(lower, low) + low) < low;
  if (high != 0) atomic_add_local32(upper, high);
}
FN long local_sum(LOCAL const uint* slot, uint lower, uint slots) { return (long)((ulong)slot[(lower + 1) * slots] << 32 | slot[lower * slots]); }

#define LOCAL_COUNT 4
#define LOCAL_SQUARES 5
#define LOCAL_ROWS (5 + 2 * SQUARE_DIGITS * SQUARES)  // of words of local memory; one more has the slots' groups

FN void deposit_local(LOCAL uint* slot, uint slots, SHARE share) {
#if FIELDS
  add_whole(slot, slots, share.low);
#else
  add_local(slot, slot + slots, share.low);
  add_local(slot + 2 * slots, slot + 3 * slots, share.high);
#endif
#if COUNTS
  if (share.counted != 0) atomic_add_local32(slot + LOCAL_COUNT * slots, share.counted);
#else
  if (share.counted != 0 && slot[LOCAL_COUNT * slots] == 0) atomic_exchange_local32(slot + LOCAL_COUNT * slots, 1);
#endif
#if SQUARES
#pragma unroll
  for (uint i = 0; i < SQUARE_DIGITS; ++i) {
    add_local(slot + (LOCAL_SQUARES + 2 * i) * slots, slot + (LOCAL_SQUARES + 2 * i + 1) * slots, share.squares[i]);
  }
#endif
}

FN SHARE share_in(LOCAL const uint* slot, uint slots) {
  SHARE share;
#if FIELDS
  pair_of_fields(&share.low, &share.high, (int)slot[0], (int)slot[slots], (int)slot[2 * slots], (int)slot[3 * slots]);
#else
  share.low = local_sum(slot, 0, slots);
  share.high = local_sum(slot, 2, slots);
#endif
  share.counted = slot[LOCAL_COUNT * slots];
#if SQUARES
#pragma unroll
  for (uint i = 0; i < SQUARE_DIGITS; ++i) share.squares[i] = local_sum(slot, LOCAL_SQUARES + 2 * i, slots);
#endif
  return share;
}

// The slot of a group that is among the frequent ones (D. Knuth, The Art of Computer Programming 3, 6.4).
FN uint frequent_slot(uint group, uint slots) { return (uint)(((ulong)(group * 0x9e3779b1u) * slots) >> 32); }

// Local memory: `slots` sums; and the groups they belong to, unless `copies` is not 0: then each group has `copies` sums.
FN void deposit(const SUMS* sums, LOCAL uint* memory, uint slots, uint copies, SHARE share, uint group) {
  if (group == NO_GROUP) return;
  uint slot = group * copies + (local_id() & (copies - 1));
  if (!FIELDS && copies == 0) {
    slot = frequent_slot(group, slots);
    if (memory[LOCAL_ROWS * slots + slot] != group) return deposit_global(sums, share, group);
  }
  deposit_local(memory + slot, slots, share);
}

#if SAMESUM_SUBGROUPS && GROUP_SIZE % SUBGROUP == 0
// Where a run of equal groups begins, a bit each lane.
FN uint heads_of(uint group) {
  const uint lane = local_id() & LANE_MASK;
  const uint before = subgroup_shuffle(group, (lane - 1) & LANE_MASK);
  return subgroup_ballot(lane == 0 || before != group);
}

// Neighbours with one group add their shares up, where there are many such: the first of each run gets them, the others are left without a group.
FN void deposit_together(const SUMS* sums, LOCAL uint* memory, uint slots, uint copies, SHARE share, uint group, uint heads) {
  const uint lane = local_id() & LANE_MASK;
  if (count_bits32(heads) <= SUBGROUP / 2) {
    const uint later = lane == LANE_MASK ? 0 : heads & (~0u << (lane + 1));
    const uint end = later != 0 ? lowest_bit(later) : SUBGROUP;
    for (uint distance = 1; distance < SUBGROUP; distance *= 2) {
      const uint from = lane + distance;
      SHARE other;
      other.low = subgroup_shuffle64(share.low, from & LANE_MASK);
      other.high = FIELDS ? 0 : subgroup_shuffle64(share.high, from & LANE_MASK);
      other.counted = subgroup_shuffle(share.counted, from & LANE_MASK);
#if SQUARES
#pragma unroll
      for (uint i = 0; i < SQUARE_DIGITS; ++i) other.squares[i] = subgroup_shuffle64(share.squares[i], from & LANE_MASK);
#endif
      if (from < end) share = share_merge(share, other);
    }
    if ((heads >> lane & 1) == 0) group = NO_GROUP;
  }
  deposit(sums, memory, slots, copies, share, group);
}
#else
FN uint heads_of(uint group) { return 1; }
FN void deposit_together(const SUMS* sums, LOCAL uint* memory, uint slots, uint copies, SHARE share, uint group, uint heads) {
  deposit(sums, memory, slots, copies, share, group);
}
#endif

// Adds `count` elements, of which element i has the index indices[i]: each group of work-items `chunk` of them. Local memory has the extremes so far
// of all groups or of none.
KERNEL FIXED_GROUP(GROUP_SIZE, VALUE_BITS <= 32 ? 2 : 1)
void sums_by_index(GLOBAL const VALUE* values, ulong from, long stride, GLOBAL const INDEX* indices, ulong index_from, long index_stride,
                   ulong count, ulong chunk, SUMS_PARAMETERS, uint slots,
                   uint copies EXTREMA_PARAMETERS INDEX_PARAMETERS DYNLOCAL_PARAMETER(memory)) {
  INDEX_SETUP
  DYNLOCAL(memory);
  SUMS_SETUP
#if FIELDS
  const WINDOW window = window_of(&sums);
#define SHARE_OF(x, group) whole_share_of(&sums, &window, x, group)
#else
#define SHARE_OF(x, group) share_of(&sums, x, group)
#endif
  const uint id = local_id();
  const ulong begin = group_id() * chunk;
  const ulong end = count - begin < chunk ? count : begin + chunk;
  for (uint i = id; i < LOCAL_ROWS * slots; i += GROUP_SIZE) memory[i] = 0;
  LOCAL uint* const tags = memory + LOCAL_ROWS * slots;
  if (copies == 0) {
    for (uint i = id; i < slots; i += GROUP_SIZE) tags[i] = NO_GROUP;
  }
#if EXTREMA
  LOCAL ulong* const known = (LOCAL ulong*)(memory + (((LOCAL_ROWS + 1) * slots + 1) & ~1u));
  for (uint i = id; i < 2 * known_groups; i += GROUP_SIZE) known[i] = 0;
#endif
  barrier_local();
  // A sample of the elements: of the groups that share a slot the one that is frequent is likely to come last.
  if (copies == 0) {
    for (uint i = id; i < slots; i += GROUP_SIZE) {
      const ulong sample = begin + (end - begin) / slots * i;
      const ulong group = sample < end ? INDEX_OF(indices[(long)index_from + (long)sample * index_stride]) : groups;
      if (group < groups) atomic_exchange_local32(&tags[frequent_slot((uint)group, slots)], (uint)group);
    }
  }
  barrier_local();
  uint outside = 0;
  ulong first_outside = count;
  ulong part_end = end;
  for (ulong part = begin; part < end; part = part_end) {
#if FIELDS
    part_end = end - part < ROUND ? end : part + ROUND;
#endif
    for (ulong tile = part; tile < part_end; tile += ITEMS * GROUP_SIZE) {
      VALUE x[ITEMS];
      uint group[ITEMS];
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) {
        const ulong i = tile + k * GROUP_SIZE + id;
        x[k] = i < end ? values[(long)from + (long)i * stride] : (VALUE)0;
        group[k] = NO_GROUP;
        if (i >= end) continue;
        const ulong index = INDEX_OF(indices[(long)index_from + (long)i * index_stride]);
        if (index < groups) {
          group[k] = (uint)index;
        } else {
          ++outside;
          first_outside = i < first_outside ? i : first_outside;
        }
      }
#if EXTREMA
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) note_extremes(&sums, known, known_groups, x[k], group[k]);
#endif
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) {
        const uint heads = heads_of(group[k]);
        deposit_together(&sums, memory, slots, copies, SHARE_OF(x[k], group[k]), group[k], heads);
      }
    }
#if FIELDS
    barrier_local();
    carry_fields(&sums, memory, slots, copies);
    barrier_local();
#endif
  }
  if (outside != 0) {
    atomic_add_global32(&words[OUTSIDE], outside);
    atomic_max_global32(&words[FIRST_OUTSIDE], (uint)(count - first_outside));
  }
  barrier_local();
  // Of a group with several slots their sum.
  const uint each = copies != 0 ? copies : 1;
  for (uint slot = id * each; slot < slots; slot += GROUP_SIZE * each) {
    SHARE share = share_zero();
    for (uint copy = 0; copy < each; ++copy) share = share_merge(share, share_in(memory + slot + copy, slots));
    const uint group = copies != 0 ? slot / copies : tags[slot];
    if (group < groups) deposit_global(&sums, share, group);
  }
}
