// Scans in three launches: what comes of each group's tiles, which are neighbours; what lies before these; the prefixes of their elements, tile by
// tile. No group waits for another, so that it runs wherever kernels do. What is kept of elements is a PREFIX (scan/prefix.h). Where a result is not
// known, `words` says so.
//
// Defined by the host, beside what prefix.h names: NUMBER_OF(x), of an ELEMENT; WORD, of the size of the greater of an ELEMENT and a RESULT;
// SINGLE, whether a NUMBER is a float; SEGMENTS, whether scans begin anew within the array; GROUP_SIZE, a power of two; ITEMS, the elements of
// a work-item, a power of two up to 16; RESIDENT, the groups of a compute unit for which registers should do.

#define TILE (GROUP_SIZE * ITEMS)
// Where element i of a tile stands in local memory: a work-item's ITEMS neighbours begin in a bank of their own.
#define PLACE(i) ((i) + (i) / ITEMS)

// What comes of parts of a group passes through local memory: of its sub-groups, or of each work-item where there are none.
#if SUBGROUP > 1
#define PARTS (GROUP_SIZE / SUBGROUP)
#else
#define PARTS GROUP_SIZE
#endif

FN void share_prefix(LOCAL ulong* to, PREFIX p) {
#pragma unroll
  for (uint i = 0; i < PREFIX_WORDS; ++i) to[i * PARTS] = prefix_word(&p, i);
}
FN PREFIX shared_prefix(LOCAL const ulong* from) {
  PREFIX p = prefix_zero();
#pragma unroll
  for (uint i = 0; i < PREFIX_WORDS; ++i) prefix_set(&p, i, from[i * PARTS]);
  return p;
}

// Where scans begin anew is a bit for each element. Parts are merged by (flag, prefix) pairs: one whose flag is set has a start, and forgets what is
// before that (G. Blelloch, Prefix sums and their applications, 1990).

// Bits for the `size` elements from `first` on: `size` divides 32 and `first`.
FN uint starts_at(GLOBAL const uint* starts, ulong first, uint size) {
#if SEGMENTS
  const uint bits = starts[first / 32] >> (uint)(first % 32);
  return size == 32 ? bits : bits & (((uint)1 << size) - 1);
#else
  return 0;
#endif
}

// The bits of lines of `extent` elements each.
KERNEL void scan_rows(GLOBAL uint* starts, ulong words, ulong extent) {
  const ulong step = global_size();
  for (ulong i = global_id(); i < words; i += step) {
    uint bits = 0;
    for (ulong start = (32 * i + extent - 1) / extent * extent; start < 32 * i + 32; start += extent) bits |= (uint)1 << (uint)(start - 32 * i);
    starts[i] = bits;
  }
}

// Adds bits at these places, of which those beyond the elements are left out.
KERNEL void scan_offsets(GLOBAL uint* starts, GLOBAL const ulong* offsets, ulong count, ulong size) {
  const ulong step = global_size();
  for (ulong i = global_id(); i < count; i += step) {
    const ulong offset = offsets[i];
    if (offset < size) atomic_or_global32(&starts[offset / 32], (uint)1 << (uint)(offset % 32));
  }
}

#if SEGMENTS
#define FLAGS GROUP_SIZE
#else
#define FLAGS 1
#endif

// p and what is before it; and of their flags.
FN PREFIX prefix_behind(PREFIX before, uint flag_before, PREFIX p, uint* flag) {
  if (*flag == 0) p = prefix_merge(before, p);
  *flag |= flag_before;
  return p;
}

// What comes of the group's prefixes before this work-item's, with the flag of that; and of all of them. The caller lets no work-item come here again
// before all have left.
FN PREFIX prefix_before(LOCAL ulong* shared, LOCAL uint* flags, PREFIX p, uint* flag, PREFIX* all, uint* flag_all) {
  const uint id = local_id();
#if SUBGROUP > 1
  const uint lane = id % SUBGROUP, part = id / SUBGROUP;
  for (uint distance = 1; distance < SUBGROUP; distance *= 2) {
    const uint from = lane >= distance ? lane - distance : lane;
    PREFIX before = prefix_zero();
#pragma unroll
    for (uint i = 0; i < PREFIX_WORDS; ++i) prefix_set(&before, i, (ulong)subgroup_shuffle64((long)prefix_word(&p, i), from));
#if SEGMENTS
    const uint flag_before = subgroup_shuffle(*flag, from);
#else
    const uint flag_before = 0;
#endif
    if (lane >= distance) p = prefix_behind(before, flag_before, p, flag);
  }
  if (lane == SUBGROUP - 1) {
    share_prefix(shared + part, p);
#if SEGMENTS
    flags[part] = *flag;
#endif
  }
  // Of the lanes before this one.
  PREFIX own = prefix_zero();
  const uint from = lane != 0 ? lane - 1 : 0;
#pragma unroll
  for (uint i = 0; i < PREFIX_WORDS; ++i) prefix_set(&own, i, (ulong)subgroup_shuffle64((long)prefix_word(&p, i), from));
#if SEGMENTS
  uint own_flag = subgroup_shuffle(*flag, from);
#else
  uint own_flag = 0;
#endif
  if (lane == 0) {
    own = prefix_zero();
    own_flag = 0;
  }
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
  *flag = own_flag;
  return prefix_behind(before, flag_before, own, flag);
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

#if KIND == SUMS && SINGLE
// Whether sums of some of these ITEMS, at most 2^4, floats, as doubles, are exact: these are below 2^(e - 126) and multiples of 2^(e - 25 - 150).
FN uint adds_up(const NUMBER* x) {
  uint greatest = 0;
  uint least = ~0u;
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    const uint magnitude = as_uint(x[k]) & 0x7fffffffu;
    greatest = greatest > magnitude ? greatest : magnitude;
    least = least < magnitude - 1 ? least : magnitude - 1;  // zeros become the greatest
  }
  return greatest < 0x7f800000u && greatest >> 23 < (least >> 23) + 25;
}
#endif

// What comes of the work-item's elements, of which none is a start, behind p.
FN PREFIX prefix_add_items(PREFIX p, const NUMBER* x) {
#if KIND == SUMS && SINGLE
  if (adds_up(x)) {
    double all = -0.0;
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) all += (double)x[k];
    return bounded_add(p, all);
  }
#endif
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) p = prefix_add(p, x[k]);
  return p;
}

// totals[group] becomes what comes of the group's `each` tiles, of `tiles` in all, from their last start on.
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

// The results of the work-item's elements behind `p`; those that are not known, a bit each.
FN uint finish_items(PREFIX p, const NUMBER* x, uint bits, LOCAL RESULT* to) {
  uint unknown = 0;
#if KIND == SUMS && SINGLE
  if (bits == 0 && adds_up(x)) {
    // Sums of these elements alone are exact: one addition to what is before them is all that can have an error.
    double all = -0.0;
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) {
      all += (double)x[k];
      const BOUNDED sum = bounded_add(p, all);
      RESULT result = 0;
      unknown |= prefix_finish(sum, &result) << k;
      to[k] = result;
    }
    return unknown;
  }
#endif
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    RESULT result = 0;
    if (bits >> k & 1) p = prefix_zero();
    p = prefix_add(p, x[k]);
    unknown |= prefix_finish(p, &result) << k;
    to[k] = result;
  }
  return unknown;
}

// `totals` is what lies before the group's `each` tiles, of `tiles` in all; `shift` is 1 for exclusive prefixes. words[0] becomes 1 where a result is
// not known. Elements and results pass through local memory, so that neighbouring work-items access neighbours in global memory.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void scan_prefixes(GLOBAL const ELEMENT* from, ulong offset, ulong count, ulong tiles, ulong each, GLOBAL const ulong* totals,
                   GLOBAL RESULT* to, ulong to_offset, ulong shift, GLOBAL uint* words, GLOBAL const uint* starts) {
  LOCAL_VAR ulong shared[PARTS * PREFIX_WORDS];
  LOCAL_VAR uint flags[FLAGS];
  LOCAL_VAR WORD stage[TILE + GROUP_SIZE];
  LOCAL ELEMENT* const elements = (LOCAL ELEMENT*)stage;
  LOCAL RESULT* const results = (LOCAL RESULT*)stage;
  const uint id = local_id(), own = id * (ITEMS + 1);
  const ulong begin = (ulong)group_id() * each, end = begin + each < tiles ? begin + each : tiles;
  uint unknown_any = 0;
  PREFIX before = stored_prefix(totals + group_id(), group_count());
  from += offset;
  to += to_offset + shift;
  for (ulong tile = begin; tile < end; ++tile) {
    const ulong first = tile * TILE, left = count - first, wanted = left - shift;
    if (left >= TILE) {
      ELEMENT loaded[ITEMS];  // all loads before the first store: these wait for nothing else
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) loaded[k] = from[first + k * GROUP_SIZE + id];
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) elements[PLACE(k * GROUP_SIZE + id)] = loaded[k];
    } else {
      for (uint i = id; i < TILE; i += GROUP_SIZE) elements[PLACE(i)] = i < left ? from[first + i] : (ELEMENT)0;
    }
    barrier_local();
    NUMBER x[ITEMS];
    const uint bits = starts_at(starts, first + id * ITEMS, ITEMS);
    uint flag = bits != 0;
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) x[k] = NUMBER_OF(elements[own + k]);
    PREFIX p = prefix_zero();
    if (bits == 0) {
      p = prefix_add_items(p, x);
    } else {
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) {
        if (bits >> k & 1) p = prefix_zero();
        p = prefix_add(p, x[k]);
      }
    }
    PREFIX all = prefix_zero();
    uint flag_all = 0;
    p = prefix_before(shared, flags, p, &flag, &all, &flag_all);
    p = prefix_behind(before, 0, p, &flag);
    before = prefix_behind(before, 0, all, &flag_all);
    const uint unknown = finish_items(p, x, bits, results + own);
    const ulong place = (ulong)id * ITEMS;
    uint counted = place + ITEMS <= wanted ? ~0u : place < wanted ? (1u << (uint)(wanted - place)) - 1 : 0;
#if SEGMENTS
    // An exclusive scan begins with that of no elements: what would come there is not used.
    if (shift != 0) counted &= ~(bits >> 1 | starts_at(starts, first + place + ITEMS, 1) << (ITEMS - 1));
#endif
    unknown_any |= unknown & counted;
    barrier_local();
    if (wanted >= TILE) {
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) {
        const uint i = k * GROUP_SIZE + id;
        RESULT result = results[PLACE(i)];
#if SEGMENTS
        if (shift != 0 && starts_at(starts, first + i + 1, 1) != 0) result = 0;
#endif
        to[first + i] = result;
      }
    } else {
      for (uint i = id; i < TILE; i += GROUP_SIZE) {
        if (i < wanted) to[first + i] = shift != 0 && starts_at(starts, first + i + 1, 1) != 0 ? (RESULT)0 : results[PLACE(i)];
      }
    }
    if (shift != 0 && tile == 0 && id == 0) to[-1] = 0;
    barrier_local();
  }
  if (unknown_any != 0) atomic_max_global32(words, 1);
}
