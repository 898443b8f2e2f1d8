// Sums of float32 in registers, for sum_window.cl.
//
// With C = 1.5 * 2^k far above |x|, the float x + C is C plus x rounded to C's last bit: its own bits, as an integer, are those of C plus
// that multiple. So integers add up the upper part of each element, and x - ((x + C) - C) is the exact rest, for which a smaller C is next.
#define REAL float
#define REALS_PER_LOAD 4
#define REALS (LOADS * REALS_PER_LOAD)  // of a tile that a work-item holds
#define MOST_LIMBS 8  // that a sum takes in most cases
#define SLICE 20      // bits from one C to the next; of the 22 below C's leading bits, three are room for those of a sub-group
#define SLICE_ROOM 3
#define GREATEST_FIELD (254 - 2 - SLICE_ROOM)  // exponent fields above have no C

FN void unpack(REAL* v, uint4 load) {
  v[0] = as_float(load.x);
  v[1] = as_float(load.y);
  v[2] = as_float(load.z);
  v[3] = as_float(load.w);
}

FN uint magnitude(REAL value) { return as_uint(value) & 0x7fffffffu; }
FN uint is_positive_zero(REAL value) { return as_uint(value) == 0; }
FN uint exponent_field(uint magnitude) { return magnitude >> 23; }

// Adds the sub-group's elements to limbs, up to this magnitude, leaves the rest of each in `v`, and says whether there is any.
FN uint add_slices(REAL* v, uint greatest, LOCAL int* limbs) {
  // The last bit of the smallest C is not below that of denormal numbers.
  const uint field = max_u32(exponent_field(greatest) + 2 + SLICE_ROOM, 2 * SLICE + 1);
  const uint c0 = field << 23 | 0x00400000u, c1 = c0 - (SLICE << 23), c2 = c1 - (SLICE << 23);
  uint s0 = 0 - REALS * c0, s1 = 0 - REALS * c1, s2 = 0 - REALS * c2;
  uint left = 0;
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    const float t0 = add_rn_f32(v[i], as_float(c0));
    const float r0 = add_rn_f32(v[i], -add_rn_f32(t0, -as_float(c0)));
    const float t1 = add_rn_f32(r0, as_float(c1));
    const float r1 = add_rn_f32(r0, -add_rn_f32(t1, -as_float(c1)));
    const float t2 = add_rn_f32(r1, as_float(c2));
    v[i] = add_rn_f32(r1, -add_rn_f32(t2, -as_float(c2)));
    s0 += as_uint(t0);
    s1 += as_uint(t1);
    s2 += as_uint(t2);
    left |= as_uint(v[i]);
  }
  const int sum0 = subgroup_add_s32((int)s0), sum1 = subgroup_add_s32((int)s1), sum2 = subgroup_add_s32((int)s2);
  // Three sums of 32 bits, three limbs each, a lane for a limb.
  const uint lane = local_id() & (SUBGROUP - 1);
  if (lane < 9) {
    const uint slice = lane / 3, limb = lane % 3;
    const uint position = field - 1 - SLICE * slice;
    const ulong sum = (ulong)(long)(slice == 0 ? sum0 : slice == 1 ? sum1 : sum2) << (position & 15);
    const uint piece = limb == 2 ? (uint)(sum >> 32) : (uint)(sum >> (16 * limb)) & 0xffffu;
    atomic_add_local32((LOCAL uint*)limbs + (position >> 4) + limb, piece);
  }
  return left & 0x7fffffffu;
}

// Adds an element to the work-item's own column: exactly, whatever it is. Says whether it was anything but -0.0 and NaN.
FN uint add_to_column(LOCAL uint* column, REAL value) {
  const uint x = as_uint(value);
  if (is_special(x)) return count_kind(column, x >> 31, x & 0x007fffffu);
  if ((x & 0x7fffffffu) == 0) return x == 0;
  const uint unit = min_u32(x & 0x7f800000u, 0x00800000u);
  const uint position = ((x & 0x7fffffffu) - unit) >> 23;
  const ulong moved = (ulong)((x & 0x007fffffu) | unit) << (position & 15);
  const uint sign = x >> 31 != 0 ? 0xffffffffu : 1;
  LOCAL uint* limb = column + (position >> 4) * COLUMNS;
#pragma unroll
  for (int i = 0; i < 3; ++i) atomic_add_local32(limb + i * COLUMNS, sign * ((uint)(moved >> (16 * i)) & 0xffffu));
  return 1;
}
