// Sums of float64 in registers, for sum_window.cl: as window_float32.cl says, with two slices of 52 bits.
#define REAL double
#define REALS_PER_LOAD 2
#define REALS (LOADS * REALS_PER_LOAD)  // of a tile that a work-item holds
#define MOST_LIMBS 10
#define SLICE 52
#define GREATEST_FIELD 2043  // above, a sum with C may round to infinity

FN void unpack(REAL* v, uint4 load) {
  v[0] = as_double((ulong)load.y << 32 | load.x);
  v[1] = as_double((ulong)load.w << 32 | load.z);
}

// Not zero where the element is not, and ordered as exponents are.
FN uint magnitude(REAL value) {
  const ulong x = as_ulong(value);
  return ((uint)(x >> 32) & 0x7fffffffu) | (uint)((uint)x != 0);
}
FN uint is_positive_zero(REAL value) { return as_ulong(value) == 0; }
FN uint exponent_field(uint magnitude) { return magnitude >> 20; }

// The sum of all lanes' values, if it is one of 64 bits.
FN long add_lanes(long value) {
  const long low = subgroup_add_s32((int)(value & 0x3fffff)), middle = subgroup_add_s32((int)(value >> 22 & 0x3fffff));
  return (long)((ulong)low + ((ulong)middle << 22) + ((ulong)(long)subgroup_add_s32((int)(value >> 44)) << 44));
}

FN uint add_slices(REAL* v, uint greatest, LOCAL int* limbs) {
  const uint field = max_u32(exponent_field(greatest) + 2, SLICE + 1);
  const ulong c0 = (ulong)(field << 20 | 0x00080000u) << 32, c1 = c0 - ((ulong)SLICE << 52);
  ulong s0 = 0 - REALS * c0, s1 = 0 - REALS * c1;
  ulong left = 0;
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    const double t0 = add_rn_f64(v[i], as_double(c0));
    const double r0 = add_rn_f64(v[i], -add_rn_f64(t0, -as_double(c0)));
    const double t1 = add_rn_f64(r0, as_double(c1));
    v[i] = add_rn_f64(r0, -add_rn_f64(t1, -as_double(c1)));
    s0 += as_ulong(t0);
    s1 += as_ulong(t1);
    left |= as_ulong(v[i]);
  }
  const long sum0 = add_lanes((long)s0), sum1 = add_lanes((long)s1);
  // Two sums of 64 bits, five limbs each.
  const uint lane = local_id() & (SUBGROUP - 1);
  if (lane < 10) {
    const uint slice = lane / 5, limb = lane % 5;
    const long sum = slice == 0 ? sum0 : sum1;
    const uint position = field - 1 - SLICE * slice;
    const uint shift = position & 15;
    const uint piece = limb == 4 ? (uint)((sum >> 1) >> (63 - shift)) : (uint)(((ulong)sum << shift) >> (16 * limb)) & 0xffffu;
    atomic_add_local32((LOCAL uint*)limbs + (position >> 4) + limb, piece);
  }
  return (uint)(left >> 32 & 0x7fffffffu) | (uint)left;
}

FN uint add_to_column(LOCAL uint* column, REAL value) {
  const ulong x = as_ulong(value);
  const uint high = (uint)(x >> 32);
  if (is_special(high)) return count_kind(column, high >> 31, (high & 0x000fffffu) | (uint)x);
  if (x << 1 == 0) return x == 0;
  const uint unit = min_u32(high & 0x7ff00000u, 0x00100000u);
  const uint position = ((high & 0x7fffffffu) - unit) >> 20;
  const uint shift = position & 15;
  const ulong mantissa = (ulong)((high & 0x000fffffu) | unit) << 32 | (uint)x;
  const uint sign = high >> 31 != 0 ? 0xffffffffu : 1;
  LOCAL uint* limb = column + (position >> 4) * COLUMNS;
#pragma unroll
  for (int i = 0; i < 4; ++i) atomic_add_local32(limb + i * COLUMNS, sign * ((uint)((mantissa << shift) >> (16 * i)) & 0xffffu));
  atomic_add_local32(limb + 4 * COLUMNS, sign * (uint)((mantissa >> 1) >> (63 - shift)));
  return 1;
}
