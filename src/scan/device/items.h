// The prefix state of a work-item's elements, and their results. Included after group.h.
//
// Defined by the host, beside what stage.h names: SINGLE, whether a NUMBER is a float.

#if KIND == SUMS || KIND == PAIRS
// The exponents, as those of doubles, of a work-item's element of the greatest magnitude, and of that of the least magnitude other than zero. Infinities and
// NaNs count as 9999. The magnitude of an element with exponent e is less than 2^(e + 1) and a multiple of 2^(e - FRACTION_BITS).
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

#define ITEM_BITS (ITEMS > 16 ? 5 : 4)  // a work-item has at most 2^ITEM_BITS elements

// Whether sums of some of the elements are exact as doubles: they are less than 2^(greatest + 1 + ITEM_BITS).
FN uint adds_up(SPAN span) { return SINGLE && span.greatest <= span.least + 52 - ITEM_BITS - FRACTION_BITS; }
#endif

#if KIND == PAIRS
// Whether the elements can be added to s + e by fast_pair_add(), and the e of no sum is rounded. Let 2^top <= |s| < 2^(top + 1), and b be ITEM_BITS. The
// elements add up to less than 2^(greatest + 1 + b), which is at most 2^(top - 1): so sums stay above that, and above all elements, and below 2^(top + 2).
// Their errors are at most 2^(top - 52) each, 2^(top - 52 + b) together; with an e that is less than that, there are always less than 2^53 of any unit from
// 2^(top - 104 + b) on, of which s, e and the elements have to be multiples.
FN uint adds_fast(PAIR p, SPAN span) {
  const ulong bits = as_ulong(p.e);
  const int top = (int)(as_ulong(p.s) >> 52 & 0x7ff), of_e = (int)(bits >> 52 & 0x7ff), below = top - 52 + ITEM_BITS - of_e;
#if NARROW
  if (top < 1023 - 100 || top > 1023 + 120) return 0;
#else
  if (top > 2040) return 0;
#endif
  const uint fits = p.e == 0 || (below > 0 && below <= 52 && (bits & (((ulong)1 << below) - 1)) == 0);
  return fits && top >= span.greatest + 2 + ITEM_BITS && top <= span.least + 104 - ITEM_BITS - FRACTION_BITS;
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

// The state after the state p and the work-item's elements, none of which is a start. Of PAIRS p is zero.
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
  // Errors of at most 2^(greatest - 53 + b) each, 2^(greatest - 53 + 2 b) together: no e is rounded.
  if (span.greatest < span.least + 106 - 2 * ITEM_BITS - FRACTION_BITS) {
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

// The number of results that are stored together: 16 bytes of float32, which take a quarter of the time of four stores.
#define BLOCK (ITEMS < 4 ? ITEMS : 4)
FN void stage_block(LOCAL uint4* stage, uint first, const RESULT* results) {
#pragma unroll
  for (uint i = 0; i < BLOCK; ++i) *staged_result(stage, first + i) = results[i];
}

// Writes the results of the work-item's elements after the state `p` to the group's stage. Returns a bit for each result that is not known.
FN uint finish_items(PREFIX p, const NUMBER* x, uint bits, LOCAL uint4* stage) {
  uint unknown = 0;
  RESULT results[BLOCK];
#if KIND == SUMS && SINGLE
  if (bits == 0 && adds_up(span_of(x))) {
    // Sums of these elements alone are exact: one addition to what is before them is all that can have an error.
    double all = -0.0;
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) {
      all += (double)x[k];
      const BOUNDED sum = bounded_add(p, all);
      unknown |= prefix_finish(sum, &results[k % BLOCK]) << k;
      if (k % BLOCK == BLOCK - 1) stage_block(stage, k + 1 - BLOCK, results);
    }
    return unknown;
  }
#elif KIND == PAIRS
  if (bits == 0 && adds_fast(p, span_of(x))) {
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) {
      p = fast_pair_add(p, (double)x[k]);
      results[k % BLOCK] = fast_pair_finish(p);
      if (k % BLOCK == BLOCK - 1) stage_block(stage, k + 1 - BLOCK, results);
    }
    return 0;
  }
#endif
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    if (bits >> k & 1) p = prefix_zero();
    p = prefix_add(p, x[k]);
    unknown |= prefix_finish(p, &results[k % BLOCK]) << k;
    if (k % BLOCK == BLOCK - 1) stage_block(stage, k + 1 - BLOCK, results);
  }
  return unknown;
}

// The aggregate of the work-item's elements, from the last of its starts on.
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

// Which of the work-item's results are written, of the `wanted` of a tile that begins at `first`, a bit each.
FN uint wanted_items(uint bits, ulong first, ulong wanted, ulong shift, GLOBAL const uint* starts) {
  const ulong place = (ulong)local_id() * ITEMS;
  uint written = place + ITEMS <= wanted ? ~0u : place < wanted ? (1u << (uint)(wanted - place)) - 1 : 0;
#if SEGMENTS
  // An exclusive scan begins with that of no elements: what would come there is not used.
  if (shift != 0) written &= ~(bits >> 1 | starts_at(starts, first + place + ITEMS, 1) << (ITEMS - 1));
#endif
  return written;
}

#if KIND == PAIRS && SINGLE && !SEGMENTS && SUBGROUP == 32 && ITEMS >= 4
// The sum of a sub-group's elements from its first one up to any other is mostly exact as a double.
#define TEAM_SUMS 1
#define TEAM_BITS (ITEMS > 16 ? 10 : 9)  // a sub-group has at most 2^TEAM_BITS elements

FN SPAN team_span(SPAN span) {
  span.greatest = subgroup_max_s32(span.greatest);
  span.least = (int)subgroup_min_u32((uint)span.least);
  return span;
}
FN uint team_adds_up(SPAN span) { return span.greatest <= span.least + 52 - TEAM_BITS - FRACTION_BITS; }

// If team_adds_up(): the sum of all elements before those of this work-item; and that of all elements.
FN double team_sums(const NUMBER* x, double* all) {
  double part[4];
#pragma unroll
  for (uint k = 0; k < 4; ++k) part[k] = (double)x[k];
#pragma unroll
  for (uint k = 4; k < ITEMS; ++k) part[k % 4] += (double)x[k];
  double sum = (part[0] + part[1]) + (part[2] + part[3]);
  const uint lane = local_id() % SUBGROUP;
#pragma unroll
  for (uint distance = 1; distance < SUBGROUP; distance *= 2) {
    const double before = as_double((ulong)subgroup_shuffle64((long)as_ulong(sum), (lane - distance) % SUBGROUP));
    sum = lane >= distance ? before + sum : sum;
  }
  *all = as_double((ulong)subgroup_shuffle64((long)as_ulong(sum), SUBGROUP - 1));
  const double before = as_double((ulong)subgroup_shuffle64((long)as_ulong(sum), (lane - 1) % SUBGROUP));
  return lane != 0 ? before : -0.0;
}

// Whether a sum s and the sub-group's elements add up to an exact double: all are multiples of the unit of the least element, and less than 2^53 of it.
FN uint team_adds_to(double s, SPAN span) {
  if (s == 0) return 1;
  const ulong bits = as_ulong(s);
  const int zeros = span.least - FRACTION_BITS + 52 - (int)(bits >> 52 & 0x7ff);  // bits of s below the unit
  return zeros > 0 && zeros <= 52 && (bits & (((ulong)1 << zeros) - 1)) == 0 && span.greatest < span.least + 52 - TEAM_BITS - FRACTION_BITS;
}

// Writes the results of elements after the state `p` and the exact sum `sum` to the stage. Returns 0 if they must be computed in another way.
//
// Let r be the double nearest to s + sum. If e is 0, r is s + e + sum rounded once. A float is nearest to r and to what that has been rounded from, unless r is
// in the middle between two floats: then bits of r that a float lacks are 1000…. If e is not 0, it is at most half a place of s; let |sum| be at most |s| / 2,
// so that r has places of at least half that size, and e and the rounding error are less than two of them.
FN uint finish_team_sums(PAIR p, double sum, const NUMBER* x, SPAN span, LOCAL uint4* stage) {
  const uint exact = p.e == 0 && team_adds_to(p.s, span);
#if NARROW
  const int top = (int)(as_ulong(p.s) >> 52 & 0x7ff);
  const uint in_range = top >= 1023 - 60 && top < 1023 + 120 && span.least >= 1023 - 80;  // sums other than 0 are normal floats
  if (!exact && !(in_range && (p.e == 0 || top >= span.greatest + TEAM_BITS + 2))) return 0;
  uint nearest = ~0u;
  float results[BLOCK];
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    sum += (double)x[k];
    const double r = p.s + sum;
    nearest = min_u32(nearest, ((uint)as_ulong(r) << 3) - 0x7ffffff0u);  // at most 32 of numbers that are two places from a middle
    results[k % BLOCK] = (float)r;
    if (k % BLOCK == BLOCK - 1) stage_block(stage, k + 1 - BLOCK, results);
  }
  return exact || nearest > 32;
#else
  if (!exact && p.e != 0) return 0;
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    sum += (double)x[k];
    *staged_result(stage, k) = p.s + sum;
  }
  return 1;
#endif
}
#endif
