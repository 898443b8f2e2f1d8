// The candidates of tuning: the shapes that are tried.
#pragma once

#include "tuning/record.hpp"

#include <samesum/plan.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace samesum::tuning {

/// An operation that can be tuned.
struct Tunable {
  std::string_view name;
  samesum::Operation operation;
  bool two_arrays;
};
const std::vector<Tunable>& tunables();

/// A plan whose shapes are found in these records alone has one certain shape.
struct Candidate {
  std::vector<Record> records;
  /// Whether a plan with this configuration has that shape; it has another one where the device cannot run it.
  bool is_used(const std::string& configuration) const;
};

/// All candidates for arrays of this many bytes, in an order in which any first part of them is spread over the space. Their records are for
/// arrays of more than a quarter of `bytes`, up to `bytes`.
std::vector<Candidate> candidates(const DeviceInfo& info, std::string_view operation, DType type, std::uint64_t bytes);

}  // namespace samesum::tuning
