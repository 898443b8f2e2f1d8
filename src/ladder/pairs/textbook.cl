// Sums of products over all pairs in the steps of the tutorial, from the naive one up: rungs of the ladder, checked against an error bound
// and never chosen by pairs() (docs/pairs.md). A user's kernel (`samesum bench pairs --kernel`) has the same parameters.
//
// Defined by the host: REAL, GROUP (work-items of a group), WIDTH (x of a work-item, 1 where it has only one), TILE (y that a group copies
// to local memory at once), RESIDENT (groups that a compute unit shall hold at once, which limits the registers of a work-item: 1 for no limit). `a` and `c` are padded to whole groups, so that work-items need no bounds checks.

#if defined(__OPENCL_VERSION__) && WIDTH > 1
#define JOIN_AGAIN(a, b) a##b
#define JOIN(a, b) JOIN_AGAIN(a, b)
typedef JOIN(REAL, WIDTH) VECTOR;
FN VECTOR zero(void) { return (VECTOR)((REAL)0); }
FN VECTOR multiply_add(VECTOR a, REAL b, VECTOR sum) { return fma(a, (VECTOR)(b), sum); }
#elif WIDTH > 1
// Types and operators that CUDA lacks.
typedef struct __align__(16) {
  REAL s[WIDTH];
} VECTOR;
FN VECTOR multiply_add(VECTOR a, REAL b, VECTOR sum) {
#pragma unroll
  for (int k = 0; k < WIDTH; ++k) sum.s[k] = fma(a.s[k], b, sum.s[k]);
  return sum;
}
FN VECTOR zero() {
  VECTOR v;
#pragma unroll
  for (int k = 0; k < WIDTH; ++k) v.s[k] = 0;
  return v;
}
#endif

#if WIDTH == 1
// All of B from global memory.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void naive(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL REAL* c, ulong x_count, ulong y_count) {
  const REAL x = a[global_id()];
  REAL sum = 0;
  for (ulong y = 0; y < y_count; ++y) sum = fma(x, b[y], sum);
  c[global_id()] = sum;
}

// All of B in local memory: TILE is y_count, or more.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void local_all(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL REAL* c, ulong x_count, ulong y_count) {
  LOCAL_VAR REAL tile[TILE];
  for (uint k = local_id(); k < y_count; k += GROUP) tile[k] = b[k];
  barrier_local();
  const REAL x = a[global_id()];
  REAL sum = 0;
  for (uint y = 0; y < y_count; ++y) sum = fma(x, tile[y], sum);
  c[global_id()] = sum;
}

// B is copied to local memory tile by tile.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void local_tiled(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL REAL* c, ulong x_count, ulong y_count) {
  LOCAL_VAR REAL tile[TILE];
  const REAL x = a[global_id()];
  REAL sum = 0;
  for (ulong start = 0; start < y_count; start += TILE) {
    const uint count = y_count - start < TILE ? (uint)(y_count - start) : TILE;
    barrier_local();
    for (uint k = local_id(); k < count; k += GROUP) tile[k] = b[start + k];
    barrier_local();
    for (uint y = 0; y < count; ++y) sum = fma(x, tile[y], sum);
  }
  c[global_id()] = sum;
}
#else
// WIDTH of the x in a vector; all of B from global memory.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void vectors(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL REAL* c, ulong x_count, ulong y_count) {
  const VECTOR x = ((GLOBAL const VECTOR*)a)[global_id()];
  VECTOR sum = zero();
  for (ulong y = 0; y < y_count; ++y) sum = multiply_add(x, b[y], sum);
  ((GLOBAL VECTOR*)c)[global_id()] = sum;
}

// The same with tiles of B in local memory.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void vectors_local(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL REAL* c, ulong x_count, ulong y_count) {
  LOCAL_VAR REAL tile[TILE];
  const VECTOR x = ((GLOBAL const VECTOR*)a)[global_id()];
  VECTOR sum = zero();
  for (ulong start = 0; start < y_count; start += TILE) {
    const uint count = y_count - start < TILE ? (uint)(y_count - start) : TILE;
    barrier_local();
    for (uint k = local_id(); k < count; k += GROUP) tile[k] = b[start + k];
    barrier_local();
    for (uint y = 0; y < count; ++y) sum = multiply_add(x, tile[y], sum);
  }
  ((GLOBAL VECTOR*)c)[global_id()] = sum;
}

#define LANE(vector, k) (((const REAL*)&(vector))[k])

// Vectors of B, too: one load for WIDTH of the y; then the y that are left over.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void vectors_both(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL REAL* c, ulong x_count,
                                                    ulong y_count) {
  const VECTOR x = ((GLOBAL const VECTOR*)a)[global_id()];
  VECTOR sum = zero();
  const ulong whole = y_count / WIDTH;
  for (ulong v = 0; v < whole; ++v) {
    const VECTOR y = ((GLOBAL const VECTOR*)b)[v];
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) sum = multiply_add(x, LANE(y, k), sum);
  }
  for (ulong y = whole * WIDTH; y < y_count; ++y) sum = multiply_add(x, b[y], sum);
  ((GLOBAL VECTOR*)c)[global_id()] = sum;
}

// The same with tiles of vectors in local memory; those of the last tile behind the end of B are 0.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void vectors_tile(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL REAL* c, ulong x_count,
                                                    ulong y_count) {
  LOCAL_VAR VECTOR tile[TILE / WIDTH];
  const VECTOR x = ((GLOBAL const VECTOR*)a)[global_id()];
  VECTOR sum = zero();
  for (ulong start = 0; start < y_count; start += TILE) {
    const uint count = y_count - start < TILE ? (uint)(y_count - start) : TILE;
    const uint vectors = (count + WIDTH - 1) / WIDTH;
    barrier_local();
    for (uint v = local_id(); v < vectors; v += GROUP) {
      if ((v + 1) * WIDTH <= count) {
        tile[v] = ((GLOBAL const VECTOR*)(b + start))[v];
      } else {
        VECTOR last = zero();
        for (uint k = 0; v * WIDTH + k < count; ++k) ((REAL*)&last)[k] = b[start + v * WIDTH + k];
        tile[v] = last;
      }
    }
    barrier_local();
    for (uint v = 0; v < count / WIDTH; ++v) {
      const VECTOR y = tile[v];
#pragma unroll
      for (int k = 0; k < WIDTH; ++k) sum = multiply_add(x, LANE(y, k), sum);
    }
    if (count % WIDTH != 0) {
      const VECTOR y = tile[count / WIDTH];
      for (uint k = 0; k < count % WIDTH; ++k) sum = multiply_add(x, LANE(y, k), sum);
    }
  }
  ((GLOBAL VECTOR*)c)[global_id()] = sum;
}
#endif
