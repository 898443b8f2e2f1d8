// Parts of tiles of an operator's tree, for plans, which compute all of it on the device: tiles that begin at any leaf and may have fewer of
// them. A missing right child passes the left one through.
//
// Defined by the host, beside what lanes.h needs, with EACH 1: LOADS, the leaves of a work-item, a power of two.

#define TILE ((ulong)GROUP_SIZE * LOADS)

// Of `count` leaves, at least one; the root of the first tile is number `to` of those that are written.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void tree_part(TREE_PARAMETERS, ulong count, ulong to) {
  LOCAL_VAR STATE nodes[GROUP_SIZE];
  const LEAVES leaves = LEAVES_VALUE;
  uint error = 0;
  grid_dependency_wait();
  const ulong tiles = (count + TILE - 1) / TILE;
  for (ulong tile = group_id(); tile < tiles; tile += group_count()) {
    const ulong first = tile * TILE + (ulong)local_id() * LOADS;
    STATE leaf[LOADS];
#pragma unroll
    for (int i = 0; i < LOADS; ++i) load_leaves(leaf + i, leaves, first + i < count ? first + i : count - 1, &error);
#pragma unroll
    for (int apart = 1; apart < LOADS; apart *= 2) {
#pragma unroll
      for (int i = 0; i < LOADS; i += 2 * apart) {
        if (first + i + apart < count) leaf[i] = combine_states(leaves, leaf[i], leaf[i + apart], &error);
      }
    }
    barrier_local();
    nodes[local_id()] = leaf[0];
    for (uint step = 1; step < GROUP_SIZE; step *= 2) {
      barrier_local();
      const uint parent = (local_id() & (2 * step - 1)) == 0 && first + (ulong)step * LOADS < count;
      if (parent) nodes[local_id()] = combine_states(leaves, nodes[local_id()], nodes[local_id() + step], &error);
    }
    if (local_id() == 0) write_root(leaves, to + tile, nodes[0]);
  }
}
