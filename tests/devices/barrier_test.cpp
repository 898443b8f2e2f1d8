// The grid barrier: memory ordering, wrapping of counters, time-outs, and discovery of groups.
#include "barrier/grid.hpp"
#include "device/device.hpp"
#include "device/kernels/program.hpp"

#include "support/devices.hpp"

#include <samesum/device/grid_barrier.h>
#include <samesum/barrier.hpp>
#include <samesum/bench_barrier.hpp>
#include <samesum/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <mutex>
#include <numeric>
#include <thread>

namespace samesum {
namespace {

// Every work-item writes a word per round, and after the barrier checks those of three others: a neighbour's, one of the next group, one
// far away.
constexpr std::string_view kCheck = R"(
KERNEL FIXED_GROUP(GROUP_SIZE, 1) void check(GLOBAL uint* state, GLOBAL uint* data, GLOBAL uint* stale, uint rounds) {
  LOCAL_VAR uint scratch[GRID_BARRIER_LOCAL_WORDS];
  GridBarrier grid;
  if (!grid_barrier_begin(&grid, state, scratch)) return;
  const uint n = grid.groups * group_size();
  const uint me = grid.group * group_size() + local_id();
  uint wrong = 0;
  for (uint round = 1; round <= rounds; ++round) {
    data[me] = round * 2654435761u + me;
    if (!grid_barrier(&grid)) return;
    const uint near = (me + 1) % n;
    const uint next = (me + group_size()) % n;
    const uint far = (me * 7u + round * 10007u) % n;
    wrong += data[near] != round * 2654435761u + near;
    wrong += data[next] != round * 2654435761u + next;
    wrong += data[far] != round * 2654435761u + far;
    if (!grid_barrier(&grid)) return;
  }
  if (wrong != 0) atomic_add_global32(&stale[0], wrong);
  atomic_add_global32(&stale[1], 1);
}
)";

std::string check_source(std::uint32_t group_size) { return fmt::format("#define GROUP_SIZE {}\n", group_size).append(kCheck); }

// Group `leaver` returns before its barrier number `last`; the others count the results that their work-items get.
constexpr std::string_view kLeave = R"(
KERNEL void leave(GLOBAL uint* state, GLOBAL uint* told, uint leaver, uint last) {
  LOCAL_VAR uint scratch[GRID_BARRIER_LOCAL_WORDS];
  GridBarrier grid;
  if (!grid_barrier_begin(&grid, state, scratch)) return;
  for (uint barriers = 1; barriers <= 5; ++barriers) {
    if (grid.group == leaver && barriers == last) return;
    const bool all_came = grid_barrier(&grid);
    atomic_add_global32(&told[2 * barriers + (all_came ? 1 : 0)], 1);
  }
}
)";

std::vector<Device> devices() {
  std::vector<Device> found;
  for (const Device& device : test::devices()) {
    if (device.info().has(Capability::kernels) && device.info().has(Capability::device_fence)) found.push_back(device);
  }
  return found;
}

// Few on CPUs, where a barrier's time depends on the operating system's scheduler when cores are busy.
std::uint32_t rounds_on(const Device& device, std::uint32_t gpu = 100000) { return device.info().is_cpu ? 40 : gpu; }

// The message of the Error that `action` throws, with its kind.
template <class Action>
std::string message_of(ErrorKind kind, const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

struct Counts {
  std::uint32_t stale = 0, ended = 0;
};

Counts run_check(const Device& device, const Kernel& kernel, const GridOptions& options, std::uint32_t rounds, std::uint32_t* groups) {
  const std::uint32_t most = device.info().compute_units * 32;
  const Buffer data(device, std::uint64_t{4} * most * options.group_size), stale(device, 8);
  const std::uint32_t zeros[2] = {};
  stale.write(zeros, sizeof zeros);
  *groups = launch_grid(device, kernel, {data, stale, rounds}, options).wait();
  Counts counts;
  stale.read(&counts, sizeof counts);
  return counts;
}

TEST(GridBarrier, OrdersWhatEveryWorkItemWrites) {
  for (const Device& device : devices()) {
    for (const std::uint32_t group_size : {1u, 33u, 64u, 256u, std::min(1024u, device.info().max_group_size)}) {
      const Kernel kernel(device, check_source(group_size), "check");
      for (const std::uint32_t groups : {0u, 1u, 2u}) {
        if (groups > device.info().compute_units) continue;
        SCOPED_TRACE(fmt::format("{}: {} groups of {}", device.info().selector, groups, group_size));
        GridOptions options;
        options.group_size = group_size;
        options.groups = groups;
        options.limit_seconds = 60;
        std::uint32_t taken = 0;
        const Counts counts = run_check(device, kernel, options, rounds_on(device), &taken);
        EXPECT_EQ(counts.stale, 0u);
        EXPECT_EQ(counts.ended, taken * group_size);
        EXPECT_GE(taken, 1u);
        if (groups != 0) {
          EXPECT_EQ(taken, groups);
        }
      }
    }
  }
}

TEST(GridBarrier, LaunchesFollowOneAnother) {
  for (const Device& device : devices()) {
    const Kernel kernel(device, check_source(64), "check");
    const Buffer data(device, std::uint64_t{4} * 64 * 32 * device.info().compute_units), stale(device, 8);
    const std::uint32_t zeros[2] = {};
    stale.write(zeros, sizeof zeros);
    GridOptions options;
    options.group_size = 64;
    std::vector<GridLaunch> launches;
    for (int i = 0; i < 20; ++i) launches.push_back(launch_grid(device, kernel, {data, stale, 3u}, options));
    std::uint32_t groups = 0;
    for (const GridLaunch& launch : launches) groups += launch.wait();
    Counts counts;
    stale.read(&counts, sizeof counts);
    EXPECT_EQ(counts.stale, 0u);
    EXPECT_EQ(counts.ended, groups * 64);
  }
}

// With one counter and with two, from the state after that many barriers, and twice on the same state.
TEST(GridBarrier, SurvivesWrapping) {
  using Defines = std::vector<std::pair<std::string, std::string>>;
  const Defines schemes[] = {{{"GRID_BARRIER_MANY", "1000000"}}, {{"GRID_BARRIER_MANY", "2"}}};
  for (const Device& opened : devices()) {
    device::Device& device = opened.implementation();
    const std::lock_guard lock(device.mutex());
    const std::uint32_t groups = std::min(opened.info().compute_units, 100u), group_size = 64, rounds = 10;
    for (const Defines& defines : schemes) {
      const device::Kernel kernel = device::build(device, barrier::source_with_barrier({}, defines, check_source(64)), "check");
      for (const std::uint32_t first_round : {0u, 0x7ffffffau, 0xfffffffau}) {
        SCOPED_TRACE(fmt::format("{}, two counters from {} groups on, from {:x}", opened.info().selector, defines[0].second, first_round));
        barrier::StateOptions options;
        options.limit_seconds = 60;
        options.first_round = first_round;
        const auto words = barrier::initial_state(options);
        const device::Memory state = device.allocate(4 * words.size()), data = device.allocate(4 * groups * group_size),
                             stale = device.allocate(8);
        device.write(state, 0, words.data(), 4 * words.size());
        const std::uint32_t zeros[2] = {};
        device.write(stale, 0, zeros, 8);
        for (int launch = 0; launch < 2; ++launch) {
          device.launch(kernel, {groups, group_size, true}, std::array<device::Argument, 4>{state, data, stale, rounds});
        }
        const barrier::Outcome outcome = barrier::outcome(device, state);
        EXPECT_EQ(outcome.failed, 0u);
        EXPECT_EQ(outcome.groups, groups);
        Counts counts;
        device.read(stale, 0, &counts, sizeof counts);
        EXPECT_EQ(counts.stale, 0u);
        EXPECT_EQ(counts.ended, 2 * groups * group_size);
      }
    }
  }
}

// --- time-outs -------------------------------------------------------------------------------------------------------------------

TEST(Watchdog, ReportsAGroupThatLeavesEarly) {
  for (const Device& device : devices()) {
    const std::uint32_t groups = std::min(device.info().compute_units, 7u);
    if (groups < 2) continue;
    const Kernel kernel(device, kLeave, "leave");
    const Buffer told(device, 48);
    for (const std::uint32_t last : {1u, 3u}) {
      const std::array<std::uint32_t, 12> zeros{};
      told.write(zeros.data(), sizeof zeros);
      GridOptions options;
      options.group_size = 32;
      options.groups = groups;
      options.limit_seconds = 1;
      const auto start = std::chrono::steady_clock::now();
      const std::string message = message_of(ErrorKind::device, [&] {
        launch_grid(device, kernel, {told, groups - 1, last}, options).wait();
      });
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      EXPECT_NE(message.find(fmt::format("{} of {} groups arrived at barrier {}", groups - 1, groups, last)), std::string::npos) << message;
      EXPECT_LT(seconds, device.info().is_cpu ? 60 : 3) << "without a clock the limit is inexact";

      std::array<std::uint32_t, 12> counts{};
      told.read(counts.data(), sizeof counts);
      for (std::uint32_t barrier = 1; barrier <= 5; ++barrier) {  // true for all while all arrive, then false for all, permanently
        EXPECT_EQ(counts[2 * barrier + 1], barrier < last ? groups * 32 : 0u) << barrier;
        EXPECT_EQ(counts[2 * barrier], barrier < last ? 0u : (groups - 1) * 32) << barrier;
      }

      // The device still works: this launch, in which no group leaves, succeeds.
      told.write(zeros.data(), sizeof zeros);
      options.limit_seconds = 60;
      EXPECT_EQ(launch_grid(device, kernel, {told, groups, last}, options).wait(), groups);
    }
  }
}

TEST(Watchdog, RefusesWhatIsNoTime) {
  for (const Device& device : devices()) {
    const Kernel kernel(device, check_source(8), "check");
    for (const double seconds : {-1.0, std::nan("")}) {
      GridOptions options;
      options.group_size = 8;
      options.limit_seconds = seconds;
      const Buffer memory(device, 4096);
      const std::string message = message_of(ErrorKind::usage, [&] { launch_grid(device, kernel, {memory}, options); });
      EXPECT_NE(message.find("watchdog's limit"), std::string::npos) << message;
    }
  }
}

TEST(Watchdog, CanBeOffOrBeNever) {
  for (const double seconds : {0.0, 1e9}) {
    const auto words = barrier::initial_state({.limit_seconds = seconds, .discover = false, .wanted = 0, .first_round = 0});
    EXPECT_EQ(words[GRID_BARRIER_TIME_LIMIT], seconds == 0 ? GRID_BARRIER_NO_LIMIT : GRID_BARRIER_NO_LIMIT - 1);
    EXPECT_EQ(words[GRID_BARRIER_POLL_LIMIT], seconds == 0 ? GRID_BARRIER_NO_LIMIT : GRID_BARRIER_NO_LIMIT - 1);
  }
  EXPECT_EQ(barrier::initial_state({})[GRID_BARRIER_TIME_LIMIT], 9765625u);
  for (const Device& device : devices()) {
    const Kernel kernel(device, check_source(8), "check");
    GridOptions options;
    options.group_size = 8;
    options.limit_seconds = 0;
    std::uint32_t groups = 0;
    const Counts counts = run_check(device, kernel, options, rounds_on(device, 1000), &groups);
    EXPECT_EQ(counts.stale, 0u);
    EXPECT_EQ(counts.ended, groups * 8);
  }
}

// --- discovery -------------------------------------------------------------------------------------------------------------------

TEST(Launch, RefusesMoreGroupsThanCanBeResident) {
  for (const Device& device : devices()) {
    const Kernel kernel(device, check_source(64), "check");
    const Buffer data(device, 4), stale(device, 8);
    GridOptions options;
    options.group_size = 64;
    options.groups = 1000000;
    const std::string message = message_of(ErrorKind::usage, [&] { launch_grid(device, kernel, {data, stale, 1u}, options).wait(); });
    EXPECT_NE(message.find("1000000 groups of 64 work-items cannot be resident at once: "), std::string::npos) << message;
    if (const auto known = kernel.resident_groups(64)) {
      EXPECT_NE(message.find(fmt::format(": {} can", *known)), std::string::npos) << message;
    }
  }
}

TEST(Launch, DiscoversWhoIsThere) {
  for (const Device& device : devices()) {
    const Kernel kernel(device, check_source(64), "check");
    GridOptions options;
    options.group_size = 64;
    options.discover = true;
    options.limit_seconds = 60;
    const auto known = kernel.resident_groups(64);
    for (int launch = 0; launch < 20; ++launch) {
      std::uint32_t groups = 0;
      const Counts counts = run_check(device, kernel, options, 5, &groups);
      EXPECT_GE(groups, 1u);
      if (known) {
        EXPECT_LE(groups, *known);
      }
      EXPECT_EQ(counts.stale, 0u);
      EXPECT_EQ(counts.ended, groups * 64);
    }
  }
}

TEST(Launch, DiscoveryThatFindsTooFewRunsNothing) {
  for (const Device& opened : devices()) {
    device::Device& device = opened.implementation();
    const std::lock_guard lock(device.mutex());
    const device::Kernel kernel = device::build(device, barrier::source_with_barrier({}, {}, check_source(64)), "check");
    const barrier::StateOptions options{.limit_seconds = 10, .discover = true, .wanted = 2, .first_round = 0};
    const auto words = barrier::initial_state(options);
    const device::Memory state = device.allocate(4 * words.size()), data = device.allocate(256), stale = device.allocate(8);
    device.write(state, 0, words.data(), 4 * words.size());
    const std::uint32_t zeros[2] = {};
    device.write(stale, 0, zeros, 8);
    device.launch(kernel, {1, 64}, std::array<device::Argument, 4>{state, data, stale, 1u});
    const barrier::Outcome outcome = barrier::outcome(device, state);
    const std::string message = message_of(ErrorKind::usage, [&] { barrier::check(outcome, device, kernel, 64, options); });
    EXPECT_NE(message.find("2 groups of 64 work-items cannot be resident at once: 1 can"), std::string::npos) << message;
    Counts counts;
    device.read(stale, 0, &counts, sizeof counts);
    EXPECT_EQ(counts.ended, 0u);
  }
}

TEST(Launch, DiscoveryThatFindsExactlyWhatIsWantedRuns) {
  for (const Device& opened : devices()) {
    device::Device& device = opened.implementation();
    const std::lock_guard lock(device.mutex());
    const device::Kernel kernel = device::build(device, barrier::source_with_barrier({}, {}, check_source(64)), "check");
    const barrier::StateOptions options{.limit_seconds = 10, .discover = true, .wanted = 1, .first_round = 0};
    const auto words = barrier::initial_state(options);
    const device::Memory state = device.allocate(4 * words.size()), data = device.allocate(256), stale = device.allocate(8);
    device.write(state, 0, words.data(), 4 * words.size());
    const std::uint32_t zeros[2] = {};
    device.write(stale, 0, zeros, 8);
    device.launch(kernel, {1, 64}, std::array<device::Argument, 4>{state, data, stale, 3u});
    EXPECT_NO_THROW(barrier::check(barrier::outcome(device, state), device, kernel, 64, options));
    Counts counts;
    device.read(stale, 0, &counts, sizeof counts);
    EXPECT_EQ(counts.ended, 64u);
    EXPECT_EQ(counts.stale, 0u);
  }
}

TEST(Launch, NeedsADeviceThatRunsKernels) {
  const std::string message = message_of(ErrorKind::device, [] { Kernel(Device::open("cpu"), check_source(64), "check"); });
  EXPECT_NE(message.find("this device runs no kernels"), std::string::npos) << message;
}

TEST(UserKernel, ThatDoesNotCompileComesBackWithTheLog) {
  for (const Device& device : devices()) {
    try {
      Kernel(device, "KERNEL void broken(GLOBAL uint* x) { x[0] = nothing; }", "broken");
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_NE(error.context().build_log.find("nothing"), std::string::npos) << error.what();
    }
  }
}

// --- the ladder --------------------------------------------------------------------------------------------------------------------

TEST(BarrierLadder, TheCpusSumsAreThoseOfTheFormula) {
  std::uint32_t power = 1;
  for (int i = 0; i < 1000; ++i) power *= 3;
  for (const std::uint32_t value : bench::neighbour_sums(std::vector<std::uint32_t>(64, 1), 1000)) EXPECT_EQ(value, power);
  EXPECT_EQ(bench::neighbour_sums({1, 10, 100, 1000}, 1), (std::vector<std::uint32_t>{1011, 111, 1110, 1101}));
  EXPECT_EQ(bench::neighbour_sums({1, 10, 100, 1000}, 0), (std::vector<std::uint32_t>{1, 10, 100, 1000}));
}

TEST(BarrierLadder, EveryMethodIsRight) {
  for (const Device& device : devices()) {
    bench::BarrierLadderOptions options;
    options.rounds = rounds_on(device, 20000) / 4;
    options.runs = 2;
    options.limit_seconds = 60;
    options.group_sizes = {1024, 256, 64, 32};
    options.shapes = false;
    const bench::BarrierLadder ladder = bench::barrier_ladder(device, options);
    EXPECT_EQ(ladder.sums.size(), (bench::barrier_methods().size() - 1) * 4 + 1);  // std_barrier once
    for (const bench::BarrierRow& row : ladder.sums) {
      SCOPED_TRACE(fmt::format("{} {} {}x{}: {}", device.info().selector, row.method, row.groups, row.group_size, row.reason));
      if (bench::is_faulty_barrier(row.method) && row.method != "none") {
        EXPECT_TRUE(row.verdict == bench::Verdict::wrong || row.verdict == bench::Verdict::right);
      } else if (row.method == "none") {
        EXPECT_TRUE(row.groups == 1 || row.verdict == bench::Verdict::wrong || device.info().is_cpu);
      } else {
        EXPECT_EQ(row.verdict, bench::Verdict::right);
        EXPECT_GT(row.seconds.median, 0);
      }
    }
  }
}

TEST(BarrierLadder, MeasuresShapesAndDiscovery) {
  for (const Device& device : devices()) {
    bench::BarrierLadderOptions options;
    options.methods = {"best"};
    options.group_sizes = {1024};
    options.rounds = 2;
    options.runs = 1;
    options.limit_seconds = 60;
    const bench::BarrierLadder ladder = bench::barrier_ladder(device, options);
    EXPECT_FALSE(ladder.shapes.empty());
    for (const bench::BarrierRow& row : ladder.shapes) EXPECT_EQ(row.verdict, bench::Verdict::right) << row.reason;
    for (const bench::Discovery& row : ladder.discovery) {
      EXPECT_GE(row.found, 1u);
      EXPECT_LE(row.found, row.launched);
    }
  }
}

TEST(BarrierLadder, RefusesWhatIsNoMethod) {
  for (const Device& device : devices()) {
    bench::BarrierLadderOptions options;
    options.methods = {"hope"};
    EXPECT_NE(message_of(ErrorKind::usage, [&] { bench::barrier_ladder(device, options); }).find("'hope'"), std::string::npos);
    options.methods.clear();
    options.group_sizes = {1000};
    EXPECT_NE(message_of(ErrorKind::usage, [&] { bench::barrier_ladder(device, options); }).find("does not divide"), std::string::npos);
  }
}

}  // namespace
}  // namespace samesum
