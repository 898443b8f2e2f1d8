// Scans in one launch, which reads elements once and writes results once. What lies before a tile is found by decoupled look-back (D. Merrill, M. Garland,
// Single-pass parallel prefix scan with decoupled look-back, NVIDIA, 2016): a tile publishes the aggregate of its elements, then looks at the tiles before it,
// the nearest first, until it meets one that has published the inclusive prefix, of all elements up to its end. States are exact, so that it does not matter for a
// result at which tile that is.
//
// A group draws the number of its tile: those of the tiles before it have been drawn by groups that run, so that it never waits for one that has
// not begun. Each word of a state holds 32 bits of it, and the launch's number: whoever reads a word knows whether it has been written, and needs no
// fence, and nothing has to be cleared between launches. After group.h.
//
// Defined by the host, beside what group.h names: RESIDENT, the groups of a compute unit for which registers should do.

#define STATE_WORDS (2 * PREFIX_WORDS)
#define IN_TILE 1  // the aggregate of the tile's elements
#define UP_TO 2    // of all elements up to the tile's end, or since a start in it
#define GIVE_UP 0x80000000u

#if SUBGROUP > 1
#define BALLOT(condition) subgroup_ballot(condition)
#else
#define BALLOT(condition) ((uint)((condition) != 0))
#endif

FN void publish(GLOBAL ulong* to, uint launch, uint which, PREFIX p) {
  const ulong tag = (ulong)(launch * 2 + (which - 1)) << 32;
#pragma unroll
  for (uint i = 0; i < PREFIX_WORDS; ++i) {
    const ulong word = prefix_word(&p, i);
    atomic_store_global64(to + 2 * i, tag | (word & 0xffffffffu));
    atomic_store_global64(to + 2 * i + 1, tag | word >> 32);
  }
}

// Which of both a tile has published; 0 where none, or while one replaces the other.
FN uint published(GLOBAL ulong* from, uint launch, PREFIX* p) {
  ulong words[STATE_WORDS];
#pragma unroll
  for (uint i = 0; i < PREFIX_WORDS; ++i) atomic_load_pair_global64(from + 2 * i, &words[2 * i], &words[2 * i + 1]);
  const uint tag = (uint)(words[0] >> 32);
  uint valid = tag >> 1 == launch;
#pragma unroll
  for (uint i = 1; i < STATE_WORDS; ++i) valid &= (uint)(words[i] >> 32) == tag;
#pragma unroll
  for (uint i = 0; i < PREFIX_WORDS; ++i) prefix_set(p, i, (words[2 * i] & 0xffffffffu) | words[2 * i + 1] << 32);
  return valid != 0 ? 1 + (tag & 1) : 0;
}

// The aggregate of all tiles before this one, since the last start in them. By one sub-group, a tile each lane.
FN PREFIX look_back(GLOBAL ulong* states, uint launch, uint tile) {
  const uint lane = local_id() % SUBGROUP;
  PREFIX before = prefix_zero();
  for (uint end = tile; end > 0;) {
    const uint there = lane < end;
    GLOBAL ulong* const from = states + (ulong)(there ? end - 1 - lane : 0) * STATE_WORDS;
    PREFIX p = prefix_zero();
    uint which = 0, last = 0, wanted = 0;
    do {
      which = published(from, launch, &p);
      if (!there) which = UP_TO;
      last = BALLOT(which == UP_TO);
      wanted = last != 0 ? last ^ (last - 1) : (uint)(((ulong)1 << SUBGROUP) - 1);  // up to the nearest that ends it
    } while ((BALLOT(which != 0) & wanted) != wanted);
    if (!there || (wanted >> lane & 1) == 0) p = prefix_zero();
#if SUBGROUP > 1
    for (uint distance = 1; distance < SUBGROUP; distance *= 2) {
      const uint further = lane + distance;
      const PREFIX other = prefix_of_lane(&p, further % SUBGROUP);
      if (further < SUBGROUP) p = prefix_merge(other, p);
    }
    p = prefix_of_lane(&p, 0);
#endif
    before = prefix_merge(p, before);
    end = last != 0 || end < SUBGROUP ? 0 : end - SUBGROUP;
  }
  return before;
}

// By the first sub-group: shared[i], the aggregate of part i, with flags[i], becomes that of all parts before it.
FN void before_parts(LOCAL ulong* shared, LOCAL const uint* flags, GLOBAL ulong* states, uint launch, uint tile) {
  GLOBAL ulong* const own = states + (ulong)tile * STATE_WORDS;
#if SUBGROUP > 1
  const uint lane = local_id() % SUBGROUP, at = lane % PARTS;
  PREFIX p = shared_prefix(shared + at);
#if SEGMENTS
  uint flag = flags[at];
#else
  uint flag = 0;
#endif
  p = subgroup_prefix(p, &flag, PARTS);
  const PREFIX all = prefix_of_lane(&p, PARTS - 1);
  const uint flag_all = FLAG_OF_LANE(flag, PARTS - 1);
  p = subgroup_before(p, &flag);
  const uint publishes = lane == 0;
#else
  PREFIX all = prefix_zero();
  uint flag_all = 0;
  for (uint i = 0; i < PARTS; ++i) {
#if SEGMENTS
    uint flag = flags[i];
#else
    uint flag = 0;
#endif
    all = prefix_behind(all, flag_all, shared_prefix(shared + i), &flag);
    flag_all = flag;
  }
  const uint publishes = 1;
#endif
  const uint ends = (tile == 0) | (flag_all != 0);
  if (publishes) publish(own, launch, ends ? UP_TO : IN_TILE, all);
  const PREFIX before = prefix_settled(look_back(states, launch, tile));
  if (publishes && !ends) publish(own, launch, UP_TO, prefix_settled(prefix_merge(before, all)));
#if SUBGROUP > 1
  p = prefix_behind(before, 0, p, &flag);
  if (lane < PARTS) share_prefix(shared + lane, p);
#else
  PREFIX next = before;
  uint flag_next = 0;
  for (uint i = 0; i < PARTS; ++i) {
    const PREFIX p = shared_prefix(shared + i);
    share_prefix(shared + i, next);
#if SEGMENTS
    uint flag = flags[i];
#else
    uint flag = 0;
#endif
    next = prefix_behind(next, flag_next, p, &flag);
    flag_next = flag;
  }
#endif
}

// A group each tile. `drawn` counts the tiles that launches have drawn, `drawn_before` of them before this one; its highest bit is set where a result is
// not known, and results then are none: `gave_up` becomes the launch's number. `states` has STATE_WORDS words for each tile; `launch` is a number that
// no launch before had on them. `shift` is 1 for exclusive prefixes.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void scan_once(GLOBAL const ELEMENT* from, ulong offset, ulong count, GLOBAL ulong* states, uint launch, GLOBAL uint* drawn, uint drawn_before,
               GLOBAL RESULT* to, ulong to_offset, ulong shift, GLOBAL const uint* starts, GLOBAL uint* gave_up) {
  LOCAL_VAR ulong shared[PARTS * PREFIX_WORDS];
  LOCAL_VAR uint flags[FLAGS];
  LOCAL_VAR uint ticket[1];
  LOCAL_VAR uint4 stage[STAGE_VECTORS];
  const uint id = local_id(), part = id / SUBGROUP;
  if (id == 0) ticket[0] = atomic_add_global32(drawn, 1);
  barrier_local();
  const uint tile = (ticket[0] & ~GIVE_UP) - drawn_before;
  if ((ticket[0] & GIVE_UP) != 0) {
    if (id == 0) publish(states + (ulong)tile * STATE_WORDS, launch, UP_TO, prefix_zero());
    return;
  }
  const ulong first = (ulong)tile * TILE, left = count - first;
  NUMBER x[ITEMS];
  load_tile(from + offset + first, left, stage);
  staged_items(stage, x);
  const uint bits = starts_at(starts, first + id * ITEMS, ITEMS);
  uint flag = bits != 0;
  PREFIX p = prefix_zero(), all = p;
#if TEAM_SUMS
  const SPAN span = team_span(span_of(x));
  const uint plain = team_adds_up(span);
  if (plain) p.s = team_sums(x, &all.s);
#else
  const uint plain = 0;
#endif
  if (!plain) {
    p = items_prefix(x, bits);
#if SUBGROUP > 1
    p = subgroup_prefix(p, &flag, SUBGROUP);
    all = p;
#endif
  }
#if SUBGROUP > 1
  if (id % SUBGROUP == SUBGROUP - 1) {
    share_prefix(shared + part, all);
#if SEGMENTS
    flags[part] = flag;
#endif
  }
  if (!plain) p = subgroup_before(p, &flag);
#else
  share_prefix(shared + part, p);
#if SEGMENTS
  flags[part] = flag;
#endif
  p = prefix_zero();
  flag = 0;
#endif
  barrier_local();
  if (id < SUBGROUP) before_parts(shared, flags, states, launch, tile);
  barrier_local();
  const PREFIX before = shared_prefix(shared + part);
  // Elements are read again: in registers they would have been in the way of what came between.
  staged_items(stage, x);
  team_sync();
  uint unknown = 0;
#if TEAM_SUMS
  if (!(before.e - before.e == 0)) {  // no result of the sub-group is known
    unknown = ~0u;
  } else if (!plain || !finish_team_sums(before, p.s, x, span, stage))
#endif
  {
    p = prefix_behind(before, 0, p, &flag);
    unknown = finish_items(p, x, bits, stage);
  }
  store_tile(stage, to + to_offset + shift, first, left - shift, shift, starts);
  if ((unknown & wanted_items(bits, first, left - shift, shift, starts)) != 0) {
    atomic_or_global32(drawn, GIVE_UP);
    store_settled_global32(gave_up, launch);  // all store the same
  }
}
