// The tiles that groups of small_sum.cl read, as loads of 16 bytes. Group i has tiles i, i + group_count(), ….
#define REALS (LOADS * ELEMENTS_PER_LOAD)  // terms of a tile that a work-item holds
#define TILE (GROUP_SIZE * REALS)

// Beyond the last element there is -0.0, which adds nothing; for squares zero, as their sign does not matter.
#define ABSENT_X (PRODUCTS && !DOT ? 0 : SIGN_BIT)

// STRIDED: elements lie a stride apart. Else they are contiguous, and the first lies at a multiple of 16 bytes. TERM: they are the values of a
// formula, whose code defines ARRAY.
#if !TERM
typedef struct {
  GLOBAL const uchar* first;
  long stride;
} ARRAY;
FN WORD element_of_array(ARRAY a, ulong i) { return *(GLOBAL const ELEMENT*)(a.first + (long)i * a.stride); }
#else
FN WORD element_of_array(ARRAY a, ulong i) { return (WORD)element_at(a, whole_array(), i); }
#endif

// Whether loads of the tile from element `first` on may stay in the cache (cache_policy.h): of two arrays, half as many of each.
#define IS_CACHED(first) (!STREAM || (first) < CACHED_LOADS / (DOT ? 2 : 1) * ELEMENTS_PER_LOAD)

#if !STRIDED
// A whole tile of contiguous elements.
FN void load_whole(uint4* x, uint4* y, ARRAY a, ARRAY b, ulong first) {
#if TERM
#pragma unroll
  for (int i = 0; i < LOADS; ++i) x[i] = y[i] = load_at(a, whole_array(), first / ELEMENTS_PER_LOAD + local_id() + i * GROUP_SIZE);
#else
  GLOBAL const uint4* a_loads = (GLOBAL const uint4*)a.first + first / ELEMENTS_PER_LOAD + local_id();
  GLOBAL const uint4* b_loads = (GLOBAL const uint4*)b.first + first / ELEMENTS_PER_LOAD + local_id();
  if (IS_CACHED(first)) {
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
      x[i] = a_loads[i * GROUP_SIZE];
      y[i] = DOT ? b_loads[i * GROUP_SIZE] : x[i];
    }
  } else {
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
      x[i] = load_streaming(&a_loads[i * GROUP_SIZE]);
      y[i] = DOT ? load_streaming(&b_loads[i * GROUP_SIZE]) : x[i];
    }
  }
#endif
}
#endif

// Load `load` of a tile, element by element.
FN uint4 gather_load(ARRAY a, ulong first, int load, ulong count, const WORD absent) {
  uint words[4] = {0, 0, 0, 0};
#pragma unroll
  for (int i = 0; i < ELEMENTS_PER_LOAD; ++i) {
#if STRIDED
    const ulong at = first + local_id() + (load * ELEMENTS_PER_LOAD + i) * GROUP_SIZE;
#else
    const ulong at = first + (local_id() + load * GROUP_SIZE) * ELEMENTS_PER_LOAD + i;
#endif
    const WORD element = at < count ? element_of_array(a, at) : absent;
#if BITS == 64
    words[2 * i] = (uint)element;
    words[2 * i + 1] = (uint)(element >> 32);
#else
    words[i * BITS / 32] |= element << (i * BITS % 32);
#endif
  }
  return make_uint4(words[0], words[1], words[2], words[3]);
}

FN void load_tile(uint4* x, uint4* y, ARRAY a, ARRAY b, ulong first, ulong count) {
#if !STRIDED
  if (first + TILE <= count) {
    load_whole(x, y, a, b, first);
    return;
  }
#endif
#pragma unroll
  for (int i = 0; i < LOADS; ++i) {
    x[i] = gather_load(a, first, i, count, ABSENT_X);
    y[i] = DOT ? gather_load(b, first, i, count, 0) : x[i];
  }
}
