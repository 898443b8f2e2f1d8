// The same for OpenCL devices that are CPUs, whose compilers run a work-item from beginning to end: a work-item reads a contiguous run with
// explicit vectors. OpenCL only.
#ifdef __OPENCL_VERSION__

// `count` units of 32 bytes.
#define READ_KERNEL(name, UNROLL)                                                                                                  \
  KERNEL void name(GLOBAL const uint8* data, ulong count, uint unlikely, GLOBAL uint* sink) {                                       \
    ulong begin = count / global_size() * global_id();                                                                             \
    ulong end = global_id() + 1 == global_size() ? count : begin + count / global_size();                                          \
    uint8 bits[UNROLL];                                                                                                            \
    _Pragma("unroll") for (uint k = 0; k < UNROLL; ++k) bits[k] = (uint8)(0);                                                      \
    for (; begin + UNROLL <= end; begin += UNROLL) {                                                                               \
      _Pragma("unroll") for (uint k = 0; k < UNROLL; ++k) bits[k] ^= data[begin + k];                                              \
    }                                                                                                                              \
    for (; begin < end; ++begin) bits[0] ^= data[begin];                                                                           \
    _Pragma("unroll") for (uint k = 1; k < UNROLL; ++k) bits[0] ^= bits[k];                                                        \
    uint4 folded = bits[0].lo ^ bits[0].hi;                                                                                        \
    if ((folded.x ^ folded.y ^ folded.z ^ folded.w) == unlikely) sink[0] = unlikely;                                               \
  }

READ_KERNEL(read_run_1, 1)
READ_KERNEL(read_run_2, 2)
READ_KERNEL(read_run_4, 4)
READ_KERNEL(read_run_8, 8)

// Twelve independent chains of `rounds` x 16 multiply-adds on vectors of 32 bytes; `out` receives the vector's first lane.
#define MULTIPLY_ADD_KERNEL(name, REAL, VECTOR)                                                                                    \
  KERNEL void name(REAL factor, REAL term, uint rounds, GLOBAL REAL* out) {                                                        \
    VECTOR chain[12];                                                                                                              \
    _Pragma("unroll") for (uint c = 0; c < 12; ++c) chain[c] = (VECTOR)((REAL)(global_id() % 32 + c));                             \
    for (uint r = 0; r < rounds; ++r) {                                                                                            \
      _Pragma("unroll") for (uint k = 0; k < 16; ++k) {                                                                            \
        _Pragma("unroll") for (uint c = 0; c < 12; ++c) chain[c] = fma(chain[c], (VECTOR)(factor), (VECTOR)(term));                \
      }                                                                                                                            \
    }                                                                                                                              \
    VECTOR sum = (VECTOR)(0);                                                                                                      \
    _Pragma("unroll") for (uint c = 0; c < 12; ++c) sum += chain[c];                                                               \
    out[global_id()] = sum.s0;                                                                                                     \
  }

MULTIPLY_ADD_KERNEL(multiply_add_f32, float, float8)
#if SAMESUM_FP64
MULTIPLY_ADD_KERNEL(multiply_add_f64, double, double4)
#endif

#endif
