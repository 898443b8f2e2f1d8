// The cells of samples with several coordinates.
#pragma once

#include "core/view.hpp"
#include "histogram/cpu/slots.hpp"
#include "histogram/plan.hpp"

#include <samesum/array.hpp>
#include <samesum/histogram.hpp>
#include <samesum/options.hpp>
#include <samesum/source.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace samesum::binning {

/// The bins 0, 1, … of a formula's values, and one more for the value `count`: the last bin has its upper edge.
Bins bins_of_values(const Bins& by_formula);

/// The cells of samples whose coordinates have these types: the number of a cell in C order, as HistogramNd::cells() has them. May be used
/// by several threads at once.
class CellFinder {
 public:
  static constexpr std::size_t kBlock = 512;

  /// The coordinates of an axis with bins by a formula are the formula's values.
  CellFinder(std::span<const Bins> axes, std::span<const DType> types);

  std::uint64_t cells() const noexcept { return cells_; }
  /// The cells of the `count` samples from number `first` on; `count` is kBlock or less. `columns` are equally long.
  void find(std::span<const View> columns, std::uint64_t first, std::size_t count, std::uint32_t* cells) const;

 private:
  struct Axis {
    std::unique_ptr<const Plan> plan;
    std::unique_ptr<const SlotFinder> finder;
    std::uint32_t places = 0;
    bool merge_last = false;  // the bin after the last one belongs above it: it is that of a formula's value `count`
  };
  std::vector<Axis> axes_;
  std::uint64_t cells_ = 1;
};

/// Walks samples whose coordinates come from arrays or sources, in parts.
class Samples {
 public:
  /// As histogram_nd() takes them; `extra` are further sequences at the same positions, with no axis: weights. @throws its errors.
  Samples(const std::vector<Array>& coordinates, const std::vector<Bins>& axes, const std::vector<Array>& extra);
  Samples(const std::vector<Source*>& coordinates, const std::vector<Bins>& axes, const std::vector<Source*>& extra);
  Samples(Samples&& other) noexcept;
  ~Samples();

  /// @throws Error (usage) unless there are as many coordinates as axes, `coordinates`, and all arrays have one shape.
  static void require_alike(const std::vector<Array>& arrays, const std::vector<Bins>& axes, std::size_t coordinates);

  struct Part {
    const CellFinder* finder = nullptr;
    std::vector<View> columns;  ///< of the axes
    std::vector<View> extra;
    std::uint64_t size() const { return columns[0].size(); }
  };
  /// The next part of `most` samples or fewer, valid until the next call; false at the end.
  bool next(std::uint64_t most, Part& part);
  /// Of all elements that lie in memory.
  std::uint64_t resident_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Calls body(first, count, cells) for the `size` samples of a part from number `first` on, block by block; cells[k] is that of sample
/// first + k.
template <class Body>
void for_cells(const Samples::Part& part, std::uint64_t first, std::uint64_t size, const Body& body) {
  std::uint32_t cells[CellFinder::kBlock];
  for (std::uint64_t done = 0; done < size; done += CellFinder::kBlock) {
    const std::size_t count = std::min<std::uint64_t>(CellFinder::kBlock, size - done);
    part.finder->find(part.columns, first + done, count, cells);
    body(first + done, count, cells);
  }
}

}  // namespace samesum::binning
