// What needs all numbers of each group of rows, in their order: products, positions, operators of the user's own.
#include "group/by.hpp"
#include "group/group_table.hpp"
#include "group/keyed.hpp"
#include "input/broadcast.hpp"
#include "input/elements.hpp"
#include "output/number.hpp"
#include "output/printable.hpp"

#include <samesum/by_formula.hpp>
#include <samesum/device.hpp>
#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

namespace samesum::cli {
namespace {

Options options_of(const Input& input, const ResultOptions& result) {
  return {.nan = result.nan_policy(), .device = Device::open("cpu"), .tuning = {.threads = input.threads}};
}

using At = std::function<std::optional<Number>(std::size_t group, std::size_t i)>;

// A column for each of `names`.
void print(Output& out, const RowKeys& rows, const std::string& column, const std::vector<std::string>& names, bool sorted,
           std::uint64_t missing, const ResultOptions& result, const At& at) {
  const auto of_column = [&](std::size_t group, std::size_t, std::size_t i) { return at(group, i); };
  GroupTable{rows.keys, rows.key_names, {column}, names, sorted, missing, of_column}.print(out, result);
}

// NaNs of groups that have nothing else as zeros: these have a position, which is not printed.
std::vector<double> without_nans_alone(const Array& numbers, const RowKeys& rows, const Values& counts) {
  std::vector<double> values(numbers.size());
  map(Formula("float64(x)"), {{"x", numbers}}, {}, {Array(values.data(), values.size(), DType::float64)});
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (counts.as<std::uint64_t>()[rows.group_of[i]] == 0) values[i] = 0;
  }
  return values;
}

std::vector<std::string> component_names(const std::vector<Values>& components) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < components.size(); ++k) names.push_back(fmt::format("value{}", k));
  return names;
}

At values_in(const std::vector<Values>& components) {
  return [&components](std::size_t group, std::size_t k) { return std::optional(number_at(components[k], group)); };
}

// Numbers of a text are float64 for a formula, or int64 if it takes integers only.
bool takes_integers_only(const Operator& op) {
  const Array of_floats(static_cast<const void*>(nullptr), 0, DType::float64);
  try {
    op.combine.describe({{"a", of_floats}, {"b", of_floats}}, op.parameters);
    return false;
  } catch (const Error&) {
    return true;
  }
}

}  // namespace

int run_reduction_by(Output& out, const Input& input, const std::string& device, const std::string& statistic,
                     const ResultOptions& result) {
  check_by(input, device, result.plain);
  const Keyed all(input);
  const Options options = options_of(input, result);
  if (statistic == "prod") {
    const Values found = all.naming_keys([&] { return product(all.numbers(), all.by(), options); });
    const auto at = [&](std::size_t group, std::size_t) {
      const std::optional<std::uint64_t> number = all.number_of(group);
      return std::optional(number ? number_at(found, *number) : is_integer(found.type()) ? Number(std::int64_t{1}) : Number(1.0));
    };
    print(out, all.rows(), all.column(), {statistic}, all.sorted(), all.missing(), result, at);
    return kExitOk;
  }
  const Values kept = all.by().sums(all.numbers(), {.threads = input.threads}).counts(options.nan);  // of each group
  std::vector<double> values;
  Array numbers = all.numbers();
  if (std::ranges::count(kept.as<std::uint64_t>(), 0u) != 0) {
    values = without_nans_alone(numbers, all.rows(), kept);
    numbers = Array(std::span<const double>(values));
  }
  const Values found = statistic == "argmin" ? argmin(numbers, all.by(), options) : argmax(numbers, all.by(), options);
  const auto at = [&](std::size_t group, std::size_t) -> std::optional<Number> {
    const std::optional<std::uint64_t> number = all.number_of(group);
    if (!number || kept.as<std::uint64_t>()[*number] == 0) return std::nullopt;
    return Number(all.row_of(found.as<std::uint64_t>()[*number]));
  };
  print(out, all.rows(), all.column(), {statistic}, all.sorted(), all.missing(), result, at);
  return kExitOk;
}

int run_operator_by(Output& out, const Input& input, const std::string& device, const Operator& op, const ResultOptions& result) {
  check_by(input, device, result.plain);
  const Options options = options_of(input, result);
  if (input.map.empty()) {
    const Keyed all(input, takes_integers_only(op) ? TextAs::numbers : TextAs::float64);
    if (all.missing() != 0) {
      throw Error(ErrorKind::usage, fmt::format("{} missing, and an operator takes all numbers in their order: write nan for them",
                                                counted(all.missing(), "number")));
    }
    const std::vector<Values> found = all.naming_keys([&] { return reduce(all.numbers(), op, all.by(), options); });
    print(out, all.rows(), all.column(), component_names(found), all.sorted(), 0, result, values_in(found));
    return kExitOk;
  }
  const RowKeys rows = keys_of_mapped(input);
  Input of_map = input;
  of_map.keys.clear();
  const Formula map = of_map.formula();
  std::deque<Elements> elements;
  std::vector<FormulaInput> inputs;
  for (const Input::Operand& operand : of_map.operands(map)) {
    elements.emplace_back(operand.file, operand.how);
    inputs.push_back(input_of(operand.name, elements.back(), elements.back().view()));
  }
  const By groups = by(Array(std::span<const std::uint64_t>(rows.group_of)), rows.keys.size());
  const std::vector<Values> found =
      naming_keys(rows, [&] { return reduce(map, inputs, of_map.formula_parameters(), op, groups, options); });
  print(out, rows, map.to_string(), component_names(found), input.sorted, 0, result, values_in(found));
  return kExitOk;
}

}  // namespace samesum::cli
