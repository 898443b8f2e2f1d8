// A device's limits, by kernels that only read memory, only multiply and add, or do nothing.
// Defined by the host: GROUP (work-items of a group).

// Reads `count` units and folds all their bits into one word, which is stored only in the one case of 2^32 in which it equals `unlikely`:
// so compilers cannot remove a load, and nothing else is written. With chunk = 0 the groups process the data in adjacent tiles of group
// size x UNROLL units; otherwise each group reads its own run of `chunk` units, a multiple of its tile.
#define READ_KERNEL(name, UNIT, FOLD, UNROLL)                                                                                      \
  KERNEL FIXED_GROUP(GROUP, 1) void name(GLOBAL const UNIT* data, ulong count, ulong chunk, uint unlikely, GLOBAL uint* sink) {           \
    ulong tile = (ulong)group_size() * UNROLL;                                                                                     \
    ulong begin = group_id() * (chunk ? chunk : tile);                                                                             \
    ulong end = chunk && begin + chunk < count ? begin + chunk : count;                                                            \
    ulong step = chunk ? tile : tile * group_count();                                                                              \
    uint bits = 0;                                                                                                                 \
    for (; begin + tile <= end; begin += step) {                                                                                   \
      GLOBAL const UNIT* from = data + begin + local_id();                                                                         \
      UNIT loaded[UNROLL];                                                                                                         \
      _Pragma("unroll") for (uint k = 0; k < UNROLL; ++k) loaded[k] = from[k * group_size()];                                      \
      _Pragma("unroll") for (uint k = 0; k < UNROLL; ++k) bits ^= FOLD(loaded[k]);                                                 \
    }                                                                                                                              \
    for (ulong i = begin + local_id(); i < end; i += group_size()) bits ^= FOLD(data[i]);                                          \
    if (bits == unlikely) sink[0] = bits;                                                                                          \
  }

#define FOLD1(v) (v)
#define FOLD2(v) ((v).x ^ (v).y)
#define FOLD4(v) ((v).x ^ (v).y ^ (v).z ^ (v).w)
READ_KERNEL(read_4x1, uint, FOLD1, 1)
READ_KERNEL(read_4x2, uint, FOLD1, 2)
READ_KERNEL(read_4x4, uint, FOLD1, 4)
READ_KERNEL(read_4x8, uint, FOLD1, 8)
READ_KERNEL(read_8x1, uint2, FOLD2, 1)
READ_KERNEL(read_8x2, uint2, FOLD2, 2)
READ_KERNEL(read_8x4, uint2, FOLD2, 4)
READ_KERNEL(read_8x8, uint2, FOLD2, 8)
READ_KERNEL(read_16x1, uint4, FOLD4, 1)
READ_KERNEL(read_16x2, uint4, FOLD4, 2)
READ_KERNEL(read_16x4, uint4, FOLD4, 4)
READ_KERNEL(read_16x8, uint4, FOLD4, 8)

KERNEL void read_nothing(GLOBAL uint* sink, uint unlikely) {
  if (unlikely == 1 && global_id() == 1) sink[0] = 0;
}

// Eight independent chains of `rounds` x 16 multiply-adds in registers; the host computes the same and compares.
#define MULTIPLY_ADD_KERNEL(name, REAL)                                                                                            \
  KERNEL FIXED_GROUP(GROUP, 1) void name(REAL factor, REAL term, uint rounds, GLOBAL REAL* out) {                                        \
    REAL chain[8];                                                                                                                 \
    _Pragma("unroll") for (uint c = 0; c < 8; ++c) chain[c] = (REAL)(global_id() % 32 + c);                                        \
    for (uint r = 0; r < rounds; ++r) {                                                                                            \
      _Pragma("unroll") for (uint k = 0; k < 16; ++k) {                                                                            \
        _Pragma("unroll") for (uint c = 0; c < 8; ++c) chain[c] = fma(chain[c], factor, term);                                     \
      }                                                                                                                            \
    }                                                                                                                              \
    REAL sum = 0;                                                                                                                  \
    _Pragma("unroll") for (uint c = 0; c < 8; ++c) sum += chain[c];                                                                \
    out[global_id()] = sum;                                                                                                        \
  }

MULTIPLY_ADD_KERNEL(multiply_add_f32, float)
#if SAMESUM_FP64
MULTIPLY_ADD_KERNEL(multiply_add_f64, double)
#endif
