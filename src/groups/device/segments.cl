// Sums of segments of neighbours: segment i begins at offsets[i], and ends where the next one begins. Follows axes.h.
//
// A group computes `width` sums at once; GROUP_SIZE / width work-items share the elements of each. What these sums do not determine is `pending`, as in
// axes.cl, for axes_exact.cl.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void segments(GLOBAL const uchar* data, ulong offset, GLOBAL const ulong* offsets, ulong count, uint width, GLOBAL ulong* words, GLOBAL ulong* to,
              ulong to_offset, GLOBAL ulong* pending, ulong capacity) {
  LOCAL_VAR ulong shared[GROUP_SIZE * SUM_WORDS];
  const uint id = local_id(), lanes = GROUP_SIZE / width;  // both are powers of two
  const uint lane = id & (lanes - 1);
  const ulong segment = (ulong)group_id() * width + id / lanes;
  const ulong begin = segment < count ? offsets[segment] : 0, end = segment < count ? offsets[segment + 1] : 0;
  GLOBAL const ELEMENT* const from = (GLOBAL const ELEMENT*)(data + offset);
  SUM sum = sum_zero();
  ulong i = begin + lane;
  for (; i + (UNROLL - 1) * lanes < end; i += UNROLL * lanes) {
    ELEMENT x[UNROLL];
#pragma unroll
    for (uint k = 0; k < UNROLL; ++k) x[k] = from[i + k * lanes];
    sum = add_all(sum, x, UNROLL, i, lanes, 1);
  }
  for (; i < end; i += FEW * lanes) {
    ELEMENT x[FEW];
#pragma unroll
    for (uint k = 0; k < FEW; ++k) x[k] = i + k * lanes < end ? from[i + k * lanes] : MISSING;
    sum = add_all(sum, x, FEW, i, lanes, 1);
  }
  if (lanes > 1) sum = sum_of_lanes(shared, sum, lane, lanes, 1);
  if (lane != 0 || segment >= count) return;
  if (begin == end) {
    to[to_offset + segment] = 0;
  } else if (finished(sum, end - begin, 0, 0, to + to_offset + segment)) {
    add_pending(words, pending, capacity, segment);
  }
}
