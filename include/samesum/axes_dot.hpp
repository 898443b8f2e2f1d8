// Dot products along axes, and products of matrices: many exact sums of products, each rounded once.
//
//   samesum::Values scores = samesum::dot(queries, keys, samesum::Axes{-1});  // of each row of one with the same row of the other
//   samesum::Values c = samesum::matmul(a, b);                                 // of each row of a with each column of b
#pragma once

#include <samesum/array.hpp>
#include <samesum/axes.hpp>
#include <samesum/export.hpp>
#include <samesum/options.hpp>

namespace samesum SAMESUM_EXPORT {

/// The sums of a[i]·b[i] along `axes` of the shape to which both arrays are broadcast (numpy's rules: shapes are aligned at their last
/// axes, an extent of 1 is repeated): for each position along the other axes the same bits as dot() of these elements alone. Of floats
/// float64, correctly rounded; of integers int64 or uint64, exact. Sums of no products are 0.
///
/// O(products), on all cores, in blocks that stay in the caches, as products of matrices are computed. Each sum is kept as two
/// doubles with a bound of what they lack (Ogita, Rump, Oishi: Accurate sum and dot product, SIAM J. Sci. Comput. 26, 2005). The few that
/// these do not determine, those with infinities or NaNs, and sums of 64-bit integers are added up one by one in integers.
/// @throws Error (usage) for shapes that do not fit, for arrays of different types or on different devices, and as axis_reduction();
/// Error (no_answer) if a sum of integers does not fit: the message names its position.
Values dot(const Array& a, const Array& b, const Axes& axes, const Options& options = {});
/// The same into memory of the caller's, as axis_reduction() has it.
void dot(const Array& a, const Array& b, const Axes& axes, const Array& to, const Options& options = {});

/// The product of matrices, with numpy's rules for `matmul`: of the last two axes of both, (n, k) and (k, m), for each position along the
/// axes before them, which are broadcast. An array of one axis is a row on the left and a column on the right, which the result lacks
/// then. Types, bits and errors as dot(). @throws Error (usage) also for an array without an axis.
Values matmul(const Array& a, const Array& b, const Options& options = {});
/// The same into memory of the caller's.
void matmul(const Array& a, const Array& b, const Array& to, const Options& options = {});

}  // namespace samesum
