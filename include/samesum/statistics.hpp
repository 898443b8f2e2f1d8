// What one asks of an array, in one pass over it: extremes and where they are, exact sums of the elements and of their squares, and what
// follows from these.
#pragma once

#include <samesum/accumulator.hpp>
#include <samesum/array.hpp>
#include <samesum/buffer.hpp>
#include <samesum/device.hpp>
#include <samesum/export.hpp>
#include <samesum/options.hpp>
#include <samesum/product_accumulator.hpp>
#include <samesum/source.hpp>
#include <samesum/types.hpp>
#include <samesum/value.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// An extreme element, and the lowest index at which it stands.
struct Extreme {
  Value value;
  std::uint64_t index = 0;

  friend bool operator==(const Extreme&, const Extreme&) = default;
};

/// What is collected on the way: the less, the faster where the data come from caches.
struct Fields {
  bool extremes = true;   ///< min, max, their indices
  bool sum = true;        ///< sum; with `squares`: variance
  bool squares = true;    ///< squared norm, norm
  bool nonzeros = false;  ///< how many elements are not zero, any, all

  friend bool operator==(const Fields&, const Fields&) = default;
};

/// What was collected of a sequence of elements, as a value. Collections of parts merge into that of the whole: what is exact does not
/// depend on where the parts were cut or who did them.
///
/// A function that asks for what was not collected throws Error (usage). Where there is no answer (the mean of nothing, say) it throws
/// Error (no_answer) that says why. With NanPolicy::propagate a NaN among the elements makes every result but counts the canonical NaN, and
/// the indices of extremes that of the first NaN; with `skip` NaNs are left out as if they were not there, but keep their index.
class Statistics {
 public:
  /// What is known of the elements; for the library's own loops and kernels.
  struct Contents {
    Fields fields = {};
    std::uint64_t count = 0;
    std::uint64_t nans = 0;
    std::uint64_t nonzeros = 0;  ///< NaNs are not zero
    std::uint64_t missing = 0;   ///< numbers that are not there, but have a place among the others (Source::missing())
    bool mixed = false;          ///< both integers and floats were merged
    std::optional<std::uint64_t> first_nan = {};
    std::optional<Extreme> least = {}, greatest = {};  ///< of those that are no NaN; -0.0 < +0.0
    Accumulator sum = {};
    ProductAccumulator squares = {};

    friend bool operator==(const Contents&, const Contents&) = default;
  };

  Statistics() = default;
  /// What `contents.fields` does not name is dropped.
  explicit Statistics(Contents contents);
  const Contents& contents() const noexcept { return contents_; }

  /// Adds what was collected of the elements that stand behind these. Fields that one of them lacks are lost. Elements of several types are
  /// compared by their exact values; an extreme of integers and floats is then given as a float64, unless that would round it. O(1).
  /// @throws Error (no_answer) where there are more than 2^64 - 1 elements, missing ones included: then nothing is added.
  void merge(const Statistics& later);
  Statistics& operator+=(const Statistics& later) {
    merge(later);
    return *this;
  }
  /// The same without the extremes and their indices.
  Statistics without_extremes() const;

  /// The canonical serialized form (docs/accumulator-format.md): equal statistics have equal bytes.
  std::vector<std::byte> serialize() const;
  /// @throws Error (usage) for anything but a whole, undamaged form of a version that this library knows.
  static Statistics deserialize(std::span<const std::byte> bytes);

  static constexpr std::size_t kWords = Accumulator::kWords + ProductAccumulator::kWords + 16;  ///< of words()
  /// Words that merge by addition, as Accumulator::words(): of the sums and the counts. Extremes do not add up, and depend on the order
  /// of the parts: take the words of without_extremes(), or serialize and merge. A part without elements has no say in what is collected,
  /// unless there are none but such parts; then that is what all of them have. O(1).
  /// @throws Error (usage) where extremes were collected of any elements.
  std::array<std::int64_t, kWords> words() const;
  /// @throws Error as Accumulator::from_words().
  static Statistics from_words(std::span<const std::int64_t, kWords> words);

  std::uint64_t count() const noexcept { return contents_.count; }  ///< NaNs included
  std::uint64_t nan_count() const;
  std::uint64_t missing() const noexcept { return contents_.missing; }  ///< not counted, but indices go past their places

  /// The least and the greatest element and its lowest index; -0.0 is less than +0.0.
  /// @throws Error (no_answer) where there is none.
  Extreme min(NanPolicy nan = NanPolicy::propagate) const;
  Extreme max(NanPolicy nan = NanPolicy::propagate) const;

  /// How many elements are not zero (both zeros are; a NaN is not); whether any, whether all of them. Of nothing: none, false, true.
  std::uint64_t nonzero_count(NanPolicy nan = NanPolicy::propagate) const;
  bool any(NanPolicy nan = NanPolicy::propagate) const { return nonzero_count(nan) != 0; }
  bool all(NanPolicy nan = NanPolicy::propagate) const { return nonzero_count(nan) == used(nan); }

  /// The exact sum of the elements: round it, or take it as an integer.
  const Accumulator& sum() const;
  /// The exact sum of their squares.
  const ProductAccumulator& squares() const;

  /// The exact sum over the number of elements, rounded once to the nearest double. @throws Error (no_answer) for no elements.
  double mean(NanPolicy nan = NanPolicy::propagate) const;
  /// (n Σx² - (Σx)²) / (n (n - ddof)) in exact arithmetic, rounded once; NaN where an element is infinite.
  /// @throws Error (no_answer) unless there are more than `ddof` elements.
  double variance(std::uint64_t ddof = 0, NanPolicy nan = NanPolicy::propagate) const;
  /// The square root of that exact quotient, rounded once: not the root of a rounded variance.
  double standard_deviation(std::uint64_t ddof = 0, NanPolicy nan = NanPolicy::propagate) const;
  /// Σx², rounded once, and its square root, rounded once.
  double squared_norm(NanPolicy nan = NanPolicy::propagate) const { return squares().round(nan); }
  double norm(NanPolicy nan = NanPolicy::propagate) const { return squares().round_root(nan); }

  /// The same exact values, rounded once to the nearest float: not the floats nearest to the doubles, which would be rounded twice.
  float mean_to_float(NanPolicy nan = NanPolicy::propagate) const;
  float variance_to_float(std::uint64_t ddof = 0, NanPolicy nan = NanPolicy::propagate) const;
  float standard_deviation_to_float(std::uint64_t ddof = 0, NanPolicy nan = NanPolicy::propagate) const;
  float squared_norm_to_float(NanPolicy nan = NanPolicy::propagate) const { return squares().round_to_float(nan); }
  float norm_to_float(NanPolicy nan = NanPolicy::propagate) const { return squares().round_root_to_float(nan); }

  friend bool operator==(const Statistics&, const Statistics&) = default;

 private:
  std::uint64_t used(NanPolicy nan) const noexcept { return contents_.count - (nan == NanPolicy::skip ? contents_.nans : 0); }
  template <class Real>
  Real average(NanPolicy nan) const;
  template <class Real>
  Real spread(std::uint64_t ddof, NanPolicy nan, bool root) const;
  bool consistent() const;  // whether elements can have these statistics: of what came from outside

  Contents contents_;
};

/// Collects from `data`, in one pass. O(n) time; O(1) memory on the CPU, on other devices data go through in chunks of bounded size.
/// May be called from several threads at once.
/// @throws Error (usage) for a group size that the device cannot run; Error (device) where the device fails or lacks what is needed.
/// An array on a device is worked on where it lies: nothing is copied, but where its elements are no single run; those are gathered on the
/// device, by parts of 64 MiB. Arrays with strides are read element by element, and slower. Indices are by C order. Many arrays on a
/// device: see Plan.
Statistics collect(const Array& data, const Fields& fields = {}, const Options& options = {});
/// The same of all that comes from `source`. An index is a place in the whole of it: in a table the row, from 0 on, if the source keeps
/// the order (TextOptions::in_order). @throws Error (usage) where it has several columns.
Statistics collect(Source& source, const Fields& fields = {}, const Options& options = {});
/// The same of each of its columns; of what is no table, one. O(columns) memory beside the source's.
std::vector<Statistics> collect_columns(Source& source, const Fields& fields = {}, const Options& options = {});

}  // namespace samesum
