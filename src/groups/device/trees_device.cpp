// Trees along axes on a device: a launch goes up three levels of all results at once. A work-item has a node, and combines the eight leaves
// below it in registers; its neighbours have the nodes of neighbouring results, so that these are read together where they lie together.
#include "groups/device/trees_device.hpp"

#include "core/array/array_blocks.hpp"
#include "device/memory/buffer.hpp"
#include "formula/map/map_device.hpp"
#include "formula/operator/operator_device.hpp"
#include "formula/print.hpp"
#include "groups/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace samesum::groups {
namespace {

using formula::Scalar;

constexpr std::uint32_t kLevelGroup = 256, kLevelCpuGroup = 16, kLevelGroupsToUnit = 16;

// Where a component's leaves lie, in elements: along the axis of the tree, and along two that are kept.
struct Level {
  device::Memory memory;
  std::uint64_t offset = 0;
  std::int64_t along = 0, outer = 0, inner = 0;
};

}  // namespace

NodeText node_text(const formula::Bound& bound) {
  std::string state, pair, combined;
  NodeText text;
  for (std::size_t k = 0; k < bound.types().size(); ++k) {
    state += fmt::format("  {} c{};\n", formula::dialect_name(bound.types()[k]), k);
    combined += fmt::format("  r.c{} = {};\n", k, bound.types().size() == 1 ? "value" : fmt::format("value.r{}", k));
  }
  for (const formula::InputComponent& input : bound.program().inputs)
    pair += fmt::format("{}.c{}, ", input.input == 0 ? "a" : "b", input.component);
  for (std::size_t k = 0; k < bound.program().parameters.size(); ++k) {
    text.parameters += fmt::format("{} q{}, ", formula::dialect_name(bound.program().parameters[k].type), k);
    text.passed += fmt::format("q{}, ", k);
  }
  text.functions = fmt::format(
      "#define NODE_LEAVES {}\n"
      "{}typedef struct {{\n{}}} STATE;\n"
      "FN STATE combine_states(STATE a, STATE b, {}uint* error) {{\n  const combine_result value = combine({}{}error);\n"
      "  STATE r;\n{}  return r;\n}}\n"
      "FN STATE node_over(STATE* s, uint count, {}uint* error) {{\n"
      "#pragma unroll\n"
      "  for (uint apart = 1; apart < NODE_LEAVES; apart *= 2) {{\n"
      "#pragma unroll\n"
      "    for (uint k = 0; k + apart < NODE_LEAVES; k += 2 * apart) {{\n"
      "      if (k + apart < count) s[k] = combine_states(s[k], s[k + apart], {}error);\n"
      "    }}\n"
      "  }}\n"
      "  return s[0];\n}}\n",
      kNodeLeaves, formula::print(bound.program(), "combine"), state, text.parameters, pair, text.passed, combined, text.parameters,
      text.passed);
  return text;
}

device::Source level_source(const formula::Bound& bound, std::span<const DType> elements) {
  std::string from, load, to, write;
  for (std::size_t k = 0; k < bound.types().size(); ++k) {
    const std::string_view name = formula::dialect_name(bound.types()[k]);
    const std::string place = fmt::format("a{0}[(long)o{0} + (long)leaf * l{0} + (long)i0 * m{0} + (long)i1 * n{0}]", k);
    from += fmt::format("GLOBAL const {1}* a{0}, ulong o{0}, long l{0}, long m{0}, long n{0}, ", k,
                        elements.empty() ? name : formula::stored_name(elements[k]));
    load += fmt::format("        s[k].c{} = ({}){};\n", k, name, elements.empty() ? place : formula::loaded(elements[k], place));
    to += fmt::format("GLOBAL {}* r{}, ", name, k);
    write += fmt::format("    r{}[n] = {};\n", k, formula::canonical_text(bound.types()[k], fmt::format("root.c{}", k)));
  }
  const NodeText node = node_text(bound);
  return {formula::files_of({&bound.program()}),
          {},
          fmt::format("{}KERNEL void tree_level({}{}{}ulong leaves, ulong outer, ulong inner, ulong nodes, GLOBAL uint* failed) {{\n"
                      "  uint error = 0;\n"
                      "  for (ulong n = global_id(); n < nodes; n += global_size()) {{\n"
                      "    const ulong row = n / inner, i1 = n - row * inner, node = row / outer, i0 = row - node * outer;\n"
                      "    const ulong first = node * NODE_LEAVES;\n"
                      "    const uint count = leaves - first < NODE_LEAVES ? (uint)(leaves - first) : NODE_LEAVES;\n"
                      "    STATE s[NODE_LEAVES];\n"
                      "#pragma unroll\n"
                      "    for (uint k = 0; k < NODE_LEAVES; ++k) {{\n"
                      "      if (k < count) {{\n"
                      "        const ulong leaf = first + k;\n{}"
                      "      }}\n"
                      "    }}\n"
                      "    const STATE root = node_over(s, count, {}&error);\n{}"
                      "  }}\n"
                      "  if (error != 0) atomic_max_global32(failed, 1);\n}}\n",
                      node.functions, from, node.parameters, to, load, node.passed, write)};
}

bool roots_on_device(const formula::Bound& bound, std::span<const Array> components, const Axes& axes, std::span<std::byte* const> to) {
  const Device handle = components[0].buffer().device();
  device::Device& device = handle.implementation();
  if (components.size() > kMaxTreeComponents) return false;
  const auto is_wide = [](const formula::Node& node) { return node.type == Scalar::float64; };
  if (!device.info().has(Capability::fp64) && std::ranges::any_of(bound.program().nodes, is_wide)) return false;
  std::vector<Level> level;
  std::vector<DType> elements;
  std::uint64_t outer = 1, inner = 1, leaves = 1, results = 1;
  for (std::size_t k = 0; k < components.size(); ++k) {
    const AxisProblem problem(components[k], axes);
    const Array& array = components[k];
    std::int64_t none = 0;
    const std::vector<core::Axis> reduced = core::simplified_axes(
        Array(nullptr, Shape(problem.reduced_shape), array.type(), Strides(problem.reduced_strides)), core::Order::index, none);
    if (reduced.size() > 1 || problem.kept.size() > 2 || !formula::converts(formula::scalar_of(array.type()), bound.types()[k]))
      return false;
    const auto size = static_cast<std::int64_t>(size_of(array.type()));
    Level& one = level.emplace_back(Level{array.buffer().state().memory, array.offset() / size_of(array.type())});
    if (!reduced.empty()) one.along = reduced[0].stride / size;
    std::uint64_t own_inner = 1, own_outer = 1;
    if (!problem.kept.empty()) {
      one.inner = problem.kept.back().stride / size;
      own_inner = problem.kept.back().extent;
    }
    if (problem.kept.size() == 2) {
      one.outer = problem.kept[0].stride / size;
      own_outer = problem.kept[0].extent;
    }
    if (k != 0 && (own_inner != inner || own_outer != outer)) return false;
    inner = own_inner;
    outer = own_outer;
    leaves = problem.each;
    results = problem.results;
    elements.push_back(array.type());
  }
  const device::Lock lock(device.mutex());
  const device::Memory failed = device.allocate(sizeof(std::uint32_t));
  std::uint32_t has_failed = 0;
  device.write(failed, 0, &has_failed, sizeof has_failed);
  const std::uint32_t group_size = std::min(device.info().max_group_size, device.info().is_cpu ? kLevelCpuGroup : kLevelGroup);
  std::vector<device::Memory> states[2];  // in turns
  for (bool first = true; first || leaves > 1; first = false) {
    const device::Kernel kernel =
        device::build(device, level_source(bound, first ? std::span<const DType>(elements) : std::span<const DType>()), "tree_level");
    const std::uint64_t roots = (leaves + kNodeLeaves - 1) / kNodeLeaves, nodes = roots * results;
    std::vector<device::Memory>& into = states[0];
    for (std::size_t k = into.size(); k < level.size(); ++k)
      into.push_back(device.allocate(std::max<std::uint64_t>(nodes * formula::bytes_of(bound.types()[k]), 16)));
    std::vector<device::Argument> arguments;
    for (const Level& one : level) {
      arguments.emplace_back(one.memory);
      arguments.emplace_back(one.offset);
      for (const std::int64_t stride : {one.along, one.outer, one.inner}) arguments.emplace_back(stride);
    }
    formula::add_parameters(bound.program(), bound.parameters(), arguments);
    arguments.insert(arguments.end(), into.begin(), into.end());
    for (const std::uint64_t number : {leaves, outer, inner, nodes}) arguments.emplace_back(number);
    arguments.emplace_back(failed);
    const std::uint64_t groups =
        std::min<std::uint64_t>((nodes + group_size - 1) / group_size, std::uint64_t{device.info().compute_units} * kLevelGroupsToUnit);
    device.launch(kernel, {static_cast<std::uint32_t>(groups), group_size}, arguments);
    // The roots are the next leaves, those of one node of all results one after the other.
    for (std::size_t k = 0; k < level.size(); ++k) level[k] = {into[k], 0, static_cast<std::int64_t>(results), 0, 1};
    leaves = roots;
    outer = 1;
    inner = results;
    std::swap(states[0], states[1]);
  }
  if (bound.program().may_fail) {
    device.read(failed, 0, &has_failed, sizeof has_failed);
    if (has_failed != 0) return false;
  }
  for (std::size_t k = 0; k < level.size(); ++k) device.read(level[k].memory, 0, to[k], results * formula::bytes_of(bound.types()[k]));
  return true;
}

}  // namespace samesum::groups
