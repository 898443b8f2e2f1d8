// The checked options: the input of the CPU's loops and of the kernels.
#pragma once

#include <samesum/pairs.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace samesum::all_pairs {

struct PairFormula;  // pairs_formula.hpp
struct Nodes;        // tree/nodes.hpp

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
  std::uint64_t extras = 0;                         ///< elements of a y beside its components: its weight; of a formula all further inputs
  const void* of_y = nullptr;                       ///< these, y by y
  std::shared_ptr<const PairFormula> formula = {};  ///< in place of f
  std::shared_ptr<const Nodes> nodes = {};          ///< in place of the reduction: the tree over y
  std::uint32_t k = 1;                              ///< of smallest and argsmallest
  std::optional<DType> own_result = {};             ///< the type of C, where the reduction says so
  std::optional<DType> own_stored = {};             ///< the type of A and B in a device's memory, where it is another
  std::uint32_t results = 1;                        ///< numbers of C for each x
  std::uint64_t first = 0;                          ///< number of the first x, for errors
  bool may_fail = false;                            ///< an operation of f or of the reduction
  bool complex = false;                             ///< the two numbers of C for each x are parts of a complex one

  bool weighted() const noexcept { return extras != 0 && formula == nullptr; }
  bool greatest() const noexcept { return reduction == PairReduction::max || reduction == PairReduction::argmax; }
  bool indices() const noexcept {
    return reduction == PairReduction::argmin || reduction == PairReduction::argmax || reduction == PairReduction::argsmallest;
  }
  bool smallest() const noexcept { return reduction == PairReduction::smallest || reduction == PairReduction::argsmallest; }
  /// Several exact sums for each x, which are made one after the other.
  bool one_by_one() const noexcept { return nodes == nullptr && !smallest() && results > 1; }
  DType stored() const noexcept { return own_stored.value_or(type); }
  /// The type of C.
  DType result() const noexcept { return own_result ? *own_result : indices() ? DType::int64 : type; }
  /// Part of the x, from `begin` on.
  Problem part(std::uint64_t begin, std::uint64_t count) const noexcept {
    Problem some = *this;
    some.a = static_cast<const char*>(a) + begin * components * size_of(type);
    some.x_count = count;
    some.first = first + begin;
    return some;
  }
};

/// The problem given by the arguments of pairs(); the views stay the caller's.
/// @throws Error (usage) as pairs(), except for missing capabilities.
Problem checked(const Array& a, const Array& b, const PairsProblem& options);

/// A problem, and what belongs to its y beside B, to which it points, in host memory.
struct OwnProblem {
  Problem problem;
  std::vector<double> of_y;
};
/// As checked(), with weights and further inputs brought to host memory from wherever they lie, for that device.
/// @throws Error (usage) also where the device lacks what the answer needs.
OwnProblem prepared(const Array& a, const Array& b, const PairsProblem& options, const DeviceInfo& info);

/// The output: values of C for x from `first` on.
struct Target {
  void* data = nullptr;
  Target part(std::uint64_t first, std::size_t bytes) const noexcept { return {static_cast<char*>(data) + first * bytes}; }
};

/// Calls body(float()), body(double()) …: for a type in which C may be.
template <class Body>
decltype(auto) with_type(DType type, const Body& body) {
  switch (type) {
    case DType::float32:
      return body(float());
    case DType::float64:
      return body(double());
    case DType::uint64:
      return body(std::uint64_t());
    default:
      return body(std::int64_t());
  }
}

inline std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) noexcept { return (a + b - 1) / b; }

/// Of C for each x.
inline std::size_t result_bytes(const Problem& problem) noexcept { return problem.results * size_of(problem.result()); }

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
