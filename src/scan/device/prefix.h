// What a scan keeps of the elements so far, as the type PREFIX of `PREFIX_WORDS` words. All are exact, or know by how much they are not: so
// it does not matter for a result in which order neighbours are merged.
//
//   prefix_zero()           of no elements
//   prefix_add(p, x)        with the element x, as a NUMBER, behind the others
//   prefix_merge(p, q)      where the elements of q are behind those of p
//   prefix_settled(p)       the same, as it is best kept for many more to come
//   prefix_word(&p, i), prefix_set(&p, i, word)   to and from memory
//   prefix_finish(p, &to)   the RESULT; 1 where it is not known here
//
// Defined by the host: KIND, one of those below; ELEMENT, in which elements lie; NUMBER, in which they are computed with (of extremes their
// bits); SIGNED; RESULT; NARROW, where that is a float; SKIP (of NaNs); of extremes LEAST, and INFINITE: the bits of infinity, or 0 for
// integers.
#define SUMS 0       // of floats, as two doubles and a bound of what these leave out (bounded_sum.h)
#define WIDE_SUMS 1  // of floats, of more terms, with infinities and NaNs (wide_expansion.h)
#define INTEGERS 2   // sums in 64 bits: of numbers that fit
#define LONG_SUMS 3  // in 128
#define COUNTS 4     // of elements that are not zero
#define EXTREMES 5
#define PAIRS 6      // sums of floats, as two doubles that hold them, or do not (exact_pair.h)

#if KIND == SUMS

#define PREFIX BOUNDED
#define PREFIX_WORDS 3
#define prefix_zero bounded_zero
#define prefix_merge bounded_merge
FN PREFIX prefix_add(PREFIX p, NUMBER x) {
#if SKIP
  if (!(x == x)) return p;
#endif
  return bounded_add(p, (double)x);
}
FN ulong prefix_word(const PREFIX* p, uint i) { return as_ulong(i == 0 ? p->s : i == 1 ? p->e : p->bound); }
FN void prefix_set(PREFIX* p, uint i, ulong word) {
  if (i == 0) p->s = as_double(word);
  if (i == 1) p->e = as_double(word);
  if (i == 2) p->bound = as_double(word);
}
FN uint prefix_finish(PREFIX p, RESULT* to) {
#if NARROW
  const uint unknown = bounded_to_float(p, to);
#else
  const uint unknown = bounded_rounded(p, to);
#endif
#if SKIP
  return unknown | (*to == 0 && 1 / *to < 0);  // of no elements it is +0.0
#else
  return unknown;
#endif
}

#elif KIND == PAIRS

#define PREFIX PAIR
#define PREFIX_WORDS 2
#define prefix_zero pair_zero
#define prefix_merge pair_merge
#define prefix_settled pair_normalized
FN PREFIX prefix_add(PREFIX p, NUMBER x) {
#if SKIP
  if (!(x == x)) return p;
#endif
  return pair_add(p, (double)x);
}
FN ulong prefix_word(const PREFIX* p, uint i) { return as_ulong(i == 0 ? p->s : p->e); }
FN void prefix_set(PREFIX* p, uint i, ulong word) {
  if (i == 0) p->s = as_double(word);
  if (i == 1) p->e = as_double(word);
}
FN uint prefix_finish(PREFIX p, RESULT* to) {
#if NARROW
  const uint unknown = pair_to_float(p, to);
#else
  const uint unknown = pair_rounded(p, to);
#endif
#if SKIP
  return unknown | (*to == 0 && 1 / *to < 0);  // of no elements it is +0.0
#else
  return unknown;
#endif
}

#elif KIND == WIDE_SUMS

#define PREFIX WIDE
#define PREFIX_WORDS (WIDE_TERMS + 2)
#define prefix_zero wide_zero
#define prefix_merge wide_merge
FN PREFIX prefix_add(PREFIX p, NUMBER x) {
#if SKIP
  if (!(x == x)) return p;
#endif
  return wide_add(p, (double)x);
}
FN ulong prefix_word(const PREFIX* p, uint i) {
  return i < WIDE_TERMS ? as_ulong(p->term[i]) : i == WIDE_TERMS ? as_ulong(p->special) : (ulong)p->inexact | (ulong)p->any << 32;
}
FN void prefix_set(PREFIX* p, uint i, ulong word) {
  if (i < WIDE_TERMS) {
    p->term[i] = as_double(word);
  } else if (i == WIDE_TERMS) {
    p->special = as_double(word);
  } else {
    p->inexact = (uint)word;
    p->any = (uint)(word >> 32);
  }
}
FN uint prefix_finish(PREFIX p, RESULT* to) {
#if NARROW
  return wide_to_float(p, to);
#else
  return wide_rounded(p, to);
#endif
}

#elif KIND == INTEGERS || KIND == COUNTS

#define PREFIX long
#define PREFIX_WORDS 1
FN PREFIX prefix_zero(void) { return 0; }
FN PREFIX prefix_add(PREFIX p, NUMBER x) {
#if KIND == INTEGERS
  return p + (long)x;
#elif SKIP
  return p + (x != 0 && x == x);
#else
  return p + (x != 0);
#endif
}
FN PREFIX prefix_merge(PREFIX p, PREFIX q) { return p + q; }
FN ulong prefix_word(const PREFIX* p, uint i) { return (ulong)*p; }
FN void prefix_set(PREFIX* p, uint i, ulong word) { *p = (long)word; }
FN uint prefix_finish(PREFIX p, RESULT* to) {
  *to = (RESULT)p;
  return 0;
}

#elif KIND == LONG_SUMS

typedef struct {
  ulong low, high;
} PREFIX;
#define PREFIX_WORDS 2
FN PREFIX prefix_zero(void) {
  PREFIX p;
  p.low = p.high = 0;
  return p;
}
FN PREFIX prefix_merge(PREFIX p, PREFIX q) {
  p.low += q.low;
  p.high += q.high + (p.low < q.low);
  return p;
}
FN PREFIX prefix_add(PREFIX p, NUMBER x) {
  PREFIX q;
  q.low = (ulong)x;
  q.high = 0;
#if SIGNED
  if (x < 0) q.high = ~(ulong)0;
#endif
  return prefix_merge(p, q);
}
FN ulong prefix_word(const PREFIX* p, uint i) { return i == 0 ? p->low : p->high; }
FN void prefix_set(PREFIX* p, uint i, ulong word) {
  if (i == 0) p->low = word;
  if (i == 1) p->high = word;
}
FN uint prefix_finish(PREFIX p, RESULT* to) {
  *to = (RESULT)p.low;
#if SIGNED
  return p.high != (p.low >> 63 != 0 ? ~(ulong)0 : 0);
#else
  return p.high != 0;
#endif
}

#else

// The key of an element is in the order of the elements, -0.0 below +0.0; of the least one all its bits are inverted.
typedef struct {
  ulong key;
  uint any, nan;
} PREFIX;
#define PREFIX_WORDS 2
#define KEY_BITS (8 * (uint)sizeof(ELEMENT))
#define KEY_TOP ((ulong)1 << (KEY_BITS - 1))
#define KEY_MASK (KEY_TOP | (KEY_TOP - 1))

FN PREFIX prefix_zero(void) {
  PREFIX p;
  p.key = 0;
  p.any = p.nan = 0;
  return p;
}
FN PREFIX prefix_merge(PREFIX p, PREFIX q) {
  if (q.any != 0 && (p.any == 0 || q.key > p.key)) p.key = q.key;
  p.any |= q.any;
  p.nan |= q.nan;
  return p;
}
FN PREFIX prefix_add(PREFIX p, NUMBER x) {
  PREFIX q;
  ulong key = (ulong)x & KEY_MASK;  // bits
  q.nan = 0;
#if INFINITE
  q.nan = (key & (KEY_TOP - 1)) > INFINITE;
  key ^= (key & KEY_TOP) != 0 ? KEY_MASK : KEY_TOP;
#elif SIGNED
  key ^= KEY_TOP;
#endif
  q.any = q.nan == 0;
#if LEAST
  key ^= KEY_MASK;
#endif
  q.key = key;
  return prefix_merge(p, q);
}
FN ulong prefix_word(const PREFIX* p, uint i) { return i == 0 ? p->key : (ulong)p->any | (ulong)p->nan << 32; }
FN void prefix_set(PREFIX* p, uint i, ulong word) {
  if (i == 0) p->key = word;
  if (i == 1) {
    p->any = (uint)word;
    p->nan = (uint)(word >> 32);
  }
}
FN uint prefix_finish(PREFIX p, RESULT* to) {
  ulong key = p.key;
#if LEAST
  key ^= KEY_MASK;
#endif
#if INFINITE
  key ^= (key & KEY_TOP) != 0 ? KEY_TOP : KEY_MASK;
#elif SIGNED
  key ^= KEY_TOP;
#endif
  *to = (RESULT)key;
#if INFINITE && !SKIP
  if (p.nan != 0) {
    *to = (RESULT)(INFINITE | INFINITE >> 1);  // the quiet one
    return 0;
  }
#endif
  return p.any == 0;  // of NaNs alone there is none
}

#endif

#ifndef prefix_settled
#define prefix_settled(p) (p)
#endif

// In global memory its words lie apart, so that neighbours access neighbours.
FN void store_prefix(GLOBAL ulong* to, ulong apart, PREFIX p) {
#pragma unroll
  for (uint i = 0; i < PREFIX_WORDS; ++i) to[i * apart] = prefix_word(&p, i);
}
FN PREFIX stored_prefix(GLOBAL const ulong* from, ulong apart) {
  PREFIX p = prefix_zero();
#pragma unroll
  for (uint i = 0; i < PREFIX_WORDS; ++i) prefix_set(&p, i, from[i * apart]);
  return p;
}
