// Histograms over several axes: the number of samples in each cell of a grid of bins, counted exactly, and the same on every device.
//
//   const samesum::HistogramNd h = samesum::histogram_nd({x, y}, {samesum::Bins::even(0, 1, 100), samesum::Bins::logarithmic(1, 1e6, 60)});
//   h.at({17, 4}), h.at({17, samesum::Bins::kOver}), h.outside(0).under
//   h.projection(0);                         // the histogram of x
//   h.slice(1, 10, 20).rebin(0, 2).counts()  // 20 of the bins of y, and those of x by twos
//
// A sample is one number from each of several arrays, its coordinates. Each axis has bins of its own, of any kind, and for each the samples
// below, above and NaN are counted too, so that a histogram of several axes projects to exactly the histograms of fewer.
#pragma once

#include <samesum/array.hpp>
#include <samesum/export.hpp>
#include <samesum/histogram.hpp>
#include <samesum/options.hpp>
#include <samesum/source.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// The number of samples in each cell of a grid. A value: histograms of parts can be merged.
class HistogramNd {
 public:
  /// The maximum number of cells: 2^28. An axis takes three more than it has bins: under, over and NaN.
  static constexpr std::uint64_t kMaxCells = std::uint64_t{1} << 28;

  /// All counts 0. @throws Error (usage) for no axis, and for more than kMaxCells cells.
  explicit HistogramNd(std::vector<Bins> axes);
  /// `cells` as cells() has them. @throws Error (usage) for another number of them; Error (no_answer) if there are more than 2^64 - 1
  /// samples.
  HistogramNd(std::vector<Bins> axes, std::vector<std::uint64_t> cells);

  std::size_t rank() const noexcept { return axes_.size(); }        ///< axes
  const std::vector<Bins>& axes() const noexcept { return axes_; }  ///< the bins of each axis
  /// The number of bins of each axis.
  std::vector<std::uint64_t> shape() const;
  /// The counts of all samples in C order, the last axis fastest. Axis k has axes()[k].count() + 3 cells: under, the bins, over, NaN.
  const std::vector<std::uint64_t>& cells() const noexcept { return cells_; }
  /// The counts of the samples that are in a bin of every axis: shape() in C order.
  std::vector<std::uint64_t> counts() const;
  /// The count of one cell. `indices`: for each axis a bin's number, or Bins::kUnder, kOver, kNan. @throws Error (usage) if there is no
  /// such cell.
  std::uint64_t at(std::span<const std::int64_t> indices) const;
  std::uint64_t at(std::initializer_list<std::int64_t> indices) const { return at(std::span(indices.begin(), indices.size())); }

  /// Samples that are in no bin of one axis, whatever their other coordinates.
  struct Outside {
    std::uint64_t under = 0, over = 0, nan = 0;
    friend bool operator==(const Outside&, const Outside&) = default;
  };
  Outside outside(std::size_t axis) const;  ///< of this axis
  std::uint64_t inside() const;             ///< in a bin of every axis
  std::uint64_t total() const noexcept;     ///< all samples

  // Each takes O(cells).

  /// The histogram over some of the axes, each at most once, in this order: all samples, whatever their other coordinates.
  /// @throws Error (usage) for no axis, one that is not there, or one named twice.
  HistogramNd project(const std::vector<std::size_t>& axes) const;
  /// The histogram over one axis.
  Histogram projection(std::size_t axis) const;
  /// The samples in one bin of an axis (or its kUnder, kOver, kNan), over the other axes. @throws Error (usage) if there is no such bin,
  /// or no other axis.
  HistogramNd cut(std::size_t axis, std::int64_t index) const;
  /// All samples over `count` bins of an axis, from number `first` on, and all bins of the others: see Histogram::slice().
  HistogramNd slice(std::size_t axis, std::uint64_t first, std::uint64_t count) const;
  /// `factor` adjacent bins of an axis to one: see Histogram::rebin().
  HistogramNd rebin(std::size_t axis, std::uint64_t factor) const;

  /// Adds the counts of a histogram over the same axes. @throws Error (usage) for other axes; Error (no_answer) if there would be more
  /// than 2^64 - 1 samples: then nothing is added.
  void merge(const HistogramNd& other);
  HistogramNd& operator+=(const HistogramNd& other) {
    merge(other);
    return *this;
  }

  /// The canonical serialized form (docs/accumulator-format.md), edges included: equal histograms have equal bytes. O(cells).
  std::vector<std::byte> serialize() const;
  /// The axes have the same edges; their kind() is "edges". Formulas and names are no part of it.
  /// @throws Error (usage) for anything but a complete, undamaged serialized form of a version that this library knows.
  static HistogramNd deserialize(std::span<const std::byte> bytes);

  /// Two words for each cell, that merge by addition, as Histogram::words(): of histograms over the same axes. O(cells).
  std::vector<std::int64_t> words() const;
  /// @throws Error (usage) for another number of words, or words that are not such a sum; Error (no_answer) if there are more than
  /// 2^64 - 1 samples.
  static HistogramNd from_words(std::vector<Bins> axes, std::span<const std::int64_t> words);

  friend bool operator==(const HistogramNd&, const HistogramNd&) = default;

 private:
  std::vector<Bins> axes_;
  std::vector<std::uint64_t> cells_;
};

/// The histogram of the samples (coordinates[0][i], coordinates[1][i], …) for each index i: arrays of one shape, each of any type and any
/// strides. Exact counts, the same on every device. O(n · axes), and O(cells) memory for each thread. An array on a device is counted
/// there, if all of them lie on that device.
/// @throws Error (usage) unless there are as many arrays as axes, of one shape, in one place.
HistogramNd histogram_nd(const std::vector<Array>& coordinates, const std::vector<Bins>& axes, const Options& options = {});
/// The same of the numbers of sources, one from each at every position.
/// @throws Error (usage) if one ends before another, has several columns, or a missing number.
HistogramNd histogram_nd(const std::vector<Source*>& coordinates, const std::vector<Bins>& axes, const Options& options = {});

}  // namespace samesum
