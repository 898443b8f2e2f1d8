// Sums as fixed-point numbers (fixed_point.h), for small_sum.cl. The previous launch has stored their powers, so that all groups have the same
// powers from the start. Sums are then combined by integer additions alone: in a sub-group, in local memory, and in a few counted words of global
// memory.
//
// Sums that fit are exact. If a sum does not fit, because the previous launch had other data, the group adds up in bins (small_sum.cl), and this
// launch takes longer; it stores other powers, or that some launches are to skip fixed-point numbers.
//
// Follows the file of the terms, which defines FIRST_BITS; LOWER_BITS; UPPER_BITS, the bits of the last word of a work-item's share with its sign;
// LOWER_PIECES and UPPER_PIECES, in which words are added up; TERM_SCALE, the exponent that shares are divided by; GROWTH, the bits that a sum
// may grow by, and a margin; add_terms() and fixed_of_share().
#define PIECE_BITS 21  // a group adds at most 2^10 of them
#define PIECE_MASK 0x1fffffu
#define FINER_BITS (FIRST_BITS - LOWER_BITS)  // bits of the first word below the last bit of its power
#define BITS_OF(word) ((word) == 0 ? FIRST_BITS : LOWER_BITS)
#define MASK_OF(word) (((long)1 << BITS_OF(word)) - 1)
#define WORD_BITS (FIXED_WORDS == 2 ? 52 : 40)  // of a group's last word, with the sign
#define TOTAL_BITS 52                           // the same of all groups' sum, which is to be rounded
#define FIELD_WORD (WORDS - 1)                  // of a result: the exponent field of the last word's power; zero where digits are stored

// Carries: moves the bits of each word beyond its width to the next word.
FN FIXED carried(FIXED sum) {
#pragma unroll
  for (int i = 0; i < UPPER; ++i) {
    sum.words[i + 1] = wrapping_sum(sum.words[i + 1], sum.words[i] >> BITS_OF(i));
    sum.words[i] &= MASK_OF(i);
  }
  return sum;
}

// A group's words in local memory: three pieces of each word; a word that is set if any work-item has failed, and one if any term was not
// -0.0.
#define GROUP_FAILED (3 * FIXED_WORDS)
#define GROUP_OTHER (GROUP_FAILED + 1)

// Adds the sub-group's sums to the group's.
FN void share_pieces(LOCAL uint* group, FIXED sum) {
  const uint lane = local_id() & (SUBGROUP - 1);
  uint mine = 0;
#pragma unroll
  for (int i = 0; i < FIXED_WORDS; ++i) {
    const int pieces = i == UPPER ? UPPER_PIECES : LOWER_PIECES;
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

// The sub-group's sum of 53-bit numbers.
FN long add_words(ulong word) {
  const uint low = subgroup_add_u32((uint)word & 0x7ffffffu);
  return (long)((ulong)(long)(int)subgroup_add_u32((uint)(word >> 27)) << 27) + low;
}

FN long join_pieces(uint low, uint middle, uint high) {
  return (long)((ulong)(long)(int)low + ((ulong)(long)(int)middle << PIECE_BITS) + ((ulong)(long)(int)high << (2 * PIECE_BITS)));
}

// The group's sum.
FN FIXED sum_of_pieces(LOCAL const uint4* group) {
  uint pieces[FIXED_ROOM];
#pragma unroll
  for (int i = 0; i < FIXED_ROOM / 4; ++i) {
    const uint4 four = group[i];
    pieces[4 * i] = four.x;
    pieces[4 * i + 1] = four.y;
    pieces[4 * i + 2] = four.z;
    pieces[4 * i + 3] = four.w;
  }
  FIXED sum = sum_identity();
#pragma unroll
  for (int i = 0; i < FIXED_WORDS; ++i) {
    const int count = i == UPPER ? UPPER_PIECES : LOWER_PIECES;
    uint high = count == 3 ? pieces[3 * i + 2] : 0;
#if FIXED_WORDS > 2  // lower words may have more than 64 bits
    if (i < UPPER) {
      sum.words[i + 1] += (int)high >> (BITS_OF(i) - 2 * PIECE_BITS);
      high &= (1u << (BITS_OF(i) - 2 * PIECE_BITS)) - 1;
    }
#endif
    sum.words[i] = wrapping_sum(join_pieces(count > 0 ? pieces[3 * i] : 0, count > 1 ? pieces[3 * i + 1] : 0, high), sum.words[i]);
  }
  sum = carried(sum);
  sum.failed = pieces[GROUP_FAILED] != 0 || !in_bits(sum.words[UPPER], WORD_BITS);
  sum.other = pieces[GROUP_OTHER];
  return sum;
}

// Counted words (meet.h): parts of the sum, and one for flags, which counts the groups that had anything but -0.0, and the groups that failed.
// There are copies of them, because a device executes additions to one word one after the other.
//
// A part of a group has PART_BITS, which the groups of a copy, MAX_SUM_GROUPS / COPIES, do not overflow. Lower parts have no sign.
#if FIXED_WORDS == 2
#define FIXED_PARTS 2
#define COPY_WORDS 4  // the last is not used
#define COUNT_BITS 8
#define PART_BITS 49  // lower words have some room for the bits of the upper one that do not fit
#define MORE_BITS (PART_BITS - LOWER_BITS)
#else
#define FIXED_PARTS 5
#define COPY_WORDS 8
#define COUNT_BITS 9
#define PART_BITS 47
#define CUT_BITS(word, from, number) (((ulong)(word) >> (from)) & (((ulong)1 << (number)) - 1))
#endif
#define COPIES (SUBGROUP / COPY_WORDS)
#define OTHER_GROUPS 0x10000u  // in the word for flags; failed ones count below

FN void cut(FIXED sum, ulong* parts) {
#if FIXED_WORDS == 2
  parts[0] = (ulong)sum.words[0] + (((ulong)sum.words[1] & ((1u << MORE_BITS) - 1)) << LOWER_BITS);
  parts[1] = (ulong)(sum.words[1] >> MORE_BITS);
#else  // words of 61, 51 and 51 bits, and the last; the fourth part is short, to be added up at once
  parts[0] = CUT_BITS(sum.words[0], 0, 47);
  parts[1] = CUT_BITS(sum.words[0], 47, 14) | CUT_BITS(sum.words[1], 0, 33) << 14;
  parts[2] = CUT_BITS(sum.words[1], 33, 18) | CUT_BITS(sum.words[2], 0, 29) << 18;
  parts[3] = CUT_BITS(sum.words[2], 29, 22);
  parts[4] = (ulong)sum.words[3];
#endif
}

// Adds sums of parts, of MAX_SUM_GROUPS at most.
FN FIXED joined(FIXED sum, const ulong* parts) {
#if FIXED_WORDS == 2
  sum.words[0] += (long)parts[0];
  sum.words[1] += (long)(parts[1] << MORE_BITS);
#else
  sum.words[0] += (long)(parts[0] + (CUT_BITS(parts[1], 0, 14) << 47));
  sum.words[1] += (long)((parts[1] >> 14) + (CUT_BITS(parts[2], 0, 18) << 33));
  sum.words[2] += (long)((parts[2] >> 18) + (parts[3] << 29));
  sum.words[3] += (long)parts[4];
#endif
  return carried(sum);
}

// Publishes the group's sum, or that it has failed.
FN void publish_fixed(GLOBAL ulong* meeting, FIXED sum) {
  const uint lane = local_id();
  if (lane > FIXED_PARTS) return;
  ulong parts[FIXED_PARTS];
  cut(sum, parts);
  ulong word = sum.other ? OTHER_GROUPS : 0;
#pragma unroll
  for (int p = 0; p < FIXED_PARTS; ++p) word = lane == (uint)p ? parts[p] : word;
  publish_counted(&meeting[group_id() % COPIES * COPY_WORDS + materialize(lane)], word, COUNT_BITS);
}
FN void publish_failure(GLOBAL ulong* meeting) {
  const uint lane = local_id();
  if (lane > FIXED_PARTS) return;
  publish_counted(&meeting[group_id() % COPIES * COPY_WORDS + lane], lane == FIXED_PARTS, COUNT_BITS);
}

// Adds the sums of all other groups. By the first sub-group.
#define HALF_BITS (FIXED_WORDS == 2 ? 29 : 30)  // the lower halves of all copies' parts add up in 32 bits
FN FIXED gather_fixed(GLOBAL ulong* meeting, uint others, FIXED sum) {
  const uint place = local_id() % COPY_WORDS;
  const uint groups = place <= FIXED_PARTS ? (others + (COPIES - 1) - local_id() / COPY_WORDS) / COPIES : 0;
  const ulong word = gather_counted(&meeting[local_id()], groups, COUNT_BITS);
  const uint low = (uint)(word >> COUNT_BITS) & ((1u << HALF_BITS) - 1);
  ulong parts[FIXED_PARTS];
#pragma unroll
  for (int p = 0; p < FIXED_PARTS; ++p) {
    parts[p] = subgroup_add_u32(place == (uint)p ? low : 0);
    if (FIXED_WORDS > 2 && p == 3) continue;  // the short part has no upper half
    const int high = (int)(p < FIXED_PARTS - 1 ? (uint)(word >> (COUNT_BITS + HALF_BITS)) : (uint)((long)word >> (COUNT_BITS + HALF_BITS)));
    parts[p] += (ulong)(long)subgroup_add_s32(place == (uint)p ? high : 0) << HALF_BITS;
  }
  const uint flags = subgroup_add_u32(place == FIXED_PARTS ? (uint)(word >> COUNT_BITS) : 0);
  sum = joined(sum, parts);
  sum.failed_groups = flags % OTHER_GROUPS;
  sum.failed |= (sum.failed_groups != 0) | !in_bits(sum.words[UPPER], TOTAL_BITS);
  sum.other |= flags / OTHER_GROUPS;
  return sum;
}

// Stores the result: the sum's words, and a SumRecord (samesum/sum.hpp). All lanes of a sub-group have the sum; each lane stores a word. `none`:
// there are no elements.
FN GLOBAL ulong* place_of_word(GLOBAL ulong* result, GLOBAL ulong* record) {
  const uint lane = local_id(), in_record = lane >= FIXED_WORDS + 2;
  return (in_record ? record : result) + (lane == FIXED_WORDS + 1 ? FIELD_WORD : in_record ? lane - (FIXED_WORDS + 2) : lane);
}
FN void round_fixed(FIXED sum, uint field, uint none, GLOBAL ulong* to) {
  field += TERM_SCALE;
  const uint lane = local_id();
  ulong word = lane == FIXED_WORDS ? sum.other != 0 : lane == FIXED_WORDS + 1 ? field : 0, any = 0;
#pragma unroll
  for (int i = 0; i < FIXED_WORDS; ++i) {
    word = lane == (uint)i ? (ulong)sum.words[i] : word;
    any |= (ulong)sum.words[i];
  }
  // The two highest words in use, each exact as a float64.
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
  // If 55 bits or more remain, the last bit may be set in place of all bits below: the rounding to fewer bits is the same.
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
  // The sum rounded to odd: of the two neighbours, the one with an odd last bit. It rounds to float32 like the sum itself.
  const double down = add_down_f64(a, b), up = add_up_f64(a, b), odd = as_ulong(down) & 1 ? down : up;
  // Computed by all lanes here: else compilers make a branch for each lane of the following selections.
  const ulong nearest = as_ulong(add_rn_f64(a, b));
  const uint high32 = materialize((uint)(nearest >> 32)), low32 = materialize((uint)nearest), float32 = materialize(as_uint((float)odd));
  const uint sign = (uint)negative_zero << 31;
  word = lane == FIXED_WORDS + 2 ? (ulong)(negative_zero ? sign : high32) << 32 | low32 : word;
  word = lane == FIXED_WORDS + 4 ? (negative_zero ? sign : float32) : word;
  if (lane < FIXED_WORDS + 5) atomic_store_global64(to, word);
}

// The state that a launch stores for the next: the exponent field of the upper power, the number of launches that are to skip fixed-point
// numbers, and a count of recent failures. After a failure the next attempt has more room.
#define STATE_WORDS 16  // so that counted words lie in other cache lines
FN ulong state_of(uint field, uint pause, uint failures) { return (ulong)failures << 32 | pause << 16 | field; }
FN uint field_of(ulong state) { return (uint)state & 0xffffu; }
FN uint pause_of(ulong state) { return (uint)state >> 16; }
FN uint failures_of(ulong state) { return (uint)(state >> 32); }

// The exponent field of the power for sums up to one with this field.
FN uint power_field(uint greatest, int margin) {
  const int field = (int)greatest - TERM_SCALE + GROWTH + margin;
  // The first word does not begin below the first digit. The last word, which has 64 bits and the sign, does not end above the last digit.
  // Powers are in the range of float64.
  const int digit = UPPER * LOWER_BITS + FINER_BITS + ROUND_BASE, power = FIXED_WORDS > 2 ? FIXED_WORDS * LOWER_BITS : 0;
  const int least = (digit > power ? digit : power) + 1 - TERM_SCALE;
  const int last = 32 * (FIRST_COUNTER - 2) + ROUND_BASE, most = (last < 2030 ? last : 2030) - TERM_SCALE;
  return (uint)(field < least ? least : field > most ? most : field);
}

// `greatest`: the exponent field of the greatest sum to be expected.
FN ulong state_after(ulong state, uint tried, uint greatest) {
  const uint failures = tried ? min_u32(failures_of(state) + 2, 6) : failures_of(state);
  const uint pause = tried ? (1u << failures) / 4 : pause_of(state) - (pause_of(state) > 0);
  // Where magnitudes change from launch to launch, the greatest is kept, if there is room for much smaller ones.
  const uint own = power_field(greatest, failures & 2 ? 8 : 0), kept = FIXED_WORDS > 2 && !tried ? field_of(state) : 0;
  return state_of(max_u32(own, kept), pause, failures);
}
