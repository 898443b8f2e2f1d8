// Reductions along axes of an array: one result for each position along the other axes.
//
//   samesum::Values sums = samesum::sum(matrix, samesum::Axes{0});  // of each column
//   for (double sum : sums.as<double>()) …
//   samesum::Values means = samesum::mean(image, samesum::Axes{-3, -2});  // of each channel
#pragma once

#include <samesum/array.hpp>
#include <samesum/export.hpp>
#include <samesum/options.hpp>
#include <samesum/types.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// The axes along which to reduce: each at most once, in any order; -1 is the last one. None at all: each element is a result by itself.
class Axes {
 public:
  Axes(std::initializer_list<std::int64_t> axes) : axes_(axes) {}
  explicit Axes(std::vector<std::int64_t> axes) : axes_(std::move(axes)) {}
  /// The same, where the result keeps these axes, with extent 1, so that it broadcasts against the array.
  Axes kept() const {
    Axes axes = *this;
    axes.kept_ = true;
    return axes;
  }
  /// The same, where variances and standard deviations divide by the number of elements less `ddof`. Other reductions and
  /// operators refuse it.
  Axes with_ddof(std::uint64_t ddof) const {
    Axes axes = *this;
    axes.ddof_ = ddof;
    return axes;
  }
  const std::vector<std::int64_t>& numbers() const noexcept { return axes_; }  ///< as given
  bool are_kept() const noexcept { return kept_; }                             ///< whether the result has these axes, with extent 1
  std::uint64_t ddof() const noexcept { return ddof_; }                        ///< what variances subtract from the number of elements

 private:
  std::vector<std::int64_t> axes_;
  bool kept_ = false;
  std::uint64_t ddof_ = 0;
};

namespace detail {

/// Memory of zeros. A large block is not touched before it is written: so the threads that write to it also share the work of getting it
/// from the system. @throws std::bad_alloc
std::byte* allocate_zeros(std::size_t bytes);
void free_zeros(std::byte* memory, std::size_t bytes) noexcept;

template <class Byte>
struct ZerosAllocator {
  using value_type = Byte;
  ZerosAllocator() = default;
  template <class Other>
  ZerosAllocator(const ZerosAllocator<Other>&) noexcept {}
  Byte* allocate(std::size_t bytes) { return allocate_zeros(bytes); }
  void deallocate(Byte* memory, std::size_t bytes) noexcept { free_zeros(memory, bytes); }
  void construct(Byte*) noexcept {}  // it is zero
  friend bool operator==(ZerosAllocator, ZerosAllocator) noexcept { return true; }
};

}  // namespace detail

/// An array in host memory that owns its elements, in C order.
class Values {
 public:
  /// All elements zero.
  Values(DType type, std::vector<std::uint64_t> shape);
  Values(const Values&) = default;
  Values& operator=(const Values&) = default;
  Values(Values&& other) noexcept { *this = std::move(other); }
  /// `other` has no elements then.
  Values& operator=(Values&& other) noexcept;
  ~Values() = default;

  DType type() const noexcept { return type_; }                                ///< of the elements
  const std::vector<std::uint64_t>& shape() const noexcept { return shape_; }  ///< the extent of each axis
  std::uint64_t size() const noexcept { return size_; }                        ///< elements in all
  /// A view, valid while this object is.
  Array array() const { return {bytes_.data(), Shape(shape_), type_}; }
  void* data() noexcept { return bytes_.data(); }
  const void* data() const noexcept { return bytes_.data(); }
  /// The elements as T, valid while this object is. @throws Error (usage) if they are of another type.
  template <Element T>
  std::span<const T> as() const& {
    require(dtype_of<T>());
    return {reinterpret_cast<const T*>(bytes_.data()), size_};
  }
  /// Of a temporary a copy, which may be kept: `for (double x : samesum::sum(a, axes).as<double>())`.
  template <Element T>
  std::vector<T> as() && {
    const std::span<const T> all = std::as_const(*this).template as<T>();
    return {all.begin(), all.end()};
  }

 private:
  void require(DType type) const;

  DType type_ = DType::float64;
  std::vector<std::uint64_t> shape_;
  std::uint64_t size_ = 0;
  std::vector<std::byte, detail::ZerosAllocator<std::byte>> bytes_;  // is resized once
};

/// What axis_reduction() computes of the elements along the axes.
enum class AxisReduction {
  sum,                 ///< of floats float64, correctly rounded; of integers int64 or uint64, exact
  mean,                ///< float64, correctly rounded
  variance,            ///< of the population, or divided by n - Axes::ddof(); float64, correctly rounded
  standard_deviation,  ///< likewise
  norm,                ///< likewise
  squared_norm,        ///< likewise
  min,                 ///< in the type of the elements
  max,
  argmin,  ///< uint64: the position along the axes in C order, the lowest of several
  argmax,
  count_nonzero,  ///< uint64
  product,        ///< of integers int64 or uint64, exact; of float64 float64 and of other floats float32, by the tree of product()
};

/// "sum", …, "product".
std::string_view name_of(AxisReduction reduction) noexcept;

/// The reduction of the elements along `axes`, one result for each position along the others: the same values, bit for bit, as a reduction
/// of these elements alone. Takes one pass over the elements, whatever the shape and the strides; products, and variances and norms of
/// 64-bit integers, take longer. An array on a device that runs kernels and has float64 is reduced there; otherwise, and for products of
/// integers, it is copied to the host.
/// @throws Error (usage) for an axis that the array does not have, or that is named twice; Error (no_answer) if an element of the result
/// has none (the mean of no elements, a variance of no more than Axes::ddof(), a sum of integers beyond 64 bits): the message names its
/// position.
Values axis_reduction(const Array& data, AxisReduction reduction, const Axes& axes, const Options& options = {});
/// The same into memory of the caller's, in host memory or on the device of `data`: `to` has the shape and the type of the result.
/// Waits until the result is there. @throws Error (usage) if `to` has another shape or type, or lies on another device.
void axis_reduction(const Array& data, AxisReduction reduction, const Axes& axes, const Array& to, const Options& options = {});

inline Values sum(const Array& data, const Axes& axes, const Options& options = {}) {
  return axis_reduction(data, AxisReduction::sum, axes, options);
}
inline Values mean(const Array& data, const Axes& axes, const Options& options = {}) {
  return axis_reduction(data, AxisReduction::mean, axes, options);
}
inline Values variance(const Array& data, const Axes& axes, const Options& options = {}) {
  return axis_reduction(data, AxisReduction::variance, axes, options);
}
inline Values standard_deviation(const Array& data, const Axes& axes, const Options& options = {}) {
  return axis_reduction(data, AxisReduction::standard_deviation, axes, options);
}
inline Values norm(const Array& data, const Axes& axes, const Options& options = {}) {
  return axis_reduction(data, AxisReduction::norm, axes, options);
}
inline Values min(const Array& data, const Axes& axes, const Options& options = {}) {
  return axis_reduction(data, AxisReduction::min, axes, options);
}
inline Values max(const Array& data, const Axes& axes, const Options& options = {}) {
  return axis_reduction(data, AxisReduction::max, axes, options);
}
inline Values product(const Array& data, const Axes& axes, const Options& options = {}) {
  return axis_reduction(data, AxisReduction::product, axes, options);
}
inline Values argmin(const Array& data, const Axes& axes, const Options& options = {}) {
  return axis_reduction(data, AxisReduction::argmin, axes, options);
}
inline Values argmax(const Array& data, const Axes& axes, const Options& options = {}) {
  return axis_reduction(data, AxisReduction::argmax, axes, options);
}

}  // namespace samesum
