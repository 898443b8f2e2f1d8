// Products whose result stays in device memory; follows product.cl. For floats: subtrees of tiles that begin at any element and may be incomplete. A
// missing leaf or right child is 1, the identity. For floats and integers: the result as a ProductRecord of three words.

#if FLOATS
#define LEAVES_EACH (LOADS * ELEMENTS_PER_LOAD)

KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void product_part(GLOBAL const uchar* bytes, ulong offset, ulong count, GLOBAL uchar* results, ulong to) {
  LOCAL_VAR REAL nodes[GROUP_SIZE];
  grid_dependency_wait();
  GLOBAL const ELEMENT* elements = (GLOBAL const ELEMENT*)(bytes + offset);
  GLOBAL REAL* products = (GLOBAL REAL*)results + to;
  const ulong leaves_of_tile = (ulong)GROUP_SIZE * LEAVES_EACH;
  const ulong tiles = count == 0 ? 1 : (count + leaves_of_tile - 1) / leaves_of_tile;
  for (ulong tile = group_id(); tile < tiles; tile += group_count()) {
    const ulong first = tile * leaves_of_tile + (ulong)local_id() * LEAVES_EACH;
    REAL leaves[LEAVES_EACH];
#pragma unroll
    for (int i = 0; i < LEAVES_EACH; ++i) leaves[i] = first + i < count ? leaf_of(elements[first + i]) : (REAL)1;
#pragma unroll
    for (int stride = 1; stride < LEAVES_EACH; stride *= 2) {
#pragma unroll
      for (int i = 0; i < LEAVES_EACH; i += 2 * stride) leaves[i] = multiply(leaves[i], leaves[i + stride]);
    }
    barrier_local();
    nodes[local_id()] = leaves[0];
    for (uint step = 1; step < GROUP_SIZE; step *= 2) {
      barrier_local();
      if ((local_id() & (2 * step - 1)) == 0) nodes[local_id()] = multiply(nodes[local_id()], nodes[local_id() + step]);
    }
    if (local_id() == 0) products[tile] = nodes[0];
  }
}

// The bits of the same value as a double; any NaN becomes the canonical one.
FN ulong bits_of_double(REAL x) {
#if BITS == 64
  const ulong bits = as_ulong(x);
  return is_nan(bits) ? 0x7ff8000000000000UL : bits;
#else
  const uint bits = as_uint(x);
  const ulong sign = (ulong)(bits >> 31) << 63;
  const uint magnitude = magnitude_of(bits);
  if (magnitude > INFINITE) return 0x7ff8000000000000UL;
  if (magnitude == INFINITE) return sign | 0x7ff0000000000000UL;
  if (magnitude == 0) return sign;
  if (magnitude >= HIDDEN) return sign | (((ulong)magnitude << 29) + ((ulong)896 << 52));
  const uint shift = clz32(magnitude) - 8;  // a denormal: its highest bit becomes the hidden one
  return sign | (((ulong)(magnitude << shift) << 29) + ((ulong)(896 - shift) << 52));
#endif
}

KERNEL FIXED_GROUP(1, 1)
void product_record(GLOBAL const uchar* root, GLOBAL uchar* records, ulong record_offset) {
  grid_dependency_wait();
  GLOBAL ulong* record = (GLOBAL ulong*)(records + record_offset);
  record[0] = bits_of_double(*(GLOBAL const REAL*)root);
  record[1] = 0;
  record[2] = 0;
}
#else

FN PRODUCT with_record(PRODUCT product, GLOBAL const ulong* record) {
  const uint flags = (uint)record[0];
  product = multiply(product, record[1], (flags >> 1) & 1);
  product.zero |= flags & 1;
  product.too_large |= flags >> 2;
  return product;
}

// The product of the records of `groups` groups, and of the record `head` if `heads` is not 0.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void product_record(GLOBAL const ulong* groups_records, uint groups, GLOBAL const ulong* head, uint heads, GLOBAL uchar* records,
                    ulong record_offset) {
  LOCAL_VAR ulong magnitudes[GROUP_SIZE];
  LOCAL_VAR uint flags[GROUP_SIZE];
  grid_dependency_wait();
  PRODUCT product = product_of_none();
  for (uint i = local_id(); i < groups; i += GROUP_SIZE) product = with_record(product, groups_records + 2 * i);
  if (local_id() == 0 && heads != 0) product = with_record(product, head);
  product = product_of_group(product, magnitudes, flags);
  if (local_id() != 0) return;
  GLOBAL ulong* record = (GLOBAL ulong*)(records + record_offset);
  const ulong most = SIGNED ? ((ulong)1 << 63) - 1 + product.negative : ~(ulong)0;
  const uint overflow = product.zero == 0 && (product.too_large != 0 || product.magnitude > most);
  record[0] = 0;
  record[1] = product.zero != 0 || overflow != 0 ? 0 : product.negative != 0 ? 0 - product.magnitude : product.magnitude;
  record[2] = overflow;
}
#endif
