// Prefix sums in three launches: the sum of each tile; what lies before each tile; the prefixes of its elements. No group waits for another,
// so that it runs wherever kernels do.
//
// Sums of floats are expansions (groups/expansion.h), sums of integers 64 bits wide: both exact, so that no order of additions matters. Where
// an expansion would round, `words` says so, and the host does it all.
//
// Defined by the host: ELEMENT; INTEGERS; RESULT, the type of the results; NARROW, where that is float; SKIP (of NaNs); GROUP_SIZE, a power
// of two; ITEMS, the elements of a work-item, which are neighbours.

#define TILE (GROUP_SIZE * ITEMS)

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
FN uint finish_sum(SUM x, GLOBAL RESULT* to) {
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
FN uint finish_sum(SUM x, GLOBAL RESULT* to) {
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

// The sum of the work-item's elements, from `first` on.
FN SUM sum_of_items(GLOBAL const ELEMENT* x, ulong first, ulong count) {
  SUM sum = sum_zero();
  if (first + ITEMS <= count) {
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) sum = sum_add(sum, x[first + k]);
  } else {
    for (ulong i = first; i < count; ++i) sum = sum_add(sum, x[i]);
  }
  return sum;
}

// totals[tile] becomes the sum of tile `tile`; `tiles` is how many there are.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void scan_totals(GLOBAL const ELEMENT* x, ulong offset, ulong count, ulong tiles, GLOBAL ulong* totals) {
  LOCAL_VAR ulong shared[GROUP_SIZE * SUM_WORDS];
  const ulong tile = group_id();
  SUM sum = sum_of_items(x + offset, tile * TILE + (ulong)local_id() * ITEMS, count);
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

// `shift` is 1 for exclusive prefixes. words[0] becomes 1 where a result is not known.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void scan_prefixes(GLOBAL const ELEMENT* x, ulong offset, ulong count, ulong tiles, GLOBAL const ulong* totals, GLOBAL RESULT* to,
                   ulong to_offset, ulong shift, GLOBAL uint* words) {
  LOCAL_VAR ulong shared[GROUP_SIZE * SUM_WORDS];
  const ulong tile = group_id(), first = tile * TILE + (ulong)local_id() * ITEMS;
  const ulong end = first + ITEMS < count - shift ? first + ITEMS : count - shift;
  x += offset;
  to += to_offset;
  SUM sum = sum_up_to(shared, sum_of_items(x, first, count));
  share_sum(shared + local_id(), sum);
  barrier_local();
  sum = stored_sum(totals + tile, tiles);
  if (local_id() != 0) sum = sum_merge(sum, shared_sum(shared + local_id() - 1));
  uint unknown = 0;
  for (ulong i = first; i < end; ++i) {
    sum = sum_add(sum, x[i]);
    unknown |= finish_sum(sum, to + i + shift);
  }
  if (shift != 0 && first == 0) *to = 0;
  if (unknown != 0) words[0] = 1;
}
