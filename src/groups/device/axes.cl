// Reductions along axes: one result for each position along the axes that are kept. Follows axes.h, and the header that says what is computed.
//
// A group computes `width` results at once. GROUP_SIZE / width work-items, the lanes of a result, share its elements. If `neighbours` is set,
// adjacent work-items have adjacent results; otherwise they have adjacent elements of one result. `loads`: the elements of a result are
// contiguous and can be read in loads of 16 bytes. `what` and `ddof` are passed to finished().
//
// If there are too few results to fill the device, the elements of each are cut into `parts`. A second launch adds the parts' sums.

// 16 bytes, aligned.
#define PER_LOAD (16 / sizeof(ELEMENT))
#define LOADS 4  // loads of a work-item that are in flight
typedef union {
  uint4 all;
  ELEMENT elements[PER_LOAD];
} LOAD;

// Adds the loads of a work-item, every `lanes`-th from number `lane` on, of the `count` that begin at `from`, with element `first` of the result.
FN SUM add_row(SUM sum, GLOBAL const uint4* from, ulong count, ulong first, uint lane, uint lanes) {
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
    for (uint k = 0; k < LOADS * PER_LOAD; k += UNROLL) {
      sum = add_all(sum, x + k, UNROLL, first + (i + k / PER_LOAD * lanes) * PER_LOAD, lanes * PER_LOAD, PER_LOAD);
    }
  }
  return sum;
}

// `words`: the number of pending results, initially 0; then extent and stride in bytes of each axis that is kept, the last axis first; then the same
// of the axes that are reduced. `kept_stride` and `reduced_stride` are the strides of the last axes.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void axes(GLOBAL const uchar* data, ulong offset, GLOBAL ulong* words, uint kept_axes, uint reduced_axes, ulong results, ulong each,
          long kept_stride, long reduced_stride, ulong parts, ulong first_unit, uint width, int neighbours, int loads, int what, ulong ddof,
          GLOBAL ulong* sums, GLOBAL RESULT* to, ulong to_offset, GLOBAL ulong* pending, ulong capacity) {
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
      sum = add_row(sum, (GLOBAL const uint4*)(from + size * part * sizeof(ELEMENT)), count, size * part, lane, lanes);
      i += count * PER_LOAD;
    }
    if (reduced_axes == 1) {
      const long apart = (long)lanes * reduced_stride;
      from += (long)i * reduced_stride;
      for (; i + (UNROLL - 1) * lanes < end; i += UNROLL * lanes) {
        ELEMENT x[UNROLL];
#pragma unroll
        for (uint k = 0; k < UNROLL; ++k) x[k] = *(GLOBAL const ELEMENT*)(from + (long)k * apart);
        sum = add_all(sum, x, UNROLL, i, lanes, 1);
        from += UNROLL * apart;
      }
      for (; i < end; i += FEW * lanes) {
        ELEMENT x[FEW];
#pragma unroll
        for (uint k = 0; k < FEW; ++k) x[k] = i + k * lanes < end ? *(GLOBAL const ELEMENT*)(from + (long)k * apart) : MISSING;
        sum = add_all(sum, x, FEW, i, lanes, 1);
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
        const ELEMENT x = *(GLOBAL const ELEMENT*)at;
        sum = add_all(sum, &x, 1, i, 1, 1);
      }
    }
  }
  if (lanes > 1) sum = sum_of_lanes(shared, sum, lane, lanes, neighbours ? width : 1);
  if (lane != 0 || result >= results) return;
  if (parts > 1) {
    store_sum(sums + part * SUM_WORDS * results + result, results, sum);
  } else if (finished(sum, each, what, ddof, to + to_offset + result)) {
    add_pending(words, pending, capacity, result);
  }
}

// The same for results of at most FEW elements along one axis. A work-item computes FEW results, and loads all of their elements at once.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void axes_few(GLOBAL const uchar* data, ulong offset, GLOBAL ulong* words, uint kept_axes, ulong results, ulong each, long kept_stride,
              long reduced_stride, ulong first_unit, int what, ulong ddof, GLOBAL RESULT* to, ulong to_offset, GLOBAL ulong* pending, ulong capacity) {
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
    const SUM sum = add_all(sum_zero(), x + r * FEW, FEW, 0, 1, 1);
    if (finished(sum, each, what, ddof, to + to_offset + result)) add_pending(words, pending, capacity, result);
  }
}

// Adds the sums of the parts. Of few parts a group has several results, `width`, and GROUP_SIZE / width work-items for each.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void axes_parts(GLOBAL const ulong* sums, ulong results, ulong each, ulong parts, uint width, int what, ulong ddof, GLOBAL RESULT* to, ulong to_offset,
                GLOBAL ulong* words, GLOBAL ulong* pending, ulong capacity) {
  LOCAL_VAR ulong shared[GROUP_SIZE * SUM_WORDS];
  const uint lanes = GROUP_SIZE / width, lane = local_id() / width;  // both are powers of two
  const ulong result = (ulong)group_id() * width + (local_id() & (width - 1));
  SUM sum = sum_zero();
  for (ulong part = lane; part < parts && result < results; part += FEW * lanes) {
    SUM x[FEW];
#pragma unroll
    for (uint k = 0; k < FEW; ++k) {
      const ulong at = part + k * lanes;
      x[k] = at < parts ? stored_sum(sums + at * SUM_WORDS * results + result, results) : sum_zero();
    }
#pragma unroll
    for (uint k = 0; k < FEW; ++k) sum = sum_merge(sum, x[k]);
  }
  if (lanes > 1) sum = sum_of_lanes(shared, sum, lane, lanes, width);
  if (lane == 0 && result < results && finished(sum, each, what, ddof, to + to_offset + result)) add_pending(words, pending, capacity, result);
}
