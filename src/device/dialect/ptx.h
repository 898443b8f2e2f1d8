// PTX, which the compilers of NVIDIA take: the words of the dialect that are the same with it in CUDA C++ and in OpenCL C, and those by which OpenCL C
// has the instructions that cuda.h has. SAMESUM_PTX is the compute capability times 100, as __CUDA_ARCH__. Other compilers, and OpenCL devices of which
// a mask takes the fence away, do without (opencl.h).
// PTX ISA, https://docs.nvidia.com/cuda/parallel-thread-execution/
#if SAMESUM_PTX

// An instruction of two words.
#define SAMESUM_INSTRUCTION(name, instruction)                  \
  FN uint name(uint a, uint b) {                                \
    uint c;                                                     \
    asm(instruction " %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b)); \
    return c;                                                   \
  }

#if !defined(__CUDACC__)
FN void fence_device(void) { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
FN uint atomic_add_ordered_global32(GLOBAL uint* p, uint v) {
  uint old;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
  return old;
}
#if SAMESUM_INT64_ATOMICS
FN void atomic_store_global64(GLOBAL ulong* p, ulong v) { asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory"); }
FN void atomic_load_pair_global64(GLOBAL const ulong* p, ulong* first, ulong* second) {
  ulong a, b;
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(p) : "memory");
  *first = a;
  *second = b;
}
#endif

FN uint opaque(uint x) {
  asm("" : "+r"(x));
  return x;
}

FN float add_down_f32(float a, float b) {
  float sum;
  asm("add.rm.f32 %0, %1, %2;" : "=f"(sum) : "f"(a), "f"(b));
  return sum;
}
FN float fma_down_f32(float a, float b, float c) {
  float sum;
  asm("fma.rm.f32 %0, %1, %2, %3;" : "=f"(sum) : "f"(a), "f"(b), "f"(c));
  return sum;
}

// Volatile, so that loads stay together before what is done with the first of them.
FN uint4 load_streaming(GLOBAL const uint4* p) {
  uint x, y, z, w;
  asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(p));
  return (uint4)(x, y, z, w);
}

#if SAMESUM_PTX >= 900
SAMESUM_INSTRUCTION(max2_u16, "max.u16x2")
SAMESUM_INSTRUCTION(min2_u16, "min.u16x2")
SAMESUM_INSTRUCTION(min2_s16, "min.s16x2")
#endif
FN uint dot4_u8(uint a, uint b, uint c) {
  uint d;
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}
FN int dot4_s8(uint a, uint b, int c) {
  int d;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}

// Sub-groups of 32 work-items, all of which call these functions together.
#define SUBGROUP 32
FN uint subgroup_shuffle(uint value, uint lane) {
  uint result;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(result) : "r"(value), "r"(lane));
  return result;
}
FN long subgroup_shuffle64(long value, uint lane) {
  const uint low = subgroup_shuffle((uint)value, lane);
  return (long)((ulong)subgroup_shuffle((uint)((ulong)value >> 32), lane) << 32 | low);
}
FN uint subgroup_ballot(int condition) {
  uint result;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(result) : "r"(condition));
  return result;
}
FN void subgroup_sync(void) { asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }
#if SAMESUM_PTX >= 800
#define SAMESUM_REDUCTION(T, name, operation, combined)                                       \
  FN T name(T value) {                                                                        \
    T result;                                                                                 \
    asm volatile("redux.sync." operation " %0, %1, 0xffffffff;" : "=r"(result) : "r"(value)); \
    return result;                                                                            \
  }
#else
#define SAMESUM_REDUCTION(T, name, operation, combined)                        \
  FN T name(T value) {                                                         \
    for (uint distance = 1; distance < SUBGROUP; distance *= 2) {              \
      const T other = (T)subgroup_shuffle((uint)value, local_id() ^ distance); \
      value = combined;                                                        \
    }                                                                          \
    return value;                                                              \
  }
#endif
SAMESUM_REDUCTION(uint, subgroup_min_u32, "min.u32", min(value, other))
SAMESUM_REDUCTION(uint, subgroup_max_u32, "max.u32", max(value, other))
SAMESUM_REDUCTION(int, subgroup_max_s32, "max.s32", max(value, other))
SAMESUM_REDUCTION(int, subgroup_add_s32, "add.s32", value + other)
#undef SAMESUM_REDUCTION
#endif

// The same in both languages.
// Of the two halves of a word, each for itself: all ones where its highest bit is set, else zeros.
FN uint signs2_s16(uint x) {
  uint signs;
  asm("prmt.b32 %0, %1, 0, 0xbb99;" : "=r"(signs) : "r"(x));  // CUDA's __byte_perm() does not repeat signs
  return signs;
}
// The sum of 64-bit numbers, which must be less than 2^57.
FN long subgroup_add_s64(long value) {
  const long low = subgroup_add_s32((int)value & 0x3ffffff), high = subgroup_add_s32((int)(value >> 26));
  return low + (long)((ulong)high << 26);
}
// The greater and the lesser of two floats, given and returned as bits. -0.0 is less than +0.0; the result is a NaN if either is.
#if SAMESUM_PTX >= 800
#define NAN_EXTREMES 1
FN uint max_nan_f32(uint a, uint b) {
  float c;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(as_float(a)), "f"(as_float(b)));
  return as_uint(c);
}
FN uint min_nan_f32(uint a, uint b) {
  float c;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(as_float(a)), "f"(as_float(b)));
  return as_uint(c);
}
// The same of both halves of words.
SAMESUM_INSTRUCTION(max2_nan_f16, "max.NaN.f16x2")
SAMESUM_INSTRUCTION(min2_nan_f16, "min.NaN.f16x2")
SAMESUM_INSTRUCTION(max2_nan_bf16, "max.NaN.bf16x2")
SAMESUM_INSTRUCTION(min2_nan_bf16, "min.NaN.bf16x2")
#endif
#undef SAMESUM_INSTRUCTION
// The float16, and the bfloat16, with these bits.
FN float half_to_float(ushort bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
#if SAMESUM_FP64
FN double half_to_double(ushort bits) {
  double value;
  asm("cvt.f64.f16 %0, %1;" : "=d"(value) : "h"(bits));
  return value;
}
FN double bfloat16_to_double(ushort bits) {
#if SAMESUM_PTX >= 900
  double value;
  asm("cvt.f64.bf16 %0, %1;" : "=d"(value) : "h"(bits));
  return value;
#else
  return as_float((uint)bits << 16);
#endif
}
#endif

#endif
