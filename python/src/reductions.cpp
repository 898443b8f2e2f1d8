// Reductions, quantiles and formulas.
#include "objects.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <samesum/samesum.hpp>

#include <memory>
#include <utility>

namespace samesum::python {
namespace {

using namespace nanobind::literals;

nb::object sum(nb::handle x, nb::handle nan, nb::handle device, bool to_float) {
  const View view(x);
  Options options = options_of(nan, device);
  if (view.complex()) return number(run_pass(view.bytes(), options, [&] { return samesum::sum(ComplexArray(view.array()), options); }));
  if (to_float)
    return nb::cast(run_pass(view.bytes(), options, [&] { return accumulate(view.array(), options).round_to_float(options.nan); }));
  try {
    return number(run_pass(view.bytes(), options, [&] { return samesum::sum(view.array(), options); }));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::no_answer) throw;
  }
  return integer(run_pass(view.bytes(), options, [&] { return accumulate(view.array(), options); }));
}

enum class Average { mean, variance, deviation, norm };

nb::object average(nb::handle x, Average what, std::uint64_t ddof, nb::handle nan, nb::handle device, bool to_float) {
  const View view(x);
  Options options = options_of(nan, device);
  if (view.complex()) {
    if (what == Average::mean)
      return number(run_pass(view.bytes(), options, [&] { return samesum::mean(ComplexArray(view.array()), options); }));
    if (what != Average::norm) throw Error(ErrorKind::usage, "variances of complex numbers are not defined here; take those of the parts");
  }
  const double result = run_pass(view.bytes(), options, [&]() -> double {
    const Array& data = view.array();
    const NanPolicy policy = options.nan;
    if (to_float) {
      const Statistics found = collect(data, {.extrema = false, .sum = what != Average::norm, .squares = what != Average::mean}, options);
      if (what == Average::mean) return found.mean_to_float(policy);
      if (what == Average::norm) return found.norm_to_float(policy);
      return what == Average::variance ? found.variance_to_float(ddof, policy) : found.standard_deviation_to_float(ddof, policy);
    }
    if (what == Average::mean) return samesum::mean(data, options);
    if (what == Average::norm) return samesum::norm(data, options);
    return what == Average::variance ? samesum::variance(data, ddof, options) : samesum::standard_deviation(data, ddof, options);
  });
  return nb::cast(result);
}

}  // namespace

Axes axes_of(const View& view, const std::optional<std::vector<std::int64_t>>& axes, bool keepdims) {
  return axes_of(view.array().rank() - (view.complex() ? 1 : 0), axes, keepdims);
}

Axes axes_of(std::size_t all, const std::optional<std::vector<std::int64_t>>& axes, bool keepdims) {
  const auto rank = static_cast<std::int64_t>(all);
  std::vector<std::int64_t> numbers;
  if (axes) {
    for (const std::int64_t axis : *axes) {
      if (axis < -rank || axis >= rank) {
        throw Error(ErrorKind::usage, "axis " + std::to_string(axis) + " is none of an array of " + std::to_string(rank) + " axes");
      }
      numbers.push_back(axis < 0 ? axis + rank : axis);
    }
  } else {
    for (std::int64_t i = 0; i < rank; ++i) numbers.push_back(i);
  }
  const Axes chosen(std::move(numbers));
  return keepdims ? chosen.kept() : chosen;
}

namespace {
constexpr std::pair<const char*, AxisReduction> kReductions[] = {
    {"sum", AxisReduction::sum},       {"mean", AxisReduction::mean},
    {"var", AxisReduction::variance},  {"std", AxisReduction::standard_deviation},
    {"norm", AxisReduction::norm},     {"min", AxisReduction::min},
    {"max", AxisReduction::max},       {"argmin", AxisReduction::argmin},
    {"argmax", AxisReduction::argmax}, {"count_nonzero", AxisReduction::count_nonzero},
    {"prod", AxisReduction::product}};
}  // namespace

AxisReduction reduction_of(std::string_view name) {
  for (const auto& [known, reduction] : kReductions) {
    if (known == name) return reduction;
  }
  throw Error(ErrorKind::usage, "there is no reduction '" + std::string(name) + "'");
}

bool gives_indices(AxisReduction reduction) {
  return reduction == AxisReduction::argmin || reduction == AxisReduction::argmax || reduction == AxisReduction::count_nonzero;
}

namespace {

nb::object along(AxisReduction reduction, nb::handle x, const std::optional<std::vector<std::int64_t>>& axes, bool keepdims, nb::handle nan,
                 nb::handle device, nb::handle out, std::uint64_t ddof) {
  const View view(x);
  Options options = options_of(nan, device);
  if (view.complex() && reduction != AxisReduction::sum && reduction != AxisReduction::mean) {
    throw Error(ErrorKind::usage, "of complex numbers there are only sums and means along axes");
  }
  if (reduction == AxisReduction::argmin || reduction == AxisReduction::argmax) every(view);
  const bool indices = gives_indices(reduction);
  const Axes chosen = axes_of(view, axes, keepdims).with_ddof(ddof);
  if (!out.is_none()) {
    const View to(out, true);
    if (to.complex() != view.complex()) {
      throw Error(ErrorKind::usage, std::string("out is of ") + (to.complex() ? "complex" : "real") + " numbers, and this result of " +
                                        (to.complex() ? "real" : "complex") + " ones");
    }
    const Array place = indices && to.array().type() == DType::int64 ? to.as(DType::uint64) : to.array();
    run(view.bytes(), options, [&] {
      axis_reduction(view.array(), reduction, chosen, place, options);
      return 0;
    });
    return nb::borrow(out);
  }
  Values values = run(view.bytes(), options, [&] { return axis_reduction(view.array(), reduction, chosen, options); });
  const DType type = indices ? DType::int64 : values.type();
  nb::object result = array_of(std::move(values), type);
  if (view.complex()) result = complex_of(result);
  return result;
}

nb::object extremum(nb::handle x, bool greatest, bool index, nb::handle nan, nb::handle device) {
  const View view(x);
  Options options = options_of(nan, device);
  if (index) every(view);
  const Extremum found = run_pass(view.bytes(), options, [&] {
    return greatest ? samesum::max(real(view).array(), options) : samesum::min(real(view).array(), options);
  });
  return index ? nb::cast(found.index) : number(found.value);
}

std::uint64_t count_nonzero(nb::handle x, nb::handle nan, nb::handle device) {
  const View view(x);
  Options options = options_of(nan, device);
  return run_pass(view.bytes(), options, [&] { return samesum::count_nonzero(real(view).array(), options); });
}

nb::object product(nb::handle x, nb::handle nan, nb::handle device) {
  const View view(x);
  Options options = options_of(nan, device);
  if (view.complex()) return number(run(view.bytes(), options, [&] { return samesum::product(ComplexArray(view.array()), options); }));
  if (!is_integer(view.array().type())) return number(run(view.bytes(), options, [&] { return samesum::product(view.array(), options); }));
  const std::string digits = run(view.bytes(), options, [&] {
    Product all(options, view.array().type());
    all.append(view.array());
    return all.digits();
  });
  if (digits.size() > 600) return nb::module_::import_("samesum._arrays").attr("of_digits")(digits);  // the least limit of Python's int()
  return nb::steal(PyLong_FromString(digits.c_str(), nullptr, 10));
}

nb::object dot(nb::handle a, nb::handle b, nb::handle nan, nb::handle device) {
  const View left(a), right(b);
  Options options = options_of(nan, device);
  const ProductAccumulator sum =
      run_pass(left.bytes() + right.bytes(), options, [&] { return samesum::dot(every(left).array(), every(right).array(), options); });
  if (is_integer(left.array().type())) return integer(sum);
  return nb::cast(sum.round(options.nan));
}

nb::object dot_along(nb::handle a, nb::handle b, std::int64_t axis, nb::handle nan, nb::handle device, nb::handle out) {
  const View left(a), right(b);
  Options options = options_of(nan, device);
  const std::uint64_t bytes = left.bytes() + right.bytes();
  const Array &x = every(left).array(), &y = every(right).array();
  if (!out.is_none()) {
    const View to(out, true);
    run(bytes, options, [&] {
      samesum::dot(x, y, {axis}, to.array(), options);
      return 0;
    });
    return nb::borrow(out);
  }
  Values values = run(bytes, options, [&] { return samesum::dot(x, y, {axis}, options); });
  const DType type = values.type();
  return array_of(std::move(values), type);
}

/// (m, k): the exact sum of products is m / 2^k.
nb::tuple exact_dot(nb::handle a, nb::handle b) {
  const View left(a), right(b);
  Options options;
  const ProductAccumulator sum =
      run_pass(left.bytes() + right.bytes(), options, [&] { return samesum::dot(every(left).array(), every(right).array(), options); });
  if (sum.nan_count() + sum.infinities() != 0) throw Error(ErrorKind::no_answer, "a sum with NaNs or infinities is no fraction");
  return nb::make_tuple(fixed(sum), ProductAccumulator::kUnit);
}

Statistics stats(nb::handle x, nb::handle device) {
  const View view(x);
  Options options = options_of(nb::none(), device);
  return run_pass(view.bytes(), options,
                  [&] { return collect(real(view).array(), {.extrema = true, .sum = true, .squares = true, .nonzeros = true}, options); });
}

nb::list quantiles(nb::handle x, const std::vector<double>& q, const std::string& method, nb::handle nan, nb::handle device) {
  const View view(x);
  Options options = options_of(nan, device);
  const QuantileRule rule{.method = parse_quantile_method(method)};
  const Quantiles found = run(view.bytes(), options, [&] { return samesum::quantiles(real(view).array(), q, rule, options); });
  nb::list result;
  for (const Value& value : found.values) result.append(number(value));
  return result;
}

// With the axis of `q` first.
nb::object quantiles_along(nb::handle x, const std::vector<double>& q, const std::optional<std::vector<std::int64_t>>& axes, bool keepdims,
                           const std::string& method, nb::handle nan, nb::handle device) {
  const View view(x);
  Options options = options_of(nan, device);
  const QuantileRule rule{.method = parse_quantile_method(method)};
  const Axes chosen = axes_of(view, axes, keepdims);
  Values values = run(view.bytes(), options, [&] { return samesum::quantiles(real(view).array(), q, chosen, rule, options); });
  const DType type = values.type();
  return array_of(std::move(values), type);
}

}  // namespace

void bind_reductions(nb::module_& m) {
  nb::enum_<Average>(m, "Average")
      .value("mean", Average::mean)
      .value("var", Average::variance)
      .value("std", Average::deviation)
      .value("norm", Average::norm);
  nb::enum_<AxisReduction> reductions(m, "AxisReduction");
  for (const auto& [name, reduction] : kReductions) reductions.value(name, reduction);
  m.def("sum", &python::sum, nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg());
  m.def("average", &average, nb::arg().none(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg());
  m.def("along", &along, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none(),
        nb::arg() = 0);
  m.def("extremum", &extremum, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none());
  m.def("count_nonzero", &python::count_nonzero, nb::arg(), nb::arg().none(), nb::arg().none());
  m.def("product", &python::product, nb::arg(), nb::arg().none(), nb::arg().none());
  m.def("dot", &python::dot, nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none());
  m.def("dot_along", &dot_along, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none());
  m.def("exact_dot", &exact_dot);
  m.def("stats", &stats, nb::arg(), nb::arg().none());
  m.def("quantiles", &python::quantiles, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none());
  m.def("quantiles_along", &python::quantiles_along, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg().none(),
        nb::arg().none());
}

}  // namespace samesum::python
