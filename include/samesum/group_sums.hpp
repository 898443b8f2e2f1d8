// Exact sums into groups by index: scatter-add (numpy's add.at), sums by key, weights into bins, deposits onto a mesh.
//
//   samesum::GroupSums sums(1000);
//   sums.add(values, groups);                       // sum[groups[i]] += values[i], without rounding
//   samesum::Values totals = sums.sums();           // each rounded once
#pragma once

#include <samesum/accumulator.hpp>
#include <samesum/array.hpp>
#include <samesum/axes.hpp>
#include <samesum/export.hpp>
#include <samesum/statistics.hpp>
#include <samesum/types.hpp>
#include <samesum/value.hpp>

#include <cstdint>
#include <memory>
#include <span>

namespace samesum SAMESUM_EXPORT {

/// What is kept for each group, and what becomes of elements that have none.
struct GroupOptions {
  bool squares = false;         ///< the sums of squares too: for variances and norms
  bool extrema = false;         ///< the least and the greatest element too
  bool ignore_outside = false;  ///< elements whose index is not below the number of groups are left out and counted; else they are an error
  std::uint32_t threads = 0;    ///< 0: as many as are worthwhile

  friend bool operator==(const GroupOptions&, const GroupOptions&) = default;
};

/// Exact sums of the elements of each of some groups, numbered from 0, as a value: it can be added to, merged, and rounded.
///
/// The sum of a group is that of its elements alone, bit for bit as sum() gives it, whatever the order, the number of threads, and the
/// split into parts. It is held as an unevaluated sum of three doubles (J. R. Shewchuk, Adaptive Precision Floating-Point Arithmetic,
/// 1997), which no addition may round: what three doubles do not hold goes to an Accumulator, which is made for a group when it needs one.
///
/// Memory: 32 bytes a group, 24 more for squares, 32 more for extrema, and about 700 more for a group whose elements span more than about
/// 2^100. Of few groups each thread has a table of its own meanwhile; of many, elements are sorted by ranges of groups, 2^22 at a time.
/// One thread at a time may add.
class GroupSums {
 public:
  /// @throws Error (usage) for 2^40 groups or more.
  explicit GroupSums(std::uint64_t groups, const GroupOptions& options = {});
  ~GroupSums();
  GroupSums(const GroupSums& other);
  GroupSums& operator=(const GroupSums& other);
  GroupSums(GroupSums&& other) noexcept;
  GroupSums& operator=(GroupSums&& other) noexcept;

  std::uint64_t groups() const noexcept;  ///< how many there are
  const GroupOptions& options() const noexcept;
  /// More groups, which are empty; fewer are not possible. @throws Error (usage) for fewer, and for 2^40 or more.
  void grow(std::uint64_t groups);

  /// Adds each of `values` to the group that the element of `indices` at the same place names. Values of any type, indices of any integer
  /// type; both of one shape, with any strides, in host memory (arrays on a device are copied to it).
  /// O(n), on all cores; O(n + groups) where each thread has a table of its own.
  /// @throws Error (usage) where the shapes differ, or where an index is negative or not below groups() (unless these are to be ignored):
  /// the message names the element, and nothing has been added.
  void add(const Array& values, const Array& indices);
  /// Adds the elements of one axis from `offsets[i]` on, up to offsets[i + 1] excluded, to group i: ragged rows. Offsets of any integer
  /// type, one more than groups(), ascending. A long segment is added up by all threads, many short ones by each.
  /// @throws Error (usage) for another number of offsets, and where they do not ascend or reach beyond `values`: nothing has been added.
  void add_segments(const Array& values, const Array& offsets);
  /// Adds one number. @throws Error (usage) for an index that is not below groups(), unless these are to be ignored.
  void add(double value, std::uint64_t group);

  /// Adds all elements of `other`, group by group. Only squares and extrema that both have remain.
  /// O(groups). @throws Error (usage) for another number of groups.
  void merge(const GroupSums& other);
  GroupSums& operator+=(const GroupSums& other) {
    merge(other);
    return *this;
  }
  /// Adds all elements of `other`, those of its group i to group `to[i]` of these: rows of bins to one, groups to a coarser division.
  /// O(groups). @throws Error (usage) where `to` has not one index for each group of `other`, or one that is not below groups().
  void merge(const GroupSums& other, std::span<const std::uint64_t> to);

  /// The type of the sums: float64, or int64 where only integers were added, or uint64 where only unsigned ones were.
  DType type() const noexcept;
  /// The sum of each group, rounded once; of integers exact. Of an empty group 0. O(groups), on all cores.
  /// @throws Error (no_answer) that names the first group whose sum of integers does not fit.
  Values sums(NanPolicy nan = NanPolicy::propagate) const;
  /// The sum of squares of each group as float64, rounded once. @throws Error (usage) where GroupOptions::squares is false.
  Values squares(NanPolicy nan = NanPolicy::propagate) const;
  /// The mean of each group as float64, rounded once; NaN for a group without elements.
  Values means(NanPolicy nan = NanPolicy::propagate) const;
  /// The variance of each group as float64, rounded once; NaN for a group of no more than `ddof` elements.
  /// @throws Error (usage) where GroupOptions::squares is false.
  Values variances(std::uint64_t ddof = 0, NanPolicy nan = NanPolicy::propagate) const;
  /// The least, the greatest element of each group, in type(); of floats NaN for a group without elements. @throws Error (no_answer) for
  /// such a group of integers; Error (usage) where GroupOptions::extrema is false.
  Values minima(NanPolicy nan = NanPolicy::propagate) const;
  Values maxima(NanPolicy nan = NanPolicy::propagate) const;
  /// The number of elements of each group, NaNs included: uint64.
  Values counts() const;

  /// The exact sum of one group, as accumulate() gives it. O(1). @throws Error (usage) for a group that is not there; so do those below.
  Accumulator sum(std::uint64_t group) const;
  std::uint64_t count(std::uint64_t group) const;
  std::uint64_t nan_count(std::uint64_t group) const;
  /// What was collected of one group: its sum, and squares where these are kept. Extrema have no index here: see min() and max(). O(1).
  Statistics statistics(std::uint64_t group) const;
  /// The least and the greatest element of one group, as type() has it; NaN where a NaN was added, unless these are skipped.
  /// @throws Error (no_answer) where there is none; Error (usage) where GroupOptions::extrema is false.
  Value min(std::uint64_t group, NanPolicy nan = NanPolicy::propagate) const;
  Value max(std::uint64_t group, NanPolicy nan = NanPolicy::propagate) const;

  std::uint64_t outside() const noexcept;  ///< elements left out, as their index is not below groups()

 private:
  struct SAMESUM_HIDDEN State;
  std::unique_ptr<State> state_;
};

}  // namespace samesum
