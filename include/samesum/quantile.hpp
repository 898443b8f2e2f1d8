// Medians and other quantiles: exact, of every type, in bounded memory.
//
//   const std::span<const float> values = …;
//   const samesum::Value middle = samesum::median(values);
//   const samesum::Quantiles found = samesum::quantiles(values, std::vector{0.1, 0.5, 0.9});
//   const samesum::Values of_rows = samesum::median(matrix, samesum::Axes{1});
//
// The quantile q of n numbers is the element at index (n - 1)q of the sorted numbers, counted from 0. The numbers are not sorted: a few
// passes count digits of their keys (src/quantile/select.hpp), so that memory does not grow with n.
#pragma once

#include <samesum/array.hpp>
#include <samesum/axes.hpp>
#include <samesum/buffer.hpp>
#include <samesum/by.hpp>
#include <samesum/export.hpp>
#include <samesum/options.hpp>
#include <samesum/source.hpp>
#include <samesum/types.hpp>
#include <samesum/value.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// What a quantile is if the index (n - 1)q is not an integer; the names are numpy's.
enum class QuantileMethod {
  linear,    ///< linear interpolation between both neighbours
  lower,     ///< the neighbour below
  higher,    ///< the neighbour above
  nearest,   ///< the nearer neighbour; at equal distance the one with the even index
  midpoint,  ///< the mean of both
};

/// "linear", "lower", ….
std::string_view name_of(QuantileMethod method) noexcept;
/// @throws Error (usage) for any other name, listing those that are known.
QuantileMethod parse_quantile_method(std::string_view name);

/// The definition of a quantile, and the type of the result.
struct QuantileRule {
  QuantileMethod method = QuantileMethod::linear;
  bool to_float = false;  ///< as a float32: its exact value, rounded once
};

struct Quantiles {
  /// One for each q, in the order of the q.
  ///
  /// If the index is an integer, or the method picks a neighbour, the value is that element, in the type of the elements. Between two
  /// different neighbours it is the exact value, rounded once to the nearest double; of integers the integer itself, if the exact value
  /// is one. -0.0 < +0.0. Between -inf and +inf it is NaN. With NanPolicy::propagate, a NaN among the elements makes every quantile the
  /// canonical NaN.
  std::vector<Value> values;
  std::uint64_t count = 0;  ///< elements, NaNs included
  std::uint64_t nan_count = 0;
};

/// The quantiles `q` of the elements of `data`, all of them in the same passes.
///
/// Each q lies in [0, 1] and stands for the shortest decimal number that reads back as this double: 0.9 is exactly nine tenths, and the
/// index is exact. A q between 0 and 1e-20 is refused. Time: O(n): one pass over arrays of up to 2^20 elements and over types of up to 16
/// bits, otherwise usually two passes, and at most 2 (32 bits) or 4 (64 bits); many quantiles may need more. Memory: under 40 MiB, and up
/// to 8 MiB for each thread. May be called from several threads at once.
/// @throws Error (no_answer) if there are no elements, or all are NaN and skipped; Error (usage) for an invalid q.
/// It runs on the CPU, but for arrays of more than 4096 elements on a device that runs kernels: there, unless `options` name another
/// device. Others in a device's memory are copied to the host in parts of 64 MiB at most, once for each pass.
Quantiles quantiles(const Array& data, std::span<const double> q, const QuantileRule& rule = {}, const Options& options = {});
/// The same over a source, which is opened again for each pass: `open` must give the same numbers each time. If its type() is unknown
/// (text), integers of 64 bits and doubles are compared exactly with one another; that takes up to 5 passes.
/// @throws Error (usage) if two passes differ.
Quantiles quantiles(const std::function<std::unique_ptr<Source>()>& open, std::span<const double> q, const QuantileRule& rule = {},
                    const Options& options = {});

/// A single quantile. As quantiles().
Value quantile(const Array& data, double q, const QuantileRule& rule = {}, const Options& options = {});
/// quantile(data, 0.5): the middle element, or the mean of both middle elements.
Value median(const Array& data, const Options& options = {});

/// The quantiles of the elements along `axes`: the first axis of the result is that of `q`, the others are those that are left. Each is the
/// same as of these elements alone, as a float64 where the method is linear or midpoint, otherwise in the type of the elements; of a `rule`
/// to_float all are float32.
///
/// O(n) for n elements, by all cores. Lists of up to 512 elements, of narrower types up to 2048, are sorted by a network, many at once in
/// the lanes of vectors: O(n log² m) for m elements each. Of an array on a device that runs kernels
/// these find the elements, if it is reduced along axes that are equivalent to one, and keeps axes that are equivalent to two at most; others
/// in a device's memory are copied to the host.
/// @throws Error (usage) for an invalid q or axis; Error (no_answer) where a result has no elements, or only NaNs that are skipped: the
/// message names its position.
Values quantiles(const Array& data, std::span<const double> q, const Axes& axes, const QuantileRule& rule = {},
                 const Options& options = {});
/// A single quantile, without an axis for q. As quantiles().
Values quantile(const Array& data, double q, const Axes& axes, const QuantileRule& rule = {}, const Options& options = {});
/// The medians of the elements along `axes`, float64.
Values median(const Array& data, const Axes& axes, const Options& options = {});

/// The quantiles of each group, in the order of By::keys(): the first axis of the result is that of `q`, the second that of the groups.
/// Values and types are as along axes. A group without elements, or only of NaNs that are skipped, gives NaN.
///
/// O(n) for n elements, on the CPU. Groups by key need a copy of the elements, in the order of their groups.
/// @throws Error (usage) for an invalid q, or another number of elements than `by` divides; Error (no_answer) where results are integers
/// and a group has none: the message names it.
Values quantiles(const Array& data, std::span<const double> q, const By& by, const QuantileRule& rule = {}, const Options& options = {});
/// A single quantile of each group. As quantiles().
Values quantile(const Array& data, double q, const By& by, const QuantileRule& rule = {}, const Options& options = {});
/// The medians of groups, float64.
Values median(const Array& data, const By& by, const Options& options = {});

}  // namespace samesum
