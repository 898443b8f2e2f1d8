// Tests whether this device computes as IEEE 754 specifies. One work-item per case; conformance.cpp has the order of operations and the
// expected bits. Each section has a define, so that one that does not compile can be left out.
KERNEL void conformance(GLOBAL const uint* in32, GLOBAL const ulong* in64, GLOBAL uint* out32, GLOBAL ulong* out64, GLOBAL ulong* total,
                        GLOBAL uint* lanes, uint count) {
  uint i = (uint)global_id();
  if (i < count) {
#if CONFORMANCE_FLOAT32
    float x = as_float(in32[i]);
    float y = as_float(in32[count + i]);
    float z = as_float(in32[2 * count + i]);
    out32[i] = as_uint(x * y + z);
    out32[count + i] = as_uint(x / y);
    out32[2 * count + i] = as_uint(sqrt(as_float(in32[i] & 0x7fffffffu)));
    out32[3 * count + i] = as_uint(fma(x, y, z));
    out32[4 * count + i] = as_uint(add_rn_f32(x, y));
    out32[5 * count + i] = as_uint(mul_rn_f32(x, y));
#endif
#if CONFORMANCE_FLOAT64
    double u = as_double(in64[i]);
    double v = as_double(in64[count + i]);
    double w = as_double(in64[2 * count + i]);
    out64[i] = as_ulong(u * v + w);
    out64[count + i] = as_ulong(u / v);
    out64[2 * count + i] = as_ulong(sqrt(as_double(in64[i] & 0x7fffffffffffffffUL)));
    out64[3 * count + i] = as_ulong(fma(u, v, w));
    out64[4 * count + i] = as_ulong(u + v);
    out64[5 * count + i] = as_ulong(u * v);
#endif
#if CONFORMANCE_ATOMICS
    atomic_add_global64(total, (ulong)(i + 1) * 0x1ffffffffUL);  // carries from the low into the high half
#endif
#if CONFORMANCE_SUBGROUPS
    uint bits = in32[i];
    ulong wide = (ulong)subgroup_shuffle64((long)((ulong)bits << 32 | i), local_id() ^ 9);
    ulong sum = (ulong)subgroup_add_s64((long)(int)bits * 16);
    subgroup_sync();
    lanes[i] = subgroup_shuffle(bits, local_id() ^ 21);
    lanes[count + i] = (uint)wide;
    lanes[2 * count + i] = (uint)(wide >> 32);
    lanes[3 * count + i] = subgroup_ballot((bits & 1) != 0);
    lanes[4 * count + i] = subgroup_min_u32(bits);
    lanes[5 * count + i] = subgroup_max_u32(bits);
    lanes[6 * count + i] = (uint)subgroup_max_s32((int)bits);
    lanes[7 * count + i] = (uint)subgroup_add_s32((int)bits);
    lanes[8 * count + i] = subgroup_add_u32(bits);
    lanes[9 * count + i] = (uint)sum;
    lanes[10 * count + i] = (uint)(sum >> 32);
#endif
#if CONFORMANCE_FENCE
    fence_device();
    total[1 + i] = i;
#endif
  }
}
