// Prelude of the kernel dialect for CUDA C++ as NVRTC compiles it, without an include path. Its twin is opencl.h.
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;  // 64 bits, as long is, wherever NVRTC runs on Linux: asserted below
static_assert(sizeof(long) == 8, "the dialect's long has 64 bits");

#define SAMESUM_PTX __CUDA_ARCH__  // ptx.h follows

#define KERNEL extern "C" __global__
#define FN [[maybe_unused]] static __device__ __forceinline__
#define SELDOM [[maybe_unused]] static __device__ __noinline__  // a function that is called seldom: its registers are not reserved elsewhere
#define GLOBAL
#define LOCAL
#define LOCAL_VAR __shared__
#define CONSTANT __constant__
// A kernel's local memory of a size that the launch names: the last of its parameters, and a declaration in its body.
#define DYNLOCAL_PARAMETER(name)
#define DYNLOCAL(name) extern __shared__ __align__(16) uint name[]
#define MAX_GROUP(size) __launch_bounds__(size)
// Every group of this kernel will have exactly `size` work-items, and `groups` of them, or as many as it can hold, are to be resident on
// a compute unit at once.
#define FIXED_GROUP(size, groups) __launch_bounds__(size, (size) * (groups) <= UNIT_SIZE ? (groups) : UNIT_SIZE / (size))
#if __CUDA_ARCH__ == 750
#define UNIT_SIZE 1024
#elif (__CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ == 1010 || __CUDA_ARCH__ >= 1100
#define UNIT_SIZE 1536
#else
#define UNIT_SIZE 2048
#endif

FN ulong global_id() { return (ulong)blockIdx.x * blockDim.x + threadIdx.x; }
FN ulong global_size() { return (ulong)gridDim.x * blockDim.x; }
FN uint local_id() { return threadIdx.x; }
FN uint group_size() { return blockDim.x; }
FN uint group_id() { return blockIdx.x; }
FN uint group_count() { return gridDim.x; }
// The same along axis 0, 1 or 2 of a launch that has several.
FN uint local_id_of(uint axis) { return axis == 0 ? threadIdx.x : axis == 1 ? threadIdx.y : threadIdx.z; }
FN uint group_size_of(uint axis) { return axis == 0 ? blockDim.x : axis == 1 ? blockDim.y : blockDim.z; }
FN uint group_id_of(uint axis) { return axis == 0 ? blockIdx.x : axis == 1 ? blockIdx.y : blockIdx.z; }
FN uint group_count_of(uint axis) { return axis == 0 ? gridDim.x : axis == 1 ? gridDim.y : gridDim.z; }
FN ulong global_id_of(uint axis) { return (ulong)group_id_of(axis) * group_size_of(axis) + local_id_of(axis); }
FN ulong global_size_of(uint axis) { return (ulong)group_count_of(axis) * group_size_of(axis); }

// A kernel that calls this may be started before the launches ahead of it have ended. The call waits for them; what they wrote is visible after it.
// Before it a kernel uses local memory only. All kernels of a file call it, or none (device::build() looks for it). It saves a launch's own time, a
// third of a microsecond, if such kernels follow one another.
//
// The next such launch starts when each group has ended or called launch_dependents(). A single group calls it at once. Several groups call it when
// they have loaded their elements and wait for other groups, so that the next launch's groups do not compete for memory.
#if __CUDA_ARCH__ >= 900
FN void grid_dependency_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
FN void launch_dependents() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
#else
FN void grid_dependency_wait() {}
FN void launch_dependents() {}
#endif

FN void barrier_local() { __syncthreads(); }
// The same, for global memory as well: what the group wrote before it, the group reads after it.
FN void barrier_all() { __syncthreads(); }
// A barrier that returns whether any work-item passed a value other than 0.
FN uint barrier_or(uint v) { return (uint)__syncthreads_or((int)v); }

FN uint atomic_add_local32(uint* p, uint v) { return atomicAdd(p, v); }
FN uint atomic_exchange_local32(uint* p, uint v) { return atomicExch(p, v); }
// A word of local memory as an address of 32 bits, and additions and stores to the word so many behind it: of a pointer the compiler makes such an
// address anew, in four instructions, for each atomic operation. Nothing is skipped where 0 is added: that takes more instructions than the addition.
typedef uint LOCAL_PLACE;
FN LOCAL_PLACE local_place(const uint* p) {
  LOCAL_PLACE place;
  asm volatile("mov.u32 %0, %1;" : "=r"(place) : "r"((uint)__cvta_generic_to_shared(p)));  // once: nothing says that it could be made anew
  return place;
}
FN LOCAL_PLACE local_place_behind(LOCAL_PLACE place, uint words) { return place + 4 * words; }
FN void add_to_place(LOCAL_PLACE place, uint v) { asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(place), "r"(v) : "memory"); }
FN void store_to_place(LOCAL_PLACE place, uint v) { asm volatile("st.shared.u32 [%0], %1;" ::"r"(place), "r"(v) : "memory"); }
FN uint atomic_add_global32(uint* p, uint v) { return atomicAdd(p, v); }
// Adds one, for one work-item of a group; wraps after 2^31. Compilers combine the ordinary additions of a sub-group, and then wait for the old value
// at once; they do not combine this form.
FN uint atomic_ticket_global32(uint* p) { return atomicInc(p, 0x7fffffff); }
FN uint atomic_cas_global32(uint* p, uint expected, uint desired) { return atomicCAS(p, expected, desired); }
FN uint atomic_max_global32(uint* p, uint v) { return atomicMax(p, v); }
FN uint atomic_or_global32(uint* p, uint v) { return atomicOr(p, v); }
FN ulong atomic_add_global64(ulong* p, ulong v) { return atomicAdd((unsigned long long*)p, (unsigned long long)v); }
FN void atomic_max_global64(ulong* p, ulong v) { atomicMax((unsigned long long*)p, (unsigned long long)v); }
#if __CUDA_ARCH__ >= 700
FN ulong atomic_load_global64(const ulong* p) {
  ulong value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
  return value;
}
#else
FN ulong atomic_load_global64(const ulong* p) { return *(const volatile ulong*)p; }
#endif
// Plain stores to words that other groups have changed by atomic operations, all of which this group has observed: no group accesses them again in
// this launch, and the next launch reads what is stored. They have names of their own for tools that look for races.
FN void store_settled_global32(uint* p, uint v) { *p = v; }
FN void store_settled_global64(ulong* p, ulong v) { *p = v; }
FN void clear_settled_global128(ulong* p) { *(uint4*)p = make_uint4(0, 0, 0, 0); }
// A store, and a load of two words at a multiple of 16 bytes, each of them whole: other groups see all of a word or nothing.
#if __CUDA_ARCH__ >= 700
// An addition without a result, to an address that no other work-item of the sub-group uses: compilers would first test for equal addresses.
FN void atomic_merge_global64(ulong* p, ulong v) { asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory"); }
FN void atomic_store_global64(ulong* p, ulong v) { asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory"); }
FN void atomic_load_pair_global64(const ulong* p, ulong* first, ulong* second) {
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(*first), "=l"(*second) : "l"(p) : "memory");
}
#else
FN void atomic_merge_global64(ulong* p, ulong v) { atomic_add_global64(p, v); }
FN void atomic_store_global64(ulong* p, ulong v) { *(volatile ulong*)p = v; }
FN void atomic_load_pair_global64(const ulong* p, ulong* first, ulong* second) {
  *first = ((const volatile ulong*)p)[0];
  *second = ((const volatile ulong*)p)[1];
}
#endif
FN void atomic_add_global_f32(float* p, float v) { atomicAdd(p, v); }
FN void atomic_add_global_f64(double* p, double v) { atomicAdd(p, v); }

#if __CUDA_ARCH__ >= 700
FN void fence_device() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
FN uint atomic_add_ordered_global32(uint* p, uint v) {
  uint old;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
  return old;
}
#else
FN void fence_device() { __threadfence(); }
FN uint atomic_add_ordered_global32(uint* p, uint v) {
  __threadfence();
  uint old = atomicAdd(p, v);
  __threadfence();
  return old;
}
#endif

FN float sqrt_f32(float x) { return sqrtf(x); }
FN float add_rn_f32(float a, float b) { return __fadd_rn(a, b); }
FN float mul_rn_f32(float a, float b) { return __fmul_rn(a, b); }
FN double add_rn_f64(double a, double b) { return __dadd_rn(a, b); }
// The greater magnitude; NaNs are left out.
FN float max_magnitude_f32(float a, float b) { return fmaxf(fabsf(a), fabsf(b)); }
// The lesser one.
FN float min_magnitude_f32(float a, float b) { return fminf(fabsf(a), fabsf(b)); }
FN double mul_rn_f64(double a, double b) { return __dmul_rn(a, b); }
FN double fma_rn_f64(double a, double b, double c) { return __fma_rn(a, b, c); }
FN double fma_down_f64(double a, double b, double c) { return __fma_rd(a, b, c); }
FN double add_down_f64(double a, double b) { return __dadd_rd(a, b); }
FN double add_up_f64(double a, double b) { return __dadd_ru(a, b); }
FN float fma_rn_f32(float a, float b, float c) { return __fmaf_rn(a, b, c); }
FN float add_down_f32(float a, float b) { return __fadd_rd(a, b); }
FN float fma_down_f32(float a, float b, float c) { return __fmaf_rd(a, b, c); }
// The bits of the float16 that is nearest; ties to the even one.
FN ushort float_to_half(float x) {
  ushort bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}

FN uint as_uint(float x) { return __float_as_uint(x); }
FN float as_float(uint x) { return __uint_as_float(x); }
FN ulong as_ulong(double x) { return (ulong)__double_as_longlong(x); }
FN double as_double(ulong x) { return __longlong_as_double((long)x); }

FN uint count_bits32(uint x) { return (uint)__popc((int)x); }
FN uint clz32(uint x) { return (uint)__clz((int)x); }
// The index of the lowest set bit; x is not zero.
FN uint lowest_bit(uint x) { return 31 - (uint)__clz((int)(x & (0 - x))); }
FN uint clz64(ulong x) { return (uint)__clzll((long)x); }
FN ulong mul_hi64(ulong a, ulong b) { return __umul64hi(a, b); }
// Adds to a sum of 96 bits: the product of two numbers, the square of one with a sign.
FN void add_product96(uint* sum, uint a, uint b) {
  asm("mad.lo.cc.u32 %0, %3, %4, %0; madc.hi.cc.u32 %1, %3, %4, %1; addc.u32 %2, %2, 0;"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2])
      : "r"(a), "r"(b));
}
FN void add_square96(uint* sum, int a) {
  asm("mad.lo.cc.s32 %0, %3, %3, %0; madc.hi.cc.s32 %1, %3, %3, %1; addc.u32 %2, %2, 0;"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2])
      : "r"(a));
}
FN uint funnel_left(uint low, uint high, uint shift) { return __funnelshift_l(low, high, shift); }
// Whether these are the bits of a finite float: a comparison, which no flushing of denormals can change.
FN uint is_finite_f32(uint bits) { return fabsf(__uint_as_float(bits)) < __uint_as_float(0x7f800000); }
// Whether these are the bits of a NaN: one comparison.
#define is_nan_f64(bits) (__longlong_as_double((long)(bits)) != __longlong_as_double((long)(bits)))
// For rare conditions: compilers move the code that depends on them out of the common path.
#define RARELY(condition) __builtin_expect((condition) != 0, 0)
// The same number, as a value that the compiler knows nothing about: it does not merge expressions across it.
FN uint opaque(uint x) {
  asm("" : "+r"(x));
  return x;
}
// The same number, computed here: compilers otherwise move the computation to its first use, where other work-items wait for it.
FN uint materialize(uint x) {
  asm volatile("" : "+r"(x));
  return x;
}
FN ulong* materialize_address(ulong* p) {  // of a word for atomic_store_global64
  asm volatile("" : "+l"(p));
  return p;
}
FN uint min_u32(uint a, uint b) { return min(a, b); }
FN uint max_u32(uint a, uint b) { return max(a, b); }
// Of the two halves of words, each for itself.
FN uint max2_u16(uint a, uint b) { return __vmaxu2(a, b); }
FN uint min2_u16(uint a, uint b) { return __vminu2(a, b); }
FN uint min2_s16(uint a, uint b) { return __vmins2(a, b); }
// c and the products of the four bytes of a and b.
FN uint dot4_u8(uint a, uint b, uint c) { return __dp4a(a, b, c); }
FN int dot4_s8(uint a, uint b, int c) { return __dp4a((int)a, (int)b, c); }

// A load of data that will not be read again soon: it need not displace what is in the caches.
FN uint4 load_streaming(const uint4* p) { return __ldcs(p); }
// A copy of 16 bytes to local memory, which may take place any time up to the work-item's next wait_for_copies().
#if __CUDA_ARCH__ >= 800
FN void copy_to_local(uint4* to, const uint4* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}
FN void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#else
FN void copy_to_local(uint4* to, const uint4* from) { *to = *from; }
FN void wait_for_copies() {}
#endif

// Sub-groups of 32 work-items, all of which call these functions together.
#define SUBGROUP 32
FN uint subgroup_shuffle(uint value, uint lane) { return __shfl_sync(0xffffffffu, value, (int)lane); }
FN long subgroup_shuffle64(long value, uint lane) { return __shfl_sync(0xffffffffu, value, (int)lane); }
FN uint subgroup_ballot(int condition) { return __ballot_sync(0xffffffffu, condition); }
FN void subgroup_sync() { __syncwarp(); }
// Reductions over the sub-group; every work-item gets the result.
#if __CUDA_ARCH__ >= 800
FN uint subgroup_min_u32(uint value) { return __reduce_min_sync(0xffffffffu, value); }
FN uint subgroup_max_u32(uint value) { return __reduce_max_sync(0xffffffffu, value); }
FN int subgroup_max_s32(int value) { return __reduce_max_sync(0xffffffffu, value); }
FN int subgroup_add_s32(int value) { return __reduce_add_sync(0xffffffffu, value); }
FN uint subgroup_add_u32(uint value) { return __reduce_add_sync(0xffffffffu, value); }
#else
#define SUBGROUP_REDUCE(T, name, combined)                           \
  FN T name(T value) {                                               \
    for (int distance = SUBGROUP / 2; distance > 0; distance /= 2) { \
      const T other = __shfl_xor_sync(0xffffffffu, value, distance); \
      value = combined;                                              \
    }                                                                \
    return value;                                                    \
  }
SUBGROUP_REDUCE(uint, subgroup_min_u32, min(value, other))
SUBGROUP_REDUCE(uint, subgroup_max_u32, max(value, other))
SUBGROUP_REDUCE(int, subgroup_max_s32, max(value, other))
SUBGROUP_REDUCE(int, subgroup_add_s32, value + other)
SUBGROUP_REDUCE(uint, subgroup_add_u32, value + other)
#undef SUBGROUP_REDUCE
#endif
