// The keys of given ranks of many lists, one for each position along the axes that are kept.
//
// A group has GROUP_SIZE / workers lists; its work-items share the elements of each. A key is found from its highest bits on, two in each pass: the
// keys are counted that are less than each of the three candidates, and the greatest candidate with at most `rank` keys below it is kept. Elements
// stay in registers if there are at most KEPT for each work-item. Keys are those of keys.hpp; a NaN has the greatest one. Follows elements.h, meet.h.
//
// The host defines GROUP_SIZE, KEPT, and ALONE: whether each list has one work-item.

#define UNROLL 4  // loads in flight where elements are read in each pass
#define KEY_SIGN ((WORD)1 << (BITS - 1))
#define MOST (BITS == 64 ? (WORD)~(ulong)0 : (WORD)(((ulong)1 << (BITS & 63)) - 1))
#define COUNT_BITS 21  // three counts in a word

typedef struct {
  GLOBAL const uchar* first;
  long stride;
  uint size;
  uint worker, workers;
  uint slot, width;  // the list's number in the group; lists of a group
  uint neighbours;   // adjacent work-items have adjacent lists
} LIST;

FN WORD selection_key(WORD x) {
#if FLOATS
  return is_nan(x) ? MOST : x < KEY_SIGN ? x | KEY_SIGN : MOST - x;
#else
  return SIGNED ? x ^ KEY_SIGN : x;
#endif
}
FN WORD key_at(LIST list, uint i) { return selection_key((WORD)*(GLOBAL const ELEMENT*)(list.first + (long)i * list.stride)); }

// The sum, or the least, of the values of all workers of a list. All work-items of the group call it; `turn` counts the calls.
#if ALONE  // PoCL takes half a minute to compile barriers that stand behind a condition
FN ulong of_workers(LIST list, ulong value, const uint least, LOCAL ulong* shared, uint turn) { return value; }
#else
FN ulong of_workers(LIST list, ulong value, const uint least, LOCAL ulong* shared, uint turn) {
  if (list.workers == 1) return value;
  uint apart = list.neighbours ? list.width : 1;
#if LANES > 1
  if (!list.neighbours) {
    for (uint distance = min_u32(list.workers, LANES) / 2; distance != 0; distance /= 2) {
      const ulong other = (ulong)subgroup_shuffle64((long)value, (local_id() ^ distance) & (LANES - 1));
      value = !least ? value + other : other < value ? other : value;
    }
    if (list.workers <= LANES) return value;
    apart = LANES;
  }
#endif
  shared += turn % 2 * GROUP_SIZE;  // so that one barrier is enough
  shared[local_id()] = value;
  barrier_local();
  const uint first = list.neighbours ? list.slot : list.slot * list.workers;
  const uint count = list.neighbours ? list.workers : list.workers / apart;
  ulong all = shared[first];
  for (uint i = 1; i < count; ++i) {
    const ulong other = shared[first + i * apart];
    all = !least ? all + other : other < all ? other : all;
  }
  return all;
}
#endif

// Keys in three ranges, of all elements of a worker.
typedef struct {
  uint below0, below1, below2;
} COUNTS;
FN COUNTS count_key(COUNTS counts, WORD key, WORD candidate, WORD step) {
  counts.below0 += key < candidate;
  counts.below1 += key < candidate + step;
  counts.below2 += key < candidate + 2 * step;
  return counts;
}
FN ulong counts_below(LIST list, const WORD* kept, uint in_registers, WORD candidate, WORD step) {
  COUNTS counts = {0, 0, 0};
  if (in_registers) {
#pragma unroll
    for (int k = 0; k < KEPT; ++k) counts = count_key(counts, kept[k], candidate, step);
  } else {
    uint i = list.worker;
    for (; i + (UNROLL - 1) * list.workers < list.size; i += UNROLL * list.workers) {
      WORD keys[UNROLL];
#pragma unroll
      for (int k = 0; k < UNROLL; ++k) keys[k] = key_at(list, i + k * list.workers);
#pragma unroll
      for (int k = 0; k < UNROLL; ++k) counts = count_key(counts, keys[k], candidate, step);
    }
    for (; i < list.size; i += list.workers) counts = count_key(counts, key_at(list, i), candidate, step);
  }
  return (ulong)counts.below2 << 2 * COUNT_BITS | (ulong)counts.below1 << COUNT_BITS | counts.below0;
}

// How many keys are at most `key`, and the least of the others.
typedef struct {
  uint count;
  WORD next;
} BEHIND;
FN BEHIND add_behind(BEHIND behind, WORD x, WORD key) {
  if (x <= key) {
    ++behind.count;
  } else if (x < behind.next) {
    behind.next = x;
  }
  return behind;
}

// List i lies `kept_stride` times i % kept_extent bytes behind the first one, and `outer_stride` times i / kept_extent. `ranks`: of each quantile one, or
// one for each number of elements that are not NaN, up to `each`: `rank_count` in all; then `nans` gets the number of NaNs of each list. Else the keys
// of a list with NaNs are a NaN's. `keys`: of each quantile the keys at its rank of all lists; then, if `both` is set, those behind them.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void select_lists(GLOBAL const uchar* data, ulong offset, ulong lists, ulong kept_extent, long kept_stride, long outer_stride, uint each, long stride,
                  uint workers, int neighbours, ulong first_list, GLOBAL const uint* ranks, uint rank_count, uint quantiles, int both,
                  GLOBAL uint* nans_of, GLOBAL ELEMENT* keys) {
  LOCAL_VAR ulong shared[2 * GROUP_SIZE];
  const uint id = local_id();
  LIST list;
  list.workers = workers;
  list.width = GROUP_SIZE / workers;
  list.neighbours = (uint)neighbours;
  list.worker = neighbours ? id / list.width : id & (workers - 1);
  list.slot = neighbours ? id & (list.width - 1) : id / workers;
  const ulong own = first_list + (ulong)group_id() * list.width + list.slot;
  const ulong number = own < lists ? own : lists - 1;  // the last one more than once
  const ulong outer = number / kept_extent;
  list.first = data + offset + ((long)outer * outer_stride + (long)(number - outer * kept_extent) * kept_stride);
  list.stride = stride;
  list.size = each;
  const uint in_registers = each <= KEPT * workers;

  WORD kept[KEPT];
  uint nans = 0, turn = 0;
#pragma unroll
  for (int k = 0; k < KEPT; ++k) {
    const uint i = list.worker + k * workers;
    kept[k] = in_registers && i < each ? key_at(list, i) : MOST;
    if (FLOATS && in_registers && i < each) nans += kept[k] == MOST;
  }
#if FLOATS
  for (uint i = list.worker; !in_registers && i < each; i += workers) nans += key_at(list, i) == MOST;
  nans = (uint)of_workers(list, nans, 0, shared, turn++);
#endif
  const uint writes = list.worker == 0 && own < lists;
  if (rank_count > 1 && writes) nans_of[own] = nans;

  for (uint q = 0; q < quantiles; ++q) {
    const uint rank = ranks[(ulong)q * rank_count + (rank_count > 1 ? each - nans : 0)];
    WORD key = 0;
    for (int shift = (int)opaque(BITS) - 2; shift >= 0; shift -= 2) {  // compilers are not to unroll it: it has barriers
      const WORD step = (WORD)1 << shift;
      const ulong below = of_workers(list, counts_below(list, kept, in_registers, key + step, step), 0, shared, turn++);
      const uint mask = (1u << COUNT_BITS) - 1;
      const uint passed = ((uint)below & mask) <= rank, second = ((uint)(below >> COUNT_BITS) & mask) <= rank;
      const uint third = ((uint)(below >> 2 * COUNT_BITS) & mask) <= rank;
      key += (WORD)(passed + second + third) << shift;
    }
    if (rank_count == 1 && nans != 0) key = MOST;
    if (writes) keys[(ulong)q * (both ? 2 : 1) * lists + own] = (ELEMENT)key;
    if (!both) continue;
    BEHIND behind = {0, MOST};
    if (in_registers) {
#pragma unroll
      for (int k = 0; k < KEPT; ++k) {
        if (list.worker + k * workers < each) behind = add_behind(behind, kept[k], key);
      }
    } else {
      for (uint i = list.worker; i < each; i += workers) behind = add_behind(behind, key_at(list, i), key);
    }
    const ulong at_most = of_workers(list, behind.count, 0, shared, turn++);
    const ulong next = of_workers(list, behind.next, 1, shared, turn++);
    if (writes) keys[(2 * (ulong)q + 1) * lists + own] = (ELEMENT)(at_most > rank + 1 ? key : next);
  }
}
