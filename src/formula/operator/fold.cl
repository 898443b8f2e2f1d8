// An operator of the user's own whose elements may be combined in any order: each work-item folds leaves of its own into EACH sums, each group
// combines what its work-items have, and writes one root.
//
// Before it stands lanes.h, with unit_state(), what comes before the first leaf. Defined by the host, beside what that needs: LOADS, as often
// a work-item reads leaves for a tile; RUNS, whether a group's tiles follow one another.

#define TILE (LOADS * GROUP_SIZE * EACH)

// `failed` is set where an operation failed that makes a leaf.
KERNEL FIXED_GROUP(GROUP_SIZE, 4)
void fold(TREE_PARAMETERS, ulong tiles, GLOBAL uint* failed) {
  LOCAL_VAR STATE nodes[GROUP_SIZE];
  const LEAVES leaves = LEAVES_VALUE;
  uint error = 0;
  STATE sums[EACH];
#pragma unroll
  for (int i = 0; i < EACH; ++i) sums[i] = unit_state();
  grid_dependency_wait();
#if RUNS
  const ulong begin = tiles * group_id() / group_count(), end = tiles * (group_id() + 1) / group_count(), step = 1;
#else
  const ulong begin = group_id(), end = tiles, step = group_count();
#endif
  for (ulong tile = begin; tile < end; tile += step) {
    STATE leaf[LOADS * EACH];
#pragma unroll
    for (int k = 0; k < LOADS; ++k) load_leaves(leaf + k * EACH, leaves, tile * TILE + ((ulong)k * GROUP_SIZE + local_id()) * EACH, &error);
#pragma unroll
    for (int k = 0; k < LOADS; ++k) {
#pragma unroll
      for (int i = 0; i < EACH; ++i) sums[i] = combine_states(leaves, sums[i], leaf[k * EACH + i], &error);
    }
  }
#pragma unroll
  for (int apart = EACH / 2; apart > 0; apart /= 2) {
#pragma unroll
    for (int i = 0; i < apart; ++i) sums[i] = combine_states(leaves, sums[i], sums[i + apart], &error);
  }
#if LANES > 1
  sums[0] = root_of_lanes(leaves, sums[0], LANES, &error);
  if (local_id() % LANES == 0) nodes[local_id() / LANES] = sums[0];
  barrier_local();
  if (local_id() < LANES) {
    const STATE root = root_of_lanes(leaves, nodes[local_id() % (GROUP_SIZE / LANES)], GROUP_SIZE / LANES, &error);
    if (local_id() == 0) write_root(leaves, group_id(), root);
  }
#else
  nodes[local_id()] = sums[0];
  for (uint apart = GROUP_SIZE / 2; apart > 0; apart /= 2) {
    barrier_local();
    if (local_id() < apart) nodes[local_id()] = combine_states(leaves, nodes[local_id()], nodes[local_id() + apart], &error);
  }
  if (local_id() == 0) write_root(leaves, group_id(), nodes[0]);
#endif
  if (error != 0) atomic_max_global32(failed, 1);
}
