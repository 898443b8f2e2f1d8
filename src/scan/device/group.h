// What a group does with the elements of a tile, for scan.cl and once.cl, after prefix.h.
//
// Defined by the host, beside what prefix.h names: NUMBER_OF(x), of an ELEMENT; WORD, of the size of the greater of an ELEMENT and a RESULT;
// SINGLE, whether a NUMBER is a float; SEGMENTS, whether scans begin anew within the array; GROUP_SIZE, a power of two; ITEMS, the elements of a work-item, a power of two up to 16.

#define TILE (GROUP_SIZE * ITEMS)
// Where element i of a tile stands in local memory: a work-item's ITEMS neighbours begin in a bank of their own.
#define PLACE(i) ((i) + (i) / ITEMS)

// What comes of parts of a group passes through local memory: of its sub-groups, or of each work-item where there are none.
#if SUBGROUP > 1
#define PARTS (GROUP_SIZE / SUBGROUP)
#else
#define PARTS GROUP_SIZE
#endif

FN void share_prefix(LOCAL ulong* to, PREFIX p) {
#pragma unroll
  for (uint i = 0; i < PREFIX_WORDS; ++i) to[i * PARTS] = prefix_word(&p, i);
}
FN PREFIX shared_prefix(LOCAL const ulong* from) {
  PREFIX p = prefix_zero();
#pragma unroll
  for (uint i = 0; i < PREFIX_WORDS; ++i) prefix_set(&p, i, from[i * PARTS]);
  return p;
}

// Where scans begin anew is a bit for each element. Parts are merged by (flag, prefix) pairs: one whose flag is set has a start, and forgets what is
// before that (G. Blelloch, Prefix sums and their applications, 1990).

// Bits for the `size` elements from `first` on: `size` divides 32 and `first`.
FN uint starts_at(GLOBAL const uint* starts, ulong first, uint size) {
#if SEGMENTS
  const uint bits = starts[first / 32] >> (uint)(first % 32);
  return size == 32 ? bits : bits & (((uint)1 << size) - 1);
#else
  return 0;
#endif
}

#if SEGMENTS
#define FLAGS GROUP_SIZE
#else
#define FLAGS 1
#endif

// p and what is before it; and of their flags.
FN PREFIX prefix_behind(PREFIX before, uint flag_before, PREFIX p, uint* flag) {
  if (*flag == 0) p = prefix_merge(before, p);
  *flag |= flag_before;
  return p;
}

#if SUBGROUP > 1
FN PREFIX prefix_of_lane(const PREFIX* p, uint lane) {
  PREFIX other = prefix_zero();
#pragma unroll
  for (uint i = 0; i < PREFIX_WORDS; ++i) prefix_set(&other, i, (ulong)subgroup_shuffle64((long)prefix_word(p, i), lane));
  return other;
}
#if SEGMENTS
#define FLAG_OF_LANE(flag, lane) subgroup_shuffle(flag, lane)
#else
#define FLAG_OF_LANE(flag, lane) 0
#endif

// Of the first `lanes` lanes, a power of two, what comes of those up to each.
FN PREFIX subgroup_prefix(PREFIX p, uint* flag, uint lanes) {
  const uint lane = local_id() % SUBGROUP;
  for (uint distance = 1; distance < lanes; distance *= 2) {
    const uint from = lane >= distance ? lane - distance : lane;
    const PREFIX before = prefix_of_lane(&p, from);
    const uint flag_before = FLAG_OF_LANE(*flag, from);
    if (lane >= distance) p = prefix_behind(before, flag_before, p, flag);
  }
  return p;
}

// From that, what comes of the lanes before each.
FN PREFIX subgroup_before(PREFIX p, uint* flag) {
  const uint lane = local_id() % SUBGROUP, from = lane != 0 ? lane - 1 : 0;
  p = prefix_of_lane(&p, from);
  *flag = FLAG_OF_LANE(*flag, from);
  if (lane != 0) return p;
  *flag = 0;
  return prefix_zero();
}
#endif

#if KIND == SUMS || KIND == PAIRS
// The exponents, as doubles have them, of the greatest of a work-item's elements, and of the least that is not zero; an infinity or a NaN has one that
// is far greater. An element is less than 2 to the next exponent, and a multiple of 2 to its own less FRACTION_BITS.
typedef struct {
  int greatest, least;
} SPAN;
#if SINGLE
#define FRACTION_BITS 23
#else
#define FRACTION_BITS 52
#endif

FN SPAN span_of(const NUMBER* x) {
  SPAN span;
  uint greatest = 0;
  uint least = ~0u;
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
#if SINGLE
    const uint magnitude = as_uint(x[k]) & 0x7fffffffu, nonzero = magnitude - 1;  // of zeros the greatest number; of others the exponent, or one less
#else
    const ulong bits = as_ulong(x[k]);
    const uint magnitude = (uint)(bits >> 32) & 0x7fffffffu, nonzero = (magnitude | (uint)bits) != 0 ? magnitude : ~0u;
#endif
    greatest = greatest > magnitude ? greatest : magnitude;
    least = least < nonzero ? least : nonzero;
  }
#if SINGLE
  span.greatest = greatest >= 0x7f800000u ? 9999 : (int)(greatest >> 23 > 1 ? greatest >> 23 : 1) + (1023 - 127);
  span.least = (int)(least >> 23 > 1 ? least >> 23 : 1) + (1023 - 127);
#else
  span.greatest = greatest >= 0x7ff00000u ? 9999 : (int)(greatest >> 20 > 1 ? greatest >> 20 : 1);
  span.least = (int)(least >> 20 > 1 ? least >> 20 : 1);
#endif
  return span;
}

// Whether sums of some of these elements, at most 2^4, are exact as doubles: they are less than 2^(greatest + 5).
FN uint adds_up(SPAN span) { return SINGLE && span.greatest <= span.least + 48 - FRACTION_BITS; }
#endif

#if KIND == PAIRS
// Whether these elements, at most 2^4, can be added to s + e by fast_pair_add(), and the e of no sum is rounded. Let 2^top <= |s| < 2^(top + 1). The elements
// add up to less than 2^(greatest + 5), which is at most 2^(top - 1): so sums stay above that, and above all elements, and below 2^(top + 2). Their errors
// are at most 2^(top - 52) each, 2^(top - 48) together; with an e that is less than that, there are always less than 2^53 of any unit from
// 2^(top - 100) on, of which s, e and the elements have to be multiples.
FN uint adds_fast(PAIR p, SPAN span) {
  const ulong bits = as_ulong(p.e);
  const int top = (int)(as_ulong(p.s) >> 52 & 0x7ff), of_e = (int)(bits >> 52 & 0x7ff), below = top - 48 - of_e;
#if NARROW
  if (top < 1023 - 100 || top > 1023 + 120) return 0;
#else
  if (top > 2040) return 0;
#endif
  const uint fits = p.e == 0 || (below > 0 && below <= 52 && (bits & (((ulong)1 << below) - 1)) == 0);
  return fits && top >= span.greatest + 6 && top <= span.least + 100 - FRACTION_BITS;
}

FN PAIR fast_pair_add(PAIR p, double x) {
  const double s = p.s + x;
  p.e += x - (s - p.s);  // the error, where |s| >= |x| (T. Dekker, A floating-point technique for extending the available precision, 1971)
  p.s = s;
  return p;
}

FN RESULT fast_pair_finish(PAIR p) {
  const double sum = p.s + p.e;
#if NARROW
  if (((uint)as_ulong(sum) & 0x1fffffffu) == 0x10000000u) return nearest_float(sum, error_of_sum(p.s, p.e, sum));
  return (float)sum;
#else
  return sum;
#endif
}
#endif

// What comes of the work-item's elements, of which none is a start, behind p; of PAIRS that is zero.
FN PREFIX prefix_add_items(PREFIX p, const NUMBER* x) {
#if KIND == SUMS || KIND == PAIRS
  const SPAN span = span_of(x);
  if (adds_up(span)) {
    double all = -0.0;
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) all += (double)x[k];
#if KIND == SUMS
    return bounded_add(p, all);
#else
    return pair_add(p, all);
#endif
  }
#if KIND == PAIRS
  // Errors of at most 2^(greatest - 49) each, of up to 16 sums: no e is rounded.
  if (span.greatest < span.least + 98 - FRACTION_BITS) {
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) {
      const double s = p.s + (double)x[k];
      p.e += error_of_sum(p.s, (double)x[k], s);
      p.s = s;
    }
    return p;
  }
#endif
#endif
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) p = prefix_add(p, x[k]);
  return p;
}

// The results of the work-item's elements behind `p`; those that are not known, a bit each.
FN uint finish_items(PREFIX p, const NUMBER* x, uint bits, LOCAL RESULT* to) {
  uint unknown = 0;
#if KIND == SUMS && SINGLE
  if (bits == 0 && adds_up(span_of(x))) {
    // Sums of these elements alone are exact: one addition to what is before them is all that can have an error.
    double all = -0.0;
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) {
      all += (double)x[k];
      const BOUNDED sum = bounded_add(p, all);
      RESULT result = 0;
      unknown |= prefix_finish(sum, &result) << k;
      to[k] = result;
    }
    return unknown;
  }
#elif KIND == PAIRS
  if (bits == 0 && adds_fast(p, span_of(x))) {
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) {
      p = fast_pair_add(p, (double)x[k]);
      to[k] = fast_pair_finish(p);
    }
    return 0;
  }
#endif
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    RESULT result = 0;
    if (bits >> k & 1) p = prefix_zero();
    p = prefix_add(p, x[k]);
    unknown |= prefix_finish(p, &result) << k;
    to[k] = result;
  }
  return unknown;
}

// Elements and results pass through local memory, so that neighbouring work-items access neighbours in global memory: ITEMS neighbours are a
// work-item's own. The caller lets no work-item come here again before all have left.
FN void load_tile(GLOBAL const ELEMENT* from, ulong left, LOCAL ELEMENT* elements, NUMBER* x) {
  const uint id = local_id();
  if (left >= TILE) {
    ELEMENT loaded[ITEMS];  // all loads before the first store: these wait for nothing else
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) loaded[k] = from[k * GROUP_SIZE + id];
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) elements[PLACE(k * GROUP_SIZE + id)] = loaded[k];
  } else {
    for (uint i = id; i < TILE; i += GROUP_SIZE) elements[PLACE(i)] = i < left ? from[i] : (ELEMENT)0;
  }
  barrier_local();
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) x[k] = NUMBER_OF(elements[id * (ITEMS + 1) + k]);
}

// What comes of the work-item's elements, from the last of its starts on.
FN PREFIX items_prefix(const NUMBER* x, uint bits) {
  PREFIX p = prefix_zero();
  if (bits == 0) return prefix_add_items(p, x);
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    if (bits >> k & 1) p = prefix_zero();
    p = prefix_add(p, x[k]);
  }
  return p;
}

// Finishes and stores the results of a tile that begins at `first`, `wanted` of them: p is what lies before the work-item's elements, `shift` 1 for exclusive
// prefixes, which lie one place further on. Not 0 where a result is not known.
FN uint store_tile(PREFIX p, const NUMBER* x, uint bits, LOCAL RESULT* results, GLOBAL RESULT* to, ulong first, ulong wanted, ulong shift,
                   GLOBAL const uint* starts) {
  const uint id = local_id();
  const uint unknown = finish_items(p, x, bits, results + id * (ITEMS + 1));
  const ulong place = (ulong)id * ITEMS;
  uint counted = place + ITEMS <= wanted ? ~0u : place < wanted ? (1u << (uint)(wanted - place)) - 1 : 0;
#if SEGMENTS
  // An exclusive scan begins with that of no elements: what would come there is not used.
  if (shift != 0) counted &= ~(bits >> 1 | starts_at(starts, first + place + ITEMS, 1) << (ITEMS - 1));
#endif
  barrier_local();
  to += first;
  if (wanted >= TILE) {
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) {
      const uint i = k * GROUP_SIZE + id;
      RESULT result = results[PLACE(i)];
#if SEGMENTS
      if (shift != 0 && starts_at(starts, first + i + 1, 1) != 0) result = 0;
#endif
      to[i] = result;
    }
  } else {
    for (uint i = id; i < TILE; i += GROUP_SIZE) {
      if (i < wanted) to[i] = shift != 0 && starts_at(starts, first + i + 1, 1) != 0 ? (RESULT)0 : results[PLACE(i)];
    }
  }
  if (shift != 0 && first == 0 && id == 0) to[-1] = 0;
  return unknown & counted;
}
