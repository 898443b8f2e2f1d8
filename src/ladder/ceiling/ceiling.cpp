// The limits of a device.
#include <samesum/bench.hpp>
#include <samesum/error.hpp>

#include "core/float_environment.hpp"
#include "core/threads/parallel.hpp"
#include "ladder/ceiling/arithmetic.hpp"
#include "ladder/ceiling/atomics.hpp"
#include "ladder/ceiling/reader.hpp"
#include "ladder/timing.hpp"

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

namespace samesum::bench {
namespace {

using Clock = std::chrono::steady_clock;

void tell(const Effort& effort, const std::string& what) {
  if (effort.progress) effort.progress(what);
}

constexpr std::uint64_t kLeast = 32;  // bytes: the longest load

std::vector<std::uint64_t> sizes_for(const DeviceInfo& info, const CeilingOptions& options) {
  // At most a quarter of the memory, and no more than is informative.
  const std::uint64_t most = std::uint64_t{info.is_cpu ? 1u : 4u} << 30;
  const std::uint64_t room = std::min(info.memory_bytes / 4, info.max_allocation_bytes);
  std::vector<std::uint64_t> sizes = options.sizes;
  if (sizes.empty()) {
    for (std::uint64_t bytes = 64 << 10; bytes <= std::min(most, room); bytes *= 4) sizes.push_back(bytes);
  }
  if (sizes.empty()) sizes.push_back(room);
  for (const std::uint64_t bytes : sizes) {
    if (bytes < kLeast) throw Error(ErrorKind::usage, fmt::format("reading {} bytes has no rate: measure with {} or more", bytes, kLeast));
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
      if (options.measured) options.measured(ceiling);
    }
  }
  if (options.arithmetic) {
    tell(options.effort, "multiply-adds");
    ceiling.arithmetic.push_back(rate_of(device_arithmetic(device, DType::float32), options.effort));
    if (options.measured) options.measured(ceiling);
    if (device.info().has(Capability::fp64)) {
      ceiling.arithmetic.push_back(rate_of(device_arithmetic(device, DType::float64), options.effort));
      if (options.measured) options.measured(ceiling);
    }
  }
  if (options.latency) {
    tell(options.effort, "launch latency");
    ceiling.latencies = kernel_latencies(device, options.effort);
  }
  if (options.atomics) {
    measure_atomics(device, options.effort, [&](const AtomicRate& rate) {
      ceiling.atomics.push_back(rate);
      if (options.measured) options.measured(ceiling);
    });
  }
}

// --- the host

// The time from passing a task to a thread of the pool until it runs there; the pool idles for `idle` before.
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
  const std::uint32_t all = options.threads != 0 ? options.threads : core::all_cores();
  std::vector<std::uint32_t> thread_counts = {1};
  if (all > 1) thread_counts.push_back(all);
  if (options.read) {
    const std::vector<std::uint64_t> sizes = sizes_for(info, options);
    const Data data(DataKind::bits, DType::float32, (*std::max_element(sizes.begin(), sizes.end()) + 3) / 4);
    for (const std::uint64_t bytes : sizes) {
      for (const std::uint32_t threads : thread_counts) {
        tell(options.effort, fmt::format("reading {} bytes, {}", bytes, host_label(threads)));
        ceiling.reads.push_back(read_rate(fastest_reader(data.view().data(), bytes, threads), options.effort));
        if (options.measured) options.measured(ceiling);
      }
    }
  }
  for (const std::uint32_t threads : thread_counts) {
    if (!options.arithmetic) break;
    tell(options.effort, fmt::format("multiply-adds, {}", host_label(threads)));
    for (const DType type : {DType::float32, DType::float64}) {
      ceiling.arithmetic.push_back(rate_of(host_arithmetic(type, threads), options.effort));
      if (options.measured) options.measured(ceiling);
    }
  }
  if (options.latency) {
    tell(options.effort, "latency of the thread pool");
    ceiling.latencies = {{"a task on another thread, back to back", wake_up(std::chrono::microseconds(0), options.effort)},
                         {"a task on another thread, after 5 ms without work", wake_up(std::chrono::milliseconds(5), options.effort)}};
  }
}

}  // namespace

Ceiling measure_ceiling(const Device& device, const CeilingOptions& options) {
  const core::DefaultFloatEnvironment environment;
  Ceiling ceiling;
  ceiling.device = device.info();
  if (device.info().has(Capability::kernels)) {
    measure_kernels(device.implementation(), options, ceiling);
  } else {
    if (options.atomics) {
      throw Error(ErrorKind::usage, fmt::format("{} runs no kernels, so there are no atomics of its memories to measure: "
                                                "name another device; 'samesum devices' lists them",
                                                device.info().selector));
    }
    measure_host(device.info(), options, ceiling);
  }
  if (options.measured) options.measured(ceiling);
  return ceiling;
}

}  // namespace samesum::bench
