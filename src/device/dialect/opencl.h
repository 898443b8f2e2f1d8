// Prelude of the kernel dialect for OpenCL C. Its twin is cuda.h: the same names, the same meaning.
// Before it stand the SAMESUM_ defines of program.hpp, one for each capability that decides what a kernel may use.
#pragma OPENCL FP_CONTRACT OFF
#if SAMESUM_FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#if SAMESUM_INT64_ATOMICS
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif
#if defined(__clang__) && defined(__x86_64__)
// PoCL prints a warning of each call with a vector that is wider than the processor's registers. Caller and callee are compiled for the same
// processor here, so nothing is wrong.
#pragma clang diagnostic ignored "-Wpsabi"
#endif
#if !SAMESUM_DEVICE_FENCE
#undef SAMESUM_PTX
#endif

#define KERNEL __kernel
// Always inline: where LLVM replaces a parameter that is always the same local array by that array before inlining, PoCL 3.1 leaves the
// function with an array of its own, and what is written here is not read there.
#define FN static inline __attribute__((always_inline))
#define SELDOM static __attribute__((noinline))  // a function that is called seldom (cuda.h)
#define GLOBAL __global
#define LOCAL __local
#define LOCAL_VAR __local
#define CONSTANT __constant
// A kernel's local memory of a size that the launch names: the last of its parameters, and a declaration in its body.
#define DYNLOCAL_PARAMETER(name) , LOCAL uint4* name##_aligned
#define DYNLOCAL(name) LOCAL uint* name = (LOCAL uint*)name##_aligned
// The most work-items that a group of this kernel will have: lets a compiler give each more registers.
#define MAX_GROUP(size)
// Every group of this kernel will have exactly `size` work-items, and `groups` of them are to be resident on a compute unit at once.
// NVIDIA's compiler allows no more than 256 work-items where it is not told.
#define FIXED_GROUP(size, groups) __attribute__((reqd_work_group_size(size, 1, 1)))

// Ids: 64-bit, one-dimensional.
FN ulong global_id(void) { return get_global_id(0); }
FN ulong global_size(void) { return get_global_size(0); }
FN uint local_id(void) { return (uint)get_local_id(0); }
FN uint group_size(void) { return (uint)get_local_size(0); }
FN uint group_id(void) { return (uint)get_group_id(0); }
FN uint group_count(void) { return (uint)get_num_groups(0); }
// The same along axis 0, 1 or 2 of a launch that has several.
FN ulong global_id_of(uint axis) { return get_global_id(axis); }
FN ulong global_size_of(uint axis) { return get_global_size(axis); }
FN uint local_id_of(uint axis) { return (uint)get_local_id(axis); }
FN uint group_size_of(uint axis) { return (uint)get_local_size(axis); }
FN uint group_id_of(uint axis) { return (uint)get_group_id(axis); }
FN uint group_count_of(uint axis) { return (uint)get_num_groups(axis); }

// Here launches follow one another (cuda.h).
FN void grid_dependency_wait(void) {}
FN void launch_dependents(void) {}

FN void barrier_local(void) { barrier(CLK_LOCAL_MEM_FENCE); }
// The same, for global memory as well: what the group wrote before it, the group reads after it.
FN void barrier_all(void) { barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); }

// Atomics, relaxed. The old value is returned.
FN uint atomic_add_local32(LOCAL uint* p, uint v) { return atomic_add((volatile LOCAL uint*)p, v); }
FN uint atomic_exchange_local32(LOCAL uint* p, uint v) { return atomic_xchg((volatile LOCAL uint*)p, v); }
// A word of local memory, and additions and stores to the word so many behind it (cuda.h).
typedef LOCAL uint* LOCAL_PLACE;
FN LOCAL_PLACE local_place(LOCAL uint* p) { return p; }
FN LOCAL_PLACE local_place_behind(LOCAL_PLACE place, uint words) { return place + words; }
FN void add_to_place(LOCAL_PLACE place, uint v) {
  if (v != 0) atomic_add((volatile LOCAL uint*)place, v);
}
FN void store_to_place(LOCAL_PLACE place, uint v) { *(volatile LOCAL uint*)place = v; }
FN uint atomic_add_global32(GLOBAL uint* p, uint v) { return atomic_add((volatile GLOBAL uint*)p, v); }
// Adds one, for one work-item of a group.
FN uint atomic_max_global32(GLOBAL uint* p, uint v) { return atomic_max((volatile GLOBAL uint*)p, v); }
FN uint atomic_or_global32(GLOBAL uint* p, uint v) { return atomic_or((volatile GLOBAL uint*)p, v); }
FN uint atomic_ticket_global32(GLOBAL uint* p) { return atomic_inc((volatile GLOBAL uint*)p); }
FN uint atomic_cas_global32(GLOBAL uint* p, uint expected, uint desired) {
  return atomic_cmpxchg((volatile GLOBAL uint*)p, expected, desired);
}
#if SAMESUM_INT64_ATOMICS
FN ulong atomic_add_global64(GLOBAL ulong* p, ulong v) { return atom_add((volatile GLOBAL ulong*)p, v); }
FN void atomic_merge_global64(GLOBAL ulong* p, ulong v) { atom_add((volatile GLOBAL ulong*)p, v); }
FN ulong atomic_load_global64(GLOBAL ulong* p) { return atom_add((volatile GLOBAL ulong*)p, 0); }
FN void atomic_max_global64(GLOBAL ulong* p, ulong v) {
  for (ulong expected = 0; expected < v;) {  // a guess: the first exchange tells
    const ulong found = atom_cmpxchg((volatile GLOBAL ulong*)p, expected, v);
    if (found == expected) return;
    expected = found;
  }
}
#endif

// A store, and a load of two words at a multiple of 16 bytes, each of them whole.
#if SAMESUM_INT64_ATOMICS && !SAMESUM_PTX
FN void atomic_store_global64(GLOBAL ulong* p, ulong v) { atom_xchg((volatile GLOBAL ulong*)p, v); }
FN void atomic_load_pair_global64(GLOBAL ulong* p, ulong* first, ulong* second) {
  *first = atomic_load_global64(p);
  *second = atomic_load_global64(p + 1);
}
#endif

// Plain stores to words that other groups have changed by atomic operations, all of which this group has observed: no group accesses them again in
// this launch, and the next launch reads what is stored. They have names of their own for tools that look for races.
FN void store_settled_global32(GLOBAL uint* p, uint v) { *p = v; }
FN void store_settled_global64(GLOBAL ulong* p, ulong v) { *p = v; }
FN void clear_settled_global128(GLOBAL ulong* p) { p[0] = p[1] = 0; }

FN ulong mul_hi64(ulong a, ulong b) { return mul_hi(a, b); }

// Floating-point addition by compare-and-swap: OpenCL C 1.2 has no atomic of its own for it. The order of the additions is not fixed. The more
// work-items change one word, the longer each takes.
FN void atomic_add_global_f32(GLOBAL float* p, float v) {
  uint expected = 0;  // a guess: the first exchange tells
  for (;;) {
    uint found = atomic_cas_global32((GLOBAL uint*)p, expected, as_uint(as_float(expected) + v));
    if (found == expected) return;
    expected = found;
  }
}
#if SAMESUM_INT64_ATOMICS && SAMESUM_FP64
FN void atomic_add_global_f64(GLOBAL double* p, double v) {
  ulong expected = 0;
  for (;;) {
    ulong found = atom_cmpxchg((volatile GLOBAL ulong*)p, expected, as_ulong(as_double(expected) + v));
    if (found == expected) return;
    expected = found;
  }
}
#endif

// fence_device() orders this work-item's global writes before, and its reads after, for the whole device; the ordered addition does so
// by itself (acquire and release). OpenCL C 1.2 has neither: C11-style compilers have their own, elsewhere the device lacks
// Capability::device_fence.
#if SAMESUM_DEVICE_FENCE && !SAMESUM_PTX
FN void fence_device(void) { atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device); }
FN uint atomic_add_ordered_global32(GLOBAL uint* p, uint v) {
  return atomic_fetch_add_explicit((volatile GLOBAL atomic_uint*)p, v, memory_order_acq_rel, memory_scope_device);
}
#endif

// Arithmetic in which each operation is rounded once: the compiler does not contract it.
FN float sqrt_f32(float x) { return sqrt(x); }
FN float add_rn_f32(float a, float b) { return a + b; }
FN float mul_rn_f32(float a, float b) { return a * b; }
FN float fma_rn_f32(float a, float b, float c) { return fma(a, b, c); }
#if SAMESUM_FP64 && !SAMESUM_PTX
// Rounded down, of sums that do not overflow: the error of rounding to the nearest shows whether that rounded up.
FN float fma_down_f32(float a, float b, float c) {
  const double product = (double)a * b, sum = product + c, added = sum - product, lost = (product - (sum - added)) + (c - added);
  const float nearest = (float)sum;
  return nearest > sum || (nearest == sum && lost < 0) ? nextafter(nearest, -INFINITY) : nearest;
}
FN float add_down_f32(float a, float b) { return fma_down_f32(a, 1, b); }
#endif
// The lesser magnitude; of a NaN and a number, that of the number.
FN float min_magnitude_f32(float a, float b) { return fmin(fabs(a), fabs(b)); }
// The float16, and the bfloat16, with these bits; and the bits of the float16 that is nearest, ties to the even one.
#if !SAMESUM_PTX
FN float half_to_float(ushort bits) { return vload_half(0, (const half*)&bits); }
#if SAMESUM_FP64
FN double half_to_double(ushort bits) { return half_to_float(bits); }
FN double bfloat16_to_double(ushort bits) { return as_float((uint)bits << 16); }
#endif
#endif
FN ushort float_to_half(float x) {
  ushort bits;
  vstore_half_rte(x, 0, (half*)&bits);
  return bits;
}

FN uint count_bits32(uint x) { return popcount(x); }
FN uint clz32(uint x) { return clz(x); }
// The index of the lowest set bit; x is not zero.
FN uint lowest_bit(uint x) { return 31 - clz(x & (0 - x)); }
FN uint clz64(ulong x) { return (uint)clz(x); }

// The 32 bits of (high:low) << shift that were in `high`; shift in 0..31.
FN uint funnel_left(uint low, uint high, uint shift) { return (uint)(((((ulong)high << 32) | low) << shift) >> 32); }
// Whether these are the bits of a finite float: a comparison, which no flushing of denormals can change.
FN uint is_finite_f32(uint bits) { return fabs(as_float(bits)) < INFINITY; }
// For rare conditions (cuda.h).
#define RARELY(condition) (condition)
// The same number, as a value that NVIDIA's compiler knows nothing about: it does not merge expressions across it.
#if !SAMESUM_PTX
FN uint opaque(uint x) { return x; }
#endif
FN uint materialize(uint x) { return x; }
FN GLOBAL ulong* materialize_address(GLOBAL ulong* p) { return p; }
FN uint min_u32(uint a, uint b) { return min(a, b); }
FN uint max_u32(uint a, uint b) { return max(a, b); }
// Of the two halves of words, each for itself.
#if SAMESUM_PTX < 900
FN uint max2_u16(uint a, uint b) { return max(a & 0xffff0000u, b & 0xffff0000u) | max(a & 0xffffu, b & 0xffffu); }
FN uint min2_u16(uint a, uint b) { return min(a & 0xffff0000u, b & 0xffff0000u) | min(a & 0xffffu, b & 0xffffu); }
FN uint min2_s16(uint a, uint b) { return min2_u16(a ^ 0x80008000u, b ^ 0x80008000u) ^ 0x80008000u; }
#endif
#if !SAMESUM_PTX
// All ones in each half whose highest bit is set.
FN uint signs2_s16(uint x) { return (x >> 15 & 0x00010001u) * 0xffffu; }
// c and the products of the four bytes of a and b.
FN uint dot4_u8(uint a, uint b, uint c) {
  for (int i = 0; i < 32; i += 8) c += (a >> i & 0xffu) * (b >> i & 0xffu);
  return c;
}
FN int dot4_s8(uint a, uint b, int c) {
  for (int i = 0; i < 32; i += 8) c += (int)(char)(a >> i) * (int)(char)(b >> i);
  return c;
}
#endif

FN uint4 make_uint4(uint x, uint y, uint z, uint w) { return (uint4)(x, y, z, w); }

// A load of data that will not be read again soon, which need not stay in the caches. OpenCL C cannot express that.
#if !SAMESUM_PTX
FN uint4 load_streaming(GLOBAL const uint4* p) { return *p; }
#endif
// A copy to local memory, which may take place any time up to the work-item's next wait_for_copies().
FN void copy_to_local(LOCAL uint4* to, GLOBAL const uint4* from) { *to = *from; }
FN void wait_for_copies(void) {}

// There are no sub-groups without PTX.
#if !SAMESUM_PTX
#define SUBGROUP 1
#endif
