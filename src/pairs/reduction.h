// fl(w f) of a pair in registers, and the order of values for minima. Included after function.h.
//
// Defined by the host: REDUCTION, KEYED (where values may be NaN or have a sign).

#define R_SUM 0
#define R_MIN 1
#define R_MAX 2
#define R_ARGMIN 3

#ifndef VECTORS  // VALUE is REAL
// `b` has D components followed, where WEIGHTED, by the weight.
FN REAL pair_value(const REAL* a, const REAL* b, REAL factor, REAL softening) {
  REAL s = f_first(a[0], b[0], softening);
  UNROLL_COMPONENTS
  for (uint d = 1; d < D; ++d) s = f_next(s, a[d], b[d]);
  s = f_finish(s, factor);
#if WEIGHTED
  return b[D] * s;
#else
  return s;
#endif
}
#endif

// Values as integers: NaN first, then -inf … -0.0, +0.0 … inf; for a maximum NaN first, then inf … -inf. See problem.hpp.
#if REAL_BYTES == 4
#define KEY int
#define KEY_SIGN 0x7fffffff
#define KEY_BITS 31
#define KEY_OF_BITS(x) (int)as_uint(x)
#define VALUE_OF_BITS(x) as_float((uint)(x))
#define NAN_BITS 0x7fc00000
#define INFINITY_BITS 0x7f800000
#else
#define KEY long
#define KEY_SIGN 0x7fffffffffffffffL
#define KEY_BITS 63
#define KEY_OF_BITS(x) (long)as_ulong(x)
#define VALUE_OF_BITS(x) as_double((ulong)(x))
#define NAN_BITS 0x7ff8000000000000L
#define INFINITY_BITS 0x7ff0000000000000L
#endif
#define KEY_NAN (-KEY_SIGN - 1)

FN KEY key_of(REAL value) {
  const KEY bits = KEY_OF_BITS(value);
  KEY key = bits ^ ((bits >> KEY_BITS) & KEY_SIGN);
#if REDUCTION == R_MAX
  key = ~key;
#endif
  return value == value ? key : KEY_NAN;
}

// The same for a value that is neither NaN nor negative.
#if KEYED
#define ORDER_OF(value) key_of(value)
#elif REDUCTION == R_MAX
#define ORDER_OF(value) (~KEY_OF_BITS(value))
#else
#define ORDER_OF(value) (KEY_OF_BITS(value))
#endif

FN REAL value_of_key(KEY key) {
#if REDUCTION == R_MAX
  const KEY ordered = ~key;
#else
  const KEY ordered = key;
#endif
  return VALUE_OF_BITS(key == KEY_NAN ? NAN_BITS : ordered ^ ((ordered >> KEY_BITS) & KEY_SIGN));
}
