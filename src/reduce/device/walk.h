// How a kernel reads arrays: contiguous elements by loads of 16 bytes, others one by one.
//
// Follows elements.h. An array consists of rows of `length` elements. Rows are `row_stride` bytes apart, and elements of a row `stride` bytes:
// element i is element i % length of row i / length. If not STRIDED, the array is one contiguous row.
// If TERM, elements are values of a formula, and generated code that follows this file defines ARRAY and its functions (term.hpp).
#if !TERM
typedef struct {
  GLOBAL const uchar* first;
  long stride, row_stride;
} ARRAY;
#endif

// Divides indices by a row length, by multiplication with its reciprocal.
typedef struct {
  ulong length, reciprocal;
} ROWS;
FN ROWS rows_of(ulong length) {
  ROWS rows;
  rows.length = length;
  rows.reciprocal = length > 1 ? ~(ulong)0 / length + 1 : 0;  // 2^64 / length, rounded up
  return rows;
}
FN ulong row_number(ROWS rows, ulong i) {
  if (rows.length == 1) return i;  // 2^64 / 1 is no ulong
  const ulong row = mul_hi64(i, rows.reciprocal);  // or one too high
  return row * rows.length > i ? row - 1 : row;
}

// What all arrays of a launch have in common. A row has `head` elements before the first aligned 16 bytes, then `loads.length` loads. If that is
// zero, a load is assembled from single elements.
typedef struct {
  ROWS elements, loads;
  uint head;
  uint cached;  // loads that may stay in the cache (cache_policy.h)
} WALK;

#if TERM
#elif STRIDED
FN ELEMENT element_at(ARRAY a, WALK walk, ulong i) {
  const ulong row = row_number(walk.elements, i);
  return *(GLOBAL const ELEMENT*)(a.first + ((long)row * a.row_stride + (long)(i - row * walk.elements.length) * a.stride));
}

// The index of load j's first element.
FN ulong index_of_load(WALK walk, ulong j) {
  if (walk.loads.length == 0) return j * ELEMENTS_PER_LOAD;
  const ulong row = row_number(walk.loads, j);
  return row * walk.elements.length + walk.head + (j - row * walk.loads.length) * ELEMENTS_PER_LOAD;
}

FN uint4 load_at(ARRAY a, WALK walk, ulong j) {
  if (walk.loads.length != 0) {
    const ulong row = row_number(walk.loads, j);
    const long column = (long)((j - row * walk.loads.length) * 16 + walk.head * sizeof(ELEMENT));
    return load_streaming((GLOBAL const uint4*)(a.first + ((long)row * a.row_stride + column)));
  }
  ulong row = row_number(walk.elements, j * ELEMENTS_PER_LOAD);
  ulong column = j * ELEMENTS_PER_LOAD - row * walk.elements.length;
  uint words[4] = {0, 0, 0, 0};
#pragma unroll
  for (int k = 0; k < ELEMENTS_PER_LOAD; ++k) {
    const ulong x = *(GLOBAL const ELEMENT*)(a.first + ((long)row * a.row_stride + (long)column * a.stride));
#if BITS == 64
    words[2 * k] = (uint)x;
    words[2 * k + 1] = (uint)(x >> 32);
#else
    words[k * BITS / 32] |= (uint)x << (k * BITS % 32);
#endif
    ++column;
    row += column == walk.elements.length;
    column = column == walk.elements.length ? 0 : column;
  }
  return make_uint4(words[0], words[1], words[2], words[3]);
}

// The index of element s of the rest after the first `loads` loads: the other loads, and the elements of rows before and after their loads.
FN ulong index_of_rest(WALK walk, ulong loads, ulong all_loads, ulong s) {
  if (walk.loads.length == 0) return loads * ELEMENTS_PER_LOAD + s;
  const ulong in_loads = (all_loads - loads) * ELEMENTS_PER_LOAD;
  if (s < in_loads) return index_of_load(walk, loads + s / ELEMENTS_PER_LOAD) + s % ELEMENTS_PER_LOAD;
  const ulong row_loads = walk.loads.length * ELEMENTS_PER_LOAD, singles = walk.elements.length - row_loads;
  const ulong row = (s - in_loads) / singles, single = (s - in_loads) - row * singles;
  return row * walk.elements.length + (single < walk.head ? single : single + row_loads);
}
#else
FN ELEMENT element_at(ARRAY a, WALK walk, ulong i) { return ((GLOBAL const ELEMENT*)a.first)[i]; }
FN ulong index_of_load(WALK walk, ulong j) { return walk.head + j * ELEMENTS_PER_LOAD; }
FN uint4 load_at(ARRAY a, WALK walk, ulong j) {
  GLOBAL const uint4* loads = (GLOBAL const uint4*)(a.first + walk.head * sizeof(ELEMENT));
  return CACHED && j < walk.cached ? loads[j] : load_streaming(&loads[j]);
}
FN ulong index_of_rest(WALK walk, ulong loads, ulong all_loads, ulong s) { return walk.head + loads * ELEMENTS_PER_LOAD + s; }
#endif
