// Products.
//
// Floats are multiplied along the balanced tree over the index, in which every aligned block of 2^k leaves is a subtree. A work-item reduces a load of
// 16 bytes, a sub-group the results of its work-items, a group a tile. The group writes the tile's product to `products`; the kernel may run again on
// these. The order of the two factors of a node affects only the bits of a NaN, which the host replaces by the canonical NaN.
//
// Integers: each group writes one record with the zeros, the sign, and a magnitude of up to 64 bits.
//
// The host defines, beside the defines of reduce/device/elements.h: SKIP (a NaN counts as 1), GROUP_SIZE (a power of two), LOADS (a power
// of two: the 16-byte loads of a work-item in a tile), TERM (1 if the elements are the values of a formula).

#define RESIDENT (1024 / GROUP_SIZE)  // registers for all loads in flight

// The elements: in memory from a multiple of 16 bytes on or, if TERM, the values of a formula (reduce/term.hpp) behind `head` others.
#if TERM
#define ELEMENTS_PARAMETERS TERM_PARAMETERS, ulong row_length, uint head
FN WALK walk_of(ulong row_length, uint head) {
  WALK walk;
  walk.elements = rows_of(row_length);
  walk.loads = rows_of(0);
  walk.head = head;
  walk.cached = 0;
  return walk;
}
#else
#define ELEMENTS_PARAMETERS GLOBAL const uchar *bytes, ulong offset
#endif

#if FLOATS
#if BITS == 64
#define REAL double
FN double leaf_of(ulong x) { return SKIP && is_nan(x) ? 1.0 : as_double(x); }
FN double multiply(double a, double b) { return a * b; }
#if SUBGROUP > 1
FN double from_lane(double x, uint lane) { return as_double((ulong)subgroup_shuffle64((long)as_ulong(x), lane)); }
#endif
#else
#define REAL float
FN float multiply(float a, float b) { return mul_rn_f32(a, b); }
#if SUBGROUP > 1
FN float from_lane(float x, uint lane) { return as_float(subgroup_shuffle(as_uint(x), lane)); }
#endif
#if BITS == 32
FN float leaf_of(uint x) { return SKIP && is_nan(x) ? 1.0f : as_float(x); }
#elif EXPONENT_BITS == 8
FN float leaf_of(uint x) { return SKIP && is_nan(x) ? 1.0f : as_float(x << 16); }
#else
FN float leaf_of(uint x) { return SKIP && is_nan(x) ? 1.0f : half_to_float((ushort)x); }
#endif
#endif

// The subtree of a load.
FN REAL product_of_load(uint4 v) {
  REAL leaves[ELEMENTS_PER_LOAD];
#pragma unroll
  for (int i = 0; i < ELEMENTS_PER_LOAD; ++i) leaves[i] = leaf_of(element_of(v, i));
#pragma unroll
  for (int stride = 1; stride < ELEMENTS_PER_LOAD; stride *= 2) {
#pragma unroll
    for (int i = 0; i < ELEMENTS_PER_LOAD; i += 2 * stride) leaves[i] = multiply(leaves[i], leaves[i + stride]);
  }
  return leaves[0];
}

#define TILE (GROUP_SIZE * LOADS)
#if SUBGROUP > 1 && GROUP_SIZE % SUBGROUP == 0
#define SUBTREES (TILE / SUBGROUP)
#define EACH (SUBTREES < SUBGROUP ? 1 : SUBTREES / SUBGROUP)  // subtrees per lane in the last step; absent subtrees count as 1
#else
#define SUBTREES TILE
#endif

#if TERM
#define LOAD(i) load_at(terms, walk, i)
#else
#define LOAD(i) (cached_here ? loads[i] : load_streaming(&loads[i]))
#endif

KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void product(ELEMENTS_PARAMETERS, ulong tiles, GLOBAL uchar* results) {
  LOCAL_VAR REAL subtrees[SUBTREES];
  grid_dependency_wait();
#if TERM
  const ARRAY terms = TERM_VALUE;
  const WALK walk = walk_of(row_length, head);
#else
  GLOBAL const uint4* loads = (GLOBAL const uint4*)(bytes + offset);
  const ulong cached = cached_loads(tiles * TILE);
#endif
  GLOBAL REAL* products = (GLOBAL REAL*)results;
  const ulong rounds = (tiles + group_count() - 1) / group_count();
  for (ulong round = 0; round < rounds; ++round) {
    const ulong tile = round * group_count() + group_id();
    const ulong present = tile < tiles ? tile : tiles - 1;
    REAL q[LOADS];
    uint4 v[LOADS];
#if !TERM
    const int cached_here = present * TILE < cached;
#endif
#pragma unroll
    for (int k = 0; k < LOADS; ++k) v[k] = LOAD(present * TILE + k * GROUP_SIZE + local_id());
#pragma unroll
    for (int k = 0; k < LOADS; ++k) q[k] = product_of_load(v[k]);
#if SUBTREES < TILE
    // Lanes exchange products of adjacent loads: each lane continues with half as many. Then the products of the sub-group are reduced.
    const uint lane = local_id() & (SUBGROUP - 1);
    uint load = 0;
#pragma unroll
    for (int n = LOADS, bit = 1; n > 1; n /= 2, bit *= 2) {
      const uint odd = lane & bit;
#pragma unroll
      for (int k = 0; k < n / 2; ++k) {
        const REAL given = from_lane(odd ? q[2 * k] : q[2 * k + 1], lane ^ bit);
        q[k] = multiply(odd ? q[2 * k + 1] : q[2 * k], given);
      }
      load += odd;  // bit by bit, the index of the load that remains
    }
#pragma unroll
    for (int bit = LOADS; bit < SUBGROUP; bit *= 2) q[0] = multiply(q[0], from_lane(q[0], lane ^ bit));
    barrier_local();
    if (lane < LOADS) subtrees[load * (GROUP_SIZE / SUBGROUP) + local_id() / SUBGROUP] = q[0];
    barrier_local();
    // The first sub-group multiplies the products of the other sub-groups: a subtree per lane, then as above.
    if (local_id() < SUBGROUP) {
      REAL node[EACH];
#pragma unroll
      for (int i = 0; i < EACH; ++i) node[i] = local_id() * EACH + i < SUBTREES ? subtrees[local_id() * EACH + i] : (REAL)1;
#pragma unroll
      for (int stride = 1; stride < EACH; stride *= 2) {
#pragma unroll
        for (int i = 0; i < EACH; i += 2 * stride) node[i] = multiply(node[i], node[i + stride]);
      }
#pragma unroll
      for (int bit = 1; bit < SUBGROUP; bit *= 2) node[0] = multiply(node[0], from_lane(node[0], lane ^ bit));
      if (lane == 0 && tile < tiles) products[tile] = node[0];
    }
#else
    barrier_local();
#pragma unroll
    for (int k = 0; k < LOADS; ++k) subtrees[k * GROUP_SIZE + local_id()] = q[k];
    for (uint count = SUBTREES / 2; count > 0; count /= 2) {
      // Two steps for each level: reading and writing use the same memory.
      barrier_local();
      REAL node[(SUBTREES / 2 + GROUP_SIZE - 1) / GROUP_SIZE];
#pragma unroll
      for (uint k = 0; k < (SUBTREES / 2 + GROUP_SIZE - 1) / GROUP_SIZE; ++k) {
        const uint i = k * GROUP_SIZE + local_id();
        node[k] = i < count ? multiply(subtrees[2 * i], subtrees[2 * i + 1]) : (REAL)1;
      }
      barrier_local();
#pragma unroll
      for (uint k = 0; k < (SUBTREES / 2 + GROUP_SIZE - 1) / GROUP_SIZE; ++k) {
        const uint i = k * GROUP_SIZE + local_id();
        if (i < count) subtrees[i] = node[k];
      }
    }
    if (local_id() == 0 && tile < tiles) products[tile] = subtrees[0];
#endif
  }
}
#else

typedef struct {
  ulong magnitude;
  uint zero, negative, too_large;
} PRODUCT;

FN PRODUCT multiply(PRODUCT product, ulong factor, uint negative) {
  const ulong high = product_high(product.magnitude, factor);
  product.zero |= factor == 0;
  product.negative ^= negative;
  product.too_large |= high != 0;
  product.magnitude = factor == 0 || product.too_large ? product.magnitude : product.magnitude * factor;
  return product;
}

FN PRODUCT product_of_none(void) {
  PRODUCT product;
  product.magnitude = 1;
  product.zero = product.negative = product.too_large = 0;
  return product;
}

// The product over all work-items of the group, in the first one.
FN PRODUCT product_of_group(PRODUCT product, LOCAL ulong* magnitudes, LOCAL uint* flags) {
  magnitudes[local_id()] = product.magnitude;
  flags[local_id()] = product.zero | product.negative << 1 | product.too_large << 2;
  for (uint stride = GROUP_SIZE / 2; stride > 0; stride /= 2) {
    barrier_local();
    const uint other = local_id() + stride < GROUP_SIZE ? local_id() + stride : 0;
    const uint more = flags[other];
    product = multiply(product, magnitudes[other], (more >> 1) & 1);
    product.zero |= more & 1;
    product.too_large |= more >> 2;
    barrier_local();
    if (local_id() < stride) {
      magnitudes[local_id()] = product.magnitude;
      flags[local_id()] = product.zero | product.negative << 1 | product.too_large << 2;
    }
  }
  return product;
}

// Records: flags (zero, negative, too large), magnitude.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void product(ELEMENTS_PARAMETERS, ulong count, GLOBAL ulong* records) {
  LOCAL_VAR ulong magnitudes[GROUP_SIZE];
  LOCAL_VAR uint flags[GROUP_SIZE];
  grid_dependency_wait();
#if TERM
  const ARRAY terms = TERM_VALUE;
  const WALK walk = walk_of(row_length, head);
  const ulong before = head;
#define LOAD(i) load_at(terms, walk, i)
#define SINGLE(i, in_loads) element_at(terms, walk, (i) < head ? (i) : (i) + (in_loads))  // before the loads or behind them
#else
  GLOBAL const ELEMENT* elements = (GLOBAL const ELEMENT*)(bytes + offset);  // a multiple of 16
  GLOBAL const uint4* loads = (GLOBAL const uint4*)elements;
  const ulong before = 0;
#define LOAD(i) load_streaming(&loads[i])
#define SINGLE(i, in_loads) elements[(i) + (in_loads)]
#endif
  const ulong whole = (count - before) / ELEMENTS_PER_LOAD, in_loads = whole * ELEMENTS_PER_LOAD;
  PRODUCT product = product_of_none();
  for (ulong i = global_id(); i < whole; i += global_size()) {
    const uint4 v = LOAD(i);
#pragma unroll
    for (int k = 0; k < ELEMENTS_PER_LOAD; ++k) {
      const WORD x = element_of(v, k);
      product = multiply(product, absolute_of(x), sign_of(x) & 1);
    }
  }
  for (ulong i = global_id(); i < count - in_loads; i += global_size()) {
    const WORD x = SINGLE(i, in_loads);
    product = multiply(product, absolute_of(x), sign_of(x) & 1);
  }
  product = product_of_group(product, magnitudes, flags);
  if (local_id() == 0) {
    records[2 * group_id()] = product.zero | product.negative << 1 | product.too_large << 2;
    records[2 * group_id() + 1] = product.magnitude;
  }
}
#endif

#if TERM
// Values for the host: of floats those that are in no whole tile, of integers where the product has more than 64 bits.
KERNEL void product_leaves(ELEMENTS_PARAMETERS, ulong first, ulong count, GLOBAL uchar* results) {
  grid_dependency_wait();
  const ARRAY terms = TERM_VALUE;
  const WALK walk = walk_of(row_length, head);
#if FLOATS
  GLOBAL REAL* leaves = (GLOBAL REAL*)results;
  for (ulong i = global_id(); i < count; i += global_size()) leaves[i] = leaf_of(element_at(terms, walk, first + i));
#else
  GLOBAL ELEMENT* leaves = (GLOBAL ELEMENT*)results;
  for (ulong i = global_id(); i < count; i += global_size()) leaves[i] = element_at(terms, walk, first + i);
#endif
}
#endif
