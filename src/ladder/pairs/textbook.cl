// Sums, minima and maxima of f over all pairs of scalars in the steps of the tutorial, from the naive one up: rungs of the ladder, checked
// against an error bound and never chosen by pairs() (docs/pairs.md). A user's kernel (`samesum bench pairs --kernel`) has the same parameters.
//
// Defined by the host: REAL, GROUP (work-items of a group), WIDTH (x of a work-item, 1 where it has only one), TILE (y that a group copies
// to local memory at once), RESIDENT (groups that a compute unit shall hold at once, which limits the registers of a work-item: 1 for no limit). `a` and `c` are padded to whole groups, so that work-items need no bounds checks.

// F, FACTOR and SOFTENING: of pairs/function.h, which is before this file; REDUCTION: 0 sum, 1 min, 2 max; NOTHING: their value over no y at all.

// What one more y makes of the value.
FN REAL step(REAL sum, REAL x, REAL y) {
#if F == F_PRODUCT && REDUCTION == 0
  return fma(x, y, sum);
#else
  const REAL value = f_finish(f_first(x, y, SOFTENING), FACTOR);
#if REDUCTION == 0
  return sum + value;
#elif REDUCTION == 1
  return value < sum || value != value ? value : sum;
#else
  return value > sum || value != value ? value : sum;
#endif
#endif
}

#if defined(__OPENCL_VERSION__) && WIDTH > 1
#define JOIN_AGAIN(a, b) a##b
#define JOIN(a, b) JOIN_AGAIN(a, b)
typedef JOIN(REAL, WIDTH) VECTOR;
FN VECTOR nothing(void) { return (VECTOR)(NOTHING); }
#elif WIDTH > 1
// Types and operators that CUDA lacks.
typedef struct __align__(16) {
  REAL s[WIDTH];
} VECTOR;
FN VECTOR nothing() {
  VECTOR v;
#pragma unroll
  for (int k = 0; k < WIDTH; ++k) v.s[k] = NOTHING;
  return v;
}
#endif

#if WIDTH > 1
#define LANE(vector, k) (((REAL*)&(vector))[k])

// step() in each lane.
FN VECTOR steps(VECTOR sum, VECTOR x, REAL y) {
#if defined(__OPENCL_VERSION__) && F == F_PRODUCT && REDUCTION == 0
  return fma(x, (VECTOR)(y), sum);
#else
#pragma unroll
  for (int k = 0; k < WIDTH; ++k) LANE(sum, k) = step(LANE(sum, k), LANE(x, k), y);
  return sum;
#endif
}
#endif

#if WIDTH == 1
// All of B from global memory.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void naive(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL REAL* c, ulong x_count, ulong y_count) {
  const REAL x = a[global_id()];
  REAL sum = NOTHING;
  for (ulong y = 0; y < y_count; ++y) sum = step(sum, x, b[y]);
  c[global_id()] = sum;
}

// All of B in local memory: TILE is y_count, or more.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void local_all(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL REAL* c, ulong x_count, ulong y_count) {
  LOCAL_VAR REAL tile[TILE];
  for (uint k = local_id(); k < y_count; k += GROUP) tile[k] = b[k];
  barrier_local();
  const REAL x = a[global_id()];
  REAL sum = NOTHING;
  for (uint y = 0; y < y_count; ++y) sum = step(sum, x, tile[y]);
  c[global_id()] = sum;
}

// B is copied to local memory tile by tile.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void local_tiled(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL REAL* c, ulong x_count, ulong y_count) {
  LOCAL_VAR REAL tile[TILE];
  const REAL x = a[global_id()];
  REAL sum = NOTHING;
  for (ulong start = 0; start < y_count; start += TILE) {
    const uint count = y_count - start < TILE ? (uint)(y_count - start) : TILE;
    barrier_local();
    for (uint k = local_id(); k < count; k += GROUP) tile[k] = b[start + k];
    barrier_local();
    for (uint y = 0; y < count; ++y) sum = step(sum, x, tile[y]);
  }
  c[global_id()] = sum;
}
#else
// WIDTH of the x in a vector; all of B from global memory.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void vectors(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL REAL* c, ulong x_count, ulong y_count) {
  const VECTOR x = ((GLOBAL const VECTOR*)a)[global_id()];
  VECTOR sum = nothing();
  for (ulong y = 0; y < y_count; ++y) sum = steps(sum, x, b[y]);
  ((GLOBAL VECTOR*)c)[global_id()] = sum;
}

// The same with tiles of B in local memory.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void vectors_local(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL REAL* c, ulong x_count, ulong y_count) {
  LOCAL_VAR REAL tile[TILE];
  const VECTOR x = ((GLOBAL const VECTOR*)a)[global_id()];
  VECTOR sum = nothing();
  for (ulong start = 0; start < y_count; start += TILE) {
    const uint count = y_count - start < TILE ? (uint)(y_count - start) : TILE;
    barrier_local();
    for (uint k = local_id(); k < count; k += GROUP) tile[k] = b[start + k];
    barrier_local();
    for (uint y = 0; y < count; ++y) sum = steps(sum, x, tile[y]);
  }
  ((GLOBAL VECTOR*)c)[global_id()] = sum;
}

// Vectors of B, too: one load for WIDTH of the y; then the y that are left over.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void vectors_both(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL REAL* c, ulong x_count,
                                                    ulong y_count) {
  const VECTOR x = ((GLOBAL const VECTOR*)a)[global_id()];
  VECTOR sum = nothing();
  const ulong whole = y_count / WIDTH;
  for (ulong v = 0; v < whole; ++v) {
    VECTOR y = ((GLOBAL const VECTOR*)b)[v];
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) sum = steps(sum, x, LANE(y, k));
  }
  for (ulong y = whole * WIDTH; y < y_count; ++y) sum = steps(sum, x, b[y]);
  ((GLOBAL VECTOR*)c)[global_id()] = sum;
}

// The same with tiles of vectors in local memory; the lanes of the last one behind the end of B are not used.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void vectors_tile(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL REAL* c, ulong x_count,
                                                    ulong y_count) {
  LOCAL_VAR VECTOR tile[TILE / WIDTH];
  const VECTOR x = ((GLOBAL const VECTOR*)a)[global_id()];
  VECTOR sum = nothing();
  for (ulong start = 0; start < y_count; start += TILE) {
    const uint count = y_count - start < TILE ? (uint)(y_count - start) : TILE;
    const uint vectors = (count + WIDTH - 1) / WIDTH;
    barrier_local();
    for (uint v = local_id(); v < vectors; v += GROUP) {
      if ((v + 1) * WIDTH <= count) {
        tile[v] = ((GLOBAL const VECTOR*)(b + start))[v];
      } else {
        VECTOR last = nothing();
        for (uint k = 0; v * WIDTH + k < count; ++k) LANE(last, k) = b[start + v * WIDTH + k];
        tile[v] = last;
      }
    }
    barrier_local();
    for (uint v = 0; v < count / WIDTH; ++v) {
      VECTOR y = tile[v];
#pragma unroll
      for (int k = 0; k < WIDTH; ++k) sum = steps(sum, x, LANE(y, k));
    }
    if (count % WIDTH != 0) {
      VECTOR y = tile[count / WIDTH];
      for (uint k = 0; k < count % WIDTH; ++k) sum = steps(sum, x, LANE(y, k));
    }
  }
  ((GLOBAL VECTOR*)c)[global_id()] = sum;
}
#endif
