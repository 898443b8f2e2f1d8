// Results of an operator of one's own, for many groups at once.
#pragma once

#include "formula/operator/operator_tree.hpp"

#include <samesum/array.hpp>
#include <samesum/axes.hpp>
#include <samesum/error.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace samesum::groups {

/// What a result is called in messages: "at (0, 3)", "of group 3".
using ResultName = std::function<std::string(std::uint64_t result)>;

/// States of these types, an array for each component.
class OperatorResults {
 public:
  OperatorResults(std::span<const formula::Scalar> types, const std::vector<std::uint64_t>& shape);

  /// Where result number `result` and those behind it go, of each component.
  std::vector<std::byte*> from(std::uint64_t result);
  void put(std::uint64_t result, const formula::State& state, std::span<const formula::Scalar> types);
  void fill(const formula::State& state, std::span<const formula::Scalar> types);
  std::vector<Values>& values() noexcept { return values_; }

 private:
  std::vector<Values> values_;
};

/// The error of a result, which is named.
Error named_error(const formula::Bound& bound, const std::string& name, const Error& error);

/// The root over these elements alone, in C order. @throws Error (no_answer) if an operation fails.
formula::State root_of(const formula::Bound& bound, std::span<const Array> components, std::uint32_t threads);

/// Throws the error of the first result in which an operation fails, of `results` among which there is one.
[[noreturn]] void throw_first_failure(const formula::Bound& bound, std::uint64_t results,
                                      const std::function<std::vector<Array>(std::uint64_t result)>& elements_of, const ResultName& name,
                                      std::uint32_t threads);

/// What Operator::finish makes of all results.
std::vector<Values> finished(const formula::Bound& bound, std::vector<Values> states, const ResultName& name);

}  // namespace samesum::groups
