// Operators bound to types, and the tree of their states on the host: blocks that stay in a cache go through all their levels, one after
// the other.
#pragma once

#include "core/threads/chunks.hpp"
#include "core/tree.hpp"
#include "formula/bound.hpp"
#include "formula/operator/any_order.hpp"

#include <samesum/error.hpp>
#include <samesum/operator.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace samesum::formula {

/// What makes an element an operand of this type, with the checks that formulas have.
Formula conversion_to(Scalar type);

Value value_of(std::uint64_t bits, Scalar type);
std::string text_of(const State& state, std::span<const Scalar> types);

/// What elements of an operator are, beside their types.
struct Elements {
  std::vector<Range> ranges = {};                                   ///< of integers, where more is known than by their types
  std::uint64_t count = std::numeric_limits<std::uint64_t>::max();  ///< how many there are at most
  bool complex = false;                                             ///< the two components are the parts of complex numbers
};

/// An operator for elements of certain types.
class Bound {
 public:
  Bound(const Operator& op, std::span<const DType> types, Elements elements = {});

  /// Where elements may be combined in any order, how.
  const std::optional<AnyOrder>& any_order() const noexcept { return any_order_; }

  std::span<const Scalar> types() const noexcept { return types_; }
  const Program& program() const noexcept { return program_; }
  const std::vector<Value>& parameters() const noexcept { return parameters_; }
  const Operator& op() const noexcept { return op_; }

  // The program of a formula of one operand or two.
  Program resolved(const Formula& formula) const;

  /// The error of an operation that failed among these elements.
  Error failed(std::string_view what, std::uint64_t first, std::uint64_t count) const;

  State identity() const;

  /// Whether a component of a node is another component of an operand as it is.
  bool exchanges() const noexcept { return exchanges_; }

 private:
  void find_types();
  void find_ranges(std::span<const DType> types, const Elements& elements);

  const Operator& op_;
  std::vector<Value> parameters_;
  std::vector<Scalar> types_;
  bool complex_;
  Program program_;
  bool exchanges_ = false;
  std::optional<AnyOrder> any_order_;
};

inline Column contiguous(const std::byte* data, Scalar type) { return {data, dtype_of(type), static_cast<std::int64_t>(bytes_of(type))}; }

/// The first element of columns as a state.
inline State state_at(std::span<const Column> columns, std::span<const Scalar> types) {
  State state(types.size(), 0);
  for (std::size_t k = 0; k < types.size(); ++k) {
    if (columns[k].type == dtype_of(types[k])) {
      std::memcpy(&state[k], columns[k].data, bytes_of(types[k]));
    } else {
      load(columns[k], types[k], &state[k], 1);
    }
  }
  return state;
}

/// Writes what an evaluator of the operator gives for `count` nodes: component k to `to[k]`, which may be where operands were.
void store_states(const Bound& bound, std::span<const void* const> results, std::size_t count, std::span<std::byte* const> to);

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
    std::vector<Column> columns;
    for (std::size_t k = 0; k < from.size(); ++k) columns.push_back(contiguous(from[k], bound_.types()[k]));
    return root(columns, level);
  }

  // The same of elements that are read as states.
  State root(std::span<const Column> from, int level) {
    std::vector<Column> at(from.begin(), from.end());
    for (std::uint64_t count = std::uint64_t{1} << level; count > 1; count /= 2) {
      // Results go where operands were, or before them: those have been read by then.
      for (std::uint64_t first = 0; first < count / 2; first += Evaluator::kBlock) {
        const std::size_t part = std::min<std::uint64_t>(Evaluator::kBlock, count / 2 - first);
        std::vector<Column> columns;
        for (const InputComponent& input : bound_.program().inputs) {
          const Column& column = at[input.component];
          columns.push_back(
              {column.data + static_cast<std::int64_t>(2 * first + input.input) * column.stride, column.type, 2 * column.stride});
        }
        run(columns, part);
        for (std::size_t k = 0; k < levels_.size(); ++k) {
          store(k, reinterpret_cast<std::byte*>(levels_[k].data()) + first * bytes_of(bound_.types()[k]), part);
        }
      }
      for (std::size_t k = 0; k < levels_.size(); ++k) {
        at[k] = contiguous(reinterpret_cast<const std::byte*>(levels_[k].data()), bound_.types()[k]);
      }
    }
    return state_at(at, bound_.types());
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
        places_.assign(at.begin(), at.end());
        for (std::size_t k = 0; k < places_.size(); ++k) places_[k] += first * bytes_of(bound_.types()[k]);
        store_states(bound_, evaluator_.results(), part, places_);
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
  std::vector<std::byte*> places_;
  std::uint64_t first_ = 0, count_ = 1;
};

/// What has been combined so far: as a tree, or in any order where all orders give the same.
class States {
 public:
  States(const Bound& bound, std::uint32_t threads) : bound_(bound), threads_(threads), combiner_(bound), tree_(Combine{&combiner_}) {}

  // Subtrees of 2^level leaves each that follow one another, of each component. Elements may be of a type that is read as the component's.
  void append(std::vector<Column> from, std::uint64_t count, int level) {
    if (bound_.any_order()) return fold(from, count);
    const auto position = [&] { return tree_.size() >> level; };
    const auto advance = [&](std::uint64_t states) {
      for (Column& column : from) column.data += static_cast<std::int64_t>(states) * column.stride;
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

  State root() {
    if (only_ && folded_ == 1) return *only_;
    if (folded_ != 0) {
      for (std::size_t task = 1; task < folders_.size(); ++task) {
        const State sum = folders_[task]->result();
        std::vector<Column> columns;
        for (std::size_t k = 0; k < sum.size(); ++k)
          columns.push_back(contiguous(reinterpret_cast<const std::byte*>(&sum[k]), bound_.types()[k]));
        folders_[0]->add(columns, 1);
      }
      return folders_[0]->result();
    }
    return tree_.size() == 0 ? bound_.identity() : tree_.root();
  }
  /// Of the tree.
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

  static std::uint64_t bytes_each(std::span<const Column> from) {
    std::uint64_t bytes = 0;
    for (const Column& column : from) bytes += size_of(column.type);
    return bytes;
  }

  void fold(std::span<const Column> from, std::uint64_t count) {
    if (folded_ == 0 && count != 0) only_ = state_at(from, bound_.types());
    folded_ += count;
    const std::uint64_t each = bytes_each(from);
    const std::uint32_t threads = core::thread_count(count * each, threads_);
    while (folders_.size() < threads) {
      folders_.push_back(std::make_unique<Folder>(*bound_.any_order(), bound_.parameters(), bound_.types()));
    }
    core::for_chunks(count, threads, core::chunk_size(count * each, each, threads),
                     [&](std::uint32_t task, std::uint64_t first, std::uint64_t part) {
                       std::vector<Column> at(from.begin(), from.end());
                       for (Column& column : at) column.data += static_cast<std::int64_t>(first) * column.stride;
                       folders_[task]->add(at, part);
                     });
  }

  std::vector<State> roots_of(std::span<const Column> from, std::uint64_t blocks, int level) {
    const std::uint32_t threads = core::thread_count(blocks * Combiner::kBlock * bytes_each(from), threads_);
    while (combiners_.size() < threads) combiners_.push_back(std::make_unique<Combiner>(bound_));
    std::vector<State> roots(blocks);
    std::mutex mutex;
    std::exception_ptr error;
    core::for_chunks(blocks, threads, 1, [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) {
      try {
        for (std::uint64_t i = first; i < first + count; ++i) {
          std::vector<Column> at(from.begin(), from.end());
          for (Column& column : at) column.data += static_cast<std::int64_t>(i * Combiner::kBlock) * column.stride;
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
  // In any order.
  std::vector<std::unique_ptr<Folder>> folders_;  // of each thread
  std::uint64_t folded_ = 0;
  std::optional<State> only_;  // the first that was folded
};

/// Appends the elements of arrays, one array for each component, in the order of their indices: on a device that runs kernels there.
void append(const Bound& bound, States& states, std::span<const Array> components);

}  // namespace samesum::formula
