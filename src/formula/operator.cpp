// Reductions by an operator of one's own, over the balanced binary tree.
//
// A level of the tree is an elementwise map, whose two inputs are every other element: on a device each level of a chunk is one launch,
// from one of two buffers to the other. On the CPU blocks that stay in a cache go through all their levels, one after the other.
#include "core/array_blocks.hpp"
#include "core/chunks.hpp"
#include "core/float_environment.hpp"
#include "core/pack.hpp"
#include "core/visit.hpp"
#include "device/memory/run.hpp"
#include "formula/bound.hpp"
#include "core/tree.hpp"

#include <samesum/error.hpp>
#include <samesum/operator.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <type_traits>

namespace samesum {
namespace formula {
namespace {

constexpr std::uint64_t kBlock = std::uint64_t{1} << 14;        // elements that a thread takes through all levels
constexpr std::uint64_t kDeviceChunk = std::uint64_t{1} << 24;  // elements that a device takes through some levels at once
constexpr int kDeviceLevels = 10;
constexpr std::uint64_t kHostChunk = std::uint64_t{1} << 22;

using State = std::vector<std::uint64_t>;  // bits of each component

std::size_t bytes_of(Scalar type) { return size_of(dtype_of(type)); }

Value value_of(std::uint64_t bits, Scalar type) {
  switch (type) {
    case Scalar::float32:
      return {static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))), DType::float32};
    case Scalar::float64:
      return {std::bit_cast<double>(bits), DType::float64};
    case Scalar::int64:
      return {static_cast<std::int64_t>(bits), DType::int64};
    default:
      return {bits, dtype_of(type)};
  }
}

std::string text_of(const State& state, std::span<const Scalar> types) {
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < types.size(); ++k) {
    std::visit([&](auto number) { parts.push_back(fmt::format("{}", number)); }, value_of(state[k], types[k]).number);
  }
  return parts.size() == 1 ? parts[0] : fmt::format("({})", fmt::join(parts, ", "));
}

// An operator for elements of certain types.
class Bound {
 public:
  Bound(const Operator& op, std::span<const DType> elements) : op_(op), parameters_(values_of(op.parameters)) {
    for (const DType type : elements) types_.push_back(scalar_of(type));
    constexpr int kMostRounds = 4;
    for (int round = 0;; ++round) {
      program_ = resolved(op.combine);
      if (program_.results.size() != types_.size()) {
        throw Error(ErrorKind::usage, fmt::format("the operator {} gives {} for operands of {}: it has to give an operand again",
                                                  op.combine.to_string(), counted(program_.results.size()), counted(types_.size())));
      }
      std::vector<Scalar> given;
      for (const std::uint32_t result : program_.results) given.push_back(program_.nodes[result].type);
      if (given == types_) break;
      if (round == kMostRounds) {
        throw Error(ErrorKind::usage, fmt::format("the operator {} gives other types than its operands have, however often it is applied",
                                                  op.combine.to_string()));
      }
      types_ = std::move(given);
    }
  }

  std::span<const Scalar> types() const noexcept { return types_; }
  const Program& program() const noexcept { return program_; }
  const std::vector<Value>& parameters() const noexcept { return parameters_; }
  const Operator& op() const noexcept { return op_; }

  // The program of a formula of one operand or two.
  Program resolved(const Formula& formula) const {
    std::vector<InputType> inputs;
    const auto components = static_cast<std::uint32_t>(types_.size());
    std::vector<DType> types;
    for (const Scalar type : types_) types.push_back(dtype_of(type));
    for (const char* name : {"a", "b"}) inputs.push_back({name, types[0], components, components > 1, types});
    std::vector<ParameterType> numbers;
    for (const FormulaParameter& parameter : op_.parameters) numbers.push_back({parameter.name, parameter.value.number.index() != 0});
    return resolve(formula.tree(), std::span<const InputType>(inputs), numbers);
  }

  State identity() const {
    if (op_.identity.empty()) {
      throw Error(ErrorKind::no_answer, "there are no elements, and the operator has no identity: give it one");
    }
    if (op_.identity.size() != types_.size()) {
      throw Error(ErrorKind::usage,
                  fmt::format("the identity has {}, the elements have {}", counted(op_.identity.size()), counted(types_.size())));
    }
    State state;
    for (std::size_t k = 0; k < types_.size(); ++k) state.push_back(bits_of(op_.identity[k], types_[k]));
    return state;
  }

 private:
  static std::string counted(std::size_t components) { return components == 1 ? "one number" : fmt::format("{} numbers", components); }

  const Operator& op_;
  std::vector<Value> parameters_;
  std::vector<Scalar> types_;
  Program program_;
};

// Combines states block by block. One for each thread.
class Combiner {
 public:
  explicit Combiner(const Bound& bound) : bound_(bound), evaluator_(bound.program(), bound.parameters()), levels_(bound.types().size()) {
    for (auto& level : levels_) level.resize(kBlock / 2);
  }

  State combine(const State& a, const State& b) {
    std::vector<Column> columns;
    for (const InputComponent& input : bound_.program().inputs) {
      const State& from = input.input == 0 ? a : b;
      columns.push_back({reinterpret_cast<const std::byte*>(&from[input.component]), dtype_of(bound_.types()[input.component]), 0});
    }
    run(columns, 1);
    State result(a.size(), 0);
    for (std::size_t k = 0; k < result.size(); ++k) store(k, &result[k], 1);
    return result;
  }

  // The root of 2^level contiguous states (of each component), at most kBlock.
  State root(std::span<const std::byte* const> from, int level) {
    std::vector<const std::byte*> at(from.begin(), from.end());
    for (std::uint64_t count = std::uint64_t{1} << level; count > 1; count /= 2) {
      // Results go where operands were, or before them: those have been read by then.
      for (std::uint64_t first = 0; first < count / 2; first += Evaluator::kBlock) {
        const std::size_t part = std::min<std::uint64_t>(Evaluator::kBlock, count / 2 - first);
        std::vector<Column> columns;
        for (const InputComponent& input : bound_.program().inputs) {
          const Scalar type = bound_.types()[input.component];
          const std::size_t bytes = bytes_of(type);
          columns.push_back(
              {at[input.component] + (2 * first + input.input) * bytes, dtype_of(type), static_cast<std::int64_t>(2 * bytes)});
        }
        run(columns, part);
        for (std::size_t k = 0; k < levels_.size(); ++k) {
          store(k, reinterpret_cast<std::byte*>(levels_[k].data()) + first * bytes_of(bound_.types()[k]), part);
        }
      }
      for (std::size_t k = 0; k < levels_.size(); ++k) at[k] = reinterpret_cast<const std::byte*>(levels_[k].data());
    }
    State state(levels_.size(), 0);
    for (std::size_t k = 0; k < state.size(); ++k) std::memcpy(&state[k], at[k], bytes_of(bound_.types()[k]));
    return state;
  }

 private:
  void run(std::span<const Column> columns, std::size_t count) {
    if (const std::optional<Failure> failure = evaluator_.run(columns, 0, count)) {
      throw Error(ErrorKind::no_answer,
                  fmt::format("{} in the operator {}", name_of_fault(failure->faults), bound_.op().combine.to_string()));
    }
  }
  void store(std::size_t component, void* to, std::size_t count) const {
    const Scalar type = bound_.types()[component];
    std::memcpy(to, evaluator_.results()[component], count * bytes_of(type));
    canonical(type, to, count);
  }

  const Bound& bound_;
  Evaluator evaluator_;
  std::vector<std::vector<std::uint64_t>> levels_;
};

// States so far, as a tree.
class States {
 public:
  explicit States(const Bound& bound) : bound_(bound), combiner_(bound), tree_(Combine{&combiner_}) {}

  // Subtrees of 2^level leaves each that follow one another, contiguous, of each component.
  void append(std::vector<const std::byte*> from, std::uint64_t count, int level) {
    const auto position = [&] { return tree_.size() >> level; };
    const auto advance = [&](std::uint64_t states) {
      for (std::size_t k = 0; k < from.size(); ++k) from[k] += states * bytes_of(bound_.types()[k]);
      count -= states;
    };
    constexpr int kBlockLevel = std::countr_zero(kBlock);
    while (count != 0) {
      if (position() % kBlock == 0 && count >= 2 * kBlock) {
        const std::uint64_t blocks = count / kBlock;
        for (const State& root : roots_of(from, blocks)) tree_.append(root, level + kBlockLevel);
        advance(blocks * kBlock);
        continue;
      }
      const int aligned = position() == 0 ? kBlockLevel : std::countr_zero(position());
      const int part = std::min({aligned, static_cast<int>(std::bit_width(count)) - 1, kBlockLevel});
      tree_.append(combiner_.root(from, part), level + part);
      advance(std::uint64_t{1} << part);
    }
  }

  State root() const { return tree_.size() == 0 ? bound_.identity() : tree_.root(); }
  std::uint64_t leaves() const noexcept { return tree_.size(); }

 private:
  struct Combine {
    Combiner* combiner;
    State operator()(const State& a, const State& b) const { return combiner->combine(a, b); }
  };

  std::vector<State> roots_of(std::span<const std::byte* const> from, std::uint64_t blocks) {
    std::uint64_t bytes = 0;
    for (const Scalar type : bound_.types()) bytes += kBlock * bytes_of(type);
    const std::uint32_t threads = core::thread_count(blocks * bytes, 0);
    while (combiners_.size() < threads) combiners_.push_back(std::make_unique<Combiner>(bound_));
    std::vector<State> roots(blocks);
    std::mutex mutex;
    std::exception_ptr error;
    core::for_chunks(blocks, threads, 1, [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) {
      try {
        for (std::uint64_t i = first; i < first + count; ++i) {
          std::vector<const std::byte*> at(from.begin(), from.end());
          for (std::size_t k = 0; k < at.size(); ++k) at[k] += i * kBlock * bytes_of(bound_.types()[k]);
          roots[i] = combiners_[task]->root(at, std::countr_zero(kBlock));
        }
      } catch (...) {
        const std::lock_guard lock(mutex);
        error = std::current_exception();
      }
    });
    if (error) std::rethrow_exception(error);
    return roots;
  }

  const Bound& bound_;
  Combiner combiner_;
  std::vector<std::unique_ptr<Combiner>> combiners_;
  core::Tree<State, Combine> tree_;
};

// `count` elements from number `first` on as contiguous numbers of a scalar type, in host memory.
std::vector<std::byte> converted(View part, Scalar type) {
  std::vector<std::byte> numbers(part.size() * bytes_of(type) + 8);
  const auto write = [&](auto as) {
    core::visit(part.type(), [&](auto element) {
      for (std::uint64_t i = 0; i < part.size(); ++i) {
        std::memcpy(&element, static_cast<const std::byte*>(part.data()) + static_cast<std::int64_t>(i) * part.stride(), sizeof element);
        const auto number = static_cast<decltype(as)>(element);
        std::memcpy(numbers.data() + i * sizeof number, &number, sizeof number);
      }
    });
  };
  switch (type) {
    case Scalar::boolean:
      write(std::uint8_t{});
      break;
    case Scalar::int64:
      write(std::int64_t{});
      break;
    case Scalar::uint64:
      write(std::uint64_t{});
      break;
    case Scalar::float32:
      write(float{});
      break;
    case Scalar::float64:
      write(double{});
      break;
  }
  return numbers;
}

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
    std::vector<const std::byte*> from;
    for (std::size_t k = 0; k < left.size(); ++k) {
      const View part = left[k]->part(0, count);
      const Scalar type = bound.types()[k];
      if (part.contiguous() && part.type() == dtype_of(type)) {
        from.push_back(static_cast<const std::byte*>(part.data()));
      } else {
        from.push_back(numbers.emplace_back(converted(part, type)).data());
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
  std::vector<Buffer> buffers[2];
  const auto room = [&](std::size_t turn, std::size_t k, std::uint64_t count) {
    while (buffers[turn].size() < components.size()) {
      const Scalar type = bound.types()[buffers[turn].size()];
      buffers[turn].emplace_back(device, std::min(kDeviceChunk, size) * bytes_of(type) + 16);
    }
    return Array(buffers[turn][k], count, dtype_of(bound.types()[k]));
  };
  while (const std::uint64_t count = count_of(std::min(kDeviceChunk, size - done))) {
    std::vector<Array> at;
    for (std::size_t k = 0; k < components.size(); ++k) {
      const Array part = components[k].part(done, count);
      const Scalar type = bound.types()[k];
      if (scalar_of(part.type()) == type) {
        at.push_back(part);
        continue;
      }
      const Array to = room(1, k, count);
      map(Formula(type == Scalar::float64   ? "float64(x)"
                  : type == Scalar::float32 ? "float32(x)"
                  : type == Scalar::uint64  ? "uint64(x)"
                                            : "int64(x)"),
          {{"x", part}}, {}, {to});
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
      map_on_device(bound.op().combine, bound.program(), bound.parameters(), inputs, results, shape);
      at = results;
    }
    const std::uint64_t roots = count >> kDeviceLevels;
    std::vector<std::vector<std::byte>> numbers;
    std::vector<const std::byte*> from;
    for (std::size_t k = 0; k < components.size(); ++k) {
      std::vector<std::byte>& bytes = numbers.emplace_back(at[k].bytes() + 8);
      at[k].buffer().read(bytes.data(), at[k].bytes(), at[k].offset());
      from.push_back(bytes.data());
    }
    states.append(std::move(from), roots, kDeviceLevels);
    done += count;
  }
  on_host(done, size - done);
}

bool runs_kernels(const Array& array) { return array.on_device() && array.buffer().device().info().has(Capability::kernels); }

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

// The result, or what `finish` makes of it.
std::vector<Value> finished(const Bound& bound, const State& state) {
  std::vector<Value> values;
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
  const formula::Bound bound(op, types);
  formula::States states(bound);
  if (data.size() != 0) {
    const Device device = device::device_for(data, data.bytes(), options);
    if (data.on_device()) device::require_on(data, device);
    if (!data.on_device() && device.info().has(Capability::kernels) && data.contiguous()) {
      const Buffer buffer(device, data.bytes());
      buffer.write(data.data(), data.bytes());
      const Array there(buffer, data.size(), data.type());
      formula::append(bound, states, std::span(&there, 1));
    } else {
      formula::append(bound, states, std::span(&data, 1));
    }
  }
  return formula::finished(bound, states.root());
}

std::vector<Value> reduce(Source& source, const Operator& op, const Options&) {
  const core::DefaultFloatEnvironment environment;
  std::optional<formula::Bound> bound;
  std::optional<formula::States> states;
  std::optional<DType> type;
  const auto begin = [&](DType first) {
    type = first;
    bound.emplace(op, std::span(&*type, 1));
    states.emplace(*bound);
  };
  while (const std::optional<Array> chunk = source.next()) {
    if (!bound) begin(chunk->type());
    if (chunk->type() != *type) {
      throw Error(ErrorKind::usage, "the numbers of this input are of several types: an operator takes one");
    }
    if (chunk->size() != 0) formula::append(*bound, *states, std::span(&*chunk, 1));
  }
  require_one_column(source);
  if (source.missing() != 0) throw Error(ErrorKind::usage, fmt::format("an operator takes all numbers: {} are missing", source.missing()));
  if (!bound) begin(source.type().value_or(DType::float64));
  return formula::finished(*bound, states->root());
}

std::vector<Value> reduce(const Formula& map, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters,
                          const Operator& op, const Options&) {
  const core::DefaultFloatEnvironment environment;
  const formula::Program program = formula::resolve(map.tree(), inputs, parameters);
  const std::vector<std::uint64_t> shape = shape_of(inputs);
  std::vector<DType> types;
  for (const std::uint32_t result : program.results) types.push_back(formula::dtype_of(program.nodes[result].type));
  const formula::Bound bound(op, types);
  formula::States states(bound);
  std::uint64_t size = 1;
  for (const std::uint64_t extent : shape) size *= extent;
  std::vector<Array> from;
  for (const formula::InputComponent& use : program.inputs) from.push_back(formula::component_of(inputs[use.input], use.component, shape));
  const bool there = !from.empty() && formula::runs_kernels(from[0]);
  for (Array& array : from) {
    if (formula::runs_kernels(array) != there) {
      throw Error(ErrorKind::usage, "the arrays of a formula lie in different places: bring all of them to host memory or to one device");
    }
    if (!there && array.on_device()) array = device::on_host(array);
  }
  const std::uint64_t most = there ? formula::kDeviceChunk : formula::kHostChunk;
  std::vector<std::vector<std::uint64_t>> here(types.size());
  std::vector<Buffer> buffers;
  const std::vector<Value> values = formula::values_of(parameters);
  for (std::uint64_t first = 0; first < size; first += most) {
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
