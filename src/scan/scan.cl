// Scans in three launches: what comes of each tile; what lies before each tile; the prefixes of its elements. No group waits for another, so that
// it runs wherever kernels do. What is kept of elements is a PREFIX (scan/prefix.h). Where a result is not known, `words` says so.
//
// Defined by the host, beside what prefix.h names: NUMBER_OF(x), of an ELEMENT; WORD, of the size of the greater of an ELEMENT and a RESULT;
// SINGLE, whether a NUMBER is a float; SEGMENTS, whether scans begin anew within the array; GROUP_SIZE, a power of two; ITEMS, the elements of
// a work-item, a power of two up to 16.

#define TILE (GROUP_SIZE * ITEMS)
// Where element i of a tile stands in local memory: a work-item's ITEMS neighbours begin in a bank of their own.
#define PLACE(i) ((i) + (i) / ITEMS)

FN void share_prefix(LOCAL ulong* to, PREFIX p) {
#pragma unroll
  for (uint i = 0; i < PREFIX_WORDS; ++i) to[i * GROUP_SIZE] = prefix_word(&p, i);
}
FN PREFIX shared_prefix(LOCAL const ulong* from) {
  PREFIX p = prefix_zero();
#pragma unroll
  for (uint i = 0; i < PREFIX_WORDS; ++i) prefix_set(&p, i, from[i * GROUP_SIZE]);
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

// What comes of the group's prefixes up to this work-item's; and the same of flags.
FN PREFIX prefix_up_to(LOCAL ulong* shared, LOCAL uint* flags, PREFIX p, uint* flag) {
  const uint id = local_id();
  for (uint distance = 1; distance < GROUP_SIZE; distance *= 2) {
    share_prefix(shared + id, p);
#if SEGMENTS
    flags[id] = *flag;
#endif
    barrier_local();
    if (id >= distance) {
      if (*flag == 0) p = prefix_merge(shared_prefix(shared + id - distance), p);
#if SEGMENTS
      *flag |= flags[id - distance];
#endif
    }
    barrier_local();
  }
  share_prefix(shared + id, p);
#if SEGMENTS
  flags[id] = *flag;
#endif
  barrier_local();
  return p;
}

// totals[tile] becomes what comes of tile `tile`, from its last start on; `tiles` is how many there are.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void scan_totals(GLOBAL const ELEMENT* x, ulong offset, ulong count, ulong tiles, GLOBAL ulong* totals, GLOBAL const uint* starts,
                 GLOBAL uint* started) {
  LOCAL_VAR ulong shared[GROUP_SIZE * PREFIX_WORDS];
  LOCAL_VAR uint last[FLAGS];
  const uint id = local_id();
  const ulong tile = group_id(), first = tile * TILE;
  uint begin = 0;  // the first that counts, plus one where it is a start
#if SEGMENTS
  const uint bits = starts_at(starts, first + id * ITEMS, ITEMS);
  last[id] = bits != 0 ? id * ITEMS + 32 - clz32(bits) : 0;
  barrier_local();
  for (uint distance = GROUP_SIZE / 2; distance != 0; distance /= 2) {
    if (id < distance && last[id + distance] > last[id]) last[id] = last[id + distance];
    barrier_local();
  }
  begin = last[0];
#endif
  x += offset;
  PREFIX p = prefix_zero();
  ELEMENT elements[ITEMS];
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    const uint i = k * GROUP_SIZE + id;
    elements[k] = first + i < count ? x[first + i] : (ELEMENT)0;
  }
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    const uint i = k * GROUP_SIZE + id;
    if (first + i < count && i + 1 >= begin) p = prefix_add(p, NUMBER_OF(elements[k]));
  }
  for (uint distance = GROUP_SIZE / 2; distance != 0; distance /= 2) {
    share_prefix(shared + id, p);
    barrier_local();
    if (id < distance) p = prefix_merge(p, shared_prefix(shared + id + distance));
    barrier_local();
  }
  if (id != 0) return;
  store_prefix(totals + tile, tiles, p);
#if SEGMENTS
  started[tile] = begin != 0;
#endif
}

// By one group: totals[tile] becomes what lies before it.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void scan_before(ulong tiles, GLOBAL ulong* totals, GLOBAL const uint* started) {
  LOCAL_VAR ulong shared[GROUP_SIZE * PREFIX_WORDS];
  LOCAL_VAR uint flags[FLAGS];
  const uint id = local_id();
  const ulong each = (tiles + GROUP_SIZE - 1) / GROUP_SIZE;
  const ulong first = id * each, end = first + each < tiles ? first + each : tiles;
  PREFIX p = prefix_zero();
  uint flag = 0;
  for (ulong tile = first; tile < end; ++tile) {
    const PREFIX own = stored_prefix(totals + tile, tiles);
#if SEGMENTS
    if (started[tile] != 0) {
      flag = 1;
      p = own;
      continue;
    }
#endif
    p = prefix_merge(p, own);
  }
  prefix_up_to(shared, flags, p, &flag);
  PREFIX before = id != 0 ? shared_prefix(shared + id - 1) : prefix_zero();
  for (ulong tile = first; tile < end; ++tile) {
    PREFIX next = stored_prefix(totals + tile, tiles);
#if SEGMENTS
    if (started[tile] == 0) next = prefix_merge(before, next);
#else
    next = prefix_merge(before, next);
#endif
    store_prefix(totals + tile, tiles, before);
    before = next;
  }
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

// The results of the work-item's elements behind `p`; those that are not known, a bit each.
FN uint finish_items(PREFIX p, const NUMBER* x, uint bits, LOCAL RESULT* to) {
  uint unknown = 0;
#if KIND == SUMS && SINGLE
  if (bits == 0 && p.f == 0 && p.inexact == 0 && adds_up(x)) {
    // s + (e + the elements so far) is rounded once where the sum in brackets is exact.
    double all = -0.0;
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) {
      all += (double)x[k];
#if NARROW || SKIP
      RESULT result = 0;
      unknown |= prefix_finish(expansion_add(p, all), &result) << k;
      to[k] = result;
#else
      const double rest = p.e == 0 ? all : p.e + all;  // of zeros the sign of the elements'
      const double result = p.s + rest;
      to[k] = result;
      unknown |= (uint)(!(error_of_sum(p.e, all, rest) == 0) | !(result - result == 0)) << k;
#endif
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

// `shift` is 1 for exclusive prefixes. words[0] becomes 1 where a result is not known. Elements and results pass through local memory, so
// that neighbouring work-items access neighbours in global memory.
KERNEL FIXED_GROUP(GROUP_SIZE, 2)
void scan_prefixes(GLOBAL const ELEMENT* from, ulong offset, ulong count, ulong tiles, GLOBAL const ulong* totals, GLOBAL RESULT* to,
                   ulong to_offset, ulong shift, GLOBAL uint* words, GLOBAL const uint* starts) {
  LOCAL_VAR ulong shared[GROUP_SIZE * PREFIX_WORDS];
  LOCAL_VAR uint flags[FLAGS];
  LOCAL_VAR WORD stage[TILE + GROUP_SIZE];
  LOCAL ELEMENT* const elements = (LOCAL ELEMENT*)stage;
  LOCAL RESULT* const results = (LOCAL RESULT*)stage;
  const uint id = local_id(), own = id * (ITEMS + 1);
  const ulong tile = group_id(), first = tile * TILE, left = count - first, wanted = left - shift;
  from += offset + first;
  to += to_offset + first + shift;
  for (uint i = id; i < TILE; i += GROUP_SIZE) elements[PLACE(i)] = i < left ? from[i] : (ELEMENT)0;
  barrier_local();
  NUMBER x[ITEMS];
  PREFIX p = prefix_zero();
  const uint bits = starts_at(starts, first + id * ITEMS, ITEMS);
  uint flag = bits != 0;
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    x[k] = NUMBER_OF(elements[own + k]);
    if (bits >> k & 1) p = prefix_zero();
    p = prefix_add(p, x[k]);
  }
  prefix_up_to(shared, flags, p, &flag);
  p = stored_prefix(totals + tile, tiles);
  if (id != 0) {
    const PREFIX before = shared_prefix(shared + id - 1);
#if SEGMENTS
    p = flags[id - 1] != 0 ? before : prefix_merge(p, before);
#else
    p = prefix_merge(p, before);
#endif
  }
  const uint unknown = finish_items(p, x, bits, results + own);
  const ulong begin = (ulong)id * ITEMS;
  uint counted = begin + ITEMS <= wanted ? ~0u : begin < wanted ? (1u << (uint)(wanted - begin)) - 1 : 0;
#if SEGMENTS
  // An exclusive scan begins with that of no elements: what would come there is not used.
  if (shift != 0) counted &= ~(bits >> 1 | starts_at(starts, first + begin + ITEMS, 1) << (ITEMS - 1));
#endif
  if ((unknown & counted) != 0) atomic_max_global32(words, 1);
  barrier_local();
  for (uint i = id; i < TILE; i += GROUP_SIZE) {
    if (i < wanted) to[i] = shift != 0 && starts_at(starts, first + i + 1, 1) != 0 ? (RESULT)0 : results[PLACE(i)];
  }
  if (shift != 0 && tile == 0 && id == 0) to[-1] = 0;
}
