// Pairs reduced by the balanced tree over the y: a work-item has ITEMS of the x and walks a part of the y, an aligned block of the tree, in
// order. EACH leaves that follow one another become one node in registers; above these, nodes wait for their right neighbours in a stack.
// pairs_tree_roots reduces the parts, as leaves of the same tree, and makes C of the root.
//
// Before it stands what is written for the reduction (tree_device.cpp): NODE; leaf_node(), of a pair; combine_nodes(); write_root(); N_TAKES
// and N_GIVES, the reduction's parameters as F_TAKES and F_GIVES in function.h.
//
// Defined by the host: D, EXTRAS, STORED, LOADED(word), REAL, GROUP, ITEMS, TILE (y, a power of two), EACH (1, 2, 4 or 8, a
// divisor of TILE), LEVELS (more than any count of leaves has bits).

#define USED (D + EXTRAS)
#define EACH_LEVEL (EACH == 8 ? 3 : EACH == 4 ? 2 : EACH == 2 ? 1 : 0)
#define STORED_AT(bytes, offset) ((GLOBAL const STORED*)((bytes) + (offset)))

// The tree of leaves from the left so far: a node for each bit set in `count`, the number of leaves, of which `level` are under each.
FN void push_node(NODE* stack, ulong count, NODE node, uint level, uint* error N_TAKES) {
  for (; (count >> level & 1) != 0; ++level) node = combine_nodes(stack[level], node, error N_GIVES);
  stack[level] = node;
}

FN NODE root_of(const NODE* stack, ulong count, uint* error N_TAKES) {
  uint level = 0;
  while ((count >> level & 1) == 0) ++level;
  NODE node = stack[level];
  for (++level; count >> level != 0; ++level) {
    if ((count >> level & 1) != 0) node = combine_nodes(stack[level], node, error N_GIVES);
  }
  return node;
}

// `failed` is set where an operation failed. `share` is a power of two and a multiple of TILE.
KERNEL FIXED_GROUP(GROUP, 1) void pairs_tree(GLOBAL const uchar* a_bytes, ulong a_offset, GLOBAL const uchar* b_bytes, ulong b_offset,
                                             GLOBAL const REAL* extras, ulong x_count, ulong y_count, ulong share,
                                             uint parts F_TAKES N_TAKES, GLOBAL NODE* nodes, GLOBAL uint* failed) {
  GLOBAL const STORED* const a = STORED_AT(a_bytes, a_offset);
  GLOBAL const STORED* const b = STORED_AT(b_bytes, b_offset);
  LOCAL_VAR REAL tile[TILE * USED];
  const uint part = group_id() % parts;
  const ulong first = (ulong)(group_id() / parts) * (GROUP * ITEMS) + local_id();
  const ulong begin = part * share;
  const ulong end = begin + share < y_count ? begin + share : y_count;
  uint error = 0;

  REAL x[ITEMS * D];
  NODE stack[ITEMS][LEVELS];
#pragma unroll
  for (uint i = 0; i < ITEMS; ++i) {
    const ulong from = first + i * GROUP < x_count ? first + i * GROUP : x_count - 1;
    for (uint d = 0; d < D; ++d) x[i * D + d] = LOADED(a[from * D + d]);
  }

  for (ulong start = begin; start < end; start += TILE) {
    const uint count = end - start < TILE ? (uint)(end - start) : TILE;
    barrier_local();
    for (uint k = local_id(); k < count * D; k += GROUP) tile[k / D * USED + k % D] = LOADED(b[start * D + k]);
#if EXTRAS > 0
    for (uint k = local_id(); k < count * EXTRAS; k += GROUP) tile[k / EXTRAS * USED + D + k % EXTRAS] = extras[start * EXTRAS + k];
#endif
    barrier_local();
    REAL y[USED];
    uint j = 0;
    for (; j + EACH <= count; j += EACH) {
      NODE waiting[ITEMS][EACH];  // by level: the last one is that of all
#pragma unroll
      for (uint e = 0; e < EACH; ++e) {
        for (uint d = 0; d < USED; ++d) y[d] = tile[(j + e) * USED + d];
#pragma unroll
        for (uint i = 0; i < ITEMS; ++i) {
          NODE node = leaf_node(x + i * D, y, start + j + e, &error F_GIVES);
          uint level = 0;
#pragma unroll
          for (uint bit = 1; bit < EACH; bit *= 2) {
            if (((e + 1) & (2 * bit - 1)) == 0) node = combine_nodes(waiting[i][level++], node, &error N_GIVES);
          }
          waiting[i][level] = node;
        }
      }
#pragma unroll
      for (uint i = 0; i < ITEMS; ++i) push_node(stack[i], start - begin + j, waiting[i][EACH_LEVEL], EACH_LEVEL, &error N_GIVES);
    }
    for (; j < count; ++j) {
      for (uint d = 0; d < USED; ++d) y[d] = tile[j * USED + d];
#pragma unroll
      for (uint i = 0; i < ITEMS; ++i) {
        push_node(stack[i], start - begin + j, leaf_node(x + i * D, y, start + j, &error F_GIVES), 0, &error N_GIVES);
      }
    }
  }

#pragma unroll
  for (uint i = 0; i < ITEMS; ++i) {
    const ulong at = first + i * GROUP;
    const NODE root = root_of(stack[i], end - begin, &error N_GIVES);
    if (at < x_count) nodes[part * x_count + at] = root;
  }
  if (error != 0) atomic_max_global32(failed, 1);
}

KERNEL FIXED_GROUP(GROUP, 1) void pairs_tree_roots(GLOBAL const NODE* nodes, ulong x_count, uint parts N_TAKES, GLOBAL uchar* c_bytes,
                                                   ulong c_offset, GLOBAL uint* failed) {
  const ulong x = global_id() < x_count ? global_id() : x_count - 1;
  NODE stack[LEVELS];
  uint error = 0;
  for (uint part = 0; part < parts; ++part) push_node(stack, part, nodes[part * x_count + x], 0, &error N_GIVES);
  const NODE root = root_of(stack, parts, &error N_GIVES);
  if (global_id() < x_count) write_root(c_bytes + c_offset, x, root, &error N_GIVES);
  if (error != 0) atomic_max_global32(failed, 1);
}
