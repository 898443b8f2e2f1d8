// The sum, the product, the minimum, the maximum and operators of the user's own as in textbooks, from the naive to the fast and careless:
// floating-point sums and products are rounded at every step, so their value depends on the order of the steps. Rows of kind `textbook`:
// checked against an error bound, never chosen by auto (docs/ladder-sum.md). Operators have to be associative and to commute.
//
// operation.h is before this file; GROUP: work-items of a group, UNROLL: loads in flight; RESIDENT: groups that a compute unit is to hold at once,
// which limits the registers of a work-item.
#ifndef RESIDENT
#define RESIDENT 1
#endif

// Halves `count` values at intervals of `step`, of which this work-item has number `mine`, until the first holds their sum. Any count; must
// be called by all work-items of the group.
FN void tree(LOCAL REAL* values, uint count, uint mine, uint step) {
  while (count > 1) {
    uint upper = (count + 1) / 2;
    if (mine < count - upper) values[mine * step] = combine(values[mine * step], values[(mine + upper) * step]);
    barrier_local();
    count = upper;
  }
}

// The sum of every work-item's `value`. The scratch may be reused after the next barrier.
FN REAL group_sum(LOCAL REAL* scratch, REAL value) {
  scratch[local_id()] = value;
  barrier_local();
  tree(scratch, group_size(), local_id(), 1);
  return scratch[0];
}

// One round of tree_passes: a group sums a tile of tile_columns x (group size / tile_columns) elements, one per work-item, first along the
// rows, then down the first column. If there are more tiles than the 32-bit limit of groups, groups stride by group_count() tiles, given as
// step_rows and step_columns, which saves 64-bit divisions. The pitches are the elements from one row's start to the next one's.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void tree_round(GLOBAL const REAL* in, ulong rows, ulong columns, ulong in_pitch, GLOBAL REAL* out,
                                           ulong out_pitch, uint tile_columns, ulong step_rows, ulong step_columns) {
  LOCAL_VAR REAL scratch[GROUP];
  uint tile_rows = group_size() / tile_columns;
  uint y = local_id() / tile_columns;
  uint x = local_id() - y * tile_columns;
  ulong out_rows = (rows + tile_rows - 1) / tile_rows;
  ulong out_columns = (columns + tile_columns - 1) / tile_columns;
  ulong tile_row = out_columns >> 32 ? 0 : group_id() / (uint)out_columns;
  ulong tile_column = group_id() - tile_row * out_columns;
  while (tile_row < out_rows) {
    ulong row = tile_row * tile_rows + y;
    ulong column = tile_column * tile_columns + x;
    scratch[local_id()] = row < rows && column < columns ? in[row * in_pitch + column] : IDENTITY;
    barrier_local();
    tree(scratch + y * tile_columns, tile_columns, x, 1);
    tree(scratch, tile_rows, x == 0 ? y : tile_rows, tile_columns);
    if (local_id() == 0) out[tile_row * out_pitch + tile_column] = scratch[0];
    barrier_local();
    tile_row += step_rows;
    tile_column += step_columns;
    if (tile_column >= out_columns) {
      tile_column -= out_columns;
      tile_row += 1;
    }
  }
}

// One round of tile_passes: each work-item adds up its own tile_rows x tile_columns elements sequentially.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void tile_round(GLOBAL const REAL* in, ulong rows, ulong columns, ulong in_pitch, GLOBAL REAL* out,
                                           ulong out_pitch, uint tile_rows, uint tile_columns) {
  ulong out_columns = (columns + tile_columns - 1) / tile_columns;
  ulong tiles = (rows + tile_rows - 1) / tile_rows * out_columns;
  for (ulong i = global_id(); i < tiles; i += global_size()) {
    ulong first_row = i / out_columns * tile_rows;
    ulong first_column = i % out_columns * tile_columns;
    ulong end_row = first_row + tile_rows < rows ? first_row + tile_rows : rows;
    ulong end_column = first_column + tile_columns < columns ? first_column + tile_columns : columns;
    REAL sum = IDENTITY;
    for (ulong row = first_row; row < end_row; ++row) {
      for (ulong column = first_column; column < end_column; ++column) sum = combine(sum, in[row * in_pitch + column]);
    }
    out[i / out_columns * out_pitch + i % out_columns] = sum;
  }
}

// A round of grid_stride_two_pass: neighbouring work-items read neighbouring elements; out[group] is the group's sum.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void grid_stride(GLOBAL const REAL* in, ulong n, GLOBAL REAL* out) {
  LOCAL_VAR REAL scratch[GROUP];
  REAL sum = IDENTITY;
  for (ulong i = global_id(); i < n; i += global_size()) sum = combine(sum, in[i]);
  sum = group_sum(scratch, sum);
  if (local_id() == 0) out[group_id()] = sum;
}

// The same without the barriers between the levels of the tree: a work-item may read what its neighbour has not yet written, and what it
// writes may be overwritten. The rung shows what the barriers are for; it is expected to be wrong.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void missing_barrier(GLOBAL const REAL* in, ulong n, GLOBAL REAL* out) {
  LOCAL_VAR REAL scratch[GROUP];
  REAL sum = IDENTITY;
  for (ulong i = global_id(); i < n; i += global_size()) sum = combine(sum, in[i]);
  scratch[local_id()] = sum;
  uint count = group_size();
  while (count > 1) {
    uint upper = (count + 1) / 2;
    if (local_id() < count - upper) scratch[local_id()] = combine(scratch[local_id()], scratch[local_id() + upper]);
    count = upper;
  }
  if (local_id() == 0) out[group_id()] = scratch[0];
}

// Four loads by hand in each step of the loop, which has a quarter of the conditions; the size of the group is known at run time only.
KERNEL void unrolled(GLOBAL const REAL* in, ulong n, GLOBAL REAL* out) {
  LOCAL_VAR REAL scratch[GROUP];
  REAL sum = IDENTITY;
  const ulong step = global_size();
  ulong i = global_id();
  for (; i + 3 * step < n; i += 4 * step) {
    const REAL a = in[i];
    const REAL b = in[i + step];
    const REAL c = in[i + 2 * step];
    const REAL d = in[i + 3 * step];
    sum = combine(sum, combine(combine(a, b), combine(c, d)));
  }
  for (; i < n; i += step) sum = combine(sum, in[i]);
  sum = group_sum(scratch, sum);
  if (local_id() == 0) out[group_id()] = sum;
}

// The same with the size of the group as a constant, as by a template: each level of the tree is compiled for itself, without a loop.
#define LEVEL(half)                                                                                                              \
  if (GROUP > half) {                                                                                                            \
    if (local_id() < half && local_id() + half < GROUP) scratch[local_id()] = combine(scratch[local_id()], scratch[local_id() + half]); \
    barrier_local();                                                                                                             \
  }
KERNEL FIXED_GROUP(GROUP, RESIDENT) void templated(GLOBAL const REAL* in, ulong n, GLOBAL REAL* out) {
  LOCAL_VAR REAL scratch[GROUP];
  REAL sum = IDENTITY;
  const ulong step = (ulong)group_count() * GROUP;
  ulong i = global_id();
  for (; i + 3 * step < n; i += 4 * step) {
    const REAL a = in[i];
    const REAL b = in[i + step];
    const REAL c = in[i + 2 * step];
    const REAL d = in[i + 3 * step];
    sum = combine(sum, combine(combine(a, b), combine(c, d)));
  }
  for (; i < n; i += step) sum = combine(sum, in[i]);
  scratch[local_id()] = sum;
  barrier_local();
  LEVEL(4096)
  LEVEL(2048)
  LEVEL(1024)
  LEVEL(512)
  LEVEL(256)
  LEVEL(128)
  LEVEL(64)
  LEVEL(32)
  LEVEL(16)
  LEVEL(8)
  LEVEL(4)
  LEVEL(2)
  LEVEL(1)
  if (local_id() == 0) out[group_id()] = scratch[0];
}

// The same, but the groups add to one result, initialized by set_identity: the order, and so the value, may differ in every run.
#if HAS_ATOMIC
KERNEL void set_identity(GLOBAL REAL* out) { out[0] = IDENTITY; }

KERNEL FIXED_GROUP(GROUP, RESIDENT) void grid_stride_atomic(GLOBAL const REAL* in, ulong n, GLOBAL REAL* out) {
  LOCAL_VAR REAL scratch[GROUP];
  REAL sum = IDENTITY;
  for (ulong i = global_id(); i < n; i += global_size()) sum = combine(sum, in[i]);
  sum = group_sum(scratch, sum);
  if (local_id() == 0) atomic_combine(out, sum);
}

// The naive one: every element is added to one number in global memory, for which all work-items wait.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void one_scalar(GLOBAL const REAL* in, ulong n, GLOBAL REAL* out) {
  for (ulong i = global_id(); i < n; i += global_size()) atomic_combine(out, in[i]);
}
#endif

// One launch: 16-byte loads, UNROLL of them in flight, and the last group to finish, found by a ticket counter, adds the partial sums. `in`
// is aligned to 16 bytes; the counter is 0 before and after.
#if SAMESUM_DEVICE_FENCE
KERNEL FIXED_GROUP(GROUP, RESIDENT) void single_pass(GLOBAL const REAL* in, ulong n, GLOBAL REAL* partials, GLOBAL uint* ticket,
                                            GLOBAL REAL* out) {
  LOCAL_VAR REAL scratch[GROUP];
  LOCAL_VAR uint drawn[1];
  GLOBAL const VECTOR* vectors = (GLOBAL const VECTOR*)in;
  ulong count = n / LANES;
  ulong tile = (ulong)group_size() * UNROLL;
  ulong tiles = count / tile;
  VECTOR sums = no_lanes();
  for (ulong t = group_id(); t < tiles; t += group_count()) {
    GLOBAL const VECTOR* from = vectors + t * tile + local_id();
    VECTOR loaded[UNROLL];
#pragma unroll
    for (uint k = 0; k < UNROLL; ++k) loaded[k] = from[k * group_size()];
#pragma unroll
    for (uint k = 0; k < UNROLL; ++k) sums = add_vectors(sums, loaded[k]);
  }
  for (ulong i = tiles * tile + global_id(); i < count; i += global_size()) sums = add_vectors(sums, vectors[i]);
  REAL sum = add_lanes(sums);
  for (ulong i = count * LANES + global_id(); i < n; i += global_size()) sum = combine(sum, in[i]);
  sum = group_sum(scratch, sum);
  if (local_id() == 0) {
    partials[group_id()] = sum;
    fence_device();
    drawn[0] = atomic_add_global32(ticket, 1);
  }
  barrier_local();
  if (drawn[0] != group_count() - 1) return;  // the whole group returns
  fence_device();
  sum = IDENTITY;
  for (uint i = local_id(); i < group_count(); i += group_size()) sum = combine(sum, partials[i]);
  sum = group_sum(scratch, sum);
  if (local_id() == 0) {
    out[0] = sum;
    ticket[0] = 0;
  }
}
#endif
