// Reductions of f over all pairs in the steps of the tutorial, from the naive one up: rungs of the ladder, checked against the CPU or an error
// bound and never chosen by pairs() (docs/pairs.md). A user's kernel (`samesum bench pairs --kernel`) has the same parameters.
//
// Defined by the host: REAL (of integers long or ulong), D (components of a vector), GROUP (work-items of a group), WIDTH (x of a work-item, 1
// where it has only one), TILE (y that a group copies to local memory at once), RESIDENT (groups that a compute unit shall hold at once, which
// limits the registers of a work-item: 1 for no limit). `a` and `c` are padded to whole groups, so that work-items need no bounds checks.
//
// F, FACTOR and SOFTENING (of a formula its parameters, as numbers in F_PARAMETERS): of pairs/function.h or integer_function.h, which is
// before this file; REDUCTION: 0 sum, 1 min, 2 max, 3 argmin, 4 argmax, where `c` has indices as long; NOTHING: the value over no y at all.

#define INDICES (REDUCTION >= 3)

// A y, as in memory.
#if D == 1
typedef REAL Y;
#define COMPONENT(y, d) (y)
#else
typedef struct {
  REAL s[D];
} Y;
#define COMPONENT(y, d) ((y).s[d])
#endif

// WIDTH numbers.
#if WIDTH == 1
typedef REAL VECTOR;
#elif defined(__OPENCL_VERSION__)
#define JOIN_AGAIN(a, b) a##b
#define JOIN(a, b) JOIN_AGAIN(a, b)
typedef JOIN(REAL, WIDTH) VECTOR;
#else
typedef struct __align__(16) {  // CUDA has no vector types of this length
  REAL s[WIDTH];
} VECTOR;
#endif
#define LANE(vector, k) (((REAL*)&(vector))[k])

// The x of a work-item, as in memory; as many y.
#if D == 1
typedef VECTOR X;
#else
typedef struct {
  Y s[WIDTH];
} X;
#endif
#define VECTOR_OF(x, k) (((Y*)&(x))[k])

// The value so far, and where it was found.
typedef struct {
  VECTOR value;
#if INDICES
  long at[WIDTH];
#endif
} STATE;

FN STATE nothing(void) {
  STATE state;
#pragma unroll
  for (int k = 0; k < WIDTH; ++k) {
    LANE(state.value, k) = NOTHING;
#if INDICES
    state.at[k] = 0;
#endif
  }
  return state;
}

FN REAL value_of(Y x, Y y) {
#if F == F_FORMULA
  return f_of((const REAL*)&x, (const REAL*)&y);
#else
  REAL value = f_first(COMPONENT(x, 0), COMPONENT(y, 0), SOFTENING);
#if D > 1
#pragma unroll
  for (int d = 1; d < D; ++d) value = f_next(value, COMPONENT(x, d), COMPONENT(y, d));
#endif
  return f_finish(value, FACTOR);
#endif
}

#if INTEGERS
#define IS_FIRST_NAN(value, best) 0
#else
#define IS_FIRST_NAN(value, best) ((value) != (value) && (best) == (best))
#endif
#if REDUCTION == 2 || REDUCTION == 4
#define IS_BETTER(value, best) ((value) > (best) || IS_FIRST_NAN(value, best))
#else
#define IS_BETTER(value, best) ((value) < (best) || IS_FIRST_NAN(value, best))
#endif

// One more y.
FN STATE step(STATE state, X x, Y y, ulong place) {
#if F == F_PRODUCT && REDUCTION == 0 && D == 1 && !INTEGERS && defined(__OPENCL_VERSION__)
  state.value = fma(x, (VECTOR)(y), state.value);
#else
#pragma unroll
  for (int k = 0; k < WIDTH; ++k) {
    const REAL before = LANE(state.value, k);
#if F == F_PRODUCT && REDUCTION == 0 && D == 1 && !INTEGERS
    LANE(state.value, k) = fma(LANE(x, k), y, before);
#else
    const REAL value = value_of(VECTOR_OF(x, k), y);
#if REDUCTION == 0
    LANE(state.value, k) = before + value;
#elif INDICES
    if (IS_BETTER(value, before)) {
      LANE(state.value, k) = value;
      state.at[k] = (long)place;
    }
#else
    LANE(state.value, k) = IS_BETTER(value, before) ? value : before;
#endif
#endif
  }
#endif
  return state;
}

FN void store(GLOBAL REAL* c, STATE state) {
#if INDICES
#pragma unroll
  for (int k = 0; k < WIDTH; ++k) ((GLOBAL long*)c)[global_id() * WIDTH + k] = state.at[k];
#else
  ((GLOBAL VECTOR*)c)[global_id()] = state.value;
#endif
}

#define PARAMETERS GLOBAL const REAL *a, GLOBAL const REAL *b, GLOBAL REAL *c, ulong x_count, ulong y_count
#define MY_X (((GLOBAL const X*)a)[global_id()])
#define GLOBAL_Y ((GLOBAL const Y*)b)

// All of B from global memory: `naive` with one x, `vectors` with several.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void from_global(PARAMETERS) {
  const X x = MY_X;
  STATE state = nothing();
  for (ulong y = 0; y < y_count; ++y) state = step(state, x, GLOBAL_Y[y], y);
  store(c, state);
}

// All of B in local memory: TILE is y_count, or more.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void local_all(PARAMETERS) {
  LOCAL_VAR Y tile[TILE];
  for (uint k = local_id(); k < y_count; k += GROUP) tile[k] = GLOBAL_Y[k];
  barrier_local();
  const X x = MY_X;
  STATE state = nothing();
  for (uint y = 0; y < y_count; ++y) state = step(state, x, tile[y], y);
  store(c, state);
}

// B is copied to local memory tile by tile.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void local_tiled(PARAMETERS) {
  LOCAL_VAR Y tile[TILE];
  const X x = MY_X;
  STATE state = nothing();
  for (ulong start = 0; start < y_count; start += TILE) {
    const uint count = y_count - start < TILE ? (uint)(y_count - start) : TILE;
    barrier_local();
    for (uint k = local_id(); k < count; k += GROUP) tile[k] = GLOBAL_Y[start + k];
    barrier_local();
    for (uint y = 0; y < count; ++y) state = step(state, x, tile[y], start + y);
  }
  store(c, state);
}

#if WIDTH > 1
// Vectors of B, too: one load for WIDTH of the y; then the y that are left over.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void both(PARAMETERS) {
  const X x = MY_X;
  STATE state = nothing();
  const ulong whole = y_count / WIDTH;
  for (ulong v = 0; v < whole; ++v) {
    X y = ((GLOBAL const X*)b)[v];
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) state = step(state, x, VECTOR_OF(y, k), v * WIDTH + k);
  }
  for (ulong y = whole * WIDTH; y < y_count; ++y) state = step(state, x, GLOBAL_Y[y], y);
  store(c, state);
}

// The same with tiles of vectors in local memory; what the last one has behind the end of B is not used.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void both_tiled(PARAMETERS) {
  LOCAL_VAR X tile[TILE / WIDTH];
  const X x = MY_X;
  STATE state = nothing();
  for (ulong start = 0; start < y_count; start += TILE) {
    const uint count = y_count - start < TILE ? (uint)(y_count - start) : TILE;
    const uint whole = count / WIDTH;
    barrier_local();
    for (uint v = local_id(); v < whole; v += GROUP) tile[v] = ((GLOBAL const X*)(GLOBAL_Y + start))[v];
    for (uint k = whole * WIDTH + local_id(); k < count; k += GROUP) ((LOCAL Y*)tile)[k] = GLOBAL_Y[start + k];
    barrier_local();
    for (uint v = 0; v < whole; ++v) {
      X y = tile[v];
#pragma unroll
      for (int k = 0; k < WIDTH; ++k) state = step(state, x, VECTOR_OF(y, k), start + v * WIDTH + k);
    }
    for (uint k = whole * WIDTH; k < count; ++k) state = step(state, x, ((LOCAL Y*)tile)[k], start + k);
  }
  store(c, state);
}
#endif
