// The exact sum of a small array in one short launch. Work-items add their elements up in registers, by floating-point additions that prove
// themselves exact (sums_*.cl, products_*.cl). If the previous launch has stored how large its sum was, and this one is not much larger or finer,
// sums are combined as fixed-point numbers (fixed_sum.h). Otherwise they are combined in limbs (limbs.h). A work-item whose additions are not exact,
// as with infinities and NaNs, reads its terms again and adds them to columns of limbs, which is slower.
//
// Groups add their fixed-point numbers to counted words, or publish their limbs in slots (meet.h). The last group gathers them: the device must
// hold two groups.
//
// Needs sub-groups, and additions that keep denormal numbers and obey rounding modes. Defined by the host: LOADS, GROUP_SIZE (at least two
// sub-groups), RESIDENT, STRIDED as in statistics.cl; DOT, whether terms are products of two arrays; STREAM, whether a group has more than
// one tile. No limb overflows with 2^19 elements a group and MAX_SUM_GROUPS groups.

#if FIXED_POINT
// Adds up the work-item's terms by float64 additions that prove themselves exact.
FN FIXED add_fixed(SHARE* share, REAL* v, ARRAY a, ARRAY b, ulong count, double upper) {
  begin_anchored(share, upper);
#if STREAM
  const ulong step = (ulong)group_count() * TILE;
  ulong first = (ulong)group_id() * TILE + step;
#if !STRIDED  // loads the next tile while one is added up
  REAL next[REALS];
  while (first + TILE <= count) {
    load_whole(next, a, b, first);
    add_anchored(share, v, upper);
    first += step;
    if (first + TILE > count) {
#pragma unroll
      for (int i = 0; i < REALS; ++i) v[i] = next[i];
      break;
    }
    load_whole(v, a, b, first);
    add_anchored(share, next, upper);
    first += step;
  }
#endif
  add_anchored(share, v, upper);
  for (; first < count; first += step) {
    load_tile(v, a, b, first, count);
    add_anchored(share, v, upper);
  }
#else
  add_anchored(share, v, upper);
#endif
  end_anchored(share, upper);
  return fixed_of_share(share, upper);
}

// The same, term by term, if the additions were not exact.
FN FIXED add_each(REAL* v, ARRAY a, ARRAY b, ulong count, double upper) {
  FIXED sum = sum_identity();
  for (ulong first = (ulong)group_id() * TILE; first < count; first += (ulong)group_count() * TILE) {
    load_tile(v, a, b, first, count);
#pragma unroll 1
    for (int i = 0; i < REALS; ++i) {
      sum.failed |= !add_to_fixed(&sum, term_of(v[0]), upper);
#if HAS_RESTS
      sum.failed |= !add_to_fixed(&sum, rest_of(v[0]), upper);
#endif
#pragma unroll
      for (int k = 0; k < REALS - 1; ++k) v[k] = v[k + 1];
    }
  }
  sum.failed |= !in_bits(sum.words[UPPER], UPPER_BITS);
  return sum;
}

// Adds up the sums of the group's work-items.
FN FIXED add_group(LOCAL uint* storage, LOCAL uint4* memory, uint place, FIXED sum, const int upper_pieces) {
  if (sum.failed) storage[place + GROUP_FAILED] = 1;
  if (sum.other) storage[place + GROUP_OTHER] = 1;
  add_pieces(storage + place, sum, upper_pieces);
  barrier_local();
  return sum_of_pieces(memory + place / 4, upper_pieces);
}
#endif

// Two kinds of slots (meet.h). A word of the first kind says at which limb it begins; below are 48 bits, the value of two limbs. What does not fit is
// published in a wide slot.
#define HAS_OTHER ((ulong)1 << 62)  // any term was not -0.0
#define IS_WIDE ((ulong)1 << 61)    // the sum is in the wide slot
#define LIMB_SHIFT 48
#define LIMB_MASK 0x1fffu

// By a sub-group.
FN void publish(GLOBAL ulong* slots, LOCAL const uint* storage, uint only_wide) {
  const uint lane = local_id();
  LOCAL const int* limbs = (LOCAL const int*)storage + STORAGE_LIMBS;
  const uint used = used_limbs(storage), first = used & 0xffffu;
  const uint wide = only_wide || storage[STORAGE_WIDE] || (used >> 16) > first + 2 * SLOT;
  if (lane < SLOT && !only_wide) {
    const uint limb = first + 2 * lane;
    ulong word = storage[STORAGE_OTHER] ? HAS_OTHER : 0;
    word |= wide ? IS_WIDE : (ulong)limb << LIMB_SHIFT | (((ulong)limbs[limb] + ((ulong)limbs[limb + 1] << 16)) & 0xffffffffffffUL);
    publish_word(&slots[group_id() * SLOT + lane], word);
  }
  if (!wide) return;
  // Limbs of 17 bits, the carries of the next lower limb included, so that the sums of all groups fit into 32 bits.
  GLOBAL ulong* place = slots + group_count() * SLOT + group_id() * WIDE;
  for (uint i = lane; i < WIDE; i += SUBGROUP) {
    const uint value =
        i < LIMBS ? ((uint)limbs[i] & 0xffffu) + (uint)(i > 0 ? limbs[i - 1] >> 16 : 0)
        : i == LIMBS + COUNTER_OTHERS ? storage[STORAGE_OTHER] : storage[STORAGE_COUNTERS + i - LIMBS];
    publish_word(&place[i], value);
  }
}

FN void add_word(LOCAL uint* storage, uint limb, long value) {
  atomic_add_local32(&storage[STORAGE_LIMBS + limb], (uint)value & 0xffffu);
  atomic_add_local32(&storage[STORAGE_LIMBS + limb + 1], (uint)(value >> 16) & 0xffffu);
  atomic_add_local32(&storage[STORAGE_LIMBS + limb + 2], (uint)(value >> 32));
}

// Adds up the slots of the other groups as they arrive: a work-item for each word. Marks the groups with wide slots.
FN void gather_slots(GLOBAL ulong* slots, LOCAL uint* storage) {
  LOCAL uchar* marks = (LOCAL uchar*)(storage + STORAGE_MARKS);
  const uint all = (group_count() - 1) * SLOT;
  for (uint first = local_id(); first < all; first += BATCH * GROUP_SIZE) {
    ulong words[BATCH];
    uint wanted = 0;
#pragma unroll
    for (int i = 0; i < BATCH; ++i) wanted |= (uint)(first + i * GROUP_SIZE < all) << i;
    gather_batch(&slots[first], wanted, words);
    // Values at the same limb are first added up in a register.
    const uint limb = (uint)(words[0] >> LIMB_SHIFT) & LIMB_MASK;
    long sum = 0;
    uint apart = 0;
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
      const uint at = first + i * GROUP_SIZE;
      if (at < all) store_settled_global64(&slots[at], 0);
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

#if FIXED_POINT
// Marks the groups that failed, which publish wide slots: polls the first word of each until all are found.
FN void mark_failed(GLOBAL ulong* slots, LOCAL uint* storage) {
  LOCAL uchar* marks = (LOCAL uchar*)(storage + STORAGE_MARKS);
  const uint others = group_count() - 1;
  GLOBAL const ulong* places = slots + group_count() * SLOT;
  for (;;) {
    barrier_local();
    const uint left = storage[STORAGE_FAILED] - 1;
    barrier_local();
    if (left == 0) return;
    for (uint at = local_id(); at < others; at += GROUP_SIZE) {
      if (marks[at] != 0 || atomic_load_global64(&places[at * WIDE]) == 0) continue;
      marks[at] = 1;
      atomic_add_local32(&storage[STORAGE_FAILED], ~0u);
    }
  }
}
#endif

// The same for wide slots of the groups that are marked.
FN void gather_wide(GLOBAL ulong* slots, LOCAL uint* storage) {
  LOCAL const uchar* marks = (LOCAL const uchar*)(storage + STORAGE_MARKS);
  const uint all = (group_count() - 1) * WIDE;
  GLOBAL ulong* places = slots + group_count() * SLOT;
  for (uint first = local_id(); first < all; first += BATCH * GROUP_SIZE) {
    ulong words[BATCH];
    uint wanted = 0;
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
      const uint at = first + i * GROUP_SIZE;
      wanted |= (uint)(at < all && marks[at / WIDE] != 0) << i;
    }
    gather_batch(&places[first], wanted, words);
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
      const uint at = first + i * GROUP_SIZE, place = at % WIDE;
      if (at >= all || (uint)words[i] == 0) continue;
      atomic_add_local32(&storage[place < LIMBS ? STORAGE_LIMBS + place : place == LIMBS + COUNTER_OTHERS ? STORAGE_OTHER : STORAGE_COUNTERS + place - LIMBS], (uint)words[i]);
    }
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
      const uint at = first + i * GROUP_SIZE;
      if (at < all) store_settled_global64(&places[at], 0);
    }
  }
}

// `slots` are zero before and after each launch, except the state. The first element of `a` lies at byte `a_offset`, the others `a_stride` bytes
// apart; the same of `b`, which is read for products only.
// If STREAM, group i has tiles i, i + group_count(), …; else there is a group for each tile. There are at most MAX_SUM_GROUPS groups.
// If TERM, its parameters stand in place of those of arrays (term.hpp).
#if !TERM
#define TERM_PARAMETERS GLOBAL const uchar *a, ulong a_offset, long a_stride, GLOBAL const uchar *b, ulong b_offset, long b_stride
#endif
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void small_sum(TERM_PARAMETERS, ulong count, GLOBAL ulong* slots, GLOBAL long* result, GLOBAL uchar* record, ulong record_offset, int skip_nans) {
  LOCAL_VAR uint4 memory[STORAGE / 4];
  LOCAL_VAR long entries[ENTRIES];

  grid_dependency_wait();

#if TERM
  const ARRAY left = TERM_VALUE, right = left;
#else
  const ARRAY left = {a + a_offset, a_stride}, right = {b + b_offset, b_stride};
#endif
#if FIXED_POINT
  GLOBAL ulong* const state_place = slots;
  const ulong state = atomic_load_global64(state_place);  // requested before the elements, so that it arrives first
#endif
  REAL v[REALS];
  load_tile(v, left, right, (ulong)group_id() * TILE, count);  // in flight while local memory is cleared
#if FIXED_POINT
  GLOBAL ulong* const meeting = state_place + STATE_WORDS;
  slots += STATE_WORDS + SUBGROUP;
#endif
#pragma unroll
  for (int i = 0; i < STORAGE_COLUMNS / 4; i += GROUP_SIZE) {
    if (i + local_id() < STORAGE_COLUMNS / 4) memory[i + local_id()] = make_uint4(0, 0, 0, 0);
  }
  barrier_local();
  // Compilers move code up across a barrier if they can, and here would wait for the loads there. They cannot move code that depends on a word
  // that was cleared before the barrier: so `storage` does. They also keep such an address in a register; and as it might differ between
  // work-items, they do not combine a sub-group's additions to one word.
  const uint zero = ((LOCAL const uint*)memory)[STORAGE_ZERO + (local_id() & 3)];
  LOCAL uint* storage = (LOCAL uint*)memory + zero;

  SHARE share = empty_share(zero);
  const uint others = group_count() - 1, is_last = group_id() == others;
  uint own = 1;  // whether this group's sum is to be added to limbs
#if FIXED_POINT
  const uint tried = field_of(state) != 0 && pause_of(state) == 0;
  if (!RARELY(!tried)) {
    const uint field = field_of(state);
    const double upper = power_of(field);
    FIXED part = add_fixed(&share, v, left, right, count, upper);
    part.other = has_other(&share);
    FIXED sum = add_group(storage, memory, STORAGE_GROUP, part, UPPER_PIECES);
    if (RARELY(sum.failed)) {
      if (part.failed) part = add_each(v, left, right, count, upper);
      part.other = has_other(&share);
      sum = add_group(storage, memory, STORAGE_AGAIN, part, WORD_PIECES);
    }
    own = sum.failed;
    if (!is_last) {
      if (!RARELY(own)) {
        publish_fixed(meeting, sum);
        return;
      }
      publish_failure(meeting);
    } else {
      if (own) sum = sum_identity();
      sum.failed = own;
      if (local_id() < SUBGROUP) {
        // Computed while other groups still work.
        GLOBAL ulong* to = materialize_address(place_of_word((GLOBAL ulong*)result, (GLOBAL ulong*)(record + record_offset)));
        if (others != 0) {
          launch_dependents();
          sum = gather_fixed(meeting, others, sum);
        }
        if (!RARELY(sum.failed)) {
          round_fixed(sum, field, count == 0, to);
          if (local_id() == 0 && failures_of(state) != 0) {
            store_settled_global64(state_place, state_of(field, 0, failures_of(state) - 1));
          }
        } else {
          storage[STORAGE_FAILED] = 1 + sum.failed_groups;
        }
      }
      barrier_local();  // other sub-groups wait here to learn whether the sum has failed, which is rare
      if (!RARELY(storage[STORAGE_FAILED])) return;
      mark_failed(slots, storage);
      if (local_id() < SUBGROUP) {
        const int position = (int)field + TERM_SCALE - UPPER * LOWER_BITS - 1 - (ROW_BASE);
#pragma unroll
        for (int i = 0; i < FIXED_WORDS; ++i) add_limbs(storage, sum.words[i], (uint)(position + (i == 0 ? -FINER_BITS : i * LOWER_BITS)));
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
#if GREATEST_NOTED
    const uint greatest = subgroup_max_u32(share.greatest);
    if ((local_id() & (SUBGROUP - 1)) == 0) atomic_max_global32((GLOBAL uint*)(state_place + 1), greatest);
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
    if (local_id() < SUBGROUP) publish(slots, storage, tried);
    return;
  }
  if (others != 0) {
    launch_dependents();
    if (tried) {
      if (local_id() == 0) storage[STORAGE_WIDE] = 1;
    } else {
      gather_slots(slots, storage);
    }
    barrier_local();
    if (storage[STORAGE_WIDE] != 0) {
      gather_wide(slots, storage);
      barrier_local();
    }
  }
  if (local_id() >= 2 * SUBGROUP) return;

  // One sub-group rounds, while the next one stores the entries.
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
  if (local_id() != 0) return;
#if GREATEST_NOTED  // only a hint for the next launch: it need not be complete
  const uint expected = (uint)atomic_load_global64(state_place + 1);
  store_settled_global64(state_place + 1, 0);
#else
  const uint expected = (uint)(rounded >> 52) & 0x7ffu;
#endif
  store_settled_global64(state_place, state_after(state, tried, expected));
#endif
}
