// The slots of samples (plan.hpp). count.cl lists the defines that the host sets.

#if SAMPLE_TYPE == 3 || SAMPLE_TYPE == 5
typedef ulong Key;
#define PER_VECTOR 2
#else
typedef uint Key;
#define PER_VECTOR (SAMPLE_TYPE == 0 ? 16 : SAMPLE_TYPE == 1 ? 8 : 4)
#endif
#if SAMPLE_TYPE == 5 && SAMESUM_FP64
typedef double Real;
#define ROUNDER 6755399441055744.0  // 1.5 * 2^52: adding it rounds to an integer, which the lowest bits then hold
#define WHOLE(shifted) (uint) as_ulong(shifted)
#define SIGN(x) (uint)(as_ulong(x) >> 63)
#else
typedef float Real;
#define ROUNDER 12582912.0f  // 1.5 * 2^23
#define WHOLE(shifted) (as_uint(shifted) - 0x4b400000u)
#define SIGN(x) (as_uint(x) >> 31)
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
  uint threshold_count, nan_slot, upper, shift;
#ifdef CHANNELS
  uint place[CHANNELS], number[CHANNELS];  // of set_channels()
#endif
  uint one;  // 1, passed by the host so that compilers keep it in a register
  uint lane;  // of HOT: byte offset of this work-item's words of slot 0
  uint alone, own;  // of HOT: the single slot with additional words, and this work-item's word
  Key first, span, flip;
  Real low, scale, top, tolerance, last_tolerance;
  Real high;  // the greatest sample in the last bin
} Plan;

#if GUESS != 0
#if SAMPLE_TYPE == 2 || SAMPLE_TYPE == 3
FN int is_nan(Key bits) { return 0; }
FN Key key_of(const Plan* plan, Key bits) { return bits ^ plan->flip; }
#elif SAMPLE_TYPE == 4
FN int is_nan(Key bits) { return (bits & 0x7fffffffu) > 0x7f800000u; }
FN Key key_of(const Plan* plan, Key bits) { return bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u); }
#else
FN int is_nan(Key bits) { return (bits << 1) > 0xffe0000000000000ul; }
FN Key key_of(const Plan* plan, Key bits) { return bits ^ ((bits >> 63) != 0 ? ~(Key)0 : (Key)1 << 63); }
#endif

#if GUESS == 1 || GUESS == 3
FN Real real_of(const Plan* plan, Key bits) {
#if SAMPLE_TYPE == 4
  return (as_float(bits) - plan->low) * plan->scale;
#elif SAMPLE_TYPE == 5
  return (as_double(bits) - plan->low) * plan->scale;
#else
  Key key = bits ^ plan->flip;
  return (key < plan->first ? -1.0f : (float)(key - plan->first)) * plan->scale;
#endif
}
#endif

// Whether the sample reaches (is not below) this threshold.
FN int reaches(const Plan* plan, Key bits, uint threshold) {
#if GUESS == 3
  return as_float(bits) >= as_float(plan->thresholds[threshold]);
#else
  return key_of(plan, bits) >= plan->thresholds[threshold];
#endif
}

#if GUESS == 4
// floor((x - low) * scale), plus ROUNDER.
FN float floor_of(const Plan* plan, float x) { return fma_down_f32(add_down_f32(x, -plan->low), plan->scale, ROUNDER); }
// The slot of any sample, given that: outside of all bins, on the last edge, or NaN.
FN uint slot_bounded(const Plan* plan, Key bits, float floored) {
  const float x = as_float(bits);
  uint slot = WHOLE(fmin(fmax(floored, ROUNDER - 1), plan->top)) + 1;
  slot = x == plan->high ? plan->threshold_count - 1 : slot;
  return x != x ? plan->nan_slot : slot;
}
FN uint slot_of(const Plan* plan, Key bits) { return slot_bounded(plan, bits, floor_of(plan, as_float(bits))); }
#elif GUESS == 1
typedef struct {
  uint edge;
  Real off;   // distance from that edge
  Real last;  // distance from the last edge
} Place;
FN Place place_of(const Plan* plan, Key bits) {
  Real real = fmin(fmax(real_of(plan, bits), (Real)-0.5f), plan->top);
  Real shifted = real + ROUNDER;
  Place place;
  place.edge = WHOLE(shifted);
  place.off = real - (shifted - ROUNDER);
  place.last = real - (plan->top - (Real)0.5f);
  return place;
}
// `off` is -0.0 only where real() rounded to that for a sample below edge 0: such a sample is within the tolerance, and compared.
FN uint guess_of(Place place) { return place.edge + 1 - SIGN(place.off); }
// The exact slot, by comparison with the nearest edge.
FN uint slot_of(const Plan* plan, Key bits) {
  uint edge = min_u32(place_of(plan, bits).edge, plan->threshold_count - 1);
  uint slot = edge + (reaches(plan, bits, edge) ? 1u : 0u);
  return is_nan(bits) ? plan->nan_slot : slot;
}
#else
// The word at which the search begins, and the remaining offset.
FN Key offset_of(const Plan* plan, Key bits) {
  Key key = key_of(plan, bits);
  Key offset = key < plan->first ? 0 : key - plan->first;
  return offset < plan->span ? offset : plan->span;
}
FN uint root_of(const Plan* plan, Key bits) {
#if GUESS == 2
  return plan->trie[(uint)(offset_of(plan, bits) >> plan->shift)];
#else
  return plan->trie[WHOLE(fmin(fmax(real_of(plan, bits), 0.0f), plan->top) + ROUNDER)];
#endif
}
FN uint below(const Plan* plan, Key bits, uint node) {
  return plan->trie[((uint)(offset_of(plan, bits) >> (node >> 25 & 63)) - node) & 0x1ffffff];
}
// The slot of a leaf's samples; nearly all leaves have at most one threshold.
FN uint slot_in(const Plan* plan, Key bits, uint leaf) {
  uint low = leaf & 0x1ffffff, count = leaf >> 25;
  if (count > 2) {
    uint high = count == 63 ? plan->threshold_count : low + count;
    while (low < high) {
      uint middle = (low + high) >> 1;
      int reached = reaches(plan, bits, middle);
      low = reached ? middle + 1 : low;
      high = reached ? high : middle;
    }
    return low;
  }
  uint slot = low;
  if (count > 0) slot += reaches(plan, bits, low) ? 1 : 0;
  if (count > 1) slot += reaches(plan, bits, low + 1) ? 1 : 0;
  return slot;
}
FN uint slot_of(const Plan* plan, Key bits) {
  if (is_nan(bits)) return plan->nan_slot;
  uint word = root_of(plan, bits);
  while (word >> 31 != 0) word = below(plan, bits, word);
  return slot_in(plan, bits, word);
}
#endif
#endif

#if GUESS == 0
#define SLOT(bits) (uint)(bits)
#else
#define SLOT(bits) slot_of(plan, bits)
#endif

#if SAMPLE_TYPE != 0
// The samples of a load and their slots.
#if SAMPLE_TYPE == 1
FN void samples_of(uint4 vector, uint* samples) {
#define SET_SAMPLES(word, i) samples[i] = (word)&65535, samples[i + 1] = (word) >> 16
  SET_SAMPLES(vector.x, 0);
  SET_SAMPLES(vector.y, 2);
  SET_SAMPLES(vector.z, 4);
  SET_SAMPLES(vector.w, 6);
}
#elif PER_VECTOR == 4
FN void samples_of(uint4 vector, uint* samples) {
  samples[0] = vector.x;
  samples[1] = vector.y;
  samples[2] = vector.z;
  samples[3] = vector.w;
}
#else
FN void samples_of(uint4 vector, ulong* samples) {
  samples[0] = (ulong)vector.y << 32 | vector.x;
  samples[1] = (ulong)vector.w << 32 | vector.z;
}
#endif

FN void slots_of(const Plan* plan, uint4 vector, uint* slots) {
#if GUESS == 0
  samples_of(vector, slots);
#else
  Key bits[PER_VECTOR];
  samples_of(vector, bits);
#if GUESS == 4
  float floors[PER_VECTOR];
#if COUNTERS == 1
  // Samples outside of all bins are as cheap as others: only NaN and the last edge are asked for, once for the load. That takes no more instructions
  // than what is below.
  int special = 0;
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) {
    const float x = as_float(bits[k]);
    floors[k] = floor_of(plan, x);
    slots[k] = min_u32(WHOLE(fmax(floors[k], ROUNDER - 1)) + 1, plan->threshold_count);
    special |= !(x < plan->high || x > plan->high);
  }
  if (special) {
#else
  // Whether any sample is outside of all bins is asked once for the load, of the bits: those of floats that are not negative are in the order of
  // values. For samples inside this takes one instruction less.
  uint greatest = 0;
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) {
    floors[k] = floor_of(plan, as_float(bits[k]));
    slots[k] = WHOLE(floors[k]) + 1;
    greatest = max_u32(greatest, slots[k] - 1);
  }
  if (greatest >= plan->threshold_count - 1) {
#endif
    _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) slots[k] = slot_bounded(plan, bits[k], floors[k]);
  }
#else
  // The rare cases are tested once for the load: is any sample near an edge, or NaN?
#if SAMPLE_TYPE == 4
  float nans = 0;
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) nans += as_float(bits[k]);
  int unsure = nans != nans;
#elif SAMPLE_TYPE == 5
  int unsure = is_nan(bits[0]) || is_nan(bits[1]);
#else
  int unsure = 0;
#endif
#if GUESS == 1
  Real nearest = 1, last = 1;
  _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) {
    Place place = place_of(plan, bits[k]);
    slots[k] = guess_of(place);
    nearest = fmin(nearest, fabs(place.off));
    last = fmin(last, fabs(place.last));
  }
  unsure |= nearest < plan->tolerance || last < plan->last_tolerance;
#else
  if (!unsure) {  // excludes NaNs: their cell by value may differ from that by key
    uint words[PER_VECTOR];
    _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) words[k] = root_of(plan, bits[k]);
    for (;;) {
      uint nodes = 0;
      _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) nodes |= words[k];
      if (nodes >> 31 == 0) break;
      _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) words[k] = words[k] >> 31 != 0 ? below(plan, bits[k], words[k]) : words[k];
    }
    _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) slots[k] = slot_in(plan, bits[k], words[k]);
  }
#endif
  if (unsure) {
    _Pragma("unroll") for (uint k = 0; k < PER_VECTOR; ++k) slots[k] = slot_of(plan, bits[k]);
  }
#endif
#endif
}
#endif
