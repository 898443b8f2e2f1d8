// Reductions by an operator of one's own, over the balanced binary tree.
//
// Where any order gives the same bits, elements are folded as they lie (any_order.hpp); else they follow the tree.
//
// On a device whole tiles of the tree are one launch (operator_device.cpp). Where that cannot be, or an operation has failed that is to be
// found, a level of the tree is an elementwise map, whose two inputs are every other element: each level of a chunk is one launch, from one
// of two buffers to the other. The rest of the tree, and all of it on the CPU, is operator_tree.hpp.
#include "core/array/array_blocks.hpp"
#include "core/array/pack.hpp"
#include "core/float_environment.hpp"
#include "device/memory/run.hpp"
#include "device/memory/upload.hpp"
#include "formula/map/untyped.hpp"
#include "formula/operator/operator_device.hpp"
#include "formula/operator/operator_tree.hpp"

#include <samesum/error.hpp>
#include <samesum/operator.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

namespace samesum {
namespace formula {
namespace {

constexpr std::uint64_t kDeviceChunk = std::uint64_t{1} << 24;  // elements that a device takes through some levels at once
constexpr int kDeviceLevels = 10;
constexpr std::uint64_t kLeastLevels = std::uint64_t{1} << 13;  // elements for which the host takes longer than a launch for each level
constexpr std::uint64_t kHostChunk = std::uint64_t{1} << 22;
constexpr std::uint64_t kMapChunk = std::uint64_t{1} << 18;  // of values of a formula in front, which a cache holds

// Elements in host memory as contiguous numbers of a scalar type.
std::vector<std::byte> converted(View part, Scalar type) {
  std::vector<std::byte> numbers(part.size() * bytes_of(type) + 8);
  if (part.size() != 0) map(conversion_to(type), {{"x", part}}, {}, {Array(numbers.data(), part.size(), dtype_of(type))});
  return numbers;
}

bool wants_kernels(const Options& options) { return options.device && options.device->info().has(Capability::kernels); }

// Appends the elements of arrays in host memory, one array for each component, in the order of their indices.
void append_host(const Bound& bound, States& states, std::span<const Array> components) {
  std::vector<core::ArrayBlocks> blocks;
  for (const Array& array : components) blocks.emplace_back(array, core::Order::index);
  std::vector<std::optional<View>> left(components.size());
  for (;;) {
    std::uint64_t count = kHostChunk;
    for (std::size_t k = 0; k < left.size(); ++k) {
      if (!left[k] || left[k]->size() == 0) left[k] = blocks[k].next();
      if (!left[k]) return;
      count = std::min(count, left[k]->size());
    }
    std::vector<std::vector<std::byte>> numbers;
    std::vector<Column> from;
    for (std::size_t k = 0; k < left.size(); ++k) {
      const View part = left[k]->part(0, count);
      const Scalar type = bound.types()[k];
      if (type != Scalar::boolean && scalar_of(part.type()) == type) {
        from.push_back({static_cast<const std::byte*>(part.data()), part.type(), part.stride()});
      } else {
        from.push_back(contiguous(numbers.emplace_back(converted(part, type)).data(), type));
      }
      left[k] = left[k]->part(count, left[k]->size() - count);
    }
    states.append(std::move(from), count, 0);
  }
}

// The same of arrays in a device's memory, of one axis each: as many levels as make no launch too small.
void append_device(const Bound& bound, States& states, std::span<const Array> components, const Device& device) {
  const std::uint64_t size = components[0].size();
  const auto count_of = [](std::uint64_t all) { return all >> kDeviceLevels << kDeviceLevels; };
  const auto on_host = [&](std::uint64_t first, std::uint64_t count) {
    if (count == 0) return;
    std::vector<std::vector<std::byte>> bytes(components.size());
    std::vector<Array> parts;
    for (std::size_t k = 0; k < components.size(); ++k) {
      bytes[k].resize(count * size_of(components[k].type()));
      auto* to = bytes[k].data();
      device::for_host_blocks(components[k].part(first, count), core::Order::index, [&](View block) {
        core::pack(block, to);
        to += block.bytes();
      });
      parts.emplace_back(bytes[k].data(), count, components[k].type());
    }
    append_host(bound, states, parts);
  };
  // Up to a boundary of subtrees on the host.
  const std::uint64_t unit = std::uint64_t{1} << kDeviceLevels;
  const std::uint64_t head = std::min(size, (unit - states.leaves() % unit) % unit);
  on_host(0, head);
  std::uint64_t done = head;
  if (components.size() == 1) {
    const Formula leaf = conversion_to(bound.types()[0]);
    const std::vector<FormulaInput> inputs{{"x", components[0]}};
    done = append_tiles(bound, states, resolve(leaf.tree(), inputs, {}), {}, components, done, size);
  }
  std::vector<Buffer> buffers[2];
  const auto room = [&](std::size_t turn, std::size_t k, std::uint64_t count) {
    while (buffers[turn].size() < components.size()) {
      const Scalar type = bound.types()[buffers[turn].size()];
      buffers[turn].emplace_back(device, std::min(kDeviceChunk, size) * bytes_of(type) + 16);
    }
    return Array(buffers[turn][k], count, dtype_of(bound.types()[k]));
  };
  while (const std::uint64_t count = size - done < kLeastLevels ? 0 : count_of(std::min(kDeviceChunk, size - done))) {
    std::vector<Array> at;
    for (std::size_t k = 0; k < components.size(); ++k) {
      const Array part = components[k].part(done, count);
      const Scalar type = bound.types()[k];
      if (scalar_of(part.type()) == type) {
        at.push_back(part);
        continue;
      }
      const Array to = room(1, k, count);
      map(conversion_to(type), {{"x", part}}, {}, {to});
      at.push_back(to);
    }
    for (int level = 0; level < kDeviceLevels; ++level) {
      const std::uint64_t half = count >> (level + 1);
      std::vector<Array> inputs, results;
      std::vector<DType> types;
      for (const InputComponent& input : bound.program().inputs) {
        inputs.push_back(at[input.component].slice(0, input.input, half, 2));
      }
      for (std::size_t k = 0; k < components.size(); ++k) results.push_back(room(static_cast<std::size_t>(level % 2), k, half));
      const std::uint64_t shape[] = {half};
      try {
        map_on_device(bound.op().combine, bound.program(), bound.parameters(), inputs, results, shape);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::no_answer) throw;
        const std::string_view what = error.what();
        throw bound.failed(what.substr(0, what.find(" at index")), states.leaves(), count);
      }
      at = results;
    }
    const std::uint64_t roots = count >> kDeviceLevels;
    std::vector<std::vector<std::byte>> numbers;
    std::vector<Column> from;
    for (std::size_t k = 0; k < components.size(); ++k) {
      std::vector<std::byte>& bytes = numbers.emplace_back(at[k].bytes() + 8);
      at[k].buffer().read(bytes.data(), at[k].bytes(), at[k].offset());
      from.push_back(contiguous(bytes.data(), bound.types()[k]));
    }
    states.append(std::move(from), roots, kDeviceLevels);
    done += count;
  }
  on_host(done, size - done);
}

bool runs_kernels(const Array& array) { return array.on_device() && array.buffer().device().info().has(Capability::kernels); }

}  // namespace

void append(const Bound& bound, States& states, std::span<const Array> components) {
  if (!runs_kernels(components[0])) {
    std::vector<Array> here;
    for (const Array& array : components) here.push_back(array.on_device() ? device::on_host(array) : array);
    return append_host(bound, states, here);
  }
  const Device device = components[0].buffer().device();
  require_types(bound.program(), device.info());
  const bool one_axis = std::ranges::all_of(components, [](const Array& array) { return array.rank() == 1; });
  if (one_axis) return append_device(bound, states, components, device);
  std::vector<Array> here;
  std::vector<std::vector<std::byte>> bytes;
  for (const Array& array : components) {
    std::vector<std::byte>& copy = bytes.emplace_back(array.bytes());
    auto* to = copy.data();
    device::for_host_blocks(array, core::Order::index, [&](View block) {
      core::pack(block, to);
      to += block.bytes();
    });
    here.emplace_back(copy.data(), array.size(), array.type());
  }
  append_host(bound, states, here);
}

namespace {

// The result, or what `finish` makes of it.
std::vector<Value> finished(const Bound& bound, State state) {
  std::vector<Value> values;
  for (std::size_t k = 0; k < state.size(); ++k) canonical(bound.types()[k], &state[k], 1);  // one element alone is as it was given
  if (!bound.op().finish) {
    for (std::size_t k = 0; k < state.size(); ++k) values.push_back(value_of(state[k], bound.types()[k]));
    return values;
  }
  const Program program = bound.resolved(*bound.op().finish);
  Evaluator evaluator(program, bound.parameters());
  std::vector<Column> columns;
  for (const InputComponent& input : program.inputs) {
    if (input.input == 1) throw Error(ErrorKind::usage, "the formula behind a reduction has one operand, the result, called a");
    columns.push_back({reinterpret_cast<const std::byte*>(&state[input.component]), dtype_of(bound.types()[input.component]), 0});
  }
  if (const std::optional<Failure> failure = evaluator.run(columns, 0, 1)) throw failed(*bound.op().finish, 0, {}, failure->faults);
  for (std::size_t k = 0; k < program.results.size(); ++k) {
    const Scalar type = program.nodes[program.results[k]].type;
    std::uint64_t bits = 0;
    std::memcpy(&bits, evaluator.results()[k], bytes_of(type));
    canonical(type, &bits, 1);
    values.push_back(value_of(bits, type));
  }
  return values;
}

}  // namespace
}  // namespace formula

std::vector<Value> reduce(const Array& data, const Operator& op, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const DType types[] = {data.type()};
  const formula::Bound bound(op, types, {.count = data.size()});
  formula::States states(bound, options.tuning.threads);
  if (data.size() != 0) {
    const Device device = device::device_for(data, data.bytes(), options);
    device::require_on(data, device);
    const bool upload = !data.on_device() && device.info().has(Capability::kernels);
    const Array there = upload ? device::uploaded(data, device) : data;
    formula::append(bound, states, std::span(&there, 1));
  }
  return formula::finished(bound, states.root());
}

std::vector<Value> reduce(Source& source, const Operator& op, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  std::optional<formula::Untyped> untyped;
  DType type = source.type().value_or(DType::float64);
  if (!source.type()) {
    type = formula::type_for_untyped([&](DType each) { formula::Bound(op, std::span(&each, 1)); });
    untyped.emplace("the input", type);
  }
  const formula::Bound bound(op, std::span(&type, 1));
  formula::States states(bound, options.tuning.threads);
  while (std::optional<Array> chunk = source.next()) {
    if (chunk->size() == 0) continue;
    if (untyped && !chunk->on_device()) chunk = untyped->convert(*chunk);
    if (chunk->type() != type) throw Error(ErrorKind::usage, "the numbers of this input are of several types: an operator takes one");
    const Array there = formula::wants_kernels(options) && !chunk->on_device() ? device::uploaded(*chunk, *options.device) : *chunk;
    formula::append(bound, states, std::span(&there, 1));
  }
  require_one_column(source);
  if (source.missing() != 0) throw Error(ErrorKind::usage, fmt::format("an operator takes all numbers: {} are missing", source.missing()));
  return formula::finished(bound, states.root());
}

std::vector<Value> reduce(const Formula& map, const std::vector<FormulaInput>& given, const std::vector<FormulaParameter>& parameters,
                          const Operator& op, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  std::vector<FormulaInput> inputs = given;
  for (FormulaInput& input : inputs) {
    if (formula::wants_kernels(options) && !input.array.on_device()) input.array = device::uploaded(input.array, *options.device);
  }
  formula::Program program = formula::resolve(map.tree(), inputs, parameters);
  const std::vector<std::uint64_t> shape = shape_of(inputs);
  std::uint64_t size = 1;
  for (const std::uint64_t extent : shape) size *= extent;
  std::vector<DType> types;
  for (const std::uint32_t result : program.results) types.push_back(formula::dtype_of(program.nodes[result].type));
  std::vector<formula::Range> ranges;
  for (const formula::InputComponent& use : program.inputs) ranges.push_back(formula::range_of(inputs[use.input].array.type()));
  const formula::Bound bound(op, types, {formula::apply_ranges(program, ranges), size, program.complex});
  formula::States states(bound, options.tuning.threads);
  std::vector<Array> from;
  for (const formula::InputComponent& use : program.inputs) from.push_back(formula::component_of(inputs[use.input], use.component, shape));
  const bool there = !from.empty() && formula::runs_kernels(from[0]);
  for (Array& array : from) {
    if (formula::runs_kernels(array) != there) {
      throw Error(ErrorKind::usage, "the arrays of a formula lie in different places: bring all of them to host memory or to one device");
    }
    if (!there && array.on_device()) array = device::on_host(array);
  }
  const std::uint64_t most = there ? formula::kDeviceChunk : formula::kMapChunk;
  std::vector<std::vector<std::uint64_t>> here(types.size());
  std::vector<Buffer> buffers;
  const std::vector<Value> values = formula::values_of(parameters);
  std::uint64_t begin = 0;
  if (there) {
    formula::require_types(program, from[0].buffer().device().info());
    formula::require_types(bound.program(), from[0].buffer().device().info());
    begin = formula::append_tiles(bound, states, program, values, from, 0, size);
  }
  for (std::uint64_t first = begin; first < size; first += most) {
    const std::uint64_t count = std::min(most, size - first);
    std::vector<Array> results;
    for (std::size_t k = 0; k < types.size(); ++k) {
      if (there) {
        if (buffers.size() <= k) buffers.emplace_back(from[0].buffer().device(), std::min(most, size) * size_of(types[k]) + 16);
        results.emplace_back(buffers[k], count, types[k]);
      } else {
        here[k].resize((count * size_of(types[k]) + 7) / 8);
        results.emplace_back(here[k].data(), count, types[k]);
      }
    }
    (there ? formula::map_on_device : formula::map_on_host)(map, program, values, from, results, shape, first, first);
    formula::append(bound, states, results);
  }
  return formula::finished(bound, states.root());
}

std::optional<std::string> find_not_associative(const Array& data, const Operator& op, std::uint64_t samples) {
  const core::DefaultFloatEnvironment environment;
  const DType types[] = {data.type()};
  const formula::Bound bound(op, types);
  formula::Combiner combiner(bound);
  if (data.size() < 3) return std::nullopt;
  const Array flat = data.rank() == 1 ? data : data.reshaped({data.size()});
  const std::uint64_t places = std::min(samples, data.size() - 2);
  for (std::uint64_t sample = 0; sample < places; ++sample) {
    const std::uint64_t first = places == data.size() - 2 ? sample : (data.size() - 3) / (places - 1 + (places == 1)) * sample;
    formula::State three[3];
    std::uint64_t i = 0;
    device::for_host_blocks(flat.part(first, 3), core::Order::index, [&](View block) {
      const std::vector<std::byte> numbers = formula::converted(block, bound.types()[0]);
      for (std::uint64_t k = 0; k < block.size(); ++k, ++i) {
        three[i].assign(1, 0);
        std::memcpy(three[i].data(), numbers.data() + k * formula::bytes_of(bound.types()[0]), formula::bytes_of(bound.types()[0]));
      }
    });
    const formula::State left = combiner.combine(combiner.combine(three[0], three[1]), three[2]);
    const formula::State right = combiner.combine(three[0], combiner.combine(three[1], three[2]));
    if (left == right) continue;
    const auto shown = [&](const formula::State& state) { return formula::text_of(state, bound.types()); };
    return fmt::format("{} is not associative: of the elements {}, {}, {} from index {} on it gives {} from the left and {} from the right",
                       op.combine.to_string(), shown(three[0]), shown(three[1]), shown(three[2]), first, shown(left), shown(right));
  }
  return std::nullopt;
}

}  // namespace samesum
