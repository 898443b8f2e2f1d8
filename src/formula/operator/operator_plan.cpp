#include "formula/operator/operator_plan.hpp"

#include "formula/map/map_device.hpp"
#include "formula/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace samesum::formula {
namespace {

constexpr std::size_t kMaxArguments = 16;  // of arrays, and of parameters
constexpr std::uint32_t kTilesToUnit = 8;  // groups of a launch

std::uint64_t up(std::uint64_t count, std::uint64_t tile) { return (count + tile - 1) / tile; }

Bound bound_of(const Operator& op, Program& leaf, const std::vector<FormulaInput>& inputs, std::uint64_t most) {
  std::vector<DType> types;
  for (const std::uint32_t result : leaf.results) types.push_back(dtype_of(leaf.nodes[result].type));
  std::vector<Range> ranges;
  for (const InputComponent& use : leaf.inputs) ranges.push_back(range_of(inputs[use.input].array.type()));
  return {op, types, {apply_ranges(leaf, ranges), most, leaf.complex}};
}

// The bits of a number of the result, as a text.
std::string word_text(Scalar type, const std::string& value) {
  if (type == Scalar::float64) return fmt::format("as_ulong({})", canonical_text(type, value));
  if (type == Scalar::float32) return fmt::format("(ulong)as_uint({})", canonical_text(type, value));
  return fmt::format("(ulong){}", value);
}

// Kernel "operator_record": a word for each number that `finish` makes of the root.
device::Source record_source(const Program& finish) {
  std::string parameters, operands, words;
  for (std::size_t k = 0; k < finish.inputs.size(); ++k) {
    parameters += fmt::format("GLOBAL const {}* t{}, ", dialect_name(finish.inputs[k].type), k);
    operands += fmt::format("t{}[0], ", k);
  }
  if (finish.uses_index) operands += "(long)0, ";
  for (std::size_t k = 0; k < finish.parameters.size(); ++k) {
    parameters += fmt::format("{} p{}, ", dialect_name(finish.parameters[k].type), k);
    operands += fmt::format("p{}, ", k);
  }
  for (std::size_t k = 0; k < finish.results.size(); ++k) {
    const std::string value = finish.results.size() == 1 ? "value" : fmt::format("value.r{}", k);
    words += fmt::format("  to[{}] = {};\n", k, word_text(finish.nodes[finish.results[k]].type, value));
  }
  return {files_of({&finish}),
          {},
          fmt::format("{}KERNEL FIXED_GROUP(1, 1)\nvoid operator_record({}GLOBAL uchar* records, ulong offset) {{\n"
                      "  grid_dependency_wait();\n  uint error = 0;\n  const finish_result value = finish({}&error);\n"
                      "  GLOBAL ulong* to = (GLOBAL ulong*)(records + offset);\n{}}}\n",
                      print(finish, "finish"), parameters, operands, words)};
}

}  // namespace

BoundMap::BoundMap(const Formula& map, const std::vector<FormulaInput>& given, const std::vector<FormulaParameter>& its_parameters,
                   const Operator& its_op, std::uint64_t most)
    : op(its_op),
      inputs(given),
      leaf(resolve(map.tree(), given, its_parameters)),
      parameters(values_of(its_parameters)),
      bound(bound_of(op, leaf, inputs, most)),
      finish(op.finish ? bound.resolved(*op.finish) : states_program(bound.types())) {
  if (!op.finish) {
    for (InputComponent& input : finish.inputs) input = {0, input.input, input.type};  // all are components of the one operand
  }
  if (leaf.inputs.empty()) throw Error(ErrorKind::usage, "the formula of a plan takes no array: it has nothing to be enqueued with");
  bool fails = leaf.may_fail || combine().may_fail || finish.may_fail;
  for (std::size_t k = 0; k < bound.types().size(); ++k) fails = fails || !converts(leaf.nodes[leaf.results[k]].type, bound.types()[k]);
  if (fails) throw Error(ErrorKind::usage, "a plan has no way to say that an integer operation failed, as one here may: use reduce()");
  for (const InputComponent& input : finish.inputs) {
    if (input.input == 1) throw Error(ErrorKind::usage, "the formula behind a reduction has one operand, the result, called a");
  }
}

PlannedOperator::PlannedOperator(const samesum::Device& device, std::shared_ptr<const BoundMap> map, std::uint64_t size, std::uint64_t most)
    : device_(device), map_(std::move(map)), states_(states_program(map_->bound.types())) {
  const std::span<const Scalar> types = map_->bound.types();
  for (const Program* const program : {&map_->leaf, &map_->combine(), &map_->finish}) {
    require_types(*program, device_.info());
    if (program->inputs.size() + types.size() > kMaxArguments || program->parameters.size() > kMaxArguments) {
      throw Error(ErrorKind::usage, fmt::format("the formula of a plan reads {} arrays and {} parameters: {} of either are too many",
                                                program->inputs.size(), program->parameters.size(), kMaxArguments + 1));
    }
  }
  std::vector<DType> inputs, of_states;
  for (const InputComponent& use : map_->leaf.inputs) inputs.push_back(map_->inputs[use.input].array.type());
  for (const Scalar type : types) of_states.push_back(dtype_of(type));
  elements_ = level(map_->leaf, std::move(inputs), size);
  again_ = level(states_, std::move(of_states), 0);
  const std::uint64_t first = std::max<std::uint64_t>(up(most, elements_.shape.tile()), 1);
  roots_[0] = roots(first);
  roots_[1] = roots(up(first, again_.shape.tile()));
  device::Device& queue = device_.implementation();
  failed_ = queue.allocate(16);
  record_ = device::build(queue, record_source(map_->finish), "operator_record");
  if (map_->op.identity.empty()) return;
  identity_ = roots(1);
  const State state = map_->bound.identity();
  for (std::size_t k = 0; k < state.size(); ++k) queue.write(identity_[k], 0, &state[k], bytes_of(types[k]));
}

PlannedOperator::Level PlannedOperator::level(const Program& leaf, std::vector<DType> types, std::uint64_t size) const {
  device::Device& queue = device_.implementation();
  const std::span<const Scalar> states = map_->bound.types();
  Level level{choose_shape(queue.info(), states, size), std::move(types), {}, {}, {}};
  std::vector<bool> whole, none(level.types.size(), false);
  for (const DType type : level.types) whole.push_back(level.shape.each * size_of(type) % 16 == 0);
  level.loads = device::build(queue, tree_source(leaf, level.types, whole, map_->combine(), states, level.shape), "tree");
  level.any = device::build(queue, tree_source(leaf, level.types, none, map_->combine(), states, level.shape), "tree");
  const TreeShape single{level.shape.group_size, level.shape.loads * level.shape.each, 1};
  device::Source part = tree_source(leaf, level.types, none, map_->combine(), states, single);
  part.after.back() = "formula/operator/tree_part.cl";
  level.part = device::build(queue, part, "tree_part");
  return level;
}

PlannedOperator::Roots PlannedOperator::roots(std::uint64_t count) const {
  Roots roots;
  for (const Scalar type : map_->bound.types()) {
    roots.push_back(device_.implementation().allocate(std::max<std::uint64_t>(count * bytes_of(type), 16)));
  }
  return roots;
}

void PlannedOperator::launch_level(const Level& level, const Program& leaf, std::span<const Value> parameters,
                                   std::span<const device::Run> runs, std::uint64_t count, const Roots& to) const {
  device::Device& queue = device_.implementation();
  const std::uint64_t tile = level.shape.tile(), tiles = count / tile, rest = count % tile;
  bool loads = true;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const std::uint64_t size = size_of(level.types[k]);
    if (level.shape.each * size % 16 != 0) continue;  // which are read one by one
    loads = loads && runs[k].stride == static_cast<std::int64_t>(size) && (queue.misalignment(runs[k].memory) + runs[k].offset) % 16 == 0;
  }
  const auto arguments_from = [&](std::uint64_t first, std::uint64_t size) {
    std::vector<device::Argument> arguments;
    for (const device::Run& run : runs) {
      const device::Run part = run.part(first, size);
      arguments.insert(arguments.end(), {part.memory, part.offset, part.stride});
    }
    add_parameters(leaf, parameters, arguments);
    add_parameters(map_->combine(), map_->bound.parameters(), arguments);
    arguments.insert(arguments.end(), to.begin(), to.end());
    arguments.emplace_back(first);
    return arguments;
  };
  if (tiles != 0) {
    std::vector<device::Argument> arguments = arguments_from(0, tiles * tile);
    arguments.insert(arguments.end(), {tiles, failed_});
    const auto groups =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(tiles, std::uint64_t{queue.info().compute_units} * kTilesToUnit));
    queue.launch(loads ? level.loads : level.any, {groups, level.shape.group_size}, arguments);
  }
  if (rest != 0) {
    std::vector<device::Argument> arguments = arguments_from(tiles * tile, rest);
    arguments.insert(arguments.end(), {rest, tiles});
    queue.launch(level.part, {1, level.shape.group_size}, arguments);
  }
}

void PlannedOperator::launch(const std::vector<FormulaInput>& inputs, const device::Place& to) {
  const std::vector<std::uint64_t> shape = shape_of(inputs);
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  const Roots* root = &identity_;
  if (count == 0 && identity_.empty()) static_cast<void>(map_->bound.identity());  // throws
  if (count != 0) {
    std::vector<device::Run> runs;
    for (const InputComponent& use : map_->leaf.inputs) {
      const Array array = component_of(inputs[use.input], use.component, shape);
      runs.push_back(device::planned_run(array, core::Order::index, device_, array.type(), Layout::strided));
    }
    root = &roots_[0];
    launch_level(elements_, map_->leaf, map_->parameters, runs, count, *root);
    for (count = up(count, elements_.shape.tile()); count > 1; count = up(count, again_.shape.tile())) {
      runs.clear();
      for (std::size_t k = 0; k < root->size(); ++k) {
        runs.push_back({(*root)[k], count, static_cast<std::int64_t>(size_of(again_.types[k])), 0, 0, 0});
      }
      root = root == &roots_[0] ? &roots_[1] : &roots_[0];
      launch_level(again_, states_, {}, runs, count, *root);
    }
  }
  std::vector<device::Argument> arguments;
  for (const InputComponent& input : map_->finish.inputs) arguments.emplace_back((*root)[input.component]);
  add_parameters(map_->finish, map_->bound.parameters(), arguments);
  arguments.insert(arguments.end(), {to.memory, to.offset});
  device_.implementation().launch(record_, {1, 1}, arguments);
}

std::vector<Value> PlannedOperator::values(std::span<const std::uint64_t> words) const {
  std::vector<Value> values;
  for (std::size_t k = 0; k < words.size(); ++k) values.push_back(value_of(words[k], map_->finish.nodes[map_->finish.results[k]].type));
  return values;
}

std::string PlannedOperator::text() const {
  return fmt::format("group_size={} loads={} each={}", elements_.shape.group_size, elements_.shape.loads, elements_.shape.each);
}

}  // namespace samesum::formula
