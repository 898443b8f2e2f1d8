// --offsets, --lengths, --keys: the elements of one array in groups.
#pragma once

#include "command.hpp"

#include <samesum/by.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace samesum::cli {

/// Ways to say which elements are a group, of which one is set: names of inputs of whole numbers, one file each.
struct DivisionOptions {
  std::string offsets;     ///< ascending indices: segment i goes from offset i to offset i + 1
  std::string lengths;     ///< segment i is the next lengths[i] elements
  std::string keys;        ///< elements with equal keys are a group
  std::uint64_t ddof = 0;  ///< of variances and deviations, along axes too

  /// @throws Error (usage) where several are set.
  void check() const;
  bool wanted() const noexcept { return !offsets.empty() || !lengths.empty() || !keys.empty(); }
  const std::string& file() const noexcept { return !offsets.empty() ? offsets : !lengths.empty() ? lengths : keys; }
  std::string_view option() const noexcept { return !offsets.empty() ? "--offsets" : !lengths.empty() ? "--lengths" : "--keys"; }
};

/// Adds --offsets and --lengths.
void add_segments(CLI::App& command, DivisionOptions& options);
/// Of these and --keys.
void add_division(CLI::App& command, DivisionOptions& options);

/// The groups that these options name, of keys in ascending order. @throws Error (usage) where their input is wrong: with its name.
By division_by(const DivisionOptions& division, std::uint64_t elements);

}  // namespace samesum::cli
