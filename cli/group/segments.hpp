// --offsets, --lengths: reductions by segment of one array.
#pragma once

#include "command.hpp"

#include <samesum/array.hpp>
#include <samesum/axes.hpp>
#include <samesum/by.hpp>
#include <samesum/options.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace samesum::cli {

/// Two ways to say where segments lie, of which one is set: names of inputs of whole numbers, one file each.
struct SegmentsOptions {
  std::string offsets;     ///< ascending indices: segment i goes from offset i to offset i + 1
  std::string lengths;     ///< segment i is the next lengths[i] elements
  std::uint64_t ddof = 0;  ///< of variances and deviations, along axes too

  /// @throws Error (usage) where both are set.
  void check() const;
  bool wanted() const noexcept { return !offsets.empty() || !lengths.empty(); }
  std::string_view option() const noexcept { return lengths.empty() ? "--offsets" : "--lengths"; }
};

/// Adds --offsets and --lengths.
void add_options(CLI::App& command, SegmentsOptions& options);

/// The segments that these options name. @throws Error (usage) where the segments' input is wrong: with its name.
By division_by(const SegmentsOptions& segments);

/// `statistic` of each segment of `data`, which has one axis. Of "sum", "mean", "var", "std", "norm", "min", "max" and "count" alone.
/// @throws Error (usage) for another statistic, and where the segments' input is wrong: with its name.
Values segment_reduction(const Array& data, std::string_view statistic, const SegmentsOptions& segments, NanPolicy nan,
                         const Tuning& tuning);

}  // namespace samesum::cli
