// Prefix sums in three launches: the sum of each tile; what lies before each tile; the prefixes of its elements. No group waits for another,
// so that it runs wherever kernels do.
//
// Sums of floats are expansions (groups/expansion.h), sums of integers 64 bits wide: both exact, so that no order of additions matters. Where
// an expansion would round, `words` says so, and the host does it all.
//
// Defined by the host: ELEMENT; INTEGERS; RESULT, the type of the results; NARROW, where that is float; SKIP (of NaNs); GROUP_SIZE, a power
// of two; ITEMS, the elements of a work-item; WORD, of the size of the greater of an element and a result; FLOATS, whether elements are float32.

#define TILE (GROUP_SIZE * ITEMS)
// Where element i of a tile stands in local memory: a work-item's ITEMS neighbours begin in a bank of their own.
#define PLACE(i) ((i) + (i) / ITEMS)

#if INTEGERS
#define SUM long
#define SUM_WORDS 1
FN SUM sum_zero(void) { return 0; }
FN SUM sum_add(SUM x, ELEMENT value) { return x + (long)value; }
FN SUM sum_merge(SUM x, SUM y) { return x + y; }
FN void store_sum(GLOBAL ulong* to, ulong apart, SUM x) { to[0] = (ulong)x; }
FN SUM stored_sum(GLOBAL const ulong* from, ulong apart) { return (SUM)from[0]; }
FN void share_sum(LOCAL ulong* to, SUM x) { to[0] = (ulong)x; }
FN SUM shared_sum(LOCAL const ulong* from) { return (SUM)from[0]; }
FN uint finish_sum(SUM x, LOCAL RESULT* to) {
  *to = (RESULT)x;
  return 0;
}
#else
#define SUM EXPANSION
#define SUM_WORDS 4
#define sum_zero expansion_zero
#define sum_merge expansion_merge
FN SUM sum_add(SUM x, ELEMENT value) {
#if SKIP
  if (!(value == value)) return x;
#endif
  return expansion_add(x, (double)value);
}
FN void store_sum(GLOBAL ulong* to, ulong apart, SUM x) {
  to[0] = as_ulong(x.s);
  to[apart] = as_ulong(x.e);
  to[2 * apart] = as_ulong(x.f);
  to[3 * apart] = x.inexact;
}
FN SUM stored_sum(GLOBAL const ulong* from, ulong apart) {
  SUM x;
  x.s = as_double(from[0]);
  x.e = as_double(from[apart]);
  x.f = as_double(from[2 * apart]);
  x.inexact = (uint)from[3 * apart];
  return x;
}
FN void share_sum(LOCAL ulong* to, SUM x) {
  to[0] = as_ulong(x.s);
  to[GROUP_SIZE] = as_ulong(x.e);
  to[2 * GROUP_SIZE] = as_ulong(x.f);
  to[3 * GROUP_SIZE] = x.inexact;
}
FN SUM shared_sum(LOCAL const ulong* from) {
  SUM x;
  x.s = as_double(from[0]);
  x.e = as_double(from[GROUP_SIZE]);
  x.f = as_double(from[2 * GROUP_SIZE]);
  x.inexact = (uint)from[3 * GROUP_SIZE];
  return x;
}
// Stores the rounded sum; 1 where it is not known.
FN uint finish_sum(SUM x, LOCAL RESULT* to) {
#if NARROW
  // Both ends of an interval about the sum round to the same.
  x = expansion_normalized(x);
  const double size = x.s < 0 ? -x.s : x.s;
  const double reach = x.e == 0 && x.f == 0 ? 0 : size * 0x1p-51;
  const float low = (float)(x.s - reach), high = (float)(x.s + reach);
  *to = low;
  x.inexact |= as_uint(low) != as_uint(high) || !(size < 0x1p120);
#else
  x = expansion_rounded(x);
  *to = x.s;
#endif
#if SKIP
  x.inexact |= x.s == 0;  // of no elements it is +0.0
#endif
  return x.inexact;
}
#endif

// The sum of the group's sums up to this work-item's.
FN SUM sum_up_to(LOCAL ulong* shared, SUM sum) {
  const uint id = local_id();
  for (uint distance = 1; distance < GROUP_SIZE; distance *= 2) {
    share_sum(shared + id, sum);
    barrier_local();
    if (id >= distance) sum = sum_merge(shared_sum(shared + id - distance), sum);
    barrier_local();
  }
  return sum;
}

#if INTEGERS
#define PADDING 0
#else
#define PADDING (ELEMENT)-0.0
#endif

// totals[tile] becomes the sum of tile `tile`; `tiles` is how many there are.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void scan_totals(GLOBAL const ELEMENT* x, ulong offset, ulong count, ulong tiles, GLOBAL ulong* totals) {
  LOCAL_VAR ulong shared[GROUP_SIZE * SUM_WORDS];
  const ulong tile = group_id();
  const ulong first = tile * TILE + local_id();
  x += offset;
  SUM sum = sum_zero();
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    const ulong i = first + k * GROUP_SIZE;
    sum = sum_add(sum, i < count ? x[i] : PADDING);
  }
  for (uint distance = GROUP_SIZE / 2; distance != 0; distance /= 2) {
    share_sum(shared + local_id(), sum);
    barrier_local();
    if (local_id() < distance) sum = sum_merge(sum, shared_sum(shared + local_id() + distance));
    barrier_local();
  }
  if (local_id() == 0) store_sum(totals + tile, tiles, sum);
}

// By one group: totals[tile] becomes the sum before it.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void scan_before(ulong tiles, GLOBAL ulong* totals) {
  LOCAL_VAR ulong shared[GROUP_SIZE * SUM_WORDS];
  const ulong each = (tiles + GROUP_SIZE - 1) / GROUP_SIZE;
  const ulong first = local_id() * each, end = first + each < tiles ? first + each : tiles;
  SUM sum = sum_zero();
  for (ulong tile = first; tile < end; ++tile) sum = sum_merge(sum, stored_sum(totals + tile, tiles));
  sum = sum_up_to(shared, sum);
  share_sum(shared + local_id(), sum);
  barrier_local();
  SUM before = sum_zero();
  if (local_id() != 0) before = shared_sum(shared + local_id() - 1);
  for (ulong tile = first; tile < end; ++tile) {
    sum = sum_merge(before, stored_sum(totals + tile, tiles));
    store_sum(totals + tile, tiles, before);
    before = sum;
  }
}

#if FLOATS
// Whether sums of some of these ITEMS, at most 2^4, floats, as doubles, are exact: these are below 2^(e - 126) and multiples of 2^(e - 25 - 150).
FN uint adds_up(const ELEMENT* x) {
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

// The results of the work-item's elements; those that are not known, a bit each.
FN uint finish_items(SUM sum, const ELEMENT* x, LOCAL RESULT* to) {
  uint unknown = 0;
#if FLOATS
  if (sum.f == 0 && sum.inexact == 0 && adds_up(x)) {
    // s + (e + the elements so far) is rounded once where the sum in brackets is exact.
    double all = -0.0;
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) {
      all += (double)x[k];
#if NARROW || SKIP
      unknown |= finish_sum(expansion_add(sum, all), to + k) << k;
#else
      const double rest = sum.e == 0 ? all : sum.e + all;  // of zeros the sign of the elements'
      const double result = sum.s + rest;
      to[k] = result;
      unknown |= (uint)(!(error_of_sum(sum.e, all, rest) == 0) | !(result - result == 0)) << k;
#endif
    }
    return unknown;
  }
#endif
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    sum = sum_add(sum, x[k]);
    unknown |= finish_sum(sum, to + k) << k;
  }
  return unknown;
}

// `shift` is 1 for exclusive prefixes. words[0] becomes 1 where a result is not known. Elements and results pass through local memory, so
// that neighbouring work-items access neighbours in global memory.
KERNEL FIXED_GROUP(GROUP_SIZE, 2)
void scan_prefixes(GLOBAL const ELEMENT* from, ulong offset, ulong count, ulong tiles, GLOBAL const ulong* totals, GLOBAL RESULT* to,
                   ulong to_offset, ulong shift, GLOBAL uint* words) {
  LOCAL_VAR ulong shared[GROUP_SIZE * SUM_WORDS];
  LOCAL_VAR WORD stage[TILE + GROUP_SIZE];
  LOCAL ELEMENT* const elements = (LOCAL ELEMENT*)stage;
  LOCAL RESULT* const results = (LOCAL RESULT*)stage;
  const uint id = local_id(), own = id * (ITEMS + 1);
  const ulong tile = group_id(), first = tile * TILE, left = count - first, wanted = left - shift;
  from += offset + first;
  to += to_offset + first + shift;
  for (uint i = id; i < TILE; i += GROUP_SIZE) elements[PLACE(i)] = i < left ? from[i] : PADDING;
  barrier_local();
  ELEMENT x[ITEMS];
  SUM sum = sum_zero();
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    x[k] = elements[own + k];
    sum = sum_add(sum, x[k]);
  }
  sum = sum_up_to(shared, sum);
  share_sum(shared + id, sum);
  barrier_local();
  sum = stored_sum(totals + tile, tiles);
  if (id != 0) sum = sum_merge(sum, shared_sum(shared + id - 1));
  const uint unknown = finish_items(sum, x, results + own);
  const ulong begin = (ulong)id * ITEMS;
  const uint counted = begin + ITEMS <= wanted ? ~0u : begin < wanted ? (1u << (uint)(wanted - begin)) - 1 : 0;
  if ((unknown & counted) != 0) atomic_max_global32(words, 1);
  barrier_local();
  for (uint i = id; i < TILE; i += GROUP_SIZE) {
    if (i < wanted) to[i] = results[PLACE(i)];
  }
  if (shift != 0 && tile == 0 && id == 0) to[-1] = 0;
}
