// An operator of the user's own, over the balanced binary tree: each group reduces tiles of TILE leaves, aligned blocks of the tree, and
// writes the root of each.
//
// Defined by the host, beside what lanes.h needs: LOADS (a power of two, at least 2: as often a work-item reads leaves for a tile).

#define NODES (LOADS * GROUP_SIZE)
#define TILE (NODES * EACH)
// `failed` is set where an operation failed.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void tree(TREE_PARAMETERS, ulong tiles, GLOBAL uint* failed) {
  LOCAL_VAR STATE nodes[NODES];
#if LANES > 1
  LOCAL_VAR STATE roots[GROUP_SIZE / LANES];
#endif
  const LEAVES leaves = LEAVES_VALUE;
  uint error = 0;
  grid_dependency_wait();
  for (ulong tile = group_id(); tile < tiles; tile += group_count()) {
    STATE leaf[LOADS * EACH];
    STATE node[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; ++k) load_leaves(leaf + k * EACH, leaves, tile * TILE + ((ulong)k * GROUP_SIZE + local_id()) * EACH, &error);
#pragma unroll
    for (int k = 0; k < LOADS; ++k) {
#pragma unroll
      for (int apart = 1; apart < EACH; apart *= 2) {
#pragma unroll
        for (int i = 0; i < EACH; i += 2 * apart) {
          leaf[k * EACH + i] = combine_states(leaves, leaf[k * EACH + i], leaf[k * EACH + i + apart], &error);
        }
      }
      node[k] = leaf[k * EACH];
    }
#if LANES == 1
    barrier_local();
#endif
#pragma unroll
    for (int k = 0; k < LOADS; ++k) nodes[k * GROUP_SIZE + local_id()] = node[k];
#if LANES > 1
    // Each work-item has LOADS nodes that follow one another, then each sub-group those of its lanes, then one of them those of all.
    barrier_local();
#pragma unroll
    for (int k = 0; k < LOADS; ++k) node[k] = nodes[local_id() * LOADS + k];
#pragma unroll
    for (int apart = 1; apart < LOADS; apart *= 2) {
#pragma unroll
      for (int k = 0; k < LOADS; k += 2 * apart) node[k] = combine_states(leaves, node[k], node[k + apart], &error);
    }
    node[0] = root_of_lanes(leaves, node[0], LANES, &error);
    if (local_id() % LANES == 0) roots[local_id() / LANES] = node[0];
    barrier_local();
    if (local_id() < LANES) {
      const STATE root = root_of_lanes(leaves, roots[local_id() % (GROUP_SIZE / LANES)], GROUP_SIZE / LANES, &error);
      if (local_id() == 0) write_root(leaves, tile, root);
    }
#else
    // Each level in two steps, as the same nodes are read and written.
    for (uint count = NODES / 2; count > 0; count /= 2) {
      barrier_local();
#pragma unroll
      for (int k = 0; k < LOADS / 2; ++k) {
        const uint i = k * GROUP_SIZE + local_id();
        if (i < count) node[k] = combine_states(leaves, nodes[2 * i], nodes[2 * i + 1], &error);
      }
      barrier_local();
#pragma unroll
      for (int k = 0; k < LOADS / 2; ++k) {
        const uint i = k * GROUP_SIZE + local_id();
        if (i < count) nodes[i] = node[k];
      }
    }
    if (local_id() == 0) write_root(leaves, tile, nodes[0]);
#endif
  }
  if (error != 0) atomic_max_global32(failed, 1);
}
