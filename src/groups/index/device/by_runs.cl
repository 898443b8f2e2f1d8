// Exact sums into groups whose elements are neighbours (shares.h): of sorted indices, and of segments. The order of indices is not a condition.
//
// A team of work-items takes a contiguous part of the elements, tile by tile; each work-item a few neighbours of a tile. Of one run of equal indices
// that goes on over several tiles each work-item has a share. Where runs end, each work-item has a share of the run that its elements begin with and
// one of the run that they end with, and a segmented scan over the team brings shares of one run together (G. Blelloch, Prefix sums and their
// applications, 1990): so a run costs a few atomic additions, whatever its length.
//
// Defined by the host, beside what shares.h names: INDEX, the type of indices; SEGMENTS, whether there are offsets in their place; GROUP_SIZE; ITEMS,
// neighbours that a work-item loads at once.

// Teams are sub-groups; where there are none, each work-item is one.
#if SUBGROUP > 1 && GROUP_SIZE % SUBGROUP == 0
#define TEAM SUBGROUP
#define TEAM_GET(value, lane) subgroup_shuffle(value, lane)
#define TEAM_GET64(value, lane) subgroup_shuffle64(value, lane)
#define TEAM_ANY(value) (subgroup_ballot((int)(value)) != 0)
#else
#define TEAM 1
#define TEAM_GET(value, lane) (value)
#define TEAM_GET64(value, lane) (value)
#define TEAM_ANY(value) (value)
#endif

// Whether the numbers of one run are added up as one number first, exact as a double or as an integer.
#if FLOATS == 32
#define IN_REGISTERS (SAMESUM_FP64 && SAMESUM_DENORMALS && !SQUARES)
#elif FLOATS == 0 && VALUE_BITS <= 32
#define IN_REGISTERS (!SQUARES)
#else
#define IN_REGISTERS 0
#endif

// What a work-item has of a run of elements of one group: `whole`, the sum of its terms, is to be added to the share.
#if FLOATS == 32
#define WHOLE_NUMBER double
#else
#define WHOLE_NUMBER long
#endif
typedef struct {
  SHARE share;
  uint group;
#if IN_REGISTERS
  WHOLE_NUMBER whole;
  uint terms;
#endif
} RUN;

FN RUN run_of(uint group) {
  RUN run;
  run.share = share_zero();
  run.group = group;
#if IN_REGISTERS
  run.whole = 0;
  run.terms = 0;
#endif
  return run;
}

#if IN_REGISTERS
// Adds the whole number to the share.
FN void settle_run(const SUMS* sums, RUN* run) {
#if FLOATS == 32
  const ulong bits = as_ulong(run->whole);
  const uint negative = (uint)(bits >> 63);
  int exponent = (int)(bits >> 52 & 0x7ff) - (1023 + 52 - 149);  // of the mantissa's unit, in units of the least float
  ulong mantissa = (bits & ((1UL << 52) - 1)) | 1UL << 52;
  if (run->whole == 0) mantissa = 0;
  if (exponent < 0) {  // sums of floats are whole such units
    mantissa >>= -exponent;
    exponent = 0;
  }
#else
  const uint negative = run->whole < 0;
  const ulong mantissa = negative ? 0 - (ulong)run->whole : (ulong)run->whole;
  const int exponent = 0;
#endif
  const uint terms = run->terms;
  run->whole = 0;
  run->terms = 0;
  if (mantissa == 0) return;
  // As add_to_pair(), but the upper digit takes what `terms` elements may add to it.
  const uint place = (uint)exponent + sums->phase;
  const int at = (int)place - (int)(DIGIT_BITS * sums->pair);
  const ulong lost = at >= 0 ? 0 : at > -64 ? mantissa & ((1UL << -at) - 1) : mantissa;
  if (lost == 0 && at < 2 * DIGIT_BITS) {
    const ulong part = at < 0 ? mantissa >> -at : mantissa;
    const int shift = at < 0 ? 0 : at;
    const uint room = shift < DIGIT_BITS || clz64(part) > (uint)(shift - DIGIT_BITS + 1);
    const ulong above = shift >= DIGIT_BITS ? (room ? part << (shift - DIGIT_BITS) : 0) : part >> (DIGIT_BITS - shift);
    const ulong below = shift >= DIGIT_BITS ? 0 : part << shift & DIGIT_MASK;
    if (room && above >> DIGIT_BITS < terms) {
      run->share.high += negative ? -(long)above : (long)above;
      run->share.low += negative ? -(long)below : (long)below;
      return;
    }
  }
  add_digits(sums->planes + run->group, sums->groups, sums->rows, sums->words + TOP, mantissa, place, negative);
}
#endif

// Adds an element to the run, in few instructions; returns 0 if it is one for share_of().
FN uint hold(const SUMS* sums, RUN* run, VALUE x) {
#if IN_REGISTERS && FLOATS == 32
  const uint bits = FLOAT_BITS(x);
  const double value = (double)as_float(bits), sum = run->whole + value;
  // Special numbers, and sums that are not exact.
  if ((bits & 0x7fffffffu) >= 0x7f800000u || bits == 0x80000000u || sum - run->whole != value || sum - value != run->whole) return 0;
  run->whole = sum;
  ++run->terms;
#elif IN_REGISTERS
  run->whole += (long)x;
  ++run->terms;
#else
  if (!add_number(sums, &run->share, x)) return 0;
#endif
  ++run->share.counted;
  return 1;
}

// Adds elements start … stop - 1 of x.
FN void hold_some(const SUMS* sums, RUN* run, const VALUE* x, uint start, uint stop) {
  if (run->group == NO_GROUP) return;
  uint others = 0;
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    if (k >= start && k < stop && !hold(sums, run, x[k])) others |= 1u << k;
  }
  while (others != 0) {  // one copy of the code for what is rare
    VALUE other = 0;
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) {
      if ((others & (0 - others)) == 1u << k) other = x[k];
    }
    others &= others - 1;
    run->share = share_merge(run->share, share_of(sums, other, run->group));
  }
}

// Adds all.
FN void hold_all(const SUMS* sums, RUN* run, const VALUE* x) {
#if IN_REGISTERS && FLOATS == 32
  // Floats that are less than 2^(e - 126) and multiples of 2^(e - 25 - 150), at most 2^4: their sums are exact as doubles.
  uint greatest = 0, least = ~0u, special = 0;
  double all = 0;
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    const uint bits = FLOAT_BITS(x[k]), magnitude = bits & 0x7fffffffu;
    greatest = max_u32(greatest, magnitude);
    least = min_u32(least, magnitude - 1);  // zeros become the greatest
    special |= bits == 0x80000000u;
    all += (double)as_float(bits);
  }
  const double sum = run->whole + all;
  if (run->group != NO_GROUP && special == 0 && greatest < 0x7f800000u && greatest >> 23 < (least >> 23) + 25 && sum - run->whole == all &&
      sum - all == run->whole) {
    run->whole = sum;
    run->terms += ITEMS;
    run->share.counted += ITEMS;
    return;
  }
#endif
  hold_some(sums, run, x, 0, ITEMS);
}

FN void deposit_run(const SUMS* sums, SHARE share, uint group) {
  if (group != NO_GROUP) deposit_global(sums, share, group);
}

// The share of another work-item of the team.
FN SHARE share_of_lane(SHARE share, uint lane) {
  SHARE other;
  other.low = TEAM_GET64(share.low, lane);
  other.high = TEAM_GET64(share.high, lane);
  other.counted = TEAM_GET(share.counted, lane);
#if SQUARES
#pragma unroll
  for (uint i = 0; i < SQUARE_DIGITS; ++i) other.squares[i] = TEAM_GET64(share.squares[i], lane);
#endif
  return other;
}

// The sum of all shares of the team.
FN SHARE share_of_team(SHARE share) {
  for (uint distance = 1; distance < TEAM; distance *= 2) {
    share = share_merge(share, share_of_lane(share, local_id() % TEAM ^ distance));
  }
  return share;
}

// The sum of the shares from the nearest work-item at or below this one that `begins` is set for, or else from the first one, to this one.
FN SHARE share_since(SHARE share, uint begins) {
#if TEAM > 1
  const uint lane = local_id() % TEAM;
  const uint begun = subgroup_ballot((int)begins) & (~0u >> (TEAM - 1 - lane));
  const uint first = begun != 0 ? 31 - clz32(begun) : 0;
  for (uint distance = 1; distance < TEAM; distance *= 2) {
    const SHARE other = share_of_lane(share, (lane - distance) % TEAM);
    if (lane >= first + distance) share = share_merge(share, other);
  }
#endif
  return share;
}

#if SEGMENTS
// The number of the offsets from `first` to `last` (excluded) that are not above `place`, plus `first`.
FN uint offsets_up_to(GLOBAL const ulong* offsets, uint first, uint last, ulong place) {
  while (first < last) {
    const uint middle = first + (last - first) / 2;
    if (offsets[middle] <= place) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

// The same, where that is probably close to `first`.
FN uint offsets_behind(GLOBAL const ulong* offsets, uint first, uint last, ulong place) {
  uint step = 1;
  while (step <= last - first && offsets[first + step - 1] <= place) {
    first += step;
    step *= 2;
  }
  return offsets_up_to(offsets, first, step < last - first ? first + step : last, place);
}
#endif

// Adds `count` elements, of which element i has the index indices[i]: each group of work-items `chunk` of them, a multiple of its tiles. With SEGMENTS
// indices[i] is where segment i begins, and `first_element` the place of the first element. `vectors` says which arrays lie so that loads of 16 bytes
// may read them. Local memory has the extremes so far of all groups or of none.
KERNEL FIXED_GROUP(GROUP_SIZE, SQUARES ? 2 : 3)
void sums_by_runs(GLOBAL const VALUE* values, ulong from, long stride, GLOBAL const INDEX* indices, ulong index_from, long index_stride,
                  ulong count, ulong chunk, SUMS_PARAMETERS, ulong first_element,
                  uint vectors EXTREMA_PARAMETERS DYNLOCAL_PARAMETER(memory)) {
  SUMS_SETUP
  const uint id = local_id(), lane = id % TEAM;
#if EXTREMA
  DYNLOCAL(memory);
  LOCAL ulong* const known = (LOCAL ulong*)memory;
  for (uint i = id; i < 2 * known_groups; i += GROUP_SIZE) known[i] = 0;
  barrier_local();
#endif
  const ulong begin = group_id() * chunk, end = count - begin < chunk ? count : begin + chunk;
  const ulong part = chunk / (GROUP_SIZE / TEAM), part_begin = begin + id / TEAM * part;
  const ulong part_end = end < part_begin + part ? end : part_begin + part;
#if SEGMENTS
  const uint offsets = (uint)groups + 1;
  uint begun = offsets_up_to(indices, 0, offsets, first_element + part_begin);  // offsets that are not above the first place of a tile
  ulong next = begun < offsets ? indices[begun] : ~0UL;
#else
  uint outside = 0;
  ulong first_outside = count;
#endif
  RUN run = run_of(NO_GROUP);  // the last one: all work-items have a part of its sum where it `spreads`, else the last one has all
  uint spreads = 0;
  for (ulong tile = part_begin; tile < part_end; tile += ITEMS * TEAM) {
    const ulong first = tile + lane * ITEMS;
    const uint whole = first + ITEMS <= part_end;
    VALUE x[ITEMS];
    uint group[ITEMS];
    if (whole && (vectors & VECTORS_OF_VALUES) != 0) {
      LOAD_ITEMS(VALUE, x, values + (from + first));
    } else {
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) x[k] = first + k < part_end ? values[(long)from + (long)(first + k) * stride] : (VALUE)0;
    }
#if SEGMENTS
    const ulong tile_end = part_end - tile < ITEMS * TEAM ? part_end : tile + ITEMS * TEAM;
    if (first_element + tile_end <= next && tile_end == tile + ITEMS * TEAM) {  // in one segment
      const uint all = begun != 0 && begun <= groups ? begun - 1 : NO_GROUP;
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) group[k] = all;
    } else {
      const uint highest = offsets_behind(indices, begun, offsets, first_element + tile_end - 1);
      uint mine = offsets_up_to(indices, begun, highest, first_element + first);
      ulong above = mine < highest ? indices[mine] : ~0UL;
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) {
        if (above <= first_element + first + k) {
          mine = offsets_behind(indices, mine, highest, first_element + first + k);
          above = mine < highest ? indices[mine] : ~0UL;
        }
        group[k] = first + k < part_end && mine != 0 && mine <= groups ? mine - 1 : NO_GROUP;
      }
      begun = highest;
      next = begun < offsets ? indices[begun] : ~0UL;
    }
#else
    INDEX index[ITEMS];
    if (whole && (vectors & VECTORS_OF_INDICES) != 0) {
      LOAD_ITEMS(INDEX, index, indices + (index_from + first));
    } else {
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) {
        index[k] = first + k < part_end ? indices[(long)index_from + (long)(first + k) * index_stride] : (INDEX)0;
      }
    }
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) {
      const uint inside = (ulong)index[k] < groups;
      group[k] = inside && (whole || first + k < part_end) ? (uint)index[k] : NO_GROUP;
      if (inside || first + k >= part_end) continue;
      ++outside;
      first_outside = first + k < first_outside ? first + k : first_outside;
    }
#endif
#if EXTREMA
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) note_extremes(&sums, known, known_groups, x[k], group[k]);
#endif
    uint ends = 0;
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) ends |= group[k] != run.group;
    if (!TEAM_ANY(ends)) {
      hold_all(&sums, &run, x);
      spreads = 1;
      continue;
    }
#if IN_REGISTERS
    settle_run(&sums, &run);
#endif
    const SHARE carried = spreads ? share_of_team(run.share) : share_of_lane(run.share, TEAM - 1);
    // The runs of the work-item's own elements: those between its first and its last one end here.
    SHARE front = share_zero(), back = share_zero();
    uint back_group = NO_GROUP, divided = 0;
    for (uint start = 0; start < ITEMS;) {
      RUN piece = run_of(NO_GROUP);
      uint stop = ITEMS;
#pragma unroll
      for (uint k = 0; k < ITEMS; ++k) {
        if (k == start) piece.group = group[k];
        if (k > start && stop == ITEMS && group[k] != piece.group) stop = k;
      }
      hold_some(&sums, &piece, x, start, stop);
#if IN_REGISTERS
      settle_run(&sums, &piece);
#endif
      if (start == 0) front = piece.share;
      if (stop == ITEMS) back = piece.share;
      if (start != 0 && stop != ITEMS) deposit_run(&sums, piece.share, piece.group);
      back_group = piece.group;
      divided |= stop != ITEMS;
      start = stop;
    }
    uint before = TEAM_GET(back_group, (lane - 1) % TEAM);
    if (lane == 0) before = run.group;
    const uint begins = group[0] != before;
    if (lane == 0 && !begins && !divided) back = share_merge(carried, back);
    back = share_since(back, begins || divided);
    SHARE ending = share_of_lane(back, (lane - 1) % TEAM);
    if (lane == 0) ending = carried;
    if (!begins) ending = share_merge(ending, front);
    if (begins || divided) deposit_run(&sums, ending, before);
    if (begins && divided) deposit_run(&sums, front, group[0]);
    run = run_of(TEAM_GET(back_group, TEAM - 1));
    if (lane == TEAM - 1) run.share = back;
    spreads = 0;
  }
#if IN_REGISTERS
  settle_run(&sums, &run);
#endif
  const SHARE rest = share_of_team(run.share);
  if (lane == 0) deposit_run(&sums, rest, run.group);
#if !SEGMENTS
  if (outside != 0) {
    atomic_add_global32(&words[OUTSIDE], outside);
    atomic_max_global32(&words[FIRST_OUTSIDE], (uint)(count - first_outside));
  }
#endif
}
