// Selection: counts of a digit of keys, and keys themselves, of all elements whose keys begin with the same bits.
//
// A key is an unsigned integer in the order of the elements, as in keys.hpp; NaNs have none. Defined by the host, beside what elements.h and walk.h
// take: GROUP_SIZE, LOADS (of 16 bytes, in flight), DIGIT_BITS.

#define DIGITS (1u << DIGIT_BITS)
#define COUNTERS (DIGITS + 1)  // the last one is of NaNs
#define KEY_SIGN ((WORD)1 << (BITS - 1))

#if !TERM
#define TERM_PARAMETERS GLOBAL const uchar *a, ulong a_offset, long a_stride, long a_row_stride
#define TERM_VALUE {a + a_offset, a_stride, a_row_stride}
#endif

FN WORD selection_key(WORD x) {
#if FLOATS
  return x < KEY_SIGN ? x | KEY_SIGN : 2 * KEY_SIGN - 1 - x;
#else
  return SIGNED ? x ^ KEY_SIGN : x;
#endif
}

// What is wanted: keys that are `prefix` where `mask` has ones. With `most`, their digits are counted if it is 0, else the first `most` keys are kept.
typedef struct {
  WORD prefix, mask;
  uint shift, digits, most;
} WANTED;

// Elements that follow one another and have the same digit are added to its counter at once.
typedef struct {
  uint digit, number;
} SAME;

FN SAME see(WORD x, WANTED wanted, SAME same, LOCAL uint* counters, GLOBAL uint* found, GLOBAL ELEMENT* keys) {
  const WORD key = selection_key(x);
  const uint nan = is_nan(x);
  if (wanted.most != 0) {
    if (nan == 0 && (key & wanted.mask) == wanted.prefix) {
      const uint place = atomic_add_global32(found, 1);
      if (place < wanted.most) keys[place] = (ELEMENT)key;
    }
    return same;
  }
  if (nan == 0 && (key & wanted.mask) != wanted.prefix) return same;
  const uint digit = nan != 0 ? DIGITS : (uint)(key >> wanted.shift) & wanted.digits;
  if (digit != same.digit) {
    if (same.number != 0) atomic_add_local32(&counters[same.digit], same.number);
    same.digit = digit;
    same.number = 0;
  }
  ++same.number;
  return same;
}

FN ulong index_of_single(WALK walk, ulong loads, ulong s) {
#if STRIDED
  return index_of_rest(walk, loads, loads, s);
#else
  return s < walk.head ? s : index_of_rest(walk, loads, loads, s - walk.head);
#endif
}

// `found` has COUNTERS counters, which are added to or, for keys, their number.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void select_keys(TERM_PARAMETERS, ulong row_length, uint head, ulong row_loads, ulong loads, ulong count, ulong prefix, ulong mask, uint shift,
                 uint digits, uint most, GLOBAL uint* found, GLOBAL uchar* keys) {
  LOCAL_VAR uint counters[COUNTERS];
  for (uint i = local_id(); i < COUNTERS; i += GROUP_SIZE) counters[i] = 0;
  grid_dependency_wait();
  barrier_local();
  const ARRAY array = TERM_VALUE;
  WALK walk;
  walk.elements = rows_of(row_length);
  walk.loads = rows_of(row_loads);
  walk.head = head;
  walk.cached = 0;
  const WANTED wanted = {(WORD)prefix, (WORD)mask, shift, digits, most};
  SAME same = {0, 0};
  for (ulong j = global_id(); j < loads; j += LOADS * global_size()) {
    uint4 v[LOADS];
#pragma unroll
    for (int n = 0; n < LOADS; ++n) v[n] = load_at(array, walk, j + n * global_size() < loads ? j + n * global_size() : j);
#pragma unroll
    for (int n = 0; n < LOADS; ++n) {
      if (j + n * global_size() >= loads) break;
#pragma unroll
      for (int k = 0; k < ELEMENTS_PER_LOAD; ++k) {
        same = see(element_of(v[n], k), wanted, same, counters, found, (GLOBAL ELEMENT*)keys);
      }
    }
  }
  for (ulong s = global_id(); s < count - loads * ELEMENTS_PER_LOAD; s += global_size()) {
    same = see((WORD)element_at(array, walk, index_of_single(walk, loads, s)), wanted, same, counters, found, (GLOBAL ELEMENT*)keys);
  }
  if (same.number != 0) atomic_add_local32(&counters[same.digit], same.number);
  barrier_local();
  for (uint i = local_id(); most == 0 && i < COUNTERS; i += GROUP_SIZE) {
    if (counters[i] != 0) atomic_add_global32(&found[i], counters[i]);
  }
}
