// The operation of the textbook's reductions, on single elements, on 16 bytes of them, and as an atomic operation.
//
// Defined by the host: OPERATION (0: sum, 1: product, 2: maximum, 3: minimum, 4: the formula's function), REAL (float, double, or an integer
// type), WIDE (of integers: the unsigned type in which they wrap), REAL_BYTES, FLOATING, IDENTITY; of a formula FORMULA_CALL.

#if OPERATION == 4
FN REAL combine(REAL a, REAL b) {
  uint error = 0;
  return (REAL)FORMULA_CALL;
}
#elif OPERATION == 2
FN REAL combine(REAL a, REAL b) { return a < b ? b : a; }
#elif OPERATION == 3
FN REAL combine(REAL a, REAL b) { return b < a ? b : a; }
#elif FLOATING && OPERATION == 0
FN REAL combine(REAL a, REAL b) { return a + b; }
#elif FLOATING
FN REAL combine(REAL a, REAL b) { return a * b; }
#elif OPERATION == 0
FN REAL combine(REAL a, REAL b) { return (REAL)((WIDE)a + (WIDE)b); }
#else
FN REAL combine(REAL a, REAL b) { return (REAL)((WIDE)a * (WIDE)b); }
#endif

#if FLOATING && REAL_BYTES == 8
#define VECTOR double2
#define LANES 2
FN double2 no_lanes(void) { double2 v; v.x = IDENTITY; v.y = IDENTITY; return v; }
FN double2 add_vectors(double2 a, double2 b) { a.x = combine(a.x, b.x); a.y = combine(a.y, b.y); return a; }
FN double add_lanes(double2 v) { return combine(v.x, v.y); }
#elif FLOATING
#define VECTOR float4
#define LANES 4
FN float4 no_lanes(void) { float4 v; v.x = IDENTITY; v.y = IDENTITY; v.z = IDENTITY; v.w = IDENTITY; return v; }
FN float4 add_vectors(float4 a, float4 b) {
  a.x = combine(a.x, b.x);
  a.y = combine(a.y, b.y);
  a.z = combine(a.z, b.z);
  a.w = combine(a.w, b.w);
  return a;
}
FN float add_lanes(float4 v) { return combine(combine(v.x, v.y), combine(v.z, v.w)); }
#else
#define LANES (16 / REAL_BYTES)
#ifdef __OPENCL_VERSION__
typedef struct __attribute__((aligned(16))) {
#else
typedef struct __align__(16) {
#endif
  REAL s[LANES];
} VECTOR;
FN VECTOR no_lanes(void) {
  VECTOR v;
#pragma unroll
  for (uint k = 0; k < LANES; ++k) v.s[k] = IDENTITY;
  return v;
}
FN VECTOR add_vectors(VECTOR a, VECTOR b) {
#pragma unroll
  for (uint k = 0; k < LANES; ++k) a.s[k] = combine(a.s[k], b.s[k]);
  return a;
}
FN REAL add_lanes(VECTOR v) {
  REAL sum = v.s[0];
#pragma unroll
  for (uint k = 1; k < LANES; ++k) sum = combine(sum, v.s[k]);
  return sum;
}
#endif

#if OPERATION == 0 && SAMESUM_INT64_ATOMICS && REAL_BYTES == 8
#define HAS_ATOMIC 1
#if FLOATING
#define atomic_combine atomic_add_global_f64
#else
FN void atomic_combine(GLOBAL REAL* p, REAL value) { atomic_add_global64((GLOBAL ulong*)p, (ulong)value); }
#endif
#elif OPERATION == 0 && REAL_BYTES == 4
#define HAS_ATOMIC 1
#if FLOATING
#define atomic_combine atomic_add_global_f32
#else
FN void atomic_combine(GLOBAL REAL* p, REAL value) { atomic_add_global32((GLOBAL uint*)p, (uint)value); }
#endif
#elif REAL_BYTES == 4
#define HAS_ATOMIC 1
#if FLOATING
#define BITS_OF as_uint
#define FROM_BITS as_float
#else
#define BITS_OF (uint)
#define FROM_BITS (REAL)
#endif
// By compare-and-swap.
FN void atomic_combine(GLOBAL REAL* p, REAL value) {
  uint expected = BITS_OF(IDENTITY);  // a guess, corrected by the first exchange
  for (;;) {
    const uint found = atomic_cas_global32((GLOBAL uint*)p, expected, BITS_OF(combine(FROM_BITS(expected), value)));
    if (found == expected) return;
    expected = found;
  }
}
#endif
