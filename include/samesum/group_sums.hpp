// Exact sums into groups by index: scatter-add (numpy's add.at), sums by key, weights into bins, deposits onto a mesh.
//
//   samesum::GroupSums sums(1000);
//   sums.add(values, groups);                       // sum[groups[i]] += values[i], without rounding
//   samesum::Values totals = sums.sums();           // each rounded once
#pragma once

#include <samesum/accumulator.hpp>
#include <samesum/array.hpp>
#include <samesum/axes.hpp>
#include <samesum/device.hpp>
#include <samesum/export.hpp>
#include <samesum/statistics.hpp>
#include <samesum/types.hpp>
#include <samesum/value.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace samesum {
namespace device {
struct Run;
}
namespace groups {
struct FoundGroups;
struct Indexing;
}  // namespace groups
}  // namespace samesum

namespace samesum SAMESUM_EXPORT {

/// What is kept for each group, and what becomes of elements that have none.
struct GroupOptions {
  bool squares = false;  ///< the sums of squares too: for variances and norms
  bool extrema = false;  ///< the least and the greatest element too
  bool counts = true;  ///< the number of elements: for means, and for all that is told of one group; without, adding on a device is faster
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
///
/// Arrays in the memory of a device that runs kernels are added up there, if it has 64-bit atomics and memory: as
/// integers, digits of 34 bits, which atomic additions change in any order. There, a group takes 120 bytes for float32 elements, 540 for
/// float64 and 64 for integers; with squares 260, 1540 and 100, with extrema 16 more. The sums stay on the device until something other
/// than sums() is asked for, or elements from elsewhere are added.
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
  const GroupOptions& options() const noexcept;  ///< as given
  /// More groups, which are empty; fewer are not possible. @throws Error (usage) for fewer, and for 2^40 or more.
  void grow(std::uint64_t groups);

  /// Adds each of `values` to the group that the element of `indices` at the same place names. Values of any type, indices of any integer
  /// type; both of one shape, with any strides; in host memory or on a device. If one is in host memory the other is copied to it.
  /// O(n), on all cores; O(n + groups) if each thread has a table of its own.
  /// @throws Error (usage) if the shapes differ, or if an index is negative or not below groups() (unless these are to be ignored):
  /// the message names the element, and nothing has been added.
  void add(const Array& values, const Array& indices);
  /// Adds the elements of one axis from `offsets[i]` on, up to offsets[i + 1] excluded, to group i: ragged rows. Offsets of any integer
  /// type, one more than groups(), ascending. A long segment is added up by all threads, many short ones by each.
  /// @throws Error (usage) for another number of offsets, and if they do not ascend or reach beyond `values`: nothing has been added.
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
  /// O(groups). @throws Error (usage) if `to` has not one index for each group of `other`, or one that is not below groups().
  void merge(const GroupSums& other, std::span<const std::uint64_t> to);

  /// The type of the sums: float64, or int64 if only integers were added, or uint64 if only unsigned ones were.
  DType type() const noexcept;
  /// The sum of each group, rounded once; of integers exact. Of an empty group 0. O(groups), on all cores.
  /// @throws Error (no_answer) that names the first group whose sum of integers does not fit.
  Values sums(NanPolicy nan = NanPolicy::propagate) const;
  /// The same into memory of the caller's, on any device: `to` is contiguous, has one axis, groups() elements and type(). Waits until they
  /// are there. @throws Error (usage) for another array.
  void sums(const Array& to, NanPolicy nan = NanPolicy::propagate) const;
  /// The sum of squares of each group as float64, rounded once. @throws Error (usage) if GroupOptions::squares is false.
  Values squares(NanPolicy nan = NanPolicy::propagate) const;
  /// The mean of each group as float64, rounded once; NaN for a group without elements.
  Values means(NanPolicy nan = NanPolicy::propagate) const;
  /// The variance of each group as float64, rounded once; NaN for a group of no more than `ddof` elements.
  /// @throws Error (usage) if GroupOptions::squares is false.
  Values variances(std::uint64_t ddof = 0, NanPolicy nan = NanPolicy::propagate) const;
  /// The root of the exact variance, rounded once; otherwise likewise.
  Values standard_deviations(std::uint64_t ddof = 0, NanPolicy nan = NanPolicy::propagate) const;
  Values norms(NanPolicy nan = NanPolicy::propagate) const;  ///< the root of the exact sum of squares, rounded once; errors likewise
  /// The least, the greatest element of each group, in type(); of floats NaN for a group without elements. @throws Error (no_answer) for
  /// such a group of integers, and for an integer that does not fit into type(); Error (usage) if GroupOptions::extrema is false.
  Values minima(NanPolicy nan = NanPolicy::propagate) const;
  Values maxima(NanPolicy nan = NanPolicy::propagate) const;  ///< the same of the greatest elements
  /// The number of elements of each group, with NaNs unless these are skipped: uint64. @throws Error (usage) if GroupOptions::counts is false; so do means(),
  /// variances(), standard_deviations(), norms(), sum(), count() and statistics().
  Values counts(NanPolicy nan = NanPolicy::propagate) const;

  /// The exact sum of one group, as accumulate() gives it. O(1). @throws Error (usage) for a group that is not there; so do those below.
  Accumulator sum(std::uint64_t group) const;
  std::uint64_t count(std::uint64_t group) const;  ///< elements of one group, NaNs included
  std::uint64_t nan_count(std::uint64_t group) const;  ///< NaNs of one group
  /// What was collected of one group: its sum, and squares if these are kept. Extrema have no index here: see min() and max(). O(1).
  Statistics statistics(std::uint64_t group) const;
  /// The least and the greatest element of one group, as type() has it, but uint64 if only that holds it; NaN if a NaN was added, unless
  /// these are skipped.
  /// @throws Error (no_answer) if there is none; Error (usage) if GroupOptions::extrema is false.
  Value min(std::uint64_t group, NanPolicy nan = NanPolicy::propagate) const;
  Value max(std::uint64_t group, NanPolicy nan = NanPolicy::propagate) const;

  std::uint64_t outside() const noexcept;  ///< elements left out, as their index is not below groups()

  /// The canonical serialized form (docs/accumulator-format.md): equal sums have equal bytes. O(groups).
  std::vector<std::byte> serialize() const;
  /// @throws Error (usage) for anything but a complete, undamaged serialized form of a version that this library knows.
  static GroupSums deserialize(std::span<const std::byte> bytes);

  /// Words that merge by addition, as Accumulator::words(): for each group those of its sum and, with squares, of the sum of squares; then
  /// 5 more. O(groups), 656 bytes a group: of many groups serialize() takes fewer.
  /// @throws Error (usage) if extrema are kept of any elements: they are no sums.
  std::vector<std::int64_t> words() const;
  /// The sums whose words these are, of that number of groups; `options` as those of the parts, but without extrema.
  /// @throws Error (usage) for another number of words, or words that are not such a sum; Error (no_answer) if there are more than
  /// 2^64 - 1 elements.
  static GroupSums from_words(std::uint64_t groups, const GroupOptions& options, std::span<const std::int64_t> words);

  /// Equal exact sums, squares, extrema and counts of all groups, and equal options but the number of threads. O(groups).
  friend bool operator==(const GroupSums& a, const GroupSums& b);

 private:
  friend class WeightedHistogram;
  // Elements in host memory whose groups, all of which there are, are found as they are added.
  SAMESUM_HIDDEN void add(const Array& values, const groups::FoundGroups& found, std::uint32_t threads);
  // Whether elements of this type in this device's memory can be added there; then runs of them, with indices that are below groups(), or
  // samples from which `indexing` makes such.
  SAMESUM_HIDDEN bool can_add(const Device& device, DType type);
  SAMESUM_HIDDEN void add(const device::Run& values, DType type, const device::Run& indices, DType index_type, const Device& device,
                          const groups::Indexing* indexing);

  struct SAMESUM_HIDDEN State;
  std::unique_ptr<State> state_;
};

}  // namespace samesum
