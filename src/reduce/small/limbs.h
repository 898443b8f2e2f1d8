// For small_sum.cl: the tiles that groups read, and limbs of 16 bits, which hold sums with any exponents.
// Limb i weighs 2^(ROW_BASE + 16 i - 1074). Follows the file of the terms (sums_*.cl, products_*.cl).
#define TILE (GROUP_SIZE * REALS)
#define LIMBS (2 * DIGITS)
#define ROOM_LIMBS ((LIMBS + 18 + SUBGROUP - 1) / SUBGROUP * SUBGROUP)  // so that a slot may begin at each limb
#define SUBGROUPS (GROUP_SIZE / SUBGROUP)
#define MAX_SUM_GROUPS 1024
#define SLOT 8                   // words of a slot, of two limbs each
#define WIDE (LIMBS + SUM_COUNTERS)  // words of a wide slot

// The words of a group in local memory.
#define STORAGE_LIMBS 0
#define STORAGE_COUNTERS (STORAGE_LIMBS + ROOM_LIMBS)
#define STORAGE_OTHER (STORAGE_COUNTERS + SUM_COUNTERS)  // whether any term was not -0.0 or NaN
#define STORAGE_WIDE (STORAGE_OTHER + 1)             // whether any group has a wide slot
#define STORAGE_FAILED (STORAGE_WIDE + 1)            // 1 and the number of other groups that failed; 0 if the sum as a fixed-point number is right
#define STORAGE_ZERO (STORAGE_OTHER + 4)             // four zeros
#define STORAGE_GROUP (STORAGE_ZERO + 4)             // the group's sum as a fixed-point number
#define STORAGE_AGAIN (STORAGE_GROUP + FIXED_ROOM)   // the same at the second attempt
#define STORAGE_MARKS (STORAGE_AGAIN + FIXED_ROOM)   // bytes: which other groups have wide slots
#define STORAGE_COLUMNS (STORAGE_MARKS + MAX_SUM_GROUPS / 4)  // used only by terms that are added one by one
#define STORAGE (STORAGE_COLUMNS + (SUM_COUNTERS + LIMBS) * COLUMNS)

// The tile's terms: real_of() makes each from the elements of `a` and `b` with the same index. Beyond the last element there is -0.0, which adds
// nothing; for squares zero, as their sign does not matter. STRIDED: elements lie a stride apart. Else they are contiguous, and the first lies at
// a multiple of 16 bytes.
#define ABSENT_X (PRODUCTS && !DOT ? 0 : (ELEMENT)1 << (128 / ELEMENTS_PER_LOAD - 1))
// TERM: elements are the values of a formula, whose code defines ARRAY.
#if !TERM
typedef struct {
  GLOBAL const uchar* first;
  long stride;
} ARRAY;
FN ELEMENT element_of_array(ARRAY a, ulong i) { return *(GLOBAL const ELEMENT*)(a.first + (long)i * a.stride); }
#else
FN ELEMENT element_of_array(ARRAY a, ulong i) { return element_at(a, whole_array(), i); }
#endif

// Whether loads of the tile from element `first` on may stay in the cache (cache_policy.h): of two arrays, half as many of each.
#define IS_CACHED(first) (!STREAM || (first) < CACHED_LOADS / (DOT ? 2 : 1) * ELEMENTS_PER_LOAD)

#if !STRIDED
// A whole tile of contiguous elements.
FN void load_whole(REAL* v, ARRAY a, ARRAY b, ulong first) {
#if TERM
  uint4 x[LOADS];
#pragma unroll
  for (int i = 0; i < LOADS; ++i) x[i] = load_at(a, whole_array(), first / ELEMENTS_PER_LOAD + local_id() + i * GROUP_SIZE);
#pragma unroll
  for (int i = 0; i < REALS; ++i) v[i] = real_of(element_of(x[i / ELEMENTS_PER_LOAD], i % ELEMENTS_PER_LOAD), 0);
#else
  GLOBAL const uint4* a_loads = (GLOBAL const uint4*)a.first + first / ELEMENTS_PER_LOAD + local_id();
  GLOBAL const uint4* b_loads = (GLOBAL const uint4*)b.first + first / ELEMENTS_PER_LOAD + local_id();
  uint4 x[LOADS], y[LOADS];
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
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    v[i] = real_of(element_of(x[i / ELEMENTS_PER_LOAD], i % ELEMENTS_PER_LOAD), element_of(y[i / ELEMENTS_PER_LOAD], i % ELEMENTS_PER_LOAD));
  }
#endif
}
#endif

FN void load_tile(REAL* v, ARRAY a, ARRAY b, ulong first, ulong count) {
#if !STRIDED
  if (first + TILE <= count) {
    load_whole(v, a, b, first);
    return;
  }
#endif
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
#if STRIDED
    const ulong at = first + local_id() + i * GROUP_SIZE;
#else
    const ulong at = first + local_id() * ELEMENTS_PER_LOAD + i / ELEMENTS_PER_LOAD * (GROUP_SIZE * ELEMENTS_PER_LOAD) + i % ELEMENTS_PER_LOAD;
#endif
    const ELEMENT x = at < count ? element_of_array(a, at) : ABSENT_X;
    const ELEMENT y = !DOT ? x : at < count ? element_of_array(b, at) : 0;
    v[i] = real_of(x, y);
  }
}

// Adds the tile to the work-item's column; returns whether any term was not -0.0 or NaN.
FN uint add_to_columns(LOCAL uint* storage, const REAL* v) {
  LOCAL uint* column = storage + STORAGE_COLUMNS + SUM_COUNTERS * COLUMNS + (local_id() & (COLUMNS - 1));
  // A loop that moves the terms up keeps the code short.
  REAL left[REALS];
#pragma unroll
  for (int i = 0; i < REALS; ++i) left[i] = v[i];
  uint other = 0;
#pragma unroll 1
  for (int i = 0; i < REALS; ++i) {
    other |= add_to_column(column, left[0]);
#pragma unroll
    for (int k = 0; k < REALS - 1; ++k) left[k] = left[k + 1];
  }
  return other;
}

// Adds a value to limbs, by a sub-group.
FN void add_limbs(LOCAL uint* storage, long value, uint position) {
  const uint lane = local_id() & (SUBGROUP - 1), shift = position & 15;
  if (lane >= 5) return;
  const uint piece = lane == 4 ? (uint)((value >> 1) >> (63 - shift)) : (uint)(((ulong)value << shift) >> (16 * lane)) & 0xffffu;
  atomic_add_local32(&storage[STORAGE_LIMBS + (position >> 4) + lane], piece);
}

// Adds the sub-group's sums to limbs.
//
// With C = 1.5 * 2^k far above |x|, the float64 x + C is C plus x rounded to C's last bit: its bits, as an integer, are those of C plus
// that multiple. So integers add up the upper part of each sum. x - ((x + C) - C) is the exact rest, which is added with a smaller C.
#define LOWEST_FIELD (ROW_BASE < 0 ? 0u : ROW_BASE + 1u)
FN void spread(double* sums, LOCAL uint* storage) {
  for (;;) {
    uint greatest = 0;
#pragma unroll
    for (int i = 0; i < SUMS; ++i) greatest = max_u32(greatest, (uint)(as_ulong(sums[i]) >> 32) & 0x7fffffffu);
#if ROW_BASE <= 0  // where there are denormal numbers
#pragma unroll
    for (int i = 0; i < SUMS; ++i) greatest |= (uint)as_ulong(sums[i]) != 0;
#endif
    greatest = subgroup_max_u32(greatest);
    if (greatest == 0) break;
    // C's last bit is not below the last bit of limb 0. The lowest two binades have the same last bit: so C may be in the first of them.
    const uint lowest = ROW_BASE <= 0 && greatest >> 20 == 0;
    const uint field = lowest ? 1 : max_u32((greatest >> 20) + 1 + SUMS, LOWEST_FIELD);
    const ulong c = (ulong)(field << 20 | (lowest ? 0 : 0x00080000u)) << 32;
    long sum = 0;
    ulong left = 0;
#pragma unroll
    for (int i = 0; i < SUMS; ++i) {
      const double t = add_rn_f64(sums[i], as_double(c));
      sums[i] = add_rn_f64(sums[i], -add_rn_f64(t, -as_double(c)));
      sum += (long)(as_ulong(t) - c);
      left |= as_ulong(sums[i]) << 1;
    }
    const uint more = subgroup_ballot(left != 0);
    const long low = subgroup_add_s32((int)sum & 0x3ffffff), high = subgroup_add_s32((int)(sum >> 26));
    const long all = low + (long)((ulong)high << 26);
    add_limbs(storage, all, (uint)((int)field - 1 - (ROW_BASE)));
    if (more == 0) break;
  }
}

// Adds up the columns, into limbs and counters.
FN void add_up(LOCAL uint* storage) {
  const uint lane = local_id() & (SUBGROUP - 1);
  for (uint row = local_id() / SUBGROUP; row < SUM_COUNTERS + LIMBS; row += SUBGROUPS) {
    const int part = (int)storage[STORAGE_COLUMNS + row * COLUMNS + lane];
    if (subgroup_ballot(part != 0) == 0) continue;
    const int low = subgroup_add_s32(part & 0xffff), high = subgroup_add_s32(part >> 16);
    if (lane != 0) continue;
    if (row < SUM_COUNTERS) {
      storage[STORAGE_COUNTERS + SUM_COUNTERS - 1 - row] = (uint)low + ((uint)high << 16);
      storage[STORAGE_WIDE] = 1;
    } else {
      atomic_add_local32(&storage[STORAGE_LIMBS + row - SUM_COUNTERS], (uint)low);
      atomic_add_local32(&storage[STORAGE_LIMBS + row - SUM_COUNTERS + 1], (uint)high);
    }
  }
}

// Which limbs are in use: the first, and above 16 bits the one after the last. By a sub-group.
FN uint used_limbs(LOCAL const uint* storage) {
  uint first = 0, end = 0;
#pragma unroll
  for (uint i = 0; i < ROOM_LIMBS; i += SUBGROUP) {
    const uint used = subgroup_ballot(storage[STORAGE_LIMBS + i + (local_id() & (SUBGROUP - 1))] != 0);
    first = end == 0 && used != 0 ? i + lowest_bit(used) : first;
    end = used != 0 ? i + SUBGROUP - clz32(used) : end;
  }
  return end << 16 | first;
}

// Entry i of the group's sum.
FN long entry_of(LOCAL const uint* storage, uint i) {
  LOCAL const int* limbs = (LOCAL const int*)storage + STORAGE_LIMBS;
  if (i >= DIGITS) return i - DIGITS == COUNTER_OTHERS ? storage[STORAGE_OTHER] : storage[STORAGE_COUNTERS + i - DIGITS];
  return limbs[2 * i] + (long)((ulong)(long)limbs[2 * i + 1] << 16);
}

// Rounds a sum of ROUND_LIMBS limbs, the first of which weighs 2^`unit`. Returns 0 near the ends of float64's range, where it cannot.
#define ROUND_LIMBS 9
FN long three_limbs(LOCAL const int* limbs) {
  return (long)((ulong)(long)limbs[0] + ((ulong)(long)limbs[1] << 16) + ((ulong)(long)limbs[2] << 32));
}
FN ulong round_limbs(LOCAL const int* limbs, int unit, uint is_negative_zero, GLOBAL ulong* record) {
  // Words of 48 bits, the last with the sign and more.
  const long word_0 = three_limbs(limbs), word_1 = three_limbs(limbs + 3) + (word_0 >> 48);
  const ulong w0 = (ulong)word_0 & 0xffffffffffffUL, w1 = (ulong)word_1 & 0xffffffffffffUL;
  const long w2 = three_limbs(limbs + 6) + (word_1 >> 48);
  // Two numbers, both exact as float64, the lower of 48 bits. If 55 bits or more remain, its last bit may be set in place of all bits below: the
  // rounding to fewer bits is the same.
  long high = w2;
  ulong low = w1 | (w0 != 0);
  int moved = 48;
  if (w2 >= -128 && w2 < 128) {
    high = (long)((ulong)w2 << 32) + (long)(w1 >> 16);
    low = (w1 & 0xffffu) << 32 | w0 >> 16 | ((w0 & 0xffffu) != 0);
    moved = 16;
  }
  if (w2 == 0 || w2 == -1) {
    high = (long)w1 + (long)((ulong)w2 << 48);
    low = w0;
    moved = 0;
  }
  const double a = (double)high * 281474976710656.0, b = (double)(long)low;
  const double down = add_down_f64(a, b), up = add_up_f64(a, b);
  ulong float64 = as_ulong(add_rn_f64(a, b));
  // The sum rounded to odd: of the two neighbours, the one with an odd last bit. It rounds to float32 like the sum itself.
  ulong odd = as_ulong(down) & 1 ? as_ulong(down) : as_ulong(up);
  const int scale = unit + moved;
  if (high == 0 && low == 0) {
    float64 = odd = (ulong)is_negative_zero << 63;
  } else {
    const int field = (int)(float64 >> 52 & 0x7ffu) + scale;
    if (field < 2 || field > 2045 || (high >> 53) != (high >> 63)) return 0;
    float64 += (ulong)(long)scale << 52;
    odd += (ulong)(long)scale << 52;
  }
  if ((local_id() & (SUBGROUP - 1)) == 0) {
    record[0] = float64;
    record[1] = 0;
    record[2] = as_uint((float)as_double(odd));
  }
  return float64 | 1;
}
