// Tiles in which runs end, of numbers whose sums are exact in one register: for by_runs.cl, between its runs and its kernel.
//
// All elements of such a tile are multiples of one unit and less than 2^20 times as great as the least of them may be, so that a double holds the sum of
// any of them: runs need no digits before they end. A segmented scan over the team brings together what its work-items have of one run, and what is
// carried on from the tile before.

#if IN_REGISTERS
#if ITEMS * TEAM > 256
#error "a double holds the sums of 2^8 such elements"
#endif

// What holds for a launch: how sums are divided between the pair's digits, and which elements the pair holds.
typedef struct {
#if FLOATS == 32
  double above, below;  // 3 * 2^51 units of each digit: to add and subtract them rounds to a multiple of the unit, as in fields.h
  uint least, end;      // fields of exponents: least <= field < end
#else
  int shift;  // of elements in the lower digit; below 0 where the pair does not hold them
#endif
} PAIR;

FN PAIR pair_of(const SUMS* sums) {
  PAIR pair;
#if FLOATS == 32
  const int unit = (int)(DIGIT_BITS * sums->pair) - (int)sums->phase - 149;
  pair.above = as_double((ulong)(1023 + 52 + DIGIT_BITS + unit) << 52 | 1UL << 51);
  pair.below = as_double((ulong)(1023 + 52 + unit) << 52 | 1UL << 51);
  pair.least = unit > -149 ? (uint)(unit + 150) : 0;  // the last bit of a float weighs 2^(field - 150), or 2^-149
  const int end = unit + 2 * DIGIT_BITS + 127;  // a float is less than 2^(field - 126)
  pair.end = end < 0 ? 0 : end < 255 ? (uint)end : 255;
#else
  pair.shift = sums->pair == 0 && sums->phase < DIGIT_BITS ? (int)sums->phase : -1;
#endif
  return pair;
}

FN WHOLE_NUMBER whole_of_lane(WHOLE_NUMBER whole, uint lane) {
#if FLOATS == 32
  return as_double((ulong)TEAM_GET64((long)as_ulong(whole), lane));
#else
  return TEAM_GET64(whole, lane);
#endif
}

#if FLOATS == 32
#define WHOLE_OF(x) ((double)as_float(FLOAT_BITS(x)))
#else
#define WHOLE_OF(x) ((long)(x))
#endif

// Whether all sums of the team's elements are exact: 0, or the field of the exponents of which all are multiples.
FN uint exact_tile(const PAIR* pair, const VALUE* x) {
#if FLOATS == 32
  uint greatest = 0, least = ~0u;
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    const uint bits = FLOAT_BITS(x[k]), magnitude = bits & 0x7fffffffu;
    greatest = max_u32(greatest, bits == 0x80000000u ? ~0u : magnitude);
    least = min_u32(least, magnitude - 1);  // zeros become the greatest
  }
  const uint high = ~TEAM_MIN(~greatest) >> 23, low = min_u32(TEAM_MIN(least) >> 23, high);
  return high < pair->end && low >= pair->least && high <= low + 20 ? max_u32(low, 1) : 0;
#else
  return pair->shift >= 0;
#endif
}

// Whether a number may be added to sums of such a tile, too.
FN uint fits_tile(WHOLE_NUMBER whole, uint field) {
#if FLOATS == 32
  const double units = as_double((ulong)(1023 + 52 - 150 + field) << 52 | 1UL << 51);
  return fabs(whole) < as_double((ulong)(1023 + 51 - 150 + field) << 52) && (whole + units) - units == whole;
#else
  return 1;
#endif
}

FN void deposit_whole(const SUMS* sums, const PAIR* pair, WHOLE_NUMBER whole, uint terms, uint group) {
  if (group == NO_GROUP) return;
  SHARE share = share_zero();
#if FLOATS == 32
  const double above = whole + pair->above, below = (whole - (above - pair->above)) + pair->below;
  share.high = (long)(as_ulong(above) - as_ulong(pair->above));
  share.low = (long)(as_ulong(below) - as_ulong(pair->below));
#else
  share.high = whole >> (DIGIT_BITS - pair->shift);
  share.low = (long)((ulong)whole << pair->shift & DIGIT_MASK);
#endif
  share.counted = terms;
  deposit_global(sums, share, group);
}

// Adds such a tile, of which `field` is exact_tile()'s result. `run` is the run before it, a whole number of the last work-item's if `is_whole`; it
// becomes the last run of this tile in that form.
FN void add_divided_tile(const SUMS* sums, const PAIR* pair, const VALUE* x, const uint* group, uint field, RUN* run, uint is_whole) {
  const uint lane = local_id() % TEAM;
  WHOLE_NUMBER carried = whole_of_lane(run->whole, TEAM - 1);
  uint carried_terms = TEAM_GET(run->terms, TEAM - 1);
  if (!is_whole || !fits_tile(carried, field)) {
    settle_run(sums, run);
    const SHARE share = share_of_team(run->share);
    if (lane == 0) deposit_run(sums, share, run->group);
    carried = 0;
    carried_terms = 0;
  }
  // The runs of the work-item's own elements: bit k of `ends` where one ends before element k.
  uint ends = 0;
#pragma unroll
  for (uint k = 1; k < ITEMS; ++k) ends |= (uint)(group[k] != group[k - 1]) << k;
  const uint divided = ends != 0, first_end = divided ? lowest_bit(ends) : ITEMS, last_end = divided ? 31 - clz32(ends) : 0;
  WHOLE_NUMBER front = 0, back = 0;
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    const WHOLE_NUMBER number = WHOLE_OF(x[k]);
    if (k < first_end) front += number;
    if (k >= last_end) back += number;
  }
  uint front_terms = first_end, terms = ITEMS - last_end;
  // Those between the first and the last one.
  for (uint start = first_end; start < last_end;) {
    const uint stop = lowest_bit(ends & (~1u << start));
    WHOLE_NUMBER piece = 0;
    uint of = NO_GROUP;
#pragma unroll
    for (uint k = 1; k < ITEMS; ++k) {
      if (k == start) of = group[k];
      if (k >= start && k < stop) piece += WHOLE_OF(x[k]);
    }
    deposit_whole(sums, pair, piece, stop - start, of);
    start = stop;
  }
  uint before = TEAM_GET(group[ITEMS - 1], (lane - 1) % TEAM);
  if (lane == 0) before = run->group;
  const uint begins = group[0] != before;
  if (lane == 0 && !begins && !divided) {
    back += carried;
    terms += carried_terms;
  }
#if TEAM > 1
  const uint begun = subgroup_ballot((int)(begins || divided)) & (~0u >> (TEAM - 1 - lane));
  const uint first = begun != 0 ? 31 - clz32(begun) : 0;
  for (uint distance = 1; distance < TEAM; distance *= 2) {
    const WHOLE_NUMBER other = whole_of_lane(back, (lane - distance) % TEAM);
    if (lane >= first + distance) back += other;
#if COUNTS
    const uint others = TEAM_GET(terms, (lane - distance) % TEAM);
    if (lane >= first + distance) terms += others;
#endif
  }
#endif
  WHOLE_NUMBER ending = whole_of_lane(back, (lane - 1) % TEAM);
  uint ending_terms = COUNTS ? TEAM_GET(terms, (lane - 1) % TEAM) : 1;
  if (lane == 0) {
    ending = carried;
    ending_terms = carried_terms;
  }
  if (!begins) {
    ending += front;
    ending_terms += front_terms;
  }
  if (begins || divided) deposit_whole(sums, pair, ending, ending_terms, before);
  if (begins && divided) deposit_whole(sums, pair, front, front_terms, group[0]);
  *run = run_of(TEAM_GET(group[ITEMS - 1], TEAM - 1));
  if (lane == TEAM - 1) {
    run->whole = back;
    run->terms = run->share.counted = terms;
  }
}
#endif  // IN_REGISTERS
