// Reductions of the C interface.
#include "c/handles.hpp"

#include <samesum/axes.hpp>
#include <samesum/complex.hpp>
#include <samesum/quantile.hpp>
#include <samesum/reduce.hpp>
#include <samesum/sum.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>

using namespace samesum;
using namespace samesum::c;

namespace {

// A reduction of an array to one number.
template <class Result, class Reduce>
samesum_status reduce_to(const samesum_array* array, const samesum_options* options, Result* result, const Reduce& reduce) {
  return guard([&] { need(result, "result") = reduce(array_of(array), options_of(options)); });
}

// The same of complex numbers.
template <class Result, class Reduce>
samesum_status reduce_complex(const samesum_array* parts, const samesum_options* options, Result* result, const Reduce& reduce) {
  return guard([&] { need(result, "result") = reduce(ComplexArray(array_of(parts)), options_of(options)); });
}

samesum_complex complex_of(const std::complex<double>& number) { return {number.real(), number.imag()}; }

}  // namespace

static_assert(static_cast<int>(SAMESUM_REDUCE_PRODUCT) == static_cast<int>(AxisReduction::product));

namespace samesum::c {

Axes axes_of(const int64_t* axes, std::size_t count, int keep) {
  const std::span given = need(axes, count, "axes");
  const Axes along(std::vector<std::int64_t>(given.begin(), given.end()));
  return keep != 0 ? along.kept() : along;
}
AxisReduction reduction_of(samesum_reduction reduction) {
  if (static_cast<unsigned>(reduction) <= static_cast<unsigned>(SAMESUM_REDUCE_PRODUCT)) return static_cast<AxisReduction>(reduction);
  throw Error(ErrorKind::usage, "there is no reduction " + std::to_string(static_cast<int>(reduction)));
}

}  // namespace samesum::c

extern "C" {

samesum_status samesum_sum(const samesum_array* array, const samesum_options* options, double* result) {
  return reduce_to(array, options, result, [](const Array& data, const Options& how) { return accumulate(data, how).round(how.nan); });
}
samesum_status samesum_sum_value(const samesum_array* array, const samesum_options* options, samesum_value* result) {
  return reduce_to(array, options, result, [](const Array& data, const Options& how) { return c::value_of(samesum::sum(data, how)); });
}
samesum_status samesum_mean(const samesum_array* array, const samesum_options* options, double* result) {
  return reduce_to(array, options, result, [](const Array& data, const Options& how) { return mean(data, how); });
}
samesum_status samesum_variance(const samesum_array* array, uint64_t ddof, const samesum_options* options, double* result) {
  return reduce_to(array, options, result, [&](const Array& data, const Options& how) { return variance(data, ddof, how); });
}
samesum_status samesum_standard_deviation(const samesum_array* array, uint64_t ddof, const samesum_options* options, double* result) {
  return reduce_to(array, options, result, [&](const Array& data, const Options& how) { return standard_deviation(data, ddof, how); });
}
samesum_status samesum_norm(const samesum_array* array, const samesum_options* options, double* result) {
  return reduce_to(array, options, result, [](const Array& data, const Options& how) { return norm(data, how); });
}
samesum_status samesum_squared_norm(const samesum_array* array, const samesum_options* options, double* result) {
  return reduce_to(array, options, result, [](const Array& data, const Options& how) { return squared_norm(data, how); });
}
samesum_status samesum_dot(const samesum_array* a, const samesum_array* b, const samesum_options* options, double* result) {
  return reduce_to(a, options, result, [&](const Array& data, const Options& how) { return dot(data, array_of(b), how).round(how.nan); });
}
samesum_status samesum_dot_value(const samesum_array* a, const samesum_array* b, const samesum_options* options, samesum_value* result) {
  return reduce_to(a, options, result, [&](const Array& data, const Options& how) {
    const ProductAccumulator found = dot(data, array_of(b), how);
    if (!is_integer(data.type())) return c::value_of(Value{found.round(how.nan), DType::float64});
    return is_signed(data.type()) ? c::value_of(Value{found.to_int64(), DType::int64})
                                  : c::value_of(Value{found.to_uint64(), DType::uint64});
  });
}
samesum_status samesum_min(const samesum_array* array, const samesum_options* options, samesum_extremum* result) {
  return reduce_to(array, options, result, [](const Array& data, const Options& how) { return extremum_of(min(data, how)); });
}
samesum_status samesum_max(const samesum_array* array, const samesum_options* options, samesum_extremum* result) {
  return reduce_to(array, options, result, [](const Array& data, const Options& how) { return extremum_of(max(data, how)); });
}
samesum_status samesum_count_nonzero(const samesum_array* array, const samesum_options* options, uint64_t* result) {
  return reduce_to(array, options, result, [](const Array& data, const Options& how) { return count_nonzero(data, how); });
}
samesum_status samesum_product(const samesum_array* array, const samesum_options* options, samesum_value* result) {
  return reduce_to(array, options, result, [](const Array& data, const Options& how) { return c::value_of(product(data, how)); });
}
samesum_status samesum_quantile(const samesum_array* array, double p, const samesum_options* options, double* result) {
  return reduce_to(array, options, result, [&](const Array& data, const Options& how) { return quantile(data, p, {}, how).as_double(); });
}

samesum_status samesum_quantiles(const samesum_array* array, const double* p, size_t count, const char* method,
                                 const samesum_options* options, samesum_value* results) {
  return guard([&] {
    const std::span places = need(results, count, "results");
    const Quantiles found = quantiles(array_of(array), need(p, count, "p"), rule_of(method), options_of(options));
    std::ranges::transform(found.values, places.begin(), [](const Value& value) { return c::value_of(value); });
  });
}

samesum_status samesum_complex_sum(const samesum_array* parts, const samesum_options* options, samesum_complex* result) {
  return reduce_complex(parts, options, result, [](const ComplexArray& data, const Options& how) { return complex_of(sum(data, how)); });
}
samesum_status samesum_complex_mean(const samesum_array* parts, const samesum_options* options, samesum_complex* result) {
  return reduce_complex(parts, options, result, [](const ComplexArray& data, const Options& how) { return complex_of(mean(data, how)); });
}
samesum_status samesum_complex_product(const samesum_array* parts, const samesum_options* options, samesum_complex* result) {
  return reduce_complex(parts, options, result,
                        [](const ComplexArray& data, const Options& how) { return complex_of(product(data, how)); });
}
samesum_status samesum_complex_norm(const samesum_array* parts, const samesum_options* options, double* result) {
  return reduce_complex(parts, options, result, [](const ComplexArray& data, const Options& how) { return norm(data, how); });
}
samesum_status samesum_complex_squared_norm(const samesum_array* parts, const samesum_options* options, double* result) {
  return reduce_complex(parts, options, result, [](const ComplexArray& data, const Options& how) { return squared_norm(data, how); });
}

samesum_status samesum_reduce_axes(const samesum_array* array, samesum_reduction reduction, const int64_t* axes, size_t count, int keep,
                                   const samesum_options* options, const samesum_array* to) {
  return guard([&] {
    axis_reduction(array_of(array), reduction_of(reduction), axes_of(axes, count, keep), array_of(to, "to"), options_of(options));
  });
}
samesum_status samesum_variance_axes(const samesum_array* array, uint64_t ddof, const int64_t* axes, size_t count, int keep,
                                     const samesum_options* options, const samesum_array* to) {
  return guard([&] {
    axis_reduction(array_of(array), AxisReduction::variance, axes_of(axes, count, keep).with_ddof(ddof), array_of(to, "to"),
                   options_of(options));
  });
}
samesum_status samesum_standard_deviation_axes(const samesum_array* array, uint64_t ddof, const int64_t* axes, size_t count, int keep,
                                               const samesum_options* options, const samesum_array* to) {
  return guard([&] {
    axis_reduction(array_of(array), AxisReduction::standard_deviation, axes_of(axes, count, keep).with_ddof(ddof), array_of(to, "to"),
                   options_of(options));
  });
}
samesum_status samesum_quantiles_axes(const samesum_array* array, const double* p, size_t p_count, const char* method, const int64_t* axes,
                                      size_t count, int keep, const samesum_options* options, const samesum_array* to) {
  return guard([&] {
    const Axes along = axes_of(axes, count, keep);
    copy(quantiles(array_of(array), need(p, p_count, "p"), along, rule_of(method), options_of(options)).array(), to);
  });
}

}  // extern "C"
