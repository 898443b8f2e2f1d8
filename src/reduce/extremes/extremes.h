// The minimum and the maximum of elements, each with its first index: of a work-item, of a sub-group, of a group, of all groups.
//
// Follows elements.h. Indices count the elements of one launch, of which there are fewer than 2^31. Defined before: FIND_MIN and FIND_MAX (which
// extremes are wanted), INDICES (whether their indices are), KEEP_LOADS (a work-item keeps the loads that hold its extremes; otherwise the group
// reads them again), COUNT_NANS (otherwise other code counts them). The compiler removes what is not wanted, because no code uses it.

#define NO_INDEX (~0u)
// Ends a work-item early although barriers follow. PoCL does not compile barriers behind a condition: there all work-items go on.
#if LANES > 1
#define RETURN_IF(condition) \
  if (condition) return
#else
#define RETURN_IF(condition)
#endif

// If a load has two elements, the index of the extreme is known at once. Else the load is kept or read again, and searched at the end.
#define KNOWN_INDICES (BITS == 64)
#define LOADS_KEPT (KEEP_LOADS && !KNOWN_INDICES)

// One extreme. The minimum is the element with the greatest reversed key.
typedef struct {
  KEY key;
  uint index;  // of the load's first element, or of the element
#if LOADS_KEPT
  uint4 load;
#endif
} EXTREME;
FN KEY reversed(KEY key) { return ~key; }

typedef struct {
  EXTREME max, min;
  uint nans, first_nan;
} EXTREMES_STATE;

// Keys of NaNs lie beyond those of both infinities.
#if FLOATS
#define MAX_NUMBER ((KEY)INFINITE)
#else
#define MAX_NUMBER KEY_MAX
#endif

FN EXTREME empty_extreme(void) {
  EXTREME extreme;
  extreme.key = KEY_MIN;
  extreme.index = NO_INDEX;
#if LOADS_KEPT
  extreme.load = make_uint4(0, 0, 0, 0);
#endif
  return extreme;
}

// A later element replaces an earlier one only if it is better, so that the first index of equal elements stays.
FN EXTREME update(EXTREME extreme, KEY key, uint index, uint4 load) {
  const uint better = key > extreme.key;
  extreme.key = better ? key : extreme.key;
  extreme.index = better ? index : extreme.index;
#if LOADS_KEPT
  extreme.load.x = better ? load.x : extreme.load.x;
  extreme.load.y = better ? load.y : extreme.load.y;
  extreme.load.z = better ? load.z : extreme.load.z;
  extreme.load.w = better ? load.w : extreme.load.w;
#endif
  return extreme;
}

// The extremes of the `count` elements of a load; returns whether there is a NaN, and then the extremes are not valid. `at`: their positions in
// the load, if KNOWN_INDICES.
typedef struct {
  uint max, min;
} POSITIONS;
FN uint extremes_of_load(uint4 v, int count, KEY* max_key, KEY* min_key, POSITIONS* at) {
  at->max = at->min = 0;
#if PACKED
  if (count == ELEMENTS_PER_LOAD) {
    uint high = 0;
    uint low = ~0u;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint word = word_of(v, i) ^ UNSIGNED_ORDER;
      const uint first = BITS == 8 ? word & 0x00ff00ffu : word;
      const uint second = BITS == 8 ? word >> 8 & 0x00ff00ffu : word;
      high = max2_u16(high, max2_u16(first, second));
      low = min2_u16(low, min2_u16(first, second));
    }
    const int offset = (int)(UNSIGNED_ORDER & ((1u << BITS) - 1));
    *max_key = (int)max_u32(high & 0xffffu, high >> 16) - offset;
    *min_key = reversed((int)min_u32(low & 0xffffu, low >> 16) - offset);
    return 0;
  }
#endif
#if FLOATS && BITS == 16
  if (count == ELEMENTS_PER_LOAD) {
    uint high = 0;
    uint low = ~0u;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint word = ordered_halves(word_of(v, i));
      high = max2_u16(high, word);
      low = min2_u16(low, word);
    }
    *max_key = (int)greater_half(high) - 0x8000;
    *min_key = reversed((int)lesser_half(low) - 0x8000);
    return *max_key > MAX_NUMBER || *min_key > MAX_NUMBER;
  }
#endif
#if FLOATS && BITS == 32 && NAN_EXTREMES
  uint high = v.x;
  uint low = v.x;
#pragma unroll
  for (int i = 1; i < count; ++i) {
    high = max_nan_f32(high, element_of(v, i));
    low = min_nan_f32(low, element_of(v, i));
  }
  *max_key = key_of(high);
  *min_key = reversed(key_of(low));
  return is_nan(FIND_MAX ? high : low);
#else
  KEY high = key_of(element_of(v, 0));
  KEY low = high;
#ifdef is_nan_f64
  uint nan = is_nan(element_of(v, 0));
#endif
#pragma unroll
  for (int i = 1; i < count; ++i) {
    const KEY key = key_of(element_of(v, i));
#if KNOWN_INDICES
    at->max = key > high ? i : at->max;
    at->min = key < low ? i : at->min;
#endif
    high = key > high ? key : high;
    low = key < low ? key : low;
#ifdef is_nan_f64
    nan |= is_nan(element_of(v, i));
#endif
  }
  *max_key = high;
  *min_key = reversed(low);
#if FLOATS && BITS == 64 && defined(is_nan_f64)
  return nan;
#else
  return FLOATS && (high > MAX_NUMBER || reversed(low) > MAX_NUMBER);
#endif
#endif
}

// Adds the `count` elements of a load, the first of which has this index, by what extremes_of_load() has found.
FN EXTREMES_STATE accumulate_found(EXTREMES_STATE state, uint4 v, uint index, int count, KEY max_key, KEY min_key, POSITIONS at, uint any_nan) {
#if FLOATS
  if (any_nan) {
    max_key = min_key = KEY_MIN;
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
      const uint nan = is_nan(element_of(v, i));
      const KEY key = key_of(element_of(v, i));
      state.nans += COUNT_NANS ? nan : 0;
      if (nan && index + i < state.first_nan) state.first_nan = index + i;
#if KNOWN_INDICES
      at.max = !nan && key > max_key ? i : at.max;
      at.min = !nan && reversed(key) > min_key ? i : at.min;
#endif
      max_key = !nan && key > max_key ? key : max_key;
      min_key = !nan && reversed(key) > min_key ? reversed(key) : min_key;
    }
  }
#endif
  state.max = update(state.max, max_key, index + at.max, v);
  state.min = update(state.min, min_key, index + at.min, v);
  return state;
}

FN EXTREMES_STATE accumulate(EXTREMES_STATE state, uint4 v, uint index, int count) {
  KEY max_key;
  KEY min_key;
  POSITIONS at;
  const uint any_nan = extremes_of_load(v, count, &max_key, &min_key, &at);
  return accumulate_found(state, v, index, count, max_key, min_key, at, any_nan);
}

// The state of any part of the array, which combine() combines.
typedef struct {
  KEY max_key, min_key;
  uint max_index, min_index;
  uint nans, first_nan;
} MIN_MAX_STATE;

FN uint is_better(KEY key, uint index, KEY than, uint than_index) { return key > than || (key == than && index < than_index); }
FN MIN_MAX_STATE combine_keys(MIN_MAX_STATE a, MIN_MAX_STATE b) {
#if INDICES
  const uint greater = is_better(b.max_key, b.max_index, a.max_key, a.max_index);
  const uint less = is_better(b.min_key, b.min_index, a.min_key, a.min_index);
#else
  const uint greater = b.max_key > a.max_key;
  const uint less = b.min_key > a.min_key;
#endif
  a.max_key = greater ? b.max_key : a.max_key;
  a.max_index = greater ? b.max_index : a.max_index;
  a.min_key = less ? b.min_key : a.min_key;
  a.min_index = less ? b.min_index : a.min_index;
  return a;
}
FN MIN_MAX_STATE combine(MIN_MAX_STATE a, MIN_MAX_STATE b) {
  a = combine_keys(a, b);
  a.nans += b.nans;
  a.first_nan = min_u32(a.first_nan, b.first_nan);
  return a;
}
FN MIN_MAX_STATE identity(void) {
  MIN_MAX_STATE found;
  found.max_key = found.min_key = KEY_MIN;
  found.max_index = found.min_index = found.first_nan = NO_INDEX;
  found.nans = 0;
  return found;
}

FN EXTREMES_STATE empty_extremes(void) {
  EXTREMES_STATE state;
  state.max = state.min = empty_extreme();
  state.nans = 0;
  state.first_nan = NO_INDEX;
  return state;
}

#if LOADS_KEPT
// The index of the first element of the load that has the extreme's key.
FN uint index_of(EXTREME extreme, uint of_min) {
  uint at = extreme.index;
#pragma unroll
  for (int i = ELEMENTS_PER_LOAD - 1; i >= 0; --i) {
    const KEY key = key_of(element_of(extreme.load, i));
    at = extreme.index != NO_INDEX && (of_min ? reversed(key) : key) == extreme.key ? extreme.index + i : at;
  }
  return at;
}
#else
FN uint index_of(EXTREME extreme, uint of_min) { return extreme.index; }
#endif
FN MIN_MAX_STATE result_of(EXTREMES_STATE state) {
  MIN_MAX_STATE found;
  found.max_key = FIND_MAX ? state.max.key : KEY_MIN;
  found.min_key = FIND_MIN ? state.min.key : KEY_MIN;
  found.max_index = FIND_MAX && INDICES ? index_of(state.max, 0) : NO_INDEX;
  found.min_index = FIND_MIN && INDICES ? index_of(state.min, 1) : NO_INDEX;
  found.nans = state.nans;
  found.first_nan = state.first_nan;
  return found;
}

// Local memory for the states of a group's sub-groups, or of its work-items if there are no sub-groups.
#define MEMBERS (GROUP_SIZE / LANES)
typedef struct {
  KEY max_key[MEMBERS], min_key[MEMBERS];
  uint max_index[MEMBERS], min_index[MEMBERS], nans[MEMBERS], first_nan[MEMBERS];
} BEST;

FN void put_keys(LOCAL BEST* best, uint part, MIN_MAX_STATE found) {
  if (FIND_MAX) best->max_key[part] = found.max_key;
  if (FIND_MIN) best->min_key[part] = found.min_key;
  if (FIND_MAX && INDICES) best->max_index[part] = found.max_index;
  if (FIND_MIN && INDICES) best->min_index[part] = found.min_index;
}
FN void put_nans(LOCAL BEST* best, uint part, MIN_MAX_STATE found) {
  best->nans[part] = found.nans;
  best->first_nan[part] = found.first_nan;
}
FN MIN_MAX_STATE keys_in(LOCAL const BEST* best, uint part) {
  MIN_MAX_STATE found = identity();
  if (FIND_MAX) found.max_key = best->max_key[part];
  if (FIND_MIN) found.min_key = best->min_key[part];
  if (FIND_MAX && INDICES) found.max_index = best->max_index[part];
  if (FIND_MIN && INDICES) found.min_index = best->min_index[part];
  return found;
}

FN MIN_MAX_STATE state_in(LOCAL const BEST* best, uint part) {
  MIN_MAX_STATE found = keys_in(best, part);
  found.nans = best->nans[part];
  found.first_nan = best->first_nan[part];
  return found;
}

#if LANES > 1
FN KEY subgroup_max_key(KEY key) {
#if BITS == 64
  const int high = subgroup_max_s32((int)(key >> 32));
  const uint low = ~subgroup_min_u32((int)(key >> 32) == high ? ~(uint)key : ~0u);
  return (long)((ulong)(uint)high << 32 | low);
#else
  return subgroup_max_s32(key);
#endif
}
FN MIN_MAX_STATE combine_keys_of_lanes(MIN_MAX_STATE found) {
  const KEY max_key = FIND_MAX ? subgroup_max_key(found.max_key) : KEY_MIN;
  const KEY min_key = FIND_MIN ? subgroup_max_key(found.min_key) : KEY_MIN;
  if (INDICES && FIND_MAX) found.max_index = subgroup_min_u32(found.max_key == max_key ? found.max_index : NO_INDEX);
  if (INDICES && FIND_MIN) found.min_index = subgroup_min_u32(found.min_key == min_key ? found.min_index : NO_INDEX);
  found.max_key = max_key;
  found.min_key = min_key;
  return found;
}
// NaNs are rare: one ballot skips the work for them.
FN uint any_nan_in_lanes(MIN_MAX_STATE found) { return FLOATS && subgroup_ballot(found.first_nan != NO_INDEX) != 0; }
FN MIN_MAX_STATE combine_nans(MIN_MAX_STATE found) {
  found.first_nan = subgroup_min_u32(found.first_nan);
  for (uint distance = 1; distance < LANES; distance *= 2) found.nans += subgroup_shuffle(found.nans, local_id() ^ distance);
  return found;
}
FN MIN_MAX_STATE combine_lanes(MIN_MAX_STATE found) {
  const uint any_nan = any_nan_in_lanes(found);
  found = combine_keys_of_lanes(found);
  return any_nan ? combine_nans(found) : found;
}
#else
FN MIN_MAX_STATE combine_lanes(MIN_MAX_STATE found) { return found; }
#endif

// Combines the states of all work-items of the group, which all call it. The result is valid in the first sub-group.
FN MIN_MAX_STATE combine_group(LOCAL BEST* best, MIN_MAX_STATE found) {
#if LANES > 1
  const uint lane = local_id() & (LANES - 1);
  uint any_nan = any_nan_in_lanes(found);
  found = combine_keys_of_lanes(found);
  put_keys(best, local_id() / LANES, found);  // all lanes store the same words: faster than a branch
  if (any_nan) found = combine_nans(found);
  if (FLOATS) put_nans(best, local_id() / LANES, found);
  barrier_local();
  if (local_id() >= LANES) return found;
  found = identity();
  if (FLOATS && lane < MEMBERS) found.first_nan = best->first_nan[lane];
#if !INDICES && MEMBERS <= (BITS == 64 ? 8 : 16)  // faster than a reduction by the sub-group
  any_nan = any_nan_in_lanes(found);
#pragma unroll
  for (uint i = 0; i < MEMBERS; ++i) found = combine_keys(found, keys_in(best, i));
#else
  if (lane < MEMBERS) found = combine_keys(found, keys_in(best, lane));
  any_nan = any_nan_in_lanes(found);
  found = combine_keys_of_lanes(found);
#endif
  if (any_nan) {
    if (lane < MEMBERS) found.nans = best->nans[lane];
    found = combine_nans(found);
  }
  return found;
#else
  put_keys(best, local_id(), found);
  put_nans(best, local_id(), found);
  for (uint step = GROUP_ROUNDED / 2; step > 0; step /= 2) {
    barrier_local();
    const uint with = local_id() + step;
    if (local_id() < step && with < GROUP_SIZE) {
      const MIN_MAX_STATE both = combine(state_in(best, local_id()), state_in(best, with));
      put_keys(best, local_id(), both);
      put_nans(best, local_id(), both);
    }
  }
  barrier_local();
  return state_in(best, 0);
#endif
}

// Writes the record (layout.h) that the host reads: the extremes of this launch's elements.
FN void write_record(GLOBAL ulong* record, MIN_MAX_STATE found) {
  record[RECORD_MAX_KEY] = (ulong)(long)found.max_key;
  record[RECORD_MIN_KEY] = (ulong)(long)found.min_key;
  record[RECORD_INDICES] = (ulong)found.max_index << 32 | found.min_index;
  record[RECORD_NANS] = (ulong)found.nans << 32 | found.first_nan;
}

// A group's slot (meet.h) has four words, each of 32 bits of a key or a count and 31 bits of an index or a count.
FN ulong slot_word(MIN_MAX_STATE found, uint i) {
#if BITS == 64
  const KEY key = i < 2 ? found.max_key : found.min_key;
  const uint upper = i == 0 ? found.max_index : i == 1 ? found.nans : i == 2 ? found.min_index : found.first_nan;
  const uint lower = i % 2 == 0 ? (uint)((ulong)key >> 32) : (uint)key;
#else
  const uint upper = i == 0 ? found.max_index : i == 1 ? found.min_index : i == 2 ? found.first_nan : 0;
  const uint lower = i == 0 ? (uint)found.max_key : i == 1 ? (uint)found.min_key : found.nans;
#endif
  return (ulong)upper << 32 | lower;
}
FN uint upper_of(ulong word) { return (uint)(word >> 32) == ~0u ? NO_INDEX : (uint)(word >> 32) & 0x7fffffffu; }
FN MIN_MAX_STATE state_in_slot(const ulong* words) {
  MIN_MAX_STATE found;
#if BITS == 64
  found.max_key = (KEY)(words[0] << 32 | (uint)words[1]);
  found.min_key = (KEY)(words[2] << 32 | (uint)words[3]);
  found.max_index = upper_of(words[0]);
  found.nans = upper_of(words[1]);
  found.min_index = upper_of(words[2]);
  found.first_nan = upper_of(words[3]);
#else
  found.max_key = (KEY)(uint)words[0];
  found.min_key = (KEY)(uint)words[1];
  found.nans = (uint)words[2];
  found.max_index = upper_of(words[0]);
  found.min_index = upper_of(words[1]);
  found.first_nan = upper_of(words[2]);
#endif
  return found;
}

// Publishes the group's state, which all lanes of the first sub-group have: a lane stores each word.
FN void publish(GLOBAL ulong* slot, MIN_MAX_STATE found) {
#if LANES > 1
  if (local_id() < RECORD_EXTREMES) publish_word(&slot[local_id()], slot_word(found, local_id()));
#else
  for (uint i = 0; i < RECORD_EXTREMES; ++i) publish_word(&slot[i], slot_word(found, i));
#endif
}
// Combines the first `count` slots, `apart` words from one another, with what the work-items of the group found.
FN MIN_MAX_STATE gather(GLOBAL ulong* slots, uint count, uint apart, MIN_MAX_STATE found) {
  const uint lane = local_id() & (LANES - 1);
  for (uint first = local_id() - lane; first < count; first += GROUP_SIZE) {
    GLOBAL ulong* slot = slots + (ulong)min_u32(first + lane, count - 1) * apart;
    ulong words[RECORD_EXTREMES];
    gather_slot(slot, words);
    if (first + lane >= count) break;
    clear_slot(slot);
    found = combine(found, state_in_slot(words));
  }
#if LANES > 1
  subgroup_sync();
#endif
  return found;
}
