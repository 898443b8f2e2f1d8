#include "pairs/tree/tree_cpu.hpp"

#include "core/float_environment.hpp"
#include "core/tree.hpp"
#include "pairs/tree/nodes.hpp"
#include "pairs/tree/values.hpp"
#include "pairs/tree/work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace samesum::all_pairs {
namespace {

using formula::State;

struct CombineStates {
  formula::Combiner* combiner = nullptr;
  State operator()(const State& a, const State& b) const { return combiner->combine(a, b); }
};
using StateTree = core::Tree<State, CombineStates>;

// C of x from number `first` on, of their roots: `width` words each.
void finish_roots(const Nodes& nodes, std::vector<std::uint64_t>& roots, std::uint64_t count, std::uint64_t first, Target c) {
  constexpr std::size_t kBlock = formula::Evaluator::kBlock;
  const std::size_t width = nodes.types().size(), bytes = size_of(nodes.result), results = nodes.finish.results.size();
  formula::Evaluator evaluator(nodes.finish, nodes.bound.parameters());
  std::vector<formula::Column> columns;
  std::vector<std::byte> numbers(kBlock * bytes);
  for (std::uint64_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t some = std::min<std::uint64_t>(kBlock, count - begin);
    columns.clear();
    for (const formula::InputComponent& input : nodes.finish.inputs) {
      columns.push_back({reinterpret_cast<const std::byte*>(roots.data() + begin * width + input.component),
                         formula::dtype_of(nodes.types()[input.component]), static_cast<std::int64_t>(8 * width)});
    }
    if (const auto failure = evaluator.run(columns, first + begin, some)) throw nodes.unfinished(failure->position, failure->faults);
    for (std::size_t k = 0; k < results; ++k) {
      std::memcpy(numbers.data(), evaluator.results()[k], some * bytes);
      formula::canonical(formula::scalar_of(nodes.result), numbers.data(), some);
      auto* to = static_cast<std::byte*>(c.data) + (begin * results + k) * bytes;
      for (std::size_t i = 0; i < some; ++i, to += results * bytes) std::memcpy(to, numbers.data() + i * bytes, bytes);
    }
  }
}

template <class Real>
class TreeRun {
 public:
  TreeRun(const Problem& problem, std::uint32_t threads)
      : problem_(problem), nodes_(*problem.nodes), width_(nodes_.types().size()), shares_(problem, PairValues<Real>::kMax) {
    roots_.resize(problem.x_count * shares_.parts * width_);
    for_shares(problem, shares_, threads, [&](std::uint64_t first, std::uint64_t count, std::uint64_t part) { run(first, count, part); });
    failed_.rethrow();
  }

  void finish(Target c) {
    formula::Combiner combiner(nodes_.bound);
    if (shares_.parts > 1) {
      for (std::uint64_t x = 0; x < problem_.x_count; ++x) {
        StateTree tree(CombineStates{&combiner});
        for (std::uint64_t part = 0; part < shares_.parts; ++part) {
          const std::uint64_t* const root = root_of(x, part);
          combine_safely(x, part * shares_.share, [&] { tree.append(State(root, root + width_)); });
        }
        failed_.rethrow();
        const State root = tree.root();
        std::copy(root.begin(), root.end(), roots_.begin() + static_cast<std::ptrdiff_t>(x * width_));
      }
    }
    finish_roots(nodes_, roots_, problem_.x_count, problem_.first, c);
  }

 private:
  static constexpr std::size_t kBlock = PairValues<Real>::kBlock, kMax = PairValues<Real>::kMax;

  // Of several parts those of an x lie together; as they are reduced, x by x, roots go where others have been read by then.
  std::uint64_t* root_of(std::uint64_t x, std::uint64_t part) { return roots_.data() + (x * shares_.parts + part) * width_; }

  template <class Body>
  void combine_safely(std::uint64_t x, std::uint64_t y, const Body& body) {
    try {
      body();
    } catch (const Error& error) {
      failed_.add(x, y, Error(error.kind(), fmt::format("x = {}: {}", problem_.first + x, error.what())));
    }
  }

  void run(std::uint64_t first, std::uint64_t count, std::uint64_t part) {
    const core::DefaultFloatEnvironment environment;
    PairValues<Real> values(problem_);
    formula::Evaluator lift(nodes_.lift, {});
    formula::Combiner combiner(nodes_.bound);
    std::vector<StateTree> trees(count, StateTree(CombineStates{&combiner}));
    std::vector<std::vector<std::uint64_t>> leaves(width_, std::vector<std::uint64_t>(kMax));
    const std::uint64_t begin = part * shares_.share, end = std::min(begin + shares_.share, problem_.y_count);
    std::vector<std::uint16_t> order(kMax);
    // Whole subtrees. An index of y needs these in order.
    for (std::uint64_t y = begin, there = 0; y < end; y += there) {
      there = std::min<std::uint64_t>(kMax, std::bit_floor(end - y));
      const int level = std::countr_zero(there);
      const bool reversed = !nodes_.lift.uses_index;
      if (reversed) reverse(order, level);
      values.load_y(y, there, reversed ? order.data() : nullptr);
      for (std::uint64_t i = 0; i < count; ++i) {
        values.load_x(static_cast<const Real*>(problem_.a) + (first + i) * problem_.components);
        if (!make_leaves(values, lift, leaves, first + i, y, there, !reversed)) {
          if (!reversed) return;
          values.load_y(y, there);  // which y failed first?
          make_leaves(values, lift, leaves, first + i, y, there, true);
          return;
        }
        combine_safely(first + i, y, [&] {
          combiner.note(y, there);
          trees[i].append(reversed ? combiner.root_of_reversed(leaf_columns<std::byte*>(leaves), level)
                                   : combiner.root(leaf_columns<const std::byte*>(leaves), level),
                          level);
        });
      }
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      combine_safely(first + i, end, [&] {
        const State root = trees[i].root();
        std::copy(root.begin(), root.end(), root_of(first + i, part));
      });
    }
  }

  // False where f has no value for one of these y, or it makes no node; noted as a failure where they are in order.
  bool make_leaves(PairValues<Real>& values, formula::Evaluator& lift, std::vector<std::vector<std::uint64_t>>& leaves, std::uint64_t x,
                   std::uint64_t y, std::size_t there, bool in_order) {
    std::vector<formula::Column> columns;
    for (std::size_t k = 0; k < there; k += kBlock) {
      const std::size_t length = std::min(kBlock, there - k);
      const std::span<const void* const> numbers = values.run(k, length);
      std::optional<formula::Failure> failure = values.failure();
      if (!failure) {
        columns.clear();
        for (const formula::InputComponent& input : nodes_.lift.inputs) {
          const DType type = value_types_[input.component];
          columns.push_back({static_cast<const std::byte*>(numbers[input.component]), type, static_cast<std::int64_t>(size_of(type))});
        }
        failure = lift.run(columns, y + k, length);
        if (failure) failure->position -= y + k;
      }
      if (failure) {
        const std::uint64_t at = y + k + failure->position;
        if (in_order) failed_.add(x, at, no_value(problem_.first + x, at, formula::name_of_fault(failure->faults)));
        return false;
      }
      for (std::size_t c = 0; c < width_; ++c) {
        const std::size_t bytes = formula::bytes_of(nodes_.types()[c]);
        std::memcpy(reinterpret_cast<std::byte*>(leaves[c].data()) + k * bytes, lift.results()[c], length * bytes);
      }
    }
    return true;
  }

  // Where leaf i of 2^level goes: the index with its bits in reverse.
  static void reverse(std::vector<std::uint16_t>& order, int level) {
    order[0] = 0;
    for (int bit = 0; bit < level; ++bit) {
      const std::size_t count = std::size_t{1} << bit;
      for (std::size_t i = 0; i < count; ++i) order[count + i] = static_cast<std::uint16_t>(order[i] | 1u << (level - 1 - bit));
    }
  }

  template <class Pointer>
  static std::vector<Pointer> leaf_columns(std::vector<std::vector<std::uint64_t>>& leaves) {
    std::vector<Pointer> columns;
    for (std::vector<std::uint64_t>& column : leaves) columns.push_back(reinterpret_cast<Pointer>(column.data()));
    return columns;
  }

  static std::vector<DType> types_of_values(const Problem& problem) {
    if (problem.formula == nullptr) return {problem.type};
    std::vector<DType> types;
    for (const std::uint32_t node : problem.formula->program.results)
      types.push_back(formula::dtype_of(problem.formula->program.nodes[node].type));
    return types;
  }

  const Problem& problem_;
  const Nodes& nodes_;
  const std::size_t width_;
  const std::vector<DType> value_types_ = types_of_values(problem_);
  Shares shares_;
  std::vector<std::uint64_t> roots_;  // of each x and part, in words
  FirstFailure failed_;
};

}  // namespace

void tree_on_cpu(const Problem& problem, Target c, std::uint32_t threads) {
  const core::DefaultFloatEnvironment environment;
  with_type(problem.type, [&](auto number) { TreeRun<decltype(number)>(problem, threads).finish(c); });
}

void tree_of_nothing(const Problem& problem, Target c) {
  const core::DefaultFloatEnvironment environment;
  if (problem.x_count == 0) return;
  const State identity = problem.nodes->bound.identity();
  std::vector<std::uint64_t> roots;
  for (std::uint64_t x = 0; x < problem.x_count; ++x) roots.insert(roots.end(), identity.begin(), identity.end());
  finish_roots(*problem.nodes, roots, problem.x_count, 0, c);
}

}  // namespace samesum::all_pairs
