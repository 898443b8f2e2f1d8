#include "formula/operator/operator_device.hpp"

#include "device/memory/buffer.hpp"
#include "device/memory/run.hpp"
#include "formula/map/map_device.hpp"
#include "formula/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>

namespace samesum::formula {
namespace {

constexpr std::size_t kMostArrays = 16;                        // of arguments that OpenCL promises to take
constexpr std::uint64_t kMostLeaves = std::uint64_t{1} << 30;  // of a launch
constexpr std::uint32_t kGroupSize = 256, kCpuGroupSize = 64;
constexpr std::uint32_t kGroupsToUnit = 8;

TreeShape choose_shape(const DeviceInfo& info, std::span<const Scalar> types) {
  std::size_t bytes = 0;
  for (const Scalar type : types) bytes += bytes_of(type);
  TreeShape shape{std::bit_floor(std::min(info.max_group_size, info.is_cpu ? kCpuGroupSize : kGroupSize)), bytes <= 8 ? 4u : 2u,
                  bytes <= 16 ? 4u : 2u};
  while (shape.group_size > 1 && std::uint64_t{shape.group_size} * shape.loads * bytes * 2 > info.local_bytes) shape.group_size /= 2;
  return shape;
}

// Whether a value of one type becomes one of another without a check.
bool converts(Scalar from, Scalar to) {
  if (from == to) return true;
  if (to == Scalar::float64) return true;
  if (to == Scalar::float32) return from != Scalar::float64;
  return from == Scalar::boolean && to == Scalar::int64;
}

std::string canonical(Scalar type, const std::string& value) {
  if (type == Scalar::float32) return fmt::format("canonical_f32({})", value);
  if (type == Scalar::float64) return fmt::format("canonical_f64({})", value);
  return value;
}

// A result of a printed program.
std::string result_of(const Program& program, std::size_t k) { return program.results.size() == 1 ? "value" : fmt::format("value.r{}", k); }

}  // namespace

device::Source tree_source(const Program& leaf, std::span<const DType> inputs, const std::vector<bool>& whole, const Program& combine,
                           std::span<const Scalar> types, const TreeShape& shape) {
  std::string members, parameters, values, operands, pair, state, loads, leaf_values, results, roots;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const std::string_view name = stored_name(inputs[k]);
    members += fmt::format("  GLOBAL const uchar* a{0};\n  long s{0};\n", k);
    parameters += fmt::format("GLOBAL const uchar* a{0}, ulong o{0}, long s{0}, ", k);
    values += fmt::format("a{0} + o{0}, s{0}, ", k);
    if (whole[k]) {
      loads += fmt::format(
          "  union {{\n    uint4 loads[sizeof({0}) * EACH / 16];\n    {0} elements[EACH];\n  }} x{1};\n#pragma unroll\n"
          "  for (uint k = 0; k < sizeof({0}) * EACH / 16; ++k) x{1}.loads[k] = ((GLOBAL const uint4*)((GLOBAL const {0}*)l.a{1} + first))[k];\n",
          name, k);
    }
    const std::string place =
        whole[k] ? fmt::format("x{}.elements[k]", k) : fmt::format("*(GLOBAL const {}*)(l.a{} + (long)at * l.s{})", name, k, k);
    operands += loaded(inputs[k], place) + ", ";
  }
  if (leaf.uses_index) operands += "(long)(l.index + at), ";
  for (std::size_t k = 0; k < leaf.parameters.size(); ++k) {
    const std::string_view name = dialect_name(leaf.parameters[k].type);
    members += fmt::format("  {} p{};\n", name, k);
    parameters += fmt::format("{} p{}, ", name, k);
    values += fmt::format("p{}, ", k);
    operands += fmt::format("l.p{}, ", k);
  }
  for (const InputComponent& input : combine.inputs) pair += fmt::format("{}.c{}, ", input.input == 0 ? "a" : "b", input.component);
  for (std::size_t k = 0; k < combine.parameters.size(); ++k) {
    const std::string_view name = dialect_name(combine.parameters[k].type);
    members += fmt::format("  {} q{};\n", name, k);
    parameters += fmt::format("{} q{}, ", name, k);
    values += fmt::format("q{}, ", k);
    pair += fmt::format("l.q{}, ", k);
  }
  for (std::size_t k = 0; k < types.size(); ++k) {
    const std::string_view name = dialect_name(types[k]);
    state += fmt::format("  {} c{};\n", name, k);
    leaf_values += fmt::format("    states[k].c{} = ({}){};\n", k, name, result_of(leaf, k));
    results += fmt::format("  r.c{} = {};\n", k, result_of(combine, k));
    members += fmt::format("  GLOBAL {}* t{};\n", name, k);
    parameters += fmt::format("GLOBAL {}* t{}, ", name, k);
    values += fmt::format("t{}, ", k);
    roots += fmt::format("  l.t{}[tile] = {};\n", k, canonical(types[k], fmt::format("root.c{}", k)));
  }
  std::vector<std::string_view> files{kOperations};
  if (needs_transcendental(leaf) || needs_transcendental(combine)) files.push_back(kTranscendental);
  const std::string text = fmt::format(
      "{}{}typedef struct {{\n{}}} STATE;\ntypedef struct {{\n{}  ulong index;\n}} LEAVES;\n"
      "#define TREE_PARAMETERS {}ulong index\n#define LEAVES_VALUE {{{}index}}\n"
      "FN void load_leaves(STATE* states, LEAVES l, ulong first, uint* error) {{\n{}#pragma unroll\n  for (int k = 0; k < EACH; ++k) {{\n"
      "    const ulong at = first + k;\n    const leaf_result value = leaf({}error);\n{}  }}\n}}\n"
      "FN STATE combine_states(LEAVES l, STATE a, STATE b, uint* error) {{\n  const combine_result value = combine({}error);\n  STATE "
      "r;\n{}"
      "  return r;\n}}\n"
      "FN void write_root(LEAVES l, ulong tile, STATE root) {{\n{}}}\n",
      print(leaf, "leaf"), print(combine, "combine"), state, members, parameters, values, loads, operands, leaf_values, pair, results, roots);
  return {std::move(files),
          {{"GROUP_SIZE", std::to_string(shape.group_size)}, {"LOADS", std::to_string(shape.loads)}, {"EACH", std::to_string(shape.each)}},
          text,
          {"formula/operator/tree.cl"}};
}

namespace {

// One launch of the tree's kernel.
struct Tiles {
  std::vector<Array> roots;  // of each component; contiguous
  bool failed = false;
};

Tiles reduce_tiles(const Bound& bound, const Program& leaf, std::span<const Value> parameters, std::span<const device::Run> runs,
                   std::span<const DType> types, const TreeShape& shape, std::uint64_t first, std::uint64_t tiles, const Device& handle) {
  device::Device& device = handle.implementation();
  Tiles found;
  for (const Scalar type : bound.types()) {
    found.roots.emplace_back(Buffer(handle, std::max<std::uint64_t>(tiles * bytes_of(type), 16)), tiles, dtype_of(type));
  }
  const device::Lock lock(device.mutex());
  std::vector<bool> whole;
  std::vector<device::Argument> arguments;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const device::Run run = runs[k].part(first, tiles * shape.tile());
    const std::uint64_t size = size_of(types[k]);
    whole.push_back(run.stride == static_cast<std::int64_t>(size) && shape.each * size % 16 == 0 &&
                    (device.misalignment(run.memory) + run.offset) % 16 == 0);
    arguments.emplace_back(run.memory);
    arguments.emplace_back(run.offset);
    arguments.emplace_back(run.stride);
  }
  add_parameters(leaf, parameters, arguments);
  add_parameters(bound.program(), bound.parameters(), arguments);
  for (const Array& root : found.roots) arguments.emplace_back(root.buffer().state().memory);
  arguments.emplace_back(first);
  arguments.emplace_back(tiles);
  const device::Memory failed_at = device.allocate(sizeof(std::uint32_t));
  std::uint32_t failed = 0;
  device.write(failed_at, 0, &failed, sizeof failed);
  arguments.emplace_back(failed_at);
  const device::Kernel kernel = device::build(device, tree_source(leaf, types, whole, bound.program(), bound.types(), shape), "tree");
  const std::uint64_t groups = std::min<std::uint64_t>(tiles, std::uint64_t{device.info().compute_units} * kGroupsToUnit);
  device.launch(kernel, {static_cast<std::uint32_t>(groups), shape.group_size}, arguments);
  if (leaf.may_fail || bound.program().may_fail) device.read(failed_at, 0, &failed, sizeof failed);
  found.failed = failed != 0;
  return found;
}

// The program whose leaves are the states themselves.
Program states_program(const Bound& bound) {
  Program program;
  for (std::size_t k = 0; k < bound.types().size(); ++k) {
    Node node;
    node.op = Op::input;
    node.type = bound.types()[k];
    node.bits = k;
    program.nodes.push_back(node);
    program.results.push_back(static_cast<std::uint32_t>(k));
    program.inputs.push_back({static_cast<std::uint32_t>(k), 0, node.type});
  }
  return program;
}

void append_roots(States& states, std::span<const Array> roots, std::uint64_t first, int level) {
  if (first == roots[0].size()) return;
  std::vector<std::vector<std::byte>> numbers;
  std::vector<const std::byte*> from;
  for (const Array& array : roots) {
    const std::uint64_t each = size_of(array.type()), bytes = (array.size() - first) * each;
    numbers.emplace_back(bytes + 8);
    array.buffer().read(numbers.back().data(), bytes, array.offset() + first * each);
    from.push_back(numbers.back().data());
  }
  states.append(std::move(from), roots[0].size() - first, level);
}

}  // namespace

std::uint64_t append_tiles(const Bound& bound, States& states, const Program& leaf, std::span<const Value> parameters,
                           std::span<const Array> arrays, std::uint64_t first, std::uint64_t size) {
  if (arrays.empty() || arrays.size() + bound.types().size() > kMostArrays) return first;
  const Device handle = arrays[0].buffer().device();
  const TreeShape shape = choose_shape(handle.info(), bound.types());
  const std::uint64_t tile = shape.tile();
  const int level = std::countr_zero(tile);
  for (std::size_t k = 0; k < bound.types().size(); ++k) {
    if (!converts(leaf.nodes[leaf.results[k]].type, bound.types()[k])) return first;
  }
  if (states.leaves() % tile != 0 || size - first < tile) return first;
  std::vector<device::Run> runs;
  std::vector<DType> types;
  for (const Array& array : arrays) {
    const std::optional<device::Run> run = device::single_run(array, core::Order::index);
    if (!run) return first;
    runs.push_back(*run);
    types.push_back(array.type());
  }
  const Program again = states_program(bound);
  const std::uint64_t most = std::max(kMostLeaves, tile);
  while (size - first >= tile) {
    const std::uint64_t tiles = std::min(size - first, most) / tile;
    const Tiles found = reduce_tiles(bound, leaf, parameters, runs, types, shape, first, tiles, handle);
    if (found.failed) return first;
    // The roots of tiles are leaves of tiles again, where these are aligned in the tree.
    std::uint64_t above = states.leaves() % (tile * tile) == 0 ? tiles / tile : 0;
    if (above != 0) {
      std::vector<device::Run> roots;
      std::vector<DType> root_types;
      for (const Array& root : found.roots) {
        roots.push_back(*device::single_run(root, core::Order::index));
        root_types.push_back(root.type());
      }
      const Tiles over = reduce_tiles(bound, again, {}, roots, root_types, shape, 0, above, handle);
      if (over.failed) return first;
      append_roots(states, over.roots, 0, 2 * level);
    }
    append_roots(states, found.roots, above * tile, level);
    first += tiles * tile;
  }
  return first;
}

}  // namespace samesum::formula
