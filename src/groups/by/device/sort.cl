// A stable sort of the numbers of elements by their keys: eight bits of the keys in each pass, from the lowest on (a radix sort, as in N. Satish,
// M. Harris, M. Garland, "Designing efficient sorting algorithms for manycore GPUs", IPDPS 2009).
//
// Each group has a share of the elements, one run of whole tiles. A pass is three launches: digit_counts() counts each group's digits,
// digit_rows() makes of these counts where each group's elements with a digit begin among all with that digit, and digit_moves() moves them. On devices
// with sub-groups it brings a tile into order in local memory first, so that elements that go to adjacent places are stored together. What is sorted has
// runs of equal keys: run_counts(), digit_rows() and run_numbers() number them.
//
// The host defines GROUP_SIZE (256 with sub-groups), EACH (elements of a work-item in a tile) and KEY, uint or ulong.

#if SUBGROUP > 1 && GROUP_SIZE == 256
#define LANES SUBGROUP
#else
#define LANES 1
#endif
#define SUBGROUPS (GROUP_SIZE / LANES)
#define TILE (GROUP_SIZE * EACH)
#define DIGITS 256
#define FOR_EACH_DIGIT(digit) for (uint digit = local_id(); digit < DIGITS; digit += GROUP_SIZE)
#define LOADS 4  // keys in flight

FN uint digit_of(KEY key, uint shift) { return (uint)(key >> shift) & (DIGITS - 1); }

// `counts` has a row for each digit, with a number for each group.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void digit_counts(GLOBAL const KEY* keys, uint size, uint share, uint shift, GLOBAL uint* counts) {
  LOCAL_VAR uint here[DIGITS];
  FOR_EACH_DIGIT(digit) here[digit] = 0;
  barrier_local();
  const uint first = group_id() * share, end = min_u32(size, first + share);
  uint i = first + local_id();
  for (; i + (LOADS - 1) * GROUP_SIZE < end; i += LOADS * GROUP_SIZE) {
    KEY key[LOADS];
#pragma unroll
    for (uint k = 0; k < LOADS; ++k) key[k] = keys[i + k * GROUP_SIZE];
#pragma unroll
    for (uint k = 0; k < LOADS; ++k) atomic_add_local32(&here[digit_of(key[k], shift)], 1);
  }
  for (; i < end; i += GROUP_SIZE) atomic_add_local32(&here[digit_of(keys[i], shift)], 1);
  barrier_local();
  FOR_EACH_DIGIT(digit) counts[digit * group_count() + group_id()] = here[digit];
}

// The sum of the values of the group's work-items up to this one, and of all. All of the group call it.
FN uint sum_up_to(uint value, LOCAL uint* sums, uint* all) {
  uint side = 0;
  barrier_local();
  sums[local_id()] = value;
  barrier_local();
  for (uint distance = 1; distance < GROUP_SIZE; distance *= 2) {
    const uint at = side * GROUP_SIZE + local_id(), other = (1 - side) * GROUP_SIZE + local_id();
    sums[other] = sums[at] + (local_id() >= distance ? sums[at - distance] : 0);
    side = 1 - side;
    barrier_local();
  }
  *all = sums[side * GROUP_SIZE + GROUP_SIZE - 1];
  return sums[side * GROUP_SIZE + local_id()];
}

// A group for each digit: its row's numbers become the sums of those before them, and `totals` has the sum of all.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void digit_rows(GLOBAL uint* counts, uint columns, GLOBAL uint* totals) {
  LOCAL_VAR uint sums[2 * GROUP_SIZE];
  GLOBAL uint* const row = counts + group_id() * columns;
  uint before = 0;
  for (uint first = 0; first < columns; first += GROUP_SIZE) {
    const uint column = first + local_id();
    const uint own = column < columns ? row[column] : 0;
    uint all;
    const uint sum = sum_up_to(own, sums, &all);
    if (column < columns) row[column] = before + sum - own;
    before += all;
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

#if LANES > 1
// The sum of the values of all work-items before this one. All of the group call it.
FN uint sum_before(uint value, LOCAL uint* sums) {
  const uint lane = local_id() % LANES, subgroup = local_id() / LANES;
  uint sum = value;
#pragma unroll
  for (uint distance = 1; distance < LANES; distance *= 2) {
    const uint other = subgroup_shuffle(sum, (lane - distance) % LANES);
    sum += lane >= distance ? other : 0;
  }
  if (lane == LANES - 1) sums[subgroup] = sum;
  barrier_local();
  for (uint i = 0; i < subgroup; ++i) sum += sums[i];
  return sum - value;
}
#endif

// `numbered`: elements have their positions as numbers, in place of `numbers`.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void digit_moves(GLOBAL const KEY* keys, GLOBAL const uint* numbers, int numbered, uint size, uint share, uint shift, GLOBAL const uint* rows,
                 GLOBAL const uint* totals, GLOBAL KEY* to_keys, GLOBAL uint* to_numbers) {
  LOCAL_VAR uint next[DIGITS];            // where the group's next element with each digit goes
  LOCAL_VAR uint own[SUBGROUPS][DIGITS];  // how many a sub-group has seen in this tile, then where the first of them goes
#if LANES > 1
  LOCAL_VAR KEY ordered[TILE];
  LOCAL_VAR uint sums[SUBGROUPS];
  LOCAL uint* const ordered_numbers = (LOCAL uint*)ordered;
#endif
  const uint lane = local_id() % LANES, subgroup = local_id() / LANES;
  FOR_EACH_DIGIT(digit) own[0][digit] = totals[digit];
  barrier_local();
  FOR_EACH_DIGIT(digit) {
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
#if LANES > 1
    // A work-item has a digit: where its elements begin in the tile's order. `next` becomes what is added to their places there.
    {
      const uint digit = local_id();
      uint count = 0;
      for (uint i = 0; i < SUBGROUPS; ++i) count += own[i][digit];
      uint at = sum_before(count, sums);
      const uint to_next = next[digit] - at;
      for (uint i = 0; i < SUBGROUPS; ++i) {
        const uint of_subgroup = own[i][digit];
        own[i][digit] = at;
        at += of_subgroup;
      }
      next[digit] = to_next;
      barrier_local();
#pragma unroll
      for (uint k = 0; k < EACH; ++k) {
        rank[k] += own[subgroup][digit_of(key[k], shift)];
        if (begin + k * LANES < end) ordered[rank[k]] = key[k];
      }
      barrier_local();
      const uint here = min_u32(end - tile, TILE);
      uint place[EACH];
#pragma unroll
      for (uint k = 0; k < EACH; ++k) {
        const uint i = k * GROUP_SIZE + local_id();
        if (i >= here) continue;
        place[k] = next[digit_of(ordered[i], shift)] + i;
        to_keys[place[k]] = ordered[i];
      }
      barrier_local();
#pragma unroll
      for (uint k = 0; k < EACH; ++k) {
        const uint i = begin + k * LANES;
        if (i < end) ordered_numbers[rank[k]] = numbered ? i : numbers[i];
      }
      barrier_local();
#pragma unroll
      for (uint k = 0; k < EACH; ++k) {
        const uint i = k * GROUP_SIZE + local_id();
        if (i < here) to_numbers[place[k]] = ordered_numbers[i];
      }
      next[digit] = to_next + at;
    }
#else
    FOR_EACH_DIGIT(digit) {
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
#endif
  }
}

// Runs of equal keys, of keys in order: how many begin in each group's share.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void run_counts(GLOBAL const KEY* keys, uint size, uint share, GLOBAL uint* counts) {
  LOCAL_VAR uint sums[2 * GROUP_SIZE];
  const uint first = group_id() * share, end = min_u32(size, first + share);
  uint here = 0;
  for (uint i = first + local_id(); i < end; i += GROUP_SIZE) here += i == 0 || keys[i] != keys[i - 1];
  uint all;
  sum_up_to(here, sums, &all);
  if (local_id() == 0) counts[group_id()] = all;
}

// Each element gets the number of its run; each run its key, and its first element, which has the lowest number. `before`: the runs that begin before each
// group's share.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void run_numbers(GLOBAL const KEY* keys, GLOBAL const uint* numbers, uint size, uint share, GLOBAL const uint* before, GLOBAL uint* run_of,
                 GLOBAL KEY* key_of, GLOBAL uint* first_of) {
  LOCAL_VAR uint sums[2 * GROUP_SIZE];
  const uint first = group_id() * share, end = min_u32(size, first + share);
  uint runs = before[group_id()];
  for (uint tile = first; tile < end; tile += GROUP_SIZE) {
    const uint i = tile + local_id(), begins = i < end && (i == 0 || keys[i] != keys[i - 1]);
    uint all;
    const uint run = runs + sum_up_to(begins, sums, &all) - 1;
    runs += all;
    if (i < end) run_of[numbers[i]] = run;
    if (begins) {
      key_of[run] = keys[i];
      first_of[run] = numbers[i];
    }
  }
}
