// What elements add to exact sums into groups, in integers alone: the order of additions does not matter. For by_index.cl and by_runs.cl, after digits.h.
//
// A sum is a row of digits of radix 2^DIGIT_BITS, each a signed word of 64 bits with room for 2^28 additions of one digit: an element changes two
// of them at most (of 64-bit numbers three), by atomic additions that propagate nothing. carry_digits() makes room again. Digit d of group g is
// planes[d * groups + g]; its weight is 2^(DIGIT_BITS * d - phase) times the least number of the elements' type. The phase is chosen so that most
// elements lie in one digit, or else in two neighbours, the pair: a share is what a work-item has of these two, to be added to the planes later.
//
// Behind the digits there are four planes that count NaNs, infinities of both signs, and -0.0; with COUNTS one that counts elements; with SQUARES
// the digits of the sums of squares; with EXTREMA two of the extremes.
//
// Defined by the host: VALUE, the type in which elements lie (of floats their bits); FLOATS, 32 (of 16-bit ones as well), 64, or 0 for integers;
// FLOAT_BITS(x), where FLOATS is 32, the bits of one as a float; SIGNED, of integers; VALUE_BITS, of mantissas or integers; COUNTS; SQUARES; EXTREMA.
#define PAIR_BITS (2 * DIGIT_BITS)
#define NO_GROUP 0xffffffffu

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

// Digits that a share of squares has: the pair, or of elements wider than 32 bits, whose squares no word holds, four neighbours.
#define SQUARE_DIGITS (VALUE_BITS <= 32 ? 2 : 4)

// What a work-item adds to a group.
typedef struct {
  long low, high;  // of the pair
  uint counted;    // elements; without COUNTS those that are finite and not -0.0
#if SQUARES
  long squares[SQUARE_DIGITS];
#endif
} SHARE;

FN SHARE share_zero(void) {
  SHARE share;
  share.low = share.high = 0;
  share.counted = 0;
#if SQUARES
#pragma unroll
  for (uint i = 0; i < SQUARE_DIGITS; ++i) share.squares[i] = 0;
#endif
  return share;
}
FN SHARE share_merge(SHARE a, SHARE b) {
  a.low += b.low;
  a.high += b.high;
  a.counted += b.counted;
#if SQUARES
#pragma unroll
  for (uint i = 0; i < SQUARE_DIGITS; ++i) a.squares[i] += b.squares[i];
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

// Adds mantissa * 2^place, a mantissa of `bits` bits, to the pair's sums; returns 0 if it does not lie there.
FN uint add_to_pair(long* low, long* high, uint pair, ulong mantissa, uint place, uint negative, int bits) {
  const int at = (int)place - (int)(DIGIT_BITS * pair);
  if (at < 0 || at > PAIR_BITS - bits) return mantissa == 0;
  const long above = (long)(at >= DIGIT_BITS ? mantissa << (at - DIGIT_BITS) : mantissa >> (DIGIT_BITS - at));
  const long below = (long)(at >= DIGIT_BITS ? 0 : (mantissa << at) & DIGIT_MASK);
  *high += negative ? -above : above;
  *low += negative ? -below : below;
  return 1;
}

#if SQUARES
// Adds the square of a mantissa, times 2^place, to the digits of squares from number `pair` on; returns 0 if it does not lie there.
FN uint add_square(long* squares, uint pair, ulong mantissa, uint place) {
#if VALUE_BITS <= 32
  return add_to_pair(&squares[0], &squares[1], pair, mantissa * mantissa, place, 0, 2 * VALUE_BITS);
#else
  const int at = (int)place - (int)(DIGIT_BITS * pair);
  if (at < 0 || at > SQUARE_DIGITS * DIGIT_BITS - 2 * VALUE_BITS) return mantissa == 0;
  const ulong low = mantissa * mantissa, high = mul_hi64(mantissa, mantissa);
  // The square, shifted, in words of 64 bits.
  const ulong first = low << at, second = at != 0 ? high << at | low >> (64 - at) : high, third = at != 0 ? high >> (64 - at) : 0;
  squares[0] += (long)(first & DIGIT_MASK);
  squares[1] += (long)((first >> DIGIT_BITS | second << (64 - DIGIT_BITS)) & DIGIT_MASK);
  squares[2] += (long)(second >> (2 * DIGIT_BITS - 64) & DIGIT_MASK);
  squares[3] += (long)(second >> (3 * DIGIT_BITS - 64) | third << (128 - 3 * DIGIT_BITS));
  return 1;
#endif
}
#endif

// Where sums go.
typedef struct {
  GLOBAL ulong* planes;
  GLOBAL uint* others;  // without COUNTS: a bit for each group, whether it has a finite element other than -0.0
  GLOBAL uint* words;
  ulong groups;
  uint rows, phase, pair;  // of digits
  uint square_rows, square_phase, square_pair;
} SUMS;
// A kernel's parameters for them, and the statement that collects these as `sums`.
#define SUMS_PARAMETERS                                                                                                                   \
  ulong groups, GLOBAL ulong *planes, GLOBAL uint *others, GLOBAL uint *words, uint rows, uint phase, uint pair, uint square_rows,        \
      uint square_phase, uint square_pair
#define SUMS_SETUP                                                                                                                        \
  SUMS sums;                                                                                                                              \
  sums.planes = planes;                                                                                                                   \
  sums.others = others;                                                                                                                   \
  sums.words = words;                                                                                                                     \
  sums.groups = groups;                                                                                                                   \
  sums.rows = rows;                                                                                                                       \
  sums.phase = phase;                                                                                                                     \
  sums.pair = pair;                                                                                                                       \
  sums.square_rows = square_rows;                                                                                                         \
  sums.square_phase = square_phase;                                                                                                       \
  sums.square_pair = square_pair;

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
    if (sums->words[SPECIAL] == 0) atomic_max_global32(&sums->words[SPECIAL], 1);
    return share;
  }
  if (!add_to_pair(&share.low, &share.high, sums->pair, number.mantissa, number.place + sums->phase, number.negative, VALUE_BITS)) {
    add_digits(sums->planes + group, sums->groups, sums->rows, sums->words + TOP, number.mantissa, number.place + sums->phase, number.negative);
  }
#if SQUARES
  GLOBAL ulong* const squares = sums->planes + SQUARE_ROW(sums) * sums->groups + group;
  const uint place = 2 * number.place + sums->square_phase;
  if (add_square(share.squares, sums->square_pair, number.mantissa, place)) return share;
#if VALUE_BITS <= 32
  add_digits(squares, sums->groups, sums->square_rows, sums->words + TOP + 2, number.mantissa * number.mantissa, place, 0);
#else
  const ulong above = number.mantissa >> 32, below = number.mantissa & 0xffffffffu;
  add_digits(squares, sums->groups, sums->square_rows, sums->words + TOP + 2, above * above, place + 64, 0);
  add_digits(squares, sums->groups, sums->square_rows, sums->words + TOP + 2, above * below, place + 33, 0);
  add_digits(squares, sums->groups, sums->square_rows, sums->words + TOP + 2, below * below, place, 0);
#endif
#endif
  return share;
}

// Adds an element to a share, in few instructions; returns 0, and adds nothing, if it is one for share_of(). Does not count it.
FN uint add_number(const SUMS* sums, SHARE* share, VALUE x) {
  const NUMBER number = number_of(x);
  SHARE sum = *share;
  if (number.kind != NUMBER_FINITE ||
      !add_to_pair(&sum.low, &sum.high, sums->pair, number.mantissa, number.place + sums->phase, number.negative, VALUE_BITS)) {
    return 0;
  }
#if SQUARES
  if (!add_square(sum.squares, sums->square_pair, number.mantissa, 2 * number.place + sums->square_phase)) return 0;
#endif
  *share = sum;
  return 1;
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
#pragma unroll
  for (uint i = 0; i < SQUARE_DIGITS; ++i) add_word(at + (SQUARE_ROW(sums) + sums->square_pair + i) * sums->groups, share.squares[i]);
#endif
}

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
