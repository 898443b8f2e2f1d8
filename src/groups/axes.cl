// Sums and means along axes: one result for each position along the axes that are kept.
//
// Defined by the host: ELEMENT, the type in which elements lie, and VALUE(x), the number that one is: a double, or for INTEGERS a long (of
// unsigned ones of 64 bits the bits); SIGNED (of integers); SHORT, whether two terms of an expansion are enough as a rule; FLOAT_BITS(x), where
// numbers are floats or narrower, the bits of one as a float; MISSING, an element that adds nothing; UNROLL, elements that a work-item adds
// up at once; SKIP (of NaNs); GROUP_SIZE; RESIDENT, groups of a compute unit.
//
// A group has `width` results at once, each by GROUP_SIZE / width work-items, its lanes. `neighbours`: results lie side by side, and
// neighbouring work-items have neighbouring results; or else the elements of one. `loads`: elements of a result follow one another, and can be
// read by 16 bytes. `mean`: means are wanted, not sums.
//
// Where there are too few results to fill the device, the elements of each are cut into `parts`, whose sums a second launch adds up.

#define FEW 4  // elements that a work-item loads at once where it has less than UNROLL

// 16 bytes, aligned.
#define PER_LOAD (16 / sizeof(ELEMENT))
#define LOADS 4  // that a work-item has in flight
typedef union {
  uint4 all;
  ELEMENT elements[PER_LOAD];
} LOAD;

#if INTEGERS
// A sum of 128 bits.
typedef struct {
  ulong low;
  long high;
} SUM;
#define SUM_WORDS 2
FN SUM sum_zero(void) {
  SUM x;
  x.low = 0;
  x.high = 0;
  return x;
}
FN SUM sum_merge(SUM x, SUM y) {
  x.low += y.low;
  x.high += y.high + (x.low < y.low ? 1 : 0);
  return x;
}
FN SUM sum_add(SUM x, long value) {
  SUM y;
  y.low = (ulong)value;
  y.high = SIGNED ? value >> 63 : 0;
  return sum_merge(x, y);
}
FN void store_sum(GLOBAL ulong* to, ulong apart, SUM x) {
  to[0] = x.low;
  to[apart] = (ulong)x.high;
}
FN SUM stored_sum(GLOBAL const ulong* from, ulong apart) {
  SUM x;
  x.low = from[0];
  x.high = (long)from[apart];
  return x;
}
FN void share_sum(LOCAL ulong* to, SUM x) {
  to[0] = x.low;
  to[GROUP_SIZE] = (ulong)x.high;
}
FN SUM shared_sum(LOCAL const ulong* from) {
  SUM x;
  x.low = from[0];
  x.high = (long)from[GROUP_SIZE];
  return x;
}
// The result's bits; 1 where there is none.
FN uint finished(SUM x, ulong count, int mean, GLOBAL ulong* to) {
  // Of numbers that are doubles, one division; its operands are exact.
  const long value = (long)x.low;
  const uint fits = x.high == value >> 63 && value <= (1L << 53) && value >= -(1L << 53) && count <= (1UL << 53);
  *to = mean ? as_ulong((double)value / (double)count) : x.low;
  return mean ? !fits : SIGNED ? x.high != value >> 63 : x.high != 0;
}
#else
#define SUM EXPANSION
#define SUM_WORDS 4
#define sum_zero expansion_zero
#define sum_merge expansion_merge
#if SHORT
#define sum_add expansion_add_short
#else
#define sum_add expansion_add
#endif
FN void store_sum(GLOBAL ulong* to, ulong apart, SUM x) {
  to[0] = as_ulong(x.s);
  to[apart] = as_ulong(x.e);
  to[2 * apart] = as_ulong(x.f);
  to[3 * apart] = x.inexact;
}
FN SUM stored_sum(GLOBAL const ulong* from, ulong apart) {
  SUM x;
  x.s = as_double(from[0]);
  x.e = as_double(from[apart]);
  x.f = as_double(from[2 * apart]);
  x.inexact = (uint)from[3 * apart];
  return x;
}
FN void share_sum(LOCAL ulong* to, SUM x) {
  to[0] = as_ulong(x.s);
  to[GROUP_SIZE] = as_ulong(x.e);
  to[2 * GROUP_SIZE] = as_ulong(x.f);
  to[3 * GROUP_SIZE] = x.inexact;
}
FN SUM shared_sum(LOCAL const ulong* from) {
  SUM x;
  x.s = as_double(from[0]);
  x.e = as_double(from[GROUP_SIZE]);
  x.f = as_double(from[2 * GROUP_SIZE]);
  x.inexact = (uint)from[3 * GROUP_SIZE];
  return x;
}
FN uint finished(SUM x, ulong count, int mean, GLOBAL ulong* to) {
  x = mean ? expansion_mean(x, (double)count) : expansion_rounded(x);
  *to = as_ulong(x.s);
#if SKIP
  x.inexact |= mean || x.s == 0;  // it is not known how many elements there are
#endif
  return x.inexact;
}
#endif

// Notes a result that there is none of in this way: in no order, as far as there is room.
FN void note_left(GLOBAL ulong* words, GLOBAL ulong* left, ulong capacity, ulong index) {
  const uint number = atomic_add_global32((GLOBAL uint*)words, 1);
  if (number < capacity) left[number] = index;
}

#if INTEGERS
#define NUMBER long
#define NOTHING 0
#else
#define NUMBER double
#define NOTHING -0.0
#endif
#if SKIP
FN NUMBER number_of(ELEMENT x) {
  const NUMBER value = VALUE(x);
  return value == value ? value : NOTHING;
}
#else
#define number_of(x) VALUE(x)
#endif

// Adds `count` elements, up to 16. Floats are added up as doubles at once, which rounds nothing while their exponents span little: the sum of 2^4
// numbers below 2^(e - 126), multiples of 2^(e - 25 - 150), has 53 bits.
#if INTEGERS || !SHORT
FN SUM add_all(SUM sum, const ELEMENT* x, uint count) {
#pragma unroll
  for (uint k = 0; k < count; ++k) sum = sum_add(sum, number_of(x[k]));
  return sum;
}
#else
FN SUM add_all(SUM sum, const ELEMENT* x, uint count) {
  double all = -0.0;
  uint greatest = 0;
  uint least = ~0u;
#pragma unroll
  for (uint k = 0; k < count; ++k) {
    const uint magnitude = FLOAT_BITS(x[k]) & 0x7fffffffu;
    greatest = max(greatest, magnitude);
    least = min(least, magnitude - 1);  // zeros become the greatest
    all += VALUE(x[k]);
  }
  if (greatest < 0x7f800000u && greatest >> 23 < (least >> 23) + 26) {
    if (!adds_exactly(sum.s, all, sum.s + all)) return sum_add(sum, all);
    sum.s += all;
    return sum;
  }
#pragma unroll
  for (uint k = 0; k < count; ++k) sum = sum_add(sum, number_of(x[k]));
  return sum;
}
#endif

// Adds the loads of a work-item, every `lanes`-th from number `lane` on, of the `count` that begin at `from`.
FN SUM add_row(SUM sum, GLOBAL const uint4* from, ulong count, uint lane, uint lanes) {
  for (ulong i = lane; i < count; i += LOADS * lanes) {
    LOAD loads[LOADS];
    ELEMENT x[LOADS * PER_LOAD];
#pragma unroll
    for (uint k = 0; k < LOADS; ++k) {
#pragma unroll
      for (uint j = 0; j < PER_LOAD; ++j) loads[k].elements[j] = MISSING;
      if (i + k * lanes < count) loads[k].all = from[i + k * lanes];
    }
#pragma unroll
    for (uint k = 0; k < LOADS * PER_LOAD; ++k) x[k] = loads[k / PER_LOAD].elements[k % PER_LOAD];
#pragma unroll
    for (uint k = 0; k < LOADS * PER_LOAD; k += UNROLL) sum = add_all(sum, x + k, UNROLL);
  }
  return sum;
}

// The place of the work-item's result, from the first element of all.
FN long offset_of(GLOBAL const ulong* kept, uint kept_axes, long kept_stride, ulong result, uint narrow) {
  if (kept_axes == 1) return (long)result * kept_stride;
  long offset = 0;
  ulong rest = result;
  for (uint axis = 0; axis < kept_axes; ++axis) {
    const ulong extent = kept[2 * axis];
    ulong before = 0;
    if (axis + 1 < kept_axes) before = narrow ? (uint)rest / (uint)extent : rest / extent;
    offset += (long)(rest - before * extent) * (long)kept[2 * axis + 1];
    rest = before;
  }
  return offset;
}

// Adds the sums of a result's lanes up: the first of them gets it. `apart` is the distance of two lanes in the group. All work-items come
// here.
FN SUM sum_of_lanes(LOCAL ulong* shared, SUM sum, uint lane, uint lanes, uint apart) {
  const uint id = local_id();
  uint distance = lanes / 2;
#if SAMESUM_SUBGROUPS && !INTEGERS
  for (; distance != 0 && (lanes > SUBGROUP || apart != 1); distance /= 2) {
#else
  for (; distance != 0; distance /= 2) {
#endif
    share_sum(shared + id, sum);
    barrier_local();
    if (lane < distance) sum = sum_merge(sum, shared_sum(shared + id + distance * apart));
    barrier_local();
#if SAMESUM_SUBGROUPS && !INTEGERS
    if (apart == 1 && distance <= SUBGROUP) {
      distance /= 2;
      break;
    }
#endif
  }
#if SAMESUM_SUBGROUPS && !INTEGERS
  for (; distance != 0; distance /= 2) {
    const uint from = local_id() + distance;
    SUM other = sum_zero();
    other.s = as_double((ulong)subgroup_shuffle64((long)as_ulong(sum.s), from));
    if (subgroup_ballot(sum.e != 0 || sum.f != 0 || sum.inexact != 0) != 0) {
      other.e = as_double((ulong)subgroup_shuffle64((long)as_ulong(sum.e), from));
      other.f = as_double((ulong)subgroup_shuffle64((long)as_ulong(sum.f), from));
      other.inexact = subgroup_shuffle(sum.inexact, from);
    }
    sum = sum_merge(sum, other);  // of use to the first lanes alone
  }
#endif
  return sum;
}

// `words` are the number of results that are left to the host, 0 before; then of each axis that is kept extent and stride in bytes, the last
// one first; then those that are reduced. `kept_stride` and `reduced_stride` are those of the last ones.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void axes(GLOBAL const uchar* data, ulong offset, GLOBAL ulong* words, uint kept_axes, uint reduced_axes, ulong results, ulong each,
          long kept_stride, long reduced_stride, ulong parts, ulong first_unit, uint width, int neighbours, int loads, int mean,
          GLOBAL ulong* sums, GLOBAL ulong* to, ulong to_offset, GLOBAL ulong* left, ulong capacity) {
  LOCAL_VAR ulong shared[GROUP_SIZE * SUM_WORDS];
  const uint id = local_id();
  const uint lanes = GROUP_SIZE / width;  // both are powers of two
  const uint lane = neighbours ? id / width : id & (lanes - 1), slot = neighbours ? id & (width - 1) : id / lanes;
  ulong tile = first_unit + group_id(), part = 0;
  if (parts > 1) {
    const ulong tiles = (results + width - 1) / width;
    part = tile / tiles;
    tile -= part * tiles;
  }
  const ulong result = tile * width + slot;
  GLOBAL const ulong* const kept = words + 1;
  GLOBAL const ulong* const reduced = kept + 2 * kept_axes;
  SUM sum = sum_zero();
  if (result < results) {
    GLOBAL const uchar* from = data + offset + offset_of(kept, kept_axes, kept_stride, result, results >> 32 == 0);
    const ulong size = parts > 1 ? each / parts / PER_LOAD * PER_LOAD : each;
    const ulong end = part + 1 == parts ? each : size * (part + 1);
    ulong i = size * part + lane;
    if (loads && ((ulong)data & 15) == 0) {
      const ulong count = (end - size * part) / PER_LOAD;
      sum = add_row(sum, (GLOBAL const uint4*)(from + size * part * sizeof(ELEMENT)), count, lane, lanes);
      i += count * PER_LOAD;
    }
    if (reduced_axes == 1) {
      const long apart = (long)lanes * reduced_stride;
      from += (long)i * reduced_stride;
      for (; i + (UNROLL - 1) * lanes < end; i += UNROLL * lanes) {
        ELEMENT x[UNROLL];
#pragma unroll
        for (uint k = 0; k < UNROLL; ++k) x[k] = *(GLOBAL const ELEMENT*)(from + (long)k * apart);
        sum = add_all(sum, x, UNROLL);
        from += UNROLL * apart;
      }
      for (; i < end; i += FEW * lanes) {
        ELEMENT x[FEW];
#pragma unroll
        for (uint k = 0; k < FEW; ++k) x[k] = i + k * lanes < end ? *(GLOBAL const ELEMENT*)(from + (long)k * apart) : MISSING;
        sum = add_all(sum, x, FEW);
        from += FEW * apart;
      }
    } else {
      for (; i < end; i += lanes) {
        GLOBAL const uchar* at = from;
        ulong index = i;
        for (uint axis = 0; axis < reduced_axes; ++axis) {
          const ulong extent = reduced[2 * axis], before = axis + 1 < reduced_axes ? index / extent : 0;
          at += (long)(index - before * extent) * (long)reduced[2 * axis + 1];
          index = before;
        }
        sum = sum_add(sum, number_of(*(GLOBAL const ELEMENT*)at));
      }
    }
  }
  if (lanes > 1) sum = sum_of_lanes(shared, sum, lane, lanes, neighbours ? width : 1);
  if (lane != 0 || result >= results) return;
  if (parts > 1) {
    store_sum(sums + part * SUM_WORDS * results + result, results, sum);
  } else if (finished(sum, each, mean, to + to_offset + result)) {
    note_left(words, left, capacity, result);
  }
}

// The same for results of at most FEW elements along one axis: a work-item has FEW of them, and loads all of their elements at once.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void axes_few(GLOBAL const uchar* data, ulong offset, GLOBAL ulong* words, uint kept_axes, ulong results, ulong each, long kept_stride,
              long reduced_stride, ulong first_unit, int mean, GLOBAL ulong* to, ulong to_offset, GLOBAL ulong* left, ulong capacity) {
  const ulong first = (first_unit + group_id()) * (GROUP_SIZE * FEW) + local_id();
  ELEMENT x[FEW * FEW];
#pragma unroll
  for (uint r = 0; r < FEW; ++r) {
    const ulong result = first + r * GROUP_SIZE;
    GLOBAL const uchar* from = data + offset;
    if (result < results) from += offset_of(words + 1, kept_axes, kept_stride, result, results >> 32 == 0);
#pragma unroll
    for (uint k = 0; k < FEW; ++k) {
      x[r * FEW + k] = result < results && k < each ? *(GLOBAL const ELEMENT*)(from + (long)k * reduced_stride) : MISSING;
    }
  }
#pragma unroll
  for (uint r = 0; r < FEW; ++r) {
    const ulong result = first + r * GROUP_SIZE;
    if (result >= results) return;
    const SUM sum = add_all(sum_zero(), x + r * FEW, FEW);
    if (finished(sum, each, mean, to + to_offset + result)) note_left(words, left, capacity, result);
  }
}

// A group for each result.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void axes_parts(GLOBAL const ulong* sums, ulong results, ulong each, ulong parts, int mean, GLOBAL ulong* to, ulong to_offset,
                GLOBAL ulong* words, GLOBAL ulong* left, ulong capacity) {
  LOCAL_VAR ulong shared[GROUP_SIZE * SUM_WORDS];
  const ulong result = group_id();
  SUM sum = sum_zero();
  for (ulong part = local_id(); part < parts; part += FEW * GROUP_SIZE) {
    SUM x[FEW];
#pragma unroll
    for (uint k = 0; k < FEW; ++k) {
      const ulong at = part + k * GROUP_SIZE;
      x[k] = at < parts ? stored_sum(sums + at * SUM_WORDS * results + result, results) : sum_zero();
    }
#pragma unroll
    for (uint k = 0; k < FEW; ++k) sum = sum_merge(sum, x[k]);
  }
  sum = sum_of_lanes(shared, sum, local_id(), GROUP_SIZE, 1);
  if (local_id() == 0 && finished(sum, each, mean, to + to_offset + result)) note_left(words, left, capacity, result);
}
