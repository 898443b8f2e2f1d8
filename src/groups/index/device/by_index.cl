// Exact sums into groups by index (shares.h). The sums of the pair are kept in local memory, of all groups or of those that are frequent, and added to
// the planes at the end.
//
// Defined by the host, beside what shares.h names: INDEX, the type of indices; FIELDS, whether local memory has sums of all groups, as in fields.h;
// GROUP_SIZE; ITEMS, elements that a work-item loads at once.
//
// A file ahead of this one may say how an index follows from an INDEX: INDEX_OF(x), by the parameters INDEX_PARAMETERS and INDEX_SETUP, a statement;
// and INDICES_OF(vector, found), of the INDICES that 16 bytes hold.
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
  add_pair(local_place(slot), slots, share.low, share.high);
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

// Neighbours with one group add their shares up: the first of each run gets them, the others are left without a group.
FN void deposit_together(const SUMS* sums, LOCAL uint* memory, uint slots, uint copies, SHARE share, uint group) {
  const uint lane = local_id() & LANE_MASK, heads = heads_of(group);
  const uint later = lane == LANE_MASK ? 0 : heads & (~0u << (lane + 1));
  const uint end = later != 0 ? lowest_bit(later) : SUBGROUP;
  for (uint distance = 1; distance < SUBGROUP; distance *= 2) {
    const uint from = lane + distance;
    SHARE other;
    other.low = subgroup_shuffle64(share.low, from & LANE_MASK);
    other.high = subgroup_shuffle64(share.high, from & LANE_MASK);
    other.counted = subgroup_shuffle(share.counted, from & LANE_MASK);
#if SQUARES
#pragma unroll
    for (uint i = 0; i < SQUARE_DIGITS; ++i) other.squares[i] = subgroup_shuffle64(share.squares[i], from & LANE_MASK);
#endif
    if (from < end) share = share_merge(share, other);
  }
  if ((heads >> lane & 1) == 0) group = NO_GROUP;
  deposit(sums, memory, slots, copies, share, group);
}
FN uint any_lane(uint value) { return subgroup_ballot((int)value) != 0; }
// Whether many neighbours have one group, so that they would wait for each other's additions. Work-items that are copies apart do not.
FN uint crowded(uint group, uint copies) { return copies < SUBGROUP / 4 && count_bits32(heads_of(group)) <= SUBGROUP / 2; }
#else
FN uint crowded(uint group, uint copies) { return 0; }
FN uint any_lane(uint value) { return value; }
#define deposit_together deposit
#endif

// Adds an element that is no special case, in few instructions; returns 0, and adds nothing, where it is one for share_of(), or has no group. `mine` is
// this work-item's place in the sums of group 0.
#if FIELDS && !SQUARES
#if SPLIT_FLOATS
typedef SPLIT HOW;
FN HOW how_of(const SUMS* sums) { return split_of(sums); }
#else
typedef WINDOW HOW;
FN HOW how_of(const SUMS* sums) { return window_of(sums); }
#endif
FN uint deposit_quickly(const SUMS* sums, const HOW* how, LOCAL uint* memory, LOCAL_PLACE mine, uint slots, uint copies, VALUE x, uint group) {
  const uint adds = group != NO_GROUP;
  const LOCAL_PLACE slot = local_place_behind(mine, adds ? group * copies : 0);
#if SPLIT_FLOATS
  if (!add_split(how, slot, slots, x, adds)) return 0;
#else
  long whole;
  if (!adds || !whole_of(how, x, &whole)) return 0;
  add_whole(slot, slots, whole);
#endif
#if COUNTS
  add_to_place(local_place_behind(slot, LOCAL_COUNT * slots), 1);
#else
  store_to_place(local_place_behind(slot, LOCAL_COUNT * slots), 1);
#endif
  return 1;
}
#else
typedef uint HOW;
FN HOW how_of(const SUMS* sums) { return 0; }
FN uint deposit_quickly(const SUMS* sums, const HOW* how, LOCAL uint* memory, LOCAL_PLACE mine, uint slots, uint copies, VALUE x, uint group) {
  SHARE share = share_zero();
  if (group == NO_GROUP || !add_number(sums, &share, x)) return 0;
  share.counted = 1;
#if FIELDS
  if (share.high >= HIGH_LIMIT || share.high <= -HIGH_LIMIT) return 0;
#endif
  deposit(sums, memory, slots, copies, share, group);
  return 1;
}
#endif

// Adds `count` elements, of which element i has the index indices[i]: each group of work-items `chunk` of them, a multiple of its tiles. Local memory
// has the extremes so far of all groups or of none.
KERNEL FIXED_GROUP(GROUP_SIZE, SQUARES && (EXTREMA || VALUE_BITS > 32 || sizeof(INDEX) > 4) ? 1 : 2)
void sums_by_index(GLOBAL const VALUE* values, ulong from, long stride, GLOBAL const INDEX* indices, ulong index_from, long index_stride,
                   ulong count, ulong chunk, SUMS_PARAMETERS, uint slots, uint copies,
                   uint vectors EXTREMA_PARAMETERS INDEX_PARAMETERS DYNLOCAL_PARAMETER(memory)) {
  INDEX_SETUP
  DYNLOCAL(memory);
  SUMS_SETUP
  const HOW how = how_of(&sums);
  const LOCAL_PLACE mine = local_place_behind(local_place(memory), local_id() & (copies - 1));
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
      const ulong first = tile + id * ITEMS;
      const uint whole = first + ITEMS <= end;
      VALUE x[ITEMS];
      INDEX index[ITEMS];
      uint group[ITEMS];
      if (whole && (vectors & VECTORS_OF_VALUES) != 0) {
        LOAD_ITEMS(VALUE, x, values + (from + first));
      } else {
#pragma unroll
        for (uint k = 0; k < ITEMS; ++k) x[k] = first + k < end ? values[(long)from + (long)(first + k) * stride] : (VALUE)0;
      }
      if (whole && (vectors & VECTORS_OF_INDICES) != 0) {
        LOAD_ITEMS(INDEX, index, indices + (index_from + first));
      } else {
#pragma unroll
        for (uint k = 0; k < ITEMS; ++k) {
          index[k] = first + k < end ? indices[(long)index_from + (long)(first + k) * index_stride] : (INDEX)0;
        }
      }
      uint all = 1;
#if defined(INDICES) && ITEMS % INDICES == 0
#pragma unroll
      for (uint v = 0; v < ITEMS; v += INDICES) {
#if INDICES == 4
        const uint4 vector = make_uint4(index[v], index[v + 1], index[v + 2], index[v + 3]);
#else
        const uint4 vector = make_uint4((uint)index[v], (uint)(index[v] >> 32), (uint)index[v + 1], (uint)(index[v + 1] >> 32));
#endif
        INDICES_OF(vector, group + v);
      }
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) {
        all &= group[k] < groups;
        if (group[k] >= groups) group[k] = NO_GROUP;
      }
#else
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) {
        const ulong found = INDEX_OF(index[k]);
        group[k] = found < groups ? (uint)found : NO_GROUP;
        all &= found < groups;
      }
#endif
      if (!whole || !all) {
#pragma unroll
        for (uint k = 0; k < ITEMS; ++k) {
          if (first + k >= end) {
            group[k] = NO_GROUP;
          } else if (group[k] == NO_GROUP) {
            ++outside;
            first_outside = first + k < first_outside ? first + k : first_outside;
          }
        }
      }
#if EXTREMA
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) note_extremes(&sums, known, known_groups, x[k], group[k]);
#endif
      // Where the first elements of a sub-group are crowded, all of this tile are added together.
      const uint together = crowded(group[0], copies);
      uint others = together;
      if (!together) {
#pragma unroll
        for (uint k = 0; k < ITEMS; ++k) others |= !deposit_quickly(&sums, &how, memory, mine, slots, copies, x[k], group[k]) << k;
      }
      // One copy of the code for what is rare. All of a sub-group go through it: what is added together waits in `waiting` for another group.
      if (any_lane(others)) {
        SHARE waiting = share_zero();
        uint waits_for = NO_GROUP;
        for (uint at = 0; at <= ITEMS; ++at) {
          VALUE number = 0;
          uint its = NO_GROUP;
#pragma unroll
          for (uint k = 0; k < ITEMS; ++k) {
            if (k == at && (together || (others >> k & 1) != 0)) {
              number = x[k];
              its = group[k];
            }
          }
          SHARE share = share_of(&sums, number, its);
#if FIELDS
          if (share.high >= HIGH_LIMIT || share.high <= -HIGH_LIMIT) {
            deposit_global(&sums, share, its);
            share = share_zero();
          }
#endif
          if (!together) {
            deposit(&sums, memory, slots, copies, share, its);
          } else if (any_lane(its != waits_for)) {
            deposit_together(&sums, memory, slots, copies, waiting, waits_for);
            waiting = share;
            waits_for = its;
          } else {
            waiting = share_merge(waiting, share);
          }
        }
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
