// Counts the samples of each slot (plan.hpp). Every sample is one atomic addition, without a branch on the data that is often taken.
// Defined by the host:
//   ELEMENT          0 uint8, 1 uint16, 2 integers of 32 bits, 3 of 64, 4 float, 5 double
//   GUESS            0 the sample is the slot, 1 Even, 2 Trie
//   COUNTERS         0 in local memory, 32 bits, several copies; 1 in local memory, 16 bits; 2 in global memory
//   CHANNELS         of uint8: bytes take turns; channel c has slots c * 256 ...
//   COPY_BITS        there are 2^COPY_BITS copies of local counters: work-item i adds to copy i % copies, so that no two lanes of a
//                    sub-group meet in one bank where there is a copy a lane
//   EDGES_LOCAL      thresholds and trie are copied into local memory
//   GROUP_SIZE, RESIDENT, LOADS (of 16 bytes, in flight)

#if ELEMENT == 3 || ELEMENT == 5
typedef ulong Key;
#define PER_VECTOR 2
#else
typedef uint Key;
#define PER_VECTOR (ELEMENT == 0 ? 16 : ELEMENT == 1 ? 8 : 4)
#endif
#if ELEMENT == 5 && SAMESUM_FP64
typedef double Real;
#define ROUNDER 6755399441055744.0  // 1.5 * 2^52: what is added to it is rounded to a whole number, which the lowest bits then are
#else
typedef float Real;
#define ROUNDER 12582912.0f  // 1.5 * 2^23
#endif
#if EDGES_LOCAL
#define EDGES LOCAL
#else
#define EDGES GLOBAL
#endif
#define COPIES (1u << COPY_BITS)

typedef struct {
  EDGES const Key* thresholds;
  EDGES const uint* trie;
  uint threshold_count, root, width, nan_slot;
  Key first, span, flip;
  Real low, scale, top, tolerance;
} Plan;

#if GUESS != 0
#if ELEMENT == 2 || ELEMENT == 3
FN int is_nan(Key bits) { return 0; }
FN Key key_of(const Plan* plan, Key bits) { return bits ^ plan->flip; }
#elif ELEMENT == 4
FN int is_nan(Key bits) { return (bits & 0x7fffffffu) > 0x7f800000u; }
FN Key key_of(const Plan* plan, Key bits) { return bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u); }
#else
FN int is_nan(Key bits) { return (bits << 1) > 0xffe0000000000000ul; }
FN Key key_of(const Plan* plan, Key bits) { return bits ^ ((bits >> 63) != 0 ? ~(Key)0 : (Key)1 << 63); }
#endif

#if GUESS == 1
FN Real real_of(const Plan* plan, Key bits) {
#if ELEMENT == 4
  return (as_float(bits) - plan->low) * plan->scale;
#elif ELEMENT == 5
  return (as_double(bits) - plan->low) * plan->scale;
#else
  Key key = bits ^ plan->flip;
  return (key < plan->first ? -1.0f : (float)(key - plan->first)) * plan->scale;
#endif
}

FN uint slot_of(const Plan* plan, Key bits) {
  Real real = fmin(fmax(real_of(plan, bits), (Real)-0.5f), plan->top);
  Real shifted = real + ROUNDER;
#if ELEMENT == 5
  uint edge = (uint)as_ulong(shifted);
#else
  uint edge = as_uint(shifted) - 0x4b400000u;
#endif
  Real off = real - (shifted - ROUNDER);
  uint slot = edge + (off > 0 ? 1u : 0u);
  if (!(fabs(off) > plan->tolerance) || is_nan(bits)) {
    slot = is_nan(bits) ? plan->nan_slot : edge + (key_of(plan, bits) >= plan->thresholds[edge] ? 1u : 0u);
  }
  return slot;
}
#else
FN uint slot_of(const Plan* plan, Key bits) {
  if (is_nan(bits)) return plan->nan_slot;
  Key key = key_of(plan, bits);
  if (key < plan->first) return 0;
  Key offset = key - plan->first < plan->span ? key - plan->first : plan->span;
  uint word = plan->root;
  uint width = plan->width;
  while (word >> 31 != 0) {
    uint shift = word >> 25 & 63;
    Key child = (offset >> shift) & (((Key)1 << (width - shift)) - 1);
    word = plan->trie[(word & 0x1ffffff) + (uint)child];
    width = shift;
  }
  uint low = word & 0x1ffffff;
  uint high = word >> 25 == 63 ? plan->threshold_count : low + (word >> 25);
  while (low < high) {
    uint middle = (low + high) >> 1;
    int reached = key >= plan->thresholds[middle];
    low = reached ? middle + 1 : low;
    high = reached ? high : middle;
  }
  return low;
}
#endif
#endif

// Adds `number` samples to a slot.
#if COUNTERS == 0
#define COUNTER_WORDS ((ulong)slots << COPY_BITS)
FN void add(LOCAL uint* counters, GLOBAL uint* counts, uint slot, uint number) {
  atomic_add_local32(&counters[(slot << COPY_BITS) + (local_id() & (COPIES - 1))], number);
}
#elif COUNTERS == 1
// Whoever makes a counter reach 2^15 takes so many out of it. Until all have done so, at the next barrier, at most 2^15 are added.
#define COUNTER_WORDS ((slots + 1) / 2)
FN void add(LOCAL uint* counters, GLOBAL uint* counts, uint slot, uint number) {
  uint shift = (slot & 1) * 16;
  uint old = atomic_add_local32(&counters[slot >> 1], number << shift);
  if ((((old >> shift) ^ ((old >> shift) + number)) & 0x8000u) != 0) {
    atomic_add_local32(&counters[slot >> 1], 0u - (0x8000u << shift));
    atomic_add_global32(&counts[slot], 0x8000u);
  }
}
#else
#define COUNTER_WORDS 0
FN void add(LOCAL uint* counters, GLOBAL uint* counts, uint slot, uint number) { atomic_add_global32(&counts[slot], number); }
#endif

#if GUESS == 0
#define SLOT(bits) (uint)(bits)
#else
#define SLOT(bits) slot_of(plan, bits)
#endif

FN void add_vector(const Plan* plan, LOCAL uint* counters, GLOBAL uint* counts, uint4 vector, ulong index) {
#if ELEMENT == 0
#if CHANNELS == 3
  uint phase = (uint)(index % 3);  // of 16 bytes a vector, 16 % 3 == 1
  uint c0 = phase * 256, c1 = (phase == 2 ? 0 : phase + 1) * 256, c2 = (phase == 0 ? 2 : phase - 1) * 256;
#define CHANNEL(k) ((k) % 3 == 0 ? c0 : (k) % 3 == 1 ? c1 : c2)
#else
#define CHANNEL(k) ((k) % CHANNELS * 256)
#endif
#define ADD_WORD(word, k)                                                         \
  add(counters, counts, ((word)&255) + CHANNEL(k), 1);                            \
  add(counters, counts, ((word) >> 8 & 255) + CHANNEL(k + 1), 1);                 \
  add(counters, counts, ((word) >> 16 & 255) + CHANNEL(k + 2), 1);                \
  add(counters, counts, ((word) >> 24) + CHANNEL(k + 3), 1)
  ADD_WORD(vector.x, 0);
  ADD_WORD(vector.y, 4);
  ADD_WORD(vector.z, 8);
  ADD_WORD(vector.w, 12);
#else
#if ELEMENT == 1
#if COUNTERS != 0
  if (vector.x == vector.y && vector.x == vector.z && vector.x == vector.w && vector.x >> 16 == (vector.x & 65535)) {
    add(counters, counts, SLOT(vector.x & 65535), 8);
    return;
  }
#endif
#define ADD_WORD(word)                                 \
  add(counters, counts, SLOT((word)&65535), 1);        \
  add(counters, counts, SLOT((word) >> 16), 1)
  ADD_WORD(vector.x);
  ADD_WORD(vector.y);
  ADD_WORD(vector.z);
  ADD_WORD(vector.w);
#elif PER_VECTOR == 4
  uint s0 = SLOT(vector.x), s1 = SLOT(vector.y), s2 = SLOT(vector.z), s3 = SLOT(vector.w);
#if COUNTERS != 0
  if (s0 == s1 && s0 == s2 && s0 == s3) {
    add(counters, counts, s0, 4);
    return;
  }
#endif
  add(counters, counts, s0, 1);
  add(counters, counts, s1, 1);
  add(counters, counts, s2, 1);
  add(counters, counts, s3, 1);
#else
  uint s0 = SLOT((ulong)vector.y << 32 | vector.x), s1 = SLOT((ulong)vector.w << 32 | vector.z);
#if COUNTERS != 0
  if (s0 == s1) {
    add(counters, counts, s0, 2);
    return;
  }
#endif
  add(counters, counts, s0, 1);
  add(counters, counts, s1, 1);
#endif
#endif
}

#if ELEMENT == 0
typedef uchar Sample;
#elif ELEMENT == 1
typedef ushort Sample;
#else
typedef Key Sample;
#endif

// `spare` are counters for the next histogram: they are cleared by the way, which a launch of its own would take microseconds for.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT) void histogram_count(GLOBAL const uint4* data, ulong count, GLOBAL uint* counts, uint slots,
                                                              GLOBAL uint* spare, uint spare_slots,
                                                              GLOBAL const Key* thresholds, uint threshold_count,
                                                              GLOBAL const uint* trie, uint trie_words, uint root, uint width, Key first,
                                                              Key span, Key flip,
                                                              Real low, Real scale, Real top,
                                                              Real tolerance DYNLOCAL_PARAMETER(memory)) {
  DYNLOCAL(memory);
  // Local memory: thresholds, trie, counters.
#if EDGES_LOCAL
  LOCAL Key* local_thresholds = (LOCAL Key*)memory;
  LOCAL uint* local_trie = memory + threshold_count * (sizeof(Key) / 4);
  LOCAL uint* counters = local_trie + trie_words;
  for (uint i = local_id(); i < threshold_count; i += GROUP_SIZE) local_thresholds[i] = thresholds[i];
  for (uint i = local_id(); i < trie_words; i += GROUP_SIZE) local_trie[i] = trie[i];
#else
  LOCAL uint* counters = memory;
#endif
  Plan values;
#if EDGES_LOCAL
  values.thresholds = local_thresholds;
  values.trie = local_trie;
#else
  values.thresholds = thresholds;
  values.trie = trie;
#endif
  values.threshold_count = threshold_count;
  values.root = root;
  values.width = width;
  values.nan_slot = slots - 1;
  values.first = first;
  values.span = span;
  values.flip = flip;
  values.low = low;
  values.scale = scale;
  values.top = top;
  values.tolerance = tolerance;
  const Plan* plan = &values;
#if COUNTERS != 2
  for (uint i = local_id(); i < COUNTER_WORDS; i += GROUP_SIZE) counters[i] = 0;
#endif
  for (ulong i = global_id(); i < spare_slots; i += global_size()) spare[i] = 0;
  barrier_local();

  ulong vectors = count / PER_VECTOR;
  ulong tiles = vectors / (GROUP_SIZE * LOADS);
#if COUNTERS == 1
  // A barrier a tile, at which nobody should have to wait for memory: the next tile is on its way meanwhile.
  uint4 next[LOADS];
  _Pragma("unroll") for (uint k = 0; k < LOADS; ++k) {
    ulong i = ((ulong)group_id() * LOADS + k) * GROUP_SIZE + local_id();
    next[k] = load_once(&data[i < vectors ? i : 0]);
  }
  for (ulong tile = group_id(); tile < tiles; tile += group_count()) {
    uint4 loaded[LOADS];
    _Pragma("unroll") for (uint k = 0; k < LOADS; ++k) loaded[k] = next[k];
    _Pragma("unroll") for (uint k = 0; k < LOADS; ++k) {
      ulong i = ((tile + group_count()) * LOADS + k) * GROUP_SIZE + local_id();
      next[k] = load_once(&data[i < vectors ? i : 0]);
    }
    _Pragma("unroll") for (uint k = 0; k < LOADS; ++k) add_vector(plan, counters, counts, loaded[k], 0);
    barrier_local();
  }
#else
  for (ulong tile = group_id(); tile < tiles; tile += group_count()) {
    ulong index = tile * (GROUP_SIZE * LOADS) + local_id();
    uint4 loaded[LOADS];
    _Pragma("unroll") for (uint k = 0; k < LOADS; ++k) loaded[k] = load_once(&data[index + k * GROUP_SIZE]);
    _Pragma("unroll") for (uint k = 0; k < LOADS; ++k) add_vector(plan, counters, counts, loaded[k], index + k * GROUP_SIZE);
  }
#endif
  for (ulong i = tiles * (GROUP_SIZE * LOADS) + global_id(); i < vectors; i += global_size()) {
    add_vector(plan, counters, counts, data[i], i);
  }
  barrier_local();
  ulong last = vectors * PER_VECTOR + global_id();
  if (last < count) {
    uint channel = ELEMENT == 0 ? (uint)(last % CHANNELS) * 256 : 0;
    add(counters, counts, channel + SLOT(((GLOBAL const Sample*)data)[last]), 1);
  }
  barrier_local();

#if COUNTERS == 0
  for (uint slot = local_id(); slot < slots; slot += GROUP_SIZE) {
    uint sum = 0;
    for (uint copy = 0; copy < COPIES; ++copy) sum += counters[(slot << COPY_BITS) + ((local_id() + copy) & (COPIES - 1))];
    if (sum != 0) atomic_add_global32(&counts[slot], sum);
  }
#elif COUNTERS == 1
  for (uint slot = local_id(); slot < slots; slot += GROUP_SIZE) {
    uint number = counters[slot >> 1] >> ((slot & 1) * 16) & 65535;
    if (number != 0) atomic_add_global32(&counts[slot], number);
  }
#endif
}

KERNEL void histogram_clear(GLOBAL uint* counts, uint slots) {
  for (ulong i = global_id(); i < slots; i += global_size()) counts[i] = 0;
}
