// The kernels of median.cpp: the median has a bit where at most half of the numbers are below the least one that has it.
#pragma once

constexpr const char* kSource = R"(
// Adds to *count how many of x are below `limit`.
FN void count_below(GLOBAL const uint* x, uint n, uint limit, uint first, uint step, GLOBAL uint* count, LOCAL uint* below) {
  if (local_id() == 0) *below = 0;
  barrier_local();
  uint mine = 0;
  for (uint i = first; i < n; i += step) mine += x[i] < limit;
  atomic_add_local32(below, mine);
  barrier_local();
  if (local_id() == 0) atomic_add_global32(count, *below);
}
// All passes.
KERNEL void median(GLOBAL uint* state, GLOBAL const uint* x, uint n, GLOBAL uint* counts, GLOBAL uint* found) {
  LOCAL_VAR uint scratch[GRID_BARRIER_LOCAL_WORDS];
  LOCAL_VAR uint below;
  GridBarrier grid;
  if (!grid_barrier_begin(&grid, state, scratch)) return;
  uint number = 0;
  for (uint bit = 0x80000000; bit != 0; bit >>= 1, ++counts) {
    count_below(x, n, number | bit, grid.group * group_size() + local_id(), grid.groups * group_size(), counts, &below);
    if (!grid_barrier(&grid)) return;
    if (*counts <= n / 2) number |= bit;
  }
  if (grid.group == 0 && local_id() == 0) found[32] = number;
}
// One pass: found[p] is the number before it.
KERNEL void median_pass(GLOBAL const uint* x, uint n, uint p, GLOBAL uint* counts, GLOBAL uint* found) {
  LOCAL_VAR uint below;
  uint number = p == 0 ? 0 : found[p - 1];
  if (p > 0 && counts[p - 1] <= n / 2) number |= 0x80000000 >> (p - 1);
  if (global_id() == 0) found[p] = number;
  if (p < 32) count_below(x, n, number | 0x80000000 >> p, (uint)global_id(), (uint)global_size(), &counts[p], &below);
})";
