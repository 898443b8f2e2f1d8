// The ladder's barriers over all groups; METHOD selects one. All of them count up and are never reset, unlike the textbook's
// (docs/barrier.md), and all wait by the functions of grid_barrier.h, with its watchdog.
//
// A user's file (METHOD is OWN) has the function `FN bool synchronize(GridBarrier* grid, GLOBAL uint* words)` alone.
//
// Defined by the host: METHOD, GROUP_SIZE, RESIDENT (groups of it to a compute unit), ONE_EACH (whether every work-item has one element).

#define NONE 0
#define EVERY_ITEM 1
#define GROUP_LEADER 2
#define LEADER_GROUP 3
#define TICKET 4
#define BEST 5
// Faulty, as textbooks have them: expected to fail, and safe, as they give up after a number of polls.
#define RESET_EVERY_ITEM 6
#define RESET_GROUP_LEADER 7
#define PLAIN_FLAG 8
// synchronize() is a user's, in a file before this one.
#define OWN 9

// Counters are at the same addresses as grid_barrier()'s, as their half of the cache matters. `words`: two flags for each group.

#if METHOD == RESET_EVERY_ITEM || METHOD == RESET_GROUP_LEADER || METHOD == PLAIN_FLAG
#define POLLS 4000000u

// Ends the launch like the watchdog of grid_wait().
FN void give_up(const GridBarrier* grid) {
  grid->scratch[0] = 1;
  grid->state[GRID_BARRIER_NUMBER] = grid->number;
  grid_store_release(&grid->state[GRID_BARRIER_FAILED], GRID_BARRIER_TIMEOUT);
}

// Until the counter is exactly `full`: who looks after it was set back waits for ever.
FN void wait_for_exactly(const GridBarrier* grid, GLOBAL uint* counter, uint full) {
  for (uint polls = 1; grid_load_acquire(counter) != full; ++polls) {
    if (polls < POLLS && ((polls & 1023) != 0 || grid_load(&grid->state[GRID_BARRIER_FAILED]) == 0)) continue;
    give_up(grid);
    return;
  }
}
#endif

#if METHOD == OWN
#elif METHOD == NONE
FN bool synchronize(GridBarrier* grid, GLOBAL uint* words) {
  grid_group_barrier();
  return true;
}
#elif METHOD == BEST
FN bool synchronize(GridBarrier* grid, GLOBAL uint* words) { return grid_barrier(grid); }
#else
FN bool synchronize(GridBarrier* grid, GLOBAL uint* words) {
  const uint round = ++grid->number;
  GLOBAL uint* counter = grid_counter(grid, 0);
  grid_group_barrier();
#if METHOD == EVERY_ITEM
  grid_add(counter, 1);
  grid_group_barrier();  // work-items of a group may run sequentially: all must arrive before the first one waits
  grid_wait(grid, counter, round * grid->groups * group_size());
#elif METHOD == GROUP_LEADER
  if (local_id() == 0) {
    grid_add(counter, 1);
    grid_wait(grid, counter, round * grid->groups);
  }
#elif METHOD == TICKET
  if (local_id() == 0 && grid_add(counter, 1) + 1 != round * grid->groups) grid_wait(grid, counter, round * grid->groups);
#elif METHOD == RESET_EVERY_ITEM
  grid_add(counter, 1);
  grid_group_barrier();
  wait_for_exactly(grid, counter, grid->groups * group_size());
  if (grid->group == 0 && local_id() == 0) grid_store_release(counter, 0);  // the fault: others may not have looked yet
#elif METHOD == RESET_GROUP_LEADER
  if (local_id() == 0) {
    grid_add(counter, 1);
    wait_for_exactly(grid, counter, grid->groups);
    if (grid->group == 0) grid_store_release(counter, 0);  // the same fault
  }
#elif METHOD == PLAIN_FLAG
  if (local_id() == 0) {
    grid_add(counter, 1);
    // The fault: without `volatile` or an atomic load a compiler may read the counter once, and look at its register from then on.
    uint polls = 0;
    while (polls < POLLS && *counter < round * grid->groups) ++polls;
    if (polls == POLLS) give_up(grid);
  }
#elif METHOD == LEADER_GROUP
  GLOBAL uint* arrived = words;
  GLOBAL uint* go = arrived + grid->groups;
  if (local_id() == 0) grid_store_release(&arrived[grid->group], round);
  for (uint i = local_id(); i < grid->groups && grid->group == 0; i += group_size()) grid_wait(grid, &arrived[i], round);
  grid_group_barrier();
  if (grid->group == 0) {
    for (uint i = local_id(); i < grid->groups && grid->scratch[0] == 0; i += group_size()) grid_store_release(&go[i], round);
  } else if (local_id() == 0) {
    grid_wait(grid, &go[grid->group], round);
  }
#endif
  grid_group_barrier();
  return grid->scratch[0] == 0;
}
#endif

// `rounds` times x[i] = x[i - 1] + x[i] + x[i + 1] on a ring of n, with two barriers each. `sums` has n elements.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void neighbour_sums(GLOBAL uint* state, GLOBAL uint* words, GLOBAL uint* x, GLOBAL uint* sums, uint n, uint rounds) {
  LOCAL_VAR uint scratch[GRID_BARRIER_LOCAL_WORDS];
  GridBarrier grid;
  if (!grid_barrier_begin(&grid, state, scratch)) return;
  const uint first = grid.group * group_size() + local_id();
#if ONE_EACH
  const uint before = first == 0 ? n - 1 : first - 1;
  const uint after = first == n - 1 ? 0 : first + 1;
  for (uint round = 0; round < rounds; ++round) {
    const uint sum = x[before] + x[first] + x[after];
    if (!synchronize(&grid, words)) return;
    x[first] = sum;
    if (!synchronize(&grid, words)) return;
  }
#else
  const uint step = grid.groups * group_size();
  for (uint round = 0; round < rounds; ++round) {
    for (uint i = first; i < n; i += step) sums[i] = x[i == 0 ? n - 1 : i - 1] + x[i] + x[i == n - 1 ? 0 : i + 1];
    if (!synchronize(&grid, words)) return;
    for (uint i = first; i < n; i += step) x[i] = sums[i];
    if (!synchronize(&grid, words)) return;
  }
#endif
}

// Only barriers.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void barriers(GLOBAL uint* state, GLOBAL uint* words, uint rounds) {
  LOCAL_VAR uint scratch[GRID_BARRIER_LOCAL_WORDS];
  GridBarrier grid;
  if (!grid_barrier_begin(&grid, state, scratch)) return;
  for (uint round = 0; round < rounds; ++round) {
    if (!synchronize(&grid, words)) return;
  }
}

// One round of the neighbour sums, from one array to the other: one launch per step.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void neighbour_step(GLOBAL const uint* x, GLOBAL uint* sums, uint n) {
  const uint i = (uint)global_id();
  if (i < n) sums[i] = x[i == 0 ? n - 1 : i - 1] + x[i] + x[i == n - 1 ? 0 : i + 1];
}
