// How a group reads the elements of a tile and writes its results, through local memory: a work-item has ITEMS neighbours, global memory is accessed by
// neighbouring work-items, 16 bytes at a time. After prefix.h.
//
// Defined by the host, beside what prefix.h names: NUMBER_OF(x), of an ELEMENT; ELEMENT_BYTES, RESULT_BYTES, and the greater of both, STAGE_BYTES;
// GROUP_SIZE, a power of two; ITEMS, the elements of a work-item, a power of two up to 32.

#define TILE (GROUP_SIZE * ITEMS)

// The work-items that exchange elements: a sub-group, or the group if there are none.
#if SUBGROUP > 1
#define BY_VECTORS(bytes) (ITEMS * (bytes) >= 16)  // global memory is accessed 16 bytes at a time
#define TEAM SUBGROUP
#define team_sync() subgroup_sync()
#else
#define BY_VECTORS(bytes) 0
#define TEAM GROUP_SIZE
#define team_sync() barrier_local()
#endif

// Local memory of a group, as vectors of 16 bytes.
#define STAGE_VECTORS ((TILE * STAGE_BYTES + 15) / 16)

// Where vector `v` of a team is kept: each work-item has `vectors` neighbours, a power of two up to 16. Eight work-items access all banks at once, if
// these are neighbouring vectors, and if each is number k of its work-item.
FN uint swizzled(uint v, uint vectors) {
  const uint spread = vectors < 8 ? vectors : 8, row = vectors < 8 ? 8 : vectors;
  return vectors < 2 ? v : v ^ v / row % spread;
}
// Where element `i` of a team is kept.
FN uint staged(uint i, uint bytes) { return ITEMS * bytes < 32 ? i : swizzled(i * bytes / 16, ITEMS * bytes / 16) * (16 / bytes) + i % (16 / bytes); }

// Reads the elements of a tile, `left` of them and more, into `stage`; those beyond are zeros.
FN void load_tile(GLOBAL const ELEMENT* from, ulong left, LOCAL uint4* stage) {
  const uint member = local_id() % TEAM, first = (local_id() - member) * ITEMS;
  stage += first * STAGE_BYTES / 16;
  from += first;
#if BY_VECTORS(ELEMENT_BYTES)
  if (left >= TILE && ((ulong)from & 15) == 0) {
#pragma unroll
    for (uint k = 0; k < ITEMS * ELEMENT_BYTES / 16; ++k) {
      const uint v = k * TEAM + member;
      copy_to_local(stage + swizzled(v, ITEMS * ELEMENT_BYTES / 16), (GLOBAL const uint4*)from + v);
    }
    wait_for_copies();
    team_sync();
    return;
  }
#endif
  LOCAL ELEMENT* const elements = (LOCAL ELEMENT*)stage;
#pragma unroll 4
  for (uint k = 0; k < ITEMS; ++k) {
    const uint i = k * TEAM + member;
    elements[staged(i, ELEMENT_BYTES)] = first + i < left ? from[i] : (ELEMENT)0;
  }
  team_sync();
}

// The work-item's elements.
FN void staged_items(LOCAL const uint4* stage, NUMBER* x) {
  const uint member = local_id() % TEAM;
  LOCAL const ELEMENT* const elements = (LOCAL const ELEMENT*)(stage + (local_id() - member) * ITEMS * STAGE_BYTES / 16);
#if ITEMS * ELEMENT_BYTES >= 16
#pragma unroll
  for (uint k = 0; k < ITEMS * ELEMENT_BYTES / 16; ++k) {
    LOCAL const ELEMENT* const at = elements + swizzled(member * (ITEMS * ELEMENT_BYTES / 16) + k, ITEMS * ELEMENT_BYTES / 16) * (16 / ELEMENT_BYTES);
#pragma unroll
    for (uint i = 0; i < 16 / ELEMENT_BYTES; ++i) x[k * (16 / ELEMENT_BYTES) + i] = NUMBER_OF(at[i]);
  }
#else
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) x[k] = NUMBER_OF(elements[member * ITEMS + k]);
#endif
}

// Where the work-item's result k goes.
FN LOCAL RESULT* staged_result(LOCAL uint4* stage, uint k) {
  const uint member = local_id() % TEAM;
  LOCAL RESULT* const results = (LOCAL RESULT*)(stage + (local_id() - member) * ITEMS * STAGE_BYTES / 16);
#if ITEMS * RESULT_BYTES >= 16
  const uint vectors = ITEMS * RESULT_BYTES / 16, each = 16 / RESULT_BYTES;
  return results + swizzled(member * vectors + k / each, vectors) * each + k % each;
#else
  return results + member * ITEMS + k;
#endif
}

// Writes the results of a tile that begins at `first`, `wanted` of them or all. Exclusive prefixes lie one place further on: `shift` is 1, and the array's
// first result is written here.
FN void store_tile(LOCAL const uint4* stage, GLOBAL RESULT* to, ulong first, ulong wanted, ulong shift, GLOBAL const uint* starts) {
  const uint member = local_id() % TEAM, begin = (local_id() - member) * ITEMS;
  stage += begin * STAGE_BYTES / 16;
  to += first + begin;
  if (shift != 0 && first + begin + member == 0) to[-1] = 0;
  team_sync();
#if BY_VECTORS(RESULT_BYTES)
  if (wanted >= TILE && (((ulong)to & 15) | (SEGMENTS ? shift : 0)) == 0) {
#pragma unroll
    for (uint k = 0; k < ITEMS * RESULT_BYTES / 16; ++k) {
      ((GLOBAL uint4*)to)[k * TEAM + member] = stage[swizzled(k * TEAM + member, ITEMS * RESULT_BYTES / 16)];
    }
    return;
  }
#endif
  LOCAL const RESULT* const results = (LOCAL const RESULT*)stage;
#pragma unroll 4
  for (uint k = 0; k < ITEMS; ++k) {
    const uint i = k * TEAM + member;
    // An exclusive scan begins with that of no elements: what would come there is not used.
    if (begin + i < wanted) to[i] = shift != 0 && starts_at(starts, first + begin + i + 1, 1) != 0 ? (RESULT)0 : results[staged(i, RESULT_BYTES)];
  }
}
