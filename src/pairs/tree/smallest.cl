// The K smallest f of each x, in order, ties by index: a work-item has an x, walks a part of the y in order and keeps the smallest so far. What
// is not less than the greatest of these, as soon most are, costs one comparison. pairs_smallest_merge goes through the parts' lists in the
// same way.
//
// Before it stands f_values() (pair_source.hpp). Defined by the host: D, EXTRAS, STORED, LOADED(word), REAL, GROUP, TILE (y), K, KIND (what f
// gives: 0 float, 1 double, 2 long, 3 ulong), INDICES (C is the indices).

#define USED (D + EXTRAS)
#define STORED_AT(bytes, offset) ((GLOBAL const STORED*)((bytes) + (offset)))

// Numbers as integers: NaN first, then -inf … -0.0, +0.0 … inf. See problem.hpp.
#if KIND == 0
#define NUMBER float
#define LIST_KEY int
#define MOST_KEY 0x7fffffff
#define BITS_OF(x) (int)as_uint(x)
#define NUMBER_OF_BITS(x) as_float((uint)(x))
#define SIGN_OF(x) ((x) >> 31)
#define NAN_KEY_BITS 0x7fc00000
#elif KIND == 1
#define NUMBER double
#define LIST_KEY long
#define MOST_KEY 0x7fffffffffffffffL
#define BITS_OF(x) (long)as_ulong(x)
#define NUMBER_OF_BITS(x) as_double((ulong)(x))
#define SIGN_OF(x) ((x) >> 63)
#define NAN_KEY_BITS 0x7ff8000000000000L
#else
#define LIST_KEY long
#define MOST_KEY 0x7fffffffffffffffL
#if KIND == 2
#define NUMBER long
#else
#define NUMBER ulong
#endif
#endif

FN LIST_KEY key_of_number(NUMBER number) {
#if KIND <= 1
  const LIST_KEY bits = BITS_OF(number);
  return number == number ? bits ^ (SIGN_OF(bits) & MOST_KEY) : -MOST_KEY - 1;
#elif KIND == 2
  return number;
#else
  return (long)(number ^ 0x8000000000000000UL);
#endif
}

FN NUMBER number_of_key(LIST_KEY key) {
#if KIND <= 1
  return NUMBER_OF_BITS(key == -MOST_KEY - 1 ? NAN_KEY_BITS : key ^ (SIGN_OF(key) & MOST_KEY));
#elif KIND == 2
  return key;
#else
  return (ulong)key ^ 0x8000000000000000UL;
#endif
}

// Puts a key that is less than keys[last], or for which that place is free, behind all that are not greater.
FN void insert(LIST_KEY* keys, uint* places, uint last, LIST_KEY key, uint place) {
#if K <= 16
  // Indices that are constants, so that the list stays in registers.
#pragma unroll
  for (uint j = K - 1; j > 0; --j) {
    const int moves = j <= last && key < keys[j - 1];
    const int here = j <= last && !moves && (j == last || key < keys[j]);
    places[j] = moves ? places[j - 1] : here ? place : places[j];
    keys[j] = moves ? keys[j - 1] : here ? key : keys[j];
  }
  const int first = last == 0 || key < keys[0];
  places[0] = first ? place : places[0];
  keys[0] = first ? key : keys[0];
#else
  uint j = last;
  for (; j > 0 && key < keys[j - 1]; --j) {
    keys[j] = keys[j - 1];
    places[j] = places[j - 1];
  }
  keys[j] = key;
  places[j] = place;
#endif
}

typedef struct {
  LIST_KEY key;
  ulong place;
} ENTRY;

// `entries`: number j of a part and an x at (part K + j) x_count + x. `failed` is set where an operation failed.
KERNEL FIXED_GROUP(GROUP, 1) void pairs_smallest(GLOBAL const uchar* a_bytes, ulong a_offset, GLOBAL const uchar* b_bytes, ulong b_offset,
                                                 GLOBAL const REAL* extras, ulong x_count, ulong y_count, ulong share,
                                                 uint parts F_TAKES, GLOBAL ENTRY* entries, GLOBAL uint* failed) {
  GLOBAL const STORED* const a = STORED_AT(a_bytes, a_offset);
  GLOBAL const STORED* const b = STORED_AT(b_bytes, b_offset);
  LOCAL_VAR REAL tile[TILE * USED];
  const uint part = group_id() % parts;
  const ulong at = (ulong)(group_id() / parts) * GROUP + local_id();
  const ulong from = at < x_count ? at : x_count - 1;
  const ulong begin = part * share;
  const ulong end = begin + share < y_count ? begin + share : y_count;
  uint error = 0;
  REAL x[D];
  for (uint d = 0; d < D; ++d) x[d] = LOADED(a[from * D + d]);
  LIST_KEY keys[K];
  uint places[K];
#pragma unroll
  for (uint j = 0; j < K; ++j) {
    keys[j] = MOST_KEY;
    places[j] = 0;
  }
  uint filled = 0;
  LIST_KEY worst = MOST_KEY;
  for (ulong start = begin; start < end; start += TILE) {
    const uint count = end - start < TILE ? (uint)(end - start) : TILE;
    barrier_local();
    for (uint k = local_id(); k < count * D; k += GROUP) tile[k / D * USED + k % D] = LOADED(b[start * D + k]);
#if EXTRAS > 0
    for (uint k = local_id(); k < count * EXTRAS; k += GROUP) tile[k / EXTRAS * USED + D + k % EXTRAS] = extras[start * EXTRAS + k];
#endif
    barrier_local();
    for (uint j = 0; j < count; ++j) {
      REAL y[USED];
      for (uint d = 0; d < USED; ++d) y[d] = tile[j * USED + d];
      const F_RESULT f = f_values(x, y, &error F_GIVES);
      const LIST_KEY key = key_of_number(F_NUMBER(0));
      if (filled < K || key < worst) {
        insert(keys, places, filled < K ? filled : K - 1, key, (uint)(start - begin) + j);
        filled = filled < K ? filled + 1 : K;
        worst = keys[K - 1];
      }
    }
  }
  if (at < x_count) {
    for (uint j = 0; j < filled; ++j) {
      ENTRY entry;
      entry.key = keys[j];
      entry.place = begin + places[j];
      entries[((ulong)part * K + j) * x_count + at] = entry;
    }
  }
  if (error != 0) atomic_max_global32(failed, 1);
}

KERNEL FIXED_GROUP(GROUP, 1) void pairs_smallest_merge(GLOBAL const ENTRY* entries, ulong x_count, ulong y_count, ulong share, uint parts,
                                                       GLOBAL uchar* c_bytes, ulong c_offset) {
  const ulong x = global_id() < x_count ? global_id() : x_count - 1;
  LIST_KEY keys[K];
  uint places[K];  // numbers of entries
#pragma unroll
  for (uint j = 0; j < K; ++j) {
    keys[j] = MOST_KEY;
    places[j] = 0;
  }
  uint filled = 0;
  for (uint part = 0; part < parts; ++part) {
    const ulong left = y_count - part * share;
    const uint there = left < K ? (uint)left : share < K ? (uint)share : K;
    for (uint j = 0; j < there; ++j) {
      const LIST_KEY key = entries[((ulong)part * K + j) * x_count + x].key;
      if (filled == K && key >= keys[K - 1]) break;
      insert(keys, places, filled < K ? filled : K - 1, key, part * K + j);
      filled = filled < K ? filled + 1 : K;
    }
  }
  if (global_id() < x_count) {
    for (uint j = 0; j < K; ++j) {
#if INDICES
      ((GLOBAL ulong*)(c_bytes + c_offset))[x * K + j] = entries[places[j] * x_count + x].place;
#else
      ((GLOBAL NUMBER*)(c_bytes + c_offset))[x * K + j] = number_of_key(keys[j]);
#endif
    }
  }
}
