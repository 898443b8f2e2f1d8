// What a reduction along axes needs of its elements.
#pragma once

#include "groups/axes.hpp"
#include "groups/expansion.hpp"

#include <samesum/axes.hpp>

namespace samesum::groups {

/// What is computed of elements of which type; `skip` leaves NaNs out, variances divide by the number of elements less `ddof`.
struct AxisWork {
  AxisReduction what;
  DType type;
  bool skip;
  std::uint64_t ddof = 0;

  bool is_variance() const { return what == AxisReduction::variance || what == AxisReduction::standard_deviation; }
  bool has_numbers() const { return what == AxisReduction::sum || what == AxisReduction::mean || is_variance(); }
  bool has_squares() const { return is_variance() || what == AxisReduction::norm || what == AxisReduction::squared_norm; }
  bool divides() const { return what == AxisReduction::mean || is_variance(); }
  uint moment() const {
    switch (what) {
      case AxisReduction::mean:
        return OF_MEAN;
      case AxisReduction::variance:
        return OF_VARIANCE;
      case AxisReduction::standard_deviation:
        return OF_DEVIATION;
      case AxisReduction::norm:
        return OF_NORM;
      case AxisReduction::squared_norm:
        return OF_SQUARED_NORM;
      default:
        return OF_SUM;
    }
  }
};

}  // namespace samesum::groups
