// Which elements of two arrays are multiplied for which result.
#pragma once

#include <samesum/array.hpp>
#include <samesum/axes.hpp>

#include <cstdint>
#include <vector>

namespace samesum::groups {

/// An axis of both arrays: strides in bytes, 0 where an array is repeated; that of the results in elements.
struct DotAxis {
  std::uint64_t extent;
  std::int64_t a, b, to;
};

/// Some axes, as one: its indices are those of the axes in C order.
class DotAxes {
 public:
  /// Appends an axis behind the others.
  void append(const DotAxis& axis);
  /// Sorts axes so that the last one has the shortest strides.
  void sort_by_strides();

  std::uint64_t size() const noexcept { return size_; }
  const std::vector<DotAxis>& axes() const noexcept { return axes_; }
  /// The distances from the first element, or result, to those of index `index`.
  struct Place {
    std::int64_t a, b, to;
  };
  Place at(std::uint64_t index) const noexcept;
  /// Those of `count` indices from `first` on, one after the other.
  void places(std::uint64_t first, std::uint64_t count, Place* to) const;

 private:
  std::vector<DotAxis> axes_;
  std::uint64_t size_ = 1;
};

/// Sums along some axes of the products of two arrays. The results are a matrix, with rows that differ in the elements of `a` and columns
/// that differ in those of `b`, for each index of `both`.
struct DotProblem {
  /// @throws Error (usage) unless the arrays fit.
  DotProblem(const Array& left, const Array& right, const Axes& axes);

  Array a, b;                        ///< of one type and shape; strides of repeated axes are 0
  std::vector<std::uint64_t> shape;  ///< of the results
  std::uint64_t results = 1;
  DotAxes both, rows, columns, summed;

  /// The elements of one result: those of `a` or of `b`.
  Array left(std::uint64_t result) const;
  Array right(std::uint64_t result) const;
  /// The type of the results.
  DType type() const noexcept;
  /// All axes of the results, in their order.
  const DotAxes& kept() const noexcept { return kept_; }

 private:
  DotAxes kept_;
};

}  // namespace samesum::groups
