// Formulas, and reductions by operators, of the C interface.
#include "c/formulas.hpp"

#include <samesum/map_source.hpp>

#include <string_view>

using namespace samesum;
using namespace samesum::c;

namespace samesum::c {
namespace {

// A single element as a parameter of a formula.
FormulaParameter parameter_of(std::string name, const Array& array) {
  const auto element = [&](auto zero) {
    std::memcpy(&zero, array.data(), sizeof zero);
    return zero;
  };
  switch (array.type()) {
    case DType::float64:
      return {std::move(name), element(0.0)};
    case DType::float32:
      return {std::move(name), static_cast<double>(element(0.0f))};
    case DType::int64:
      return {std::move(name), element(std::int64_t{})};
    case DType::uint64:
      return {std::move(name), element(std::uint64_t{})};
    case DType::int32:
      return {std::move(name), element(std::int32_t{})};
    default:
      refuse("the parameter '" + name + "' is of type " + std::string(name_of(array.type())) +
             ": it can be float32, float64, int32, int64 or uint64");
  }
}

}  // namespace

Inputs inputs_of(const samesum_input* inputs, std::size_t count) {
  Inputs result;
  for (const samesum_input& input : need(inputs, count, "inputs")) {
    std::string_view name = &need(input.name, "name");
    const Array array = array_of(&input.array);
    const bool vector = name.ends_with("[]");
    if (vector) name.remove_suffix(2);
    if (array.rank() == 0 && !array.on_device()) {
      if (vector) refuse("the parameter '" + std::string(name) + "' is a single number, no vector");
      result.parameters.push_back(parameter_of(std::string(name), array));
    } else {
      result.arrays.emplace_back(std::string(name), array, vector);
    }
  }
  return result;
}

Operator operator_of(const samesum_operator* op) {
  const samesum_operator given = copy_of(&need(op, "op"), "samesum_operator");
  std::vector<Value> identity;
  for (const samesum_value& value : need(given.identity, given.identity_count, "identity")) identity.push_back(c::value_of(value));
  Inputs inputs = inputs_of(given.parameters, given.parameter_count);
  if (!inputs.arrays.empty())
    refuse("the parameter '" + inputs.arrays[0].name + "' of an operator is an array: it is to be a single number");
  Operator result(Formula(&need(given.combine, "combine")), std::move(identity), std::move(inputs.parameters));
  if (given.finish != nullptr) result.finish.emplace(given.finish);
  return result;
}

void write_values(const std::vector<Value>& found, samesum_value* results, size_t* count) {
  std::vector<samesum_value> values;
  for (const Value& value : found) values.push_back(c::value_of(value));
  write(std::span<const samesum_value>(values), results, count);
}

}  // namespace samesum::c

extern "C" {

samesum_status samesum_map(const char* formula, const samesum_input* inputs, size_t count, const samesum_array* results,
                           size_t result_count) {
  return guard([&] {
    const Inputs given = inputs_of(inputs, count);
    std::vector<Array> to;
    for (const samesum_array& one : need(results, result_count, "results")) to.push_back(array_of(&one));
    map(Formula(&need(formula, "formula")), given.arrays, given.parameters, to);
  });
}

samesum_status samesum_sum_map(const char* formula, const samesum_input* inputs, size_t count, const samesum_options* options,
                               double* result) {
  return guard([&] {
    double& place = need(result, "result");
    const Inputs given = inputs_of(inputs, count);
    const Options how = options_of(options);
    place = accumulate(*map(Formula(&need(formula, "formula")), given.arrays, given.parameters), how).round(how.nan);
  });
}

samesum_status samesum_reduce_by(const samesum_array* array, const char* combine, const samesum_value* identity,
                                 const samesum_options* options, samesum_value* result) {
  samesum_operator op = {};
  op.size = sizeof op;
  op.combine = combine;
  op.identity = identity;
  op.identity_count = identity != nullptr ? 1 : 0;
  size_t one = 1;
  const samesum_status room = guard([&] { need(result, "result"); });
  return room != SAMESUM_OK ? room : samesum_reduce(array, &op, options, result, &one);
}
samesum_status samesum_reduce(const samesum_array* array, const samesum_operator* op, const samesum_options* options,
                              samesum_value* results, size_t* count) {
  return guard([&] { write_values(reduce(array_of(array), operator_of(op), options_of(options)), results, count); });
}
samesum_status samesum_reduce_map(const char* formula, const samesum_input* inputs, size_t input_count, const samesum_operator* op,
                                  const samesum_options* options, samesum_value* results, size_t* count) {
  return guard([&] {
    const Inputs given = inputs_of(inputs, input_count);
    const Formula mapped(&need(formula, "formula"));
    write_values(reduce(mapped, given.arrays, given.parameters, operator_of(op), options_of(options)), results, count);
  });
}
samesum_status samesum_reduce_source(samesum_source* source, const samesum_operator* op, const samesum_options* options,
                                     samesum_value* results, size_t* count) {
  return guard([&] { write_values(reduce(*need(source, "source").value, operator_of(op), options_of(options)), results, count); });
}

}  // extern "C"
