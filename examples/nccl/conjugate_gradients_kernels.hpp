// The kernels of conjugate_gradients.cpp. p has a row of the neighbours' before its own rows, and one behind them.
#pragma once

constexpr const char* kSource = R"(
// The diagonal is greater than the sum of the others, and differs from place to place.
FN double diagonal(uint row, uint column) { return 4.0 + (double)((row * 7u + column * 13u) % 32u) / 4096.0; }
KERNEL void cg_begin(GLOBAL double* x, GLOBAL double* r, GLOBAL double* p, uint side, uint first, uint rows) {
  const ulong i = global_id();
  if (i < 2 * (ulong)side) p[i < side ? i : i + (ulong)side * rows] = 0.0;
  if (i >= (ulong)side * rows) return;
  const uint row = first + (uint)(i / side), column = (uint)(i % side);
  const double right = (double)((row * 31u + column * 17u) % 101u) / 101.0 - 0.5;
  x[i] = 0.0;
  r[i] = right;
  p[i + side] = right;
}
KERNEL void cg_apply(GLOBAL const double* p, GLOBAL double* q, uint side, uint first, uint rows) {
  const ulong i = global_id();
  if (i >= (ulong)side * rows) return;
  const uint row = first + (uint)(i / side), column = (uint)(i % side);
  const ulong at = i + side;
  double others = p[at - side] + p[at + side];
  if (column > 0) others = others + p[at - 1];
  if (column + 1 < side) others = others + p[at + 1];
  const double own = diagonal(row, column) * p[at];
  q[i] = own - others;
}
KERNEL void cg_step(GLOBAL double* x, GLOBAL double* r, GLOBAL const double* p, GLOBAL const double* q, GLOBAL const double* scalars, uint side, ulong count) {
  const ulong i = global_id();
  if (i >= count) return;
  const double alpha = scalars[0] / scalars[2];
  const double forward = alpha * p[i + side], back = alpha * q[i];
  x[i] = x[i] + forward;
  r[i] = r[i] - back;
}
KERNEL void cg_turn(GLOBAL const double* r, GLOBAL double* p, GLOBAL const double* scalars, uint side, ulong count) {
  const ulong i = global_id();
  if (i >= count) return;
  const double beta = scalars[1] / scalars[0];
  const double old = beta * p[i + side];
  p[i + side] = r[i] + old;
}
KERNEL void cg_next(GLOBAL double* scalars) { scalars[0] = scalars[1]; }
KERNEL void cg_to_rims(GLOBAL const double* p, GLOBAL double* rims, uint side, uint rows, uint number, ulong size) {
  for (ulong i = global_id(); i < size; i += global_size()) {
    const ulong own = i - 2 * (ulong)side * number;
    rims[i] = own < side ? p[side + own] : own < 2 * (ulong)side ? p[(ulong)side * rows + own - side] : 0.0;
  }
}
KERNEL void cg_from_rims(GLOBAL double* p, GLOBAL const double* rims, uint side, uint rows, uint number, ulong size) {
  for (ulong i = global_id(); i < side; i += global_size()) {
    if (number > 0) p[i] = rims[2 * (ulong)side * number - side + i];
    if (2 * (ulong)side * (number + 1) < size) p[(ulong)side * (rows + 1) + i] = rims[2 * (ulong)side * (number + 1) + i];
  }
}
// Plain sums: of each group, then of all groups, to the device's own word.
FN double cg_group_sum(LOCAL double* partial, double sum) {
  partial[local_id()] = sum;
  barrier_local();
  for (uint left = 128; left > 0; left /= 2) {
    if (local_id() < left) partial[local_id()] = partial[local_id()] + partial[local_id() + left];
    barrier_local();
  }
  return partial[0];
}
KERNEL void cg_plain_dot(GLOBAL const double* a, ulong a_first, GLOBAL const double* b, ulong b_first, ulong count, GLOBAL double* groups) {
  LOCAL_VAR double partial[256];
  double sum = 0.0;
  for (ulong i = global_id(); i < count; i += global_size()) {
    const double product = a[a_first + i] * b[b_first + i];
    sum = sum + product;
  }
  sum = cg_group_sum(partial, sum);
  if (local_id() == 0) groups[group_id()] = sum;
}
KERNEL void cg_plain_end(GLOBAL const double* groups, uint count, GLOBAL double* sums, uint number, uint parts) {
  LOCAL_VAR double partial[256];
  double sum = 0.0;
  for (uint i = local_id(); i < count; i += 256) sum = sum + groups[i];
  sum = cg_group_sum(partial, sum);
  for (uint i = local_id(); i < parts; i += 256) sums[i] = i == number ? sum : 0.0;
}
KERNEL void cg_add_up(GLOBAL const double* sums, uint parts, GLOBAL double* scalars, uint scalar) {
  double sum = sums[0];
  for (uint i = 1; i < parts; ++i) sum = sum + sums[i];
  scalars[scalar] = sum;
}
)";
