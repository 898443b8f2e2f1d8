// How what is kept of elements passes between the work-items of a group, for scan.cl and once.cl, after prefix.h.
//
// Defined by the host, beside what prefix.h names: SEGMENTS, whether scans begin anew within the array; GROUP_SIZE, a power of two.

// The aggregates of a group's parts pass through local memory: of its sub-groups or, where there are none, of each work-item.
#if SUBGROUP > 1
#define PARTS (GROUP_SIZE / SUBGROUP)
#else
#define PARTS GROUP_SIZE
#endif

FN void share_prefix(LOCAL ulong* to, PREFIX p) {
#pragma unroll
  for (uint i = 0; i < PREFIX_WORDS; ++i) to[i * PARTS] = prefix_word(&p, i);
}
FN PREFIX shared_prefix(LOCAL const ulong* from) {
  PREFIX p = prefix_zero();
#pragma unroll
  for (uint i = 0; i < PREFIX_WORDS; ++i) prefix_set(&p, i, from[i * PARTS]);
  return p;
}

// Where scans begin anew is a bit for each element. Parts are merged by (flag, prefix) pairs: one whose flag is set has a start, and forgets what is
// before that (G. Blelloch, Prefix sums and their applications, 1990).

// Bits for the `size` elements from `first` on: `size` divides 32 and `first`.
FN uint starts_at(GLOBAL const uint* starts, ulong first, uint size) {
#if SEGMENTS
  const uint bits = starts[first / 32] >> (uint)(first % 32);
  return size == 32 ? bits : bits & (((uint)1 << size) - 1);
#else
  return 0;
#endif
}

#if SEGMENTS
#define FLAGS GROUP_SIZE
#else
#define FLAGS 1
#endif

// p and what is before it; and of their flags.
FN PREFIX prefix_behind(PREFIX before, uint flag_before, PREFIX p, uint* flag) {
  if (*flag == 0) p = prefix_merge(before, p);
  *flag |= flag_before;
  return p;
}

#if SUBGROUP > 1
FN PREFIX prefix_of_lane(const PREFIX* p, uint lane) {
  PREFIX other = prefix_zero();
#pragma unroll
  for (uint i = 0; i < PREFIX_WORDS; ++i) prefix_set(&other, i, (ulong)subgroup_shuffle64((long)prefix_word(p, i), lane));
  return other;
}
#if SEGMENTS
#define FLAG_OF_LANE(flag, lane) subgroup_shuffle(flag, lane)
#else
#define FLAG_OF_LANE(flag, lane) 0
#endif

// For each of the first `lanes` lanes, a power of two: the aggregate of the lanes up to it.
FN PREFIX subgroup_prefix(PREFIX p, uint* flag, uint lanes) {
  const uint lane = local_id() % SUBGROUP;
  for (uint distance = 1; distance < lanes; distance *= 2) {
    const uint from = lane >= distance ? lane - distance : lane;
    const PREFIX before = prefix_of_lane(&p, from);
    const uint flag_before = FLAG_OF_LANE(*flag, from);
    if (lane >= distance) p = prefix_behind(before, flag_before, p, flag);
  }
  return p;
}

// From that, the aggregate of the lanes before each.
FN PREFIX subgroup_before(PREFIX p, uint* flag) {
  const uint lane = local_id() % SUBGROUP, from = lane != 0 ? lane - 1 : 0;
  p = prefix_of_lane(&p, from);
  *flag = FLAG_OF_LANE(*flag, from);
  if (lane != 0) return p;
  *flag = 0;
  return prefix_zero();
}
#endif
