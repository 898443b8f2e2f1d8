// Trees over lists on a device: a launch goes up three levels of all lists at once. A work-item has a node, and combines the eight leaves
// below it. A list's nodes begin at node begin / 8 + list, where `begin` is that of its leaves: so no list's nodes overlap the next one's,
// and the nodes need not be counted. A list with eight leaves or fewer is done.
#include "groups/by/device/tree_lists_device.hpp"

#include "device/memory/buffer.hpp"
#include "device/memory/run.hpp"
#include "formula/map/map_device.hpp"
#include "formula/operator/operator_device.hpp"
#include "formula/print.hpp"
#include "groups/device/trees_device.hpp"
#include "reduce/device/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace samesum::groups {
namespace {

using formula::Scalar;

constexpr std::uint32_t kNodeGroup = 256, kNodeCpuGroup = 16, kNodeGroupsToUnit = 16;

}  // namespace

device::Source lists_source(const formula::Bound& bound, const ListLeaves& leaves) {
  const bool first = !leaves.elements.empty();
  std::string from, load, to, write, write_root;
  for (std::size_t k = 0; k < bound.types().size(); ++k) {
    const std::string_view name = formula::dialect_name(bound.types()[k]);
    if (first && leaves.numbered && k + 1 == bound.types().size()) {
      load += fmt::format("        s[k].c{} = ({})at;\n", k, name);
    } else if (first) {
      const std::string place = fmt::format("a{0}[(long)o{0} + (long)at * l{0}]", k);
      from += fmt::format("GLOBAL const {1}* a{0}, ulong o{0}, long l{0}, ", k, formula::stored_name(leaves.elements[k]));
      load += fmt::format("        s[k].c{} = ({}){};\n", k, name, formula::loaded(leaves.elements[k], place));
    } else {
      from += fmt::format("GLOBAL const {}* a{}, ", name, k);
      load += fmt::format("        s[k].c{0} = a{0}[at];\n", k);
    }
    to += fmt::format("GLOBAL {0}* r{1}, GLOBAL {0}* to{1}, ", name, k);
    const std::string value = formula::canonical_text(bound.types()[k], fmt::format("root.c{}", k));
    write += fmt::format("      r{}[n] = {};\n", k, value);
    write_root += fmt::format("      to{}[list] = {};\n", k, value);
  }
  const NodeText node = node_text(bound);
  return {
      formula::files_of({&bound.program()}),
      {},
      fmt::format(
          "{}FN ulong begin_of(GLOBAL const ulong* offsets, ulong list, uint level) {{\n"
          "  ulong begin = offsets[list];\n"
          "  for (uint l = 0; l < level; ++l) begin = begin / NODE_LEAVES + list;\n"
          "  return begin;\n}}\n"
          "KERNEL void tree_of_lists({}{}{}{}GLOBAL const ulong* offsets, ulong lists, uint level, ulong nodes, GLOBAL uint* failed) {{\n"
          "  uint error = 0;\n"
          "  for (ulong n = global_id(); n < nodes; n += global_size()) {{\n"
          "    ulong list = 0, end = lists;  // the last list whose nodes begin at node n or before\n"
          "    while (end - list > 1) {{\n"
          "      const ulong middle = (list + end) / 2;\n"
          "      if (begin_of(offsets, middle, level + 1) <= n) {{\n        list = middle;\n      }} else {{\n        end = middle;\n      "
          "}}\n"
          "    }}\n"
          "    ulong leaves = offsets[list + 1] - offsets[list];\n"
          "    for (uint l = 0; l < level; ++l) leaves = (leaves + NODE_LEAVES - 1) / NODE_LEAVES;\n"
          "    const ulong node = begin_of(offsets, list, level + 1), first = (n - node) * NODE_LEAVES;\n"
          "    if (n < node || first >= leaves || (level != 0 && leaves == 1)) continue;\n"
          "    const uint count = leaves - first < NODE_LEAVES ? (uint)(leaves - first) : NODE_LEAVES;\n"
          "    const ulong begin = begin_of(offsets, list, level) + first;\n"
          "    STATE s[NODE_LEAVES];\n"
          "#pragma unroll\n"
          "    for (uint k = 0; k < NODE_LEAVES; ++k) {{\n"
          "      if (k < count) {{\n"
          "        const ulong at = {};\n{}"
          "      }}\n"
          "    }}\n"
          "    const STATE root = node_over(s, count, {}&error);\n"
          "    if (leaves <= NODE_LEAVES) {{\n{}    }} else {{\n{}    }}\n"
          "  }}\n"
          "  if (error != 0) atomic_max_global32(failed, 1);\n}}\n",
          node.functions, from, node.parameters, to, leaves.sorted && first ? "GLOBAL const uint* numbers, " : "",
          leaves.sorted && first ? "numbers[begin + k]" : "begin + k", load, node.passed, write_root, write)};
}

bool roots_on_device(const formula::Bound& bound, std::span<const Array> components, bool numbered, const DeviceLists& lists,
                     std::span<std::byte* const> to) {
  device::Device& device = components[0].buffer().device().implementation();
  if (bound.types().size() > kMaxTreeComponents) return false;
  const auto is_wide = [](const formula::Node& node) { return node.type == Scalar::float64; };
  if (!device.info().has(Capability::fp64) && std::ranges::any_of(bound.program().nodes, is_wide)) return false;
  std::vector<DType> elements;
  for (std::size_t k = 0; k < components.size(); ++k) {
    elements.push_back(components[k].type());
    if (!formula::converts(formula::scalar_of(elements[k]), bound.types()[k])) return false;
  }
  const device::Lock lock(device.mutex());
  const device::Memory failed = reduction::allocate_zeros(device, sizeof(std::uint32_t));
  const DeviceInfo& info = device.info();
  const std::uint32_t group_size = std::min(info.max_group_size, info.is_cpu ? kNodeCpuGroup : kNodeGroup);
  const std::uint64_t count = lists.count();
  std::uint64_t longest = lists.longest(), end = lists.on_host.back();  // of the leaves of a level
  std::vector<device::Memory> states[2], roots;                         // in turns
  for (const Scalar type : bound.types()) roots.push_back(device.allocate(std::max<std::uint64_t>(count * formula::bytes_of(type), 16)));
  for (std::uint32_t level = 0; level == 0 || longest > 1; ++level) {
    const bool first = level == 0;
    const device::Source source =
        lists_source(bound, {first ? std::span<const DType>(elements) : std::span<const DType>(), lists.sorted, numbered});
    const device::Kernel kernel = device::build(device, source, "tree_of_lists");
    end = end / kNodeLeaves + count;
    longest = (longest + kNodeLeaves - 1) / kNodeLeaves;
    std::vector<device::Memory>& into = states[0];  // with many empty lists a level may have more nodes than the ones before it
    into.resize(bound.types().size());
    for (std::size_t k = 0; k < into.size(); ++k) {
      const std::uint64_t bytes = end * formula::bytes_of(bound.types()[k]) + 16;
      if (into[k].bytes < bytes) into[k] = device.allocate(bytes);
    }
    std::vector<device::Argument> arguments;
    if (first) {
      for (const Array& component : components) {
        const device::Run run = *device::single_run(component, core::Order::index);
        const auto size = static_cast<std::int64_t>(size_of(component.type()));
        arguments.emplace_back(run.memory);
        arguments.emplace_back(run.offset / static_cast<std::uint64_t>(size));
        arguments.emplace_back(run.stride / size);
      }
    } else {
      for (const device::Memory& memory : states[1]) arguments.emplace_back(memory);
    }
    formula::add_parameters(bound.program(), bound.parameters(), arguments);
    for (std::size_t k = 0; k < roots.size(); ++k) {
      arguments.emplace_back(into[k]);
      arguments.emplace_back(roots[k]);
    }
    if (first && lists.sorted) arguments.emplace_back(lists.numbers());
    arguments.emplace_back(lists.offsets());
    arguments.emplace_back(count);
    arguments.emplace_back(level);
    arguments.emplace_back(end);
    arguments.emplace_back(failed);
    const std::uint64_t groups =
        std::clamp<std::uint64_t>((end + group_size - 1) / group_size, 1, std::uint64_t{info.compute_units} * kNodeGroupsToUnit);
    device.launch(kernel, {static_cast<std::uint32_t>(groups), group_size}, arguments);
    std::swap(states[0], states[1]);
  }
  if (bound.program().may_fail) {
    std::uint32_t has_failed = 0;
    device.read(failed, 0, &has_failed, sizeof has_failed);
    if (has_failed != 0) return false;
  }
  for (std::size_t k = 0; k < roots.size(); ++k) device.read(roots[k], 0, to[k], count * formula::bytes_of(bound.types()[k]));
  return true;
}

}  // namespace samesum::groups
