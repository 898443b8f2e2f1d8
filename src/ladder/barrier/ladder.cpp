// The grid barrier's ladder: the methods in the textbook's benchmark, then alone.
#include "barrier/grid.hpp"
#include "ladder/timing.hpp"
#include "core/float_environment.hpp"

#include <samesum/bench_barrier.hpp>
#include <samesum/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <utility>

namespace samesum::bench {
namespace {

constexpr std::uint32_t kItems = 2048;
constexpr std::uint32_t kRounds = 500000;
constexpr std::uint32_t kRoundsOfCpu = 100;
constexpr std::uint32_t kBarriers = 20000;  // per measurement of a shape
constexpr std::uint32_t kBarriersOfCpu = 200;

// Numbered as in methods.cl.
constexpr std::string_view kMethods[] = {"none", "every_item", "group_leader", "leader_group", "ticket", "best"};
constexpr std::string_view kLaunches = "launches";

// Barriers alone are measured with full compute units: 2048 work-items.
device::Source method_source(std::size_t method, std::uint32_t group_size, bool one_each) {
  std::vector<std::pair<std::string, std::string>> defines = {{"METHOD", std::to_string(method)},
                                                              {"ONE_EACH", one_each ? "1" : "0"},
                                                              {"GROUP_SIZE", std::to_string(group_size)},
                                                              {"RESIDENT", std::to_string(std::clamp(2048 / group_size, 1u, 32u))}};
  return barrier::source_with_barrier({"ladder/barrier/methods.cl"}, std::move(defines));
}

std::vector<std::uint32_t> without_pattern() {
  std::vector<std::uint32_t> start(kItems);
  std::uint32_t state = 1;
  for (std::uint32_t& value : start) value = state = state * 1664525 + 1013904223;
  return start;
}

class BarrierLadderRun {
 public:
  BarrierLadderRun(const Device& device, const BarrierLadderOptions& options)
      : device_(device.implementation()), options_(options), cpu_(device.info().is_cpu) {
    ladder_.device = device.info();
    ladder_.items = kItems;
    if (options_.group_sizes.empty()) options_.group_sizes = cpu_ ? std::vector{256u, 32u} : std::vector{1024u, 256u, 64u, 32u};
    ladder_.rounds = options.rounds != 0 ? options.rounds : cpu_ ? kRoundsOfCpu : kRounds;
  }

  BarrierLadder run() {
    const std::lock_guard lock(device_.mutex());
    barrier::require_barrier(device_);
    tell("the CPU's neighbour sums");
    starts_ = {without_pattern(), std::vector<std::uint32_t>(kItems, 1)};
    for (const auto& start : starts_) expected_.push_back(neighbour_sums(start, ladder_.rounds));
    x_ = device_.allocate(4 * kItems);
    sums_ = device_.allocate(4 * kItems);
    for (const std::uint32_t group_size : options_.group_sizes) {
      for (std::size_t method = 0; method < std::size(kMethods); ++method) {
        if (wanted(kMethods[method])) add(ladder_.sums, sums_row(method, group_size));
      }
      if (wanted(kLaunches)) add(ladder_.sums, launches_row(group_size));
    }
    if (options_.shapes) measure_shapes();
    return std::move(ladder_);
  }

 private:
  bool wanted(std::string_view name) const {
    return options_.methods.empty() || std::find(options_.methods.begin(), options_.methods.end(), name) != options_.methods.end();
  }
  template <class Row>
  void add(std::vector<Row>& rows, Row row) {
    rows.push_back(std::move(row));
    if (options_.measured) options_.measured(ladder_);
  }
  void tell(std::string_view what) const {
    if (options_.progress) options_.progress(what);
  }

  // Runs `action` for a row; an exception becomes the row's verdict.
  template <class Action>
  void run_row(BarrierRow& row, const Action& action) const {
    tell(fmt::format("{}, {} groups of {}", row.method, row.groups, row.group_size));
    try {
      row.verdict = Verdict::right;
      action();
    } catch (const Error& error) {
      row.verdict = error.kind() == ErrorKind::usage ? Verdict::skipped : Verdict::failed;
      const std::string_view text = error.what();
      row.reason = text.substr(0, text.find('\n'));
    }
  }

  // One launch of a method's kernel with all its groups resident; `arguments` follow the barrier's state and the method's words.
  double launch(const device::Kernel& kernel, std::uint32_t groups, std::uint32_t group_size, std::vector<device::Argument> arguments) {
    const barrier::Plan plan = barrier::plan_launch(device_, kernel, groups, group_size, false);
    const barrier::StateOptions state_options{options_.limit_seconds, plan.discover, plan.wanted};
    const auto state = barrier::initial_state(state_options);
    const std::vector<std::uint32_t> words(2 * plan.groups, 0);
    const device::Memory memory = upload(state), words_memory = upload(words);
    arguments.insert(arguments.begin(), {memory, words_memory});
    const device::Mark start = device_.mark();
    device_.launch(kernel, {plan.groups, group_size, !plan.discover}, arguments);
    const double seconds = device_.seconds_between(start, device_.mark());
    barrier::check(barrier::outcome(device_, memory), device_, kernel, group_size, state_options);
    return seconds;
  }

  device::Memory upload(const std::vector<std::uint32_t>& words) {
    const device::Memory memory = device_.allocate(4 * words.size());
    device_.write(memory, 0, words.data(), 4 * words.size());
    return memory;
  }

  std::uint32_t groups_for(std::uint32_t group_size) const {
    const std::uint32_t groups = (kItems + group_size - 1) / group_size;
    return cpu_ ? std::min(groups, ladder_.device.compute_units) : groups;  // on a CPU each group has more elements
  }

  BarrierRow sums_row(std::size_t method, std::uint32_t group_size) {
    BarrierRow row{std::string(kMethods[method]), groups_for(group_size), group_size, 2ull * ladder_.rounds, {}, {}, {}};
    run_row(row, [&] {
      const bool one_each = row.groups * group_size == kItems;
      const device::Kernel kernel = device::build(device_, method_source(method, group_size, one_each), "neighbour_sums");
      std::vector<double> samples;
      for (std::uint32_t run = 0; run < std::max<std::uint32_t>(options_.runs, 2) && row.verdict == Verdict::right; ++run) {
        device_.write(x_, 0, starts_[run % 2].data(), 4 * kItems);
        const double seconds = launch(kernel, row.groups, group_size, {x_, sums_, kItems, ladder_.rounds});
        samples.push_back(seconds / static_cast<double>(row.barriers));
        compare(row, x_, run % 2);
      }
      row.seconds = summarize(std::move(samples));
    });
    return row;
  }

  BarrierRow launches_row(std::uint32_t group_size) {
    BarrierRow row{std::string(kLaunches), (kItems + group_size - 1) / group_size, group_size, 2ull * ladder_.rounds, {}, {}, {}};
    run_row(row, [&] {
      const device::Kernel kernel = device::build(device_, method_source(0, group_size, true), "neighbour_step");
      std::vector<double> samples;
      for (std::uint32_t run = 0; run < std::max<std::uint32_t>(options_.runs, 2) && row.verdict == Verdict::right; ++run) {
        device_.write(x_, 0, starts_[run % 2].data(), 4 * kItems);
        device::Memory from = x_, to = sums_;
        const device::Mark start = device_.mark();
        for (std::uint32_t round = 0; round < ladder_.rounds; ++round) {
          device_.launch(kernel, {row.groups, group_size}, std::array<device::Argument, 3>{from, to, kItems});
          std::swap(from, to);
        }
        samples.push_back(device_.seconds_between(start, device_.mark()) / static_cast<double>(row.barriers));
        compare(row, from, run % 2);
      }
      row.seconds = summarize(std::move(samples));
    });
    return row;
  }

  void compare(BarrierRow& row, const device::Memory& result, std::size_t start) {
    std::vector<std::uint32_t> values(kItems);
    device_.read(result, 0, values.data(), 4 * kItems);
    const auto& expected = expected_[start];
    std::uint32_t wrong = 0;
    for (std::uint32_t i = 0; i < kItems; ++i) wrong += values[i] != expected[i];
    if (wrong == 0) return;
    row.verdict = Verdict::wrong;
    row.reason = fmt::format("{} of {} elements are wrong", wrong, kItems);
  }

  void measure_shapes() {
    struct Shape {
      std::uint32_t groups, group_size;
    };
    const std::uint32_t units = ladder_.device.compute_units;
    std::vector<Shape> shapes = {{2, 1024}, {units, 256}, {2 * units, 1024}, {4 * units, 256}, {8 * units, 256}};
    if (cpu_) shapes = {{units, 64}};  // each takes a second to compile for each method
    for (const Shape shape : shapes) {
      for (std::size_t method = 0; method < std::size(kMethods); ++method) {
        if (wanted(kMethods[method])) add(ladder_.shapes, shape_row(method, shape.groups, shape.group_size));
      }
    }
    for (const std::uint32_t group_size : cpu_ ? std::vector{256u} : std::vector{256u, 1024u}) {
      tell(fmt::format("discovery, groups of {}", group_size));
      add(ladder_.discovery, discovery(group_size));
    }
  }

  BarrierRow shape_row(std::size_t method, std::uint32_t groups, std::uint32_t group_size) {
    BarrierRow row{std::string(kMethods[method]), groups, group_size, cpu_ ? kBarriersOfCpu : kBarriers, {}, {}, {}};
    run_row(row, [&] {
      const device::Kernel kernel = device::build(device_, method_source(method, group_size, true), "barriers");
      const auto rounds = static_cast<std::uint32_t>(row.barriers);
      launch(kernel, groups, group_size, {rounds / 10});
      std::vector<double> samples;
      for (std::uint32_t run = 0; run < options_.runs; ++run) samples.push_back(launch(kernel, groups, group_size, {rounds}) / rounds);
      row.seconds = summarize(std::move(samples));
    });
    return row;
  }

  Discovery discovery(std::uint32_t group_size) {
    const device::Kernel kernel = device::build(device_, method_source(std::size(kMethods) - 1, group_size, true), "barriers");
    Discovery result;
    result.known = device_.resident_groups(kernel, group_size).value_or(0);
    const device::Memory words = upload({0});
    const auto time = [&](std::uint32_t groups, bool discover) {
      std::vector<double> samples;
      for (int run = 0; run < 9; ++run) {
        const barrier::StateOptions state_options{options_.limit_seconds, discover, 0};
        const device::Memory state = upload(barrier::initial_state(state_options));
        const device::Mark start = device_.mark();
        device_.launch(kernel, {groups, group_size, !discover}, std::array<device::Argument, 3>{state, words, 0u});
        samples.push_back(device_.seconds_between(start, device_.mark()));
        const barrier::Outcome outcome = barrier::outcome(device_, state);
        barrier::check(outcome, device_, kernel, group_size, state_options);
        if (discover) result.found = std::max(result.found, outcome.groups);
      }
      return summarize(std::move(samples));
    };
    result.launched = barrier::plan_launch(device_, kernel, 0, group_size, true).groups;
    result.first = time(result.launched, true);
    result.next = time(result.found, true);
    result.plain = time(result.found, false);
    return result;
  }

  device::Device& device_;
  BarrierLadderOptions options_;
  bool cpu_;
  BarrierLadder ladder_;
  std::vector<std::vector<std::uint32_t>> starts_, expected_;
  device::Memory x_, sums_;
};

}  // namespace

std::vector<std::string> barrier_methods() {
  std::vector<std::string> names(std::begin(kMethods), std::end(kMethods));
  names.emplace_back(kLaunches);
  return names;
}

std::vector<std::uint32_t> neighbour_sums(std::vector<std::uint32_t> start, std::uint32_t rounds) {
  const std::size_t n = start.size();
  // Each end is padded with a copy of the other, so that the loop has no condition.
  std::vector<std::uint32_t> x(n + 2), y(n + 2);
  std::copy(start.begin(), start.end(), x.begin() + 1);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    x[0] = x[n];
    x[n + 1] = x[1];
    for (std::size_t i = 1; i <= n; ++i) y[i] = x[i - 1] + x[i] + x[i + 1];
    x.swap(y);
  }
  std::copy(x.begin() + 1, x.end() - 1, start.begin());
  return start;
}

BarrierLadder barrier_ladder(const Device& device, const BarrierLadderOptions& options) {
  const core::DefaultFloatEnvironment environment;
  const std::vector<std::string> known = barrier_methods();
  for (const std::string& name : options.methods) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw Error(ErrorKind::usage, fmt::format("'{}' is no method of the barrier's ladder: there are {}", name, fmt::join(known, ", ")));
  }
  for (const std::uint32_t group_size : options.group_sizes) {
    if (group_size == 0 || kItems % group_size != 0) {
      throw Error(ErrorKind::usage, fmt::format("a group size of {} does not divide {} work-items", group_size, kItems));
    }
  }
  return BarrierLadderRun(device, options).run();
}

}  // namespace samesum::bench
