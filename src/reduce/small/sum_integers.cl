// The exact sum of a small array of integers, or of their products, in one short launch: the counterpart of small_sum.cl, which is for floats.
// Groups add their sums to counted words (meet.h), which the last group gathers: the device must hold two groups.
//
// Defined by the host: BITS, SIGNED, PRODUCTS, DOT, LOADS, GROUP_SIZE (a multiple of two sub-groups), RESIDENT, STRIDED, STREAM
// as in small_sum.cl. There are at most 2^25 elements, so that no sum of pieces exceeds 2^57.
#define TILE (GROUP_SIZE * LOADS * ELEMENTS_PER_LOAD)
// Of the result: digits of 32 bits, then counters.
#define DIGITS 6
#define ENTRIES (DIGITS + SUM_COUNTERS)
#define SUBGROUPS (GROUP_SIZE / SUBGROUP)
// Whether loads of the tile from element `first` on may stay in the cache (cache_policy.h): of two arrays, half as many of each.
#define IS_CACHED(first) (!STREAM || (first) < CACHED_LOADS / (DOT ? 2 : 1) * ELEMENTS_PER_LOAD)
// A term is cut into pieces of 32 bits, the highest with the sign. Each piece has its own sum.
#define TERM_BITS (PRODUCTS ? 2 * BITS : BITS)
#define PIECES (TERM_BITS <= 32 ? 1 : TERM_BITS / 32)

#if SIGNED
#define WIDE long
#define NARROW(x) ((long)((int)((uint)(x) << (32 - BITS % 64)) >> (32 - BITS % 64)))
#else
#define WIDE ulong
#define NARROW(x) ((ulong)(x))
#endif

#define WIDE_TERMS (BITS == 64 && PRODUCTS)
#define LONG_TERMS (BITS == 32 && PRODUCTS && !(SIGNED && DOT))

#if WIDE_TERMS
// For products of 64-bit numbers: sums of the products of their halves, 96 bits each. The two middle products share a sum (of squares one of them
// is added). Signed numbers are offset by 2^63 to be unsigned; sums of the numbers themselves then correct the result.
typedef struct {
  uint low[3], middle[3], high[3];
  ulong lower, upper;  // halves of the numbers
  uint terms;
} SUMS;

FN void add_element(SUMS* sums, ELEMENT x, ELEMENT y) {
  const uint offset = SIGNED ? 0x80000000u : 0;
  const uint x_low = (uint)x, x_high = (uint)(x >> 32) + offset, y_low = (uint)y, y_high = (uint)(y >> 32) + offset;
  add_product96(sums->low, x_low, y_low);
  add_product96(sums->middle, x_low, y_high);
  if (DOT) add_product96(sums->middle, x_high, y_low);
  add_product96(sums->high, x_high, y_high);
  sums->lower += SIGNED ? (ulong)x_low + (DOT ? y_low : 0) : 0;
  sums->upper += SIGNED ? (ulong)x_high + (DOT ? y_high : 0) : 0;
  sums->terms += 1;
}

// The sums as pieces: of 35 bits, and the highest.
FN void cut(const SUMS* sums, long* pieces) {
  const uint twice = DOT ? 0 : 1;  // each middle product of squares counts twice
  const ulong middle = ((ulong)sums->middle[1] << 32 | sums->middle[0]) << twice;
  const ulong above = (ulong)sums->middle[2] << twice | (twice ? sums->middle[1] >> 31 : 0);
  pieces[0] = sums->low[0];
  pieces[1] = (long)sums->low[1] + (uint)middle;
  pieces[2] = (long)sums->low[2] + (uint)(middle >> 32) + sums->high[0];
  pieces[3] = (long)(((ulong)sums->high[2] << 32 | sums->high[1]) + above);
  if (SIGNED) {  // subtracts 2^63 times the numbers (of squares 2^64 times), and adds 2^126 for each product
    pieces[1] -= DOT ? (long)(((uint)sums->lower & 1) << 31) : 0;
    pieces[2] -= (long)(sums->lower >> DOT) + (DOT ? (long)(((uint)sums->upper & 1) << 31) : 0);
    pieces[3] -= (long)(sums->upper >> DOT) - ((long)sums->terms << 30);
  }
}
#elif LONG_TERMS
// For non-negative products of 32-bit numbers: a sum of 96 bits.
typedef struct {
  uint sum[3];
} SUMS;

FN void add_element(SUMS* sums, ELEMENT x, ELEMENT y) {
  if (SIGNED) {
    add_square96(sums->sum, (int)x);
  } else {
    add_product96(sums->sum, x, y);
  }
}

FN void cut(const SUMS* sums, long* pieces) {
  pieces[0] = sums->sum[0];
  pieces[1] = (long)((ulong)sums->sum[2] << 32 | sums->sum[1]);
}
#else
typedef struct {
  long pieces[PIECES];
} SUMS;

FN void add_term(SUMS* sums, WIDE term) {
#if PIECES == 2
  sums->pieces[0] += (long)((ulong)term & 0xffffffffu);
  sums->pieces[1] += (long)(term >> 32);
#else
  sums->pieces[0] += (long)term;
#endif
}

FN void add_element(SUMS* sums, ELEMENT x, ELEMENT y) {
#if BITS == 64
  add_term(sums, (WIDE)x);
#else
  add_term(sums, PRODUCTS ? NARROW(x) * NARROW(y) : NARROW(x));
#endif
}

FN void cut(const SUMS* sums, long* pieces) {
#pragma unroll
  for (int p = 0; p < PIECES; ++p) pieces[p] = sums->pieces[p];
}
#endif

FN SUMS sums_identity(void) {
  SUMS sums;
#if WIDE_TERMS
#pragma unroll
  for (int i = 0; i < 3; ++i) sums.low[i] = sums.middle[i] = sums.high[i] = 0;
  sums.lower = sums.upper = 0;
  sums.terms = 0;
#elif LONG_TERMS
  sums.sum[0] = sums.sum[1] = sums.sum[2] = 0;
#else
#pragma unroll
  for (int p = 0; p < PIECES; ++p) sums.pieces[p] = 0;
#endif
  return sums;
}

FN void add_load(SUMS* sums, uint4 x, uint4 y) {
#if BITS == 8  // four at once; the sum of a load fits into 32 bits
  const uint ones = 0x01010101u;
#if SIGNED
  int sum = dot4_s8(x.x, PRODUCTS ? y.x : ones, dot4_s8(x.y, PRODUCTS ? y.y : ones, 0));
  sum = dot4_s8(x.z, PRODUCTS ? y.z : ones, dot4_s8(x.w, PRODUCTS ? y.w : ones, sum));
#else
  uint sum = dot4_u8(x.x, PRODUCTS ? y.x : ones, dot4_u8(x.y, PRODUCTS ? y.y : ones, 0));
  sum = dot4_u8(x.z, PRODUCTS ? y.z : ones, dot4_u8(x.w, PRODUCTS ? y.w : ones, sum));
#endif
  sums->pieces[0] += sum;
#elif PRODUCTS && SIGNED && BITS == 32 && !LONG_TERMS
  // Two products less one fit into 64 bits; two products of the lowest numbers alone would not.
  const long less = (int)opaque(~0u);
  add_term(sums, (long)((ulong)((long)(int)x.x * (int)y.x + less) + (ulong)((long)(int)x.z * (int)y.z)));
  add_term(sums, (long)((ulong)((long)(int)x.y * (int)y.y + less) + (ulong)((long)(int)x.w * (int)y.w)));
  sums->pieces[0] += 2;
#else
#pragma unroll
  for (int i = 0; i < ELEMENTS_PER_LOAD; ++i) add_element(sums, element_of(x, i), element_of(y, i));
#endif
}

// Adds the tile from element `first` on.
FN void add_tile(SUMS* sums, GLOBAL const uchar* a, long a_stride, GLOBAL const uchar* b, long b_stride, uint first, uint count) {
#if STRIDED
#pragma unroll 4
  for (int i = 0; i < LOADS * ELEMENTS_PER_LOAD; ++i) {
    const uint at = first + local_id() + i * GROUP_SIZE;
    const ELEMENT x = at < count ? *(GLOBAL const ELEMENT*)(a + (long)at * a_stride) : 0;
    add_element(sums, x, at < count ? *(GLOBAL const ELEMENT*)(b + (long)at * b_stride) : 0);
  }
#else
  GLOBAL const uint4* a_loads = (GLOBAL const uint4*)a + first / ELEMENTS_PER_LOAD + local_id();
  GLOBAL const uint4* b_loads = (GLOBAL const uint4*)b + first / ELEMENTS_PER_LOAD + local_id();
  if (first + TILE <= count) {
    uint4 x[LOADS], y[LOADS];
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
      x[i] = IS_CACHED(first) ? a_loads[i * GROUP_SIZE] : load_streaming(&a_loads[i * GROUP_SIZE]);
      y[i] = !DOT ? x[i] : IS_CACHED(first) ? b_loads[i * GROUP_SIZE] : load_streaming(&b_loads[i * GROUP_SIZE]);
    }
#pragma unroll
    for (int i = 0; i < LOADS; ++i) add_load(sums, x[i], y[i]);
    return;
  }
  const uint whole = (count - first) / ELEMENTS_PER_LOAD;
#pragma unroll
  for (int i = 0; i < LOADS; ++i) {
    const uint at = i * GROUP_SIZE + local_id();
    const uint4 none = make_uint4(0, 0, 0, 0), x = at < whole ? a_loads[i * GROUP_SIZE] : none;
    add_load(sums, x, at < whole ? b_loads[i * GROUP_SIZE] : none);
  }
  if (local_id() < (count - first) % ELEMENTS_PER_LOAD) {
    const uint at = count - 1 - local_id();
    add_element(sums, ((GLOBAL const ELEMENT*)a)[at], ((GLOBAL const ELEMENT*)b)[at]);
  }
#endif
}

// The sub-group's sum of a piece, in two halves with room for the sum of a group.
#define HALF_BITS (27 - LOG2_SUBGROUPS)
#define LOG2_SUBGROUPS (SUBGROUPS <= 2 ? 1 : SUBGROUPS <= 4 ? 2 : SUBGROUPS <= 8 ? 3 : SUBGROUPS <= 16 ? 4 : 5)
FN ulong halves_of(long piece) {
  const uint low = subgroup_add_u32((uint)piece & ((1u << HALF_BITS) - 1));
  return (ulong)(uint)subgroup_add_s32((int)(piece >> HALF_BITS)) << 32 | low;
}

// Stores the sub-group's sums in local memory. All its work-items store the same words: faster than a branch.
FN void share(const long* sums, LOCAL uint4* storage) {
#pragma unroll
  for (int p = 0; p < PIECES; ++p) ((LOCAL ulong*)storage)[p * SUBGROUPS + local_id() / SUBGROUP] = halves_of(sums[p]);
  barrier_local();
}

// The group's sum of a piece, by the first sub-group.
FN long shared(int p, LOCAL const uint4* storage) {
#if SUBGROUPS <= 16  // faster than a reduction by the sub-group
  uint low = 0, high = 0;
#pragma unroll
  for (int i = 0; i < SUBGROUPS / 2; ++i) {
    const uint4 two = storage[p * SUBGROUPS / 2 + i];
    low += two.x + two.z;
    high += two.y + two.w;
  }
#else
  const ulong mine = local_id() < SUBGROUPS ? ((LOCAL const ulong*)storage)[p * SUBGROUPS + local_id()] : 0;
  const uint low = subgroup_add_u32((uint)mine), high = (uint)subgroup_add_s32((int)(uint)(mine >> 32));
#endif
  return low + (long)((ulong)(long)(int)high << HALF_BITS);
}

// Counted words (meet.h), one for each piece of a sum. There are copies of them, because a device executes additions to one word one after the
// other.
#define COPIES (SUBGROUP / PIECES)
#define COUNT_BITS 8

FN void publish(GLOBAL ulong* slots, const long* sums) {
  long piece = sums[0];
#pragma unroll
  for (int p = 1; p < PIECES; ++p) piece = local_id() == p ? sums[p] : piece;
  if (local_id() < PIECES) {
    publish_counted(&slots[group_id() % COPIES * PIECES + materialize(local_id())], (ulong)piece, COUNT_BITS);
  }
}

// Adds the sums of all other groups.
FN void gather(GLOBAL ulong* slots, uint others, long* sums) {
  const uint groups = (others + (COPIES - 1) - local_id() / PIECES) / COPIES;
  const ulong word = gather_counted(&slots[local_id()], groups, COUNT_BITS);
#pragma unroll
  for (int p = 0; p < PIECES; ++p) sums[p] += subgroup_add_s64(local_id() % PIECES == p ? (long)word >> COUNT_BITS : 0);
}

// Stores the result: the entries, and a SumRecord (samesum/sum.hpp). All lanes of a sub-group have the sum, and `any`, whether there are elements;
// each lane stores a word.
FN GLOBAL ulong* place_of_word(GLOBAL ulong* result, GLOBAL ulong* record) {
  return local_id() < ENTRIES ? result + local_id() : record + (local_id() - ENTRIES);
}
FN void store_sum(const long* sums, uint any, GLOBAL ulong* to) {
#if PIECES == 1
  const ulong low = (ulong)sums[0];
  const uint overflow = 0;
  const double float64 = (double)sums[0];
  const float float32 = (float)sums[0];
#else
  const long second = sums[1] + (sums[0] >> 32);
  const ulong low = (ulong)second << 32 | (uint)sums[0];
  // The highest 96 bits, with the lowest bit set if any bit below is: they round like the whole sum.
#if PIECES == 2
  const ulong top = (ulong)second;
  const uint bottom = (uint)sums[0];
  const float scale_f32 = 0x1p32f;
  const uint overflow = second >> 32 != (SIGNED ? (long)((int)second >> 31) : 0);
#else
  const long third = sums[2] + (second >> 32), fourth = sums[3] + (third >> 32);
  const uint in96 = fourth == ((int)third >> 31), in128 = fourth == (int)fourth;
  const uint word0 = (uint)sums[0], word1 = (uint)second, word2 = (uint)third, word3 = (uint)fourth;
  const uint above0 = word1 | (word0 != 0), above1 = word2 | ((word0 | word1) != 0);  // computed in any case: a selection costs less than a branch
  const uint bottom = in96 ? word0 : in128 ? above0 : above1, middle = in96 ? word1 : in128 ? word2 : word3;
  const uint highest = in96 ? word2 : in128 ? word3 : (uint)(fourth >> 32);
  const ulong top = (ulong)highest << 32 | middle;
  const double scale = in96 ? 1 : in128 ? 0x1p32 : 0x1p64;
  const float scale_f32 = in96 ? 0x1p32f : in128 ? 0x1p64f : 0x1p96f;
  const uint overflow = !in96 || (int)third != (SIGNED ? (int)second >> 31 : 0);
#endif
  // The upper 52 bits and the lower 44, both exact as float64: their sum is rounded once.
  const double upper = add_rn_f64(as_double((ulong)((long)top >> 12) + as_ulong(0x1.8p52)), -0x1.8p52);
  const double lower = add_rn_f64(as_double(((top & 0xfff) << 32 | bottom) + as_ulong(0x1p52)), -0x1p52);
  double float64 = fma_rn_f64(upper, 0x1p44, lower);
#if PIECES == 4
  float64 = mul_rn_f64(float64, scale);
#endif
  const long word = overflow ? (long)(top | (bottom != 0)) : (long)low;
  const float rounded = SIGNED || overflow ? (float)word : (float)(ulong)word;
  const float float32 = overflow ? mul_rn_f32(rounded, scale_f32) : rounded;
#endif
  // Computed by all lanes here: else compilers make a branch for each lane of the following selections.
  const ulong bits64 = (ulong)materialize((uint)(as_ulong(float64) >> 32)) << 32 | materialize((uint)as_ulong(float64));
  const ulong bits32 = (ulong)overflow << 32 | materialize(as_uint(float32));
  const uint lane = local_id();
  ulong word_of_lane = lane == DIGITS + COUNTER_OTHERS && any;
#pragma unroll
  for (int p = 0; p < PIECES; ++p) word_of_lane = lane == p ? (ulong)sums[p] : word_of_lane;
  word_of_lane = lane == ENTRIES ? bits64 : lane == ENTRIES + 1 ? (overflow ? 0 : low) : lane == ENTRIES + 2 ? bits32 : word_of_lane;
  if (lane < ENTRIES + 3) *to = word_of_lane;
}

// The arguments are those of small_sum.cl.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void sum_integers(GLOBAL const uchar* a, ulong a_offset, long a_stride, GLOBAL const uchar* b, ulong b_offset, long b_stride, ulong count,
                  GLOBAL ulong* slots, GLOBAL long* result, GLOBAL uchar* record, ulong record_offset, int skip_nans) {
  LOCAL_VAR uint4 storage[PIECES * SUBGROUPS / 2];
  grid_dependency_wait();
  const uint others = materialize(group_count() - 1), last = group_id() == others;
  SUMS tiles = sums_identity();
  uint first = group_id() * TILE;
  add_tile(&tiles, a + a_offset, a_stride, b + b_offset, b_stride, first, (uint)count);
#if STREAM
  for (first += group_count() * TILE; first < (uint)count; first += group_count() * TILE) {
    add_tile(&tiles, a + a_offset, a_stride, b + b_offset, b_stride, first, (uint)count);
  }
#endif
  long sums[PIECES];
  cut(&tiles, sums);
  share(sums, storage);
  if (local_id() >= SUBGROUP) return;
  GLOBAL ulong* to = place_of_word((GLOBAL ulong*)result, (GLOBAL ulong*)(record + record_offset));
#pragma unroll
  for (int p = 0; p < PIECES; ++p) sums[p] = shared(p, storage);
  if (!last) {
    publish(slots, sums);
    return;
  }
  if (others != 0) {
    launch_dependents();
    gather(slots, others, sums);
  }
  store_sum(sums, count != 0, to);
}
