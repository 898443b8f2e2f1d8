// The exact sum of little data of integers, or of their products, in one short launch: in registers, group by group, as sum_window.cl is for
// floats. Each group leaves its sums in words that say of themselves that they are there; the last group waits for those of the others,
// which wait for nothing: the device must hold two groups.
//
// Defined by the host: INTEGER_BITS, INTEGER_SIGNED, PRODUCTS, DOT, LOADS, GROUP_SIZE (a multiple of the sub-group), RESIDENT, STRIDED, STREAM as
// in sum_window.cl. There are 2^25 elements at most, so that no sum of pieces is beyond 2^57.
#define TILE (GROUP_SIZE * LOADS * ELEMENTS_PER_LOAD)
#define SUBGROUPS (GROUP_SIZE / SUBGROUP)
// Whether loads of the tile from element `first` on may stay in the cache (kept.h); of two arrays half as many of each.
#define IS_KEPT(first) (!STREAM || (first) < KEPT_LOADS / (DOT ? 2 : 1) * ELEMENTS_PER_LOAD)
// A term is cut into pieces of 32 bits, the highest with the sign; of each there is a sum.
#define TERM_BITS (PRODUCTS ? 2 * INTEGER_BITS : INTEGER_BITS)
#define PIECES (TERM_BITS <= 32 ? 1 : TERM_BITS / 32)

#if INTEGER_SIGNED
#define WIDE long
#define NARROW(x) ((long)((int)((uint)(x) << (32 - INTEGER_BITS % 64)) >> (32 - INTEGER_BITS % 64)))
#else
#define WIDE ulong
#define NARROW(x) ((ulong)(x))
#endif

#define WIDE_TERMS (INTEGER_BITS == 64 && PRODUCTS)

#if WIDE_TERMS
// Of products of 64-bit numbers: sums of the products of their halves, of 96 bits each, the two in the middle together (of squares one of
// them). Signed numbers are taken 2^63 too high, as unsigned ones, and added up beside, for what is then too much.
typedef struct {
  uint low[3], middle[3], high[3], numbers[3];
  uint terms;
} SUMS;

FN void add_element(SUMS* sums, ELEMENT x, ELEMENT y) {
  const uint offset = INTEGER_SIGNED ? 0x80000000u : 0;
  const uint x_low = (uint)x, x_high = (uint)(x >> 32) ^ offset, y_low = (uint)y, y_high = (uint)(y >> 32) ^ offset;
  add_product96(sums->low, x_low, y_low);
  add_product96(sums->middle, x_low, y_high);
  if (DOT) add_product96(sums->middle, x_high, y_low);
  add_product96(sums->high, x_high, y_high);
  if (INTEGER_SIGNED) add_two96(sums->numbers, x_low, x_high, DOT ? y_low : 0, DOT ? y_high : 0);
  sums->terms += 1;
}

// The same in pieces.
FN void cut(const SUMS* sums, long* pieces) {
  const uint twice = DOT ? 0 : 1;
  pieces[0] = sums->low[0];
  pieces[1] = sums->low[1] + ((long)sums->middle[0] << twice);
  pieces[2] = sums->low[2] + ((long)sums->middle[1] << twice) + sums->high[0];
  pieces[3] = ((long)sums->middle[2] << twice) + sums->high[1] + (long)((ulong)sums->high[2] << 32);
  if (INTEGER_SIGNED) {  // 2^63 times the numbers, of squares 2^64 times
    pieces[1] -= DOT ? (long)sums->numbers[0] << 31 : 0;
    pieces[2] -= DOT ? (long)sums->numbers[1] << 31 : (long)sums->numbers[0];
    pieces[3] -= DOT ? (long)sums->numbers[2] << 31 : (long)((ulong)sums->numbers[2] << 32 | sums->numbers[1]);
    pieces[3] += (long)sums->terms << 30;
  }
#pragma unroll
  for (int p = 0; p < PIECES - 1; ++p) {
    pieces[p + 1] += pieces[p] >> 32;
    pieces[p] &= 0xffffffffL;
  }
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
#if INTEGER_BITS == 64
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

FN SUMS no_sums(void) {
  SUMS sums;
#if WIDE_TERMS
#pragma unroll
  for (int i = 0; i < 3; ++i) sums.low[i] = sums.middle[i] = sums.high[i] = sums.numbers[i] = 0;
  sums.terms = 0;
#else
#pragma unroll
  for (int p = 0; p < PIECES; ++p) sums.pieces[p] = 0;
#endif
  return sums;
}

FN void add_load(SUMS* sums, uint4 x, uint4 y) {
#if INTEGER_BITS == 8  // four at once; nothing is lost in 32 bits
  const uint ones = 0x01010101u;
#if INTEGER_SIGNED
  int sum = dot4_s8(x.x, PRODUCTS ? y.x : ones, dot4_s8(x.y, PRODUCTS ? y.y : ones, 0));
  sum = dot4_s8(x.z, PRODUCTS ? y.z : ones, dot4_s8(x.w, PRODUCTS ? y.w : ones, sum));
#else
  uint sum = dot4_u8(x.x, PRODUCTS ? y.x : ones, dot4_u8(x.y, PRODUCTS ? y.y : ones, 0));
  sum = dot4_u8(x.z, PRODUCTS ? y.z : ones, dot4_u8(x.w, PRODUCTS ? y.w : ones, sum));
#endif
  sums->pieces[0] += sum;
#elif PRODUCTS && INTEGER_SIGNED && INTEGER_BITS == 32
  // Two products, less one, have 64 bits: that of lowest numbers alone would not.
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
      x[i] = IS_KEPT(first) ? a_loads[i * GROUP_SIZE] : load_once(&a_loads[i * GROUP_SIZE]);
      y[i] = !DOT ? x[i] : IS_KEPT(first) ? b_loads[i * GROUP_SIZE] : load_once(&b_loads[i * GROUP_SIZE]);
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

// Of the values of all, for all; less than 2^57.
FN long subgroup_add_s64(long value) {
  const long low = subgroup_add_s32((int)value & 0x3ffffff), high = subgroup_add_s32((int)(value >> 26));
  return low + (long)((ulong)high << 26);
}

// Adds up the group's sums, for the first sub-group.
FN void add_up(long* sums, LOCAL long* storage) {
#pragma unroll
  for (int p = 0; p < PIECES; ++p) {
    sums[p] = subgroup_add_s64(sums[p]);
    storage[p * SUBGROUPS + local_id() / SUBGROUP] = sums[p];  // by all, who know it: sooner than a choice
  }
  barrier_local();
  if (local_id() >= SUBGROUP) return;
#pragma unroll
  for (int p = 0; p < PIECES; ++p) {
#if SUBGROUPS <= (PIECES == 4 ? 8 : 16)  // sooner than by the sub-group
    sums[p] = 0;
#pragma unroll
    for (int i = 0; i < SUBGROUPS; ++i) sums[p] += storage[p * SUBGROUPS + i];
#else
    sums[p] = subgroup_add_s64(local_id() < SUBGROUPS ? storage[p * SUBGROUPS + local_id()] : 0);
#endif
  }
}

// A word of a slot: a sum, and that it is there.
#define PRESENT ((ulong)1 << 63)

// Adds what the other groups left, as it comes, and clears it.
#define BATCH 2  // slots that a work-item waits for at once
FN void take_slots(GLOBAL ulong* slots, long* sums) {
  const uint others = group_count() - 1;
  for (uint first = local_id(); first < others; first += BATCH * GROUP_SIZE) {
    ulong words[BATCH * PIECES];
    ulong complete;
    do {
      complete = PRESENT;
#pragma unroll
      for (int i = 0; i < BATCH * PIECES; ++i) {
        const uint slot = first + i / PIECES * GROUP_SIZE;
        words[i] = slot < others ? atomic_load_global64(&slots[slot * PIECES + i % PIECES]) : PRESENT;
        complete &= words[i];
      }
    } while (!(complete & PRESENT));
#pragma unroll
    for (int i = 0; i < BATCH * PIECES; ++i) {
      const uint slot = first + i / PIECES * GROUP_SIZE;
      if (slot < others) slots[slot * PIECES + i % PIECES] = 0;
      sums[i % PIECES] += (long)(words[i] << 1) >> 1;
    }
  }
}

// The bits of 2^power times the float of these bits, which is 1 at least.
FN uint scaled_f32(uint bits, uint power) {
  const uint scaled = bits + (power << 23);
  return scaled < 0x7f800000u ? scaled : 0x7f800000u;
}

// What is left of a sum: its entries, and a SumRecord (samesum/sum.hpp). A word by each lane of a sub-group, all of which know the sum.
FN void leave_sum(const long* sums, ulong count, GLOBAL ulong* result, GLOBAL ulong* record) {
  // As 192 bits.
#if PIECES == 1
  const ulong low = (ulong)sums[0];
  const long middle = sums[0] >> 63, high = middle;
#elif PIECES == 2
  const long upper = sums[1] + (sums[0] >> 32);
  const ulong low = (ulong)upper << 32 | (ulong)(sums[0] & 0xffffffffL);
  const long middle = upper >> 32, high = middle >> 63;
#else
  const long second = sums[1] + (sums[0] >> 32), third = sums[2] + (second >> 32), fourth = sums[3] + (third >> 32);
  const ulong low = (ulong)second << 32 | (ulong)(sums[0] & 0xffffffffL);
  const long middle = (long)((ulong)fourth << 32 | (ulong)(third & 0xffffffffL)), high = fourth >> 32;
#endif
  const long above = INTEGER_SIGNED ? (long)low >> 63 : 0;  // what lies above a sum of 64 bits
  ulong float64 = as_ulong((double)(WIDE)low), integer = low, float32 = as_uint((float)(WIDE)low);
  if (PIECES > 1 && (middle != above || high != above)) {
    // The magnitude's highest 64 bits, the lowest of them set where there is something below: to round these is to round all.
    const ulong negative = high < 0 ? ~(ulong)0 : 0;
    const ulong first = (low ^ negative) - negative, carry = negative & (first == 0);
    const ulong second = ((ulong)middle ^ negative) + carry, third = ((ulong)high ^ negative) + (carry & (second == 0));
    const ulong top = third != 0 ? third : second != 0 ? second : first;
    const ulong next = third != 0 ? second : second != 0 ? first : 0;
    const uint shift = clz64(top), power = (third != 0 ? 128 : second != 0 ? 64 : 0) - shift;
    const ulong rest = next << shift | (third != 0 ? first : 0);
    const ulong word = top << shift | next >> 1 >> (63 - shift) | (rest != 0);
    float64 = (negative & (ulong)1 << 63) | (as_ulong((double)word) + ((ulong)power << 52));
    float32 = (negative & 0x80000000u) | scaled_f32(as_uint((float)word), power) | (ulong)1 << 32;  // it overflows
    integer = 0;
  }
  const uint lane = local_id();
  ulong word = lane == DIGITS + OTHERS && count != 0;
#pragma unroll
  for (int p = 0; p < PIECES; ++p) word = lane == p ? (ulong)sums[p] : word;
  word = lane == ENTRIES ? float64 : lane == ENTRIES + 1 ? integer : lane == ENTRIES + 2 ? float32 : word;
  GLOBAL ulong* to = lane < ENTRIES ? result + lane : record + (lane - ENTRIES);
  if (lane < ENTRIES + 3) *to = word;
}

// Arguments are sum_window.cl's.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void sum_integers(GLOBAL const uchar* a, ulong a_offset, long a_stride, GLOBAL const uchar* b, ulong b_offset, long b_stride, ulong count,
                  GLOBAL ulong* slots, GLOBAL long* result, GLOBAL uchar* record, ulong record_offset, int skip_nans) {
  LOCAL_VAR long storage[PIECES * SUBGROUPS];
  const uint lane = local_id(), others = known_here(group_count() - 1), last = group_id() == others;
  SUMS tiles = no_sums();
  uint first = group_id() * TILE;
  add_tile(&tiles, a + a_offset, a_stride, b + b_offset, b_stride, first, (uint)count);
#if STREAM
  for (first += group_count() * TILE; first < (uint)count; first += group_count() * TILE) {
    add_tile(&tiles, a + a_offset, a_stride, b + b_offset, b_stride, first, (uint)count);
  }
#endif
  long sums[PIECES];
  cut(&tiles, sums);
  if (last && others != 0) take_slots(slots, sums);
  add_up(sums, storage);
  if (lane >= SUBGROUP) return;
  if (!last) {
#pragma unroll
    for (int p = 0; p < PIECES; ++p) {
      if (lane == p) atomic_store_global64(&slots[group_id() * PIECES + p], PRESENT | (ulong)sums[p]);
    }
    return;
  }
  leave_sum(sums, count, (GLOBAL ulong*)result, (GLOBAL ulong*)(record + record_offset));
}
