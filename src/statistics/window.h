// Float32: sums in registers, where they are exact, so that most elements need no bins.
//
// A running sum of doubles starts at an anchor 1.5 * 2^k and stays in its binade, where doubles are the multiples of 2^(k-52): while all that
// is added are such multiples, nothing is rounded. The sum of the elements is one of these. Products of 48 bits take two: the first takes the
// nearest multiple of its spacing, and the second, whose anchor lies lower, what is left, which is exact. (Demmel and Nguyen, Fast
// Reproducible Floating-Point Summation, ARITH 2013.) For which magnitudes that holds is each work-item's window: exponent fields from
// WINDOW_SPAN below its `top` up to `top`. A load that has any other number goes to the bins.

#if WINDOWS
#define HEADROOM 8      // 2^HEADROOM elements go into a sum before it is emptied into the bins
#define WINDOW_SPAN 19  // 27 - HEADROOM by the sum, (55 - 2 HEADROOM) / 2 by the products
#define LEAST_TOP 21    // from where on no spacing lies below the least product's lowest bit
#define SECOND_BELOW (52 - HEADROOM)

typedef struct {
  double sum, first, second;
  uint a_top, b_top;  // exponent fields
  uint hit;           // since the sums were last emptied
  uint unused;        // the window saw nothing for as long: the next load may move it anywhere
} WINDOW;

// 1.5 * 2^exponent
FN double anchor(int exponent) { return as_double((ulong)(1023 + exponent) << 52 | (ulong)1 << 51); }
FN int sum_exponent(WINDOW w) { return (int)w.a_top - 126 + HEADROOM + 1; }
FN int product_exponent(WINDOW w) { return (int)(w.a_top + w.b_top) - 252 + HEADROOM + 1; }

FN WINDOW open_window(uint a_top, uint b_top) {
  WINDOW w;
  w.a_top = a_top;
  w.b_top = b_top;
  w.sum = anchor(sum_exponent(w));
  w.first = anchor(product_exponent(w));
  w.second = anchor(product_exponent(w) - SECOND_BELOW);
  w.hit = w.unused = 0;
  return w;
}

// Whether all magnitudes but zeros lie in a window: by the least and the greatest of them less one, of which a zero's is the greatest unsigned
// and the least signed number.
FN uint lie_within(uint least, int greatest, uint top) {
  return least >= ((top - WINDOW_SPAN) << 23) - 1 && greatest < (int)(((top + 1) << 23) - 1);
}

FN WINDOW add_to_window(WINDOW w, uint x, uint y) {
  const double a = (double)as_float(x);
#if SUM
  w.sum += a;
#endif
#if PRODUCTS
  const double b = DOT ? (double)as_float(y) : a;
  const double first = fma(a, b, w.first);
  w.second += fma(a, b, w.first - first);
  w.first = first;
#endif
  return w;
}

// Adds a sum that began at 1.5 * 2^exponent, of numbers counted in units of 2^-lowest.
FN void add_running_sum(LOCAL uint* column, uint row, double sum, int exponent, int lowest) {
  const long value = (long)(as_ulong(sum) - as_ulong(anchor(exponent)));
  const uint sign = value < 0 ? ~0u : 0;
  add_number(column, row, value < 0 ? 0 - (ulong)value : (ulong)value, 0, (uint)(exponent - 52 + lowest), sign, 5);
}

FN void flush_window(LOCAL uint* column, WINDOW w) {
#if SUM
  add_running_sum(column, 0, w.sum, sum_exponent(w), 149);
#endif
#if PRODUCTS
  add_running_sum(column, FIRST_PRODUCT_ROW, w.first, product_exponent(w), 298);
  add_running_sum(column, FIRST_PRODUCT_ROW, w.second, product_exponent(w) - SECOND_BELOW, 298);
#endif
}

FN WINDOW empty_window(LOCAL uint* column, WINDOW w) {
  flush_window(column, w);
  WINDOW next = open_window(w.a_top, w.b_top);
  next.unused = !w.hit;
  return next;
}

// The top for a greatest magnitude, less one: a little higher, as greater ones may come.
FN uint top_for(int greatest) {
  const int exponent = (greatest + 1) >> 23;
  return exponent >= 254 ? 254 : exponent + 1 < LEAST_TOP ? LEAST_TOP : (uint)exponent + 1;
}

// After a load that the window did not hold: moves it, upwards, or anywhere where it is not in use.
FN WINDOW move_window(LOCAL uint* column, WINDOW w, int a_greatest, int b_greatest) {
  const uint a_top = top_for(a_greatest);
  const uint b_top = top_for(b_greatest);
  const uint above = a_greatest >= (int)(((w.a_top + 1) << 23) - 1) || b_greatest >= (int)(((w.b_top + 1) << 23) - 1);
  const uint special = a_greatest >= 0x7f7fffff || b_greatest >= 0x7f7fffff;
  if (special || !(above || w.unused)) return w;
  flush_window(column, w);
  const uint anywhere = w.unused;
  return open_window(anywhere || a_top > w.a_top ? a_top : w.a_top, anywhere || b_top > w.b_top ? b_top : w.b_top);
}
#endif
