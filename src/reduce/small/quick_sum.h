// The sum of so little that it is a tile of one group, or of each group of a cluster, as integers, for sum_window.cl: with so little to do,
// adding up float64 and rounding that would be most of the time.
//
// With a power of two above all elements, and one some bits lower, each element is cut in two multiples of these powers' last bits, which are the
// differences of the bits of two sums (limbs.h does the same to sums). Nothing is lost where no element is too small for that, or too large. The
// power is that of the launch before; where it does not fit, sum_window.cl begins anew, and leaves another.
//
// Stands after quick_float32.h, quick_float64.h or quick_products64.h, which add up.
#define QUICK_STATE 2  // the word of the state (fixed_sum.h) that has the power's exponent field, 0 where there is none

#if CLUSTER > 1
FN void open_quickly(LOCAL ulong* mailbox) {
  if (group_id() == RECEIVER && local_id() == 0) mailbox_open(mailbox, 16 * QUICK_STORAGE);
}
FN void load_quickly(REAL* v, ARRAY a, ARRAY b, uint count) {
  load_tile(v, a, b, group_id() * TILE, count);
  cluster_arrive();  // here, so that all loads are on their way before the first is looked at
}
#else
#define open_quickly(mailbox)
// The tile, with -0.0 behind its end. The first loads wait for no more than they must.
FN void load_quickly(REAL* v, ARRAY a, ARRAY b, uint count) {
  const uint lane = known_here(local_id());  // before the branch
  GLOBAL const uint4* loads = (GLOBAL const uint4*)a.first + lane;
  uint4 x[LOADS];
  if (!RARELY(count != TILE)) {
#pragma unroll
    for (int i = 0; i < LOADS; ++i) x[i] = loads[i * GROUP_SIZE];
  } else {
    const uint whole = count / ELEMENTS_PER_LOAD, after = count % ELEMENTS_PER_LOAD, words = after * (4 / ELEMENTS_PER_LOAD);
    GLOBAL const uint* last = (GLOBAL const uint*)((GLOBAL const ELEMENT*)a.first + (count - after));
    uint4 rest = make_uint4(ABSENT);
    if (words > 0) rest.x = last[0];
    if (words > 1) rest.y = last[1];
    if (words > 2) rest.z = last[2];
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
      const uint at = lane + i * GROUP_SIZE;
      x[i] = at == whole ? rest : make_uint4(ABSENT);
      if (at < whole) x[i] = loads[i * GROUP_SIZE];
    }
  }
#pragma unroll
  for (int i = 0; i < REALS; ++i) v[i] = real_of(element_of(x[i / ELEMENTS_PER_LOAD], i % ELEMENTS_PER_LOAD), 0);
}
#endif

// The power for the next launch, by this one's terms: `greatest` is where sub-groups leave what they have.
FN void note_greatest(LOCAL uint* greatest, REAL* v, ARRAY a, ARRAY b, uint count) {
  uint most = 0;
#if CLUSTER > 1
  for (uint tile = 0; tile < CLUSTER; ++tile) {
    load_tile(v, a, b, tile * TILE, count);
#else
  {
#endif
#pragma unroll
    for (int i = 0; i < REALS; ++i) most = max_u32(most, UPPER_HALF(QUICK_TERM(v[i])) & 0x7fffffffu);
  }
  greatest[local_id() / SUBGROUP] = subgroup_max_u32(most);
}
FN void leave_power(GLOBAL ulong* state, LOCAL const uint* greatest) {
  uint most = 0;
  for (int i = 0; i < SUBGROUPS; ++i) most = max_u32(most, greatest[i]);
  const uint field = FIELD_OF(most) + QUICK_ABOVE;
  state[QUICK_STATE] = most == 0 ? QUICK_LEAST : field < QUICK_LEAST || field > QUICK_MOST ? 0 : field;
}
