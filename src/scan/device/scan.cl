// Scans in three launches: the aggregate of each group's tiles, which are neighbours; what lies before these; the prefixes of their elements, tile by
// tile. No group waits for another, so that it runs wherever kernels do. What is kept of elements is a PREFIX (prefix.h). Where a result is not
// known, `words` says so.
//
// Defined by the host, beside what group.h names: RESIDENT, the groups of a compute unit for which registers should do.

// The aggregate of the group's prefixes before this work-item's, with its flag; and that of all of them. The caller lets no work-item come here again
// before all have left.
FN PREFIX prefix_before(LOCAL ulong* shared, LOCAL uint* flags, PREFIX p, uint* flag, PREFIX* all, uint* flag_all) {
  const uint id = local_id();
#if SUBGROUP > 1
  const uint part = id / SUBGROUP;
  p = subgroup_prefix(p, flag, SUBGROUP);
  if (id % SUBGROUP == SUBGROUP - 1) {
    share_prefix(shared + part, p);
#if SEGMENTS
    flags[part] = *flag;
#endif
  }
  p = subgroup_before(p, flag);
  barrier_local();
  *all = prefix_zero();
  *flag_all = 0;
  PREFIX before = *all;
  uint flag_before = 0;
#pragma unroll
  for (uint i = 0; i < PARTS; ++i) {
    if (i == part) {
      before = *all;
      flag_before = *flag_all;
    }
#if SEGMENTS
    uint flag_next = flags[i];
#else
    uint flag_next = 0;
#endif
    *all = prefix_behind(*all, *flag_all, shared_prefix(shared + i), &flag_next);
    *flag_all = flag_next;
  }
  return prefix_behind(before, flag_before, p, flag);
#else
  for (uint distance = 1; distance < GROUP_SIZE; distance *= 2) {
    share_prefix(shared + id, p);
#if SEGMENTS
    flags[id] = *flag;
#endif
    barrier_local();
    if (id >= distance) {
#if SEGMENTS
      p = prefix_behind(shared_prefix(shared + id - distance), flags[id - distance], p, flag);
#else
      p = prefix_merge(shared_prefix(shared + id - distance), p);
#endif
    }
    barrier_local();
  }
  share_prefix(shared + id, p);
#if SEGMENTS
  flags[id] = *flag;
#endif
  barrier_local();
  *all = shared_prefix(shared + GROUP_SIZE - 1);
#if SEGMENTS
  *flag_all = flags[GROUP_SIZE - 1];
  *flag = id != 0 ? flags[id - 1] : 0;
#endif
  return id != 0 ? shared_prefix(shared + id - 1) : prefix_zero();
#endif
}

// totals[group] becomes the aggregate of the group's `each` tiles, of `tiles` in all, from their last start on.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void scan_totals(GLOBAL const ELEMENT* x, ulong offset, ulong count, ulong tiles, ulong each, GLOBAL ulong* totals, GLOBAL const uint* starts,
                 GLOBAL uint* started) {
  LOCAL_VAR ulong shared[PARTS * PREFIX_WORDS];
  LOCAL_VAR uint flags[FLAGS];
  const uint id = local_id();
  const ulong begin = (ulong)group_id() * each, end = begin + each < tiles ? begin + each : tiles;
  x += offset;
  PREFIX p = prefix_zero();
  uint any = 0;
  for (ulong tile = begin; tile < end; ++tile) {
    const ulong first = tile * TILE;
#if SEGMENTS
    // Where a tile has starts, the first that counts is the last of them.
    uint last = 0;
    const uint bits = starts_at(starts, first + id * ITEMS, ITEMS);
    if (bits != 0) last = id * ITEMS + 32 - clz32(bits);
    flags[id] = last;
    barrier_local();
    for (uint distance = GROUP_SIZE / 2; distance != 0; distance /= 2) {
      if (id < distance && flags[id + distance] > flags[id]) flags[id] = flags[id + distance];
      barrier_local();
    }
    last = flags[0];
    barrier_local();
    if (last != 0) {  // the first that counts, plus 1
      any = 1;
      p = prefix_zero();
    }
#else
    const uint last = 1;  // all count
#endif
    if (last <= 1 && first + TILE <= count) {
      NUMBER elements[ITEMS];
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) elements[k] = NUMBER_OF(x[first + k * GROUP_SIZE + id]);
      p = prefix_add_items(p, elements);
    } else {
      for (uint i = id; i < TILE; i += GROUP_SIZE) {
        if (first + i < count && i + 1 >= last) p = prefix_add(p, NUMBER_OF(x[first + i]));
      }
    }
  }
  PREFIX all = prefix_zero();
  uint flag = 0, flag_all = 0;
  prefix_before(shared, flags, p, &flag, &all, &flag_all);
  if (id != 0) return;
  store_prefix(totals + group_id(), group_count(), all);
#if SEGMENTS
  started[group_id()] = any;
#endif
}

// By one group: totals[i] becomes what lies before the tiles that it is of.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void scan_before(ulong count, GLOBAL ulong* totals, GLOBAL const uint* started) {
  LOCAL_VAR ulong shared[PARTS * PREFIX_WORDS];
  LOCAL_VAR uint flags[FLAGS];
  const uint id = local_id();
  const ulong each = (count + GROUP_SIZE - 1) / GROUP_SIZE;
  const ulong first = id * each, end = first + each < count ? first + each : count;
  PREFIX p = prefix_zero();
  uint flag = 0;
  for (ulong i = first; i < end; ++i) {
    const PREFIX own = stored_prefix(totals + i, count);
#if SEGMENTS
    if (started[i] != 0) {
      flag = 1;
      p = own;
      continue;
    }
#endif
    p = prefix_merge(p, own);
  }
  PREFIX all = prefix_zero();
  uint flag_all = 0;
  PREFIX before = prefix_before(shared, flags, p, &flag, &all, &flag_all);
  for (ulong i = first; i < end; ++i) {
    PREFIX next = stored_prefix(totals + i, count);
#if SEGMENTS
    if (started[i] == 0) next = prefix_merge(before, next);
#else
    next = prefix_merge(before, next);
#endif
    store_prefix(totals + i, count, before);
    before = next;
  }
}

// `totals` is what lies before the group's `each` tiles, of `tiles` in all; `shift` is 1 for exclusive prefixes. words[0] becomes 1 where a result is
// not known.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void scan_prefixes(GLOBAL const ELEMENT* from, ulong offset, ulong count, ulong tiles, ulong each, GLOBAL const ulong* totals,
                   GLOBAL RESULT* to, ulong to_offset, ulong shift, GLOBAL uint* words, GLOBAL const uint* starts) {
  LOCAL_VAR ulong shared[PARTS * PREFIX_WORDS];
  LOCAL_VAR uint flags[FLAGS];
  LOCAL_VAR uint4 stage[STAGE_VECTORS];
  const ulong begin = (ulong)group_id() * each, end = begin + each < tiles ? begin + each : tiles;
  uint unknown = 0;
  PREFIX before = stored_prefix(totals + group_id(), group_count());
  for (ulong tile = begin; tile < end; ++tile) {
    const ulong first = tile * TILE, left = count - first;
    NUMBER x[ITEMS];
    load_tile(from + offset + first, left, stage);
    staged_items(stage, x);
    const uint bits = starts_at(starts, first + local_id() * ITEMS, ITEMS);
    uint flag = bits != 0, flag_all = 0;
    PREFIX all = prefix_zero();
    PREFIX p = prefix_before(shared, flags, items_prefix(x, bits), &flag, &all, &flag_all);
    p = prefix_behind(before, 0, p, &flag);
    before = prefix_behind(before, 0, all, &flag_all);
    unknown |= finish_items(p, x, bits, stage) & wanted_items(bits, first, left - shift, shift, starts);
    store_tile(stage, to + to_offset + shift, first, left - shift, shift, starts);
    barrier_local();
  }
  if (unknown != 0) atomic_max_global32(words, 1);
}
