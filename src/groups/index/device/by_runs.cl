// Exact sums into groups whose elements are neighbours (shares.h): of sorted indices, and of segments. The order of indices is not a condition.
//
// A team of work-items takes a contiguous part of the elements, tile by tile; each work-item a few neighbours of a tile. Of one run of equal indices
// that goes on over several tiles each work-item has a share. Where runs end, each work-item has a share of the run that its elements begin with and
// one of the run that they end with, and a segmented scan over the team brings shares of one run together (G. Blelloch, Prefix sums and their
// applications, 1990): so a run costs a few atomic additions, whatever its length. Most tiles' elements are added up in one register each first
// (divided_tile.h).
//
// Defined by the host, beside what shares.h names: INDEX, the type of indices; SEGMENTS, whether there are offsets in their place; GROUP_SIZE; ITEMS,
// neighbours that a work-item loads at once.

#if SEGMENTS
// The number of the offsets from `first` to `last` (excluded) that are not above `place`, plus `first`.
FN uint offsets_up_to(GLOBAL const ulong* offsets, uint first, uint last, ulong place) {
  while (first < last) {
    const uint middle = first + (last - first) / 2;
    if (offsets[middle] <= place) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

// The same, where that is probably close to `first`.
FN uint offsets_behind(GLOBAL const ulong* offsets, uint first, uint last, ulong place) {
  uint step = 1;
  while (step <= last - first && offsets[first + step - 1] <= place) {
    first += step;
    step *= 2;
  }
  return offsets_up_to(offsets, first, step < last - first ? first + step : last, place);
}
#endif

// Adds `count` elements, of which element i has the index indices[i]: each group of work-items `chunk` of them, a multiple of its tiles. With SEGMENTS
// indices[i] is where segment i begins, and `first_element` the place of the first element. `vectors` says which arrays lie so that loads of 16 bytes
// may read them. Local memory has the extremes so far of all groups or of none.
KERNEL FIXED_GROUP(GROUP_SIZE, SQUARES ? 2 : 3)
void sums_by_runs(GLOBAL const VALUE* values, ulong from, long stride, GLOBAL const INDEX* indices, ulong index_from, long index_stride,
                  ulong count, ulong chunk, SUMS_PARAMETERS, ulong first_element,
                  uint vectors EXTREMA_PARAMETERS DYNLOCAL_PARAMETER(memory)) {
  SUMS_SETUP
  const uint id = local_id(), lane = id % TEAM;
#if EXTREMA
  DYNLOCAL(memory);
  LOCAL ulong* const known = (LOCAL ulong*)memory;
  for (uint i = id; i < 2 * known_groups; i += GROUP_SIZE) known[i] = 0;
  barrier_local();
#endif
  const ulong begin = group_id() * chunk, end = count - begin < chunk ? count : begin + chunk;
  const ulong part = chunk / (GROUP_SIZE / TEAM), part_begin = begin + id / TEAM * part;
  const ulong part_end = end < part_begin + part ? end : part_begin + part;
#if SEGMENTS
  const uint offsets = (uint)groups + 1;
  uint begun = offsets_up_to(indices, 0, offsets, first_element + part_begin);  // offsets that are not above the first place of a tile
  ulong next = begun < offsets ? indices[begun] : ~0UL;
#else
  const uint most = (INDEX)-1 < 0 && groups > 0x80000000u ? 0x80000000u : (uint)groups;  // of indices of 32 bits that are not negative
  uint outside = 0;
  ulong first_outside = count;
#endif
  RUN run = run_of(NO_GROUP);  // the last one: all work-items have a part of its sum where it `spreads`, else the last one has all
  uint spreads = 0;
#if IN_REGISTERS
  const PAIR digits = pair_of(&sums);
  uint is_whole = 1;  // the last work-item's sum is a number in one register, and there is none else
#endif
  for (ulong tile = part_begin; tile < part_end; tile += ITEMS * TEAM) {
    const ulong first = tile + lane * ITEMS;
    const uint whole = first + ITEMS <= part_end;
    VALUE x[ITEMS];
    uint group[ITEMS];
    if (whole && (vectors & VECTORS_OF_VALUES) != 0) {
      LOAD_ITEMS(VALUE, x, values + (from + first));
    } else {
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) x[k] = first + k < part_end ? values[(long)from + (long)(first + k) * stride] : (VALUE)0;
    }
#if SEGMENTS
    const ulong tile_end = part_end - tile < ITEMS * TEAM ? part_end : tile + ITEMS * TEAM;
    if (first_element + tile_end <= next && tile_end == tile + ITEMS * TEAM) {  // in one segment
      const uint all = begun != 0 && begun <= groups ? begun - 1 : NO_GROUP;
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) group[k] = all;
    } else {
      const uint highest = offsets_behind(indices, begun, offsets, first_element + tile_end - 1);
      uint mine = offsets_up_to(indices, begun, highest, first_element + first);
      ulong above = mine < highest ? indices[mine] : ~0UL;
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) {
        if (above <= first_element + first + k) {
          mine = offsets_behind(indices, mine, highest, first_element + first + k);
          above = mine < highest ? indices[mine] : ~0UL;
        }
        group[k] = first + k < part_end && mine != 0 && mine <= groups ? mine - 1 : NO_GROUP;
      }
      begun = highest;
      next = begun < offsets ? indices[begun] : ~0UL;
    }
#else
    INDEX index[ITEMS];
    if (whole && (vectors & VECTORS_OF_INDICES) != 0) {
      LOAD_ITEMS(INDEX, index, indices + (index_from + first));
    } else {
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) {
        index[k] = first + k < part_end ? indices[(long)index_from + (long)(first + k) * index_stride] : (INDEX)0;
      }
    }
    uint all = whole;
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) {
      const uint inside = sizeof(INDEX) == 8 ? (ulong)index[k] < groups : (uint)index[k] < most;
      group[k] = inside ? (uint)index[k] : NO_GROUP;
      all &= inside;
    }
    if (!all) {
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) {
        if (first + k >= part_end) {
          group[k] = NO_GROUP;
        } else if (group[k] == NO_GROUP) {
          ++outside;
          first_outside = first + k < first_outside ? first + k : first_outside;
        }
      }
    }
#endif
#if EXTREMA
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) note_extremes(&sums, known, known_groups, x[k], group[k]);
#endif
    uint ends = 0;
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) ends |= group[k] != run.group;
    if (!TEAM_ANY(ends)) {
      hold_all(&sums, &run, x);
      spreads = 1;
#if IN_REGISTERS
      is_whole = 0;
#endif
      continue;
    }
#if IN_REGISTERS
    const uint field = exact_tile(&digits, x);
    if (field != 0) {
      add_divided_tile(&sums, &digits, x, group, field, &run, is_whole);
      spreads = 0;
      is_whole = 1;
      continue;
    }
    is_whole = 0;
    settle_run(&sums, &run);
#endif
    const SHARE carried = spreads ? share_of_team(run.share) : share_of_lane(run.share, TEAM - 1);
    // The runs of the work-item's own elements: those between its first and its last one end here.
    SHARE front = share_zero(), back = share_zero();
    uint back_group = NO_GROUP, divided = 0;
    for (uint start = 0; start < ITEMS;) {
      RUN piece = run_of(NO_GROUP);
      uint stop = ITEMS;
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) {
        if (k == start) piece.group = group[k];
        if (k > start && stop == ITEMS && group[k] != piece.group) stop = k;
      }
      hold_some(&sums, &piece, x, start, stop);
#if IN_REGISTERS
      settle_run(&sums, &piece);
#endif
      if (start == 0) front = piece.share;
      if (stop == ITEMS) back = piece.share;
      if (start != 0 && stop != ITEMS) deposit_run(&sums, piece.share, piece.group);
      back_group = piece.group;
      divided |= stop != ITEMS;
      start = stop;
    }
    uint before = TEAM_GET(back_group, (lane - 1) % TEAM);
    if (lane == 0) before = run.group;
    const uint begins = group[0] != before;
    if (lane == 0 && !begins && !divided) back = share_merge(carried, back);
    back = share_since(back, begins || divided);
    SHARE ending = share_of_lane(back, (lane - 1) % TEAM);
    if (lane == 0) ending = carried;
    if (!begins) ending = share_merge(ending, front);
    if (begins || divided) deposit_run(&sums, ending, before);
    if (begins && divided) deposit_run(&sums, front, group[0]);
    run = run_of(TEAM_GET(back_group, TEAM - 1));
    if (lane == TEAM - 1) run.share = back;
    spreads = 0;
  }
#if IN_REGISTERS
  settle_run(&sums, &run);
#endif
  const SHARE rest = share_of_team(run.share);
  if (lane == 0) deposit_run(&sums, rest, run.group);
#if !SEGMENTS
  if (outside != 0) {
    atomic_add_global32(&words[OUTSIDE], outside);
    atomic_max_global32(&words[FIRST_OUTSIDE], (uint)(count - first_outside));
  }
#endif
}
