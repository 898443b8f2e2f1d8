// Sums and means along axes: one result for each position along the axes that are kept.
//
// Defined by the host: ELEMENT, the type in which elements lie, and VALUE(x), the number that one is: a double, or for INTEGERS a long (of
// unsigned ones of 64 bits the bits); SIGNED (of integers); SHORT, whether two terms of an expansion are enough as a rule; SKIP (of NaNs);
// GROUP_SIZE.
//
// A group has `width` results at once, each by GROUP_SIZE / width work-items, its lanes. `neighbours`: results lie side by side, and
// neighbouring work-items have neighbouring results; or else the elements of one. `mean`: means are wanted, not sums.
//
// Where there are too few results to fill the device, the elements of each are cut into `parts`, whose sums a second launch adds up.

#define UNROLL 8

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

// Notes a result that there is none of in this way: in no order.
FN void note_left(GLOBAL ulong* left, ulong index) { left[1 + atomic_add_global32((GLOBAL uint*)left, 1)] = index; }

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

// `kept` and `reduced` are axes: extent and stride in bytes of each, the last axis first. Of `reduced` all but the last are one index, which
// `steps` has as their extent; the last has `steps_stride`.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void axes(GLOBAL const uchar* data, ulong offset, GLOBAL const ulong* kept, uint kept_axes, GLOBAL const ulong* reduced, uint reduced_axes,
          ulong results, ulong each, ulong parts, ulong first_unit, uint width, int neighbours, int mean, GLOBAL ulong* sums, GLOBAL ulong* to, GLOBAL ulong* left) {
  LOCAL_VAR ulong shared[GROUP_SIZE * SUM_WORDS];
  const uint id = local_id();
  const uint lanes = GROUP_SIZE / width;  // both are powers of two
  const uint lane = neighbours ? id / width : id & (lanes - 1), slot = neighbours ? id & (width - 1) : id / lanes;
  const ulong tiles = (results + width - 1) / width;
  const ulong unit = first_unit + group_id();
  const ulong part = unit / tiles, result = unit % tiles * width + slot;
  SUM sum = sum_zero();
  if (result < results) {
    GLOBAL const uchar* from = data + offset;
    ulong rest = result;
    for (uint axis = 0; axis < kept_axes; ++axis) {
      const ulong extent = kept[2 * axis], before = axis + 1 < kept_axes ? rest / extent : 0;
      from += (long)(rest - before * extent) * (long)kept[2 * axis + 1];
      rest = before;
    }
    const ulong end = each / parts * (part + 1) + (part + 1 == parts ? each % parts : 0);
    ulong i = each / parts * part + lane;
    if (reduced_axes == 1) {
      const long stride = (long)reduced[1], apart = (long)lanes * stride;
      from += (long)i * stride;
      for (; i + (UNROLL - 1) * lanes < end; i += UNROLL * lanes) {
        ELEMENT x[UNROLL];
#pragma unroll
        for (uint k = 0; k < UNROLL; ++k) x[k] = *(GLOBAL const ELEMENT*)(from + (long)k * apart);
#pragma unroll
        for (uint k = 0; k < UNROLL; ++k) sum = sum_add(sum, number_of(x[k]));
        from += UNROLL * apart;
      }
      for (; i < end; i += lanes) {
        sum = sum_add(sum, number_of(*(GLOBAL const ELEMENT*)from));
        from += apart;
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
  LOCAL ulong* const own = shared + id;
  for (uint distance = lanes / 2; distance != 0; distance /= 2) {
    share_sum(own, sum);
    barrier_local();
    if (lane < distance) sum = sum_merge(sum, shared_sum(own + distance * (neighbours ? width : 1)));
    barrier_local();
  }
  if (lane != 0 || result >= results) return;
  if (parts > 1) {
    store_sum(sums + part * SUM_WORDS * results + result, results, sum);
  } else if (finished(sum, each, mean, to + result)) {
    note_left(left, result);
  }
}

KERNEL void axes_parts(GLOBAL const ulong* sums, ulong results, ulong each, ulong parts, int mean, GLOBAL ulong* to, GLOBAL ulong* left) {
  for (ulong result = global_id(); result < results; result += global_size()) {
    SUM sum = stored_sum(sums + result, results);
    for (ulong part = 1; part < parts; ++part) sum = sum_merge(sum, stored_sum(sums + part * SUM_WORDS * results + result, results));
    if (finished(sum, each, mean, to + result)) note_left(left, result);
  }
}
