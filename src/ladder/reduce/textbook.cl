// The sum, the product and the maximum as in textbooks, from the naive to the fast and careless: sums and products are rounded at every
// step, so their value depends on the order of the steps. Rows of kind `textbook`: checked against an error bound, never chosen by auto
// (docs/ladder-sum.md).
//
// Defined by the host: OPERATION (0: sum, 1: product, 2: maximum), REAL (float, double), REAL_BYTES (4, 8), GROUP (work-items of a group),
// UNROLL (loads in flight).

#if OPERATION == 0
#define IDENTITY ((REAL)0)
FN REAL combine(REAL a, REAL b) { return a + b; }
#elif OPERATION == 1
#define IDENTITY ((REAL)1)
FN REAL combine(REAL a, REAL b) { return a * b; }
#else
#if REAL_BYTES == 8
#define IDENTITY as_double((ulong)0xfff << 52)
#else
#define IDENTITY as_float(0xff800000u)
#endif
FN REAL combine(REAL a, REAL b) { return a < b ? b : a; }
#endif

#if REAL_BYTES == 8
#define VECTOR double2
#define LANES 2
FN double2 no_lanes(void) { double2 v; v.x = IDENTITY; v.y = IDENTITY; return v; }
FN double2 add_vectors(double2 a, double2 b) { a.x = combine(a.x, b.x); a.y = combine(a.y, b.y); return a; }
FN double add_lanes(double2 v) { return combine(v.x, v.y); }
#define atomic_combine atomic_add_global_f64
#else
#define VECTOR float4
#define LANES 4
FN float4 no_lanes(void) { float4 v; v.x = IDENTITY; v.y = IDENTITY; v.z = IDENTITY; v.w = IDENTITY; return v; }
FN float4 add_vectors(float4 a, float4 b) {
  a.x = combine(a.x, b.x);
  a.y = combine(a.y, b.y);
  a.z = combine(a.z, b.z);
  a.w = combine(a.w, b.w);
  return a;
}
FN float add_lanes(float4 v) { return combine(combine(v.x, v.y), combine(v.z, v.w)); }
#if OPERATION == 0
#define atomic_combine atomic_add_global_f32
#else
// By compare-and-swap.
FN void atomic_combine(GLOBAL float* p, float value) {
  uint expected = as_uint(IDENTITY);  // a guess, corrected by the first exchange
  for (;;) {
    const uint found = atomic_cas_global32((GLOBAL uint*)p, expected, as_uint(combine(as_float(expected), value)));
    if (found == expected) return;
    expected = found;
  }
}
#endif
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
// step_rows and step_columns, which saves 64-bit divisions.
KERNEL FIXED_GROUP(GROUP, 1) void tree_round(GLOBAL const REAL* in, ulong rows, ulong columns, GLOBAL REAL* out, uint tile_columns,
                                           ulong step_rows, ulong step_columns) {
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
    scratch[local_id()] = row < rows && column < columns ? in[row * columns + column] : IDENTITY;
    barrier_local();
    tree(scratch + y * tile_columns, tile_columns, x, 1);
    tree(scratch, tile_rows, x == 0 ? y : tile_rows, tile_columns);
    if (local_id() == 0) out[tile_row * out_columns + tile_column] = scratch[0];
    barrier_local();
    tile_row += step_rows;
    tile_column += step_columns;
    if (tile_column >= out_columns) {
      tile_column -= out_columns;
      tile_row += 1;
    }
  }
}

// One round of tile_passes: each work-item adds up its own tile x tile elements sequentially.
KERNEL FIXED_GROUP(GROUP, 1) void tile_round(GLOBAL const REAL* in, ulong rows, ulong columns, GLOBAL REAL* out, uint tile) {
  ulong out_columns = (columns + tile - 1) / tile;
  ulong tiles = (rows + tile - 1) / tile * out_columns;
  for (ulong i = global_id(); i < tiles; i += global_size()) {
    ulong first_row = i / out_columns * tile;
    ulong first_column = i % out_columns * tile;
    ulong end_row = first_row + tile < rows ? first_row + tile : rows;
    ulong end_column = first_column + tile < columns ? first_column + tile : columns;
    REAL sum = IDENTITY;
    for (ulong row = first_row; row < end_row; ++row) {
      for (ulong column = first_column; column < end_column; ++column) sum = combine(sum, in[row * columns + column]);
    }
    out[i] = sum;
  }
}

// A round of grid_stride_two_pass: neighbouring work-items read neighbouring elements; out[group] is the group's sum.
KERNEL FIXED_GROUP(GROUP, 1) void grid_stride(GLOBAL const REAL* in, ulong n, GLOBAL REAL* out) {
  LOCAL_VAR REAL scratch[GROUP];
  REAL sum = IDENTITY;
  for (ulong i = global_id(); i < n; i += global_size()) sum = combine(sum, in[i]);
  sum = group_sum(scratch, sum);
  if (local_id() == 0) out[group_id()] = sum;
}

// The same, but the groups add to one result, initialized by set_identity: the order, and so the value, may differ in every run.
#if REAL_BYTES == 4 || (OPERATION == 0 && SAMESUM_INT64_ATOMICS)
KERNEL void set_identity(GLOBAL REAL* out) { out[0] = IDENTITY; }

KERNEL FIXED_GROUP(GROUP, 1) void grid_stride_atomic(GLOBAL const REAL* in, ulong n, GLOBAL REAL* out) {
  LOCAL_VAR REAL scratch[GROUP];
  REAL sum = IDENTITY;
  for (ulong i = global_id(); i < n; i += global_size()) sum = combine(sum, in[i]);
  sum = group_sum(scratch, sum);
  if (local_id() == 0) atomic_combine(out, sum);
}
#endif

// One launch: 16-byte loads, UNROLL of them in flight, and the last group to finish, found by a ticket counter, adds the partial sums. `in`
// is aligned to 16 bytes; the counter is 0 before and after.
#if SAMESUM_DEVICE_FENCE
KERNEL FIXED_GROUP(GROUP, 1) void single_pass(GLOBAL const REAL* in, ulong n, GLOBAL REAL* partials, GLOBAL uint* ticket,
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
