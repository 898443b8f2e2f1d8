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

// Floats of the exponents first … first + more are those of the window; of the first one the lowest bit is at `shift`. Integers begin at `shift`, if
// `more` is 1.
typedef struct {
  uint first, more, shift;
} WINDOW;

FN WINDOW window_of(const SUMS* sums) {
  WINDOW window;
#if FLOATS == 32
  const int lowest = (int)(DIGIT_BITS * sums->pair) - (int)sums->phase + 1, highest = lowest + WINDOW_BITS - VALUE_BITS;
  const int first = lowest < 1 ? 1 : lowest, last = highest > 254 ? 254 : highest;  // normal numbers
  window.first = first <= last ? (uint)first : 256;
  window.more = first <= last ? (uint)(last - first) : 0;
  window.shift = (uint)(first - lowest);
#else
  const int at = (int)sums->phase - (int)(DIGIT_BITS * sums->pair);
  window.first = 0;
  window.more = at >= 0 && at <= WINDOW_BITS - VALUE_BITS;
  window.shift = window.more ? (uint)at : 0;
#endif
  return window;
}

// The whole number of an element; 0 where it is one for share_of(), or has squares.
FN uint whole_of(const WINDOW* window, VALUE x, long* whole) {
#if SQUARES
  return 0;
#elif FLOATS == 32
  const uint bits = FLOAT_BITS(x), above = (bits >> 23 & 0xffu) - window->first;
  const long magnitude = (long)((ulong)((bits & 0x7fffffu) | 0x800000u) << ((above + window->shift) & 63));
  *whole = bits >> 31 != 0 ? -magnitude : magnitude;
  return above <= window->more;
#else
  *whole = (long)((ulong)(long)x << window->shift);
  return window->more;
#endif
}

FN void add_whole(LOCAL_PLACE slot, uint slots, long whole) {
  const uint negative = whole < 0;
  const ulong magnitude = negative ? 0 - (ulong)whole : (ulong)whole;
  const uint parts[4] = {(uint)magnitude & ((1u << FIELD_1) - 1), (uint)(magnitude >> FIELD_1) & ((1u << FIELD_BITS) - 1),
                         (uint)(magnitude >> FIELD_2) & ((1u << FIELD_BITS) - 1), (uint)(magnitude >> FIELD_3)};
#pragma unroll
  for (uint i = 0; i < 4; ++i) add_to_place(local_place_behind(slot, i * slots), negative ? 0 - parts[i] : parts[i]);
}

// Adds a pair of which the upper digit holds at most HIGH_LIMIT for each element.
#define HIGH_LIMIT (1L << (WINDOW_BITS - DIGIT_BITS))
FN void add_pair(LOCAL_PLACE slot, uint slots, long low, long high) {
  add_whole(slot, slots, low);
  add_to_place(local_place_behind(slot, 2 * slots), ((uint)high & ((1u << (FIELD_3 - DIGIT_BITS)) - 1)) << (DIGIT_BITS - FIELD_2));
  add_to_place(local_place_behind(slot, 3 * slots), (uint)(high >> (FIELD_3 - DIGIT_BITS)));
}

#if FLOATS == 32 && !SQUARES && SAMESUM_DENORMALS
// A float as multiples of the fields' units, without shifts: adding 3 * 2^22 units and subtracting them again rounds to a multiple of the unit, whose
// number the sum's bits tell, and what is left is exact (S. Rump, T. Ogita, S. Oishi, Accurate floating-point summation I, 2008, 3.2).
#define SPLIT_FLOATS 1
typedef struct {
  float unit[4];  // 3 * 2^22 units of each field
  float limit;    // 0 where the units are no normal numbers
} SPLIT;
FN SPLIT split_of(const SUMS* sums) {
  const int lowest = (int)(DIGIT_BITS * sums->pair) - (int)sums->phase - 149 + 127;  // the exponent's field of a number of the first field's unit
  const int places[4] = {0, FIELD_1, FIELD_2, FIELD_3};
  const uint normal = lowest >= 1 && lowest + FIELD_3 + 23 <= 254;
  SPLIT split;
#pragma unroll
  for (uint i = 0; i < 4; ++i) split.unit[i] = as_float(normal ? (uint)(lowest + places[i] + 23) << 23 | 0x400000u : 0u);
  split.limit = as_float(normal ? (uint)(lowest + WINDOW_BITS) << 23 : 0u);
  return split;
}
// Adds an element to its sum if `adds`; returns 0, and adds nothing, if not, and if it is one for share_of().
FN uint add_split(const SPLIT* split, LOCAL_PLACE slot, uint slots, VALUE x, uint adds) {
  const float number = as_float(FLOAT_BITS(x));
  float rest = number;
  uint parts[4];
#pragma unroll
  for (int i = 3; i >= 0; --i) {
    const float sum = rest + split->unit[i];
    parts[i] = as_uint(sum) - as_uint(split->unit[i]);
    rest -= sum - split->unit[i];
  }
  if (!adds || !(fabs(number) < split->limit) || rest != 0.0f || as_uint(number) == 0x80000000u) return 0;
  if ((parts[0] | parts[1]) != 0) {  // of few elements: most are not much smaller than the greatest one
    add_to_place(slot, parts[0]);
    add_to_place(local_place_behind(slot, slots), parts[1]);
  }
  add_to_place(local_place_behind(slot, 2 * slots), parts[2]);
  add_to_place(local_place_behind(slot, 3 * slots), parts[3]);
  return 1;
}
#else
#define SPLIT_FLOATS 0
#endif

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
