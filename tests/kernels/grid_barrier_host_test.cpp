// grid_barrier.h on the host: work-items are threads, and its atomics are those of C++, with the same memory orders. So the protocol is
// tested without a device, and ThreadSanitizer checks that writes before a barrier are ordered before reads after it.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace samesum {
namespace {

struct Item {
  unsigned item, items, group, groups;
  std::barrier<>* meeting;  // of the group
};
thread_local Item current;
std::chrono::milliseconds poll_pause{0};  // before a relaxed load: gives the other groups time to join

// OpenCL C, as far as the header uses it.
using ulong = std::uint64_t;
using std::atomic_uint;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
enum Scope { memory_scope_device };
unsigned atomic_load_explicit(volatile atomic_uint* p, std::memory_order order, Scope) {
  std::this_thread::yield();  // there may be more work-items than processors
  if (order == memory_order_relaxed && poll_pause.count() != 0) std::this_thread::sleep_for(poll_pause);
  return p->load(order);
}
void atomic_store_explicit(volatile atomic_uint* p, unsigned value, std::memory_order order, Scope) { p->store(value, order); }
unsigned atomic_fetch_add_explicit(volatile atomic_uint* p, unsigned value, std::memory_order order, Scope) {
  std::this_thread::yield();  // there may be more work-items than processors
  return p->fetch_add(value, order);
}
std::size_t get_local_id(unsigned) { return current.item; }
std::size_t get_local_size(unsigned) { return current.items; }
std::size_t get_group_id(unsigned) { return current.group; }
std::size_t get_num_groups(unsigned) { return current.groups; }
enum Fence : unsigned { CLK_LOCAL_MEM_FENCE = 1, CLK_GLOBAL_MEM_FENCE = 2 };
void barrier(unsigned) { current.meeting->arrive_and_wait(); }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define __OPENCL_VERSION__ 300
#define __OPENCL_C_VERSION__ 300
#define __opencl_c_atomic_order_acq_rel 1
#define __opencl_c_atomic_scope_device 1
#define __kernel
#define __global
#define __local
#define GRID_BARRIER_MANY 5  // two counters from this number of groups on
#include <samesum/device/grid_barrier.h>
#pragma GCC diagnostic pop

using State = std::vector<std::uint32_t>;

// Runs `kernel(state, scratch)` by `groups` groups of `items` work-items; a group whose index is in `late` starts after that many
// milliseconds, or never if that is negative.
void run(State& state, unsigned groups, unsigned items, const std::function<void(unsigned*, unsigned*)>& kernel,
         const std::function<int(unsigned)>& late = {}) {
  std::vector<std::unique_ptr<std::barrier<>>> meetings;
  std::vector<State> scratch(groups, State(GRID_BARRIER_LOCAL_WORDS));
  for (unsigned group = 0; group < groups; ++group) meetings.push_back(std::make_unique<std::barrier<>>(items));
  std::vector<std::thread> threads;
  for (unsigned group = 0; group < groups; ++group) {
    const int delay = late ? late(group) : 0;
    for (unsigned item = 0; delay >= 0 && item < items; ++item) {
      threads.emplace_back([&, group, item, delay] {
        std::this_thread::sleep_for(std::chrono::milliseconds(delay));
        current = {item, items, group, groups, meetings[group].get()};
        kernel(state.data(), scratch[group].data());
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
}

// Each group writes its word, meets the others at the barrier, and reads their words, with plain loads and stores. The outcome: how many
// groups took part, and how many words were wrong.
struct Outcome {
  std::atomic<unsigned> parties{0}, wrong{0}, gave_up{0};
};
void meet_often(unsigned* state, unsigned* scratch, std::vector<unsigned>& words, unsigned rounds, Outcome& outcome) {
  GridBarrier grid;
  if (!grid_barrier_begin(&grid, state, scratch)) return;
  if (current.item == 0) ++outcome.parties;
  for (unsigned round = 1; round <= rounds; ++round) {
    if (current.item == 0) words[grid.group] = round;
    if (!grid_barrier(&grid)) {
      ++outcome.gave_up;
      return;
    }
    for (unsigned group = 0; group < grid.groups; ++group) outcome.wrong += words[group] != round;
    if (!grid_barrier(&grid)) {
      ++outcome.gave_up;
      return;
    }
  }
}

TEST(GridBarrierOnHost, OrdersWhatGroupsWrite) {
  for (const unsigned groups : {1u, 2u, 3u, 4u, 5u, 6u, 9u}) {
    for (const unsigned items : {1u, 2u, 3u}) {
      SCOPED_TRACE(testing::Message() << groups << " groups of " << items);
      State state(GRID_BARRIER_STATE_WORDS);
      state[GRID_BARRIER_POLL_LIMIT] = GRID_BARRIER_NO_LIMIT;
      for (int launch = 0; launch < 2; ++launch) {  // on the counters of the previous launch
        std::vector<unsigned> words(groups);
        Outcome outcome;
        run(state, groups, items, [&](unsigned* s, unsigned* scratch) { meet_often(s, scratch, words, 30, outcome); });
        EXPECT_EQ(outcome.parties, groups);
        EXPECT_EQ(outcome.wrong, 0u);
        EXPECT_EQ(outcome.gave_up, 0u);
        EXPECT_EQ(state[GRID_BARRIER_GROUPS], groups);
        EXPECT_EQ(state[GRID_BARRIER_FAILED], 0u);
        EXPECT_EQ(words, std::vector<unsigned>(groups, 30));
      }
    }
  }
}

// All groups join while joining is open: every one is found, and takes part.
TEST(GridBarrierOnHost, FindsTheGroupsThatAreThere) {
  for (const unsigned groups : {1u, 2u, 5u, 8u}) {
    State state(GRID_BARRIER_STATE_WORDS);
    state[GRID_BARRIER_POLL_LIMIT] = 1000;
    state[GRID_BARRIER_DISCOVER] = 1;
    state[GRID_BARRIER_WANTED] = groups;
    std::vector<unsigned> words(groups);
    Outcome outcome;
    poll_pause = std::chrono::milliseconds(20);
    run(state, groups, 2, [&](unsigned* s, unsigned* scratch) { meet_often(s, scratch, words, 10, outcome); });
    poll_pause = {};
    EXPECT_EQ(state[GRID_BARRIER_GROUPS], groups);
    EXPECT_EQ(outcome.parties, groups);
    EXPECT_EQ(outcome.wrong, 0u);
    EXPECT_EQ(outcome.gave_up, 0u);
    EXPECT_EQ(state[GRID_BARRIER_FAILED], 0u);
  }
}

// Three of five groups join: the first one closes joining after a while, and three suffice where three are required.
TEST(GridBarrierOnHost, FindsExactlyAsManyAsAreWanted) {
  for (const unsigned wanted : {3u, 4u}) {
    State state(GRID_BARRIER_STATE_WORDS);
    state[GRID_BARRIER_DISCOVER] = 1;
    state[GRID_BARRIER_WANTED] = wanted;
    state[GRID_BARRIER_POLL_LIMIT] = GRID_BARRIER_NO_LIMIT;
    std::vector<unsigned> found(5, 99), places(5, 99);
    run(
        state, 5, 1,
        [&](unsigned* s, unsigned*) {
          unsigned groups = 77;
          places[current.group] = grid_discover(s, &groups);
          found[current.group] = groups;
        },
        [](unsigned group) { return group < 3 ? 0 : -1; });
    const bool enough = state[GRID_BARRIER_GROUPS] >= wanted;
    EXPECT_EQ(state[GRID_BARRIER_FAILED], enough ? 0 : GRID_BARRIER_TOO_FEW) << wanted << " are wanted";
    unsigned inside = 0;
    for (unsigned group = 0; group < 3; ++group) {
      EXPECT_TRUE(found[group] == 0 || found[group] == state[GRID_BARRIER_GROUPS]) << found[group];
      inside += found[group] != 0;
    }
    EXPECT_EQ(inside, enough ? state[GRID_BARRIER_GROUPS] : 0);
    EXPECT_LE(state[GRID_BARRIER_GROUPS], 3u);
  }
}

// Sequential groups: the first one closes joining before the others start, and they return.
TEST(GridBarrierOnHost, LeavesOutWhoComesLate) {
  State state(GRID_BARRIER_STATE_WORDS);
  state[GRID_BARRIER_DISCOVER] = 1;
  state[GRID_BARRIER_WANTED] = 1;
  std::vector<unsigned> found(3, 99);
  for (unsigned group = 0; group < 3; ++group) {
    run(
        state, 3, 1, [&](unsigned* s, unsigned*) { grid_discover(s, &found[current.group]); },
        [&](unsigned other) { return other == group ? 0 : -1; });
  }
  EXPECT_EQ(found, (std::vector<unsigned>{1, 0, 0}));
  EXPECT_EQ(state[GRID_BARRIER_GROUPS], 1u);
  EXPECT_EQ(state[GRID_BARRIER_FAILED], 0u) << "exactly as many as are wanted";
  state.assign(GRID_BARRIER_STATE_WORDS, 0);
  state[GRID_BARRIER_DISCOVER] = 1;
  state[GRID_BARRIER_WANTED] = 2;
  run(
      state, 3, 1, [&](unsigned* s, unsigned*) { grid_discover(s, &found[0]); }, [](unsigned other) { return other == 0 ? 0 : -1; });
  EXPECT_EQ(found[0], 0u);
  EXPECT_EQ(state[GRID_BARRIER_FAILED], GRID_BARRIER_TOO_FEW);
}

TEST(GridBarrierOnHost, GivesUpWhereAGroupDoesNotCome) {
  for (const unsigned groups : {3u, 7u}) {
    State state(GRID_BARRIER_STATE_WORDS);
    state[GRID_BARRIER_POLL_LIMIT] = 3;
    std::vector<unsigned> words(groups);
    Outcome outcome;
    run(
        state, groups, 2, [&](unsigned* s, unsigned* scratch) { meet_often(s, scratch, words, 2, outcome); },
        [](unsigned group) { return group == 1 ? -1 : 0; });
    EXPECT_GE(outcome.parties, 1u);  // a group that begins after the others gave up has no part in it
    EXPECT_LE(outcome.parties, groups - 1);
    EXPECT_EQ(outcome.gave_up, 2 * outcome.parties) << "every work-item of every group alike";
    EXPECT_EQ(state[GRID_BARRIER_FAILED], GRID_BARRIER_TIMEOUT);
    EXPECT_EQ(state[GRID_BARRIER_NUMBER], 1u);
    EXPECT_LE(state[GRID_BARRIER_ARRIVED], groups - 1);
  }
}

}  // namespace
}  // namespace samesum
