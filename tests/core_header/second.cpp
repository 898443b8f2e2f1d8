// A second file of the same program with the header.
#include "samesum_core.hpp"

namespace other_unit {
double sum_of(const std::vector<double>& numbers) { return samesum_core::sum(numbers); }
}  // namespace other_unit
