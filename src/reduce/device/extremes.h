// The least and the greatest of the elements that a work-item meets, and where they are first; then of a sub-group's, and of a group's.
//
// Stands after elements.h. Places are those of elements in what one launch looks at, which is less than 2^31 of them. Defined before:
// LEAST and GREATEST (the ends that are wanted), PLACES (and where they are), KEEP_LOADS (a work-item keeps the loads that had its extremes:
// else the group reads one of them again), COUNT_NANS (else others do). What is not wanted a compiler leaves out, as nobody uses it.

#define NOWHERE (~0u)
#if SUBGROUP > 1 && GROUP_SIZE % SUBGROUP == 0
#define LANES SUBGROUP
#else
#define LANES 1
#endif

// Ends a group early, where barriers may follow (PoCL takes none behind a condition).
#if LANES > 1
#define RETURN_IF(condition) \
  if (condition) return
#else
#define RETURN_IF(condition)
#endif

// Of two elements to a load it is known at once which one it was. Of more the load is kept, or read again, and asked in the end.
#define KNOWN_PLACES (BITS == 64)
#define LOADS_KEPT (KEEP_LOADS && !KNOWN_PLACES)

// One end. The least elements are those with the greatest keys turned round.
typedef struct {
  KEY key;
  uint place;  // the load's first element, or the element
#if LOADS_KEPT
  uint4 load;
#endif
} END;
FN KEY turned(KEY key) { return ~key; }

typedef struct {
  END greatest, least;
  uint nans, first_nan;
} EXTREMES_STATE;

// Keys of NaNs lie beyond those of both infinities.
#if FLOATS
#define GREATEST_NUMBER ((KEY)INFINITE)
#else
#define GREATEST_NUMBER KEY_GREATEST
#endif

FN END empty_end(void) {
  END end;
  end.key = KEY_LEAST;
  end.place = NOWHERE;
#if LOADS_KEPT
  end.load = make_uint4(0, 0, 0, 0);
#endif
  return end;
}

// A later one has to be better, not as good.
FN END take(END end, KEY key, uint place, uint4 load) {
  const uint better = key > end.key;
  end.key = better ? key : end.key;
  end.place = better ? place : end.place;
#if LOADS_KEPT
  end.load.x = better ? load.x : end.load.x;
  end.load.y = better ? load.y : end.load.y;
  end.load.z = better ? load.z : end.load.z;
  end.load.w = better ? load.w : end.load.w;
#endif
  return end;
}

// The ends of the `count` elements of a load, and whether there is a NaN among them: then the ends mean nothing. `at` is which elements
// they are, where that is known.
typedef struct {
  uint greatest, least;
} WHICH;
FN uint ends_of(uint4 v, int count, KEY* greatest, KEY* least, WHICH* at) {
  at->greatest = at->least = 0;
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
    *greatest = (int)max_u32(high & 0xffffu, high >> 16) - offset;
    *least = turned((int)min_u32(low & 0xffffu, low >> 16) - offset);
    return 0;
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
  *greatest = key_of(high);
  *least = turned(key_of(low));
  return is_nan(GREATEST ? high : low);
#else
  KEY high = key_of(element_of(v, 0));
  KEY low = high;
#ifdef is_nan_f64
  uint nan = is_nan(element_of(v, 0));
#endif
#pragma unroll
  for (int i = 1; i < count; ++i) {
    const KEY key = key_of(element_of(v, i));
#if KNOWN_PLACES
    at->greatest = key > high ? i : at->greatest;
    at->least = key < low ? i : at->least;
#endif
    high = key > high ? key : high;
    low = key < low ? key : low;
#ifdef is_nan_f64
    nan |= is_nan(element_of(v, i));
#endif
  }
  *greatest = high;
  *least = turned(low);
#if FLOATS && BITS == 64 && defined(is_nan_f64)
  return nan;
#else
  return FLOATS && (high > GREATEST_NUMBER || turned(low) > GREATEST_NUMBER);
#endif
#endif
}

// The `count` elements of a load, of which the first is element `place`.
FN EXTREMES_STATE take_load(EXTREMES_STATE state, uint4 v, uint place, int count) {
  KEY greatest;
  KEY least;
  WHICH at;
  const uint any_nan = ends_of(v, count, &greatest, &least, &at);
#if FLOATS
  if (any_nan) {
    greatest = least = KEY_LEAST;
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
      const uint nan = is_nan(element_of(v, i));
      const KEY key = key_of(element_of(v, i));
      state.nans += COUNT_NANS ? nan : 0;
      if (nan && place + i < state.first_nan) state.first_nan = place + i;
#if KNOWN_PLACES
      at.greatest = !nan && key > greatest ? i : at.greatest;
      at.least = !nan && turned(key) > least ? i : at.least;
#endif
      greatest = !nan && key > greatest ? key : greatest;
      least = !nan && turned(key) > least ? turned(key) : least;
    }
  }
#endif
  state.greatest = take(state.greatest, greatest, place + at.greatest, v);
  state.least = take(state.least, least, place + at.least, v);
  return state;
}

// What is known of a part of the array: places are those of elements.
typedef struct {
  KEY greatest, least;
  uint at_greatest, at_least;
  uint nans, first_nan;
} FOUND;

FN uint is_better(KEY key, uint place, KEY than, uint than_place) { return key > than || (key == than && place < than_place); }
FN FOUND combine_ends(FOUND a, FOUND b) {
#if PLACES
  const uint greater = is_better(b.greatest, b.at_greatest, a.greatest, a.at_greatest);
  const uint less = is_better(b.least, b.at_least, a.least, a.at_least);
#else
  const uint greater = b.greatest > a.greatest;
  const uint less = b.least > a.least;
#endif
  a.greatest = greater ? b.greatest : a.greatest;
  a.at_greatest = greater ? b.at_greatest : a.at_greatest;
  a.least = less ? b.least : a.least;
  a.at_least = less ? b.at_least : a.at_least;
  return a;
}
FN FOUND combine(FOUND a, FOUND b) {
  a = combine_ends(a, b);
  a.nans += b.nans;
  a.first_nan = min_u32(a.first_nan, b.first_nan);
  return a;
}
FN FOUND nothing(void) {
  FOUND found;
  found.greatest = found.least = KEY_LEAST;
  found.at_greatest = found.at_least = found.first_nan = NOWHERE;
  found.nans = 0;
  return found;
}

FN EXTREMES_STATE empty_extremes(void) {
  EXTREMES_STATE state;
  state.greatest = state.least = empty_end();
  state.nans = 0;
  state.first_nan = NOWHERE;
  return state;
}

#if LOADS_KEPT
// The first element with the end's key.
FN uint place_of(END end, uint least) {
  uint at = end.place;
#pragma unroll
  for (int i = ELEMENTS_PER_LOAD - 1; i >= 0; --i) {
    const KEY key = key_of(element_of(end.load, i));
    at = end.place != NOWHERE && (least ? turned(key) : key) == end.key ? end.place + i : at;
  }
  return at;
}
#else
FN uint place_of(END end, uint least) { return end.place; }
#endif
FN FOUND found_by(EXTREMES_STATE state) {
  FOUND found;
  found.greatest = GREATEST ? state.greatest.key : KEY_LEAST;
  found.least = LEAST ? state.least.key : KEY_LEAST;
  found.at_greatest = GREATEST && PLACES ? place_of(state.greatest, 0) : NOWHERE;
  found.at_least = LEAST && PLACES ? place_of(state.least, 1) : NOWHERE;
  found.nans = state.nans;
  found.first_nan = state.first_nan;
  return found;
}

// What a group's sub-groups found, or its work-items, where there are no sub-groups.
#define MEMBERS (GROUP_SIZE / LANES)
typedef struct {
  KEY greatest[MEMBERS], least[MEMBERS];
  uint at_greatest[MEMBERS], at_least[MEMBERS], nans[MEMBERS], first_nan[MEMBERS];
} BEST;

FN void put_ends(LOCAL BEST* best, uint part, FOUND found) {
  if (GREATEST) best->greatest[part] = found.greatest;
  if (LEAST) best->least[part] = found.least;
  if (GREATEST && PLACES) best->at_greatest[part] = found.at_greatest;
  if (LEAST && PLACES) best->at_least[part] = found.at_least;
}
FN void put_nans(LOCAL BEST* best, uint part, FOUND found) {
  best->nans[part] = found.nans;
  best->first_nan[part] = found.first_nan;
}
FN FOUND ends_in(LOCAL const BEST* best, uint part) {
  FOUND found = nothing();
  if (GREATEST) found.greatest = best->greatest[part];
  if (LEAST) found.least = best->least[part];
  if (GREATEST && PLACES) found.at_greatest = best->at_greatest[part];
  if (LEAST && PLACES) found.at_least = best->at_least[part];
  return found;
}

FN FOUND found_in(LOCAL const BEST* best, uint part) {
  FOUND found = ends_in(best, part);
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
FN FOUND combine_ends_of_lanes(FOUND found) {
  const KEY greatest = GREATEST ? subgroup_max_key(found.greatest) : KEY_LEAST;
  const KEY least = LEAST ? subgroup_max_key(found.least) : KEY_LEAST;
  if (PLACES && GREATEST) found.at_greatest = subgroup_min_u32(found.greatest == greatest ? found.at_greatest : NOWHERE);
  if (PLACES && LEAST) found.at_least = subgroup_min_u32(found.least == least ? found.at_least : NOWHERE);
  found.greatest = greatest;
  found.least = least;
  return found;
}
// NaNs are rare.
FN uint any_nan_in_lanes(FOUND found) { return FLOATS && subgroup_ballot(found.first_nan != NOWHERE) != 0; }
FN FOUND combine_nans(FOUND found) {
  found.first_nan = subgroup_min_u32(found.first_nan);
  for (uint distance = 1; distance < LANES; distance *= 2) found.nans += subgroup_shuffle(found.nans, local_id() ^ distance);
  return found;
}
FN FOUND combine_lanes(FOUND found) {
  const uint any_nan = any_nan_in_lanes(found);
  found = combine_ends_of_lanes(found);
  return any_nan ? combine_nans(found) : found;
}
#else
FN FOUND combine_lanes(FOUND found) { return found; }
#endif

// Of all work-items of the group, each of which comes here: known to the first sub-group.
FN FOUND combine_group(LOCAL BEST* best, FOUND found) {
#if LANES > 1
  const uint lane = local_id() & (LANES - 1);
  uint any_nan = any_nan_in_lanes(found);
  found = combine_ends_of_lanes(found);
  put_ends(best, local_id() / LANES, found);  // by all lanes, who know it: sooner than by one
  if (any_nan) found = combine_nans(found);
  if (FLOATS) put_nans(best, local_id() / LANES, found);
  barrier_local();
  if (local_id() >= LANES) return found;
  found = nothing();
  if (FLOATS && lane < MEMBERS) found.first_nan = best->first_nan[lane];
#if !PLACES && MEMBERS <= (BITS == 64 ? 8 : 16)  // sooner than by the sub-group
  any_nan = any_nan_in_lanes(found);
#pragma unroll
  for (uint i = 0; i < MEMBERS; ++i) found = combine_ends(found, ends_in(best, i));
#else
  if (lane < MEMBERS) found = combine_ends(found, ends_in(best, lane));
  any_nan = any_nan_in_lanes(found);
  found = combine_ends_of_lanes(found);
#endif
  if (any_nan) {
    if (lane < MEMBERS) found.nans = best->nans[lane];
    found = combine_nans(found);
  }
  return found;
#else
  put_ends(best, local_id(), found);
  put_nans(best, local_id(), found);
  for (uint step = GROUP_ROUNDED / 2; step > 0; step /= 2) {
    barrier_local();
    const uint with = local_id() + step;
    if (local_id() < step && with < GROUP_SIZE) {
      const FOUND both = combine(found_in(best, local_id()), found_in(best, with));
      put_ends(best, local_id(), both);
      put_nans(best, local_id(), both);
    }
  }
  barrier_local();
  return found_in(best, 0);
#endif
}

// A record (layout.h), for the host: what one launch found of its elements, which may be a part of the array.
FN void write_record(GLOBAL ulong* record, FOUND found) {
  record[RECORD_MAX_KEY] = (ulong)(long)found.greatest;
  record[RECORD_MIN_KEY] = (ulong)(long)found.least;
  record[RECORD_INDICES] = (ulong)found.at_greatest << 32 | found.at_least;
  record[RECORD_NANS] = (ulong)found.nans << 32 | found.first_nan;
}

// A group's slot (meet.h): four words of 32 bits, and of 31 bits, which indices and numbers of NaNs have.
FN ulong slot_word(FOUND found, uint i) {
#if BITS == 64
  const KEY key = i < 2 ? found.greatest : found.least;
  const uint upper = i == 0 ? found.at_greatest : i == 1 ? found.nans : i == 2 ? found.at_least : found.first_nan;
  const uint lower = i % 2 == 0 ? (uint)((ulong)key >> 32) : (uint)key;
#else
  const uint upper = i == 0 ? found.at_greatest : i == 1 ? found.at_least : i == 2 ? found.first_nan : 0;
  const uint lower = i == 0 ? (uint)found.greatest : i == 1 ? (uint)found.least : found.nans;
#endif
  return (ulong)upper << 32 | lower;
}
FN uint upper_of(ulong word) { return (uint)(word >> 32) == ~0u ? NOWHERE : (uint)(word >> 32) & 0x7fffffffu; }
FN FOUND found_in_slot(const ulong* words) {
  FOUND found;
#if BITS == 64
  found.greatest = (KEY)(words[0] << 32 | (uint)words[1]);
  found.least = (KEY)(words[2] << 32 | (uint)words[3]);
  found.at_greatest = upper_of(words[0]);
  found.nans = upper_of(words[1]);
  found.at_least = upper_of(words[2]);
  found.first_nan = upper_of(words[3]);
#else
  found.greatest = (KEY)(uint)words[0];
  found.least = (KEY)(uint)words[1];
  found.nans = (uint)words[2];
  found.at_greatest = upper_of(words[0]);
  found.at_least = upper_of(words[1]);
  found.first_nan = upper_of(words[2]);
#endif
  return found;
}

// By the first sub-group, whose lanes all know what was found: a lane for each word.
FN void publish(GLOBAL ulong* slot, FOUND found) {
#if LANES > 1
  if (local_id() < RECORD_EXTREMES) publish_word(&slot[local_id()], slot_word(found, local_id()));
#else
  for (uint i = 0; i < RECORD_EXTREMES; ++i) publish_word(&slot[i], slot_word(found, i));
#endif
}
// Combines the first `count` slots, `apart` words from one another, with what the work-items of the group found.
FN FOUND gather(GLOBAL ulong* slots, uint count, uint apart, FOUND found) {
  const uint lane = local_id() & (LANES - 1);
  for (uint first = local_id() - lane; first < count; first += GROUP_SIZE) {
    GLOBAL ulong* slot = slots + (ulong)min_u32(first + lane, count - 1) * apart;
    ulong words[RECORD_EXTREMES];
    gather_slot(slot, words);
    if (first + lane >= count) break;
    clear_slot(slot);
    found = combine(found, found_in_slot(words));
  }
#if LANES > 1
  subgroup_sync();
#endif
  return found;
}
