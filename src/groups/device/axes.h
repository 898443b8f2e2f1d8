// What the kernels along axes share: the place of a result's elements, and the sum of a group's work-items.
//
// Follows pending.h. What is computed comes from a header before this file (axes_sums.h, axes_squares.h, axes_extremes.h):
//   SUM, sum_zero(), sum_merge()  the state of a result
//   SUM_WORDS, word_of(sum, i), sum_of_words(words)  its words, to pass it on
//   add_all(sum, x, count, first, apart, together)  adds elements: x[k] stands at first + k / together * apart + k % together
//   MISSING                       an element that changes no state
//   RESULT, finished(sum, count, what, ddof, to)  stores the result of `count` elements; returns 1 if the state does not determine it
// The host defines:
//   ELEMENT                       the type of an element in memory
//   UNROLL                        the number of elements that a work-item adds in one step
//   SKIP                          whether NaNs are left out
//   GROUP_SIZE, RESIDENT          work-items of a group; groups that are resident on a compute unit

#define FEW 4  // elements that a work-item loads in one step if fewer than UNROLL are left

// States in an array, with the words of one `apart`.
FN void store_sum(GLOBAL ulong* to, ulong apart, SUM x) {
#pragma unroll
  for (uint i = 0; i < SUM_WORDS; ++i) to[i * apart] = word_of(x, i);
}
FN SUM stored_sum(GLOBAL const ulong* from, ulong apart) {
  ulong words[SUM_WORDS];
#pragma unroll
  for (uint i = 0; i < SUM_WORDS; ++i) words[i] = from[i * apart];
  return sum_of_words(words);
}

// The same in local memory, where the words of a group's work-items stand side by side.
FN void share_sum(LOCAL ulong* to, SUM x) {
#pragma unroll
  for (uint i = 0; i < SUM_WORDS; ++i) to[i * GROUP_SIZE] = word_of(x, i);
}
FN SUM shared_sum(LOCAL const ulong* from) {
  ulong words[SUM_WORDS];
#pragma unroll
  for (uint i = 0; i < SUM_WORDS; ++i) words[i] = from[i * GROUP_SIZE];
  return sum_of_words(words);
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
#if SAMESUM_SUBGROUPS && SHUFFLES
  for (; distance != 0 && (lanes > SUBGROUP || apart != 1); distance /= 2) {
#else
  for (; distance != 0; distance /= 2) {
#endif
    share_sum(shared + id, sum);
    barrier_local();
    if (lane < distance) sum = sum_merge(sum, shared_sum(shared + id + distance * apart));
    barrier_local();
#if SAMESUM_SUBGROUPS && SHUFFLES
    if (apart == 1 && distance <= SUBGROUP) {
      distance /= 2;
      break;
    }
#endif
  }
#if SAMESUM_SUBGROUPS && SHUFFLES
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
