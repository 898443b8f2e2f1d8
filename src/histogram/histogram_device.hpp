// Counting on a device that runs kernels.
#pragma once

#include "core/view.hpp"
#include "device/device.hpp"
#include "device/kernels/program.hpp"
#include "device/memory/run.hpp"
#include "histogram/plan.hpp"

#include <samesum/buffer.hpp>
#include <samesum/histogram.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace samesum::binning {

/// Where counters are while a group counts: as count.cl numbers them.
enum class Counters { local32, local16, global };
/// How a slot is guessed: likewise.
enum class Guess { pattern, even, trie, trie_by_value };

/// How the kernel is built and launched.
struct Configuration {
  Guess guess = Guess::pattern;
  Counters counters = Counters::local32;
  std::uint32_t copy_bits = 0;
  bool edges_local = false;
  bool ahead = false;  ///< the next tile is loaded while one is counted
  bool hot = false;    ///< of 16-bit counters: slots with many samples have further ones
  std::uint32_t group_size = 0;
  std::uint32_t resident = 0;  ///< groups on a compute unit at once
  std::uint32_t loads = 0;
  std::uint32_t steps = 1;  ///< so many times as many in what a group draws at once
  std::uint32_t groups = 0;
  std::uint32_t local_bytes = 0;

  std::string text() const;
};

/// What is to be counted: the slots of a plan, or (`plan` null) the bytes of so many channels that take turns.
struct Problem {
  const Plan* plan = nullptr;
  std::uint32_t channels = 1;

  DType type() const noexcept { return plan != nullptr ? plan->type() : DType::uint8; }
  /// Slots of the kernel: of the plan, or of all patterns.
  std::uint64_t slots() const noexcept;
};

/// The configuration for about so many samples. `trie` receives it where it is needed.
Configuration choose(const DeviceInfo& info, std::uint64_t local_bytes, const Problem& problem, std::uint64_t samples,
                     std::uint32_t group_size, Trie& trie);

/// The local memory that a group needs for its counters, copies of edges and all.
std::uint64_t local_bytes_of(const Problem& problem, const Configuration& configuration, const Trie& trie);

/// The kernel's source for `problem`.
device::Source count_source(const Problem& problem, const Configuration& configuration);

/// Counts what lies in a device's memory. Used with the device's mutex held; `problem` outlives it.
class DeviceHistogram {
 public:
  /// @throws Error (usage) for a group size that the device cannot run.
  DeviceHistogram(device::Device& device, const Problem& problem, std::uint64_t samples, std::uint32_t group_size = 0);
  /// With a configuration of the caller's own: to measure others.
  DeviceHistogram(device::Device& device, const Problem& problem, const Configuration& configuration, Trie trie);

  /// Enqueues: all counts are 0.
  void clear();
  /// Enqueues: counts `count` samples of `data` from byte `offset` on. At most kMostCounted since clear().
  void launch(const device::Memory& data, std::uint64_t count, std::uint64_t offset = 0);
  static constexpr std::uint64_t kMostCounted = 0xffffffff;
  /// Builds what export_to() takes. @throws Error (usage) where the device cannot do it.
  void prepare_export();
  /// Enqueues: the counts since clear() go to `to`, as 64-bit numbers: one for each slot of the plan, which there must be.
  void export_to(const device::Place& to);
  /// What was counted since clear(), which it waits for: over the bins that the plan was made for.
  Histogram result(const Bins& bins);
  /// Adds what was counted since clear() to `slots`; waits for it.
  void add_to(std::vector<std::uint64_t>& slots);

  const Configuration& configuration() const noexcept { return configuration_; }
  std::uint64_t slots() const noexcept { return problem_.slots(); }

 private:
  void prepare();
  std::span<const std::uint32_t> read();
  template <class Key, class Real>
  void launch_typed(const device::Memory& data, std::uint64_t count, std::uint64_t offset, std::uint32_t head, device::Grid grid);

  device::Device& device_;
  Problem problem_;
  Trie trie_;
  Configuration configuration_;
  device::Kernel count_, clear_, export_;
  device::Memory thresholds_, words_;
  device::Memory slot_of_;         // of each pattern, where patterns are counted
  device::Memory counts_, spare_;  // taken in turn: a launch clears the other
  bool counts_clean_ = false, spare_clean_ = false;
  std::uint32_t drawn_ = 0;             // tiles, since the counts were cleared
  std::vector<std::uint32_t> counted_;  // the counts on the host
};

/// The slots of `data`, which lies in host memory and goes through the device in chunks.
std::vector<std::uint64_t> count_on_device(View data, const Problem& problem, device::Device& device, const Tuning& options,
                                           Report* report);

/// The histogram of an array in the device's own memory. Where it is no single run without strides, or does not begin at a multiple of 16
/// bytes, it is first copied, by parts, to where it does. What is made for the bins is kept by the device for the next call with the same:
/// that costs its kernel and a copy of the counts.
Histogram count_in_buffer(const Array& data, const Bins& bins, const Tuning& options, Report* report);

}  // namespace samesum::binning
