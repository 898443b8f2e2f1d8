// Complex numbers: their sums, products and norms.
//
//   std::vector<std::complex<float>> z = …;
//   std::complex<double> total = samesum::sum(z);
#pragma once

#include <samesum/accumulator.hpp>
#include <samesum/array.hpp>
#include <samesum/export.hpp>
#include <samesum/options.hpp>
#include <samesum/types.hpp>

#include <complex>
#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace samesum SAMESUM_EXPORT {

/// A contiguous range of std::complex<float> or std::complex<double>.
template <class Range>
concept ComplexRange = std::same_as<typename decltype(std::span(std::declval<Range&>()))::value_type, std::complex<float>> ||
    std::same_as<typename decltype(std::span(std::declval<Range&>()))::value_type, std::complex<double>>;

/// A view of complex numbers: an array of their parts, whose last axis has two elements, the real and the imaginary part. So does
/// std::complex lie in memory, and numpy's complex64 and complex128.
class ComplexArray {
 public:
  template <ComplexRange Range>
  ComplexArray(Range&& numbers)
      : ComplexArray(Array(std::span(numbers).data(), {std::span(numbers).size(), 2},
                           dtype_of<typename decltype(std::span(numbers))::value_type::value_type>())) {}
  /// @throws Error (usage) unless `parts` are of a floating-point type, and their last axis has two elements.
  explicit ComplexArray(Array parts);

  const Array& parts() const noexcept { return parts_; }             ///< real and imaginary parts, along the last axis
  std::uint64_t size() const noexcept { return parts_.size() / 2; }  ///< complex elements
  Array real() const { return parts_.at(parts_.rank() - 1, 0); }     ///< the real parts, in place
  Array imag() const { return parts_.at(parts_.rank() - 1, 1); }     ///< the imaginary parts, in place

 private:
  Array parts_;
};

/// The exact sum of complex numbers.
struct ComplexSum {
  Accumulator real, imag;

  void merge(const ComplexSum& other) {
    real.merge(other.real);
    imag.merge(other.imag);
  }
  ComplexSum& operator+=(const ComplexSum& other) {
    merge(other);
    return *this;
  }
  std::complex<double> round(NanPolicy nan = NanPolicy::propagate) const { return {real.round(nan), imag.round(nan)}; }
};
ComplexSum accumulate(const ComplexArray& data, const Options& options = {});

/// Each part correctly rounded: the sum of the real parts, and that of the imaginary ones. One pass. A NaN in one part does not touch the
/// other; Options::nan is about parts. @throws Error (no_answer) for the mean of no elements.
std::complex<double> sum(const ComplexArray& data, const Options& options = {});
std::complex<double> mean(const ComplexArray& data, const Options& options = {});
/// The sum of the squared magnitudes, and its root, each rounded once.
double squared_norm(const ComplexArray& data, const Options& options = {});
double norm(const ComplexArray& data, const Options& options = {});
/// By the balanced binary tree over the index, as products of real numbers: each node is (ac - bd, ad + bc), each operation rounded in the
/// type of the parts, so that the bits are the same on every device. The empty product is 1.
std::complex<double> product(const ComplexArray& data, const Options& options = {});

}  // namespace samesum
