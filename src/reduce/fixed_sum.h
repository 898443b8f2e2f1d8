// Sums as fixed-point numbers (fixed_point.h), for sum_window.cl. Their powers are those that the launch before has left. So all groups know
// them before they have seen an element, and integer additions are all that sums need to meet: in a sub-group, in local memory, and in two
// words that each group leaves.
//
// What fits is exact. Where anything does not, as the launch before was of other data, the group adds up its limbs (sum_window.cl), and that
// launch takes longer; it leaves other powers, or the advice to do without for some launches.
//
// Stands after the file of what is summed: LOWER_BITS; UPPER_BITS, that the upper part of a work-item's share has at most, with the sign;
// UPPER_PIECES and LOWER_PIECES, in which they are added up; TERM_SCALE, the exponent of what shares are divided by; HEADROOM, the bits that a
// sum may grow by, and more; term_of(); begin_near(), add_near(), end_near() and fixed_of_share().
#define PIECE_BITS 21  // of which a group has 2^10 at most
#define PIECE_MASK 0x1fffffu
#define WORD_BITS 52  // of the upper part, with the sign

// Adds a term; says whether that is exact.
FN uint add_to_fixed(FIXED* sum, double term, double upper, double lower) {
  const double more = add_rn_f64(term, upper), rest = add_rn_f64(term, -add_rn_f64(more, -upper)), last = add_rn_f64(rest, lower);
  const long high = multiple_of(more, upper);
  const long low = sum->lower + multiple_of(last, lower);
  sum->upper += high + (low >> LOWER_BITS);
  sum->lower = low & (((long)1 << LOWER_BITS) - 1);
  return in_bits(high, WORD_BITS - 1) && add_rn_f64(last, -lower) == rest;
}

// What a group has in local memory: pieces, and two words that are set where anything has failed, and where there was anything but -0.0.
#define GROUP_FAILED 6
#define GROUP_OTHER 7

// Adds the sub-group's sums to the group's.
FN void add_pieces(LOCAL uint* group, FIXED sum, const int upper_pieces) {
  const uint lane = local_id() & (SUBGROUP - 1);
  const uint low = (uint)(sum.lower >> PIECE_BITS), high = (uint)(sum.upper >> PIECE_BITS);
  uint mine = subgroup_add_u32((uint)sum.lower & PIECE_MASK);
  const uint low1 = subgroup_add_u32(LOWER_PIECES == 2 ? low : low & PIECE_MASK);
  mine = lane == 1 ? low1 : mine;
#if LOWER_PIECES == 3
  const uint low2 = subgroup_add_u32((uint)(sum.lower >> (2 * PIECE_BITS)));
  mine = lane == 2 ? low2 : mine;
#endif
  const uint high0 = subgroup_add_u32((uint)sum.upper & PIECE_MASK);
  mine = lane == 3 ? high0 : mine;
  const uint high1 = subgroup_add_u32(upper_pieces == 2 ? high : high & PIECE_MASK);
  mine = lane == 4 ? high1 : mine;
  if (upper_pieces == 3) {
    const uint high2 = subgroup_add_u32((uint)(sum.upper >> (2 * PIECE_BITS)));
    mine = lane == 5 ? high2 : mine;
  }
  if (lane < GROUP_FAILED) atomic_add_local32(&group[lane], mine);
}

FN long join_pieces(uint low, uint middle, uint high) {
  return (int)low + (long)((ulong)(long)(int)middle << PIECE_BITS) + (long)((ulong)(long)(int)high << (2 * PIECE_BITS));
}

// The group's sum, and `more`.
FN FIXED sum_of_pieces(LOCAL const uint4* group, FIXED more, const int upper_pieces) {
  const uint4 a = group[0], b = group[1];
  const long low = join_pieces(a.x, a.y, LOWER_PIECES == 3 ? a.z : 0) + more.lower;
  FIXED sum;
  sum.upper = join_pieces(a.w, b.x, upper_pieces == 3 ? b.y : 0) + more.upper + (low >> LOWER_BITS);
  sum.lower = low & (((long)1 << LOWER_BITS) - 1);
  sum.failed = ((more.failed | b.z) != 0) | !in_bits(sum.upper, WORD_BITS);
  sum.other = more.other | b.w;
  return sum;
}

// A group's words in global memory say that they are there; the first one the rest as well.
#define IS_THERE ((ulong)1 << 63)
#define HAS_FAILED ((ulong)1 << 62)
#define WAS_OTHER ((ulong)1 << 61)

FN void leave_fixed(GLOBAL ulong* words, FIXED sum) {
  if (local_id() >= 2) return;
  ulong word = local_id() == 0 ? (ulong)sum.lower | (sum.other ? WAS_OTHER : 0) : (ulong)sum.upper;
  if (sum.failed) word = local_id() == 0 ? HAS_FAILED : 0;
  atomic_store_global64(&words[2 * group_id() + local_id()], IS_THERE | word);
}

// Adds up what all other groups left, as it comes, and clears it; marks groups that have failed.
FN void take_fixed(GLOBAL ulong* words, LOCAL uchar* marks, LOCAL uint* group) {
  const uint others = group_count() - 1;
  for (uint first = local_id() / SUBGROUP * SUBGROUP; first < others; first += GROUP_SIZE) {
    const uint at = first + (local_id() & (SUBGROUP - 1));
    ulong low = IS_THERE, high = IS_THERE;
    do {  // all together: a sub-group whose work-items leave a loop one by one is slow from there on
      if (at < others) atomic_load_pair_global64(&words[2 * at], &low, &high);
    } while (subgroup_ballot((low & high) >> 63 == 0) != 0);
    if (low & HAS_FAILED) group[GROUP_FAILED] = marks[at] = 1;
    if (low & WAS_OTHER) group[GROUP_OTHER] = 1;
    FIXED sum = no_sum();
    sum.upper = (long)(high << 1) >> 1;
    sum.lower = (long)(low & (((ulong)1 << LOWER_BITS) - 1));
    add_pieces(group, sum, 3);
    if (at < others) words[2 * at] = words[2 * at + 1] = 0;
  }
}

// Leaves the sum, rounded, and as it is. `none`: of no elements.
FN void round_fixed(FIXED sum, uint field, uint none, GLOBAL long* result, GLOBAL ulong* record) {
  if (local_id() != 0) return;
  const double upper = power_of(field + TERM_SCALE), lower = power_of(field + TERM_SCALE - LOWER_BITS);
  const double a = add_rn_f64(as_double(as_ulong(upper) + (ulong)sum.upper), -upper);
  const double b = add_rn_f64(as_double(as_ulong(lower) + (ulong)sum.lower), -lower);
  const uint negative_zero = (sum.upper | sum.lower) == 0 && !sum.other && !none;
  // Of the numbers below and above, the one with an odd last bit: which the rounding to float32 takes as it would the sum itself.
  const double down = add_down_f64(a, b), up = add_up_f64(a, b), odd = as_ulong(down) & 1 ? down : up;
  record[0] = negative_zero ? (ulong)1 << 63 : as_ulong(add_rn_f64(a, b));
  record[1] = 0;
  record[2] = negative_zero ? 0x80000000u : as_uint((float)odd);
  result[0] = sum.lower;
  result[1] = sum.upper;
  result[2] = sum.other;
  result[ENTRIES] = field + TERM_SCALE;
}

// What launches leave to the next: the exponent field of the upper power, for how many launches to do without, and the failures of late.
// Where the last attempt failed, the next one has more room.
#define STATE_WORDS 8
FN ulong state_of(uint field, uint pause, uint failures) { return (ulong)failures << 32 | pause << 16 | field; }
FN uint field_of(ulong state) { return (uint)state & 0xffffu; }
FN uint pause_of(ulong state) { return (uint)state >> 16; }
FN uint failures_of(ulong state) { return (uint)(state >> 32); }

FN ulong state_after(ulong state, uint tried, ulong sum) {
  const uint failures = tried ? min_u32(failures_of(state) + 2, 12) : failures_of(state);
  const uint pause = tried ? (1u << failures) / 4 : pause_of(state) - (pause_of(state) > 0);
  const int field = (int)(sum >> 52 & 0x7ffu) - TERM_SCALE + HEADROOM + (failures & 2 ? 8 : 0);
  // The lower part begins with the first digit or after it, the upper one ends with the last; and powers have room above.
  const int least = LOWER_BITS + 1 + (ROW_BASE) - TERM_SCALE, last = 32 * (DIGITS - 1) + (ROW_BASE), most = (last < 2030 ? last : 2030) - TERM_SCALE;
  return state_of((uint)(field < least ? least : field > most ? most : field), pause, failures);
}
