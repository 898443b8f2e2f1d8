// Exact sums into groups by index, in integers alone: the order of additions does not matter.
//
// A sum is a row of digits of radix 2^DIGIT_BITS, each a signed word of 64 bits with room for 2^28 additions of one digit: an element changes two
// of them at most (of 64-bit numbers three), by atomic additions that propagate nothing. carry_digits() makes room again. Digit d of group g is
// planes[d * groups + g]; its weight is 2^(DIGIT_BITS * d - phase) times the least number of the elements' type. The phase is chosen so that most
// elements lie in one digit, or else in two neighbours, the pair. The pair's sums are kept in local memory, of all groups or of those that are
// frequent, and added to the planes at the end.
//
// Behind the digits there are four planes that count NaNs, infinities of both signs, and -0.0; with COUNTS one that counts elements; with SQUARES
// the digits of the sums of squares; with EXTREMA two of the extremes.
//
// Defined by the host: VALUE, the type in which elements lie (of floats their bits); FLOATS, 32 (of 16-bit ones as well), 64, or 0 for integers;
// FLOAT_BITS(x), where FLOATS is 32, the bits of one as a float; SIGNED, of integers; VALUE_BITS, of mantissas or integers; INDEX, the type of
// indices; SEGMENTS, whether there are offsets in place of indices; RUNS, whether most elements have the index of the one before; COUNTS; SQUARES; EXTREMA; GROUP_SIZE; ITEMS, elements that a work-item loads at once.
//
// A file ahead of this one may say how an index follows from an INDEX: INDEX_OF(x), by the parameters INDEX_PARAMETERS and INDEX_SETUP, a statement.
#ifndef INDEX_OF
#define INDEX_OF(x) ((ulong)(x))
#define INDEX_PARAMETERS
#define INDEX_SETUP
#endif

#define PAIR_BITS (2 * DIGIT_BITS)
#define NO_GROUP 0xffffffffu
#define LANE_MASK (SUBGROUP - 1)
// Work-items that walk side by side over a part of their group's elements. The elements of a run of equal indices stay with a sub-group; without runs the
// group reads one contiguous piece at a time, not one for each sub-group.
#if SAMESUM_SUBGROUPS && RUNS
#define LANES SUBGROUP
#else
#define LANES GROUP_SIZE
#endif
// Whether the numbers of one group are added up as one number first, exact as a double or as an integer.
#if FLOATS == 32
#define RUNS_BY_REGISTERS (SAMESUM_FP64 && SAMESUM_DENORMALS && !SQUARES)
#elif FLOATS == 0 && VALUE_BITS <= 32
#define RUNS_BY_REGISTERS (!SQUARES)
#else
#define RUNS_BY_REGISTERS 0
#endif

#define NUMBER_FINITE 0
#define NUMBER_NAN 1
#define NUMBER_POSITIVE_INFINITY 2
#define NUMBER_NEGATIVE_INFINITY 3
#define NUMBER_NEGATIVE_ZERO 4

// mantissa * 2^place in units of the type's least number.
typedef struct {
  ulong mantissa;
  uint place;
  uint negative;
  uint kind;
} NUMBER;

FN NUMBER number_of(VALUE x) {
  NUMBER number;
#if FLOATS == 32
  const uint bits = FLOAT_BITS(x);
  const uint field = bits >> 23 & 0xffu, fraction = bits & 0x7fffffu;
  number.mantissa = field != 0 ? fraction | 0x800000u : fraction;
  number.negative = bits >> 31;
  number.kind = field == 0xffu ? (fraction != 0 ? NUMBER_NAN : NUMBER_POSITIVE_INFINITY + number.negative)
                               : (bits == 0x80000000u ? NUMBER_NEGATIVE_ZERO : NUMBER_FINITE);
  number.place = field != 0 ? field - 1 : 0;
#elif FLOATS == 64
  const uint field = (uint)(x >> 52) & 0x7ffu;
  const ulong fraction = x & ((1UL << 52) - 1);
  number.mantissa = field != 0 ? fraction | 1UL << 52 : fraction;
  number.negative = (uint)(x >> 63);
  number.kind = field == 0x7ffu ? (fraction != 0 ? NUMBER_NAN : NUMBER_POSITIVE_INFINITY + number.negative)
                                : (x == 1UL << 63 ? NUMBER_NEGATIVE_ZERO : NUMBER_FINITE);
  number.place = field != 0 ? field - 1 : 0;
#else
  number.negative = SIGNED && (long)x < 0;
  number.mantissa = number.negative ? 0 - (ulong)(long)x : (ulong)x;
  number.kind = NUMBER_FINITE;
  number.place = 0;
#endif
  return number;
}

// What a work-item adds to a group.
typedef struct {
  long low, high;  // of the pair
  uint counted;    // elements; without COUNTS those that are finite and not -0.0
#if SQUARES
  long square_low, square_high;
#endif
} SHARE;

FN SHARE share_zero(void) {
  SHARE share;
  share.low = share.high = 0;
  share.counted = 0;
#if SQUARES
  share.square_low = share.square_high = 0;
#endif
  return share;
}
FN SHARE share_merge(SHARE a, SHARE b) {
  a.low += b.low;
  a.high += b.high;
  a.counted += b.counted;
#if SQUARES
  a.square_low += b.square_low;
  a.square_high += b.square_high;
#endif
  return a;
}

FN void add_word(GLOBAL ulong* word, long value) {
  if (value != 0) atomic_add_global64(word, (ulong)value);
}

// Adds mantissa * 2^place to the digits of a group, and notes which are used.
FN void add_digits(GLOBAL ulong* digits, ulong groups, uint rows, GLOBAL uint* used, ulong mantissa, uint place, uint negative) {
  const uint digit = place / DIGIT_BITS, shift = place - digit * DIGIT_BITS;
  const ulong rest = mantissa >> (DIGIT_BITS - shift);
  const long parts[3] = {(long)((mantissa << shift) & DIGIT_MASK), (long)(rest & DIGIT_MASK), (long)(rest >> DIGIT_BITS)};
#pragma unroll
  for (uint i = 0; i < 3; ++i) {
    if (parts[i] == 0) continue;
    atomic_add_global64(digits + (digit + i) * groups, (ulong)(negative ? -parts[i] : parts[i]));
    if (used[0] < digit + i + 1) atomic_max_global32(&used[0], digit + i + 1);
    if (used[1] < rows - (digit + i)) atomic_max_global32(&used[1], rows - (digit + i));
  }
}

// Adds mantissa * 2^place, a mantissa of `bits` bits, to the pair's sums where it lies there, else to the group's digits.
FN void add_scaled(long* low, long* high, uint pair, GLOBAL ulong* digits, ulong groups, uint rows, GLOBAL uint* used, ulong mantissa, uint place,
                   uint negative, int bits) {
  const int at = (int)place - (int)(DIGIT_BITS * pair);
  if (at < 0 || at > PAIR_BITS - bits) {
    if (mantissa != 0) add_digits(digits, groups, rows, used, mantissa, place, negative);
    return;
  }
  const long above = (long)(at >= DIGIT_BITS ? mantissa << (at - DIGIT_BITS) : mantissa >> (DIGIT_BITS - at));
  const long below = (long)(at >= DIGIT_BITS ? 0 : (mantissa << at) & DIGIT_MASK);
  *high += negative ? -above : above;
  *low += negative ? -below : below;
}

// Where sums go.
typedef struct {
  GLOBAL ulong* planes;
  GLOBAL uint* others;  // without COUNTS: a bit for each group, whether it has a finite element other than -0.0
  GLOBAL uint* words;
  ulong groups;
  uint rows, phase, pair;  // of digits
  uint square_rows, square_phase, square_pair;
} SUMS;

#define COUNT_ROW(sums) ((sums)->rows + 4)
#define SQUARE_ROW(sums) ((sums)->rows + 4 + COUNTS)
#define EXTREMA_ROW(sums) (SQUARE_ROW(sums) + (sums)->square_rows)
#if EXTREMA
#define EXTREMA_PARAMETERS , uint known_groups
#else
#define EXTREMA_PARAMETERS
#endif

FN SHARE share_of(const SUMS* sums, VALUE x, uint group) {
  SHARE share = share_zero();
  if (group == NO_GROUP) return share;
  const NUMBER number = number_of(x);
  share.counted = COUNTS || number.kind == NUMBER_FINITE;
  if (number.kind != NUMBER_FINITE) {
    atomic_add_global64(sums->planes + (sums->rows + number.kind - 1) * sums->groups + group, 1);
    return share;
  }
  add_scaled(&share.low, &share.high, sums->pair, sums->planes + group, sums->groups, sums->rows, sums->words + TOP, number.mantissa,
             number.place + sums->phase, number.negative, VALUE_BITS);
#if SQUARES
  GLOBAL ulong* const squares = sums->planes + SQUARE_ROW(sums) * sums->groups + group;
  const uint place = 2 * number.place + sums->square_phase;
#if VALUE_BITS <= 32
  add_scaled(&share.square_low, &share.square_high, sums->square_pair, squares, sums->groups, sums->square_rows, sums->words + TOP + 2,
             number.mantissa * number.mantissa, place, 0, 2 * VALUE_BITS);
#else
  const ulong above = number.mantissa >> 32, below = number.mantissa & 0xffffffffu;
  add_digits(squares, sums->groups, sums->square_rows, sums->words + TOP + 2, above * above, place + 64, 0);
  add_digits(squares, sums->groups, sums->square_rows, sums->words + TOP + 2, above * below, place + 33, 0);
  add_digits(squares, sums->groups, sums->square_rows, sums->words + TOP + 2, below * below, place, 0);
#endif
#endif
  return share;
}

// A share to the planes.
FN void deposit_global(const SUMS* sums, SHARE share, uint group) {
  GLOBAL ulong* const at = sums->planes + group;
  add_word(at + sums->pair * sums->groups, share.low);
  add_word(at + (sums->pair + 1) * sums->groups, share.high);
#if COUNTS
  add_word(at + COUNT_ROW(sums) * sums->groups, (long)share.counted);
#else
  const uint bit = 1u << (group & 31u);
  if (share.counted != 0 && (sums->others[group >> 5] & bit) == 0) atomic_or_global32(&sums->others[group >> 5], bit);
#endif
#if SQUARES
  add_word(at + (SQUARE_ROW(sums) + sums->square_pair) * sums->groups, share.square_low);
  add_word(at + (SQUARE_ROW(sums) + sums->square_pair + 1) * sums->groups, share.square_high);
#endif
}

// Sums of the pair in local memory: 64-bit words as two of 32 bits, apart from each other. The lower one's old value tells the carry.
FN void add_local(LOCAL uint* lower, LOCAL uint* upper, long value) {
  const uint low = (uint)value;
  uint high = (uint)((ulong)value >> 32);
  if (low != 0) high += (uint)(atomic_add_local32(lower, low) + low) < low;
  if (high != 0) atomic_add_local32(upper, high);
}
FN long local_sum(LOCAL const uint* slot, uint lower, uint slots) { return (long)((ulong)slot[(lower + 1) * slots] << 32 | slot[lower * slots]); }

#define LOCAL_COUNT 4
#define LOCAL_SQUARES 5
#define LOCAL_ROWS (5 + 4 * SQUARES)  // of words of local memory; one more has the slots' groups

FN void deposit_local(LOCAL uint* slot, uint slots, SHARE share) {
  add_local(slot, slot + slots, share.low);
  add_local(slot + 2 * slots, slot + 3 * slots, share.high);
#if COUNTS
  if (share.counted != 0) atomic_add_local32(slot + LOCAL_COUNT * slots, share.counted);
#else
  if (share.counted != 0 && slot[LOCAL_COUNT * slots] == 0) atomic_exchange_local32(slot + LOCAL_COUNT * slots, 1);
#endif
#if SQUARES
  add_local(slot + LOCAL_SQUARES * slots, slot + (LOCAL_SQUARES + 1) * slots, share.square_low);
  add_local(slot + (LOCAL_SQUARES + 2) * slots, slot + (LOCAL_SQUARES + 3) * slots, share.square_high);
#endif
}

FN SHARE share_in(LOCAL const uint* slot, uint slots) {
  SHARE share;
  share.low = local_sum(slot, 0, slots);
  share.high = local_sum(slot, 2, slots);
  share.counted = slot[LOCAL_COUNT * slots];
#if SQUARES
  share.square_low = local_sum(slot, LOCAL_SQUARES, slots);
  share.square_high = local_sum(slot, LOCAL_SQUARES + 2, slots);
#endif
  return share;
}

// The slot of a group that is among the frequent ones (D. Knuth, The Art of Computer Programming 3, 6.4).
FN uint frequent_slot(uint group, uint slots) { return (uint)(((ulong)(group * 0x9e3779b1u) * slots) >> 32); }

// Local memory: `slots` sums; and the groups they belong to, unless `copies` is not 0: then each group has `copies` sums.
FN void deposit(const SUMS* sums, LOCAL uint* memory, uint slots, uint copies, SHARE share, uint group) {
  if (group == NO_GROUP) return;
  uint slot = group * copies + (local_id() & (copies - 1));
  if (copies == 0) {
    slot = frequent_slot(group, slots);
    if (memory[LOCAL_ROWS * slots + slot] != group) return deposit_global(sums, share, group);
  }
  deposit_local(memory + slot, slots, share);
}

#if SAMESUM_SUBGROUPS
// Where a run of equal groups begins, a bit each lane.
FN uint heads_of(uint group) {
  const uint lane = local_id() & LANE_MASK;
  const uint before = subgroup_shuffle(group, (lane - 1) & LANE_MASK);
  return subgroup_ballot(lane == 0 || before != group);
}

// Neighbours with one group add their shares up, where there are many such: the first of each run gets them, the others are left without a group.
FN void deposit_together(const SUMS* sums, LOCAL uint* memory, uint slots, uint copies, SHARE share, uint group, uint heads) {
  const uint lane = local_id() & LANE_MASK;
  if (count_bits32(heads) <= SUBGROUP / 2) {
    const uint later = lane == LANE_MASK ? 0 : heads & (~0u << (lane + 1));
    const uint end = later != 0 ? lowest_bit(later) : SUBGROUP;
    for (uint distance = 1; distance < SUBGROUP; distance *= 2) {
      const uint from = lane + distance;
      SHARE other;
      other.low = subgroup_shuffle64(share.low, from & LANE_MASK);
      other.high = subgroup_shuffle64(share.high, from & LANE_MASK);
      other.counted = subgroup_shuffle(share.counted, from & LANE_MASK);
#if SQUARES
      other.square_low = subgroup_shuffle64(share.square_low, from & LANE_MASK);
      other.square_high = subgroup_shuffle64(share.square_high, from & LANE_MASK);
#endif
      if (from < end) share = share_merge(share, other);
    }
    if ((heads >> lane & 1) == 0) group = NO_GROUP;
  }
  deposit(sums, memory, slots, copies, share, group);
}
#else
FN uint heads_of(uint group) { return 1; }
FN void deposit_together(const SUMS* sums, LOCAL uint* memory, uint slots, uint copies, SHARE share, uint group, uint heads) {
  deposit(sums, memory, slots, copies, share, group);
}
#endif

#if RUNS
// What a work-item has of a run of elements of one group: `whole`, the sum of its terms, is to be added to the share.
#if FLOATS == 32
#define WHOLE_NUMBER double
#else
#define WHOLE_NUMBER long
#endif
typedef struct {
  SHARE share;
  uint group;
#if RUNS_BY_REGISTERS
  WHOLE_NUMBER whole;
  uint terms;
#endif
} RUN;

FN RUN run_of(uint group) {
  RUN run;
  run.share = share_zero();
  run.group = group;
#if RUNS_BY_REGISTERS
  run.whole = 0;
  run.terms = 0;
#endif
  return run;
}

#if RUNS_BY_REGISTERS
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
  // As add_scaled(), but the upper digit takes what `terms` elements may add to it.
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

FN void hold(const SUMS* sums, RUN* run, VALUE x) {
  if (run->group == NO_GROUP) return;
#if RUNS_BY_REGISTERS && FLOATS == 32
  const uint bits = FLOAT_BITS(x);
  if ((bits & 0x7fffffffu) < 0x7f800000u && bits != 0x80000000u) {
    const double value = (double)as_float(bits), sum = run->whole + value;
    if (sum - run->whole == value && sum - value == run->whole) {  // exact
      run->whole = sum;
    } else {
      settle_run(sums, run);
      run->whole = value;
    }
    ++run->terms;
    ++run->share.counted;
    return;
  }
#elif RUNS_BY_REGISTERS
  run->whole += (long)x;
  ++run->terms;
  ++run->share.counted;
  return;
#endif
  run->share = share_merge(run->share, share_of(sums, x, run->group));
}

// The same for several elements at once.
FN void hold_all(const SUMS* sums, RUN* run, const VALUE* x) {
#if RUNS_BY_REGISTERS && FLOATS == 32
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
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) hold(sums, run, x[k]);
}

FN void let_go(const SUMS* sums, LOCAL uint* memory, uint slots, uint copies, RUN* run) {
#if RUNS_BY_REGISTERS
  settle_run(sums, run);
#endif
  deposit_together(sums, memory, slots, copies, run->share, run->group, heads_of(run->group));
}
#endif

#if EXTREMA
// The least and the greatest element of a group that is not a NaN are the greatest of keys that are in the order of the elements, -0.0 below +0.0, and of
// these keys inverted; 0 where there is no element. What a group of work-items knows of them is in local memory, where a word is read whole: few
// elements are more than that, and need an atomic operation. An earlier state costs one that changes nothing.
FN void note_extremes(const SUMS* sums, LOCAL ulong* known, uint room, VALUE x, uint group) {
  if (group == NO_GROUP) return;
#if FLOATS == 32
  const uint bits = FLOAT_BITS(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return;
  const ulong key = bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
#elif FLOATS == 64
  if ((x & ~(1UL << 63)) > 0x7ffUL << 52) return;
  const ulong key = x >> 63 != 0 ? ~x : x | 1UL << 63;
#else
  const ulong key = (ulong)(long)x ^ ((ulong)SIGNED << 63);
#endif
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
    const ulong mine = i == 0 ? ~key : key;
    GLOBAL ulong* const place = sums->planes + (EXTREMA_ROW(sums) + i) * sums->groups + group;
    if (room != 0) {
      LOCAL ulong* const here = known + (i * room + group);
      if (mine <= *here) continue;
      *here = mine;
    } else if (mine <= *(volatile GLOBAL ulong*)place) {
      continue;
    }
    atomic_max_global64(place, mine);
  }
}
#endif

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

// Adds `count` elements, of which element i has the index indices[i]: each group of work-items `chunk` of them. `first_element` is the place of
// the first for segments. Local memory has the extremes so far of all groups or of none.
KERNEL FIXED_GROUP(GROUP_SIZE, RUNS && !SQUARES ? 2 : 1)
void sums_by_index(GLOBAL const VALUE* values, ulong from, long stride, GLOBAL const INDEX* indices, ulong index_from, long index_stride,
                   ulong count, ulong chunk, ulong first_element, ulong groups, GLOBAL ulong* planes, GLOBAL uint* others, GLOBAL uint* words,
                   uint rows, uint phase, uint pair, uint square_rows, uint square_phase, uint square_pair, uint slots,
                   uint copies EXTREMA_PARAMETERS INDEX_PARAMETERS DYNLOCAL_PARAMETER(memory)) {
  INDEX_SETUP
  DYNLOCAL(memory);
  SUMS sums;
  sums.planes = planes;
  sums.others = others;
  sums.words = words;
  sums.groups = groups;
  sums.rows = rows;
  sums.phase = phase;
  sums.pair = pair;
  sums.square_rows = square_rows;
  sums.square_phase = square_phase;
  sums.square_pair = square_pair;
  const uint id = local_id();
  const ulong begin = group_id() * chunk;
  const ulong end = count - begin < chunk ? count : begin + chunk;
  for (uint i = id; i < LOCAL_ROWS * slots; i += GROUP_SIZE) memory[i] = 0;
  LOCAL uint* const tags = memory + LOCAL_ROWS * slots;
  if (copies == 0) {
    for (uint i = id; i < slots; i += GROUP_SIZE) tags[i] = NO_GROUP;
  }
#if EXTREMA
  LOCAL ulong* const known = (LOCAL ulong*)(memory + (((LOCAL_ROWS + 1) * slots + 1) & ~1u));
  for (uint i = id; i < 2 * known_groups; i += GROUP_SIZE) known[i] = 0;
#endif
  barrier_local();
#if !SEGMENTS
  // A sample of the elements: of the groups that share a slot the one that is frequent is likely to come last.
  if (copies == 0) {
    for (uint i = id; i < slots; i += GROUP_SIZE) {
      const ulong sample = begin + (end - begin) / slots * i;
      const ulong group = sample < end ? INDEX_OF(indices[(long)index_from + (long)sample * index_stride]) : groups;
      if (group < groups) atomic_exchange_local32(&tags[frequent_slot((uint)group, slots)], (uint)group);
    }
  }
  barrier_local();
#endif
  uint outside = 0;
  ulong first_outside = count;
#if RUNS
  RUN run = run_of(NO_GROUP);
#endif
  // Parts of sub-groups, which are neighbours; chunk is a multiple of all their tiles.
  const ulong part = chunk / (GROUP_SIZE / LANES), part_begin = begin + id / LANES * part;
  const ulong part_end = end < part_begin + part ? end : part_begin + part;
#if SEGMENTS
  const uint offsets = (uint)groups + 1;
  uint begun_before = offsets_up_to(indices, 0, offsets, first_element + part_begin);
#endif
  for (ulong tile = part_begin; tile < part_end; tile += ITEMS * LANES) {
    VALUE x[ITEMS];
    uint group[ITEMS];
#if SEGMENTS
    const ulong final = (part_end - tile < ITEMS * LANES ? part_end : tile + ITEMS * LANES) - 1;
    const uint lowest = offsets_behind(indices, begun_before, offsets, first_element + tile);
    const uint highest = offsets_behind(indices, lowest, offsets, first_element + final);
    begun_before = highest;
#endif
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) {
      const ulong i = tile + k * LANES + id % LANES;
      x[k] = i < part_end ? values[(long)from + (long)i * stride] : (VALUE)0;
      group[k] = NO_GROUP;
      if (i >= part_end) continue;
#if SEGMENTS
      const uint begun = offsets_up_to(indices, lowest, highest, first_element + i);
      if (begun != 0 && begun <= groups) group[k] = begun - 1;
#else
      const ulong index = INDEX_OF(indices[(long)index_from + (long)i * index_stride]);
      if (index < groups) {
        group[k] = (uint)index;
      } else {
        ++outside;
        first_outside = i < first_outside ? i : first_outside;
      }
#endif
    }
#if EXTREMA
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) note_extremes(&sums, known, known_groups, x[k], group[k]);
#endif
#if RUNS
    // What belongs to one group stays with the work-item as long as the group does.
    uint stays = 1;
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) stays &= group[k] == run.group;
#if SAMESUM_SUBGROUPS
    stays = subgroup_ballot((int)stays) == ~0u;
#endif
    if (stays) {
      hold_all(&sums, &run, x);
      continue;
    }
#endif
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) {
      const uint heads = heads_of(group[k]);
#if RUNS
      if (heads == 1) {
        if (group[k] != run.group) {
          let_go(&sums, memory, slots, copies, &run);
          run = run_of(group[k]);
        }
        hold(&sums, &run, x[k]);
        continue;
      }
#endif
      deposit_together(&sums, memory, slots, copies, share_of(&sums, x[k], group[k]), group[k], heads);
    }
  }
#if RUNS
  let_go(&sums, memory, slots, copies, &run);
#endif
  if (outside != 0) {
    atomic_add_global32(&words[OUTSIDE], outside);
    atomic_max_global32(&words[FIRST_OUTSIDE], (uint)(count - first_outside));
  }
  barrier_local();
  // Of a group with several slots their sum.
  const uint each = copies != 0 ? copies : 1;
  for (uint slot = id * each; slot < slots; slot += GROUP_SIZE * each) {
    SHARE share = share_zero();
    for (uint copy = 0; copy < each; ++copy) share = share_merge(share, share_in(memory + slot + copy, slots));
    const uint group = copies != 0 ? slot / copies : tags[slot];
    if (group < groups) deposit_global(&sums, share, group);
  }
}

// The highest bit of a sample of the elements, every `apart`-th.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void greatest_bit(GLOBAL const VALUE* values, ulong from, long stride, ulong count, ulong apart, GLOBAL uint* words) {
  uint greatest = 0;
  for (ulong i = global_id() * apart; i < count; i += global_size() * apart) {
    const NUMBER number = number_of(values[(long)from + (long)i * stride]);
    if (number.kind == NUMBER_FINITE && number.mantissa != 0) greatest = max_u32(greatest, number.place + VALUE_BITS);
  }
  if (greatest != 0) atomic_max_global32(&words[GREATEST], greatest);
}

// The first element whose index is outside, as sums_by_index() tells it.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void first_outside(GLOBAL const INDEX* indices, ulong from, long stride, ulong count, ulong groups, GLOBAL uint* words) {
  for (ulong i = global_id(); i < count; i += global_size()) {
    if ((ulong)indices[(long)from + (long)i * stride] < groups) continue;
    atomic_max_global32(&words[FIRST_OUTSIDE], (uint)(count - i));
    return;
  }
}
