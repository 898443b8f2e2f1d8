#include "ladder/ceiling/reader.hpp"

#include "core/threads/chunks.hpp"
#include "device/kernels/program.hpp"
#include "ladder/ceiling/host_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace samesum::bench {
namespace {

// Candidates are compared on a part of the buffer that still is far larger than the caches.
constexpr std::uint64_t kHostSweepBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kDeviceSweepBytes = std::uint64_t{1} << 30;

constexpr std::uint32_t kUnlikely = 0x9e3779b9;  // see ceiling.cl

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

struct Candidate {
  std::string configuration;
  std::function<Timer(std::uint64_t bytes)> timer;
};

Reader fastest(std::string where, std::uint64_t bytes, std::uint64_t sweep_bytes, const std::vector<Candidate>& candidates) {
  std::vector<Timer> timers;
  for (const Candidate& candidate : candidates) timers.push_back(candidate.timer(std::min(bytes, sweep_bytes)));
  const Candidate& best = candidates[fastest_of(timers)];
  return {std::move(where), bytes, best.timer(bytes), best.configuration};
}

// Every thread reads one slice, or blocks of 1 MiB cyclically. The slices are those of the sums' threads, so that each finds in its core's
// cache what the other has left there.
void read_in_parallel(const std::byte* data, std::uint64_t bytes, std::uint32_t threads, bool blocks, ReadShape shape) {
  constexpr std::uint64_t kBlock = 1 << 20;
  const std::uint64_t part = blocks ? kBlock : ceil_div(ceil_div(bytes, threads), 64) * 64;
  core::for_chunks(bytes, threads, part, [=](std::uint32_t, std::uint64_t first, std::uint64_t count) {
    [[maybe_unused]] volatile std::uint64_t sink = read_bits(data + first, count, shape);
  });
}

// With `threads` threads; for a small buffer one thread may be faster.
std::vector<Candidate> host_candidates(const std::byte* data, std::uint64_t bytes, std::uint32_t threads) {
  constexpr std::uint64_t kSmall = 8 << 20;
  std::vector<Candidate> candidates;
  for (const std::uint32_t streams : {1u, 2u, 4u}) {
    for (const std::uint32_t prefetch : {0u, 1024u, 4096u}) {
      const ReadShape shape{streams, prefetch};
      const std::string text = fmt::format("streams={} prefetch={}", streams, prefetch);
      if (threads == 1 || bytes <= kSmall) {
        const auto timer = [=](std::uint64_t size) {
          return host_timer([=] { [[maybe_unused]] volatile std::uint64_t sink = read_bits(data, size, shape); });
        };
        candidates.push_back({text + (threads == 1 ? "" : " one thread"), timer});
      }
      for (const bool blocks : {false, true}) {
        if (threads == 1 || (blocks && bytes <= kSmall)) continue;
        const auto timer = [=](std::uint64_t size) { return host_timer([=] { read_in_parallel(data, size, threads, blocks, shape); }); };
        candidates.push_back({text + (blocks ? " blocks" : " slices"), timer});
      }
    }
  }
  return candidates;
}

// How the groups of a GPU share the data: they process it tile by tile, or each reads one run.
struct Sharing {
  std::uint32_t groups;
  bool runs;
  std::string text;
};

std::vector<Sharing> sharings(std::uint32_t resident) {
  return {{resident, false, fmt::format("groups={}", resident)},
          {2 * resident, false, fmt::format("groups={}", 2 * resident)},
          {0x7fffffff, false, "a tile a group"},
          {resident, true, fmt::format("groups={}, a run each", resident)}};
}

// Kernels for GPUs: load width, loads in flight, group size, sharing.
std::vector<Candidate> gpu_candidates(device::Device& device, const device::Memory& memory, const device::Memory& sink) {
  std::vector<Candidate> candidates;
  const auto add = [&](const device::Kernel& kernel, std::uint32_t width, std::uint32_t unroll, std::uint32_t group_size) {
    const std::uint32_t at_once = device.info().compute_units * std::max(1u, 1024 / group_size);
    const std::uint32_t resident = std::max(1u, device.resident_groups(kernel, group_size).value_or(at_once));
    for (const Sharing& sharing : sharings(resident)) {
      const auto timer = [=, &device](std::uint64_t bytes) {
        const std::uint64_t count = bytes / width;
        const std::uint64_t tile = std::uint64_t{group_size} * unroll;
        const auto groups = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(ceil_div(count, tile), 1, sharing.groups));
        const std::uint64_t run = sharing.runs ? ceil_div(ceil_div(count, groups), tile) * tile : 0;
        return device_timer(device, [=, &device] {
          const device::Argument arguments[] = {memory, count, run, kUnlikely, sink};
          device.launch(kernel, {groups, group_size}, arguments);
        });
      };
      candidates.push_back({fmt::format("{}-byte loads x {}, group_size={}, {}", width, unroll, group_size, sharing.text), timer});
    }
  };
  for (const std::uint32_t wanted : {64u, 256u, 512u, 1024u}) {
    const std::uint32_t group_size = std::min(wanted, device.info().max_group_size);
    if (group_size < wanted && wanted != 64) continue;
    const device::Source source = ceiling_source(group_size);
    for (const std::uint32_t width : {4u, 8u, 16u}) {
      for (const std::uint32_t unroll : {1u, 2u, 4u, 8u}) {
        add(device::build(device, source, fmt::format("read_{}x{}", width, unroll)), width, unroll, group_size);
      }
    }
  }
  return candidates;
}

// Kernels for CPUs: one run per work-item.
std::vector<Candidate> cpu_candidates(device::Device& device, const device::Memory& memory, const device::Memory& sink) {
  std::vector<Candidate> candidates;
  for (const std::uint32_t unroll : {1u, 2u, 4u, 8u}) {
    const device::Kernel kernel = device::build(device, {{"ladder/ceiling/ceiling_cpu.cl"}, {}}, fmt::format("read_run_{}", unroll));
    for (const std::uint32_t per_unit : {1u, 2u, 4u}) {
      const std::uint32_t groups = per_unit * std::max(1u, device.info().compute_units);
      const auto timer = [=, &device](std::uint64_t bytes) {
        return device_timer(device, [=, &device] {
          const device::Argument arguments[] = {memory, bytes / 32, kUnlikely, sink};
          device.launch(kernel, {groups, 1}, arguments);
        });
      };
      candidates.push_back({fmt::format("32-byte loads x {}, group_size=1, groups={}", unroll, groups), timer});
    }
  }
  return candidates;
}

}  // namespace

device::Source ceiling_source(std::uint32_t group_size) { return {{"ladder/ceiling/ceiling.cl"}, {{"GROUP", std::to_string(group_size)}}}; }

std::string host_label(std::uint32_t threads) { return fmt::format("cpu, {} thread{}", threads, threads == 1 ? "" : "s"); }

Reader fastest_reader(const void* data, std::uint64_t bytes, std::uint32_t threads) {
  if (bytes == 0) return {host_label(threads), 0, {}, {}};
  const auto candidates = host_candidates(static_cast<const std::byte*>(data), bytes, threads);
  return fastest(host_label(threads), bytes, kHostSweepBytes, candidates);
}

Reader fastest_reader(device::Device& device, const device::Memory& memory, std::uint64_t bytes) {
  const std::uint64_t whole = bytes / 32 * 32;
  if (whole == 0) return {device.info().selector, 0, {}, {}};
  const device::Memory sink = device.allocate(sizeof(std::uint32_t));
  const bool cpu = device.info().is_cpu;
  const auto candidates = cpu ? cpu_candidates(device, memory, sink) : gpu_candidates(device, memory, sink);
  return fastest(device.info().selector, whole, cpu ? kHostSweepBytes : kDeviceSweepBytes, candidates);
}

ReadRate read_rate(const Reader& reader, const Statistics& seconds) {
  const double rate = seconds.median > 0 ? static_cast<double>(reader.bytes) / seconds.median : 0;
  return {reader.where, reader.bytes, seconds, rate, reader.configuration};
}

ReadRate read_rate(const Reader& reader, const Effort& effort) {
  return read_rate(reader, reader.timer ? measure(reader.timer, effort) : Statistics{});
}

}  // namespace samesum::bench
