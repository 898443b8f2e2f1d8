// The exact sum of little data, in one short launch: a group for each tile, which it holds in registers. Its sub-groups add up there, in
// slices of the exponents below their greatest element (window_*.cl, after which this file stands). What lies below these, and what is no
// number, goes to columns of bins as in sum_exact.cl: slower, never wrong. Sums meet in limbs of 16 bits, of which limb i weighs
// 2^(ROW_BASE + 16 i - 1074).
//
// Each group leaves its limbs in a slot, from which the last group takes them. Nobody fences, as each word of a slot says of itself that it
// is there. The last group waits for the others, which wait for nothing: the device must hold two groups.
//
// Sub-groups are needed, 64-bit atomics, and additions that keep denormal numbers. Defined by the host: LOADS, GROUP_SIZE (two sub-groups or
// more), RESIDENT, STRIDED as in sum_exact.cl. No limb overflows where LOADS is at most 8, and sub-groups are 2^13 at most.
#define TILE (GROUP_SIZE * REALS)
#define LIMBS (2 * DIGITS)
#define SUBGROUPS (GROUP_SIZE / SUBGROUP)
#define BLOCK 16                                    // limbs
#define BLOCKS ((LIMBS + BLOCK - 1) / BLOCK + 1)    // so that two follow each limb in use
#define SLOT (LIMBS < SUBGROUP ? LIMBS : SUBGROUP)  // words of a slot: two blocks, or all limbs

// The tile's elements; beyond the last there is -0.0, which counts for nothing. STRIDED: one every `stride` bytes; else they are contiguous,
// and the first lies at a multiple of 16 bytes.
#if STRIDED
FN void load_tile(REAL* v, GLOBAL const uchar* data, long stride, ulong first, ulong count) {
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    const ulong at = first + local_id() + i * GROUP_SIZE;
    v[i] = at < count ? *(GLOBAL const REAL*)(data + (long)at * stride) : -(REAL)0;
  }
}
#else
FN void load_tile(REAL* v, GLOBAL const uchar* data, ulong first, ulong count) {
#pragma unroll
  for (int i = 0; i < LOADS; ++i) {
    const ulong at = first + (local_id() + i * GROUP_SIZE) * REALS_PER_LOAD;
    GLOBAL const REAL* reals = (GLOBAL const REAL*)data + at;
    if (at + REALS_PER_LOAD <= count) {
      unpack(v + i * REALS_PER_LOAD, load_once((GLOBAL const uint4*)reals));
    } else {
#pragma unroll
      for (int k = 0; k < REALS_PER_LOAD; ++k) v[i * REALS_PER_LOAD + k] = at + k < count ? reals[k] : -(REAL)0;
    }
  }
}
#define load_tile(v, data, stride, first, count) load_tile(v, data, first, count)
#endif

// Adds up the columns: a sum for each counter and limb.
FN void add_up(LOCAL const uint* columns, LOCAL long* sums) {
  for (uint row = local_id() / SUBGROUP; row < COUNTERS + LIMBS; row += SUBGROUPS) {
    const int part = (int)columns[row * COLUMNS + (local_id() & (SUBGROUP - 1))];
    const long low = subgroup_add_s32(part & 0xffff), high = subgroup_add_s32(part >> 16);
    if ((local_id() & (SUBGROUP - 1)) == 0) sums[row] = low + (long)((ulong)high << 16);
  }
}

// What a group knows, as entries; `sums` are those of the columns, where they were needed.
FN long entry_of(LOCAL const int* limbs, LOCAL const long* sums, uint wide, uint other, uint i) {
  if (i >= DIGITS) return (wide ? sums[COUNTERS - 1 - (i - DIGITS)] : 0) + (i - DIGITS == OTHERS ? other : 0);
  long entry = limbs[2 * i] + (long)((ulong)(long)limbs[2 * i + 1] << 16);
  if (wide) entry += sums[COUNTERS + 2 * i] + (long)((ulong)sums[COUNTERS + 2 * i + 1] << 16);
  return entry;
}

// The blocks of limbs in use, a bit for each. Where a slot holds all limbs there is no need to look.
#if LIMBS > SUBGROUP
FN uint used_blocks(LOCAL const int* limbs) {
  uint blocks = 0;
#pragma unroll
  for (int i = 0; i < BLOCKS * BLOCK; i += SUBGROUP) {
    const uint used = subgroup_ballot(limbs[i + (local_id() & (SUBGROUP - 1))] != 0);
    blocks |= ((used & 0xffffu) != 0 ? 1u : 0) << (i / BLOCK) | (used >> 16 != 0 ? 2u : 0) << (i / BLOCK);
  }
  return blocks != 0 ? blocks : 1;
}
#else
#define used_blocks(limbs) 1u
#endif

// A word of a slot: a limb below, and above what the slot is, never zero.
#define NARROW 1u  // all is in the slot
#define WIDE 2u    // all is in `merged`
#define OTHER 4u   // there was anything but -0.0
#define BLOCK_SHIFT 8

FN void leave(GLOBAL ulong* slot, GLOBAL ulong* merged, LOCAL const int* limbs, LOCAL const long* sums, uint wide, uint other) {
  const uint lane = local_id();
  const uint blocks = used_blocks(limbs);
  const uint block = lowest_bit(blocks);
  uint kind = (other ? OTHER : 0) | block << BLOCK_SHIFT;
  uint word = 0;
  if (wide || blocks >> block > 3) {
    for (uint i = lane; i < ENTRIES; i += SUBGROUP) {
      const long entry = entry_of(limbs, sums, wide, other, i);
      if (entry != 0) atomic_add_global64(&merged[i * SPACING], (ulong)entry);
    }
    fence_device();
    subgroup_sync();
    kind |= WIDE;
  } else {
    // Limbs of 17 bits, so that those of all groups add up in 32; the highest are the carries of those below.
    const int limb = limbs[block * BLOCK + lane];
    const uint carry = subgroup_shuffle((uint)(limb >> 16), (lane - 1) & (SUBGROUP - 1));
    word = (lane < SLOT - 1 ? (uint)limb & 0xffffu : (uint)limb) + (lane == 0 ? 0 : carry);
    kind |= NARROW;
  }
  if (lane < SLOT) atomic_store_global64(&slot[lane], (ulong)kind << 32 | word);
}

// Adds up the slots of the other groups, as they come, and clears them: a lane for each limb.
#define BATCH 8  // slots that a sub-group waits for at once
FN void take_slots(GLOBAL ulong* slots, LOCAL int* limbs, LOCAL uint* kinds) {
  const uint lane = local_id() & (SUBGROUP - 1);
  const uint others = group_count() - 1;
  if (lane >= SLOT) return;
  for (uint first = local_id() / SUBGROUP; first < others; first += BATCH * SUBGROUPS) {
    ulong words[BATCH];
    uint complete;
    do {
      complete = 1;
#pragma unroll
      for (int i = 0; i < BATCH; ++i) {
        const uint group = first + i * SUBGROUPS;
        words[i] = atomic_load_global64(&slots[(group < others ? group : first) * SLOT + lane]);
      }
#pragma unroll
      for (int i = 0; i < BATCH; ++i) complete &= words[i] >> 32 != 0;
    } while (!complete);
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
      const uint group = first + i * SUBGROUPS;
      if (group >= others) break;
      slots[group * SLOT + lane] = 0;
      const uint kind = (uint)(words[i] >> 32);
      if (kind & OTHER) kinds[0] = 1;
      if (kind & WIDE) kinds[1] = 1;
      if (kind & NARROW) atomic_add_local32((LOCAL uint*)limbs + (kind >> BLOCK_SHIFT) * BLOCK + lane, (uint)words[i]);
    }
  }
}

// Rounds MOST_LIMBS limbs from `first` on, all there are, into `record`.
FN void round_limbs(LOCAL const int* limbs, int first, uint is_negative_zero, GLOBAL ulong* record) {
  // Digits of 32 bits, the last one with the sign; then the magnitude.
  uint digits[MOST_LIMBS / 2 + 1];
  long carry = 0;
#pragma unroll
  for (int i = 0; i < MOST_LIMBS / 2; ++i) {
    carry += limbs[first + 2 * i] + (long)((ulong)(long)limbs[first + 2 * i + 1] << 16);
    digits[i] = (uint)carry;
    carry >>= 32;
  }
  digits[MOST_LIMBS / 2] = (uint)carry;
  const uint negative = carry < 0;
  ulong magnitude = negative;
#pragma unroll
  for (int i = 0; i <= MOST_LIMBS / 2; ++i) {
    magnitude += digits[i] ^ (0 - negative);
    digits[i] = (uint)magnitude;
    magnitude >>= 32;
  }
  // The highest digit that is not zero, the two below it, and whether anything else is not zero.
  uint high = 0, middle = 0, low = 0, below = 0, under = 0;
  int top = 0;
#pragma unroll
  for (int i = 0; i <= MOST_LIMBS / 2; ++i) {
    const uint used = digits[i] != 0;
    if (i > 2) under |= digits[i > 2 ? i - 3 : 0];
    high = used ? digits[i] : high;
    middle = !used ? middle : i > 0 ? digits[i > 0 ? i - 1 : 0] : 0;
    low = !used ? low : i > 1 ? digits[i > 1 ? i - 2 : 0] : 0;
    below = used ? under : below;
    top = used ? 32 * i : top;
  }
  const uint lane = local_id();
  ulong bits = 0;
  if (high != 0) {
    const uint zeros = clz32(high);
    const ulong word = (ulong)funnel_left(middle, high, zeros) << 32 | funnel_left(low, middle, zeros);
    const uint sticky = ((low << zeros) | below) != 0;
    const int position = ROW_BASE + 16 * first + top + 31 - (int)zeros;
    const int exponent = position - 1074;
    if (exponent >= -126 && exponent < 127) {  // normal in both formats: conversions round
      const ulong float64 = as_ulong((double)(word | sticky)) + ((ulong)(long)(exponent - 63) << 52);
      const uint float32 = as_uint((float)(word | sticky)) + ((uint)(exponent - 63) << 23);
      bits = lane == 0 ? float64 : float32;
    } else {
      bits = encode(word, sticky, position, lane == 0 ? 53 : 24, lane == 0 ? 0 : EXACT_FLOAT32_SHIFT, lane == 0 ? 2046 : 254);
    }
  }
  bits |= (ulong)(high != 0 ? negative : is_negative_zero) << (lane == 0 ? 63 : 31);
  if (lane < 2) record[2 * lane] = bits;
  if (lane == 2) record[1] = 0;
}

// `slots` and `merged` are zero before and after each launch. The first element lies at byte `offset` of `data`, the others `stride` bytes
// apart. There is a group for each tile.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void sum_window(GLOBAL const uchar* data, ulong offset, long stride, ulong count, GLOBAL ulong* slots, GLOBAL ulong* merged,
                GLOBAL long* result, GLOBAL uchar* record, ulong record_offset, int skip_nans) {
  LOCAL_VAR int limbs[BLOCKS * BLOCK];
  LOCAL_VAR uint columns[(COUNTERS + LIMBS) * COLUMNS];
  LOCAL_VAR long sums[COUNTERS + LIMBS];
  LOCAL_VAR long entries[ENTRIES];
  LOCAL_VAR uint kinds[2];  // whether there was anything but -0.0 and NaN; whether any other group was WIDE

  REAL v[REALS];
  load_tile(v, data + offset, stride, (ulong)group_id() * TILE, count);  // on its way while local memory is cleared
#pragma unroll
  for (uint i = 0; i < BLOCKS * BLOCK; i += GROUP_SIZE) {
    if (i + local_id() < BLOCKS * BLOCK) limbs[i + local_id()] = 0;
  }
  if (local_id() < 2) kinds[local_id()] = 0;
  barrier_local();

  uint greatest = 0;
#pragma unroll
  for (int i = 0; i < REALS; ++i) greatest = max_u32(greatest, magnitude(v[i]));
  greatest = subgroup_max_u32(greatest);
  uint left = greatest;
  uint other = 0;
  if (greatest == 0) {
#pragma unroll
    for (int i = 0; i < REALS; ++i) other |= is_positive_zero(v[i]);
  } else if (exponent_field(greatest) <= GREATEST_FIELD) {
    other = 1;
    left = add_slices(v, greatest, limbs);
  }
  if (other != 0) kinds[0] = 1;
  const uint wide = barrier_or(left);
  if (wide) {  // what is left goes to columns
    LOCAL uint* column = columns + COUNTERS * COLUMNS + (local_id() & (COLUMNS - 1));
    for (uint i = local_id(); i < (COUNTERS + LIMBS) * COLUMNS; i += GROUP_SIZE) columns[i] = 0;
    barrier_local();
    if (left != 0) {
      other = 0;
#pragma unroll
      for (int i = 0; i < REALS; ++i) other |= add_to_column(column, v[i]);
      if (other != 0) kinds[0] = 1;
    }
    barrier_local();
    add_up(columns, sums);
    barrier_local();
  }
  if (group_id() != group_count() - 1) {
    if (local_id() < SUBGROUP) leave(slots + group_id() * SLOT, merged, limbs, sums, wide, kinds[0]);
    return;
  }
  if (group_count() > 1) {
    take_slots(slots, limbs, kinds);
    barrier_local();
  }
  if (local_id() >= 2 * SUBGROUP) return;

  // One sub-group rounds, meanwhile the next one leaves the entries.
  const uint lane = local_id() & (SUBGROUP - 1);
  const uint blocks = used_blocks(limbs);
  const uint block = lowest_bit(blocks);
  const uint used = subgroup_ballot(limbs[block * BLOCK + lane] != 0);
  const uint begin = used != 0 ? lowest_bit(used) : 0;
  if (!wide && !kinds[1] && blocks >> block <= 3 && used >> begin < 1u << MOST_LIMBS) {
    if (local_id() < SUBGROUP) {
      round_limbs(limbs, (int)(block * BLOCK + begin), kinds[0] == 0 && count != 0, (GLOBAL ulong*)(record + record_offset));
    } else {
      for (uint i = lane; i < ENTRIES; i += SUBGROUP) result[i] = entry_of(limbs, sums, 0, kinds[0], i);
    }
    return;
  }
  if (local_id() >= SUBGROUP) return;
  if (kinds[1]) fence_device();
  for (uint i = lane; i < ENTRIES; i += SUBGROUP) {
    entries[i] = entry_of(limbs, sums, wide, kinds[0], i);
    if (kinds[1]) {
      entries[i] += (long)atomic_load_global64(&merged[i * SPACING]);
      merged[i * SPACING] = 0;
    }
  }
  finish(result, (GLOBAL ulong*)(record + record_offset), count, skip_nans, entries, (LOCAL long*)columns);
}
