// Reductions by key and by segment: one result for each group of elements.
//
//   const samesum::By groups = samesum::by(cities);               // any integers; groups in ascending order of the keys
//   samesum::Values totals = samesum::sum(prices, groups);        // of groups.keys() one after the other
//   samesum::sum(prices, samesum::by(cities, 1000));              // keys that are 0 to 999: group i is that of key i
//   samesum::mean(samples, samesum::by_offsets(starts));          // ragged rows: from each start to the next
//
// Operators of one's own, and reductions of what a formula gives: samesum/by_formula.hpp.
#pragma once

#include <samesum/array.hpp>
#include <samesum/axes.hpp>
#include <samesum/export.hpp>
#include <samesum/group_sums.hpp>
#include <samesum/options.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace samesum SAMESUM_EXPORT {

/// The order of the groups of by().
enum class KeyOrder {
  sorted,      ///< in ascending order of their keys
  first_seen,  ///< in the order in which their keys first occur
};

/// A division of elements into groups. A handle: copies share what it holds.
class By {
 public:
  std::uint64_t groups() const noexcept;    ///< their number
  std::uint64_t elements() const noexcept;  ///< how many are divided
  /// The key of each group, in the type of the keys; if keys are the numbers of groups, and of segments, these numbers
  /// as uint64: O(groups) when they are first asked for.
  const Values& keys() const;
  /// Of segments their offsets, one more than groups; empty if keys divide the elements.
  std::span<const std::uint64_t> offsets() const noexcept;
  /// The number of each element's group, of an integer type, in host memory or on a device; empty for segments. Valid as long as this
  /// object and, if keys are the numbers of groups, the keys.
  Array indices() const;
  /// The sums of such groups, with what `options` ask for; added up on a device if the elements and the keys, or segments, lie there.
  /// @throws Error (usage) unless `data` has elements() elements.
  GroupSums sums(const Array& data, const GroupOptions& options = {}) const;

 private:
  struct Division;
  explicit By(std::shared_ptr<const Division> division) noexcept : division_(std::move(division)) {}
  friend SAMESUM_EXPORT By by(const Array& keys, KeyOrder order);
  friend SAMESUM_EXPORT By by(const Array& keys, std::uint64_t groups);
  friend SAMESUM_EXPORT By by_offsets(const Array& offsets);
  friend SAMESUM_EXPORT By by_lengths(const Array& lengths);
  friend SAMESUM_EXPORT Values sum(const Array& data, const By& by, const Options& options);
  friend SAMESUM_EXPORT void sum(const Array& data, const By& by, const Array& to, const Options& options);
  bool sum_there(const Array& data, NanPolicy nan, const Array& to) const;

  std::shared_ptr<const Division> division_;
};

/// Elements with equal keys are a group; keys are integers of any type. O(n), and O(groups log groups) if they are sorted; 8 bytes of
/// memory an element. Keys on a device that runs kernels are sorted and numbered there, and their numbers stay there. @throws Error (usage)
/// if the keys are no integers.
By by(const Array& keys, KeyOrder order = KeyOrder::sorted);
/// Keys are the numbers of groups, 0 to groups - 1, of which any may be empty. O(1): the keys stay where they are and must outlive the
/// result. Errors as GroupSums::add().
By by(const Array& keys, std::uint64_t groups);
/// Group i is the elements from offset i to offset i + 1, the latter excluded: one offset more than groups, ascending, where equal ones
/// make an empty group. Elements before the first offset and after the last belong to none.
/// @throws Error (usage) for no offset, and for one that is negative, below the one before it, or (in a reduction) beyond the elements.
By by_offsets(const Array& offsets);
/// Group i is the next `lengths[i]` elements. @throws Error (usage) for a negative length.
By by_lengths(const Array& lengths);

// Of each group, the same bits as the function of its elements alone. If these have no answer for no elements, the result is NaN.
// @throws Error (usage) for another number of elements, Error (no_answer) if a sum of integers does not fit, or the extrema of integers
// are of no elements: the message names the group.

/// As GroupSums::sums(), means(), variances(), counts().
Values sum(const Array& data, const By& by, const Options& options = {});
inline Values mean(const Array& data, const By& by, const Options& options = {}) {
  return by.sums(data, {.threads = options.tuning.threads}).means(options.nan);
}
inline Values variance(const Array& data, const By& by, std::uint64_t ddof = 0, const Options& options = {}) {
  return by.sums(data, {.squares = true, .threads = options.tuning.threads}).variances(ddof, options.nan);
}
/// As GroupSums::standard_deviations(), norms().
inline Values standard_deviation(const Array& data, const By& by, std::uint64_t ddof = 0, const Options& options = {}) {
  return by.sums(data, {.squares = true, .threads = options.tuning.threads}).standard_deviations(ddof, options.nan);
}
inline Values norm(const Array& data, const By& by, const Options& options = {}) {
  return by.sums(data, {.squares = true, .threads = options.tuning.threads}).norms(options.nan);
}
inline Values count(const Array& data, const By& by, const Options& options = {}) {
  return by.sums(data, {.threads = options.tuning.threads}).counts(options.nan);
}
/// sum() into memory of the caller's, as GroupSums::sums(to): on the device of the elements results stay there. After an error `to` is
/// undefined.
void sum(const Array& data, const By& by, const Array& to, const Options& options = {});
/// Of floats float64, of integers int64 or uint64.
Values min(const Array& data, const By& by, const Options& options = {});
Values max(const Array& data, const By& by, const Options& options = {});

/// Any reduction of each group, with the types of axis_reduction(), but for extrema: those of min() and max() above. Positions (argmin) are
/// indices of `data` in C order. Of groups without elements sums, norms and counts of nonzeros are 0, products 1, the others as above.
/// Products and positions are computed of elements that are brought into the order of their groups first: O(n) memory more, on the device
/// of the elements if it runs kernels.
/// `ddof`: what variances and standard deviations subtract from the number of elements. @throws Error (usage) for another reduction with
/// one; Error (no_answer) for the position in a group without elements, and if a product of integers does not fit.
Values group_reduction(const Array& data, AxisReduction reduction, const By& by, std::uint64_t ddof = 0, const Options& options = {});
inline Values product(const Array& data, const By& by, const Options& options = {}) {
  return group_reduction(data, AxisReduction::product, by, 0, options);
}
inline Values argmin(const Array& data, const By& by, const Options& options = {}) {
  return group_reduction(data, AxisReduction::argmin, by, 0, options);
}
inline Values argmax(const Array& data, const By& by, const Options& options = {}) {
  return group_reduction(data, AxisReduction::argmax, by, 0, options);
}

}  // namespace samesum
