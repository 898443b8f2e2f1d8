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

#include <deque>
#include <functional>
#include <optional>
#include <utility>

namespace samesum::cli {
namespace {

Options options_of(const Input& input, const ResultOptions& result) {
  return {.nan = result.nan_policy(), .device = Device::open("cpu"), .tuning = {.threads = input.threads}};
}

// Results of the groups that have a number, a column for each.
void print(Output& out, const RowKeys& rows, const std::string& column, const std::vector<std::string>& names, bool sorted,
           std::uint64_t missing, const ResultOptions& result,
           const std::function<std::optional<Number>(std::size_t group, std::size_t i)>& at) {
  GroupTable{rows.keys,
             rows.key_names,
             {column},
             names,
             sorted,
             missing,
             [&](std::size_t group, std::size_t, std::size_t i) {
               return at(group, i); }}
      .print(out, result);
}

}  // namespace

int run_reduction_by(Output& out, const Input& input, const std::string& statistic, const ResultOptions& result) {
  check_by(input, result.plain);
  const Keyed all(input);
  const AxisReduction reduction = statistic == "prod"     ? AxisReduction::product
                                  : statistic == "argmin" ? AxisReduction::argmin
                                                          : AxisReduction::argmax;
  const bool position = reduction != AxisReduction::product;
  const Values found = group_reduction(all.numbers(), reduction, all.by(), 0, options_of(input, result));
  const auto at = [&](std::size_t group, std::size_t) -> std::optional<Number> {
    const std::optional<std::uint64_t> number = all.number_of(group);
    if (!number) return std::nullopt;
    return position ? Number(all.row_of(found.as<std::uint64_t>()[*number])) : number_at(found, *number);
  };
  print(out, all.rows(), all.column(), {statistic}, all.sorted(), all.missing(), result, at);
  return kExitOk;
}

int run_operator_by(Output& out, const Input& input, const Operator& op, const ResultOptions& result) {
  check_by(input, result.plain);
  const Options options = options_of(input, result);
  std::vector<Values> found;
  const auto names = [&] {
    std::vector<std::string> numbers;
    for (std::size_t k = 0; k < found.size(); ++k) numbers.push_back(std::to_string(k));
    return numbers;
  };
  if (input.map.empty()) {
    const Keyed all(input);
    if (all.missing() != 0) {
      throw Error(ErrorKind::usage, fmt::format("{} missing, and an operator takes all numbers in their order: write nan for them",
                                                counted(all.missing(), "number")));
    }
    found = reduce(all.numbers(), op, all.by(), options);
    print(out, all.rows(), all.column(), names(), all.sorted(), 0, result,
          [&](std::size_t group, std::size_t k) { return std::optional(number_at(found[k], group)); });
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
  found = reduce(map, inputs, of_map.formula_parameters(), op, groups, options);
  print(out, rows, map.to_string(), names(), input.sorted, 0, result,
        [&](std::size_t group, std::size_t k) { return std::optional(number_at(found[k], group)); });
  return kExitOk;
}

}  // namespace samesum::cli
