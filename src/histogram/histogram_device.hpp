// Counting on a device by kernels.
#pragma once

#include "core/threads/parallel.hpp"
#include "core/view.hpp"
#include "device/device.hpp"
#include "device/kernels/program.hpp"
#include "device/memory/run.hpp"
#include "histogram/plan.hpp"
#include "reduce/term.hpp"

#include <samesum/buffer.hpp>
#include <samesum/histogram.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace samesum::binning {

/// The counters' place and size while a group counts; numbered as in count.cl.
enum class Counters { local32, local16, global };
/// How a slot is guessed; numbered as in count.cl.
enum class Guess { pattern, even, trie, trie_by_value, floor };

/// The parameters of a kernel and its launch.
struct Configuration {
  Guess guess = Guess::pattern;
  Counters counters = Counters::local32;
  std::uint32_t copy_bits = 0;
  std::uint32_t near_slots = 0;  ///< of counters in global memory: slots that have local counters in each group, around its first samples
  bool edges_local = false;
  bool ahead = false;  ///< the next tile is loaded while one is counted
  bool hot = false;    ///< of 16-bit counters: slots with many samples have additional ones
  std::uint32_t group_size = 0;
  std::uint32_t resident = 0;  ///< groups on a compute unit at once
  std::uint32_t loads = 0;
  std::uint32_t steps = 1;  ///< the number of tiles that a group takes at once
  std::uint32_t groups = 0;
  std::uint32_t local_bytes = 0;

  std::string text() const;
};

/// Whether the plan's Even is right on the device.
bool guesses_evenly(const DeviceInfo& info, const Plan& plan);

/// The numbers in a device's memory, of 16 bytes at least.
template <class Numbers>
device::Memory upload(device::Device& device, const Numbers& numbers) {
  const std::uint64_t bytes = numbers.size() * sizeof numbers[0];
  device::Memory memory = device.allocate(std::max<std::uint64_t>(bytes, 16));
  if (bytes != 0) device.write(memory, 0, numbers.data(), bytes);
  return memory;
}
/// The same of what `convert` makes of each of them.
template <class Key, class Numbers, class Convert>
device::Memory upload(device::Device& device, const Numbers& numbers, const Convert& convert) {
  Filled<Key> converted(numbers.size());
  core::parallel_parts(numbers.size(), std::uint64_t{1} << 16, [&](std::uint64_t begin, std::uint64_t end) {
    std::transform(numbers.begin() + begin, numbers.begin() + end, converted.begin() + begin, convert);
  });
  return upload(device, converted);
}

/// The thresholds of a plan, as kernels take them with this guess.
device::Memory upload_thresholds(device::Device& device, const Plan& plan, Guess guess);

/// What is counted: the slots of a plan, or (`plan` null) the bytes of `channels` interleaved channels.
struct Problem {
  const Plan* plan = nullptr;
  std::uint32_t channels = 1;

  DType type() const noexcept { return plan != nullptr ? plan->type() : DType::uint8; }
  /// Slots in the kernel: those of the plan, or all patterns.
  std::uint64_t slots() const noexcept;
};

/// The configuration for about `samples` samples. `trie` receives the trie, where the configuration uses one.
Configuration choose(const DeviceInfo& info, std::uint64_t local_bytes, const Problem& problem, std::uint64_t samples,
                     std::uint32_t group_size, Trie& trie);

/// The local memory of a group: counters, copies of the edges, and the rest.
std::uint64_t local_bytes_of(const Problem& problem, const Configuration& configuration, const Trie& trie);

/// The kernel's source for `problem`, whose samples are values of `term` if there is one.
device::Source count_source(const Problem& problem, const Configuration& configuration, const statistics::TermCode* term = nullptr);

/// Counts samples in a device's memory. Requires that the device's mutex is held; `problem` must outlive it.
class DeviceHistogram {
 public:
  /// `term`: samples are values of a formula. @throws Error (usage) for a group size that the device cannot run.
  DeviceHistogram(device::Device& device, const Problem& problem, std::uint64_t samples, std::uint32_t group_size = 0,
                  const statistics::TermCode* term = nullptr);
  /// With an explicit configuration, for measurements.
  DeviceHistogram(device::Device& device, const Problem& problem, const Configuration& configuration, Trie trie);

  /// Enqueues setting all counts to 0.
  void clear();
  /// Enqueues counting `count` samples of `data` from byte `offset` on. At most kMaxCounted samples since clear().
  void launch(const device::Memory& data, std::uint64_t count, std::uint64_t offset = 0);
  /// The same of a formula's values; their code is that of the constructor, or differs in how arrays are read.
  void launch(const statistics::Term& term);
  static constexpr std::uint64_t kMaxCounted = 0xffffffff;
  /// Builds the kernel of export_to(). @throws Error (usage) where the device cannot run it.
  void prepare_export();
  /// Enqueues writing the counts since clear() to `to`, as 64-bit numbers: one for each slot of the plan, which must be set.
  void export_to(const device::Place& to);
  /// Waits, and gives the counts since clear(), over the bins that the plan was made for.
  Histogram result(const Bins& bins);
  /// Waits, and adds the counts since clear() to `slots`.
  void add_to(std::vector<std::uint64_t>& slots);

  const Configuration& configuration() const noexcept { return configuration_; }
  std::uint64_t slots() const noexcept { return problem_.slots(); }

 private:
  void prepare(const statistics::TermCode* term = nullptr);
  std::span<const std::uint32_t> read();
  template <class Key, class Real>
  void launch_typed(std::vector<device::Argument> data, std::uint64_t count, std::uint32_t head, device::Grid grid);
  void launch_any(std::vector<device::Argument> data, std::uint64_t count, std::uint32_t head);

  device::Device& device_;
  Problem problem_;
  Trie trie_;
  Configuration configuration_;
  device::Kernel count_, clear_, export_;
  std::string term_;  // the code of the formula that count_ has, if it has one
  device::Memory thresholds_, words_;
  device::Memory slot_of_;         // the slot of each pattern, where patterns are counted
  device::Memory counts_, spare_;  // used alternately: a launch clears the other
  bool counts_clean_ = false, spare_clean_ = false;
  bool recorded_ = false;               // into a graph, since the counts were cleared
  std::uint32_t drawn_ = 0;             // tiles taken since the counts were cleared
  std::vector<std::uint32_t> counted_;  // the counts on the host
};

/// The slot counts of `data` in host memory, which is copied to the device in chunks.
std::vector<std::uint64_t> count_on_device(View data, const Problem& problem, device::Device& device, const Tuning& options,
                                           Report* report);

/// The histogram of an array in the device's own memory. An array that is not one contiguous run, or not aligned to 16 bytes, is first
/// gathered, in parts. The device caches what was prepared for the bins: the next call with the same bins costs its kernel and a copy of
/// the counts.
Histogram count_in_buffer(const Array& data, const Bins& bins, const Tuning& options, Report* report);

/// The histogram of a formula's values, which the kernel computes; done(positions) after each launch, of `most` or fewer.
Histogram count_terms(statistics::Terms& terms, const Bins& bins, const Tuning& options, std::uint64_t most, Report* report,
                      const std::function<void(std::uint64_t)>& done);

}  // namespace samesum::binning
