// Histograms with weights, and profiles: the exact sum, mean and variance of a quantity in each bin, over one axis or several.
//
//   samesum::WeightedHistogram h({samesum::Bins::even(0, 1, 100)});
//   h.add({x}, w);                       // as often as there are parts
//   h.sums().as<double>()[17];           // the sum of the weights in bin 17, rounded once; h.squares(): of their squares
//   h.means(), h.variances(1)            // the profile: mean and variance of w in each bin of x
//   h.histogram().counts()               // the number of samples
//
// The sum of a bin is that of its samples' weights alone, bit for bit as sum() gives it: whatever the order, the number of threads, and the
// split into parts. So projections, merged bins and added histograms have the bits of those that are made at once.
#pragma once

#include <samesum/accumulator.hpp>
#include <samesum/array.hpp>
#include <samesum/axes.hpp>
#include <samesum/export.hpp>
#include <samesum/group_sums.hpp>
#include <samesum/histogram.hpp>
#include <samesum/histogram_nd.hpp>
#include <samesum/options.hpp>
#include <samesum/source.hpp>
#include <samesum/statistics.hpp>
#include <samesum/types.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// Exact sums of weights, and of their squares, in each cell of a grid. A value: histograms of parts can be merged.
class WeightedHistogram {
 public:
  /// The maximum number of cells, counted as by HistogramNd: 2^26. A cell takes 56 bytes, and more if its weights span more than about
  /// 2^100.
  static constexpr std::uint64_t kMaxCells = std::uint64_t{1} << 26;

  /// Without samples. Without `squares`, there are no squares() and variances(), also in statistics(), a cell takes 32 bytes, and adding is
  /// faster.
  /// @throws Error (usage) for no axis, and for more than kMaxCells cells.
  explicit WeightedHistogram(std::vector<Bins> axes, bool squares = true);

  /// Adds the samples (coordinates[0][i], coordinates[1][i], …) with the weights w[i]: arrays of one shape, each of any type and any
  /// strides. O(n · axes) on the CPU, O(cells) if each thread has a table of its own. A device that runs kernels adds up what is in its
  /// memory, and what is copied there from host memory in parts (Options::device), if it has 64-bit atomics and memory for the sums
  /// (GroupSums). Else the CPU does, with what is copied to the host in parts, and Report::configuration has the reason.
  /// @throws Error (usage) unless there are as many arrays as axes, of one shape, in one place.
  void add(const std::vector<Array>& coordinates, const Array& weights, const Options& options = {});
  /// The same of the numbers of sources, one from each at every position.
  /// @throws Error (usage) if one ends before another, has several columns, or a missing number.
  void add(const std::vector<Source*>& coordinates, Source& weights, const Options& options = {});

  std::size_t rank() const noexcept { return axes_.size(); }        ///< axes
  const std::vector<Bins>& axes() const noexcept { return axes_; }  ///< the bins of each axis
  std::vector<std::uint64_t> shape() const;                         ///< the number of bins of each axis

  /// Of the cells that are in a bin of every axis, of this shape(): the sum of the weights, rounded once. float64; of integers int64 or
  /// uint64, exact. @throws Error (no_answer) if a sum of integers does not fit.
  Values sums(NanPolicy nan = NanPolicy::propagate) const;
  /// The sum of the squares of the weights, float64, rounded once: its root is the error that counting statistics give a sum.
  /// @throws Error (usage) if there are none; so does variances().
  Values squares(NanPolicy nan = NanPolicy::propagate) const;
  /// The mean of the weights, float64, rounded once; NaN in a cell without samples.
  Values means(NanPolicy nan = NanPolicy::propagate) const;
  /// The variance of the weights, float64, rounded once; NaN in a cell of no more than `ddof` samples.
  Values variances(std::uint64_t ddof = 0, NanPolicy nan = NanPolicy::propagate) const;
  /// The number of samples in each cell, those outside of bins included.
  HistogramNd histogram() const;

  /// The exact sum of one cell, and its sum, squares and count together. `indices`: for each axis a bin's number, or Bins::kUnder, kOver,
  /// kNan. @throws Error (usage) if there is no such cell.
  Accumulator sum(std::span<const std::int64_t> indices) const;
  Accumulator sum(std::initializer_list<std::int64_t> indices) const { return sum(std::span(indices.begin(), indices.size())); }
  Statistics statistics(std::span<const std::int64_t> indices) const;  ///< sum, squares and count of one cell
  Statistics statistics(std::initializer_list<std::int64_t> indices) const {
    return statistics(std::span(indices.begin(), indices.size()));
  }

  // As those of HistogramNd; O(cells).
  WeightedHistogram project(const std::vector<std::size_t>& axes) const;                      ///< as HistogramNd::project(); O(cells)
  WeightedHistogram slice(std::size_t axis, std::uint64_t first, std::uint64_t count) const;  ///< as HistogramNd::slice(); O(cells)
  WeightedHistogram rebin(std::size_t axis, std::uint64_t factor) const;                      ///< as HistogramNd::rebin(); O(cells)
  /// Adds all samples of a histogram over the same axes. @throws Error (usage) for other axes.
  void merge(const WeightedHistogram& other);
  WeightedHistogram& operator+=(const WeightedHistogram& other) {
    merge(other);
    return *this;
  }

  /// The canonical serialized form (docs/accumulator-format.md), as of HistogramNd. O(cells).
  std::vector<std::byte> serialize() const;
  /// @throws Error (usage) for anything but a complete, undamaged serialized form of a version that this library knows.
  static WeightedHistogram deserialize(std::span<const std::byte> bytes);

  /// Words that merge by addition, as GroupSums::words(): of histograms over the same axes, with squares or without. O(cells).
  std::vector<std::int64_t> words() const;
  /// @throws Error as GroupSums::from_words().
  static WeightedHistogram from_words(std::vector<Bins> axes, std::span<const std::int64_t> words, bool squares = true);

  friend bool operator==(const WeightedHistogram&, const WeightedHistogram&) = default;

 private:
  WeightedHistogram(std::vector<Bins> axes, GroupSums sums) : axes_(std::move(axes)), sums_(std::move(sums)) {}
  WeightedHistogram moved(std::size_t axis, Bins bins, const std::vector<std::uint32_t>& to) const;
  std::uint64_t cell_of(std::span<const std::int64_t> indices) const;

  class SAMESUM_HIDDEN Adding;

  std::vector<Bins> axes_;
  GroupSums sums_;
};

}  // namespace samesum
