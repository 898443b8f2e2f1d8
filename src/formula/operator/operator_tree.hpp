// Operators bound to types, and the tree of their states on the host: blocks that stay in a cache go through all their levels, one after
// the other.
#pragma once

#include "core/chunks.hpp"
#include "core/tree.hpp"
#include "formula/bound.hpp"

#include <samesum/error.hpp>
#include <samesum/operator.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace samesum::formula {

using State = std::vector<std::uint64_t>;  ///< bits of each component

inline std::size_t bytes_of(Scalar type) { return size_of(dtype_of(type)); }

/// What makes an element an operand of this type, with the checks that formulas have.
inline Formula conversion_to(Scalar type) {
  return Formula(type == Scalar::float64   ? "float64(x)"
                 : type == Scalar::float32 ? "float32(x)"
                 : type == Scalar::uint64  ? "uint64(x)"
                 : type == Scalar::int64   ? "int64(x)"
                                           : "x != 0");
}

inline Value value_of(std::uint64_t bits, Scalar type) {
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

inline std::string text_of(const State& state, std::span<const Scalar> types) {
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < types.size(); ++k) {
    std::visit([&](auto number) { parts.push_back(fmt::format("{}", number)); }, value_of(state[k], types[k]).number);
  }
  return parts.size() == 1 ? parts[0] : fmt::format("({})", fmt::join(parts, ", "));
}

/// An operator for elements of certain types.
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

  /// The error of an operation that failed among these elements.
  Error failed(std::string_view what, std::uint64_t first, std::uint64_t count) const {
    return {ErrorKind::no_answer,
            fmt::format("{} in the operator {}, among the elements {} to {}", what, op_.combine.to_string(), first, first + count - 1)};
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

/// Combines states block by block. One for each thread.
class Combiner {
 public:
  static constexpr std::uint64_t kBlock = std::uint64_t{1} << 14;  ///< states that go through all their levels at once

  explicit Combiner(const Bound& bound) : bound_(bound), evaluator_(bound.program(), bound.parameters()), levels_(bound.types().size()) {
    for (auto& level : levels_) level.resize(kBlock / 2);
  }

  /// Which elements are worked on next, for errors.
  void note(std::uint64_t first, std::uint64_t count) {
    first_ = first;
    count_ = count;
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

  /// The same of states in the order of their reversed indices, at most kBlock: then both operands of a level lie one after the other. They
  /// are overwritten.
  State root_of_reversed(std::span<std::byte* const> at, int level) {
    std::vector<Column> columns;
    for (std::uint64_t half = (std::uint64_t{1} << level) / 2; half > 0; half /= 2) {
      for (std::uint64_t first = 0; first < half; first += Evaluator::kBlock) {
        const std::size_t part = std::min<std::uint64_t>(Evaluator::kBlock, half - first);
        columns.clear();
        for (const InputComponent& input : bound_.program().inputs) {
          const Scalar type = bound_.types()[input.component];
          const std::size_t bytes = bytes_of(type);
          columns.push_back(
              {at[input.component] + (first + (input.input == 0 ? 0 : half)) * bytes, dtype_of(type), static_cast<std::int64_t>(bytes)});
        }
        run(columns, part);
        for (std::size_t k = 0; k < levels_.size(); ++k) store(k, at[k] + first * bytes_of(bound_.types()[k]), part);
      }
    }
    State state(levels_.size(), 0);
    for (std::size_t k = 0; k < state.size(); ++k) std::memcpy(&state[k], at[k], bytes_of(bound_.types()[k]));
    return state;
  }

 private:
  void run(std::span<const Column> columns, std::size_t count) {
    if (const std::optional<Failure> failure = evaluator_.run(columns, 0, count)) {
      throw bound_.failed(name_of_fault(failure->faults), first_, count_);
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
  std::uint64_t first_ = 0, count_ = 1;
};

/// States so far, as a tree.
class States {
 public:
  States(const Bound& bound, std::uint32_t threads) : bound_(bound), threads_(threads), combiner_(bound), tree_(Combine{&combiner_}) {}

  // Subtrees of 2^level leaves each that follow one another, contiguous, of each component.
  void append(std::vector<const std::byte*> from, std::uint64_t count, int level) {
    const auto position = [&] { return tree_.size() >> level; };
    const auto advance = [&](std::uint64_t states) {
      for (std::size_t k = 0; k < from.size(); ++k) from[k] += states * bytes_of(bound_.types()[k]);
      count -= states;
    };
    constexpr int kBlockLevel = std::countr_zero(Combiner::kBlock);
    while (count != 0) {
      if (position() % Combiner::kBlock == 0 && count >= 2 * Combiner::kBlock) {
        const std::uint64_t blocks = count / Combiner::kBlock;
        for (const State& root : roots_of(from, blocks, level)) append_root(root, level + kBlockLevel);
        advance(blocks * Combiner::kBlock);
        continue;
      }
      const int aligned = position() == 0 ? kBlockLevel : std::countr_zero(position());
      const int part = std::min({aligned, static_cast<int>(std::bit_width(count)) - 1, kBlockLevel});
      combiner_.note(tree_.size(), std::uint64_t{1} << (level + part));
      append_root(combiner_.root(from, part), level + part);
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

  void append_root(State root, int level) {
    combiner_.note(0, tree_.size() + (std::uint64_t{1} << level));
    tree_.append(std::move(root), level);
  }

  std::vector<State> roots_of(std::span<const std::byte* const> from, std::uint64_t blocks, int level) {
    std::uint64_t bytes = 0;
    for (const Scalar type : bound_.types()) bytes += Combiner::kBlock * bytes_of(type);
    const std::uint32_t threads = core::thread_count(blocks * bytes, threads_);
    while (combiners_.size() < threads) combiners_.push_back(std::make_unique<Combiner>(bound_));
    std::vector<State> roots(blocks);
    std::mutex mutex;
    std::exception_ptr error;
    core::for_chunks(blocks, threads, 1, [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) {
      try {
        for (std::uint64_t i = first; i < first + count; ++i) {
          std::vector<const std::byte*> at(from.begin(), from.end());
          for (std::size_t k = 0; k < at.size(); ++k) at[k] += i * Combiner::kBlock * bytes_of(bound_.types()[k]);
          const std::uint64_t leaves = Combiner::kBlock << level;
          combiners_[task]->note(tree_.size() + i * leaves, leaves);
          roots[i] = combiners_[task]->root(at, std::countr_zero(Combiner::kBlock));
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
  std::uint32_t threads_;
  Combiner combiner_;
  std::vector<std::unique_ptr<Combiner>> combiners_;
  core::Tree<State, Combine> tree_;
};

}  // namespace samesum::formula
