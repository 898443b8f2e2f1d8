// Results of many groups: sums by key and by index, scans, histograms over several axes, all pairs.
#pragma once

#include <nanobind/nanobind.h>

namespace samesum::python {

void bind_groups(nanobind::module_& m);

}  // namespace samesum::python
