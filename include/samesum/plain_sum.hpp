// The textbook's sums: the reference that exact sums are compared with.
#pragma once

#include <samesum/array.hpp>
#include <samesum/export.hpp>

namespace samesum SAMESUM_EXPORT {

/// `data` added up one element after the other, first to last, every addition rounded to the type of the elements. O(n), one thread.
/// @throws Error (usage) for any type but float32 and float64.
double plain_sum_forward(const Array& data);
/// The same, last to first.
double plain_sum_backward(const Array& data);

}  // namespace samesum
