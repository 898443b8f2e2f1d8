// The exact sum of little data, in one short launch: work-items add up in registers what they have loaded, by floating-point additions that
// prove themselves exact (window_*.cl and products_*.cl, after which this file stands). A work-item whose additions do not, as with what is
// no number, reads its terms again and adds them to columns of limbs: slower, never wrong. All sums meet in limbs of 16 bits, of which limb i
// weighs 2^(ROW_BASE + 16 i - 1074).
//
// Each group leaves its limbs in a slot, from which the last group takes them. Nobody fences, as each word of a slot says of itself that it
// is there. The last group waits for the others, which wait for nothing: the device must hold two groups.
//
// Sub-groups are needed, and additions that keep denormal numbers and round as they are told. Defined by the host: LOADS, GROUP_SIZE
// (two sub-groups or more), RESIDENT, STRIDED as in sum_exact.cl; DOT, whether terms are of two arrays; STREAM, whether a group has more than
// one tile. No limb overflows where a group has 2^19 elements and there are MOST_GROUPS at most.
#define TILE (GROUP_SIZE * REALS)
#define LIMBS (2 * DIGITS)
#define ROOM_LIMBS ((LIMBS + 18 + SUBGROUP - 1) / SUBGROUP * SUBGROUP)  // so that a slot may begin at each limb
#define SUBGROUPS (GROUP_SIZE / SUBGROUP)
#define MOST_GROUPS 1024
#define SLOT 8                   // words of a slot, of two limbs each
#define WIDE (LIMBS + COUNTERS)  // words of what does not fit

// What a group has in local memory.
#define STORAGE_LIMBS 0
#define STORAGE_COUNTERS (STORAGE_LIMBS + ROOM_LIMBS)
#define STORAGE_OTHER (STORAGE_COUNTERS + COUNTERS)  // whether there was anything but -0.0 and NaN
#define STORAGE_WIDE (STORAGE_OTHER + 1)             // whether any group has more to say than fits into a slot
#define STORAGE_ZERO (STORAGE_OTHER + 4)             // four zeros
#define STORAGE_GROUP (STORAGE_ZERO + 4)             // what the group has of fixed-point numbers
#define STORAGE_GROUPS (STORAGE_GROUP + 8)           // and the last one of other groups'
#define STORAGE_AGAIN (STORAGE_GROUPS + 8)           // what it has of them at the second attempt
#define STORAGE_MARKS (STORAGE_AGAIN + 8)            // bytes: which other groups are wide
#define STORAGE_COLUMNS (STORAGE_MARKS + MOST_GROUPS / 4)  // where they are needed
#define STORAGE (STORAGE_COLUMNS + (COUNTERS + LIMBS) * COLUMNS)

// The tile's terms: what real_of() makes of elements at the same place of `a` and `b`. Beyond the last there is -0.0, which counts for
// nothing; of squares zero, whose sign nobody asks for. STRIDED: elements lie a stride apart; else they are contiguous, and the first lies at a
// multiple of 16 bytes.
#define ABSENT_X (PRODUCTS && !DOT ? 0 : (ELEMENT)1 << (128 / ELEMENTS_PER_LOAD - 1))
typedef struct {
  GLOBAL const uchar* first;
  long stride;
} ARRAY;

FN void load_tile(REAL* v, ARRAY a, ARRAY b, ulong first, ulong count) {
#if !STRIDED
  if (first + TILE <= count) {
    GLOBAL const uint4* a_loads = (GLOBAL const uint4*)a.first + first / ELEMENTS_PER_LOAD + local_id();
    GLOBAL const uint4* b_loads = (GLOBAL const uint4*)b.first + first / ELEMENTS_PER_LOAD + local_id();
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
      const uint4 x = STREAM ? load_once(&a_loads[i * GROUP_SIZE]) : a_loads[i * GROUP_SIZE];
      const uint4 y = !DOT ? x : STREAM ? load_once(&b_loads[i * GROUP_SIZE]) : b_loads[i * GROUP_SIZE];
#pragma unroll
      for (int k = 0; k < ELEMENTS_PER_LOAD; ++k) v[i * ELEMENTS_PER_LOAD + k] = real_of(element_of(x, k), element_of(y, k));
    }
    return;
  }
#endif
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
#if STRIDED
    const ulong at = first + local_id() + i * GROUP_SIZE;
#else
    const ulong at = first + local_id() * ELEMENTS_PER_LOAD + i / ELEMENTS_PER_LOAD * (GROUP_SIZE * ELEMENTS_PER_LOAD) + i % ELEMENTS_PER_LOAD;
#endif
    const ELEMENT x = at < count ? *(GLOBAL const ELEMENT*)(a.first + (long)at * a.stride) : ABSENT_X;
    const ELEMENT y = !DOT ? x : at < count ? *(GLOBAL const ELEMENT*)(b.first + (long)at * b.stride) : 0;
    v[i] = real_of(x, y);
  }
}

#if FIXED_POINT
// Adds up the work-item's terms, by float64 additions that prove themselves exact.
FN FIXED add_fixed(SHARE* share, REAL* v, ARRAY a, ARRAY b, ulong count, double upper, double lower) {
  begin_near(share, upper);
  add_near(share, v, upper);
#if STREAM
  for (ulong first = ((ulong)group_id() + group_count()) * TILE; first < count; first += (ulong)group_count() * TILE) {
    load_tile(v, a, b, first, count);
    add_near(share, v, upper);
  }
#endif
  end_near(share, upper);
  return fixed_of_share(share, upper, lower);
}

// The same term by term, where those are not.
FN FIXED add_each(REAL* v, ARRAY a, ARRAY b, ulong count, double upper, double lower) {
  FIXED sum = no_sum();
  for (ulong first = (ulong)group_id() * TILE; first < count; first += (ulong)group_count() * TILE) {
    load_tile(v, a, b, first, count);
#pragma unroll 1
    for (int i = 0; i < REALS; ++i) {
      sum.failed |= !add_to_fixed(&sum, term_of(v[0]), upper, lower);
#pragma unroll
      for (int k = 0; k < REALS - 1; ++k) v[k] = v[k + 1];
    }
  }
  sum.failed |= !in_bits(sum.upper, UPPER_BITS);
  return sum;
}

// Adds up what the group's work-items have.
FN FIXED add_group(LOCAL uint* storage, LOCAL uint4* memory, uint place, FIXED sum) {
  if (sum.failed) storage[place + GROUP_FAILED] = 1;
  if (sum.other) storage[place + GROUP_OTHER] = 1;
  add_pieces(storage + place, sum, UPPER_PIECES);
  barrier_local();
  return sum_of_pieces(memory + place / 4, no_sum(), UPPER_PIECES);
}
#endif

// Adds the tile to the work-item's column; says whether there was anything but -0.0 and NaN.
FN uint add_to_columns(LOCAL uint* storage, const REAL* v) {
  LOCAL uint* column = storage + STORAGE_COLUMNS + COUNTERS * COLUMNS + (local_id() & (COLUMNS - 1));
  // Little code: a loop, and terms that move up.
  REAL left[REALS];
#pragma unroll
  for (int i = 0; i < REALS; ++i) left[i] = v[i];
  uint other = 0;
#pragma unroll 1
  for (int i = 0; i < REALS; ++i) {
    other |= add_to_column(column, left[0]);
#pragma unroll
    for (int k = 0; k < REALS - 1; ++k) left[k] = left[k + 1];
  }
  return other;
}

// Adds a value to limbs, by a sub-group.
FN void add_limbs(LOCAL uint* storage, long value, uint position) {
  const uint lane = local_id() & (SUBGROUP - 1), shift = position & 15;
  if (lane >= 5) return;
  const uint piece = lane == 4 ? (uint)((value >> 1) >> (63 - shift)) : (uint)(((ulong)value << shift) >> (16 * lane)) & 0xffffu;
  atomic_add_local32(&storage[STORAGE_LIMBS + (position >> 4) + lane], piece);
}

// Adds the sub-group's sums to limbs.
//
// With C = 1.5 * 2^k far above |x|, the float64 x + C is C plus x rounded to C's last bit: its own bits, as an integer, are those of C plus
// that multiple. So integers add up the upper part of each sum, and x - ((x + C) - C) is the exact rest, for which a smaller C is next.
#define LOWEST_FIELD (ROW_BASE < 0 ? 0u : ROW_BASE + 1u)
FN void spread(double* sums, LOCAL uint* storage) {
  const uint lane = local_id() & (SUBGROUP - 1);
  for (;;) {
    uint greatest = 0;
#pragma unroll
    for (int i = 0; i < SUMS; ++i) greatest = max_u32(greatest, (uint)(as_ulong(sums[i]) >> 32) & 0x7fffffffu);
#if ROW_BASE <= 0  // where there are denormal numbers
#pragma unroll
    for (int i = 0; i < SUMS; ++i) greatest |= (uint)as_ulong(sums[i]) != 0;
#endif
    greatest = subgroup_max_u32(greatest);
    if (greatest == 0) break;
    // C's last bit is not below that of limb 0. That is the same in the lowest two binades: there C may be in the first and go down.
    const uint lowest = ROW_BASE <= 0 && greatest >> 20 == 0;
    const uint field = lowest ? 1 : max_u32((greatest >> 20) + 1 + SUMS, LOWEST_FIELD);
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
    add_limbs(storage, all, (uint)((int)field - 1 - (ROW_BASE)));
    if (more == 0) break;
  }
}

// Adds up the columns, into limbs and counters.
FN void add_up(LOCAL uint* storage) {
  const uint lane = local_id() & (SUBGROUP - 1);
  for (uint row = local_id() / SUBGROUP; row < COUNTERS + LIMBS; row += SUBGROUPS) {
    const int part = (int)storage[STORAGE_COLUMNS + row * COLUMNS + lane];
    if (subgroup_ballot(part != 0) == 0) continue;
    const int low = subgroup_add_s32(part & 0xffff), high = subgroup_add_s32(part >> 16);
    if (lane != 0) continue;
    if (row < COUNTERS) {
      storage[STORAGE_COUNTERS + COUNTERS - 1 - row] = (uint)low + ((uint)high << 16);
      storage[STORAGE_WIDE] = 1;
    } else {
      atomic_add_local32(&storage[STORAGE_LIMBS + row - COUNTERS], (uint)low);
      atomic_add_local32(&storage[STORAGE_LIMBS + row - COUNTERS + 1], (uint)high);
    }
  }
}

// Which limbs are in use: the first, and above 16 bits the one after the last. By a sub-group.
FN uint used_limbs(LOCAL const uint* storage) {
  uint first = 0, end = 0;
#pragma unroll
  for (uint i = 0; i < ROOM_LIMBS; i += SUBGROUP) {
    const uint used = subgroup_ballot(storage[STORAGE_LIMBS + i + (local_id() & (SUBGROUP - 1))] != 0);
    first = end == 0 && used != 0 ? i + lowest_bit(used) : first;
    end = used != 0 ? i + SUBGROUP - clz32(used) : end;
  }
  return end << 16 | first;
}

// A word of a slot says that it is there, of what kind the slot is, and at which limb it begins; below are 48 bits of two limbs' value.
#define PRESENT ((ulong)1 << 63)
#define HAS_OTHER ((ulong)1 << 62)  // there was anything but -0.0
#define IS_WIDE ((ulong)1 << 61)    // all is in the words for that
#define LIMB_SHIFT 48
#define LIMB_MASK 0x1fffu

// By a sub-group.
FN void leave(GLOBAL ulong* slots, LOCAL const uint* storage, uint only_wide) {
  const uint lane = local_id();
  LOCAL const int* limbs = (LOCAL const int*)storage + STORAGE_LIMBS;
  const uint used = used_limbs(storage), first = used & 0xffffu;
  const uint wide = only_wide || storage[STORAGE_WIDE] || (used >> 16) > first + 2 * SLOT;
  if (lane < SLOT && !only_wide) {
    const uint limb = first + 2 * lane;
    ulong word = PRESENT | (storage[STORAGE_OTHER] ? HAS_OTHER : 0);
    word |= wide ? IS_WIDE : (ulong)limb << LIMB_SHIFT | (((ulong)limbs[limb] + ((ulong)limbs[limb + 1] << 16)) & 0xffffffffffffUL);
    atomic_store_global64(&slots[group_id() * SLOT + lane], word);
  }
  if (!wide) return;
  // Limbs of 17 bits, so that those of all groups add up in 32; the highest are the carries of those below.
  GLOBAL ulong* place = slots + group_count() * SLOT + group_id() * WIDE;
  for (uint i = lane; i < WIDE; i += SUBGROUP) {
    const uint value =
        i < LIMBS ? ((uint)limbs[i] & 0xffffu) + (uint)(i > 0 ? limbs[i - 1] >> 16 : 0)
        : i == LIMBS + OTHERS ? storage[STORAGE_OTHER] : storage[STORAGE_COUNTERS + i - LIMBS];
    atomic_store_global64(&place[i], PRESENT | value);
  }
}

FN void add_word(LOCAL uint* storage, uint limb, long value) {
  atomic_add_local32(&storage[STORAGE_LIMBS + limb], (uint)value & 0xffffu);
  atomic_add_local32(&storage[STORAGE_LIMBS + limb + 1], (uint)(value >> 16) & 0xffffu);
  atomic_add_local32(&storage[STORAGE_LIMBS + limb + 2], (uint)(value >> 32));
}

// Adds up the slots of the other groups, as they come, and clears them: a work-item for each word. Groups that are wide are marked.
#define BATCH 4  // words that a work-item waits for at once
FN void take_slots(GLOBAL ulong* slots, LOCAL uint* storage) {
  LOCAL uchar* marks = (LOCAL uchar*)(storage + STORAGE_MARKS);
  const uint all = (group_count() - 1) * SLOT;
  for (uint first = local_id(); first < all; first += BATCH * GROUP_SIZE) {
    ulong words[BATCH];
    uint complete;
    do {
      complete = 1;
#pragma unroll
      for (int i = 0; i < BATCH; ++i) {
        const uint at = first + i * GROUP_SIZE;
        words[i] = at < all ? atomic_load_global64(&slots[at]) : PRESENT;
      }
#pragma unroll
      for (int i = 0; i < BATCH; ++i) complete &= (uint)(words[i] >> 63);
    } while (!complete);
    // Those at the same limb first add up in a register.
    const uint limb = (uint)(words[0] >> LIMB_SHIFT) & LIMB_MASK;
    long sum = 0;
    uint apart = 0;
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
      const uint at = first + i * GROUP_SIZE;
      if (at < all) slots[at] = 0;
      if (words[i] & HAS_OTHER) storage[STORAGE_OTHER] = 1;
      if (words[i] & IS_WIDE) marks[at / SLOT] = storage[STORAGE_WIDE] = 1;
      const long value = (long)(words[i] << 16) >> 16;
      const uint same = ((uint)(words[i] >> LIMB_SHIFT) & LIMB_MASK) == limb;
      sum += same ? value : 0;
      apart |= !same && value != 0;
    }
    if (sum != 0) add_word(storage, limb, sum);
    if (apart == 0) continue;
#pragma unroll 1
    for (int i = 1; i < BATCH; ++i) {
#pragma unroll
      for (int k = 0; k < BATCH - 1; ++k) words[k] = words[k + 1];
      const uint other = (uint)(words[0] >> LIMB_SHIFT) & LIMB_MASK;
      if (other != limb) add_word(storage, other, (long)(words[0] << 16) >> 16);
    }
  }
}

// The same for what did not fit.
FN void take_wide(GLOBAL ulong* slots, LOCAL uint* storage) {
  LOCAL const uchar* marks = (LOCAL const uchar*)(storage + STORAGE_MARKS);
  const uint all = (group_count() - 1) * WIDE;
  GLOBAL ulong* places = slots + group_count() * SLOT;
  for (uint first = local_id(); first < all; first += BATCH * GROUP_SIZE) {
    ulong words[BATCH];
    uint complete;
    do {
      complete = 1;
#pragma unroll
      for (int i = 0; i < BATCH; ++i) {
        const uint at = first + i * GROUP_SIZE;
        words[i] = at < all && marks[at / WIDE] ? atomic_load_global64(&places[at]) : PRESENT;
        complete &= (uint)(words[i] >> 63);
      }
    } while (!complete);
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
      const uint at = first + i * GROUP_SIZE, place = at % WIDE;
      if (at >= all || (uint)words[i] == 0) continue;
      atomic_add_local32(&storage[place < LIMBS ? STORAGE_LIMBS + place : place == LIMBS + OTHERS ? STORAGE_OTHER : STORAGE_COUNTERS + place - LIMBS], (uint)words[i]);
    }
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
      const uint at = first + i * GROUP_SIZE;
      if (at < all) places[at] = 0;
    }
  }
}

// What the group knows, as entries.
FN long entry_of(LOCAL const uint* storage, uint i) {
  LOCAL const int* limbs = (LOCAL const int*)storage + STORAGE_LIMBS;
  if (i >= DIGITS) return i - DIGITS == OTHERS ? storage[STORAGE_OTHER] : storage[STORAGE_COUNTERS + i - DIGITS];
  return limbs[2 * i] + (long)((ulong)(long)limbs[2 * i + 1] << 16);
}

// Rounds ROUND_LIMBS limbs, all there are, the first of which weighs 2^`unit`. 0 where this is no way to: where float64 ends.
#define ROUND_LIMBS 9
FN long three_limbs(LOCAL const int* limbs) {
  return (long)((ulong)(long)limbs[0] + ((ulong)(long)limbs[1] << 16) + ((ulong)(long)limbs[2] << 32));
}
FN ulong round_limbs(LOCAL const int* limbs, int unit, uint is_negative_zero, GLOBAL ulong* record) {
  // Words of 48 bits, the last with the sign and more.
  const long word_0 = three_limbs(limbs), word_1 = three_limbs(limbs + 3) + (word_0 >> 48);
  const ulong w0 = (ulong)word_0 & 0xffffffffffffUL, w1 = (ulong)word_1 & 0xffffffffffffUL;
  const long w2 = three_limbs(limbs + 6) + (word_1 >> 48);
  // Of these two numbers, exact as float64, the lower of 48 bits. Its last bit may stand for all below, where 55 bits or more remain: what
  // is rounded to fewer is rounded alike.
  long high = w2;
  ulong low = w1 | (w0 != 0);
  int moved = 48;
  if (w2 >= -128 && w2 < 128) {
    high = (long)((ulong)w2 << 32) + (long)(w1 >> 16);
    low = (w1 & 0xffffu) << 32 | w0 >> 16 | ((w0 & 0xffffu) != 0);
    moved = 16;
  }
  if (w2 == 0 || w2 == -1) {
    high = (long)w1 + (long)((ulong)w2 << 48);
    low = w0;
    moved = 0;
  }
  const double a = (double)high * 281474976710656.0, b = (double)(long)low;
  const double down = add_down_f64(a, b), up = add_up_f64(a, b);
  ulong float64 = as_ulong(add_rn_f64(a, b));
  // Of the numbers below and above, the one with an odd last bit: which the rounding to float32 takes as it would the sum itself.
  ulong odd = as_ulong(down) & 1 ? as_ulong(down) : as_ulong(up);
  const int scale = unit + moved;
  if (high == 0 && low == 0) {
    float64 = odd = (ulong)is_negative_zero << 63;
  } else {
    const int field = (int)(float64 >> 52 & 0x7ffu) + scale;
    if (field < 2 || field > 2045 || (high >> 53) != (high >> 63)) return 0;
    float64 += (ulong)(long)scale << 52;
    odd += (ulong)(long)scale << 52;
  }
  if ((local_id() & (SUBGROUP - 1)) == 0) {
    record[0] = float64;
    record[1] = 0;
    record[2] = as_uint((float)as_double(odd));
  }
  return float64 | 1;
}

// `slots` are zero before and after each launch. The first element of `a` lies at byte `a_offset`, the others `a_stride` bytes apart; `b`,
// alike, is looked at for products.
// STREAM: groups have their tiles in turns; else there is a group for each. There are MOST_GROUPS at most.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void sum_window(GLOBAL const uchar* a, ulong a_offset, long a_stride, GLOBAL const uchar* b, ulong b_offset, long b_stride, ulong count,
                GLOBAL ulong* slots, GLOBAL long* result, GLOBAL uchar* record, ulong record_offset, int skip_nans) {
  LOCAL_VAR uint4 memory[STORAGE / 4];
  LOCAL_VAR long entries[ENTRIES];

  ARRAY left, right;
  left.first = a + a_offset;
  left.stride = a_stride;
  right.first = b + b_offset;
  right.stride = b_stride;
  REAL v[REALS];
  load_tile(v, left, right, (ulong)group_id() * TILE, count);  // on its way while local memory is cleared
#if FIXED_POINT
  GLOBAL ulong* const state_place = slots;
  const ulong state = atomic_load_global64(state_place);
  slots += STATE_WORDS + 2 * group_count();
#endif
#pragma unroll
  for (int i = 0; i < STORAGE_COLUMNS / 4; i += GROUP_SIZE) {
    if (i + local_id() < STORAGE_COLUMNS / 4) memory[i + local_id()] = make_uint4(0, 0, 0, 0);
  }
  barrier_local();
  // Compilers do what is next before a barrier, where they can: here, wait for the loads. But not what needs what was cleared before it;
  // and such an address they keep, instead of making it again and again. As it looks like one of each work-item's own, they do not put
  // a sub-group's additions to one place together either.
  const uint zero = ((LOCAL const uint*)memory)[STORAGE_ZERO + (local_id() & 3)];
  LOCAL uint* storage = (LOCAL uint*)memory + zero;

  SHARE share = empty_share(zero);
  const uint others = group_count() - 1, is_last = group_id() == others;
  uint own = 1;  // whether this group's sum is to be added to limbs
#if FIXED_POINT
  const uint tried = field_of(state) != 0 && pause_of(state) == 0;
  if (tried) {
    const uint field = field_of(state);
    const double upper = power_of(field), lower = power_of(field - LOWER_BITS);
    FIXED part = add_fixed(&share, v, left, right, count, upper, lower);
    part.other = has_other(&share);
    FIXED sum = add_group(storage, memory, STORAGE_GROUP, part);
    if (sum.failed) {
      if (part.failed) part = add_each(v, left, right, count, upper, lower);
      part.other = has_other(&share);
      sum = add_group(storage, memory, STORAGE_AGAIN, part);
    }
    own = sum.failed;
    if (!is_last) {
      leave_fixed(state_place + STATE_WORDS, sum);
      if (!own) return;
    } else {
      if (own) sum.upper = sum.lower = sum.other = 0;
      if (others != 0) {
        take_fixed(state_place + STATE_WORDS, (LOCAL uchar*)(storage + STORAGE_MARKS), storage + STORAGE_GROUPS);
        barrier_local();
        sum = sum_of_pieces(memory + STORAGE_GROUPS / 4, sum, 3);
      }
      if (!sum.failed) {
        round_fixed(sum, field, count == 0, result, (GLOBAL ulong*)(record + record_offset));
        if (local_id() == 0 && failures_of(state) != 0) *state_place = state_of(field, 0, failures_of(state) - 1);
        return;
      }
      if (local_id() < SUBGROUP) {
        const uint position = field + TERM_SCALE - LOWER_BITS - 1 - (ROW_BASE);
        add_limbs(storage, sum.lower, position);
        add_limbs(storage, sum.upper, position + LOWER_BITS);
        if (sum.other) storage[STORAGE_OTHER] = 1;
      }
    }
  }
#else
  const uint tried = 0;
#endif
  if (!tried) {
    add_reals(&share, v);
#if STREAM
    for (ulong first = ((ulong)group_id() + group_count()) * TILE; first < count; first += (ulong)group_count() * TILE) {
      load_tile(v, left, right, first, count);
      add_reals(&share, v);
    }
#endif
  }
  const uint exact = is_exact(&share);
  if (own && exact && has_other(&share)) storage[STORAGE_OTHER] = 1;
  double sums[SUMS];
  sums_of(&share, sums);
#pragma unroll
  for (int i = 0; i < SUMS; ++i) sums[i] = exact && own ? sums[i] : 0;
  spread(sums, storage);
  if (barrier_or(!exact && own)) {
    for (int i = STORAGE_COLUMNS / 4 + local_id(); i < STORAGE / 4; i += GROUP_SIZE) memory[i] = make_uint4(0, 0, 0, 0);
    barrier_local();
    uint other = 0;
    for (ulong first = (ulong)group_id() * TILE; !exact && first < count; first += (ulong)group_count() * TILE) {
      load_tile(v, left, right, first, count);
      other |= add_to_columns(storage, v);
    }
    if (other) storage[STORAGE_OTHER] = 1;
    barrier_local();
    add_up(storage);
    barrier_local();
  }
  if (!is_last) {
    if (local_id() < SUBGROUP) leave(slots, storage, tried);
    return;
  }
  if (others != 0) {
    if (tried) {
      if (local_id() == 0) storage[STORAGE_WIDE] = 1;
    } else {
      take_slots(slots, storage);
    }
    barrier_local();
    if (storage[STORAGE_WIDE] != 0) {
      take_wide(slots, storage);
      barrier_local();
    }
  }
  if (local_id() >= 2 * SUBGROUP) return;

  // One sub-group rounds, meanwhile the next one leaves the entries.
  if (local_id() >= SUBGROUP) {
    for (uint i = local_id() - SUBGROUP; i <= ENTRIES; i += SUBGROUP) result[i] = i < ENTRIES ? entry_of(storage, i) : 0;
    return;
  }
  const uint used = used_limbs(storage), lowest = used & 0xffffu;
  ulong rounded = 0;
  if (storage[STORAGE_WIDE] == 0 && (used >> 16) <= lowest + ROUND_LIMBS) {
    rounded = round_limbs((LOCAL const int*)storage + STORAGE_LIMBS + lowest, ROW_BASE + 16 * (int)lowest - 1074,
                          storage[STORAGE_OTHER] == 0 && count != 0, (GLOBAL ulong*)(record + record_offset));
  }
  if (rounded == 0) {
    for (uint i = local_id(); i < ENTRIES; i += SUBGROUP) entries[i] = entry_of(storage, i);
    rounded = finish(result, (GLOBAL ulong*)(record + record_offset), count, skip_nans, entries, (LOCAL long*)(storage + STORAGE_COLUMNS));
  }
#if FIXED_POINT
  if (local_id() == 0) *state_place = state_after(state, tried, rounded);
#endif
}
