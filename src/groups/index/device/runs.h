// What a team of work-items has of a run of neighbours of one group: for by_runs.cl, between shares.h and divided_tile.h.

// Teams are sub-groups; where there are none, each work-item is one.
#if SUBGROUP > 1 && GROUP_SIZE % SUBGROUP == 0
#define TEAM SUBGROUP
#define TEAM_GET(value, lane) subgroup_shuffle(value, lane)
#define TEAM_GET64(value, lane) subgroup_shuffle64(value, lane)
#define TEAM_ANY(value) (subgroup_ballot((int)(value)) != 0)
#define TEAM_MIN(value) subgroup_min_u32(value)
#else
#define TEAM 1
#define TEAM_GET(value, lane) (value)
#define TEAM_GET64(value, lane) (value)
#define TEAM_ANY(value) (value)
#define TEAM_MIN(value) (value)
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
  const uint terms = run->terms;
  run->terms = 0;
  if (run->whole == 0) return;  // the bits of a zero give no exponent
#if FLOATS == 32
  const ulong bits = as_ulong(run->whole);
  const uint negative = (uint)(bits >> 63);
  int exponent = (int)(bits >> 52 & 0x7ff) - (1023 + 52 - 149);  // of the mantissa's unit, in units of the least float
  ulong mantissa = (bits & ((1UL << 52) - 1)) | 1UL << 52;
  if (exponent < 0) {  // sums of floats are whole such units
    mantissa >>= -exponent;
    exponent = 0;
  }
#else
  const uint negative = run->whole < 0;
  const ulong mantissa = negative ? 0 - (ulong)run->whole : (ulong)run->whole;
  const int exponent = 0;
#endif
  run->whole = 0;
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
