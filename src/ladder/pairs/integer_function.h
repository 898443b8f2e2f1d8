// f(a, b) of integers for the textbook's rungs, in place of pairs/function.h: REAL is long or ulong. Sums wrap.
#define F_PRODUCT 0
#define F_DIFFERENCE 1
#define F_ABSDIFF 2
#define F_SQDIST 3
#define F_FORMULA 6

FN REAL f_first(REAL a, REAL b, REAL softening) {
#if F == F_PRODUCT
  return a * b;
#elif F == F_DIFFERENCE
  return a - b;
#elif F == F_ABSDIFF
  return a < b ? b - a : a - b;
#else
  return (a - b) * (a - b);
#endif
}
FN REAL f_next(REAL s, REAL a, REAL b) { return s + f_first(a, b, 0); }
FN REAL f_finish(REAL s, REAL factor) { return s; }
