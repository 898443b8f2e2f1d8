// Sums of few groups in local memory, of elements of 32 bits or fewer; between shares.h and by_index.cl.
//
// Counted from the pair's lowest bit, an element is a whole number of less than 2^WINDOW_BITS. Its bits change two or three of four signed fields,
// by atomic additions that return nothing: these are several times faster than additions that return the old value. Fields have room for ROUND
// elements. Then carries are propagated. What the window does not hold goes to the planes.

#define WINDOW_BITS 57
#define ROUND 32768  // elements: a multiple of GROUP_SIZE * ITEMS
// Where the fields begin, but the first one; bits of the second and the third.
#define FIELD_1 12
#define FIELD_2 27
#define FIELD_3 42
#define FIELD_BITS 15
#define FIELD_FULL (1 << 29)  // of the last one

// Floats of the exponents first … first + more are those of the window; of the first one the lowest bit is at `shift`.
typedef struct {
  uint first, more, shift;
} WINDOW;

FN WINDOW window_of(const SUMS* sums) {
  const int lowest = (int)(DIGIT_BITS * sums->pair) - (int)sums->phase + 1, highest = lowest + WINDOW_BITS - VALUE_BITS;
  const int first = lowest < 1 ? 1 : lowest, last = highest > 254 ? 254 : highest;  // normal numbers
  WINDOW window;
  window.first = first <= last ? (uint)first : 256;
  window.more = first <= last ? (uint)(last - first) : 0;
  window.shift = (uint)(first - lowest);
  return window;
}

// As share_of(), but `low` is the whole number.
FN SHARE whole_share_of(const SUMS* sums, const WINDOW* window, VALUE x, uint group) {
#if !SQUARES && FLOATS == 32
  const uint bits = FLOAT_BITS(x), above = (bits >> 23 & 0xffu) - window->first;
  if (above <= window->more && group != NO_GROUP) {
    const long magnitude = (long)((ulong)((bits & 0x7fffffu) | 0x800000u) << (above + window->shift));
    SHARE whole = share_zero();
    whole.low = bits >> 31 != 0 ? -magnitude : magnitude;
    whole.counted = 1;
    return whole;
  }
#endif
  SHARE share = share_of(sums, x, group);
  const long top = 1L << (WINDOW_BITS - DIGIT_BITS);
  if (share.high >= top || share.high <= -top) {
    GLOBAL ulong* const at = sums->planes + sums->pair * sums->groups + group;
    add_word(at, share.low);
    add_word(at + sums->groups, share.high);
    share.low = 0;
  } else {
    share.low += share.high * (1L << DIGIT_BITS);
  }
  share.high = 0;
  return share;
}

FN void add_field(LOCAL uint* field, uint value, uint negative) {
  if (value != 0) atomic_add_local32(field, negative ? 0 - value : value);
}

FN void add_whole(LOCAL uint* slot, uint slots, long whole) {
  const uint negative = whole < 0;
  const ulong magnitude = negative ? 0 - (ulong)whole : (ulong)whole;
  add_field(slot, (uint)magnitude & ((1u << FIELD_1) - 1), negative);
  add_field(slot + slots, (uint)(magnitude >> FIELD_1) & ((1u << FIELD_BITS) - 1), negative);
  add_field(slot + 2 * slots, (uint)(magnitude >> FIELD_2) & ((1u << FIELD_BITS) - 1), negative);
  add_field(slot + 3 * slots, (uint)(magnitude >> FIELD_3), negative);
}

// Fields as the pair's digits.
FN void pair_of_fields(long* low, long* high, int first, int second, int third, int last) {
  const long lower = (long)first + (long)second * (1L << FIELD_1) + (long)third * (1L << FIELD_2);
  *low = lower & (long)DIGIT_MASK;
  *high = (lower >> DIGIT_BITS) + (long)last * (1L << (FIELD_3 - DIGIT_BITS));
}

// Makes room in the fields of all slots, of which each group has `copies`. A sum whose last field is nearly full leaves for the planes.
FN void carry_fields(const SUMS* sums, LOCAL uint* memory, uint slots, uint copies) {
  for (uint i = local_id(); i < slots; i += GROUP_SIZE) {
    LOCAL uint* const slot = memory + i;
    int first = (int)slot[0];
    int second = (int)slot[slots] + (first >> FIELD_1);
    int third = (int)slot[2 * slots] + (second >> FIELD_BITS);
    int last = (int)slot[3 * slots] + (third >> FIELD_BITS);
    first &= (1 << FIELD_1) - 1;
    second &= (1 << FIELD_BITS) - 1;
    third &= (1 << FIELD_BITS) - 1;
    if (last >= FIELD_FULL || last <= -FIELD_FULL) {
      long low, high;
      pair_of_fields(&low, &high, first, second, third, last);
      GLOBAL ulong* const at = sums->planes + sums->pair * sums->groups + i / copies;
      add_word(at, low);
      add_word(at + sums->groups, high);
      first = second = third = last = 0;
    }
    slot[0] = (uint)first;
    slot[slots] = (uint)second;
    slot[2 * slots] = (uint)third;
    slot[3 * slots] = (uint)last;
  }
}
