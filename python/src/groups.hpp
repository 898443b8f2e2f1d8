// Results of many groups.
#pragma once

#include <nanobind/nanobind.h>
#include <samesum/axes.hpp>
#include <samesum/group_sums.hpp>
#include <samesum/types.hpp>

#include <cstdint>
#include <string>

namespace samesum::python {

/// What is kept of each group for 'sum', 'mean', 'var', 'std', 'norm', 'min' or 'max'.
GroupOptions kept_for(const std::string& what);
/// These of each group. @throws Error where one has no answer.
Values values_of(const GroupSums& sums, const std::string& what, std::uint64_t ddof, NanPolicy nan);

void bind_groups(nanobind::module_& m);
void bind_parts(nanobind::module_& m);

}  // namespace samesum::python
