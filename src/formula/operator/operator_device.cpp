#include "formula/operator/operator_device.hpp"

#include "device/memory/buffer.hpp"
#include "device/memory/run.hpp"
#include "device/plans.hpp"
#include "formula/map/map_device.hpp"
#include "formula/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace samesum::formula {
namespace {

constexpr std::size_t kMaxArrays = 16;                        // of arguments that OpenCL promises to take
constexpr std::uint64_t kMaxLeaves = std::uint64_t{1} << 30;  // of a launch
constexpr std::uint32_t kGroupSize = 256, kCpuGroupSize = 64;
constexpr std::uint32_t kGroupsToUnit = 8, kFoldsToUnit = 4;
constexpr std::uint32_t kLargeTiles = 16;  // for each compute unit: from then on tiles have twice as many leaves

}  // namespace

// Tiles of more leaves have more of their nodes in registers, where there are enough tiles for all compute units.
TreeShape choose_shape(const DeviceInfo& info, std::span<const Scalar> types, std::uint64_t size) {
  std::size_t bytes = 0;
  for (const Scalar type : types) bytes += bytes_of(type);
  TreeShape shape{std::bit_floor(std::min(info.max_group_size, info.is_cpu ? kCpuGroupSize : kGroupSize)), bytes <= 8 ? 4u : 2u,
                  bytes <= 16 ? 4u : 2u};
  if (!info.is_cpu && bytes <= 16 && size / shape.tile() >= std::uint64_t{kLargeTiles} * info.compute_units) shape.loads *= 2;
  while (shape.group_size > 1 && std::uint64_t{shape.group_size} * shape.loads * bytes * 2 > info.local_bytes) shape.group_size /= 2;
  return shape;
}

namespace {

// A work-item of a CPU reads a run of its own.
TreeShape choose_fold(const DeviceInfo& info, std::span<const Scalar> types) {
  if (!info.is_cpu) return choose_shape(info, types, 0);
  return {1, 4, 4, true};
}

}  // namespace

bool converts(Scalar from, Scalar to) {
  if (from == to) return true;
  if (to == Scalar::float64) return true;
  if (to == Scalar::float32) return from != Scalar::float64;
  return from == Scalar::boolean && to == Scalar::int64;
}

std::string canonical_text(Scalar type, const std::string& value) {
  if (type == Scalar::float32) return fmt::format("canonical_f32({})", value);
  if (type == Scalar::float64) return fmt::format("canonical_f64({})", value);
  return value;
}

namespace {

// A result of a printed program.
std::string result_of(const Program& program, std::size_t k) { return program.results.size() == 1 ? "value" : fmt::format("value.r{}", k); }

}  // namespace

device::Source tree_source(const Program& leaf, std::span<const DType> inputs, const std::vector<bool>& whole, const Program& combine,
                           std::span<const Scalar> types, const TreeShape& shape, std::span<const std::uint64_t> unit) {
  std::string members, parameters, values, operands, pair, state, loads, leaf_values, results, roots, units;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const std::string_view name = stored_name(inputs[k]);
    members += fmt::format("  GLOBAL const uchar* a{0};\n  long s{0};\n", k);
    parameters += fmt::format("GLOBAL const uchar* a{0}, ulong o{0}, long s{0}, ", k);
    values += fmt::format("a{0} + o{0}, s{0}, ", k);
    if (whole[k]) {
      loads += fmt::format(
          "  union {{\n    uint4 loads[sizeof({0}) * EACH / 16];\n    {0} elements[EACH];\n  }} x{1};\n#pragma unroll\n"
          "  for (uint k = 0; k < sizeof({0}) * EACH / 16; ++k) x{1}.loads[k] = ((GLOBAL const uint4*)((GLOBAL const {0}*)l.a{1} + "
          "first))[k];\n",
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
    if (!unit.empty()) units += fmt::format("  r.c{} = {};\n", k, literal(types[k], unit[k]));
    members += fmt::format("  GLOBAL {}* t{};\n", name, k);
    parameters += fmt::format("GLOBAL {}* t{}, ", name, k);
    values += fmt::format("t{}, ", k);
    roots += fmt::format("  l.t{}[tile] = {};\n", k, canonical_text(types[k], fmt::format("root.c{}", k)));
  }
  std::vector<std::string_view> files = files_of({&leaf, &combine});
  const std::string text = fmt::format(
      "{}{}typedef struct {{\n{}}} STATE;\ntypedef struct {{\n{}  ulong index;\n}} LEAVES;\n"
      "#define TREE_PARAMETERS {}ulong index\n#define LEAVES_VALUE {{{}index}}\n"
      "FN void load_leaves(STATE* states, LEAVES l, ulong first, uint* error) {{\n{}#pragma unroll\n  for (int k = 0; k < EACH; ++k) {{\n"
      "    const ulong at = first + k;\n    const leaf_result value = leaf({}error);\n{}  }}\n}}\n"
      "FN STATE combine_states(LEAVES l, STATE a, STATE b, uint* error) {{\n  const combine_result value = combine({}error);\n  STATE "
      "r;\n{}"
      "  return r;\n}}\n"
      "FN void write_root(LEAVES l, ulong tile, STATE root) {{\n{}}}\n",
      print(leaf, "leaf"), print(combine, "combine"), state, members, parameters, values, loads, operands, leaf_values, pair, results,
      roots);
  const bool folds = !unit.empty();
  return {std::move(files),
          {{"GROUP_SIZE", std::to_string(shape.group_size)},
           {"LOADS", std::to_string(shape.loads)},
           {"EACH", std::to_string(shape.each)},
           {"RUNS", shape.runs ? "1" : "0"}},
          folds ? fmt::format("{}FN STATE unit_state() {{\n  STATE r;\n{}  return r;\n}}\n", text, units) : text,
          {"formula/operator/lanes.h", folds ? "formula/operator/fold.cl" : "formula/operator/tree.cl"}};
}

Program states_program(std::span<const Scalar> types) {
  Program program;
  for (std::size_t k = 0; k < types.size(); ++k) {
    Node node;
    node.op = Op::input;
    node.type = types[k];
    node.bits = k;
    program.nodes.push_back(node);
    program.results.push_back(static_cast<std::uint32_t>(k));
    program.inputs.push_back({static_cast<std::uint32_t>(k), 0, node.type});
  }
  return program;
}

namespace {

// Elements of which leaves are made.
struct Leaves {
  device::Run run;
  DType type;
};

// Where roots go: kept for the next call.
struct Scratch {
  std::vector<device::Memory> roots;  // of each component, for the second launch
  std::vector<device::Memory> last;   // the same, for the host
  device::Memory failed;              // a word, 0 between calls
};

// The launches of one call.
class Launches {
 public:
  Launches(const Bound& bound, States& states, const Device& device)
      : bound_(bound), states_(states), device_(device.implementation()), fold_(bound.any_order() ? &*bound.any_order() : nullptr) {}

  // What append_tiles() does.
  std::uint64_t run(const Program& leaf, std::span<const Value> parameters, std::span<const Leaves> leaves, std::uint64_t first,
                    std::uint64_t size) {
    const device::Lock lock(device_.mutex());
    constexpr std::string_view kName = "operator";
    scratch_ = device_.plans().take_or<Scratch>(kName, [] { return std::make_shared<Scratch>(); });
    const std::uint64_t done =
        fold_ != nullptr ? fold(leaf, parameters, leaves, first, size) : reduce(leaf, parameters, leaves, first, size);
    device_.plans().give_back(std::string(kName), std::move(scratch_));
    return done;
  }

 private:
  std::uint64_t fold(const Program& leaf, std::span<const Value> parameters, std::span<const Leaves> leaves, std::uint64_t first,
                     std::uint64_t size) {
    const TreeShape shape = choose_fold(device_.info(), bound_.types());
    const std::uint64_t tiles = (size - first) / shape.tile();
    if (tiles == 0) return first;
    const std::uint64_t groups = groups_for(tiles, kFoldsToUnit);
    if (!launch(leaf, parameters, leaves, shape, first, tiles, groups, room(scratch_->last, groups, true))) return first;
    append(scratch_->last, 0, groups, 0);
    return first + tiles * shape.tile();
  }

  std::uint64_t reduce(const Program& leaf, std::span<const Value> parameters, std::span<const Leaves> leaves, std::uint64_t first,
                       std::uint64_t size) {
    const TreeShape shape = choose_shape(device_.info(), bound_.types(), size - first);
    const std::uint64_t tile = shape.tile(), most = std::max(kMaxLeaves, tile);
    const int level = std::countr_zero(tile);
    const Program again = states_program(bound_.types());
    if (states_.leaves() % tile != 0) return first;
    while (size - first >= tile) {
      const std::uint64_t tiles = std::min(size - first, most) / tile;
      // The roots of tiles are leaves of tiles again, where these are aligned in the tree.
      const std::uint64_t above = states_.leaves() % (tile * tile) == 0 ? tiles / tile : 0;
      std::vector<device::Memory>& roots = above != 0 ? scratch_->roots : scratch_->last;
      if (!launch(leaf, parameters, leaves, shape, first, tiles, groups_for(tiles, kGroupsToUnit), room(roots, tiles, above == 0)))
        return first;
      if (above != 0) {
        std::vector<Leaves> of_roots;
        for (std::size_t k = 0; k < roots.size(); ++k) {
          const DType type = dtype_of(bound_.types()[k]);
          const auto bytes = static_cast<std::int64_t>(size_of(type));
          of_roots.push_back({{roots[k], tiles, bytes, 0, 0, 0}, type});
        }
        const std::span<const device::Memory> over = room(scratch_->last, above, true);
        if (!launch(again, {}, of_roots, shape, 0, above, groups_for(above, kGroupsToUnit), over)) return first;
        append(over, 0, above, 2 * level);
      }
      append(roots, above * tile, tiles, level);
      first += tiles * tile;
    }
    return first;
  }

  std::uint64_t groups_for(std::uint64_t tiles, std::uint32_t to_unit) const {
    return std::min<std::uint64_t>(tiles, std::uint64_t{device_.info().compute_units} * to_unit);
  }

  // Memory for `count` states, of each component.
  std::span<const device::Memory> room(std::vector<device::Memory>& memory, std::uint64_t count, bool for_host) {
    memory.resize(std::max(memory.size(), bound_.types().size()));
    for (std::size_t k = 0; k < bound_.types().size(); ++k) {
      const std::uint64_t bytes = std::max<std::uint64_t>(std::bit_ceil(count * bytes_of(bound_.types()[k])), 1024);
      if (memory[k].bytes < bytes) memory[k] = for_host ? device_.allocate_result(bytes) : device_.allocate(bytes);
    }
    return std::span(memory).first(bound_.types().size());
  }

  // False where an operation failed.
  bool launch(const Program& leaf, std::span<const Value> parameters, std::span<const Leaves> leaves, const TreeShape& shape,
              std::uint64_t first, std::uint64_t tiles, std::uint64_t groups, std::span<const device::Memory> roots) {
    const Program& combine = fold_ != nullptr ? fold_->program : bound_.program();
    std::vector<bool> whole;
    std::vector<DType> types;
    std::vector<device::Argument> arguments;
    for (const Leaves& of : leaves) {
      const device::Run run = of.run.part(first, tiles * shape.tile());
      const std::uint64_t size = size_of(of.type);
      whole.push_back(run.stride == static_cast<std::int64_t>(size) && shape.each * size % 16 == 0 &&
                      (device_.misalignment(run.memory) + run.offset) % 16 == 0);
      types.push_back(of.type);
      arguments.emplace_back(run.memory);
      arguments.emplace_back(run.offset);
      arguments.emplace_back(run.stride);
    }
    add_parameters(leaf, parameters, arguments);
    add_parameters(combine, bound_.parameters(), arguments);
    arguments.insert(arguments.end(), roots.begin(), roots.end());
    arguments.emplace_back(first);
    arguments.emplace_back(tiles);
    std::uint32_t failed = 0;
    if (scratch_->failed.handle == nullptr) {
      scratch_->failed = device_.allocate(sizeof failed);
      device_.write(scratch_->failed, 0, &failed, sizeof failed);
    }
    arguments.emplace_back(scratch_->failed);
    const std::span<const std::uint64_t> unit =
        fold_ != nullptr ? std::span<const std::uint64_t>(fold_->unit) : std::span<const std::uint64_t>();
    const device::Source source = tree_source(leaf, types, whole, combine, bound_.types(), shape, unit);
    const device::Kernel kernel = device::build(device_, source, fold_ != nullptr ? "fold" : "tree");
    device_.launch(kernel, {static_cast<std::uint32_t>(groups), shape.group_size}, arguments);
    if (!leaf.may_fail && !combine.may_fail) return true;
    device_.read(scratch_->failed, 0, &failed, sizeof failed);
    if (failed == 0) return true;
    failed = 0;
    device_.write(scratch_->failed, 0, &failed, sizeof failed);
    return false;
  }

  void append(std::span<const device::Memory> roots, std::uint64_t first, std::uint64_t end, int level) {
    if (first == end) return;
    std::vector<std::vector<std::byte>> numbers;
    std::vector<Column> from;
    for (std::size_t k = 0; k < bound_.types().size(); ++k) {
      const std::uint64_t each = bytes_of(bound_.types()[k]), bytes = (end - first) * each;
      numbers.emplace_back(bytes + 8);
      device_.read(roots[k], first * each, numbers.back().data(), bytes);
      from.push_back(contiguous(numbers.back().data(), bound_.types()[k]));
    }
    states_.append(std::move(from), end - first, level);
  }

  const Bound& bound_;
  States& states_;
  device::Device& device_;
  const AnyOrder* fold_;
  std::shared_ptr<Scratch> scratch_;
};

}  // namespace

std::uint64_t append_tiles(const Bound& bound, States& states, const Program& leaf, std::span<const Value> parameters,
                           std::span<const Array> arrays, std::uint64_t first, std::uint64_t size) {
  if (arrays.empty() || arrays.size() + bound.types().size() > kMaxArrays) return first;
  for (std::size_t k = 0; k < bound.types().size(); ++k) {
    if (!converts(leaf.nodes[leaf.results[k]].type, bound.types()[k])) return first;
  }
  std::vector<Leaves> leaves;
  for (const Array& array : arrays) {
    const std::optional<device::Run> run = device::single_run(array, core::Order::index);
    if (!run) return first;
    leaves.push_back({*run, array.type()});
  }
  return Launches(bound, states, arrays[0].buffer().device()).run(leaf, parameters, leaves, first, size);
}

}  // namespace samesum::formula
