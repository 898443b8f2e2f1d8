// Fast sums for OpenCL devices that are CPUs: a work-item is a group of its own and runs from beginning to end, with the x in the lanes of
// a few vectors, which stay in registers. OpenCL only.
//
// Defined by the host, beside the defines of function.h: LANES (of a vector), VALUE (the vector), AS_BITS, AS_VALUE, VECTORS (of x), CHAINS
// (of y).
#ifdef __OPENCL_VERSION__

#define BLOCK (LANES * VECTORS)
#define JOIN_AGAIN(a, b) a##b
#define JOIN(a, b) JOIN_AGAIN(a, b)
#define LOAD JOIN(vload, LANES)
#define STORE JOIN(vstore, LANES)

FN VALUE add_pair(VALUE sum, const VALUE* x, GLOBAL const REAL* y, REAL weight, REAL factor, REAL softening) {
#if F_ADDITIVE && !WEIGHTED
#pragma unroll
  for (uint d = 0; d < D; ++d) sum = f_next(sum, x[d], V(y[d]));
  return sum;
#else
  VALUE s = f_first(x[0], V(y[0]), softening);
#pragma unroll
  for (uint d = 1; d < D; ++d) s = f_next(s, x[d], V(y[d]));
  s = f_finish(s, factor);
#if WEIGHTED
  return fma(V(weight), s, sum);
#else
  return sum + s;
#endif
#endif
}

// The x are stored by components, padded to whole blocks (`padded`): component d of x number i is a[d * padded + i].
KERNEL FIXED_GROUP(1, 1) void pairs_vectors(GLOBAL const uchar* a_bytes, ulong a_offset, GLOBAL const uchar* b_bytes, ulong b_offset,
                                            GLOBAL const REAL* weights, ulong padded, ulong y_count, ulong share, uint parts, REAL factor,
                                            REAL softening, GLOBAL REAL* sums) {
  GLOBAL const REAL* const a = REALS_AT(a_bytes, a_offset);
  GLOBAL const REAL* const b = REALS_AT(b_bytes, b_offset);
  const uint part = group_id() % parts;
  const ulong first = (ulong)(group_id() / parts) * BLOCK;
  const ulong begin = part * share;
  const ulong end = begin + share < y_count ? begin + share : y_count;
  VALUE x[VECTORS * D];
  VALUE total[VECTORS];
#pragma unroll
  for (uint v = 0; v < VECTORS; ++v) {
    total[v] = V((REAL)0);
#pragma unroll
    for (uint d = 0; d < D; ++d) x[v * D + d] = LOAD(0, a + d * padded + first + v * LANES);
  }
  for (ulong start = begin; start < end; start += TILE) {
    const ulong stop = start + TILE < end ? start + TILE : end;
    VALUE sum[CHAINS * VECTORS];
#pragma unroll
    for (uint k = 0; k < CHAINS * VECTORS; ++k) sum[k] = V((REAL)0);
    ulong j = start;
    for (; j + CHAINS <= stop; j += CHAINS) {
#pragma unroll
      for (uint c = 0; c < CHAINS; ++c) {
#pragma unroll
        for (uint v = 0; v < VECTORS; ++v) {
          sum[c * VECTORS + v] =
              add_pair(sum[c * VECTORS + v], x + v * D, b + (j + c) * D, WEIGHTED ? weights[j + c] : (REAL)1, factor, softening);
        }
      }
    }
    for (; j < stop; ++j) {
#pragma unroll
      for (uint v = 0; v < VECTORS; ++v) sum[v] = add_pair(sum[v], x + v * D, b + j * D, WEIGHTED ? weights[j] : (REAL)1, factor, softening);
    }
#pragma unroll
    for (uint k = 0; k < CHAINS * VECTORS; ++k) total[k % VECTORS] += sum[k];
  }
#pragma unroll
  for (uint v = 0; v < VECTORS; ++v) STORE(total[v], 0, sums + part * padded + first + v * LANES);
}
#endif
