// Formulas, and reductions by operators.
#include "formulas.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <samesum/samesum.hpp>

#include <utility>

namespace samesum::python {

Inputs::Inputs(const nb::dict& named) {
  for (const auto& [key, value] : named) {
    std::string name = nb::cast<std::string>(key);
    if (PyLong_Check(value.ptr()) != 0) {
      std::int64_t whole = 0;
      std::uint64_t large = 0;
      if (nb::try_cast(value, whole)) {
        parameters.emplace_back(name, whole);
      } else if (nb::try_cast(value, large)) {
        parameters.emplace_back(name, large);
      } else {
        throw Error(ErrorKind::usage, "the number " + nb::cast<std::string>(nb::str(value)) + " fits neither int64 nor uint64");
      }
    } else if (PyFloat_Check(value.ptr()) != 0) {
      parameters.emplace_back(name, nb::cast<double>(value));
    } else {
      const bool vector = name.ends_with("[]");
      if (vector) name.resize(name.size() - 2);
      views.push_back(std::make_unique<View>(value));
      const Array& array = whole(*views.back()).array();
      if (views.back()->complex()) {
        if (vector) throw Error(ErrorKind::usage, "'" + name + "[]' has complex numbers, of which there are no vectors: leave out the []");
        arrays.emplace_back(name, ComplexArray(array));
      } else {
        arrays.emplace_back(name, array, vector);
      }
      bytes += views.back()->bytes();
    }
  }
}

Operator operator_of(const std::string& combine, nb::handle identity, const nb::dict& parameters, const std::string& finish) {
  nb::dict numbers;
  if (nb::isinstance<nb::tuple>(identity)) {
    for (nb::handle each : identity) numbers[nb::str(std::to_string(nb::len(numbers)).c_str())] = each;
  } else if (!identity.is_none()) {
    numbers["0"] = identity;
  }
  const Inputs none(numbers), named(parameters);
  if (!none.arrays.empty()) throw Error(ErrorKind::usage, "identity has to be a number, or a tuple of a number for each component");
  if (!named.arrays.empty()) {
    throw Error(ErrorKind::usage, "the parameter '" + named.arrays[0].name + "' of an operator is an array: it has to be a number");
  }
  std::vector<Value> values;
  for (const FormulaParameter& each : none.parameters) values.push_back(each.value);
  Operator op(Formula(combine), std::move(values), named.parameters);
  if (!finish.empty()) op.finish.emplace(finish);
  return op;
}

nb::list arrays_of(std::vector<Values> found) {
  nb::list list;
  for (Values& values : found) {
    const DType type = values.type();
    list.append(array_of(std::move(values), type));
  }
  return list;
}

Terms::Terms(const std::string& map, const nb::dict& named)
    : inputs(named), formula(map.empty() ? "x" : map), complex(formula.describe(inputs.arrays, inputs.parameters).complex),
      plain(map.empty() && !complex) {}

namespace {

using AxisNumbers = std::optional<std::vector<std::int64_t>>;

/// The result of an operator: a number, or of tuples a tuple.
nb::object reduce(const std::string& map, const nb::dict& named, const std::string& combine, nb::handle identity,
                  const nb::dict& parameters, const std::string& finish, nb::handle device) {
  const Terms terms(map, named);
  Options options = options_of(nb::none(), device);
  const Operator op = operator_of(combine, identity, parameters, finish);
  const std::vector<Value> found = run(terms.inputs.bytes, options, [&] { return terms.reduce(op, options); });
  if (terms.complex && found.size() == 2) return number(std::complex(found[0].as_double(), found[1].as_double()));
  if (found.size() == 1) return number(found[0]);
  nb::list all;
  for (const Value& value : found) all.append(number(value));
  return nb::tuple(all);
}

nb::list reduce_along(const std::string& map, const nb::dict& named, const std::string& combine, nb::handle identity,
                      const nb::dict& parameters, const std::string& finish, const AxisNumbers& axes, bool keepdims, nb::handle device) {
  const Terms terms(map, named);
  if (terms.complex) throw Error(ErrorKind::usage, "of complex numbers there are only reductions of all elements: leave out axis");
  Options options = options_of(nb::none(), device);
  const Operator op = operator_of(combine, identity, parameters, finish);
  const Axes chosen = axes_of(shape_of(terms.inputs.arrays).size(), axes, keepdims);
  return arrays_of(run(terms.inputs.bytes, options, [&] { return terms.reduce(op, options, chosen); }));
}

nb::object sum_map_along(const std::string& text, const nb::dict& named, const AxisNumbers& axes, bool keepdims, nb::handle nan,
                         nb::handle device) {
  const Inputs inputs(named);
  const Formula formula(text);
  Options options = options_of(nan, device);
  const Axes chosen = axes_of(shape_of(inputs.arrays).size(), axes, keepdims);
  Values values = run(inputs.bytes, options,
                      [&] { return axis_reduction(formula, inputs.arrays, inputs.parameters, AxisReduction::sum, chosen, options); });
  const DType type = values.type();
  return array_of(std::move(values), type);
}

nb::object sum_map(const std::string& text, const nb::dict& named, nb::handle nan, nb::handle device) {
  const Inputs inputs(named);
  const Formula formula(text);
  Options options = options_of(nan, device);
  const Accumulator sum =
      run(inputs.bytes, options, [&] { return accumulate(*samesum::map(formula, inputs.arrays, inputs.parameters), options); });
  return is_integer(sum.result_type()) && sum.count() != 0 ? integer(sum) : nb::cast(sum.round(options.nan));
}

nb::list map_formula(const std::string& text, const nb::dict& named) {
  const Inputs inputs(named);
  const Formula formula(text);
  const std::vector<std::uint64_t> shape = shape_of(inputs.arrays);
  std::vector<Values> results;
  const FormulaDescription gives = formula.describe(inputs.arrays, inputs.parameters);
  std::vector<Array> places;
  if (gives.complex) {
    std::vector<std::uint64_t> with_parts = shape;
    with_parts.push_back(2);
    const ComplexArray numbers(results.emplace_back(gives.results[0], with_parts).array());
    places = {numbers.real(), numbers.imag()};
  } else {
    for (const DType type : gives.results) places.push_back(results.emplace_back(type, shape).array());
  }
  {
    nb::gil_scoped_release release;
    map(formula, inputs.arrays, inputs.parameters, places);
  }
  nb::list list;
  for (Values& values : results) {
    const DType type = values.type();
    const nb::object array = array_of(std::move(values), type);
    list.append(gives.complex ? complex_of(array) : array);
  }
  return list;
}

}  // namespace

void bind_formulas(nb::module_& m) {
  m.def("names_of", [](const std::string& formula) { return Formula(formula).names(); });
  m.def("reduce", &python::reduce, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("reduce_along", &reduce_along, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
        nb::arg().none());
  m.def("map", &map_formula);
  m.def("sum_map_along", &sum_map_along, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none(), nb::arg().none());
  m.def("sum_map", &sum_map, nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none());
}

}  // namespace samesum::python
