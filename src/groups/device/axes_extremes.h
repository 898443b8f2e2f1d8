// Extremes along axes, or their positions, for axes.cl. The host defines:
//   KEY               the signed integer that an element is compared as
//   BITS_OF(x)        an element's bits as a KEY: of integers its order, of narrow floats the upper bits
//   ELEMENT_OF(bits)  the element with these bits
//   FLOATS            whether elements are floats, INFINITY_BITS and NAN_BITS those of infinity and of the NaN that stands for all
//   GREATEST_KEY      of KEY
//   LEAST, INDEXED    whether the least element is wanted; whether its position is
//   MISSING           an element that wins against none: NaN if NaNs are left out
// Keys are complemented for the least element, so that the greatest key always wins. A NaN is greater than all numbers, or, if it is left out, less.
#if INDEXED
#define RESULT ulong
#else
#define RESULT ELEMENT
#endif
#define NO_KEY (-GREATEST_KEY - 1)

typedef struct {
  KEY key;
#if INDEXED
  ulong index;
#endif
} SUM;
#define SUM_WORDS (INDEXED ? 2 : 1)

FN SUM sum_zero(void) {
  SUM x;
  x.key = NO_KEY;
#if INDEXED
  x.index = ~(ulong)0;
#endif
  return x;
}
FN SUM sum_merge(SUM x, SUM y) {
#if INDEXED
  const uint other = y.key > x.key || (y.key == x.key && y.index < x.index);
  x.index = other ? y.index : x.index;
#else
  const uint other = y.key > x.key;
#endif
  x.key = other ? y.key : x.key;
  return x;
}
FN ulong word_of(SUM x, uint i) {
#if INDEXED
  if (i == 1) return x.index;
#endif
  return (ulong)x.key;
}
FN SUM sum_of_words(const ulong* words) {
  SUM x;
  x.key = (KEY)words[0];
#if INDEXED
  x.index = words[1];
#endif
  return x;
}

FN KEY key_of(ELEMENT x) {
  const KEY bits = BITS_OF(x);
#if FLOATS
  if ((bits & GREATEST_KEY) > INFINITY_BITS) return SKIP ? NO_KEY : GREATEST_KEY;
  const KEY key = bits < 0 ? bits ^ GREATEST_KEY : bits;
#else
  const KEY key = bits;
#endif
  return LEAST ? ~key : key;
}

FN uint finished(SUM x, ulong count, int what, ulong ddof, GLOBAL RESULT* to) {
#if FLOATS
  if (x.key == NO_KEY) return 1;  // no numbers
#endif
#if INDEXED
  *to = x.key == NO_KEY ? 0 : x.index;  // if all elements are the least of their type, it is the first
#else
  KEY bits = LEAST ? ~x.key : x.key;
#if FLOATS
  bits = x.key == GREATEST_KEY ? NAN_BITS : bits < 0 ? bits ^ GREATEST_KEY : bits;
#endif
  *to = ELEMENT_OF(bits);
#endif
  return 0;
}

FN SUM add_all(SUM sum, const ELEMENT* x, uint count, ulong first, ulong apart, uint together) {
#pragma unroll
  for (uint k = 0; k < count; ++k) {
    const KEY key = key_of(x[k]);
    const uint greater = key > sum.key;
#if INDEXED
    sum.index = greater ? first + k / together * apart + k % together : sum.index;
#endif
    sum.key = greater ? key : sum.key;
  }
  return sum;
}
