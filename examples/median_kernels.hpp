// The kernels of median.cpp: the median has a bit where at most half of the numbers are below the least one that has it.
#pragma once

constexpr const char* kSource = R"(
// Adds to *count what the work-items of the group have counted.
FN void add_up(uint mine, GLOBAL uint* count, LOCAL uint* sum) {
  if (local_id() == 0) *sum = 0;
  barrier_local();
  atomic_add_local32(sum, mine);
  barrier_local();
  if (local_id() == 0) atomic_add_global32(count, *sum);
}
// All passes. A work-item keeps its ITEMS numbers, which are in registers where it has so many.
KERNEL void median(GLOBAL uint* state, GLOBAL const uint* x, uint n, GLOBAL uint* counts, GLOBAL uint* found) {
  LOCAL_VAR uint scratch[GRID_BARRIER_LOCAL_WORDS];
  LOCAL_VAR uint sum;
  GridBarrier grid;
  if (!grid_barrier_begin(&grid, state, scratch)) return;
  uint own[ITEMS];
  for (uint k = 0; k < ITEMS; ++k) {
    const uint i = (k * grid.groups + grid.group) * group_size() + local_id();
    own[k] = i < n ? x[i] : 0xffffffff;
  }
  uint number = 0;
  for (uint bit = 0x80000000; bit != 0; bit >>= 1, ++counts) {
    uint below = 0;
    for (uint k = 0; k < ITEMS; ++k) below += own[k] < (number | bit);
    add_up(below, counts, &sum);
    if (!grid_barrier(&grid)) return;
    if (*counts <= n / 2) number |= bit;
  }
  if (grid.group == 0 && local_id() == 0) found[32] = number;
}
// One pass: found[p] is the number before it.
KERNEL void median_pass(GLOBAL const uint* x, uint n, uint p, GLOBAL uint* counts, GLOBAL uint* found) {
  LOCAL_VAR uint sum;
  uint number = p == 0 ? 0 : found[p - 1];
  if (p > 0 && counts[p - 1] <= n / 2) number |= 0x80000000 >> (p - 1);
  if (global_id() == 0) found[p] = number;
  if (p == 32) return;
  uint below = 0;
  for (uint i = (uint)global_id(); i < n; i += (uint)global_size()) below += x[i] < (number | 0x80000000 >> p);
  add_up(below, &counts[p], &sum);
})";
