// All pairs in registers: a work-item has ITEMS of the x, whose components stay in its registers; the group copies tiles of B to local
// memory, and each y that a work-item reads from there, by 16-byte loads that are one broadcast for a sub-group, is used for all of its x.
// The y are divided over groups, so that few x also use the whole device; pairs_combine reduces the parts, in their order.
//
// Defined by the host, beside the defines of function.h and reduction.h: REDUCTION, COMPENSATED, GROUP (work-items), RESIDENT (groups to a
// compute unit), ITEMS, TOGETHER (a divisor of ITEMS: how many are processed component by component), TILE (y, a multiple of CHUNK), CHUNK
// (y, a multiple of 2 STEP), POLYNOMIALS (a mask: which of 16 exponentials are polynomials in fast sums; 0 where there may be NaN),
// UNROLL_COMPONENTS, UNROLL_STEPS (pragmas of loops over components, and over y).

#if REAL_BYTES == 4
#define VECTOR float4
#define LANES 4
#else
#define VECTOR double2
#define LANES 2
#endif

// A y takes WIDTH elements of a tile, so that 16-byte loads do not straddle two.
#define USED (D + EXTRAS)
#define WIDTH (USED >= LANES ? (USED + LANES - 1) / LANES * LANES : USED == 3 ? 4 : USED)
#define STEP (WIDTH < LANES ? LANES / WIDTH : 1)
// Whether a whole step remains after j. Not j + 1 <= count: such a loop might be infinite, so compilers would not unroll it.
#define STEP_LEFT(j, count) (STEP == 1 ? (j) < (count) : (j) + STEP <= (count))

FN void load_step(REAL* to, LOCAL const VECTOR* tile, uint j) {
#pragma unroll
  for (uint k = 0; k < STEP * WIDTH / LANES; ++k) {
    const VECTOR v = tile[j * WIDTH / LANES + k];
    to[LANES * k] = v.x;
    to[LANES * k + 1] = v.y;
#if LANES == 4
    to[LANES * k + 2] = v.z;
    to[LANES * k + 3] = v.w;
#endif
  }
}

FN void load_one(REAL* to, LOCAL const VECTOR* tile, uint j) {
  UNROLL_COMPONENTS
  for (uint d = 0; d < USED; ++d) to[d] = ((LOCAL const REAL*)tile)[j * WIDTH + d];
}

#if REDUCTION == R_SUM && !COMPENSATED
#if F == F_GAUSSIAN && REAL_BYTES == 4
// 2^t for t <= 0; below the normal numbers 0. A compute unit's special-function units do 16 of these per cycle, its other units 128
// multiply-adds: with some of the 2^t as polynomials, both are busy.
#if SAMESUM_PTX
FN float exp2_special(float t) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(t));
  return result;
}
#else
#define exp2_special(t) exp2(t)
#endif
// 2^r is a minimax polynomial on [-1/2, 1/2], of relative error under 2^-23. Not for NaN.
FN float exp2_polynomial(float t) {
  t = fmax(t, -126.0f);
  const float shifted = t + 12582912.0f;
  const float r = t - (shifted - 12582912.0f);
  float p = EXP2_C5;
  p = fma(p, r, EXP2_C4);
  p = fma(p, r, EXP2_C3);
  p = fma(p, r, EXP2_C2);
  p = fma(p, r, EXP2_C1);
  p = fma(p, r, 1.0f);
  return as_float(as_uint(p) + (as_uint(shifted) << 23));
}
#endif

// Adds the pairs of TOGETHER x with one y to their sums.
FN void add_pairs(REAL* sum, uint item, const REAL* a, const REAL* b F_TAKES) {
#if F == F_FORMULA
#pragma unroll
  for (uint i = 0; i < TOGETHER; ++i) sum[i] = add_f(sum[i], a + i * D, b F_GIVES);
#elif F_ADDITIVE && !WEIGHTED
  UNROLL_COMPONENTS
  for (uint d = 0; d < D; ++d) {
#pragma unroll
    for (uint i = 0; i < TOGETHER; ++i) sum[i] = f_next(sum[i], a[i * D + d], b[d]);
  }
#else
  REAL s[TOGETHER];
#pragma unroll
  for (uint i = 0; i < TOGETHER; ++i) s[i] = f_first(a[i * D], b[0], softening);
  UNROLL_COMPONENTS
  for (uint d = 1; d < D; ++d) {
#pragma unroll
    for (uint i = 0; i < TOGETHER; ++i) s[i] = f_next(s[i], a[i * D + d], b[d]);
  }
#if F == F_GAUSSIAN && REAL_BYTES == 4
#pragma unroll
  for (uint i = 0; i < TOGETHER; ++i) s[i] *= factor;  // includes log2(e)
#endif
#pragma unroll
  for (uint i = 0; i < TOGETHER; ++i) {
#if F == F_GAUSSIAN && REAL_BYTES == 4
    s[i] = (POLYNOMIALS >> ((item + i) & 15)) & 1 ? exp2_polynomial(s[i]) : exp2_special(s[i]);
#elif F == F_INVDIST
    s[i] = rsqrt(s[i]);
#else
    s[i] = f_finish(s[i], factor);
#endif
    sum[i] = WEIGHTED ? fma(b[USED - 1], s[i], sum[i]) : sum[i] + s[i];
  }
#endif
}
#endif

#if REDUCTION == R_SUM && COMPENSATED
// s + x, with the rounding error added to c (Knuth's two-sum).
FN void two_sum(REAL* s, REAL* c, REAL x) {
  const REAL sum = *s + x;
  const REAL back = sum - *s;
  *c += (*s - (sum - back)) + (x - back);
  *s = sum;
}

// Adds a pair, with all rounding errors that are known.
FN void add_with_error(REAL* s, REAL* c, const REAL* a, const REAL* b F_TAKES) {
  REAL high = *s;
  REAL low = *c;
#if F == F_PRODUCT || F == F_DIFFERENCE
  UNROLL_COMPONENTS
  for (uint d = 0; d < D; ++d) {
#if F == F_PRODUCT
    const REAL term = a[d] * b[d];
    const REAL error = fma(a[d], b[d], -term);
#else
    REAL term = a[d];
    REAL error = 0;
    two_sum(&term, &error, -b[d]);
#endif
#if WEIGHTED
    const REAL weighted = b[D] * term;
    low += fma(b[D], error, fma(b[D], term, -weighted));
    two_sum(&high, &low, weighted);
#else
    low += error;
    two_sum(&high, &low, term);
#endif
  }
#elif F == F_FORMULA
  two_sum(&high, &low, f_of(a, b F_GIVES));
#else
  REAL f = f_first(a[0], b[0], softening);
  UNROLL_COMPONENTS
  for (uint d = 1; d < D; ++d) f = f_next(f, a[d], b[d]);
  f = f_finish(f, factor);
#if WEIGHTED
  const REAL weighted = b[D] * f;
  low += fma(b[D], f, -weighted);
  f = weighted;
#endif
  two_sum(&high, &low, f);
#endif
  *s = high;
  *c = low;
}
#endif

// Reduces a part of the y: to `sums` (and, where COMPENSATED, after all of them the compensations), or to the keys of the least values in
// their place, with the index of the first y of their chunk in `places`.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void pairs_blocks(GLOBAL const uchar* a_bytes, ulong a_offset, GLOBAL const uchar* b_bytes,
                                                      ulong b_offset, GLOBAL const REAL* extras, ulong x_count, ulong y_count,
                                                      ulong share, uint parts F_TAKES, GLOBAL REAL* sums, GLOBAL ulong* places) {
  GLOBAL const STORED* const a = REALS_AT(a_bytes, a_offset);
  GLOBAL const STORED* const b = REALS_AT(b_bytes, b_offset);
  LOCAL_VAR VECTOR tile[TILE * WIDTH / LANES];
  LOCAL REAL* const elements = (LOCAL REAL*)tile;
  const uint part = group_id() % parts;
  const ulong first = (ulong)(group_id() / parts) * (GROUP * ITEMS) + local_id();
  const ulong begin = part * share;
  const ulong end = begin + share < y_count ? begin + share : y_count;

  REAL x[ITEMS * D];
#pragma unroll
  for (uint i = 0; i < ITEMS; ++i) {
    const ulong from = first + i * GROUP < x_count ? first + i * GROUP : x_count - 1;
  UNROLL_COMPONENTS
    for (uint d = 0; d < D; ++d) x[i * D + d] = LOADED(a[from * D + d]);
  }
#if REDUCTION == R_SUM
  REAL sum[ITEMS], rest[ITEMS];  // rest: the sum of earlier whole tiles, or the compensation
#pragma unroll
  for (uint i = 0; i < ITEMS; ++i) sum[i] = rest[i] = 0;
#else
  KEY best[ITEMS];
  uint place[ITEMS];  // of the chunk, counted from `begin`
#pragma unroll
  for (uint i = 0; i < ITEMS; ++i) {
    best[i] = KEY_SIGN;
    place[i] = 0;
  }
#endif

  for (ulong start = begin; start < end; start += TILE) {
    const uint count = end - start < TILE ? (uint)(end - start) : TILE;
    barrier_local();
    for (uint k = local_id(); k < count * D; k += GROUP) elements[k / D * WIDTH + k % D] = LOADED(b[start * D + k]);
#if EXTRAS > 0
    for (uint k = local_id(); k < count * EXTRAS; k += GROUP) elements[k / EXTRAS * WIDTH + D + k % EXTRAS] = extras[start * EXTRAS + k];
#endif
#if REDUCTION != R_SUM
    // The last chunk is padded with its last y, which changes no minimum.
    const uint filled = (count + CHUNK - 1) / CHUNK * CHUNK;
    for (uint k = count * D + local_id(); k < filled * D; k += GROUP) elements[k / D * WIDTH + k % D] = LOADED(b[(start + count - 1) * D + k % D]);
#if EXTRAS > 0
    for (uint k = count * EXTRAS + local_id(); k < filled * EXTRAS; k += GROUP) {
      elements[k / EXTRAS * WIDTH + D + k % EXTRAS] = extras[(start + count - 1) * EXTRAS + k % EXTRAS];
    }
#endif
#endif
    barrier_local();
    REAL y[STEP * WIDTH];
#if REDUCTION == R_SUM
    uint j = 0;
    UNROLL_STEPS
    for (; STEP_LEFT(j, count); j += STEP) {
      load_step(y, tile, j);
#pragma unroll
      for (uint k = 0; k < STEP; ++k) {
#pragma unroll
        for (uint i = 0; i < ITEMS; i += TOGETHER) {
#if COMPENSATED
          add_with_error(sum + i, rest + i, x + i * D, y + k * WIDTH F_GIVES);
#else
          add_pairs(sum + i, i, x + i * D, y + k * WIDTH F_GIVES);
#endif
        }
      }
    }
#if STEP > 1
    for (; j < count; ++j) {
      load_one(y, tile, j);
#pragma unroll
      for (uint i = 0; i < ITEMS; i += TOGETHER) {
#if COMPENSATED
        add_with_error(sum + i, rest + i, x + i * D, y F_GIVES);
#else
        add_pairs(sum + i, i, x + i * D, y F_GIVES);
#endif
      }
    }
#endif
#if !COMPENSATED
#pragma unroll
    for (uint i = 0; i < ITEMS; ++i) {
      rest[i] += sum[i];
      sum[i] = 0;
    }
#endif
#else
    // First the least value of a chunk, then the comparison with the minimum so far: so only the index of the chunk is tracked.
    for (uint chunk = 0; chunk < count; chunk += CHUNK) {
      KEY low[ITEMS];
#pragma unroll
      for (uint i = 0; i < ITEMS; ++i) low[i] = best[i];
      UNROLL_STEPS
      for (uint j = 0; j < CHUNK; j += 2 * STEP) {
        REAL z[STEP * WIDTH];
        load_step(y, tile, chunk + j);
        load_step(z, tile, chunk + j + STEP);
#pragma unroll
        for (uint k = 0; k < STEP; ++k) {
#pragma unroll
          for (uint i = 0; i < ITEMS; ++i) {
            const KEY one = ORDER_OF(pair_value(x + i * D, y + k * WIDTH F_GIVES));
            const KEY other = ORDER_OF(pair_value(x + i * D, z + k * WIDTH F_GIVES));
            low[i] = min(min(one, other), low[i]);
          }
        }
      }
#pragma unroll
      for (uint i = 0; i < ITEMS; ++i) {
        place[i] = low[i] != best[i] ? (uint)((start - begin + chunk) / CHUNK) : place[i];
        best[i] = low[i];
      }
    }
#endif
  }

#pragma unroll
  for (uint i = 0; i < ITEMS; ++i) {
    const ulong at = first + i * GROUP;
#if REDUCTION == R_SUM
    if (at < x_count) {
      sums[part * x_count + at] = COMPENSATED ? sum[i] : rest[i];
#if COMPENSATED
      sums[(parts + part) * x_count + at] = rest[i];
#endif
    }
#else
    if (at < x_count) {
      ((GLOBAL KEY*)sums)[part * x_count + at] = best[i];
#if PLACED
      places[part * x_count + at] = begin + (ulong)place[i] * CHUNK;
#endif
    }
#endif
  }
}
