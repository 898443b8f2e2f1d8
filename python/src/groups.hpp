// Results of many groups.
#pragma once

#include "formulas.hpp"

#include <nanobind/nanobind.h>
#include <samesum/axes.hpp>
#include <samesum/group_sums.hpp>
#include <samesum/pairs.hpp>
#include <samesum/types.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace samesum::python {

/// What is kept of each group for 'sum', 'mean', 'var', 'std', 'norm', 'min' or 'max'.
GroupOptions kept_for(const std::string& what);
/// These of each group. @throws Error where one has no answer.
Values values_of(const GroupSums& sums, const std::string& what, std::uint64_t ddof, NanPolicy nan);

/// A problem of all pairs of the vectors of `a` and `b`, with the arrays that it reads. The other arguments are those of samesum.pairs.
struct PairsOf {
  PairsOf(const View& a, const View& b, const std::string& f, const std::string& reduction, const std::string& accuracy, double h,
          double softening, nb::handle weights, std::uint32_t k, const std::string& combine, const std::string& finish, nb::handle identity,
          const nb::dict& named);

  PairsProblem problem;
  std::unique_ptr<View> weight;
  Inputs inputs;
};
/// An array of what was found for each of `vectors` vectors; a row for each where there are several numbers.
nb::object array_of(const PairsResult& found, std::uint64_t vectors);

void bind_groups(nanobind::module_& m);
void bind_parts(nanobind::module_& m);

}  // namespace samesum::python
