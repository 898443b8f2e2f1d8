// A stable sort of the numbers of elements by their keys: eight bits of the keys in each pass, from the lowest on (a radix sort, as in N. Satish,
// M. Harris, M. Garland, "Designing efficient sorting algorithms for manycore GPUs", IPDPS 2009).
//
// Each group has a share of the elements, one run of whole tiles. A pass is three launches: digit_counts() counts each group's digits,
// digit_rows() makes of these counts where each group's elements with a digit begin among all with that digit, and digit_moves() moves them.
//
// The host defines GROUP_SIZE, EACH (elements of a work-item in a tile) and KEY, uint or ulong.

#if SUBGROUP > 1 && GROUP_SIZE % SUBGROUP == 0
#define LANES SUBGROUP
#else
#define LANES 1
#endif
#define SUBGROUPS (GROUP_SIZE / LANES)
#define TILE (GROUP_SIZE * EACH)
#define DIGITS 256

FN uint digit_of(KEY key, uint shift) { return (uint)(key >> shift) & (DIGITS - 1); }

// `counts` has a row for each digit, with a number for each group.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void digit_counts(GLOBAL const KEY* keys, uint size, uint share, uint shift, GLOBAL uint* counts) {
  LOCAL_VAR uint here[DIGITS];
  for (uint digit = local_id(); digit < DIGITS; digit += GROUP_SIZE) here[digit] = 0;
  barrier_local();
  const uint first = group_id() * share, end = min_u32(size, first + share);
  for (uint i = first + local_id(); i < end; i += GROUP_SIZE) atomic_add_local32(&here[digit_of(keys[i], shift)], 1);
  barrier_local();
  for (uint digit = local_id(); digit < DIGITS; digit += GROUP_SIZE) counts[digit * group_count() + group_id()] = here[digit];
}

// A group for each digit: its row's numbers become the sums of those before them, and `totals` has the sum of all.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void digit_rows(GLOBAL uint* counts, uint columns, GLOBAL uint* totals) {
  LOCAL_VAR uint sums[2][GROUP_SIZE];
  GLOBAL uint* const row = counts + group_id() * columns;
  uint before = 0;
  for (uint first = 0; first < columns; first += GROUP_SIZE) {
    const uint column = first + local_id();
    const uint own = column < columns ? row[column] : 0;
    uint side = 0;
    sums[0][local_id()] = own;
    barrier_local();
    for (uint distance = 1; distance < GROUP_SIZE; distance *= 2) {
      sums[1 - side][local_id()] = sums[side][local_id()] + (local_id() >= distance ? sums[side][local_id() - distance] : 0);
      side = 1 - side;
      barrier_local();
    }
    if (column < columns) row[column] = before + sums[side][local_id()] - own;
    before += sums[side][GROUP_SIZE - 1];
    barrier_local();
  }
  if (local_id() == 0) totals[group_id()] = before;
}

// The lanes of the sub-group whose digit is this lane's, of those that have an element.
FN uint lanes_with(uint digit, uint present) {
#if LANES > 1
  uint lanes = subgroup_ballot(present);
#pragma unroll
  for (uint bit = 1; bit < DIGITS; bit *= 2) {
    const uint ones = subgroup_ballot((digit & bit) != 0);
    lanes &= (digit & bit) != 0 ? ones : ~ones;
  }
  return lanes;
#else
  return present;
#endif
}

// `numbered`: elements have their positions as numbers, in place of `numbers`.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void digit_moves(GLOBAL const KEY* keys, GLOBAL const uint* numbers, int numbered, uint size, uint share, uint shift, GLOBAL const uint* rows,
                 GLOBAL const uint* totals, GLOBAL KEY* to_keys, GLOBAL uint* to_numbers) {
  LOCAL_VAR uint next[DIGITS];              // where the group's next element with each digit goes
  LOCAL_VAR uint own[SUBGROUPS][DIGITS];  // how many a sub-group has seen in this tile, then where the first of them goes
  const uint lane = local_id() % LANES, subgroup = local_id() / LANES;
  for (uint digit = local_id(); digit < DIGITS; digit += GROUP_SIZE) own[0][digit] = totals[digit];
  barrier_local();
  for (uint digit = local_id(); digit < DIGITS; digit += GROUP_SIZE) {
    uint before = rows[digit * group_count() + group_id()];
    for (uint lower = 0; lower < digit; ++lower) before += own[0][lower];
    next[digit] = before;
  }
  const uint first = group_id() * share, end = min_u32(size, first + share);
  for (uint tile = first; tile < end; tile += TILE) {
    barrier_local();
    for (uint i = local_id(); i < SUBGROUPS * DIGITS; i += GROUP_SIZE) own[i / DIGITS][i % DIGITS] = 0;
    barrier_local();
    KEY key[EACH];
    uint rank[EACH];
    const uint begin = tile + subgroup * (LANES * EACH) + lane;
#pragma unroll
    for (uint k = 0; k < EACH; ++k) {
      const uint i = begin + k * LANES;
      key[k] = i < end ? keys[i] : 0;
    }
#pragma unroll
    for (uint k = 0; k < EACH; ++k) {
      const uint present = begin + k * LANES < end;
      const uint digit = digit_of(key[k], shift), lanes = lanes_with(digit, present);
      const uint lower = count_bits32(lanes & ((1u << lane) - 1)), before = own[subgroup][digit];
      rank[k] = before + lower;
#if LANES > 1
      subgroup_sync();
#endif
      if (present && lower == 0) own[subgroup][digit] = before + count_bits32(lanes);
#if LANES > 1
      subgroup_sync();
#endif
    }
    barrier_local();
    for (uint digit = local_id(); digit < DIGITS; digit += GROUP_SIZE) {
      uint at = next[digit];
      for (uint i = 0; i < SUBGROUPS; ++i) {
        const uint count = own[i][digit];
        own[i][digit] = at;
        at += count;
      }
      next[digit] = at;
    }
    barrier_local();
#pragma unroll
    for (uint k = 0; k < EACH; ++k) {
      const uint i = begin + k * LANES;
      if (i >= end) continue;
      const uint to = own[subgroup][digit_of(key[k], shift)] + rank[k];
      to_keys[to] = key[k];
      to_numbers[to] = numbered ? i : numbers[i];
    }
  }
}
