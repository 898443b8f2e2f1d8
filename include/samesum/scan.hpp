// Scans: the reduction of every prefix of the elements.
//
//   samesum::Values sums = samesum::scan(values);  // sums.as<double>()[i] is the exact sum of values[0] … values[i], rounded once
//   samesum::scan(matrix, {.axis = 0});            // down each column
//   samesum::scan(values, {.operation = samesum::ScanOperation::max});
//   samesum::scan(values, {.exclusive = true, .offsets = {0, 10, 30}});  // begins again at the indices 10 and 30
#pragma once

#include <samesum/array.hpp>
#include <samesum/axes.hpp>
#include <samesum/export.hpp>
#include <samesum/operator.hpp>
#include <samesum/options.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// What a scan computes of each prefix: the bits of the reduction of that prefix alone.
enum class ScanOperation {
  sum,            ///< of floats correctly rounded, as float64 or float32; of integers exact, as int64 or uint64
  product,        ///< of floats by the balanced tree over the index, as float64 or float32 as product(); of integers as int64 or uint64
  min,            ///< in the type of the elements; -0.0 < +0.0
  max,            ///< likewise
  count_nonzero,  ///< uint64
};

/// "sum", "product", "min", "max", "count_nonzero".
std::string_view name_of(ScanOperation operation) noexcept;

/// Which prefixes there are.
struct Scan {
  ScanOperation operation = ScanOperation::sum;
  /// Result i is that of the elements before element i, without it: of none, 0 (of products 1). Extremes of nothing do not exist.
  bool exclusive = false;
  /// Sums of floats are rounded to float32, once, instead of to float64.
  bool float32 = false;
  /// Along this axis, for each position along the others; -1 is the last. Unset: over all elements in C order.
  std::optional<std::int64_t> axis = {};
  /// The indices at which the scan begins again, ascending, in C order: segment k has the elements offsets[k] … offsets[k + 1] - 1, the
  /// last one those up to the end. The first offset is 0; equal ones are empty segments. Not together with an axis. Empty: one segment.
  std::vector<std::uint64_t> offsets = {};
};

/// One result for each element, in an array of the shape of `data`. Each is that of a prefix alone, so they have the same bits on every
/// device, for any number of threads. NaNs and infinities as in the reductions of prefixes: with NanPolicy::propagate a NaN holds for all
/// later results of its segment; a skipped one leaves the result as it was.
///
/// O(n); products of floats O(n log n). Two passes over blocks in the caches: sums of blocks, then prefixes within each. On the CPU sums
/// are kept as three doubles and a bound of what they leave out, which decides all but a few results (Ziv, 1991); the others, and all
/// if elements span more than that, are decided by exact accumulators. On a device that runs kernels and has float64, and if the
/// elements lie there without gaps, all scans but products are computed there, as far as six doubles hold each sum; all else on the host.
/// @throws Error (usage) for an axis that the array does not have, offsets that do not ascend from 0 to at most data.size(), both of them,
/// and exclusive extremes; Error (no_answer) if a sum or product of integers does not fit into 64 bits (the message has the index), and
/// if an extreme of skipped NaNs alone does not exist.
Values scan(const Array& data, const Scan& what = {}, const Options& options = {});
/// The same into memory of the caller's, in host memory or on the device of `data`: `to` has the shape of `data` and the type of the
/// results, lies in C order without gaps, and shares no memory with `data`. @throws Error (usage) if it does not.
void scan(const Array& data, const Scan& what, const Array& to, const Options& options = {});

/// Prefixes by an operator of one's own, which takes one component: result i has the bits of reduce() of the elements of its prefix, by the
/// balanced tree over the index within the segment, associative or not. Of Scan::operation and float32 nothing is used; an exclusive scan
/// begins with the identity. Works on the host: O(n log n) combinations.
/// @throws Error (usage) if the formula is no operator of such elements, has an Operator::finish, or the scan is exclusive and there is
/// no identity; Error (no_answer) if an integer operation fails.
Values scan(const Array& data, const Operator& op, const Scan& what = {}, const Options& options = {});

}  // namespace samesum
