// Dot products along axes. Follows expansion.h, near_moment.h, moments.h and pending.h.
//
// The host defines:
//   ELEMENT, VALUE(x)  the type of an element in memory; an element as a double
//   EXACT              whether each product is a double
//   INTEGERS, SIGNED   what the elements are
//   GROUP_SIZE         work-items of a group: TILE * TILE / (EACH * EACH)
//   TILE, EACH         rows and columns of results, of a group and of a work-item
//   STEPS              products of each result between two barriers
//
// Axes are numbered as in problem.hpp: those of both arrays, the rows of `a`, the columns of `b`, and those that are summed. Each axis
// has four words: its extent, its strides in bytes in `a` and in `b`, and that of the results; the last axis of each kind comes first.

// A group of one work-item, on devices that are CPUs, needs no barriers.
#if GROUP_SIZE > 1
#define MEET() barrier_local()
#define UNROLL_LOADS _Pragma("unroll")
#define UNROLL_STEPS _Pragma("unroll 4")  // all of them would not fit into the cache of instructions
#else
#define MEET()
#define UNROLL_LOADS
#define UNROLL_STEPS
#endif

typedef struct {
  long a, b, to;
} PLACE;

// Where index `index` of `count` axes lies. `axes` becomes that of the next ones.
FN PLACE place_of(GLOBAL const ulong* axes, uint count, ulong index) {
  PLACE place;
  place.a = place.b = place.to = 0;
  for (uint axis = 0; axis < count; ++axis, axes += 4) {
    const ulong before = axis + 1 < count ? index / axes[0] : 0;
    const long number = (long)(index - before * axes[0]);
    place.a += number * (long)axes[1];
    place.b += number * (long)axes[2];
    place.to += number * (long)axes[3];
    index = before;
  }
  return place;
}

// The sum of products: two terms, and what they lack at most, or the magnitudes that were added to the second one.
typedef struct {
  REAL s, e, lost;
} DOT_SUM;

FN DOT_SUM dot_add(DOT_SUM x, REAL a, REAL b) {
  const REAL product = a * b, s = x.s + product, of_s = error_of_sum(x.s, product, s);
  x.s = s;
  x.e += of_s;
  x.lost += magnitude_of_real(of_s);
#if !EXACT
  const REAL rest = fma(a, b, -product);
  x.e += rest;
  x.lost += magnitude_of_real(rest);
#endif
  return x;
}
FN DOT_SUM dot_add_noting(DOT_SUM x, REAL a, REAL b) {
  const REAL product = a * b, s = x.s + product, of_s = error_of_sum(x.s, product, s), e = x.e + of_s;
  x.lost += magnitude_of_real(error_of_sum(x.e, of_s, e));
  x.s = s;
  x.e = e;
#if !EXACT
  const REAL rest = fma(a, b, -product), more = e + rest;
  x.lost += magnitude_of_real(error_of_sum(e, rest, more));
  x.e = more;
#endif
  return x;
}

// The greatest power of two of which a number is a multiple.
FN REAL unit_of(REAL x) {
  if (x == 0) return (REAL)0x1p1023;
  const REAL size = magnitude_of_real(x);
  const ulong bits = as_ulong(size);
  return (bits & 0xfffffffffffffUL) == 0 ? size : size - as_double(bits & (bits - 1));
}
FN REAL less_of(REAL a, REAL b) { return a < b ? a : b; }

// As lost_of() of products.hpp.
FN REAL lost_of(REAL added, REAL unit, REAL products) {
  const REAL more = (REAL)(1 + 0x1p-20);
  if (unit > 0 && added * more <= (REAL)0x1p53 * unit) return 0;
  return added * (2 * products) * (more * (REAL)0x1p-53) + (unit > 0 ? (REAL)0 : products * (REAL)0x1p-1070);
}

// Store a sum, rounded once. They return 1 if it is not determined.
#if INTEGERS
// The terms are integers. Sums near the bounds of the type are left to the host.
FN uint store_dot(SQUARES x, GLOBAL ulong* to) {
  *to = (ulong)((long)x.s + (long)x.e + (long)x.f);
  return !(x.lost == 0 && magnitude_of_real(x.s) < (REAL)0x1p62);
}
#else
FN uint store_dot(SQUARES x, GLOBAL ulong* to) {
  const ROUNDED found = moment(OF_SQUARED_NORM, expansion_zero(), x, 1, 0);
  *to = as_ulong(found.value);
  return !found.certain;
}
#endif
// Of two terms. If they lack nothing, one addition rounds their sum.
FN uint store_short_dot(DOT_SUM x, GLOBAL ulong* to) {
#if INTEGERS
  SQUARES all;
  all.s = x.s;
  all.e = x.e;
  all.f = 0;
  all.lost = x.lost;
  return store_dot(all, to);
#else
  const REAL high = x.e == 0 ? x.s : x.s + x.e;  // a zero keeps its sign
  *to = as_ulong(high);
  if (x.lost == 0) return !(high - high == 0);
  const REAL low = error_of_sum(x.s, x.e, high), beyond = x.lost * (REAL)(1 + 0x1p-20) + magnitude_of_real(high) * (REAL)0x1p-99;
  return !(high + (low + beyond) == high && high + (low - beyond) == high);
#endif
}

#if EXACT
#define is_small(x) 0
#else
// Whether products of this number may have bits that no double has.
FN uint is_small(REAL x) { return x != 0 && magnitude_of_real(x) < (REAL)LEAST_SQUARED; }
#endif

FN REAL element_at(GLOBAL const uchar* from, long offset) { return VALUE(*(GLOBAL const ELEMENT*)(from + offset)); }

// Where the elements of STEPS steps from `first` on lie.
FN void find_steps(GLOBAL const ulong* axes, uint count, ulong first, ulong steps, LOCAL long* to_a, LOCAL long* to_b) {
  for (uint i = local_id(); i < STEPS; i += GROUP_SIZE) {
    const PLACE place = place_of(axes, count, first + i < steps ? first + i : 0);
    to_a[i] = place.a;
    to_b[i] = place.b;
  }
}

// Tiles of results: all have one index of the axes of both arrays. `a_across`: neighbouring work-items read elements of neighbouring rows, else of
// neighbouring steps; likewise `b_across`.
#define ROW (TILE + 1)  // in local memory: rows begin in different banks
#define LOADS (TILE * STEPS / GROUP_SIZE)
#define SIDE (TILE / EACH)
KERNEL FIXED_GROUP(GROUP_SIZE, 2)
void dots_tiles(GLOBAL const uchar* a, ulong a_offset, GLOBAL const uchar* b, ulong b_offset, GLOBAL ulong* words, uint both_axes, uint row_axes,
                uint column_axes, uint summed_axes, ulong rows, ulong columns, ulong steps, ulong first_tile, int a_across, int b_across,
                GLOBAL ulong* to, ulong to_offset, GLOBAL ulong* pending, ulong capacity) {
  LOCAL_VAR REAL of_a[STEPS * ROW];
  LOCAL_VAR REAL of_b[STEPS * ROW];
  LOCAL_VAR long step_a[STEPS];  // where the elements of the next steps lie
  LOCAL_VAR long step_b[STEPS];
  const uint id = local_id(), x = id & (SIDE - 1), y = id / SIDE;
  GLOBAL const ulong* const both_words = words + 1;
  GLOBAL const ulong* const row_words = both_words + 4 * both_axes;
  GLOBAL const ulong* const column_words = row_words + 4 * row_axes;
  GLOBAL const ulong* const summed_words = column_words + 4 * column_axes;
  const ulong tile = first_tile + group_id(), across = (columns + TILE - 1) / TILE, down = (rows + TILE - 1) / TILE;
  const ulong left = tile % across * TILE, top = tile / across % down * TILE;
  const PLACE corner = place_of(both_words, both_axes, tile / across / down);
  GLOBAL const uchar* const from_a = a + a_offset + corner.a;
  GLOBAL const uchar* const from_b = b + b_offset + corner.b;

  // A work-item loads elements of the same rows and columns in each turn; beyond the last ones, the last one's.
  long at_a[LOADS], at_b[LOADS];
  UNROLL_LOADS
  for (uint k = 0; k < LOADS; ++k) {
    const uint i = id + k * GROUP_SIZE;
    const ulong row = top + (a_across ? i % TILE : i / STEPS), column = left + (b_across ? i % TILE : i / STEPS);
    at_a[k] = place_of(row_words, row_axes, row < rows ? row : rows - 1).a;
    at_b[k] = place_of(column_words, column_axes, column < columns ? column : columns - 1).b;
  }
  DOT_SUM sums[EACH * EACH];
#pragma unroll
  for (uint k = 0; k < EACH * EACH; ++k) {
    sums[k].s = (REAL)-0.0;
    sums[k].e = sums[k].lost = 0;
  }
  REAL unit_a = (REAL)0x1p1023, unit_b = unit_a;  // of all elements
  find_steps(summed_words, summed_axes, 0, steps, step_a, step_b);
  MEET();
  for (ulong first = 0; first < steps; first += STEPS) {
    UNROLL_LOADS
    for (uint k = 0; k < LOADS; ++k) {
      const uint i = id + k * GROUP_SIZE;
      const uint a_step = a_across ? i / TILE : i % STEPS, b_step = b_across ? i / TILE : i % STEPS;
      const uint a_row = a_across ? i % TILE : i / STEPS, b_column = b_across ? i % TILE : i / STEPS;
      REAL of_row = (REAL)-0.0, of_column = 0;  // whose product adds nothing
      if (first + a_step < steps) of_row = element_at(from_a, at_a[k] + step_a[a_step]);
      if (first + b_step < steps) of_column = element_at(from_b, at_b[k] + step_b[b_step]);
      unit_a = less_of(unit_a, unit_of(of_row));
      unit_b = less_of(unit_b, unit_of(of_column));
      of_a[a_step * ROW + a_row] = of_row;
      of_b[b_step * ROW + b_column] = of_column;
    }
    MEET();
    find_steps(summed_words, summed_axes, first + STEPS, steps, step_a, step_b);
    UNROLL_STEPS
    for (uint step = 0; step < STEPS; ++step) {
      REAL left_numbers[EACH], right_numbers[EACH];
#pragma unroll
      for (uint k = 0; k < EACH; ++k) {
        left_numbers[k] = of_a[step * ROW + y + k * SIDE];
        right_numbers[k] = of_b[step * ROW + x + k * SIDE];
      }
#pragma unroll
      for (uint k = 0; k < EACH * EACH; ++k) sums[k] = dot_add(sums[k], left_numbers[k / EACH], right_numbers[k % EACH]);
    }
    MEET();
  }
  of_a[id] = unit_a;
  of_b[id] = unit_b;
  for (uint distance = GROUP_SIZE / 2; distance != 0; distance /= 2) {
    MEET();
    if (id < distance) {
      of_a[id] = less_of(of_a[id], of_a[id + distance]);
      of_b[id] = less_of(of_b[id], of_b[id + distance]);
    }
  }
  MEET();
  const REAL unit = of_a[0] * of_b[0];  // of their products; 0 if these, or their errors, may be no doubles
  ulong row_to[EACH], column_to[EACH];
#pragma unroll
  for (uint k = 0; k < EACH; ++k) {
    row_to[k] = (ulong)place_of(row_words, row_axes, top + y + k * SIDE).to;
    column_to[k] = (ulong)place_of(column_words, column_axes, left + x + k * SIDE).to;
  }
#pragma unroll
  for (uint k = 0; k < EACH * EACH; ++k) {
    if (top + y + k / EACH * SIDE < rows && left + x + k % EACH * SIDE < columns) {
      const ulong result = (ulong)corner.to + row_to[k / EACH] + column_to[k % EACH];
      sums[k].lost = lost_of(sums[k].lost, unit, (REAL)steps);
      if (store_short_dot(sums[k], to + to_offset + result)) add_pending(words, pending, capacity, result);
    }
  }
}

// Results one by one, with `lanes` work-items for each: those of both arrays' axes, then rows, then columns. `neighbours`: neighbouring work-items
// have neighbouring results, else neighbouring elements of one.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void dots_lanes(GLOBAL const uchar* a, ulong a_offset, GLOBAL const uchar* b, ulong b_offset, GLOBAL ulong* words, uint kept_axes, uint summed_axes,
                ulong results, ulong steps, ulong first_unit, uint lanes, int neighbours, GLOBAL ulong* to, ulong to_offset,
                GLOBAL ulong* pending, ulong capacity) {
  LOCAL_VAR REAL terms[4 * GROUP_SIZE];
  const uint id = local_id(), width = GROUP_SIZE / lanes;  // both are powers of two
  const uint lane = neighbours ? id / width : id & (lanes - 1), slot = neighbours ? id & (width - 1) : id / lanes;
  const uint apart = neighbours ? width : 1;
  GLOBAL const ulong* const kept_words = words + 1;
  GLOBAL const ulong* const summed_words = kept_words + 4 * kept_axes;
  const ulong number = (first_unit + group_id()) * width + slot;
  const PLACE place = place_of(kept_words, kept_axes, number < results ? number : results - 1);
  GLOBAL const uchar* const from_a = a + a_offset + place.a;
  GLOBAL const uchar* const from_b = b + b_offset + place.b;
  DOT_SUM sum;
  sum.s = (REAL)-0.0;
  sum.e = sum.lost = 0;
  for (ulong step = lane; step < steps; step += lanes) {
    const PLACE at = place_of(summed_words, summed_axes, step);
    const REAL of_a = element_at(from_a, at.a), of_b = element_at(from_b, at.b);
    sum = dot_add_noting(sum, of_a, of_b);
    if (is_small(of_a) || is_small(of_b)) sum.lost += (REAL)LOST_OF_SMALL;
  }
  SQUARES all;
  all.s = sum.s;
  all.e = sum.e;
  all.f = 0;
  all.lost = sum.lost;
  for (uint distance = lanes / 2; distance != 0; distance /= 2) {
    terms[id] = all.s;
    terms[GROUP_SIZE + id] = all.e;
    terms[2 * GROUP_SIZE + id] = all.f;
    terms[3 * GROUP_SIZE + id] = all.lost;
    MEET();
    if (lane < distance) {
      const uint from = id + distance * apart;
      SQUARES other;
      other.s = terms[from];
      other.e = terms[GROUP_SIZE + from];
      other.f = terms[2 * GROUP_SIZE + from];
      other.lost = terms[3 * GROUP_SIZE + from];
      all = squares_merge(all, other);
    }
    MEET();
  }
  if (lane != 0 || number >= results) return;
  const ulong result = (ulong)place.to;
  if (store_dot(all, to + to_offset + result)) add_pending(words, pending, capacity, result);
}
