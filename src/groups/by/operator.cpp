// Operators of one's own, and what formulas give, by key and by segment.
#include "core/float_environment.hpp"
#include "groups/axes_formula.hpp"
#include "groups/by/device/lists_device.hpp"
#include "groups/by/device/tree_lists_device.hpp"
#include "groups/by/segments.hpp"
#include "groups/by/tree_lists.hpp"
#include "groups/index/scatter.hpp"
#include "groups/operator_results.hpp"

#include <samesum/by_formula.hpp>
#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace samesum {
namespace groups {
namespace {

std::string name_of_group(std::uint64_t group) { return fmt::format("of group {}", group); }

// The values at all positions: an array of one axis for each component, as long as `values`.
std::vector<Array> all_of(FormulaValues& values) {
  const Box all{std::vector<std::uint64_t>(values.shape().size(), 0), values.shape()};
  if (all.size() != 0) return values.evaluate(all, 0, all.size());
  std::vector<Array> none;
  for (const DType type : values.types()) none.emplace_back(static_cast<const void*>(nullptr), 0, type);
  return none;
}

// Groups without elements have the identity. @throws Error (no_answer), which names the group, if there is none.
void put_identities(const formula::Bound& bound, std::span<const std::uint64_t> offsets, OperatorResults& results) {
  for (std::uint64_t group = 0; group + 1 < offsets.size(); ++group) {
    if (offsets[group + 1] != offsets[group]) continue;
    try {
      results.put(group, bound.identity(), bound.types());
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::no_answer) throw;
      throw named_error(bound, name_of_group(group), error);
    }
  }
}

bool have_lists(std::span<const Array> components) {
  return std::ranges::all_of(components, [&](const Array& one) { return has_lists(one) && on_one_device(one, components[0]); });
}

// `bind` makes an operator for groups of so many elements.
template <class Bind>
std::vector<Values> reduce_groups(std::span<const Array> components, const By& by, std::uint32_t threads, const Bind& bind) {
  if (have_lists(components)) {
    if (const std::optional<DeviceLists> lists = lists_on_device(components[0], by)) {
      const formula::Bound bound = bind(lists->longest());
      OperatorResults results(bound.types(), {by.groups()});
      if (roots_on_device(bound, components, false, *lists, results.from(0))) {
        put_identities(bound, lists->on_host, results);
        return finished(bound, std::move(results.values()), name_of_group);
      }
    }
  }
  std::vector<Segments> segments;
  std::vector<Array> elements;
  for (const Array& component : components) {
    segments.push_back(segments_of(component, by, threads));
    elements.push_back(segments.back().elements);
  }
  const Segments& division = segments.front();
  const formula::Bound bound = bind(division.longest());
  OperatorResults results(bound.types(), {by.groups()});
  put_identities(bound, division.offsets, results);
  if (!roots_of_lists(bound, elements, division.offsets, threads, results.from(0))) {
    const auto elements_of = [&](std::uint64_t group) {
      std::vector<Array> parts;
      for (const Segments& one : segments) parts.push_back(one.of(group));
      return parts;
    };
    throw_first_failure(bound, division.count(), elements_of, name_of_group, threads);
  }
  return finished(bound, std::move(results.values()), name_of_group);
}

}  // namespace
}  // namespace groups

std::vector<Values> reduce(const Array& data, const Operator& op, const By& by, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const DType types[] = {data.type()};
  return groups::reduce_groups(std::span(&data, 1), by, options.tuning.threads,
                               [&](std::uint64_t longest) { return formula::Bound(op, types, {.count = longest}); });
}

std::vector<Values> reduce(const Formula& map, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters,
                           const Operator& op, const By& by, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  groups::FormulaValues values(map, inputs, parameters, options);
  return groups::reduce_groups(groups::all_of(values), by, options.tuning.threads, [&](std::uint64_t longest) {
    return formula::Bound(op, values.types(), {values.ranges(), longest, values.complex()});
  });
}

Values group_reduction(const Formula& map, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters,
                       AxisReduction reduction, const By& by, std::uint64_t ddof, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  groups::FormulaValues values(map, inputs, parameters, options);
  values.require_one();
  return group_reduction(groups::all_of(values)[0], reduction, by, ddof, options);
}

}  // namespace samesum
