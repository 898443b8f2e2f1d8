// The reference for a rung's results: C for some of the x.
#pragma once

#include <samesum/bench_pairs.hpp>

#include "pairs/problem.hpp"

#include <cstdint>
#include <vector>

namespace samesum::bench {

class PairsReference {
 public:
  PairsReference(const all_pairs::Problem& problem, const PairsProblem& pairs);

  /// The x that are checked.
  const std::vector<std::uint64_t>& samples() const noexcept { return samples_; }

  /// The largest error/bound of sums in float64 and compensated, which is below 1 for correct results. `depth`: the number of sequential
  /// additions.
  double error_ratio(const std::vector<char>& c, double depth, PairsRow& row) const;

  /// Whether the samples equal the CPU's bits, for problems where that is guaranteed. `values`: whether they are equal numbers, of which
  /// +0 and -0 are the same, or NaNs as there; of indices whether they are of such numbers.
  bool same_bits(const std::vector<char>& c, PairAccuracy accuracy, bool values = false) const;

 private:
  void sum_formula();
  // Whether f of sample number `x` and two y is the same number.
  bool same_value(const all_pairs::Problem& few, std::uint64_t x, std::uint64_t found, std::uint64_t expected) const;
  static std::uint64_t index_at(const std::vector<char>& c, std::uint64_t x);
  const char* at(const void* data, std::uint64_t element) const;
  std::vector<double> in_float64(const void* data, std::uint64_t count) const;
  double value_at(const std::vector<char>& c, std::uint64_t x) const;

  all_pairs::Problem problem_;
  std::vector<std::uint64_t> samples_;
  std::vector<double> right_, magnitudes_;
};

}  // namespace samesum::bench
