// What a device can do at best.
#include <samesum/bench.hpp>
#include <samesum/error.hpp>

#include "bench/host_kernels.hpp"
#include "bench/reader.hpp"
#include "bench/timing.hpp"
#include "core/parallel.hpp"

#include <fmt/format.h>
#include <tbb/info.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <mutex>
#include <thread>

namespace samesum::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Slow enough that the chains stay apart for thousands of steps, and without overflow: they all tend to 1.
template <class Real>
constexpr Real kTerm = Real{1} / (1 << 16);
template <class Real>
constexpr Real kFactor = 1 - kTerm<Real>;

void tell(const Effort& effort, const std::string& what) {
  if (effort.progress) effort.progress(what);
}

std::vector<std::uint64_t> sizes_for(const DeviceInfo& info, const CeilingOptions& options) {
  // A quarter of the memory at most, and no more than tells something.
  const std::uint64_t most = std::uint64_t{info.is_cpu ? 1u : 4u} << 30;
  const std::uint64_t room = std::min(info.memory_bytes / 4, info.max_allocation_bytes);
  std::vector<std::uint64_t> sizes = options.sizes;
  if (sizes.empty()) {
    for (std::uint64_t bytes = 64 << 10; bytes <= std::min(most, room); bytes *= 4) sizes.push_back(bytes);
  }
  if (sizes.empty()) sizes.push_back(room);
  for (const std::uint64_t bytes : sizes) {
    if (bytes == 0) throw Error(ErrorKind::usage, "0 bytes cannot be read at any rate");
    if (bytes > info.max_allocation_bytes || bytes > info.memory_bytes) {
      throw Error(ErrorKind::usage, fmt::format("{} bytes do not fit: {} has {} bytes of memory, {} in one allocation", bytes,
                                                info.selector, info.memory_bytes, info.max_allocation_bytes));
    }
  }
  return sizes;
}

// --- kernels

device::Memory filled_memory(device::Device& device, std::uint64_t bytes) {
  constexpr std::uint64_t kPart = 64 << 20;
  const device::Memory memory = device.allocate(bytes);
  const Data data(DataKind::bits, DType::float32, (std::min(bytes, kPart) + 3) / 4);
  for (std::uint64_t offset = 0; offset < bytes; offset += kPart) {
    device.write(memory, offset, data.view().data(), std::min(kPart, bytes - offset));
  }
  return memory;
}

template <class Real>
Real expected_chains(std::uint64_t start, int chains, std::uint32_t rounds) {
  Real sum = 0;
  for (int c = 0; c < chains; ++c) {
    auto x = static_cast<Real>(start + c);
    for (std::uint32_t i = 0; i < 16 * rounds; ++i) x = std::fma(x, kFactor<Real>, kTerm<Real>);
    sum += x;
  }
  return sum;
}

void check(double value, double expected, const std::string& where) {
  if (!(std::abs(value - expected) <= 1e-4 * std::abs(expected))) {
    throw Error(ErrorKind::device, fmt::format("multiply-adds on {} yielded {} instead of {}", where, value, expected));
  }
}

template <class Real>
ArithmeticRate kernel_arithmetic(device::Device& device, const Effort& effort) {
  const DeviceInfo& info = device.info();
  const DType type = sizeof(Real) == 4 ? DType::float32 : DType::float64;
  const std::uint32_t group_size = info.is_cpu ? 1 : std::min(256u, info.max_group_size);
  const device::Source source = info.is_cpu ? device::Source{{"bench/ceiling_cpu.cl"}, {}} : ceiling_source(group_size);
  const device::Kernel kernel = device::build(device, source, type == DType::float32 ? "multiply_add_f32" : "multiply_add_f64");
  const int chains = info.is_cpu ? kChains : 8;
  const std::uint64_t lanes = info.is_cpu ? 32 / sizeof(Real) : 1;
  device::Grid grid{4 * info.compute_units, group_size};
  if (!info.is_cpu) grid.groups = device.resident_groups(kernel, group_size).value_or(info.compute_units * 2048 / group_size);
  const std::uint64_t items = std::uint64_t{grid.groups} * grid.group_size;
  const device::Memory out = device.allocate(items * sizeof(Real));
  const auto timer = [&](std::uint32_t rounds) {
    return device_timer(device, [&device, &kernel, &out, grid, rounds] {
      const device::Argument arguments[] = {kFactor<Real>, kTerm<Real>, rounds, out};
      device.launch(kernel, grid, arguments);
    });
  };

  std::uint32_t rounds = 32;
  while (timer(rounds)(1) < 1e-3 && rounds < 8192) rounds *= 2;
  const Statistics seconds = measure(timer(rounds), effort);
  std::vector<Real> results(items);
  device.read(out, 0, results.data(), items * sizeof(Real));
  std::vector<Real> expected;
  for (std::uint64_t start = 0; start < 32; ++start) expected.push_back(expected_chains<Real>(start, chains, rounds));
  for (std::uint64_t i = 0; i < items; ++i) check(results[i], expected[i % 32], info.selector);

  const double operations = 2.0 * 16 * rounds * chains * static_cast<double>(items * lanes);
  return {info.selector, type, seconds, operations / seconds.median,
          fmt::format("groups={} group_size={} chains={} lanes={}", grid.groups, grid.group_size, chains, lanes)};
}

std::vector<Latency> kernel_latencies(device::Device& device, const Effort& effort) {
  const device::Kernel kernel = device::build(device, ceiling_source(1), "read_nothing");
  const device::Memory sink = device.allocate(sizeof(std::uint32_t));
  const auto launch = [&] {
    const device::Argument arguments[] = {sink, std::uint32_t{0}};
    device.launch(kernel, {1, 1}, arguments);
  };
  const auto launch_and_wait = [&] {
    launch();
    device.finish();
  };
  return {{"an empty kernel, back to back", measure(device_timer(device, launch), effort)},
          {"an empty kernel, with a wait", measure(host_timer(launch_and_wait), effort)}};
}

void measure_kernels(device::Device& device, const CeilingOptions& options, Ceiling& ceiling) {
  const std::lock_guard lock(device.mutex());
  if (options.read) {
    const std::vector<std::uint64_t> sizes = sizes_for(device.info(), options);
    const device::Memory memory = filled_memory(device, *std::max_element(sizes.begin(), sizes.end()));
    for (const std::uint64_t bytes : sizes) {
      tell(options.effort, fmt::format("reading {} bytes", bytes));
      ceiling.reads.push_back(read_rate(fastest_reader(device, memory, bytes), options.effort));
    }
  }
  if (options.arithmetic) {
    tell(options.effort, "multiply-adds");
    ceiling.arithmetic.push_back(kernel_arithmetic<float>(device, options.effort));
    if (device.info().has(Capability::fp64)) ceiling.arithmetic.push_back(kernel_arithmetic<double>(device, options.effort));
  }
  if (options.latency) {
    tell(options.effort, "launch latency");
    ceiling.latencies = kernel_latencies(device, options.effort);
  }
}

// --- the host

template <class Real>
ArithmeticRate host_arithmetic(std::uint32_t threads, const Effort& effort) {
  constexpr std::uint32_t kRounds = 4096;
  std::uint64_t operations = 0;
  const Real expected = expected_chains<Real>(0, kChains, kRounds);
  check(multiply_add(kFactor<Real>, kTerm<Real>, kRounds, &operations), expected, "the host");
  tbb::task_arena arena(static_cast<int>(threads));
  const auto work = [] {
    std::uint64_t ignored;
    [[maybe_unused]] volatile Real sink = multiply_add(kFactor<Real>, kTerm<Real>, kRounds, &ignored);
  };
  const Statistics seconds = measure(host_timer([&] {
                                       if (threads == 1) return work();
                                       core::execute(arena, [&] {
                                         core::parallel_for(
                                             0u, threads, [&](std::uint32_t) { work(); }, tbb::static_partitioner{});
                                       });
                                     }),
                                     effort);
  return {host_label(threads), sizeof(Real) == 4 ? DType::float32 : DType::float64, seconds,
          static_cast<double>(operations) * threads / seconds.median, fmt::format("chains={}", kChains)};
}

// The time from handing a task to a thread of the pool until it runs there; before it the pool idles so long.
Statistics wake_up(std::chrono::microseconds idle, const Effort& effort) {
  tbb::task_arena arena(1, 0);  // no slot for this thread
  const Timer timer = [&](std::uint32_t calls) {
    double seconds = 0;
    for (std::uint32_t i = 0; i < calls; ++i) {
      std::this_thread::sleep_for(idle);
      std::atomic<bool> awake = false;
      const auto start = Clock::now();
      arena.enqueue([&] { awake.store(true, std::memory_order_release); });
      while (!awake.load(std::memory_order_acquire)) {
      }
      seconds += std::chrono::duration<double>(Clock::now() - start).count();
    }
    return seconds;
  };
  return measure(timer, effort);
}

void measure_host(const DeviceInfo& info, const CeilingOptions& options, Ceiling& ceiling) {
  const std::uint32_t all = options.threads != 0 ? options.threads : static_cast<std::uint32_t>(tbb::info::default_concurrency());
  std::vector<std::uint32_t> thread_counts = {1};
  if (all > 1) thread_counts.push_back(all);
  if (options.read) {
    const std::vector<std::uint64_t> sizes = sizes_for(info, options);
    const Data data(DataKind::bits, DType::float32, (*std::max_element(sizes.begin(), sizes.end()) + 3) / 4);
    for (const std::uint64_t bytes : sizes) {
      for (const std::uint32_t threads : thread_counts) {
        tell(options.effort, fmt::format("reading {} bytes, {}", bytes, host_label(threads)));
        ceiling.reads.push_back(read_rate(fastest_reader(data.view().data(), bytes, threads), options.effort));
      }
    }
  }
  for (const std::uint32_t threads : thread_counts) {
    if (!options.arithmetic) break;
    tell(options.effort, fmt::format("multiply-adds, {}", host_label(threads)));
    ceiling.arithmetic.push_back(host_arithmetic<float>(threads, options.effort));
    ceiling.arithmetic.push_back(host_arithmetic<double>(threads, options.effort));
  }
  if (options.latency) {
    tell(options.effort, "latency of the thread pool");
    ceiling.latencies = {{"a task on another thread, back to back", wake_up(std::chrono::microseconds(0), options.effort)},
                         {"a task on another thread, after 5 ms without work", wake_up(std::chrono::milliseconds(5), options.effort)}};
  }
}

}  // namespace

Ceiling measure_ceiling(const Device& device, const CeilingOptions& options) {
  Ceiling ceiling;
  ceiling.device = device.info();
  if (device.info().has(Capability::kernels)) {
    measure_kernels(device.implementation(), options, ceiling);
  } else {
    measure_host(device.info(), options, ceiling);
  }
  return ceiling;
}

}  // namespace samesum::bench
