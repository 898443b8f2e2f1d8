// Loads of neighbours for by_index.cl and by_runs.cl.

// What the host says by `vectors`: which arrays are aligned and contiguous, so that loads of 16 bytes may read them.
#define VECTORS_OF_VALUES 1
#define VECTORS_OF_INDICES 2

// ITEMS neighbours of the type TYPE, by loads of 16 bytes.
#define LOAD_ITEMS(TYPE, to, from)                                                                                                        \
  {                                                                                                                                       \
    uint words[2 * ITEMS + 4] = {0};                                                                                                      \
    _Pragma("unroll") for (int v = 0; v < (int)(ITEMS * sizeof(TYPE) / 16); ++v) {                                                         \
      const uint4 load = load_streaming((GLOBAL const uint4*)(from) + v);                                                                 \
      words[4 * v] = load.x;                                                                                                              \
      words[4 * v + 1] = load.y;                                                                                                          \
      words[4 * v + 2] = load.z;                                                                                                          \
      words[4 * v + 3] = load.w;                                                                                                          \
    }                                                                                                                                     \
    _Pragma("unroll") for (uint k = 0; k < ITEMS; ++k) {                                                                                  \
      to[k] = sizeof(TYPE) == 8   ? (TYPE)((ulong)words[2 * k + 1] << 32 | words[2 * k])                                                  \
              : sizeof(TYPE) == 4 ? (TYPE)words[k]                                                                                        \
                                  : (TYPE)(words[k * sizeof(TYPE) / 4] >> (8 * (k * (uint)sizeof(TYPE) % 4)));                            \
    }                                                                                                                                     \
  }
