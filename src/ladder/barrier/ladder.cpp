// The grid barrier's ladder: the methods in the textbook's benchmark, then alone.
#include "barrier/grid.hpp"
#include "core/float_environment.hpp"
#include "ladder/rungs.hpp"
#include "ladder/timing.hpp"

#include <samesum/bench_barrier.hpp>
#include <samesum/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace samesum::bench {
namespace {

constexpr std::uint32_t kRounds = 500000;
constexpr std::uint32_t kRoundsOfCpu = 100;
constexpr std::uint32_t kBarriers = 20000;  // per measurement of a shape
constexpr std::uint32_t kBarriersOfCpu = 200;

// Numbered as in methods.cl.
constexpr std::string_view kMethods[] = {"none", "every_item",       "group_leader",       "leader_group", "ticket",
                                         "best", "reset_every_item", "reset_group_leader", "plain_flag"};
constexpr std::size_t kNone = 0, kBest = 5, kFirstFaulty = 6, kOwn = std::size(kMethods);
constexpr std::string_view kLaunches = "launches", kHost = "std_barrier";
constexpr std::uint32_t kRoundsOfHost = 5000;  // at most: threads of a host take microseconds

// Barriers alone are measured with full compute units: 2048 work-items.
device::Source method_source(std::size_t method, std::uint32_t group_size, bool one_each, const std::string& own) {
  std::vector<std::pair<std::string, std::string>> defines = {{"METHOD", std::to_string(method)},
                                                              {"ONE_EACH", one_each ? "1" : "0"},
                                                              {"GROUP_SIZE", std::to_string(group_size)},
                                                              {"RESIDENT", std::to_string(std::clamp(2048 / group_size, 1u, 32u))}};
  if (method != kOwn) return barrier::source_with_barrier({"ladder/barrier/methods.cl"}, std::move(defines));
  device::Source source = barrier::source_with_barrier({}, std::move(defines), own);
  source.after = {"ladder/barrier/methods.cl"};
  return source;
}

std::vector<std::uint32_t> without_pattern(std::uint32_t items) {
  std::vector<std::uint32_t> start(items);
  std::uint32_t state = 1;
  for (std::uint32_t& value : start) value = state = state * 1664525 + 1013904223;
  return start;
}

class BarrierLadderRun {
 public:
  BarrierLadderRun(const Device& device, const BarrierLadderOptions& options)
      : device_(device.implementation()), options_(options), cpu_(device.info().is_cpu) {
    ladder_.device = device.info();
    ladder_.items = options.items;
    if (options_.group_sizes.empty()) options_.group_sizes = cpu_ ? std::vector{256u, 32u} : std::vector{1024u, 256u, 64u, 32u};
    std::erase_if(options_.group_sizes, [&](std::uint32_t size) { return options.items % size != 0; });
    if (options_.group_sizes.empty()) options_.group_sizes = {1};
    ladder_.rounds = options.rounds != 0 ? options.rounds : cpu_ ? kRoundsOfCpu : kRounds;
  }

  BarrierLadder run() {
    const std::lock_guard lock(device_.mutex());
    barrier::require_barrier(device_);
    if (!options_.kernel_source.empty()) check_kernel();
    tell("the CPU's neighbour sums");
    starts_ = {without_pattern(items()), std::vector<std::uint32_t>(items(), 1)};
    for (const auto& start : starts_) expected_.push_back(neighbour_sums(start, ladder_.rounds));
    x_ = device_.allocate(4 * items());
    sums_ = device_.allocate(4 * items());
    for (const std::uint32_t group_size : options_.group_sizes) {
      without_seconds_ = 0;
      for (std::size_t method = 0; method < std::size(kMethods); ++method) {
        if (wanted(kMethods[method])) add_sums(sums_row(method, group_size));
      }
      if (wanted(kLaunches)) add_sums(launches_row(group_size));
      if (!options_.kernel_source.empty()) add_sums(sums_row(kOwn, group_size));
    }
    without_seconds_ = 0;
    if (wanted(kHost)) add_sums(host_row());
    if (options_.shapes) measure_shapes();
    return std::move(ladder_);
  }

 private:
  bool wanted(std::string_view name) const {
    return options_.methods.empty() || std::find(options_.methods.begin(), options_.methods.end(), name) != options_.methods.end();
  }
  std::uint32_t items() const { return ladder_.items; }
  std::string name_of(std::size_t method) const { return method == kOwn ? options_.kernel_name : std::string(kMethods[method]); }
  device::Source source(std::size_t method, std::uint32_t group_size, bool one_each) const {
    return method_source(method, group_size, one_each, options_.kernel_source);
  }
  void check_kernel() const {
    check_own_kernel(options_.kernel_name,
                     [&] { device::build(device_, source(kOwn, options_.group_sizes.front(), true), "neighbour_sums"); });
  }
  void add_sums(BarrierRow row) {
    row.total_seconds = row.seconds.median * static_cast<double>(row.barriers);
    if (row.method == kMethods[kNone]) without_seconds_ = row.total_seconds;
    row.without_seconds = without_seconds_;
    add(ladder_.sums, std::move(row));
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
      if (row.verdict == Verdict::failed && is_faulty_barrier(row.method)) {
        row.verdict = Verdict::wrong;
        row.reason = "a group waited for ever, and was ended";
      }
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
    const std::uint32_t groups = (items() + group_size - 1) / group_size;
    return cpu_ ? std::min(groups, ladder_.device.compute_units) : groups;  // on a CPU each group has more elements
  }

  BarrierRow sums_row(std::size_t method, std::uint32_t group_size) {
    BarrierRow row{name_of(method), groups_for(group_size), group_size, 2ull * ladder_.rounds, {}, {}, {}, 0, 0};
    run_row(row, [&] {
      const bool one_each = row.groups * group_size == items();
      const device::Kernel kernel = device::build(device_, source(method, group_size, one_each), "neighbour_sums");
      std::vector<double> samples;
      for (std::uint32_t run = 0; run < std::max<std::uint32_t>(options_.runs, 2) && row.verdict == Verdict::right; ++run) {
        device_.write(x_, 0, starts_[run % 2].data(), 4 * items());
        const double seconds = launch(kernel, row.groups, group_size, {x_, sums_, items(), ladder_.rounds});
        samples.push_back(seconds / static_cast<double>(row.barriers));
        compare(row, x_, run % 2);
      }
      row.seconds = summarize(std::move(samples));
    });
    return row;
  }

  // Threads of the host, each with a section of the elements, and C++'s own barrier.
  BarrierRow host_row() {
    const std::uint32_t threads = std::clamp(std::thread::hardware_concurrency(), 2u, std::min(items(), 64u));
    const std::uint32_t rounds = std::min(ladder_.rounds, kRoundsOfHost);
    BarrierRow row{std::string(kHost), threads, (items() + threads - 1) / threads, 2ull * rounds, {}, {}, {}, 0, 0};
    run_row(row, [&] {
      const std::vector<std::uint32_t> expected = neighbour_sums(starts_[0], rounds);
      std::vector<double> samples;
      for (std::uint32_t run = 0; run < options_.runs && row.verdict == Verdict::right; ++run) {
        std::vector<std::uint32_t> x = starts_[0], sums(items());
        const auto start = std::chrono::steady_clock::now();
        {
          std::barrier all(static_cast<std::ptrdiff_t>(threads));
          std::vector<std::jthread> crew;
          for (std::uint32_t thread = 0; thread < threads; ++thread) {
            crew.emplace_back(
                [&, begin = std::uint64_t{items()} * thread / threads, end = std::uint64_t{items()} * (thread + 1) / threads] {
                  const std::uint64_t n = items();
                  for (std::uint32_t round = 0; round < rounds; ++round) {
                    for (std::uint64_t i = begin; i < end; ++i) sums[i] = x[i == 0 ? n - 1 : i - 1] + x[i] + x[i == n - 1 ? 0 : i + 1];
                    all.arrive_and_wait();
                    for (std::uint64_t i = begin; i < end; ++i) x[i] = sums[i];
                    all.arrive_and_wait();
                  }
                });
          }
        }
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        samples.push_back(took.count() / static_cast<double>(row.barriers));
        judge(row, x, expected);
      }
      row.seconds = summarize(std::move(samples));
    });
    return row;
  }

  BarrierRow launches_row(std::uint32_t group_size) {
    BarrierRow row{std::string(kLaunches), (items() + group_size - 1) / group_size, group_size, 2ull * ladder_.rounds, {}, {}, {}, 0, 0};
    run_row(row, [&] {
      const device::Kernel kernel = device::build(device_, source(kNone, group_size, true), "neighbour_step");
      std::vector<double> samples;
      for (std::uint32_t run = 0; run < std::max<std::uint32_t>(options_.runs, 2) && row.verdict == Verdict::right; ++run) {
        device_.write(x_, 0, starts_[run % 2].data(), 4 * items());
        device::Memory from = x_, to = sums_;
        const device::Mark start = device_.mark();
        for (std::uint32_t round = 0; round < ladder_.rounds; ++round) {
          device_.launch(kernel, {row.groups, group_size}, std::array<device::Argument, 3>{from, to, items()});
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
    std::vector<std::uint32_t> values(items());
    device_.read(result, 0, values.data(), 4 * items());
    judge(row, values, expected_[start]);
  }

  void judge(BarrierRow& row, const std::vector<std::uint32_t>& values, const std::vector<std::uint32_t>& expected) const {
    std::uint32_t wrong = 0;
    for (std::uint32_t i = 0; i < items(); ++i) wrong += values[i] != expected[i];
    if (wrong == 0) return;
    row.verdict = Verdict::wrong;
    row.reason = fmt::format("{} of {} elements are wrong", wrong, items());
  }

  void measure_shapes() {
    struct Shape {
      std::uint32_t groups, group_size;
    };
    const std::uint32_t units = ladder_.device.compute_units;
    std::vector<Shape> shapes = {{2, 1024}, {units, 256}, {2 * units, 1024}, {4 * units, 256}, {8 * units, 256}};
    if (cpu_) shapes = {{units, 64}};  // each takes a second to compile for each method
    for (const Shape shape : shapes) {
      for (std::size_t method = 0; method <= kOwn; ++method) {
        const bool has = method == kOwn ? !options_.kernel_source.empty() : method < kFirstFaulty && wanted(kMethods[method]);
        if (has) add(ladder_.shapes, shape_row(method, shape.groups, shape.group_size));
      }
    }
    for (const std::uint32_t group_size : cpu_ ? std::vector{256u} : std::vector{256u, 1024u}) {
      tell(fmt::format("discovery, groups of {}", group_size));
      add(ladder_.discovery, discovery(group_size));
    }
  }

  BarrierRow shape_row(std::size_t method, std::uint32_t groups, std::uint32_t group_size) {
    BarrierRow row{name_of(method), groups, group_size, cpu_ ? kBarriersOfCpu : kBarriers, {}, {}, {}, 0, 0};
    run_row(row, [&] {
      const device::Kernel kernel = device::build(device_, source(method, group_size, true), "barriers");
      const auto rounds = static_cast<std::uint32_t>(row.barriers);
      launch(kernel, groups, group_size, {rounds / 10});
      std::vector<double> samples;
      for (std::uint32_t run = 0; run < options_.runs; ++run) samples.push_back(launch(kernel, groups, group_size, {rounds}) / rounds);
      row.seconds = summarize(std::move(samples));
    });
    return row;
  }

  Discovery discovery(std::uint32_t group_size) {
    const device::Kernel kernel = device::build(device_, source(kBest, group_size, true), "barriers");
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
  double without_seconds_ = 0;
  BarrierLadder ladder_;
  std::vector<std::vector<std::uint32_t>> starts_, expected_;
  device::Memory x_, sums_;
};

}  // namespace

std::vector<std::string> barrier_methods() {
  std::vector<std::string> names(std::begin(kMethods), std::end(kMethods));
  names.emplace_back(kLaunches);
  names.emplace_back(kHost);
  return names;
}

bool is_faulty_barrier(std::string_view method) noexcept {
  return method == kMethods[kNone] || std::find(kMethods + kFirstFaulty, std::end(kMethods), method) != std::end(kMethods);
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
    if (std::find(known.begin(), known.end(), name) != known.end() || (!name.empty() && name == options.kernel_name)) continue;
    throw Error(ErrorKind::usage, fmt::format("'{}' is no method of the barrier's ladder: there are {}", name, fmt::join(known, ", ")));
  }
  constexpr std::uint32_t kMaxItems = 1u << 24;
  if (options.items == 0 || options.items > kMaxItems) {
    throw Error(ErrorKind::usage, fmt::format("the neighbour sums are of 1 to {} elements, not {}", kMaxItems, options.items));
  }
  for (const std::uint32_t group_size : options.group_sizes) {
    if (group_size == 0 || options.items % group_size != 0) {
      throw Error(ErrorKind::usage, fmt::format("a group size of {} does not divide {} work-items", group_size, options.items));
    }
  }
  return BarrierLadderRun(device, options).run();
}

}  // namespace samesum::bench
