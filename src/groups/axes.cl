// Sums and means along axes: one result for each position along the axes that are kept.
//
// The host defines:
//   ELEMENT        the type of an element in memory
//   VALUE(x)       an element's value: a double; if INTEGERS, a long (the bits of a uint64)
//   SIGNED         whether integers are signed
//   SHORT          whether expansions of two terms are enough for most data
//   FLOAT_BITS(x)  the bits of an element as a float, for floats of at most 32 bits
//   MISSING        the identity of addition as an element
//   UNROLL         the number of elements that a work-item adds in one step
//   SKIP           whether NaNs are left out
//   GROUP_SIZE, RESIDENT  work-items of a group; groups that are resident on a compute unit
//
// A group computes `width` results at once. GROUP_SIZE / width work-items, the lanes of a result, share its elements. If `neighbours` is set,
// adjacent work-items have adjacent results; otherwise they have adjacent elements of one result. `loads`: the elements of a result are
// contiguous and can be read in loads of 16 bytes. `mean`: the results are means.
//
// If there are too few results to fill the device, the elements of each are cut into `parts`. A second launch adds the parts' sums.

#define FEW 4  // elements that a work-item loads in one step if fewer than UNROLL are left

// 16 bytes, aligned.
#define PER_LOAD (16 / sizeof(ELEMENT))
#define LOADS 4  // loads of a work-item that are in flight
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
// Stores the bits of the result. Returns 1 if the sum does not determine them.
FN uint finished(SUM x, ulong count, int mean, GLOBAL ulong* to) {
  // One division if both operands are exact as doubles.
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
  x.inexact |= mean || x.s == 0;  // the number of elements that are not NaN is unknown
#endif
  return x.inexact;
}
#endif

// Appends the index of a result that these kernels could not compute to `pending`, in any order, if there is room.
FN void add_pending(GLOBAL ulong* words, GLOBAL ulong* pending, ulong capacity, ulong index) {
  const uint number = atomic_add_global32((GLOBAL uint*)words, 1);
  if (number < capacity) pending[number] = index;
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

// Adds `count` elements, up to 16. Floats are first added as doubles. That is exact if their exponents span at most 25: the sum of 2^4 numbers below
// 2^(e - 126) that are multiples of 2^(e - 25 - 150) has 53 bits.
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

// The distance in bytes from the array's first element to the first element of `result`.
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

// Adds the sums of a result's lanes; the first lane receives the total. `apart` is the distance of two lanes in the group. Contains barriers: all
// work-items of the group call it.
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
    sum = sum_merge(sum, other);  // meaningful in the first lanes only
  }
#endif
  return sum;
}

// `words`: the number of pending results, initially 0; then extent and stride in bytes of each axis that is kept, the last axis first; then the same
// of the axes that are reduced. `kept_stride` and `reduced_stride` are the strides of the last axes.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void axes(GLOBAL const uchar* data, ulong offset, GLOBAL ulong* words, uint kept_axes, uint reduced_axes, ulong results, ulong each,
          long kept_stride, long reduced_stride, ulong parts, ulong first_unit, uint width, int neighbours, int loads, int mean,
          GLOBAL ulong* sums, GLOBAL ulong* to, ulong to_offset, GLOBAL ulong* pending, ulong capacity) {
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
    add_pending(words, pending, capacity, result);
  }
}

// The same for results of at most FEW elements along one axis. A work-item computes FEW results, and loads all of their elements at once.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void axes_few(GLOBAL const uchar* data, ulong offset, GLOBAL ulong* words, uint kept_axes, ulong results, ulong each, long kept_stride,
              long reduced_stride, ulong first_unit, int mean, GLOBAL ulong* to, ulong to_offset, GLOBAL ulong* pending, ulong capacity) {
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
    if (finished(sum, each, mean, to + to_offset + result)) add_pending(words, pending, capacity, result);
  }
}

// Adds the sums of the parts: one group for each result.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void axes_parts(GLOBAL const ulong* sums, ulong results, ulong each, ulong parts, int mean, GLOBAL ulong* to, ulong to_offset,
                GLOBAL ulong* words, GLOBAL ulong* pending, ulong capacity) {
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
  if (local_id() == 0 && finished(sum, each, mean, to + to_offset + result)) add_pending(words, pending, capacity, result);
}
