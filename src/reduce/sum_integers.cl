// The exact sum of little data of integers, or of their products, in one short launch: in registers, group by group, as sum_window.cl is for
// floats. Each group leaves its sums in words that say of themselves that they are there; the last group waits for those of the others,
// which wait for nothing: the device must hold two groups.
//
// Defined by the host: INTEGER_BITS, INTEGER_SIGNED, PRODUCTS, DOT, LOADS, GROUP_SIZE (a multiple of the sub-group), RESIDENT, STRIDED, STREAM as
// in sum_window.cl. There are 2^25 elements at most, so that no sum of pieces is beyond 2^57.
#define TILE (GROUP_SIZE * LOADS * ELEMENTS_PER_LOAD)
#define SUBGROUPS (GROUP_SIZE / SUBGROUP)
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

FN void add_element(long* sums, ELEMENT x, ELEMENT y) {
#if INTEGER_BITS == 64 && PRODUCTS
  const ulong low = x * y;
  // The upper half of signed numbers' product: of unsigned ones it has 2^64 times what is counted too much for negative ones.
  const ulong high = mul_hi64(x, y) - (INTEGER_SIGNED ? ((long)x < 0 ? y : 0) + ((long)y < 0 ? x : 0) : 0);
  sums[0] += (long)(low & 0xffffffffu);
  sums[1] += (long)(low >> 32);
  sums[2] += (long)(high & 0xffffffffu);
  sums[3] += (long)((WIDE)high >> 32);
#else
#if INTEGER_BITS == 64
  const WIDE term = (WIDE)x;
#else
  const WIDE term = PRODUCTS ? NARROW(x) * NARROW(y) : NARROW(x);
#endif
#if PIECES == 2
  sums[0] += (long)((ulong)term & 0xffffffffu);
  sums[1] += (long)(term >> 32);
#else
  sums[0] += (long)term;
#endif
#endif
}

FN void add_load(long* sums, uint4 x, uint4 y) {
#if INTEGER_BITS == 8  // four at once; nothing is lost in 32 bits
  const uint ones = 0x01010101u;
#if INTEGER_SIGNED
  int sum = dot4_s8(x.x, PRODUCTS ? y.x : ones, dot4_s8(x.y, PRODUCTS ? y.y : ones, 0));
  sum = dot4_s8(x.z, PRODUCTS ? y.z : ones, dot4_s8(x.w, PRODUCTS ? y.w : ones, sum));
#else
  uint sum = dot4_u8(x.x, PRODUCTS ? y.x : ones, dot4_u8(x.y, PRODUCTS ? y.y : ones, 0));
  sum = dot4_u8(x.z, PRODUCTS ? y.z : ones, dot4_u8(x.w, PRODUCTS ? y.w : ones, sum));
#endif
  sums[0] += sum;
#else
#pragma unroll
  for (int i = 0; i < ELEMENTS_PER_LOAD; ++i) add_element(sums, element_of(x, i), element_of(y, i));
#endif
}

// Adds the tile from element `first` on.
FN void add_tile(long* sums, GLOBAL const uchar* a, long a_stride, GLOBAL const uchar* b, long b_stride, uint first, uint count) {
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
      x[i] = STREAM ? load_once(&a_loads[i * GROUP_SIZE]) : a_loads[i * GROUP_SIZE];
      y[i] = !DOT ? x[i] : STREAM ? load_once(&b_loads[i * GROUP_SIZE]) : b_loads[i * GROUP_SIZE];
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
  const uint lane = local_id() & (SUBGROUP - 1);
#pragma unroll
  for (int p = 0; p < PIECES; ++p) {
    sums[p] = subgroup_add_s64(sums[p]);
    if (lane == 0) storage[p * SUBGROUPS + local_id() / SUBGROUP] = sums[p];
  }
  barrier_local();
  if (local_id() >= SUBGROUP) return;
#pragma unroll
  for (int p = 0; p < PIECES; ++p) sums[p] = subgroup_add_s64(lane < SUBGROUPS ? storage[p * SUBGROUPS + lane] : 0);
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

// Leaves a sum of two words as a SumRecord, where 64 bits hold it.
FN uint round_narrow(const long* sums, GLOBAL ulong* record) {
#if PIECES == 1
  const long low = sums[0], high = 0;
#else
  long low = sums[0] & 0xffffffffL, high = sums[1] + (sums[0] >> 32);
#if PIECES == 4  // pieces above must have come to the sign
  const long third = sums[2] + (high >> 32), fourth = sums[3] + (third >> 32);
  if ((long)(int)third != fourth || (fourth != 0 && fourth != -1)) return 0;
  high = (high & 0xffffffffL) + (long)((ulong)third << 32);
#endif
  if (INTEGER_SIGNED ? high != (long)(int)high : (ulong)high >> 32 != 0) return 0;
#endif
  const WIDE sum = (WIDE)(PIECES == 1 ? (ulong)low : (ulong)high << 32 | (ulong)low);
  if (local_id() == 0) {
    record[0] = as_ulong((double)sum);
    record[1] = (ulong)sum;
    record[2] = as_uint((float)sum);
  }
  return 1;
}

// Arguments are sum_window.cl's.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void sum_integers(GLOBAL const uchar* a, ulong a_offset, long a_stride, GLOBAL const uchar* b, ulong b_offset, long b_stride, ulong count,
                  GLOBAL ulong* slots, GLOBAL long* result, GLOBAL uchar* record, ulong record_offset, int skip_nans) {
  LOCAL_VAR long storage[PIECES * SUBGROUPS];
  LOCAL_VAR long entries[ENTRIES];
  LOCAL_VAR long scratch[EXACT_DIGITS];
  long sums[PIECES];
#pragma unroll
  for (int p = 0; p < PIECES; ++p) sums[p] = 0;
  uint first = group_id() * TILE;
  add_tile(sums, a + a_offset, a_stride, b + b_offset, b_stride, first, (uint)count);
#if STREAM
  for (first += group_count() * TILE; first < (uint)count; first += group_count() * TILE) {
    add_tile(sums, a + a_offset, a_stride, b + b_offset, b_stride, first, (uint)count);
  }
#endif
  const uint last = group_id() == group_count() - 1;
  if (last && group_count() > 1) take_slots(slots, sums);
  add_up(sums, storage);
  const uint lane = local_id();
  if (lane >= SUBGROUP) return;
  if (!last) {
#pragma unroll
    for (int p = 0; p < PIECES; ++p) {
      if (lane == p) atomic_store_global64(&slots[group_id() * PIECES + p], PRESENT | (ulong)sums[p]);
    }
    return;
  }
  const uint fits = round_narrow(sums, (GLOBAL ulong*)(record + record_offset));
  if (lane < ENTRIES) {
    long entry = lane == DIGITS + OTHERS && count != 0;
#pragma unroll
    for (int p = 0; p < PIECES; ++p) entry = lane == p ? sums[p] : entry;
    result[lane] = entry;
    entries[lane] = entry;
  }
  if (!fits) finish(result, (GLOBAL ulong*)(record + record_offset), count, skip_nans, entries, scratch);
}
