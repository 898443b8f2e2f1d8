// The checked options: the input of the CPU's loops and of the kernels.
#pragma once

#include <samesum/pairs.hpp>

#include <algorithm>
#include <cstdint>

namespace samesum::all_pairs {

struct Problem {
  DType type = DType::float32;
  PairFunction f = PairFunction::product;
  PairReduction reduction = PairReduction::sum;
  PairAccuracy accuracy = PairAccuracy::fast;
  std::uint64_t components = 1;
  std::uint64_t x_count = 0, y_count = 0;
  double factor = 0;     ///< of gaussian: -1/h, rounded to the type
  double softening = 0;  ///< of invdist: s squared, rounded to the type
  const void* a = nullptr;
  const void* b = nullptr;
  const void* weights = nullptr;  ///< none: all 1

  bool weighted() const noexcept { return weights != nullptr; }
  /// Part of the x, from `first` on.
  Problem part(std::uint64_t first, std::uint64_t count) const noexcept {
    Problem result = *this;
    result.a = static_cast<const char*>(a) + first * components * size_of(type);
    result.x_count = count;
    return result;
  }
};

/// The problem given by the arguments of pairs(); the views stay the caller's.
/// @throws Error (usage) as pairs(), except for missing capabilities.
Problem checked(const Array& a, const Array& b, const PairsProblem& options);

/// The output: values of C for x from `first` on, of the problem's type, or int64 for argmin.
struct Target {
  void* data = nullptr;
  Target part(std::uint64_t first, std::size_t bytes) const noexcept { return {static_cast<char*>(data) + first * bytes}; }
};

inline std::size_t result_bytes(const Problem& problem) noexcept {
  return problem.reduction == PairReduction::argmin ? sizeof(std::int64_t) : size_of(problem.type);
}

/// The keys by which minima are found: integers of the values' size, ordered NaN first, then -inf … -0.0, +0.0 … inf. For a maximum the
/// order is NaN first, then inf … -inf, so that the least key is again the result.
template <class Real>
struct KeyOf;
template <>
struct KeyOf<float> {
  using Type = std::int32_t;
  static constexpr Type kSign = INT32_MAX;
};
template <>
struct KeyOf<double> {
  using Type = std::int64_t;
  static constexpr Type kSign = INT64_MAX;
};
template <class Real>
using Key = typename KeyOf<Real>::Type;

}  // namespace samesum::all_pairs
