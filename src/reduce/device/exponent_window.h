// Exact sums in registers, so that most elements need no bins.
//
// A running sum of float64 starts at an anchor 1.5 * 2^k and stays in its binade, where float64 numbers are the multiples of 2^(k-52). Sums of such
// multiples are exact. Any other number is cut at that spacing: the first sum takes the nearest multiple; the next sum, with a lower anchor, takes
// the exact rest. (Demmel and Nguyen, Fast Reproducible Floating-Point Summation, ARITH 2013.) A sub-group's window is the range of magnitudes for
// which the last sum leaves no rest: exponent fields from `top` - WINDOW_SPAN to `top`. If any work-item of the sub-group has a load with a number
// outside of it, all of them add their loads to the bins, so that the sub-group does not diverge. A window that misses more than an eighth of the
// loads is closed for a while, because bins alone are faster then.

#if WINDOWS
#define HEADROOM 8                  // a sum takes 2^HEADROOM numbers before it is emptied into the bins
#define NEXT_BELOW (52 - HEADROOM)  // from one sum's anchor to the next one's
#define BIAS ((1 << (EXPONENT_BITS - 1)) - 1)
#define TOP_SHIFT (BITS == 64 ? 20 : FRACTION_BITS)  // of the exponent field, in a size class

#define LOADS_A_WINDOW (ELEMENTS_A_WINDOW / ELEMENTS_PER_LOAD)
// A condition on the second array, if there is one: after || and after &&. Macros, because some compilers warn of constants there.
#define OR_OF_B(condition) (DOT && (condition))
#define AND_OF_B(condition) (!DOT || (condition))
#define PERIODS_CLOSED 31  // the sums are emptied this many times before a closed window is opened again
#if LANES > 1
#define GREATEST_OF_LANES(value) subgroup_max_s32(value)
#else
#define GREATEST_OF_LANES(value) (value)
#endif

#if BITS == 64
#define SUMS 2
#define PRODUCT_SUMS 4
#define WINDOW_SPAN 34         // NEXT_BELOW - HEADROOM - 2 by two sums, (4 NEXT_BELOW - 107) / 2 by four of products
#define LEAST_TOP 600          // from where on no product's lowest bit, nor a sum's spacing, is denormal
#define MOST_TOP 1528          // up to where no sum of products overflows
#define ELEMENTS_A_WINDOW 128  // two numbers of each product go into one sum
#if PRODUCTS && !DOT
#define NARROW_SPAN 12  // (3 NEXT_BELOW - 107) / 2: by three sums of squares
#endif
#else
#define SUMS (BITS == 32 ? 2 : 1)
#define PRODUCT_SUMS (BITS == 32 ? 3 : 2)
#define ELEMENTS_A_WINDOW 256
#define GREATEST_FIELD ((1 << EXPONENT_BITS) - 2)
#if BITS == 32
// 27 - HEADROOM by one sum and NEXT_BELOW more by two; (55 - 2 HEADROOM) / 2 by two sums of products and NEXT_BELOW / 2 more by three.
#define WINDOW_SPAN (!PRODUCTS ? 63 : 41)
#define LEAST_TOP (SUM ? 65 : 43)
#define MOST_TOP GREATEST_FIELD
#if PRODUCTS && !DOT
#define NARROW_SPAN 19  // by one sum and two sums of squares
#endif
#elif EXPONENT_BITS == 8
#define WINDOW_SPAN 35  // likewise, with mantissas of 8 bits
// Products a·b of numbers in two windows are normal float32 numbers, and none overflows.
#define LEAST_TOP (DOT ? 99 : 37)
#define MOST_TOP (DOT ? 190 : GREATEST_FIELD)
#if PRODUCTS && !DOT
#define NARROW_SPAN 13  // (49 - HEADROOM - 2 FRACTION_BITS) / 2: squares of such numbers are multiples of the first sum's spacing
#endif
#else  // all finite numbers: the spacing of the sums is that of the least of them, and of its square
#define WINDOW_SPAN 29
#define MOST_TOP GREATEST_FIELD
#define LEAST_TOP MOST_TOP
#endif
#endif

typedef struct {
  double sum0, sum1;
  double product0, product1, product2, product3;
  uint a_top, b_top;       // exponent fields
  uint fixed;              // until the sums are emptied so often; PERIOD of it for each, and one for each load since they last were
  int a_missed, b_missed;  // the greatest size class, less one, of a load that it did not hold
} WINDOW;

// 1.5 * 2^exponent
FN double anchor(int exponent) { return as_double((ulong)(1023 + exponent) << 52 | (ulong)1 << 51); }
#if EXPONENT_BITS == 5
#define sum_exponent(w) (52 - LOWEST_BIT)
#define product_exponent(w) (52 + NEXT_BELOW - 2 * LOWEST_BIT)
#else
FN int sum_exponent(WINDOW w) { return (int)w.a_top - BIAS + 1 + HEADROOM + 1; }
FN int product_exponent(WINDOW w) { return (int)(w.a_top + (DOT ? w.b_top : w.a_top)) - 2 * BIAS + 2 + HEADROOM + 1; }
#endif
#if BITS == 32
FN double double_of(WORD x) { return as_float(x); }
#elif BITS == 16 && EXPONENT_BITS == 8
FN double double_of(WORD x) { return bfloat16_to_double((ushort)x); }
FN float float_of(WORD x) { return as_float(x << 16); }
#elif BITS == 16
FN double double_of(WORD x) { return half_to_double((ushort)x); }
FN float float_of(WORD x) { return half_to_float((ushort)x); }
#endif

FN WINDOW open_window(uint a_top, uint b_top) {
  WINDOW w;
  w.a_top = a_top;
  w.b_top = b_top;
  w.sum0 = anchor(sum_exponent(w));
  w.sum1 = SUMS > 1 ? anchor(sum_exponent(w) - NEXT_BELOW) : 0;
  w.product0 = anchor(product_exponent(w));
  w.product1 = anchor(product_exponent(w) - NEXT_BELOW);
  w.product2 = PRODUCT_SUMS > 2 ? anchor(product_exponent(w) - 2 * NEXT_BELOW) : 0;
  w.product3 = PRODUCT_SUMS > 2 ? anchor(product_exponent(w) - 3 * NEXT_BELOW) : 0;
  w.fixed = 0;
  w.a_missed = w.b_missed = -1;
  return w;
}

// The closed window: no number lies in it.
#define CLOSED WINDOW_SPAN
#define PERIOD 256
FN uint is_open(WINDOW w) { return w.a_top != CLOSED; }
FN uint is_in_use(WINDOW w) { return w.a_top != CLOSED || w.fixed < PERIOD; }
FN uint hits_of(WINDOW w) { return w.fixed & (PERIOD - 1); }

// In the order of magnitudes; 0 only for zeros.
#if BITS == 64
FN uint size_class(WORD x) { return ((uint)(x >> 32) & 0x7fffffffu) | min_u32((uint)x, 1); }
#else
FN uint size_class(WORD x) { return magnitude_of(x); }
#endif

// Size classes less one of the elements of some loads: that of a zero is the greatest unsigned and the lowest signed number.
#define CLASS_OF_ZERO (BITS == 16 ? 0xffffu : ~0u)
typedef struct {
  uint least;  // CLASS_OF_ZERO if all are zeros
  int greatest;
  uint nonzeros;
} CLASSES;
FN CLASSES classes_of(const uint4* loads, const int count) {
  CLASSES all;
#if BITS == 16
  uint least = 0x7fff7fffu, greatest = 0;
  all.nonzeros = 0;
#pragma unroll
  for (int k = 0; k < count; ++k) {
    const uint4 v = loads[k], less_one = less_one_of(v);
    least = min2_s16(least, min2_s16(min2_s16(less_one.x, less_one.y), min2_s16(less_one.z, less_one.w)));
    greatest = max2_u16(greatest, max2_u16(max2_u16(magnitudes_of(v.x), magnitudes_of(v.y)), max2_u16(magnitudes_of(v.z), magnitudes_of(v.w))));
    all.nonzeros += nonzeros_of(less_one);
  }
  all.least = lesser_half(least ^ 0x80008000u);
  all.greatest = (int)greater_half(greatest) - 1;
#else
  all.nonzeros = (uint)(count * ELEMENTS_PER_LOAD);
#if BITS == 32 && SAMESUM_DENORMALS
  // Few loads have a zero: their least magnitude says so in fewer instructions.
  float least = as_float(loads[0].x);
  uint greatest = 0;
#pragma unroll
  for (int i = 0; i < count * ELEMENTS_PER_LOAD; ++i) {
    const uint x = element_of(loads[i / ELEMENTS_PER_LOAD], i % ELEMENTS_PER_LOAD);
    least = min_magnitude_f32(least, as_float(x));
    greatest = max_u32(greatest, magnitude_of(x));
  }
  all.least = magnitude_of(as_uint(least)) - 1;
  all.greatest = (int)greatest - 1;
  if (least != 0) return all;
#endif
  all.least = ~0u;
  all.greatest = -1;
#pragma unroll
  for (int i = 0; i < count * ELEMENTS_PER_LOAD; ++i) {
    const uint less_one = size_class(element_of(loads[i / ELEMENTS_PER_LOAD], i % ELEMENTS_PER_LOAD)) - 1;
    all.least = min_u32(all.least, less_one);
    all.greatest = (int)less_one > all.greatest ? (int)less_one : all.greatest;
    all.nonzeros -= less_one >> 31;
  }
#endif
  return all;
}

// Of classes less one.
FN uint lies_above(int greatest, uint top) { return greatest >= (int)(((top + 1) << TOP_SHIFT) - 1); }

// Whether all magnitudes except zeros lie in the upper `span` exponents of a window.
FN uint lie_within(CLASSES all, uint top, const uint span) {
#if EXPONENT_BITS == 5
  return top != CLOSED && !lies_above(all.greatest, top);
#else
  return all.least >= ((top - span) << TOP_SHIFT) - 1 && !lies_above(all.greatest, top);
#endif
}

// `narrow`: all numbers lie in the upper NARROW_SPAN exponents, and the last sums are not needed. A constant where this is called.
FN WINDOW add_to_window(WINDOW w, WORD x, WORD y, const uint narrow) {
#if BITS == 64
  const double a = as_double(x);
#if SUM
  const double s = w.sum0 + a;
  w.sum1 += a - (s - w.sum0);
  w.sum0 = s;
#endif
#if PRODUCTS
  const double b = DOT ? as_double(y) : a;
  double high = a * b;
  double low = fma(a, b, -high);
  const double p0 = w.product0 + high;
  high -= p0 - w.product0;
  const double p1 = w.product1 + high;
  const double q1 = p1 + low;
  if (narrow) {
    w.product2 += low - (q1 - p1);
    w.product0 = p0;
    w.product1 = q1;
    return w;
  }
  high -= p1 - w.product1;
  low -= q1 - p1;
  const double p2 = w.product2 + high;
  const double q2 = p2 + low;
  w.product3 += low - (q2 - p2);
  w.product0 = p0;
  w.product1 = q1;
  w.product2 = q2;
#endif
#elif BITS == 16 && DOT
  // Exact as a float32: one conversion to double instead of two, each of which takes four times as long as an addition of doubles.
  const double product = mul_rn_f32(float_of(x), float_of(y));
  const double first = w.product0 + product;
  w.product1 += product - (first - w.product0);
  w.product0 = first;
#else
  const double a = double_of(x);
#if SUM
  const double s = w.sum0 + a;
  if (SUMS > 1 && !narrow) w.sum1 += a - (s - w.sum0);
  w.sum0 = s;
#endif
#if PRODUCTS
  const double b = DOT ? double_of(y) : a;
  const double first = fma(a, b, w.product0);
  if (BITS == 16 && narrow) {
    w.product0 = first;
    return w;
  }
  const double rest = fma(a, b, w.product0 - first);
  const double second = w.product1 + rest;
  if (PRODUCT_SUMS > 2 && !narrow) w.product2 += rest - (second - w.product1);
  w.product1 = second;
  w.product0 = first;
#endif
#endif
  return w;
}

// Adds a sum that began at 1.5 * 2^exponent.
FN void add_running_sum(LOCAL uint* column, const uint product, double sum, int exponent) {
  const long value = (long)(as_ulong(sum) - as_ulong(anchor(exponent)));
  const uint position = (uint)(exponent - 52 + (product ? 2 * ROW_BIT : ROW_BIT));
  add_number(column, 0, product, value < 0 ? 0 - (ulong)value : (ulong)value, position, value < 0 ? ~0u : 0);
}

FN void flush_window(LOCAL uint* column, WINDOW w) {
  if (!is_open(w) || hits_of(w) == 0) return;  // only zeros
#if SUM
  const double sums[2] = {w.sum0, w.sum1};
#pragma unroll
  for (int i = 0; i < SUMS; ++i) add_running_sum(column, 0, sums[i], sum_exponent(w) - i * NEXT_BELOW);
#endif
#if PRODUCTS
  const double products[4] = {w.product0, w.product1, w.product2, w.product3};
#pragma unroll
  for (int i = 0; i < PRODUCT_SUMS; ++i) add_running_sum(column, 1, products[i], product_exponent(w) - i * NEXT_BELOW);
#endif
}

#if LANES > 1
#define WINDOW_SUMS ((SUM ? SUMS : 0) + (PRODUCTS ? PRODUCT_SUMS : 0))

// The same for a whole sub-group: one work-item adds the sum of all.
FN void flush_together(LOCAL uint* column, WINDOW w) {
  if (!is_open(w) || hits_of(w) == 0) return;
  const double sums[6] = {w.sum0, w.sum1, w.product0, w.product1, w.product2, w.product3};
  const uint lane = local_id() & (LANES - 1);
  long sum = 0;
#pragma unroll
  for (int i = 0; i < WINDOW_SUMS; ++i) {
    const int which = SUM ? (i < SUMS ? i : i - SUMS) : i, product = !SUM || i >= SUMS;
    const int exponent = (product ? product_exponent(w) : sum_exponent(w)) - which * NEXT_BELOW;
    const long all = subgroup_add_s64((long)(as_ulong(sums[(product ? 2 : 0) + which]) - as_ulong(anchor(exponent))));
    sum = lane == i ? all : sum;
  }
  if (lane >= WINDOW_SUMS) return;
  const int first_product = SUM ? SUMS : 0, product = (int)lane >= first_product, which = product ? (int)lane - first_product : (int)lane;
  const int exponent = (product ? product_exponent(w) : sum_exponent(w)) - which * NEXT_BELOW;
  const uint position = (uint)(exponent - 52 + (product ? 2 * ROW_BIT : ROW_BIT));
  const uint sign = sum < 0 ? ~0u : 0;
  const ulong magnitude = sum < 0 ? 0 - (ulong)sum : (ulong)sum;
  if (!product) {
    add_number(column, 0, 0, magnitude, position, sign);
  } else {
    add_number(column, 0, 1, magnitude, position, sign);
  }
}
#else
#define flush_together flush_window
#endif

// Whether a window is to be closed after this many loads since its sums were emptied. A window that misses only infinities and NaNs stays
// open. opaque(): else NVIDIA's OpenCL compiler makes versions of the loop over float16 and leaves the work-item's state in memory: ten times slower.
FN uint misses_many(WINDOW w, uint loads) { return opaque(EXPONENT_BITS != 5) && is_open(w) && loads - hits_of(w) > LOADS_A_WINDOW / 8; }

// Empties the sums into the bins.
FN WINDOW empty_window(LOCAL uint* column, WINDOW w) {
  flush_window(column, w);
  const uint useless = misses_many(w, LOADS_A_WINDOW);
  WINDOW next = open_window(useless ? CLOSED : w.a_top, useless ? CLOSED : w.b_top);
  next.fixed = useless ? PERIODS_CLOSED * PERIOD : w.fixed >= PERIOD ? (w.fixed & ~(PERIOD - 1)) - PERIOD : 0;
  return next;
}

// The top that is `above` the exponent of the greatest size class, less one.
// Of a first guess, as greater numbers may come. Less where few exponents below the top are faster.
#ifdef NARROW_SPAN
#define ABOVE_FIRST 1
#else
#define ABOVE_FIRST 3
#endif
FN uint top_for(int greatest, int above) {
  const int top = ((greatest + 1) >> TOP_SHIFT) + above;
  return top > MOST_TOP ? MOST_TOP : top < LEAST_TOP ? LEAST_TOP : (uint)top;
}

#define SPECIAL_CLASS ((int)((2u * BIAS + 1) << TOP_SHIFT) - 1)  // less one: from there on, no finite number

// A first guess, by a sub-group for all its work-items: from the greatest of the loads that each begins with.
FN WINDOW guess_window(const uint4* a_loads, const uint4* b_loads) {
#if EXPONENT_BITS == 5
  return open_window(MOST_TOP, MOST_TOP);
#else
  int a = -1;
  int b = -1;
#pragma unroll
  for (int k = 0; k < LOADS; ++k) {
#pragma unroll
    for (int i = 0; i < ELEMENTS_PER_LOAD; ++i) {
      const int a_class = (int)size_class(element_of(a_loads[k], i)) - 1;
      const int b_class = (int)size_class(element_of(b_loads[k], i)) - 1;
      a = a_class > a ? a_class : a;
      if (DOT) b = b_class > b ? b_class : b;
    }
  }
  a = GREATEST_OF_LANES(a);
  if (DOT) b = GREATEST_OF_LANES(b);
  if (a < 0 || a >= SPECIAL_CLASS || OR_OF_B(b < 0 || b >= SPECIAL_CLASS)) return open_window(CLOSED, CLOSED);
  return open_window(top_for(a, ABOVE_FIRST), top_for(b, ABOVE_FIRST));
#endif
}

// Whether loads of all work-items of the sub-group lie in the window; if `narrow`, in its upper NARROW_SPAN exponents.
FN uint holds(WINDOW w, CLASSES a, CLASSES b, const uint narrow) {
#if EXPONENT_BITS == 5 && !DOT
  return !narrow && !ANY_LANE(a.greatest >= (int)INFINITE - 1);
#else
#ifdef NARROW_SPAN
  if (narrow) return is_open(w) && !ANY_LANE(!lie_within(a, w.a_top, NARROW_SPAN));
#endif
  return !narrow && is_in_use(w) && !ANY_LANE(!(lie_within(a, w.a_top, WINDOW_SPAN) && AND_OF_B(lie_within(b, w.b_top, WINDOW_SPAN))));
#endif
}

// Records a load that the window missed: finite numbers, not all of them zero.
FN WINDOW note_missed(WINDOW w, CLASSES a, CLASSES b) {
  const uint counts = a.greatest < SPECIAL_CLASS && AND_OF_B(b.greatest < SPECIAL_CLASS);
  w.a_missed = counts && a.greatest > w.a_missed ? a.greatest : w.a_missed;
  if (DOT) w.b_missed = counts && b.greatest > w.b_missed ? b.greatest : w.b_missed;
  return w;
}

// Moves a window that missed some of the `loads` loads since its sums were emptied: upwards, or from the closed state, and once until they are
// emptied again. Or closes it at once: even in a big array a work-item empties its sums only a few times.
FN WINDOW move_window(LOCAL uint* column, WINDOW w, uint loads) {
  if (!ANY_LANE(w.a_missed >= 0 || OR_OF_B(w.b_missed >= 0))) return w;
  const int a_missed = GREATEST_OF_LANES(w.a_missed), b_missed = DOT ? GREATEST_OF_LANES(w.b_missed) : -1;
  // What moves a window up lies near the greatest of all: the window keeps what it can of the least.
  const int more = is_open(w) ? 0 : ABOVE_FIRST;
  const uint a_top = top_for(a_missed, more), b_top = top_for(b_missed, more);
  const uint above = lies_above(a_missed, w.a_top) || OR_OF_B(lies_above(b_missed, w.b_top));
  const uint higher = a_top > w.a_top || OR_OF_B(b_top > w.b_top);
  w.a_missed = w.b_missed = -1;
  const uint moves = !is_open(w) || (above && higher), closes = !moves && misses_many(w, loads);
  if (w.fixed >= PERIOD || !(moves || closes)) return w;
  flush_window(column, w);
  WINDOW next = open_window(closes ? CLOSED : a_top > w.a_top ? a_top : w.a_top, closes ? CLOSED : b_top > w.b_top ? b_top : w.b_top);
  // Its misses still count, once the sums are emptied; but not those of a window that was none.
  next.fixed = closes ? PERIODS_CLOSED * PERIOD : PERIOD + (is_open(w) ? hits_of(w) : loads);
  return next;
}
#endif
