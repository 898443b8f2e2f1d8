// Several statistics of an array in one pass: extremes and their indices, exact sums of the elements and of their squares, and what follows
// from these.
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

/// The least or the greatest element, and its lowest index.
struct Extremum {
  Value value;
  std::uint64_t index = 0;

  friend bool operator==(const Extremum&, const Extremum&) = default;
};

/// The statistics to collect: fewer are faster if the data come from caches.
struct Fields {
  bool extrema = true;    ///< min, max, their indices
  bool sum = true;        ///< sum; with `squares`: variance
  bool squares = true;    ///< squared norm, norm
  bool nonzeros = false;  ///< nonzero_count, any, all

  friend bool operator==(const Fields&, const Fields&) = default;
};

/// The statistics of a sequence of elements, as a value. Statistics of parts merge into those of the whole: exact values do not depend on
/// where the parts were cut or which device computed them.
///
/// A function whose field was not collected throws Error (usage). If there is no answer (such as the mean of no elements) it throws Error
/// (no_answer) that says why. With NanPolicy::propagate a NaN among the elements makes every result but counts the canonical NaN, and the
/// indices of extrema that of the first NaN; with `skip` NaNs are left out, and the other elements keep their indices.
class Statistics {
 public:
  /// The state; for the library's own loops and kernels.
  struct Contents {
    Fields fields = {};
    std::uint64_t count = 0;
    std::uint64_t nan_count = 0;
    std::uint64_t nonzeros = 0;  ///< NaNs are not zero
    std::uint64_t missing = 0;   ///< missing numbers, which take up an index (Source::missing())
    bool mixed = false;          ///< both integers and floats were merged
    std::optional<std::uint64_t> first_nan = {};
    std::optional<Extremum> min = {}, max = {};  ///< NaNs excluded; -0.0 < +0.0
    Accumulator sum = {};
    ProductAccumulator squares = {};

    friend bool operator==(const Contents&, const Contents&) = default;
  };

  Statistics() = default;
  /// Drops what `contents.fields` does not name.
  explicit Statistics(Contents contents);
  const Contents& contents() const noexcept { return contents_; }  ///< for the library's own use

  /// Adds the statistics of the elements that follow these. Only fields that both have remain. Elements of several types are compared by
  /// their exact values; an extremum of integers and floats is then given as a float64, unless that would round it. O(1).
  /// @throws Error (no_answer) if there would be more than 2^64 - 1 elements, missing ones included: then nothing is added.
  void merge(const Statistics& later);
  Statistics& operator+=(const Statistics& later) {
    merge(later);
    return *this;
  }
  /// The same without the extrema and their indices.
  Statistics without_extrema() const;

  /// The canonical serialized form (docs/accumulator-format.md): equal statistics have equal bytes.
  std::vector<std::byte> serialize() const;
  /// @throws Error (usage) for anything but a complete, undamaged serialized form of a version that this library knows.
  static Statistics deserialize(std::span<const std::byte> bytes);

  static constexpr std::size_t kWords = Accumulator::kWords + ProductAccumulator::kWords + 16;  ///< of words()
  /// Words of the sums and the counts that merge by addition, as Accumulator::words(). Extrema cannot be added and depend on the order of
  /// the parts: use the words of without_extrema(), or serialize and merge. The fields of parts without elements are ignored, unless all
  /// parts are such; then the fields common to all remain. O(1).
  /// @throws Error (usage) if extrema were collected of any elements.
  std::array<std::int64_t, kWords> words() const;
  /// @throws Error as Accumulator::from_words().
  static Statistics from_words(std::span<const std::int64_t, kWords> words);

  std::uint64_t count() const noexcept { return contents_.count; }      ///< NaNs included
  std::uint64_t nan_count() const;                                      ///< elements that are NaN
  std::uint64_t missing() const noexcept { return contents_.missing; }  ///< not counted, but each takes up an index

  /// The least and the greatest element and its lowest index; -0.0 is less than +0.0.
  /// @throws Error (no_answer) if there is none.
  Extremum min(NanPolicy nan = NanPolicy::propagate) const;
  Extremum max(NanPolicy nan = NanPolicy::propagate) const;  ///< the greatest element, likewise

  /// How many elements are not zero (-0.0 is zero, NaN is not); whether any is, whether all are. Of no elements: 0, false, true.
  std::uint64_t nonzero_count(NanPolicy nan = NanPolicy::propagate) const;
  bool any(NanPolicy nan = NanPolicy::propagate) const { return nonzero_count(nan) != 0; }          ///< whether any element is not zero
  bool all(NanPolicy nan = NanPolicy::propagate) const { return nonzero_count(nan) == used(nan); }  ///< whether all elements are not zero

  /// The exact sum of the elements: round it, or take it as an integer.
  const Accumulator& sum() const;
  /// The exact sum of their squares.
  const ProductAccumulator& squares() const;

  /// The exact sum over the number of elements, rounded once to the nearest double. @throws Error (no_answer) for no elements.
  double mean(NanPolicy nan = NanPolicy::propagate) const;
  /// (n Σx² - (Σx)²) / (n (n - ddof)) in exact arithmetic, rounded once; NaN if an element is infinite.
  /// @throws Error (no_answer) unless there are more than `ddof` elements.
  double variance(std::uint64_t ddof = 0, NanPolicy nan = NanPolicy::propagate) const;
  /// The square root of that exact quotient, rounded once: not the root of a rounded variance.
  double standard_deviation(std::uint64_t ddof = 0, NanPolicy nan = NanPolicy::propagate) const;
  /// Σx², rounded once, and its square root, rounded once.
  double squared_norm(NanPolicy nan = NanPolicy::propagate) const { return squares().round(nan); }
  double norm(NanPolicy nan = NanPolicy::propagate) const { return squares().round_root(nan); }

  /// The same exact values, rounded once to the nearest float: not the floats nearest to the doubles, which would be rounded twice.
  float mean_to_float(NanPolicy nan = NanPolicy::propagate) const;
  float variance_to_float(std::uint64_t ddof = 0, NanPolicy nan = NanPolicy::propagate) const;            ///< as variance()
  float standard_deviation_to_float(std::uint64_t ddof = 0, NanPolicy nan = NanPolicy::propagate) const;  ///< as standard_deviation()
  float squared_norm_to_float(NanPolicy nan = NanPolicy::propagate) const { return squares().round_to_float(nan); }  ///< as squared_norm()
  float norm_to_float(NanPolicy nan = NanPolicy::propagate) const { return squares().round_root_to_float(nan); }     ///< as norm()

  friend bool operator==(const Statistics&, const Statistics&) = default;

 private:
  std::uint64_t used(NanPolicy nan) const noexcept { return contents_.count - (nan == NanPolicy::skip ? contents_.nan_count : 0); }
  template <class Real>
  Real average(NanPolicy nan) const;
  template <class Real>
  Real spread(std::uint64_t ddof, NanPolicy nan, bool root) const;
  bool consistent() const;  // whether some elements could have these statistics: validates deserialized data

  Contents contents_;
};

/// Collects the statistics of `data` in one pass. O(n) time; O(1) memory on the CPU; other devices process host data in chunks of bounded
/// size. May be called from several threads at once.
/// @throws Error (usage) for a group size that the device cannot run; Error (device) if the device fails or lacks a capability.
/// An array on a device is read in place; if its elements do not form one strided run, they are gathered on the device first, in parts
/// of 64 MiB. Strided arrays are read element by element, which is slower. Indices are in C order. For many arrays on a device see Plan.
Statistics collect(const Array& data, const Fields& fields = {}, const Options& options = {});
/// The same over all chunks of `source`. An index counts from its beginning: in a table it is the row, counted from 0, if the source keeps
/// the order (TextOptions::in_order). @throws Error (usage) if it has several columns.
Statistics collect(Source& source, const Fields& fields = {}, const Options& options = {});
/// The same of each column; of an input that is not a table, one. O(columns) memory beside the source's.
std::vector<Statistics> collect_columns(Source& source, const Fields& fields = {}, const Options& options = {});

}  // namespace samesum
