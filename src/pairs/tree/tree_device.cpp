#include "pairs/tree/tree_device.hpp"

#include "formula/map/map_device.hpp"
#include "formula/print.hpp"
#include "pairs/cpu/pairs_cpu.hpp"
#include "pairs/pairs_formula.hpp"
#include "pairs/tree/pair_source.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace samesum::all_pairs {
namespace {

constexpr std::uint32_t kTreeGroup = 128, kTreeCpuGroup = 16;
constexpr std::uint32_t kTreeTileBytes = 8 << 10, kTreeMostTile = 512;
constexpr std::uint32_t kTreeLevels = 24;                         // as bits of the y of a part, and of the parts
constexpr std::uint64_t kTreeMostShare = std::uint64_t{1} << 20;  // of y
constexpr std::uint64_t kTreeLeastShare = 256;                    // of y, where there are few x
constexpr std::uint64_t kTreePartialBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kSmallestEntry = 16;  // bytes: a key and a place
constexpr std::uint64_t kTreeGroupsOfUnit = 4;
constexpr std::uint64_t kTreeFewX = 1 << 14;
constexpr std::size_t kTwoItemsNode = 16, kTwoItemsOperations = 64;  // where a work-item has registers for a second x

std::string canonical(formula::Scalar type, const std::string& value) {
  if (type == formula::Scalar::float32) return fmt::format("canonical_f32({})", value);
  if (type == formula::Scalar::float64) return fmt::format("canonical_f64({})", value);
  return value;
}

// Result k of a printed program.
std::string result_of(const formula::Program& program, std::string_view of, std::size_t k) {
  return program.results.size() == 1 ? std::string(of) : fmt::format("{}.r{}", of, k);
}

std::uint64_t bytes_of_node(std::span<const formula::Scalar> types) {
  std::uint64_t bytes = 0, most = 1;
  for (const formula::Scalar type : types) {
    const std::uint64_t own = formula::bytes_of(type);
    bytes = ceil_div(bytes, own) * own + own;
    most = std::max(most, own);
  }
  return ceil_div(bytes, most) * most;
}

// The functions that tree.cl calls.
std::string text_of(const Nodes& nodes) {
  const formula::Program& combine = nodes.bound.program();
  std::string members, takes, gives, lifted, leaf, pair, combined, combine_parameters, roots, finish_parameters, written;
  for (std::size_t k = 0; k < nodes.types().size(); ++k) {
    members += fmt::format("  {} c{};\n", formula::dialect_name(nodes.types()[k]), k);
    leaf += fmt::format("  node.c{} = {};\n", k, result_of(nodes.lift, "v", k));
    combined += fmt::format("  node.c{} = {};\n", k, result_of(combine, "v", k));
  }
  for (const formula::InputComponent& input : nodes.lift.inputs) lifted += fmt::format("F_NUMBER({}), ", input.component);
  if (nodes.lift.uses_index) lifted += "(long)y, ";
  for (const formula::InputComponent& input : combine.inputs)
    pair += fmt::format("{}.c{}, ", input.input == 0 ? "a" : "b", input.component);
  for (const formula::InputComponent& input : nodes.finish.inputs) roots += fmt::format("root.c{}, ", input.component);
  const auto add_parameters = [&](const formula::Program& program, char letter, std::string& arguments) {
    for (std::size_t k = 0; k < program.parameters.size(); ++k) {
      takes += fmt::format(", {} {}{}", formula::dialect_name(program.parameters[k].type), letter, k);
      gives += fmt::format(", {}{}", letter, k);
      arguments += fmt::format("{}{}, ", letter, k);
    }
  };
  add_parameters(combine, 'q', combine_parameters);
  add_parameters(nodes.finish, 'u', finish_parameters);
  const formula::Scalar type = formula::scalar_of(nodes.result);
  for (std::size_t k = 0; k < nodes.finish.results.size(); ++k) {
    written += fmt::format("  ((GLOBAL {}*)c)[x * {} + {}] = {};\n", formula::dialect_name(type), nodes.finish.results.size(), k,
                           canonical(type, result_of(nodes.finish, "v", k)));
  }
  return fmt::format(
      "{}{}{}typedef struct {{\n{}}} NODE;\n#define N_TAKES {}\n#define N_GIVES {}\n"
      "FN NODE leaf_node(const REAL* a, const REAL* b, ulong y, uint* error F_TAKES) {{\n  const F_RESULT f = f_values(a, b, error "
      "F_GIVES);\n"
      "  const lift_result v = lift({}error);\n  NODE node;\n{}  return node;\n}}\n"
      "FN NODE combine_nodes(NODE a, NODE b, uint* error N_TAKES) {{\n  const combine_result v = combine({}{}error);\n  NODE node;\n{}"
      "  return node;\n}}\n"
      "FN void write_root(GLOBAL uchar* c, ulong x, NODE root, uint* error N_TAKES) {{\n  const finish_result v = "
      "finish({}{}error);\n{}}}\n",
      print(nodes.lift, "lift"), print(combine, "combine"), print(nodes.finish, "finish"), members, takes, gives, lifted, leaf, pair,
      combine_parameters, combined, roots, finish_parameters, written);
}

}  // namespace

DeviceTree::DeviceTree(device::Device& device, const Problem& problem, Configuration wanted)
    : device_(device),
      problem_(problem),
      node_bytes_(problem.nodes != nullptr ? bytes_of_node(problem.nodes->types()) : kSmallestEntry * problem.k) {
  configure(wanted);
  const device::Source text = source();
  kernel_ = device::build(device, text, problem.nodes != nullptr ? "pairs_tree" : "pairs_smallest");
  roots_ = device::build(device, text, problem.nodes != nullptr ? "pairs_tree_roots" : "pairs_smallest_merge");
  const auto upload = [&](const void* data, std::uint64_t elements) {
    const device::Memory memory = device_.allocate(elements * size_of(problem.type));
    device_.write(memory, 0, data, elements * size_of(problem.type));
    return memory;
  };
  if (problem.b != nullptr) b_ = upload(problem.b, problem.y_count * problem.components);
  if (problem.extras != 0) of_y_ = upload(problem.of_y, problem.y_count * problem.extras);
  failed_ = device_.allocate(sizeof(std::uint32_t));
}

void DeviceTree::configure(Configuration wanted) {
  const DeviceInfo& info = device_.info();
  device::check_group_size(info, wanted.group_size, info.max_group_size);
  Configuration& c = configuration_;
  c = wanted;
  if (c.group_size == 0) c.group_size = std::min(info.is_cpu ? kTreeCpuGroup : kTreeGroup, info.max_group_size);
  const std::uint64_t used = problem_.components + problem_.extras;
  const std::size_t operations = problem_.formula != nullptr ? problem_.formula->program.nodes.size() : problem_.components;
  const bool small = problem_.nodes != nullptr && node_bytes_ <= kTwoItemsNode && used <= 8 && operations <= kTwoItemsOperations;
  if (c.items == 0) c.items = !info.is_cpu && small && problem_.x_count > c.group_size ? 2 : 1;
  const std::uint64_t room = std::min<std::uint64_t>(kTreeTileBytes, info.local_bytes / 2);
  if (c.tile == 0) c.tile = static_cast<std::uint32_t>(std::max<std::uint64_t>(room / (used * size_of(problem_.type)), 1));
  c.tile = std::bit_floor(std::min(c.tile, kTreeMostTile));
  c.resident = c.together = 1;
}

device::Source DeviceTree::source() const {
  const auto number = [](auto value) { return std::to_string(value); };
  std::vector<const formula::Program*> programs;
  if (problem_.nodes != nullptr) programs = {&problem_.nodes->lift, &problem_.nodes->bound.program(), &problem_.nodes->finish};
  device::Source source = pair_source(problem_, std::move(programs));
  source.defines.insert(source.defines.end(), {{"GROUP", number(configuration_.group_size)}, {"TILE", number(configuration_.tile)}});
  if (problem_.nodes == nullptr) {
    const DType type = value_type(problem_);
    const int kind = type == DType::float32 ? 0 : type == DType::float64 ? 1 : type == DType::int64 ? 2 : 3;
    source.defines.insert(source.defines.end(),
                          {{"K", number(problem_.k)}, {"KIND", number(kind)}, {"INDICES", problem_.indices() ? "1" : "0"}});
    source.after = {"pairs/tree/smallest.cl"};
    return source;
  }
  const Nodes& nodes = *problem_.nodes;
  source.defines.insert(
      source.defines.end(),
      {{"ITEMS", number(configuration_.items)}, {"EACH", number(std::min(configuration_.tile, 8u))}, {"LEVELS", number(kTreeLevels)}});
  source.text += text_of(nodes);
  source.after = {"pairs/tree/tree.cl"};
  return source;
}

// As few parts as give all units work, of whole tiles.
void DeviceTree::choose_parts(std::uint64_t x_count, std::uint64_t most_nodes) {
  const std::uint64_t blocks = ceil_div(x_count, step());
  const std::uint64_t wanted = std::max(device_.info().compute_units, 1u) * kTreeGroupsOfUnit;
  share_ = std::max<std::uint64_t>(std::min(std::bit_ceil(problem_.y_count), kTreeMostShare), configuration_.tile);
  const auto parts = [&](std::uint64_t share) { return ceil_div(problem_.y_count, share); };
  const std::uint64_t least = std::max<std::uint64_t>({kTreeLeastShare, configuration_.tile, std::bit_ceil(8 * problem_.k)});
  while (share_ > least && blocks * parts(share_) < wanted && x_count * parts(share_ / 2) <= most_nodes) share_ /= 2;
  while (x_count * parts(share_) > most_nodes && share_ >> (kTreeLevels - 1) == 0) share_ *= 2;
  configuration_.parts = static_cast<std::uint32_t>(parts(share_));
}

void DeviceTree::prepare() {
  problem_.y_count = std::max<std::uint64_t>(problem_.y_count, 1);
  const std::uint64_t most = std::max<std::uint64_t>(kTreePartialBytes / node_bytes_, 1);
  const std::uint64_t x_count = std::clamp<std::uint64_t>(problem_.x_count, 1, most);
  choose_parts(x_count, most);
  const std::uint64_t count = std::max(x_count * configuration_.parts, std::max(kTreeFewX, ceil_div(problem_.y_count, kTreeMostShare)));
  nodes_ = device_.allocate(count * node_bytes_);
}

void DeviceTree::enqueue(const device::Place& a, std::uint64_t x_count, const device::Place& b, std::uint64_t y_count,
                         const device::Place& c) {
  problem_.y_count = y_count;
  const std::uint64_t room = nodes_.bytes / node_bytes_;
  // With the fewest parts that there can be.
  const std::uint64_t fewest = ceil_div(y_count, kTreeMostShare);
  const std::uint64_t all = std::max<std::uint64_t>(room / fewest, 1);
  const std::uint64_t most = all < step() ? all : all / step() * step();
  for (std::uint64_t first = 0; first < x_count; first += most) {
    const std::uint64_t count = std::min(most, x_count - first);
    choose_parts(count, room);
    launch({a.memory, a.offset + first * problem_.components * size_of(problem_.stored())}, count, b,
           {c.memory, c.offset + first * result_bytes(problem_)});
  }
}

void DeviceTree::launch(const device::Place& a, std::uint64_t x_count, const device::Place& b, const device::Place& c) {
  const device::Memory& of_y = problem_.extras != 0 ? of_y_ : b.memory;
  std::vector<device::Argument> arguments = {
      a.memory, a.offset, b.memory, b.offset, of_y, x_count, problem_.y_count, share_, configuration_.parts};
  add_pair_arguments(problem_, arguments);
  const std::uint32_t size = configuration_.group_size;
  const device::Grid grid{static_cast<std::uint32_t>(ceil_div(x_count, step()) * configuration_.parts), size};
  const device::Grid grid_of_x{static_cast<std::uint32_t>(ceil_div(x_count, size)), size};
  if (problem_.nodes == nullptr) {
    arguments.insert(arguments.end(), {nodes_, failed_});
    device_.launch(kernel_, grid, arguments);
    const device::Argument merging[] = {nodes_, x_count, problem_.y_count, share_, configuration_.parts, c.memory, c.offset};
    device_.launch(roots_, grid_of_x, merging);
    return;
  }
  const Nodes& nodes = *problem_.nodes;
  const auto add_node_arguments = [&](std::vector<device::Argument>& to) {
    formula::add_parameters(nodes.bound.program(), nodes.bound.parameters(), to);
    formula::add_parameters(nodes.finish, nodes.bound.parameters(), to);
  };
  add_node_arguments(arguments);
  arguments.insert(arguments.end(), {nodes_, failed_});
  device_.launch(kernel_, grid, arguments);
  std::vector<device::Argument> finishing = {nodes_, x_count, configuration_.parts};
  add_node_arguments(finishing);
  finishing.insert(finishing.end(), {c.memory, c.offset, failed_});
  device_.launch(roots_, grid_of_x, finishing);
}

void DeviceTree::run(std::uint64_t first, std::uint64_t count, Target c) {
  const std::uint64_t bytes = problem_.components * size_of(problem_.type), results = result_bytes(problem_);
  const std::uint64_t fewest = ceil_div(problem_.y_count, kTreeMostShare);
  const std::uint64_t all = std::max<std::uint64_t>(kTreePartialBytes / std::max(node_bytes_ * fewest, results), 1);
  const std::uint64_t most = all < step() ? all : all / step() * step();
  for (std::uint64_t done = 0; done < count; done += most) {
    const std::uint64_t part = std::min(most, count - done);
    const auto reserve = [&](device::Memory& memory, std::uint64_t needed) {
      if (memory.bytes < needed) memory = device_.allocate(needed);
    };
    reserve(a_, part * bytes);
    reserve(c_, part * results);
    choose_parts(part, kTreePartialBytes / node_bytes_);
    reserve(nodes_, part * configuration_.parts * node_bytes_);
    device_.write(a_, 0, static_cast<const char*>(problem_.a) + (first + done) * bytes, part * bytes);
    std::uint32_t failed = 0;
    device_.write(failed_, 0, &failed, sizeof failed);
    launch({a_}, part, {b_}, {c_});
    device_.read(c_, 0, c.part(done, results).data, part * results);
    if (!problem_.may_fail) continue;
    device_.read(failed_, 0, &failed, sizeof failed);
    // Which pair it is, the CPU finds.
    if (failed != 0) pairs_on_cpu(problem_.part(first + done, part), c.part(done, results), 0);
  }
}

}  // namespace samesum::all_pairs
