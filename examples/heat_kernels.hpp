// The kernels of heat.cpp: SIDE x SIDE temperatures, of which each new one is the mean of its four neighbours.
#pragma once

constexpr const char* kSource = R"(
FN float mean(float a, float b, float c, float d) { return mul_rn_f32(0.25f, add_rn_f32(add_rn_f32(a, b), add_rn_f32(c, d))); }
FN bool on_rim(uint row, uint column) { return row == 0 || column == 0 || row == SIDE - 1 || column == SIDE - 1; }
KERNEL void heat_step(GLOBAL const float* from, GLOBAL float* to) {  // the rim keeps its temperature
  const uint i = (uint)global_id();
  to[i] = on_rim(i / SIDE, i % SIDE) ? from[i] : mean(from[i - 1], from[i + 1], from[i - SIDE], from[i + SIDE]);
}
// A group has ROWS rows, a work-item a column of them, which it keeps in registers: only first and last rows go through global memory.
KERNEL FIXED_GROUP(SIDE, 1) void heat(GLOBAL uint* state, GLOBAL float* a, GLOBAL float* b, uint steps) {
  LOCAL_VAR uint scratch[GRID_BARRIER_LOCAL_WORDS];
  LOCAL_VAR float beside[ROWS * SIDE];
  GridBarrier grid;
  if (!grid_barrier_begin(&grid, state, scratch)) return;
  const uint column = local_id(), first = grid.group * ROWS, left = column - (column > 0), right = column + (column < SIDE - 1);
  float t[ROWS];
  for (uint r = 0; r < ROWS; ++r) t[r] = a[(first + r) * SIDE + column];
  for (uint s = 0; s < steps; ++s) {
    GLOBAL const float* from = s % 2 ? b : a;
    GLOBAL float* to = s % 2 ? a : b;
    const float below = first + ROWS < SIDE ? from[(first + ROWS) * SIDE + column] : 0.0f;
    float above = first > 0 ? from[(first - 1) * SIDE + column] : 0.0f;
    for (uint r = 0; r < ROWS; ++r) beside[r * SIDE + column] = t[r];
    barrier_local();
    for (uint r = 0; r < ROWS; ++r) {
      const float now = t[r], next = r + 1 < ROWS ? t[r + 1 < ROWS ? r + 1 : r] : below;
      const float new_t = mean(beside[r * SIDE + left], beside[r * SIDE + right], above, next);
      t[r] = on_rim(first + r, column) ? now : new_t;
      above = now;
      if (r == 0 || r == ROWS - 1 || s == steps - 1) to[(first + r) * SIDE + column] = t[r];
    }
    if (!grid_barrier(&grid)) return;
  }
})";
