// Complex numbers are arrays of parts: what is known of their sums along axes, their norms and the operators of one's own serves them.
#include <samesum/axes.hpp>
#include <samesum/complex.hpp>
#include <samesum/error.hpp>
#include <samesum/operator.hpp>
#include <samesum/reduce.hpp>
#include <samesum/sum.hpp>

#include <numeric>
#include <vector>

namespace samesum {
namespace {

std::complex<double> along_all(const ComplexArray& data, AxisReduction reduction, const Options& options) {
  std::vector<std::int64_t> axes(data.parts().rank() - 1);
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  const Values parts = axis_reduction(data.parts(), reduction, Axes(std::move(axes)), options);
  return {parts.as<double>()[0], parts.as<double>()[1]};
}

}  // namespace

ComplexArray::ComplexArray(Array parts) : parts_(std::move(parts)) {
  if (is_integer(parts_.type()) || parts_.rank() == 0 || parts_.shape().back() != 2) {
    throw Error(ErrorKind::usage, "complex numbers are an array of floating-point parts whose last axis has two: real and imaginary");
  }
}

ComplexSum accumulate(const ComplexArray& data, const Options& options) {
  return {accumulate(data.real(), options), accumulate(data.imag(), options)};
}

std::complex<double> sum(const ComplexArray& data, const Options& options) { return along_all(data, AxisReduction::sum, options); }
std::complex<double> mean(const ComplexArray& data, const Options& options) { return along_all(data, AxisReduction::mean, options); }
double squared_norm(const ComplexArray& data, const Options& options) { return squared_norm(data.parts(), options); }
double norm(const ComplexArray& data, const Options& options) { return norm(data.parts(), options); }

std::complex<double> product(const ComplexArray& data, const Options& options) {
  const Operator times(Formula("(a[0]*b[0] - a[1]*b[1], a[0]*b[1] + a[1]*b[0])"), {Value{1.0, DType::float64}, Value{0.0, DType::float64}});
  const std::vector<Value> parts = reduce(Formula("(x, y)"), {{"x", data.real()}, {"y", data.imag()}}, {}, times, options);
  return {parts[0].as_double(), parts[1].as_double()};
}

}  // namespace samesum
