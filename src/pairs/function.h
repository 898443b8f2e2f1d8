// f(a, b) for kernels: the same operations as in pairs_cpu_function-inl.hpp for the CPU, so that values have the same bits.
//
// Defined by the host: F (one of the numbers below), D (components), EXTRAS (elements of a y behind its components), WEIGHTED (whether
// that is a weight), REAL, REAL_BYTES. VALUE is the type in which f is evaluated: REAL, or a vector of it in kernels for CPUs, which define
// it and BITS before this file.
//
// Of a formula: F_TAKES and F_GIVES (its parameters as those of a function and as arguments, each with a comma in front), F_OPERANDS and
// F_PARAMETERS (what formula() takes of a pair `a`, `b`, and the parameters, each with a comma behind); formula(), and formula_sum(), which
// adds its value to a number, come before this file.

#define F_PRODUCT 0
#define F_DIFFERENCE 1
#define F_ABSDIFF 2
#define F_SQDIST 3
#define F_GAUSSIAN 4
#define F_INVDIST 5
#define F_FORMULA 6

#ifndef VALUE
#define VALUE REAL
#if REAL_BYTES == 4
#define AS_BITS(x) as_uint(x)
#define AS_VALUE(x) as_float(x)
#else
#define AS_BITS(x) as_ulong(x)
#define AS_VALUE(x) as_double(x)
#endif
#define SELECT(condition, yes, no) ((condition) ? (yes) : (no))
#endif
#define V(x) ((VALUE)(x))

// Arrays of the caller's may begin anywhere in their memory, and be of another type, STORED, of which LOADED() makes a REAL.
#ifndef STORED
#define STORED REAL
#define LOADED(word) (word)
#endif
#define REALS_AT(bytes, offset) ((GLOBAL const STORED*)((bytes) + (offset)))

#if F == F_FORMULA
// No operation of it can fail.
FN REAL f_of(const REAL* a, const REAL* b F_TAKES) {
  uint error = 0;
  return formula(F_OPERANDS F_PARAMETERS & error);
}
FN REAL add_f(REAL sum, const REAL* a, const REAL* b F_TAKES) {
  uint error = 0;
  return formula_sum(F_OPERANDS sum, F_PARAMETERS & error);
}
#else
#define F_TAKES , REAL factor, REAL softening
#define F_GIVES , factor, softening
#endif

// Where f is a sum of terms, the terms can be added directly to the sum over y.
#define F_ADDITIVE (F <= F_SQDIST)

#if F != F_FORMULA
FN VALUE f_first(VALUE a, VALUE b, REAL softening) {
#if F == F_PRODUCT
  return a * b;
#elif F == F_DIFFERENCE
  return a - b;
#elif F == F_ABSDIFF
  return fabs(a - b);
#elif F == F_INVDIST
  const VALUE d = a - b;
  return fma(d, d, V(softening));
#else
  const VALUE d = a - b;
  return d * d;
#endif
}

FN VALUE f_next(VALUE s, VALUE a, VALUE b) {
#if F == F_PRODUCT
  return fma(a, b, s);
#elif F == F_DIFFERENCE
  return s + (a - b);
#elif F == F_ABSDIFF
  return s + fabs(a - b);
#else
  const VALUE d = a - b;
  return fma(d, d, s);
#endif
}

#if F == F_GAUSSIAN
#if REAL_BYTES == 4
#define EXP_MANTISSA 23
#define EXP_BIAS 127
#define EXP_LOWEST -110.0f
#define EXP_SPLIT -100.0f
#define EXP_MAGIC 12582912.0f
#define EXP_LOG2E 0x1.715476p+0f
#define EXP_LN2_HIGH 0x1.62e4p-1f
#define EXP_LN2_LOW 0x1.7f7d1cp-20f
#else
#define EXP_MANTISSA 52
#define EXP_BIAS 1023
#define EXP_LOWEST -760.0
#define EXP_SPLIT -1000.0
#define EXP_MAGIC 6755399441055744.0
#define EXP_LOG2E 0x1.71547652b82fep+0
#define EXP_LN2_HIGH 0x1.62e42fefa38p-1
#define EXP_LN2_LOW 0x1.ef35793c7673p-45
#endif

FN VALUE power_of_two(VALUE exponent) { return AS_VALUE(AS_BITS(exponent + V(EXP_MAGIC + EXP_BIAS)) << EXP_MANTISSA); }

// exp(t) for t <= 0: t = j ln 2 + r, a polynomial in r with the coefficients 1/k!, and two powers of two, of which only the second may
// round.
FN VALUE exponential(VALUE t) {
  t = SELECT(t < V(EXP_LOWEST), V(EXP_LOWEST), t);
  const VALUE j = fma(t, V(EXP_LOG2E), V(EXP_MAGIC)) - V(EXP_MAGIC);
  const VALUE r = fma(j, V(-EXP_LN2_LOW), fma(j, V(-EXP_LN2_HIGH), t));
#if REAL_BYTES == 4
  VALUE p = V(0x1.a01a02p-13f);
#else
  VALUE p = V(0x1.6124613a86d09p-33);
  p = fma(p, r, V(0x1.1eed8eff8d898p-29));
  p = fma(p, r, V(0x1.ae64567f544e4p-26));
  p = fma(p, r, V(0x1.27e4fb7789f5cp-22));
  p = fma(p, r, V(0x1.71de3a556c734p-19));
  p = fma(p, r, V(0x1.a01a01a01a01ap-16));
  p = fma(p, r, V(0x1.a01a01a01a01ap-13));
#endif
  p = fma(p, r, V((REAL)0x1.6c16c16c16c17p-10));
  p = fma(p, r, V((REAL)0x1.1111111111111p-7));
  p = fma(p, r, V((REAL)0x1.5555555555555p-5));
  p = fma(p, r, V((REAL)0x1.5555555555555p-3));
  p = fma(p, r, V((REAL)0.5));
  p = fma(p, r, V((REAL)1));
  p = fma(p, r, V((REAL)1));
  const VALUE first = SELECT(j < V(EXP_SPLIT), V(EXP_SPLIT), j);
  return p * power_of_two(first) * power_of_two(j - first);
}
#endif

// The final operations, after all components.
FN VALUE f_finish(VALUE s, REAL factor) {
#if F == F_GAUSSIAN
  return exponential(s * V(factor));
#elif F == F_INVDIST
  return V((REAL)1) / sqrt(s);
#else
  return s;
#endif
}
#endif
