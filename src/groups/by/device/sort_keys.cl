// The keys that elements are sorted by, and where the lists of sorted elements begin. Follows elements.h, of the elements or of the groups' numbers.

#define MOST (BITS == 64 ? (WORD)~(ulong)0 : (WORD)(((ulong)1 << (BITS & 63)) - 1))
#define TOP ((WORD)1 << (BITS - 1))

FN WORD element_in(GLOBAL const uchar* data, ulong offset, long stride, uint i) {
  return (WORD)*(GLOBAL const ELEMENT*)(data + offset + (ulong)((long)i * stride));
}

#if !FLOATS
// How far each element is above the least one, where that is less than 2^32; and where it may be more.
FN ulong distance_of(WORD x, ulong least) {
#if SIGNED
  return (ulong)integer_of(x) - least;
#else
  return (ulong)x - least;
#endif
}
KERNEL void key_distances(GLOBAL const uchar* data, ulong offset, long stride, uint size, ulong least, GLOBAL uint* to) {
  for (uint i = (uint)global_id(); i < size; i += (uint)global_size()) to[i] = (uint)distance_of(element_in(data, offset, stride, i), least);
}
KERNEL void far_key_distances(GLOBAL const uchar* data, ulong offset, long stride, uint size, ulong least, GLOBAL ulong* to) {
  for (uint i = (uint)global_id(); i < size; i += (uint)global_size()) to[i] = distance_of(element_in(data, offset, stride, i), least);
}

// The number of each element's group, of 32 bits; `outside` becomes 1 if there is one that is not below `groups`.
KERNEL void group_keys(GLOBAL const uchar* data, ulong offset, long stride, uint size, uint groups, GLOBAL uint* to, GLOBAL uint* outside) {
  uint beyond = 0;
  for (uint i = (uint)global_id(); i < size; i += (uint)global_size()) {
#if SIGNED
    const ulong group = (ulong)integer_of(element_in(data, offset, stride, i));
#else
    const ulong group = (ulong)element_in(data, offset, stride, i);
#endif
    beyond |= group >= groups;
    to[i] = (uint)group;
  }
  if (beyond) atomic_max_global32(outside, 1);
}

// The same of segments: the last one that begins at the element or before, or `segments` for those that are in none.
KERNEL void segment_keys(GLOBAL const ulong* offsets, uint segments, uint size, GLOBAL uint* to) {
  for (uint i = (uint)global_id(); i < size; i += (uint)global_size()) {
    uint segment = 0, end = segments;
    while (end - segment > 1) {
      const uint middle = segment + (end - segment) / 2;
      if (offsets[middle] <= i) {
        segment = middle;
      } else {
        end = middle;
      }
    }
    to[i] = offsets[segment] <= i && i < offsets[segment + 1] ? segment : segments;
  }
}

// List g begins at offsets[g], and ends where the next one begins: `keys` are the groups of all elements, in order.
KERNEL void list_offsets(GLOBAL const uint* keys, uint size, uint groups, GLOBAL ulong* offsets) {
  for (uint group = (uint)global_id(); group <= groups; group += (uint)global_size()) {
    uint first = 0, end = size;  // the least position whose group is not less lies from the one to the other
    while (first < end) {
      const uint middle = first + (end - first) / 2;
      if (keys[middle] < group) {
        first = middle + 1;
      } else {
        end = middle;
      }
    }
    offsets[group] = first;
  }
}

// The key of each element that is named.
KERNEL void keys_of_numbers(GLOBAL const uint* keys, GLOBAL const uint* numbers, uint size, GLOBAL uint* to) {
  for (uint i = (uint)global_id(); i < size; i += (uint)global_size()) to[i] = keys[numbers[i]];
}
#endif

FN WORD key_in_order(WORD x) {
#if FLOATS
  return is_nan(x) ? MOST : x < TOP ? x | TOP : MOST - x;
#else
  return SIGNED ? x ^ TOP : x;
#endif
}

// Unsigned integers in the order of the elements or, if `least`, in the opposite one: then the least element has the greatest key. NaNs have the greatest
// key or, if they are left out, 0; no number of a floating-point type has either.
KERNEL void element_keys(GLOBAL const uchar* data, ulong offset, long stride, uint size, int least, int skip_nans, GLOBAL WORD* to) {
  for (uint i = (uint)global_id(); i < size; i += (uint)global_size()) {
    const WORD x = element_in(data, offset, stride, i), key = key_in_order(x);
    to[i] = is_nan(x) ? (skip_nans ? 0 : MOST) : least ? MOST - key : key;
  }
}

// Of lists whose elements are in ascending order, the elements that are NaNs: the last ones.
KERNEL void nans_of_lists(GLOBAL const uchar* data, ulong offset, long stride, GLOBAL const uint* numbers, GLOBAL const ulong* offsets, uint lists,
                          GLOBAL uint* nans) {
  for (uint list = (uint)global_id(); list < lists; list += (uint)global_size()) {
    ulong first = offsets[list], end = offsets[list + 1];
    const ulong behind = end;
    while (first < end) {  // the first NaN lies from the one to the other
      const ulong middle = first + (end - first) / 2;
      if (is_nan(element_in(data, offset, stride, numbers[middle]))) {
        end = middle;
      } else {
        first = middle + 1;
      }
    }
    nans[list] = (uint)(behind - first);
  }
}

// Of such lists, the keys at positions that are given for each list and quantile, those of a quantile one after the other; of the next elements too, if
// `both`: after all of the quantile. A list whose position lies outside has none.
KERNEL void keys_of_lists(GLOBAL const uchar* data, ulong offset, long stride, GLOBAL const uint* numbers, GLOBAL const ulong* offsets, uint lists,
                          GLOBAL const uint* positions, uint quantiles, int both, GLOBAL ELEMENT* keys) {
  for (ulong i = global_id(); i < (ulong)lists * quantiles; i += global_size()) {
    const uint quantile = (uint)(i / lists), list = (uint)(i - (ulong)quantile * lists);
    const ulong end = offsets[list + 1], at = offsets[list] + positions[i];
    if (at >= end) continue;
    GLOBAL ELEMENT* const to = keys + (ulong)quantile * (both ? 2 : 1) * lists + list;
    to[0] = (ELEMENT)key_in_order(element_in(data, offset, stride, numbers[at]));
    if (both) to[lists] = (ELEMENT)key_in_order(element_in(data, offset, stride, numbers[at + 1 < end ? at + 1 : at]));
  }
}
