// Sums as fixed-point numbers (fixed_point.h), for sum_window.cl. Their powers are those that the launch before has left. So all groups
// know them before they have seen an element, and integer additions are all that sums need to meet: in a sub-group, in local memory, and in
// the words that each group leaves.
//
// What fits is exact. Where anything does not, as the launch before was of other data, the group adds up its limbs (sum_window.cl), and
// that launch takes longer; it leaves other powers, or the advice to do without for some launches.
//
// Stands after the file of what is summed: FIRST_BITS; LOWER_BITS; UPPER_BITS, that the last word of a work-item's share has at most, with
// the sign; LOWER_PIECES and UPPER_PIECES, in which words are added up; TERM_SCALE, the exponent of what shares are divided by; HEADROOM,
// the bits that a sum may grow by, and more; term_of(); begin_near(), add_near(), end_near() and fixed_of_share().
#define PIECE_BITS 21  // of which a group has 2^10 at most
#define PIECE_MASK 0x1fffffu
#define FINER_BITS (FIRST_BITS - LOWER_BITS)  // of the first word, that are below the last bit of its power
#define BITS_OF(word) ((word) == 0 ? FIRST_BITS : LOWER_BITS)
#define MASK_OF(word) (((long)1 << BITS_OF(word)) - 1)
#define WORD_BITS (FIXED_WORDS == 2 ? 52 : 40)  // of a group's last word, with the sign
#define WORD_PIECES (FIXED_WORDS == 2 ? 3 : 2)

// Moves to the next word what one has beyond its bits.
FN FIXED carried(FIXED sum) {
#pragma unroll
  for (int i = 0; i < UPPER; ++i) {
    sum.words[i + 1] += sum.words[i] >> BITS_OF(i);
    sum.words[i] &= MASK_OF(i);
  }
  return sum;
}

// Adds a term; says whether that is exact.
FN uint add_to_fixed(FIXED* sum, double term, double upper) {
  uint fits = 1;
#pragma unroll
  for (int i = UPPER; i >= 0; --i) {
    const double power = power_below(upper, UPPER - i), more = add_rn_f64(term, power);
    const long multiple = multiple_of(more, power);
    if (i == UPPER) fits = in_bits(multiple, POWER_BITS - 1);
    sum->words[i] += (long)((ulong)multiple << (i == 0 ? FINER_BITS : 0));
    term = add_rn_f64(term, -add_rn_f64(more, -power));
  }
#if FIRST_BITS != LOWER_BITS
  const double finest = as_double(as_ulong(power_below(upper, UPPER)) - ((ulong)FINER_BITS << 52)), more = add_rn_f64(term, finest);
  sum->words[0] += multiple_of(more, finest);
  term = add_rn_f64(term, -add_rn_f64(more, -finest));
#endif
  *sum = carried(*sum);
  return fits && term == 0;
}

// What a group has in local memory: three pieces of each word, and two words that are set where anything has failed, and where there was
// anything but -0.0.
#define GROUP_FAILED (3 * FIXED_WORDS)
#define GROUP_OTHER (GROUP_FAILED + 1)

// Adds the sub-group's sums to the group's.
FN void add_pieces(LOCAL uint* group, FIXED sum, const int upper_pieces) {
  const uint lane = local_id() & (SUBGROUP - 1);
  uint mine = 0;
#pragma unroll
  for (int i = 0; i < FIXED_WORDS; ++i) {
    const int pieces = i == UPPER ? upper_pieces : LOWER_PIECES;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      if (k >= pieces) continue;
      const uint piece = (uint)(sum.words[i] >> (k * PIECE_BITS));
      const uint all = subgroup_add_u32(k == pieces - 1 ? piece : piece & PIECE_MASK);
      mine = lane == (uint)(3 * i + k) ? all : mine;
    }
  }
  if (lane < GROUP_FAILED) atomic_add_local32(&group[lane], mine);
}

FN long join_pieces(uint low, uint middle, uint high) {
  return (int)low + (long)((ulong)(long)(int)middle << PIECE_BITS) + (long)((ulong)(long)(int)high << (2 * PIECE_BITS));
}

// The group's sum, and `more`.
FN FIXED sum_of_pieces(LOCAL const uint4* group, FIXED more, const int upper_pieces) {
  uint pieces[FIXED_ROOM];
#pragma unroll
  for (int i = 0; i < FIXED_ROOM / 4; ++i) {
    const uint4 four = group[i];
    pieces[4 * i] = four.x;
    pieces[4 * i + 1] = four.y;
    pieces[4 * i + 2] = four.z;
    pieces[4 * i + 3] = four.w;
  }
  FIXED sum = more;
#pragma unroll
  for (int i = 0; i < FIXED_WORDS; ++i) {
    const int count = i == UPPER ? upper_pieces : LOWER_PIECES;
    uint high = count == 3 ? pieces[3 * i + 2] : 0;
#if FIXED_WORDS > 2  // lower words may have more than 64 bits
    if (i < UPPER) {
      sum.words[i + 1] += (int)high >> (BITS_OF(i) - 2 * PIECE_BITS);
      high &= (1u << (BITS_OF(i) - 2 * PIECE_BITS)) - 1;
    }
#endif
    sum.words[i] += join_pieces(count > 0 ? pieces[3 * i] : 0, count > 1 ? pieces[3 * i + 1] : 0, high);
  }
  sum = carried(sum);
  sum.failed = ((more.failed | pieces[GROUP_FAILED]) != 0) | !in_bits(sum.words[UPPER], WORD_BITS);
  sum.other = more.other | pieces[GROUP_OTHER];
  return sum;
}

// A group's words in global memory say that they are there; the first one the rest as well.
#define IS_THERE ((ulong)1 << 63)
#define HAS_FAILED ((ulong)1 << 62)
#define WAS_OTHER ((ulong)1 << 61)

FN void leave_fixed(GLOBAL ulong* words, FIXED sum) {
  if (local_id() >= FIXED_WORDS) return;
  ulong word = (ulong)sum.words[0] | (sum.other ? WAS_OTHER : 0);
#pragma unroll
  for (int i = 1; i < FIXED_WORDS; ++i) word = local_id() == (uint)i ? (ulong)sum.words[i] : word;
  if (sum.failed) word = local_id() == 0 ? HAS_FAILED : 0;
  atomic_store_global64(&words[FIXED_WORDS * group_id() + local_id()], IS_THERE | word);
}

// Adds up what all other groups left, as it comes, and clears it; marks groups that have failed.
FN void take_fixed(GLOBAL ulong* words, LOCAL uchar* marks, LOCAL uint* group) {
  const uint others = group_count() - 1;
  for (uint first = local_id() / SUBGROUP * SUBGROUP; first < others; first += GROUP_SIZE) {
    const uint at = first + (local_id() & (SUBGROUP - 1));
    ulong left[FIXED_WORDS], there;
#pragma unroll
    for (int i = 0; i < FIXED_WORDS; ++i) left[i] = IS_THERE;
    do {  // all together: a sub-group whose work-items leave a loop one by one is slow from there on
      there = IS_THERE;
#pragma unroll
      for (int i = 0; i < FIXED_WORDS; i += 2) {
        if (at < others) atomic_load_pair_global64(&words[FIXED_WORDS * at + i], &left[i], &left[i + 1]);
      }
#pragma unroll
      for (int i = 0; i < FIXED_WORDS; ++i) there &= left[i];
    } while (subgroup_ballot(there == 0) != 0);
    if (left[0] & HAS_FAILED) group[GROUP_FAILED] = marks[at] = 1;
    if (left[0] & WAS_OTHER) group[GROUP_OTHER] = 1;
    FIXED sum = no_sum();
#pragma unroll
    for (int i = 0; i < UPPER; ++i) sum.words[i] = (long)left[i] & MASK_OF(i);
    sum.words[UPPER] = (long)(left[UPPER] << 1) >> 1;
    add_pieces(group, sum, WORD_PIECES);
#pragma unroll
    for (int i = 0; i < FIXED_WORDS; ++i) {
      if (at < others) words[FIXED_WORDS * at + i] = 0;
    }
  }
}

// Leaves the sum, rounded, and as it is. `none`: of no elements.
FN void round_fixed(FIXED sum, uint field, uint none, GLOBAL long* result, GLOBAL ulong* record) {
  if (local_id() != 0) return;
  result[FIXED_WORDS] = sum.other;
  result[ENTRIES] = field + TERM_SCALE;
  ulong any = 0;
#pragma unroll
  for (int i = 0; i < FIXED_WORDS; ++i) {
    result[i] = sum.words[i];
    any |= (ulong)sum.words[i];
  }
  // The highest words that say anything, as two numbers, each exact as a float64.
  field += TERM_SCALE;
  long below = (long)((ulong)(sum.words[0] & (((long)1 << FINER_BITS) - 1)) << (LOWER_BITS - FINER_BITS));
  sum.words[0] >>= FINER_BITS;
#pragma unroll
  for (int i = 0; i < FIXED_WORDS - 2; ++i) {
    if (sum.words[UPPER] != 0 && sum.words[UPPER] != -1) continue;
    sum.words[UPPER] = (long)((ulong)sum.words[UPPER] << LOWER_BITS) + sum.words[UPPER - 1];
#pragma unroll
    for (int k = UPPER - 1; k > 0; --k) sum.words[k] = sum.words[k - 1];
    sum.words[0] = below;
    below = 0;
    field -= LOWER_BITS;
  }
  long high = sum.words[UPPER], low = sum.words[UPPER - 1];
#if FIXED_WORDS > 2
  // The last bit may stand for all below, where 55 bits or more remain: what is rounded to fewer is rounded alike.
  long next = sum.words[UPPER - 2];
#pragma unroll
  for (int i = 0; i < UPPER - 2; ++i) next |= sum.words[i] != 0;
  next |= below != 0;
  if (high >= -128 && high < 128) {
    high = (long)((ulong)high << (LOWER_BITS - 16)) + (low >> 16);
    low = (low & 0xffff) << (LOWER_BITS - 16) | next >> 16;
    next &= 0xffff;
    field -= LOWER_BITS - 16;
  }
  low |= next != 0;
#endif
  const double upper = power_of(field), lower = power_below(upper, 1);
  const double a = add_rn_f64(as_double(as_ulong(upper) + (ulong)high), -upper);
  const double b = add_rn_f64(as_double(as_ulong(lower) + (ulong)low), -lower);
  const uint negative_zero = any == 0 && !sum.other && !none;
  // Of the numbers below and above, the one with an odd last bit: which the rounding to float32 takes as it would the sum itself.
  const double down = add_down_f64(a, b), up = add_up_f64(a, b), odd = as_ulong(down) & 1 ? down : up;
  record[0] = negative_zero ? (ulong)1 << 63 : as_ulong(add_rn_f64(a, b));
  record[1] = 0;
  record[2] = negative_zero ? 0x80000000u : as_uint((float)odd);
}

// What launches leave to the next: the exponent field of the upper power, for how many launches to do without, and the failures of late.
// Where the last attempt failed, the next one has more room.
#define STATE_WORDS 8
FN ulong state_of(uint field, uint pause, uint failures) { return (ulong)failures << 32 | pause << 16 | field; }
FN uint field_of(ulong state) { return (uint)state & 0xffffu; }
FN uint pause_of(ulong state) { return (uint)state >> 16; }
FN uint failures_of(ulong state) { return (uint)(state >> 32); }

// `greatest`: the exponent field of the greatest sum that is to be expected.
FN ulong state_after(ulong state, uint tried, uint greatest) {
  const uint failures = tried ? min_u32(failures_of(state) + 2, 12) : failures_of(state);
  const uint pause = tried ? (1u << failures) / 4 : pause_of(state) - (pause_of(state) > 0);
  const int field = (int)greatest - TERM_SCALE + HEADROOM + (failures & 2 ? 8 : 0);
  // The first word begins with the first digit or after it, the last one ends with the last; and powers have room on either side.
  const int least = (FIXED_WORDS > 2 ? FIXED_WORDS * LOWER_BITS : LOWER_BITS + (ROW_BASE)) + 1 - TERM_SCALE;
  const int last = 32 * (DIGITS - 1) + (ROW_BASE), most = (last < 2030 ? last : 2030) - TERM_SCALE;
  return state_of((uint)(field < least ? least : field > most ? most : field), pause, failures);
}
