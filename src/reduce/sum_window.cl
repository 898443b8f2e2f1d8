// The exact sum of little data, in one short launch: work-items add up in registers what they have loaded, by floating-point additions that
// prove themselves exact (window_*.cl, after which this file stands). What no such addition can take, and what is no number, goes to
// columns of limbs: slower, never wrong. All sums meet in limbs of 16 bits, of which limb i weighs 2^(ROW_BASE + 16 i - 1074).
//
// Each group leaves its limbs in a slot, from which the last group takes them. Nobody fences, as each word of a slot says of itself that it
// is there. The last group waits for the others, which wait for nothing: the device must hold two groups.
//
// Sub-groups are needed, and additions that keep denormal numbers and round as they are told. Defined by the host: LOADS, GROUP_SIZE
// (two sub-groups or more), RESIDENT, STRIDED as in sum_exact.cl; TILES, whether a group has more than one tile. No limb overflows where a group has 2^20 elements
// and there are 2^8 groups at most.
#define TILE (GROUP_SIZE * REALS)
#define LIMBS (2 * DIGITS)
#define SUBGROUPS (GROUP_SIZE / SUBGROUP)
#define SLOT_WORDS 6              // of two limbs each, that fit into a slot
#define SLOT 8                    // words from one to the next
#define WIDE (LIMBS + COUNTERS)   // words of what does not fit
#define ROOM_LIMBS (LIMBS + 18)   // so that a slot may begin at each limb; a multiple of four
#define STORAGE (((COUNTERS + LIMBS) * COLUMNS + ROOM_LIMBS + SUBGROUP + COUNTERS + 4) / 4)

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
  GLOBAL const REAL* reals = (GLOBAL const REAL*)data + first + local_id() * REALS_PER_LOAD;
  if (first + TILE <= count) {
#pragma unroll
    for (int i = 0; i < LOADS; ++i) unpack(v + i * REALS_PER_LOAD, *(GLOBAL const uint4*)(reals + i * GROUP_SIZE * REALS_PER_LOAD));
  } else {
#pragma unroll
    for (int i = 0; i < REALS; ++i) {
      const ulong at = i / REALS_PER_LOAD * (GROUP_SIZE * REALS_PER_LOAD) + i % REALS_PER_LOAD;
      v[i] = first + local_id() * REALS_PER_LOAD + at < count ? reals[at] : -(REAL)0;
    }
  }
}
#define load_tile(v, data, stride, first, count) load_tile(v, data, first, count)
#endif

// Adds the tile, to columns where need be; says whether anything went there: 2 where that was anything but -0.0 and NaN.
FN uint add_tile(SHARE* share, const REAL* v, LOCAL uint* column) {
  if (!add_reals(share, v)) return 0;
  uint other = 0;
#pragma unroll
  for (int i = 0; i < REALS; ++i) other |= add_to_column(column, v[i]);
  return 1 + (other != 0);
}

// A range of limbs: the greater, the further it goes down (above) and up (below). 0 is none.
#define RANGE(first, end) ((uint)(256 - (first)) << 16 | (end))
FN uint join_ranges(uint range) { return subgroup_max_u32(range >> 16) << 16 | subgroup_max_u32(range & 0xffffu); }
FN uint first_limb(uint range) { return 256 - (range >> 16); }
FN uint end_limb(uint range) { return range & 0xffffu; }
FN uint wider(uint a, uint b) { return max_u32(a >> 16, b >> 16) << 16 | max_u32(a & 0xffffu, b & 0xffffu); }

// Adds the sub-group's sums to limbs, and says which.
//
// With C = 1.5 * 2^k far above |x|, the float64 x + C is C plus x rounded to C's last bit: its own bits, as an integer, are those of C plus
// that multiple. So integers add up the upper part of each sum, and x - ((x + C) - C) is the exact rest, for which a smaller C is next.
FN uint spread(double* sums, LOCAL int* limbs) {
  const uint lane = local_id() & (SUBGROUP - 1);
  uint range = 0;
  for (;;) {
    uint greatest = 0;
#pragma unroll
    for (int i = 0; i < SUMS; ++i) greatest = max_u32(greatest, (uint)(as_ulong(sums[i]) >> 32) & 0x7fffffffu);
#if ROW_BASE == 0  // where there are denormal numbers
#pragma unroll
    for (int i = 0; i < SUMS; ++i) greatest |= (uint)as_ulong(sums[i]) != 0;
#endif
    greatest = subgroup_max_u32(greatest);
    if (greatest == 0) break;
    // C's last bit is not below that of limb 0. That is the same in the lowest two binades: there C may be in the first and go down.
    const uint lowest = ROW_BASE == 0 && greatest >> 20 == 0;
    const uint field = lowest ? 1 : max_u32((greatest >> 20) + 1 + SUMS, ROW_BASE + 1);
    const ulong c = (ulong)(field << 20 | (lowest ? 0 : 0x00080000u)) << 32;
    long sum = 0;
    ulong left = 0;
#pragma unroll
    for (int i = 0; i < SUMS; ++i) {
      const double t = add_rn_f64(sums[i], as_double(c));
      sums[i] = add_rn_f64(sums[i], -add_rn_f64(t, -as_double(c)));
      sum += (long)(as_ulong(t) - c);
      left |= as_ulong(sums[i]) << 1;
    }
    const uint more = subgroup_ballot(left != 0);
    const long low = subgroup_add_s32((int)sum & 0x3ffffff), high = subgroup_add_s32((int)(sum >> 26));
    const long all = low + (long)((ulong)high << 26);
    const uint position = field - 1 - ROW_BASE, shift = position & 15, first = position >> 4;
    if (lane < 5) {
      const uint piece = lane == 4 ? (uint)((all >> 1) >> (63 - shift)) : (uint)(((ulong)all << shift) >> (16 * lane)) & 0xffffu;
      atomic_add_local32((LOCAL uint*)limbs + first + lane, piece);
    }
    range = wider(range, RANGE(first, first + 5));
    if (more == 0) break;
  }
  return range;
}

// Adds up the columns, into limbs and counters.
FN void add_up(LOCAL const uint* columns, LOCAL int* limbs, LOCAL uint* counters) {
  const uint lane = local_id() & (SUBGROUP - 1);
  for (uint row = local_id() / SUBGROUP; row < COUNTERS + LIMBS; row += SUBGROUPS) {
    const int part = (int)columns[row * COLUMNS + lane];
    const int low = subgroup_add_s32(part & 0xffff), high = subgroup_add_s32(part >> 16);
    if (lane != 0) continue;
    if (row < COUNTERS) {
      counters[COUNTERS - 1 - row] = (uint)low + ((uint)high << 16);
    } else {
      atomic_add_local32((LOCAL uint*)limbs + row - COUNTERS, (uint)low);
      atomic_add_local32((LOCAL uint*)limbs + row - COUNTERS + 1, (uint)high);
    }
  }
}

// The limbs in use, or all where anything was no number.
FN uint used_limbs(LOCAL const int* limbs, LOCAL const uint* counters) {
  const uint lane = local_id() & (SUBGROUP - 1);
  uint range = 0;
  for (uint i = lane; i < LIMBS; i += SUBGROUP) {
    if (limbs[i] != 0) range = wider(range, RANGE(i, i + 1));
  }
  const uint special = counters[NANS] | counters[POSITIVE_INFINITIES] | counters[NEGATIVE_INFINITIES];
  return special != 0 ? RANGE(0, LIMBS) : join_ranges(range);
}

// A word of a slot says that it is there. Below are 48 bits of two limbs' value; in the first word between, from which limb on they are, how
// many words there are, and of what kind.
#define PRESENT ((ulong)1 << 63)
#define FIRST_SHIFT 48
#define COUNT_SHIFT 56
#define IS_WIDE ((ulong)1 << 60)   // all is in the words for that
#define HAS_OTHER ((ulong)1 << 61) // there was anything but -0.0

// By a sub-group.
FN void leave(GLOBAL ulong* slots, LOCAL const int* limbs, LOCAL const uint* counters, uint range, uint other) {
  const uint lane = local_id();
  const uint first = range != 0 ? first_limb(range) : 0;
  const uint words = (end_limb(range) - first + 1) / 2;
  const uint wide = words > SLOT_WORDS;
  if (lane < SLOT_WORDS) {
    ulong word = PRESENT;
    if (!wide) word |= ((ulong)limbs[first + 2 * lane] + ((ulong)limbs[first + 2 * lane + 1] << 16)) & 0xffffffffffffUL;
    if (lane == 0) word |= (ulong)first << FIRST_SHIFT | (wide ? IS_WIDE : (ulong)words << COUNT_SHIFT) | (other ? HAS_OTHER : 0);
    atomic_store_global64(&slots[group_id() * SLOT + lane], word);
  }
  if (!wide) return;
  // Limbs of 17 bits, so that those of all groups add up in 32; the highest are the carries of those below.
  GLOBAL ulong* place = slots + group_count() * SLOT + group_id() * WIDE;
  for (uint i = lane; i < WIDE; i += SUBGROUP) {
    uint value = i < LIMBS ? ((uint)limbs[i] & 0xffffu) + (uint)(i > 0 ? limbs[i - 1] >> 16 : 0) : counters[i - LIMBS];
    atomic_store_global64(&place[i], PRESENT | value);
  }
}

// Adds up the slots of the other groups, as they come, and clears them: a lane for each. Says which limbs they went to.
FN uint take_slots(GLOBAL ulong* slots, LOCAL int* limbs, LOCAL uint* kinds, LOCAL uint* wide_slots) {
  const uint lane = local_id() & (SUBGROUP - 1);
  const uint others = group_count() - 1;
  uint range = 0;
  for (uint base = local_id() - lane; base < others; base += GROUP_SIZE) {
    const uint here = base + lane < others;
    GLOBAL ulong* slot = slots + (here ? base + lane : base) * SLOT;
    ulong words[SLOT_WORDS];
    uint complete;
    do {
#pragma unroll
      for (int i = 0; i < SLOT_WORDS; i += 2) atomic_load_pair_global64(&slot[i], &words[i], &words[i + 1]);
      complete = 1;
#pragma unroll
      for (int i = 0; i < SLOT_WORDS; ++i) complete &= (uint)(words[i] >> 63);
    } while (subgroup_ballot(!complete) != 0);
    if (here) {
#pragma unroll
      for (int i = 0; i < SLOT_WORDS; ++i) slot[i] = 0;
      if (words[0] & HAS_OTHER) kinds[0] = 1;
    }
    const uint wide = subgroup_ballot(here && (words[0] & IS_WIDE) != 0);
    if (lane == 0) wide_slots[base / SUBGROUP] = wide;
    if (wide != 0) kinds[1] = 1;
    const uint first = (uint)(words[0] >> FIRST_SHIFT) & 0xffu;
    const uint count = (uint)(words[0] >> COUNT_SHIFT) & 0xfu;
    // Those that begin at the same limb add up in the sub-group.
    uint left = subgroup_ballot(here && count != 0);
    while (left != 0) {
      const uint begin = subgroup_shuffle(first, lowest_bit(left));
      const uint mine = (left >> lane & 1) && first == begin;
      left &= ~subgroup_ballot(mine);
      const uint most = subgroup_max_u32(mine ? count : 0);
      long sum = 0;
#pragma unroll
      for (uint i = 0; i < SLOT_WORDS; ++i) {
        if (i >= most) break;
        const long part = mine ? (long)(words[i] << 16) >> 16 : 0;
        const int low = subgroup_add_s32((int)part & 0xffffff), high = subgroup_add_s32((int)(part >> 24));
        if (lane == i) sum = low + (long)((ulong)(long)high << 24);
      }
      if (lane < most) {
        LOCAL uint* limb = (LOCAL uint*)limbs + begin + 2 * lane;
        atomic_add_local32(limb, (uint)sum & 0xffffu);
        atomic_add_local32(limb + 1, (uint)(sum >> 16) & 0xffffu);
        atomic_add_local32(limb + 2, (uint)(sum >> 32));
      }
      range = wider(range, RANGE(begin, begin + 2 * most + 1));
    }
  }
  return range;
}

// The same for what did not fit.
#define BATCH 8  // words that a work-item waits for at once
FN void take_wide(GLOBAL ulong* slots, LOCAL int* limbs, LOCAL uint* counters, LOCAL const uint* wide_slots) {
  const uint all = (group_count() - 1) * WIDE;
  GLOBAL ulong* places = slots + group_count() * SLOT;
  for (uint first = local_id(); first < all; first += BATCH * GROUP_SIZE) {
    ulong words[BATCH];
    uint complete;
    do {
      complete = 1;
#pragma unroll
      for (int i = 0; i < BATCH; ++i) {
        const uint at = first + i * GROUP_SIZE, group = at / WIDE;
        const uint wanted = at < all && (wide_slots[group / SUBGROUP] >> (group & (SUBGROUP - 1)) & 1);
        words[i] = wanted ? atomic_load_global64(&places[at]) : PRESENT;
        complete &= (uint)(words[i] >> 63);
      }
    } while (!complete);
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
      const uint at = first + i * GROUP_SIZE, place = at % WIDE;
      if ((uint)words[i] != 0) atomic_add_local32(place < LIMBS ? (LOCAL uint*)limbs + place : counters + place - LIMBS, (uint)words[i]);
      if (at < all) places[at] = 0;
    }
  }
}

// What the group knows, as entries.
FN long entry_of(LOCAL const int* limbs, LOCAL const uint* counters, uint other, uint i) {
  if (i >= DIGITS) return i - DIGITS == OTHERS ? other : counters[i - DIGITS];
  return limbs[2 * i] + (long)((ulong)(long)limbs[2 * i + 1] << 16);
}

// Rounds MOST_LIMBS limbs from `first` on, all there are, into `record`.
FN void round_limbs(LOCAL const int* limbs, uint first, uint is_negative_zero, GLOBAL ulong* record) {
  // Digits of 32 bits, the last one with the sign.
  uint digits[MOST_LIMBS / 2 + 1];
  long carry = 0;
#pragma unroll
  for (int i = 0; i < MOST_LIMBS / 2; ++i) {
    carry += limbs[first + 2 * i] + (long)((ulong)(long)limbs[first + 2 * i + 1] << 16);
    digits[i] = (uint)carry;
    carry >>= 32;
  }
  digits[MOST_LIMBS / 2] = (uint)carry;
  const uint sign = carry < 0 ? 0xffffffffu : 0;
  // The highest digit that is more than the sign, the two below it, and whether anything else is not zero.
  uint high = digits[0], middle = 0, low = 0, below = 0, under = 0;
  int top = 0;
#pragma unroll
  for (int i = 1; i <= MOST_LIMBS / 2; ++i) {
    const uint used = digits[i] != sign;
    if (i > 2) under |= digits[i > 2 ? i - 3 : 0];
    high = used ? digits[i] : high;
    middle = used ? digits[i - 1] : middle;
    low = !used ? low : i > 1 ? digits[i > 1 ? i - 2 : 0] : 0;
    below = used ? under : below;
    top = used ? 32 * i : top;
  }
  // The sign and 63 bits, the last of which stands for all below: what is rounded to fewer is rounded alike.
  const uint same = clz32(high ^ sign), shift = same < 31 ? same : 31;
  const ulong word = (ulong)funnel_left(middle, high, shift) << 32 | funnel_left(low, middle, shift);
  const uint sticky = ((uint)word & 1) != 0 || ((low << shift) | below) != 0;
  const long value = (long)((ulong)(sign & 1) << 63 | word >> 1 | sticky);
  const int unit = ROW_BASE + 16 * (int)first + top - 31 - (int)shift;  // position of the word's last bit but one
  const uint lane = local_id();
  ulong bits = 0;
  if (value != 0) {
    const int exponent = unit + 62 - 1074;  // or one more
    if (exponent >= -126 && exponent < 127) {  // normal in both formats: conversions round
      const ulong float64 = as_ulong((double)value) + ((ulong)(long)(unit - 1074) << 52);
      const uint float32 = as_uint((float)value) + ((uint)(unit - 1074) << 23);
      bits = lane == 0 ? float64 : float32;
    } else {
      const ulong magnitude = value < 0 ? 0 - (ulong)value : (ulong)value;
      const uint zeros = clz64(magnitude);
      bits = encode(magnitude << zeros, 0, unit + 63 - (int)zeros, lane == 0 ? 53 : 24, lane == 0 ? 0 : EXACT_FLOAT32_SHIFT,
                    lane == 0 ? 2046 : 254) |
             (ulong)(sign & 1) << (lane == 0 ? 63 : 31);
    }
  } else {
    bits = (ulong)is_negative_zero << (lane == 0 ? 63 : 31);
  }
  if (lane < 2) record[2 * lane] = bits;
  if (lane == 2) record[1] = 0;
}

// `slots` are zero before and after each launch. The first element lies at byte `offset` of `data`, the others `stride` bytes apart. TILES:
// groups have their tiles in turns; else there is a group for each.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void sum_window(GLOBAL const uchar* data, ulong offset, long stride, ulong count, GLOBAL ulong* slots, GLOBAL long* result,
                GLOBAL uchar* record, ulong record_offset, int skip_nans) {
  LOCAL_VAR uint4 storage[STORAGE];
  LOCAL_VAR long entries[ENTRIES];
  LOCAL_VAR uint wide_slots[SUBGROUP];
  LOCAL uint* columns = (LOCAL uint*)storage;
  LOCAL int* limbs = (LOCAL int*)columns + (COUNTERS + LIMBS) * COLUMNS;
  LOCAL uint* ranges = (LOCAL uint*)limbs + ROOM_LIMBS;  // of sub-groups
  LOCAL uint* counters = ranges + SUBGROUP;
  LOCAL uint* kinds = counters + COUNTERS;  // whether there was anything but -0.0 and NaN; whether any other group is wide
  LOCAL uint* column = columns + COUNTERS * COLUMNS + (local_id() & (COLUMNS - 1));
  const uint lane = local_id() & (SUBGROUP - 1);

  ulong first = (ulong)group_id() * TILE;
  REAL v[REALS];
  load_tile(v, data + offset, stride, first, count);  // on its way while local memory is cleared
#pragma unroll
  for (int i = 0; i < STORAGE; i += GROUP_SIZE) {
    if (i + local_id() < STORAGE) storage[i + local_id()] = make_uint4(0, 0, 0, 0);
  }
  barrier_local();

  // Compilers do what is next before a barrier, where they can: here, wait for the loads. But not for what was cleared before the barrier.
  SHARE share = empty_share(counters[0]);
#if TILES
  uint inexact = 0;
  const ulong step = (ulong)group_count() * TILE;
  for (; first < count; first += 2 * step) {
    REAL next[REALS];
    load_tile(next, data + offset, stride, first + step, count);
    inexact |= add_tile(&share, v, column);
    load_tile(v, data + offset, stride, first + 2 * step, count);
    inexact |= add_tile(&share, next, column);
  }
#else
  const uint inexact = add_tile(&share, v, column);
#endif
  if (has_other(&share) || inexact > 1) kinds[0] = 1;
  double sums[SUMS];
  sums_of(&share, sums);
  const uint spread_to = spread(sums, limbs);
  if (lane == 0) ranges[local_id() / SUBGROUP] = spread_to;
  if (barrier_or(inexact)) {
    add_up(columns, limbs, counters);
    barrier_local();
    if (local_id() < SUBGROUP) {
      const uint used = used_limbs(limbs, counters);
      if (lane == 0) ranges[0] = used;
    }
    barrier_local();
  }
  if (group_id() != group_count() - 1) {
    if (local_id() < SUBGROUP) leave(slots, limbs, counters, join_ranges(ranges[lane]), kinds[0]);
    return;
  }
  if (group_count() > 1) {
    const uint taken = take_slots(slots, limbs, kinds, wide_slots);
    if (lane == 0) ranges[local_id() / SUBGROUP] = wider(ranges[local_id() / SUBGROUP], taken);
    barrier_local();
    if (kinds[1]) {
      take_wide(slots, limbs, counters, wide_slots);
      barrier_local();
    }
  }
  if (local_id() >= 2 * SUBGROUP) return;

  // One sub-group rounds, meanwhile the next one leaves the entries.
  const uint range = join_ranges(ranges[lane]);
  if (kinds[1] == 0 && end_limb(range) <= MOST_LIMBS + (range != 0 ? first_limb(range) : 0)) {
    if (local_id() < SUBGROUP) {
      round_limbs(limbs, range != 0 ? first_limb(range) : 0, kinds[0] == 0 && count != 0, (GLOBAL ulong*)(record + record_offset));
    } else {
      for (uint i = lane; i < ENTRIES; i += SUBGROUP) result[i] = entry_of(limbs, counters, kinds[0], i);
    }
    return;
  }
  if (local_id() >= SUBGROUP) return;
  for (uint i = lane; i < ENTRIES; i += SUBGROUP) entries[i] = entry_of(limbs, counters, kinds[0], i);
  finish(result, (GLOBAL ulong*)(record + record_offset), count, skip_nans, entries, (LOCAL long*)columns);
}
