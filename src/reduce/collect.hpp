// Where elements are collected from: the CPU's loops, and devices that run kernels.
#pragma once

#include "core/view.hpp"
#include "device/memory/run.hpp"
#include "reduce/slack.hpp"
#include "reduce/term.hpp"

#include <samesum/reduce.hpp>
#include <samesum/statistics.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace samesum::statistics {

/// The fields of a sum alone, which devices round too.
inline constexpr Fields kSumAlone{.extrema = false, .sum = true, .squares = false, .nonzeros = false};

/// What is to be collected, and how.
struct CollectOptions {
  Fields fields = {};
  std::uint32_t group_size = 0;  // as in Tuning
  std::uint32_t groups = 0;
  std::uint32_t threads = 0;
  Slack* slack = nullptr;  // the CPU's sums may be rounded: then this grows by how far they may be off
  bool resident = false;   // another kernel reads what a pass on a device leaves, so that lies in device memory
  bool records = false;    // and has to be the words of statistics.cl
};
inline CollectOptions collect_options(const Fields& fields, const Tuning& tuning) {
  return {fields, tuning.group_size, tuning.groups, tuning.threads};
}

/// With the field that counts NaNs: sums do, or else extremes.
inline CollectOptions with_nans(CollectOptions options) {
  options.fields.extrema |= options.fields.nonzeros || !(options.fields.sum || options.fields.squares);
  return options;
}

/// What was wanted of that: without the extremes, if they were looked for to count NaNs.
inline Statistics without_nans_field(Statistics found, const Fields& wanted) {
  return wanted.extrema || !found.contents().fields.extrema ? std::move(found) : found.without_extrema();
}

/// @throws Error (usage) unless a dot product can be made of arrays of these types and shapes.
void require_alike(const Array& a, const Array& b);

/// The number that a key stands for (extremes.hpp).
Value value_of(std::int64_t key, DType type);

Statistics collect_cpu(View data, const CollectOptions& options, std::uint32_t* threads_used = nullptr);
Statistics collect_cpu(HostTerms& terms, const CollectOptions& options, std::uint32_t* threads_used = nullptr);
ProductAccumulator dot_cpu(View a, View b, std::uint32_t threads, std::uint32_t* threads_used = nullptr);

/// Data in host memory, in chunks that fit into the device. `report`, where given, is completed.
Statistics collect_on_device(View data, device::Device& device, const CollectOptions& options, Report* report);
ProductAccumulator dot_on_device(View a, View b, device::Device& device, const CollectOptions& options, Report* report);

/// The same of arrays in the device's memory.
Statistics collect_on_device(const device::Run& data, DType type, device::Device& device, const CollectOptions& options, Report* report);
ProductAccumulator dot_on_device(const device::Run& a, const device::Run& b, DType type, device::Device& device,
                                 const CollectOptions& options, Report* report);

/// The same of terms, at least one, of which a launch takes `most` or fewer; done(positions) after each launch.
Statistics collect_terms(Terms& terms, const CollectOptions& options, std::uint64_t most, Report* report,
                         const std::function<void(std::uint64_t)>& done);

/// Positions of a launch: all, or as many as are taken between two calls of a progress function.
std::uint64_t positions_of_launch(const Terms& terms, bool progress);

}  // namespace samesum::statistics
