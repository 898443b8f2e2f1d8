// The exact sum: a histogram of mantissas by exponent.
//
// A finite float is an integer times a power of two, so a sum of floats is one sum of integers for each exponent. Every element is cut
// into pieces of 16 bits, and each piece is added to a 32-bit bin in local memory that stands for its weight and sign. A group has 32
// columns of bins, one for each lane: lanes never meet in a bank, whatever the data, and no branch depends on a finite element. So the
// speed is that of reading, for any data. Bins are collected in 64-bit rows before they can overflow; rows become digits of the
// superaccumulator (exact.h), groups add their digits up, and the last one rounds (exact_lanes.h).
//
// Before this file stands that of the element type (elements_*.cl, which uses what elements.h has for it). Defined by the host: LOADS
// (16-byte loads that a work-item has in flight), GROUP_SIZE, RESIDENT (groups of it to a compute unit), COLUMN_BITS (5 for 32 columns;
// less where local memory is short).

#define STORAGE ((COUNTERS + BIN_ROWS) * COLUMNS)
#define FINISH_SIZE (GROUP_SIZE < 32 ? GROUP_SIZE : 32)  // work-items of sum_exact_finish
#define TILE (GROUP_SIZE * LOADS)  // 16-byte loads that a group adds in one go

// What the rows that begin in a digit add up to: a row is 2^38 at most for each collection, so there is room in 64 bits.
FN long rows_in_digit(LOCAL const long* rows, int digit) {
  long sum = 0;
  if (digit < 0 || digit > DIGITS - 3) return 0;
#pragma unroll
  for (int i = 0; i < ROWS_TO_A_DIGIT; ++i) sum += (long)((ulong)rows[digit * ROWS_TO_A_DIGIT + i] << (ROW_BITS * i));
  return sum;
}

// Adds the bins to the entries. All work-items of the group must come here, and to clear_bins(). `rows` has room for whole digits.
FN void collect_bins(LOCAL uint4* storage, LOCAL const uint* bins, LOCAL long* rows, LOCAL long* entries) {
  barrier_local();
  add_up_columns(storage, STORAGE / COLUMNS);
  barrier_local();
  for (uint i = local_id(); i < ROWS; i += GROUP_SIZE) rows[i] = row_of(bins, (int)i);
  barrier_local();
  for (uint i = local_id() < LANES ? local_id() : ENTRIES; i < ENTRIES; i += LANES) {
    long entry;
    if (i < DIGITS) {
      entry = (rows_in_digit(rows, (int)i) & 0xffffffffL) + (rows_in_digit(rows, (int)i - 1) >> 32);
    } else {
      entry = counter(bins, i - DIGITS);
    }
    entries[i] += entry;
  }
}

FN void clear_bins(LOCAL uint4* storage) {
  for (uint i = local_id(); i < STORAGE / 4; i += GROUP_SIZE) storage[i] = make_uint4(0, 0, 0, 0);
  barrier_local();
}

#if STRIDED
// A word of a load whose elements lie GROUP_SIZE apart, so that neighbours read neighbours; beyond the last element there are absent ones.
FN uint gather_word(GLOBAL const uchar* data, long stride, ulong first, ulong count, uint word, uint absent) {
#if ELEMENTS_PER_LOAD == 2
  const ulong i = first + (word / 2) * GROUP_SIZE;
  const ulong value = *(GLOBAL const ulong*)(data + (long)(i < count ? i : 0) * stride);
  return i < count ? (uint)(value >> (32 * (word & 1))) : absent;
#else
  uint result = 0;
#pragma unroll
  for (uint k = 0; k < ELEMENTS_PER_LOAD / 4; ++k) {
    const uint bit = 128 / ELEMENTS_PER_LOAD * k;
    const ulong i = first + (word * (ELEMENTS_PER_LOAD / 4) + k) * GROUP_SIZE;
    const uint value = *(GLOBAL const ELEMENT*)(data + (long)(i < count ? i : 0) * stride);
    result |= i < count ? value << bit : absent & ((uint)(ELEMENT)-1 << bit);
  }
  return result;
#endif
}
#endif

// The tile's loads, if there is such a tile; beyond the last load there are absent elements, which count for nothing.
FN void load_tile(uint4* v, GLOBAL const uint4* data, long stride, ulong loads, uint tile) {
#if STRIDED
  const ulong count = loads;  // of elements
  if ((ulong)tile * (TILE * ELEMENTS_PER_LOAD) < count) {
    const uint4 absent = make_uint4(ABSENT);
#pragma unroll
    for (int k = 0; k < LOADS; ++k) {
      const ulong first = ((ulong)tile * LOADS + k) * (GROUP_SIZE * ELEMENTS_PER_LOAD) + local_id();
      v[k].x = gather_word((GLOBAL const uchar*)data, stride, first, count, 0, absent.x);
      v[k].y = gather_word((GLOBAL const uchar*)data, stride, first, count, 1, absent.y);
      v[k].z = gather_word((GLOBAL const uchar*)data, stride, first, count, 2, absent.z);
      v[k].w = gather_word((GLOBAL const uchar*)data, stride, first, count, 3, absent.w);
    }
  }
#else
  const ulong first = (ulong)tile * TILE + local_id();
#if KEPT
  if ((ulong)(tile + 1) * TILE <= loads && (ulong)tile * TILE < kept_loads(loads)) {
#pragma unroll
    for (int k = 0; k < LOADS; ++k) v[k] = data[first + k * GROUP_SIZE];
    return;
  }
#endif
  if ((ulong)(tile + 1) * TILE <= loads) {
#pragma unroll
    for (int k = 0; k < LOADS; ++k) v[k] = load_once(&data[first + k * GROUP_SIZE]);
  } else if ((ulong)tile * TILE < loads) {
#pragma unroll
    for (int k = 0; k < LOADS; ++k) {
      const ulong i = first + k * GROUP_SIZE;
      const uint4 loaded = load_once(&data[i < loads ? i : loads - 1]);
      const uint4 absent = make_uint4(ABSENT);
      v[k].x = i < loads ? loaded.x : absent.x;
      v[k].y = i < loads ? loaded.y : absent.y;
      v[k].z = i < loads ? loaded.z : absent.z;
      v[k].w = i < loads ? loaded.w : absent.w;
    }
  }
#endif
}

// Words of `schedule`: zero before the first launch, and again after each.
#define TICKETS 0  // groups that have handed on
#define TILES 1    // tiles that were drawn, beyond the one that each group starts with

// Where the device adds 64-bit integers atomically, groups add their entries up in `merged`, which is zero before and after each launch.
// The upper bits of a word count the groups that have added to it, so that no fence is needed: who draws the last ticket waits until all
// have arrived. They are on their way, as no group waits for anything in between. Words lie apart, as the device adds to one line of
// memory one after the other. Elsewhere each group writes its entries, and sum_exact_finish adds them up in a second launch.
#define GROUP_SHIFT 50  // entries of 4095 groups stay under 2^49
#define ONE_GROUP ((ulong)1 << GROUP_SHIFT)

// The first element lies at byte `offset` of `data`; `head` elements lie before the first whole 16 bytes. STRIDED: an element every `stride`
// bytes, and no loads of 16 bytes. Groups draw their tiles one by one, in the order of memory: reading
// stays in step all over the device and no group waits for a slower one, which is worth 3% over equal shares.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void sum_exact(GLOBAL const uchar* data, ulong offset, long stride, uint head, ulong count, GLOBAL ulong* merged, GLOBAL uint* schedule,
               GLOBAL long* result, GLOBAL uchar* record, ulong record_offset, int skip_nans) {
  LOCAL_VAR uint4 storage[STORAGE / 4];
  LOCAL_VAR long rows[(DIGITS - 2) * ROWS_TO_A_DIGIT];
  LOCAL_VAR long entries[ENTRIES];
  LOCAL_VAR uint drawn[2];
  after_launches();
  LOCAL uint* bins = (LOCAL uint*)storage + COUNTERS * COLUMNS;
  LOCAL uint* column = bins + (local_id() & (COLUMNS - 1));

  GLOBAL const ELEMENT* elements = (GLOBAL const ELEMENT*)(data + offset);
  GLOBAL const uint4* aligned = (GLOBAL const uint4*)(elements + head);
#if STRIDED
  const ulong loads = count;
  const uint tiles = (uint)((count + TILE * ELEMENTS_PER_LOAD - 1) / (TILE * ELEMENTS_PER_LOAD));
#else
  const ulong loads = (count - head) / ELEMENTS_PER_LOAD;
  const uint tiles = (uint)((loads + TILE - 1) / TILE);
#endif
  const uint more = tiles > group_count();
  uint tile = group_id();
  uint4 v[LOADS];
  load_tile(v, aligned, stride, loads, tile);  // on its way while the bins are cleared
  for (uint i = local_id(); i < ENTRIES; i += GROUP_SIZE) entries[i] = 0;
  for (uint i = ROWS + local_id(); i < (DIGITS - 2) * ROWS_TO_A_DIGIT; i += GROUP_SIZE) rows[i] = 0;
  clear_bins(storage);

  STATE state = EMPTY_STATE;
#if !STRIDED
  const ulong singles = count - loads * ELEMENTS_PER_LOAD;
  for (ulong i = global_id(); i < singles; i += global_size()) {
    state = add_load(column, load_single(elements + (i < head ? i : loads * ELEMENTS_PER_LOAD + i)), state);
  }
#endif

  uint turn = 0;
  do {
    // What the flush needs stays out of the inner loop, or compilers keep it in registers there.
    for (uint room = ROOM; room > 0 && tile < tiles; --room) {
      if (more && local_id() == 0) drawn[turn] = atomic_add_global32(&schedule[TILES], 1) + group_count();
#pragma unroll
      for (int k = 0; k < LOADS; ++k) state = add_load(column, v[k], state);
      barrier_local();
      tile = more ? drawn[turn] : tiles;
      turn ^= 1;
      load_tile(v, aligned, stride, loads, tile);
    }
    state = flush_state(column, state);
    collect_bins(storage, bins, rows, entries);
    if (LANES > 1 && tile >= tiles) break;  // saves time; but PoCL's compiler fails on a barrier after it
    barrier_local();
    clear_bins(storage);
  } while (tile < tiles);
  if (local_id() >= LANES) return;

#if SAMESUM_INT64_ATOMICS
  if (group_count() > 1) {
    for (uint i = local_id(); i < ENTRIES; i += LANES) atomic_add_global64(&merged[i * SPACING], (ulong)entries[i] + ONE_GROUP);
    uint ticket = 0;
    if (local_id() == 0) ticket = atomic_add_global32(&schedule[TICKETS], 1);
    if (lanes_shuffle(ticket, 0) != group_count() - 1) return;
    const ulong all = (ulong)group_count() << GROUP_SHIFT;
    for (uint i = local_id(); i < ENTRIES; i += LANES) {
      ulong word = atomic_load_global64(&merged[i * SPACING]);
      while (((word + ONE_GROUP / 2) ^ all) >> GROUP_SHIFT != 0) word = atomic_load_global64(&merged[i * SPACING]);
      store_settled_global64(&merged[i * SPACING], 0);
      entries[i] = (long)(word - all);
    }
    if (local_id() == 0) {
      store_settled_global32(&schedule[TICKETS], 0);
      store_settled_global32(&schedule[TILES], 0);
    }
  } else if (local_id() == 0) {
    schedule[TILES] = 0;
  }
  take_off_offsets(entries, count);
  finish(result, (GLOBAL ulong*)(record + record_offset), count, skip_nans, entries, (LOCAL long*)storage);
#else
  for (uint i = local_id(); i < ENTRIES; i += LANES) merged[group_id() * ENTRIES + i] = (ulong)entries[i];
#endif
}

KERNEL FIXED_GROUP(FINISH_SIZE, 1)
void sum_exact_finish(GLOBAL const ulong* merged, uint groups, GLOBAL uint* schedule, GLOBAL long* result, GLOBAL uchar* record,
                      ulong record_offset, ulong count, int skip_nans) {
  LOCAL_VAR long entries[ENTRIES];
  LOCAL_VAR long scratch[EXACT_DIGITS];
  after_launches();
  if (local_id() >= LANES) return;
  for (uint i = local_id(); i < ENTRIES; i += LANES) {
    ulong sum = 0;
    for (uint group = 0; group < groups; ++group) sum += merged[group * ENTRIES + i];
    entries[i] = (long)sum;
  }
  if (local_id() == 0) schedule[TILES] = 0;
  take_off_offsets(entries, count);
  finish(result, (GLOBAL ulong*)(record + record_offset), count, skip_nans, entries, scratch);
}
