// The textbook's sums: the reference that exact sums are compared with.
#pragma once

#include <samesum/array.hpp>
#include <samesum/export.hpp>

namespace samesum SAMESUM_EXPORT {

/// `data` added up one element after the other, first to last, every addition rounded to the type of the elements, beginning with `start`: the
/// sum of what comes before, if the data come in several arrays. O(n), one thread.
/// @throws Error (usage) for any type but float32 and float64.
double plain_sum_forward(const Array& data, double start = 0);
/// The same, last to first.
double plain_sum_backward(const Array& data, double start = 0);

}  // namespace samesum
