// Trees along axes on the CPU.
//
// A tree over n leaves is one over the first 2^k of them, the greatest such number below n, and one over the rest. It is walked depth
// first, for up to 512 results at once: a node is one run of the evaluator, and what waits for its right sibling is a row of states for
// each level, all of which stay in the caches. Leaves that lie apart are brought together 16 of each result at a time, so that each cache
// line is read once.
//
// Where there are few results, their elements are divided into chunks of 2^k, aligned subtrees, which are further results; the roots of the
// chunks are the leaves of the rest. A few long results, and long ones that lie one after the other, are trees one by one
// (operator_tree.hpp).
#include "groups/trees.hpp"

#include "core/array/array_blocks.hpp"
#include "core/threads/chunks.hpp"
#include "groups/operator_results.hpp"

#include <samesum/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace samesum::groups {
namespace {

using formula::Bound;
using formula::Column;
using formula::Evaluator;
using formula::Program;
using formula::Scalar;

constexpr std::size_t kTreeLanes = Evaluator::kBlock;
constexpr std::uint64_t kGathered = 16;    // leaves of each result that are brought together at once
constexpr std::size_t kPadding = 64;       // bytes between rows of lanes, which else begin in the same sets of a cache
constexpr std::int64_t kNear = 32;         // bytes between lanes that are read where they lie
constexpr std::uint64_t kFewTrees = 16;    // results for which lanes would be few
constexpr std::uint64_t kLongTree = 4096;  // elements one after the other that fill the lanes by themselves
constexpr int kChunkLevel = 6;             // of chunks that are further results
constexpr std::uint64_t kChunk = std::uint64_t{1} << kChunkLevel;

// The elements of one component.
struct Leaves {
  const std::byte* data;
  DType type;
  std::vector<core::Axis> kept, reduced;  // in the order of indices, as few as there can be

  static std::int64_t offset(const std::vector<core::Axis>& axes, std::uint64_t index) noexcept {
    std::int64_t offset = 0;
    for (std::size_t k = axes.size(); k-- > 0; index /= axes[k].extent) {
      offset += static_cast<std::int64_t>(index % axes[k].extent) * axes[k].stride;
    }
    return offset;
  }
};

Leaves leaves_of(const AxisProblem& problem) {
  Leaves leaves{static_cast<const std::byte*>(problem.data.data()), problem.data.type(), problem.kept, {}};
  std::int64_t none = 0;
  leaves.reduced = core::simplified_axes(Array(nullptr, Shape(problem.reduced_shape), leaves.type, Strides(problem.reduced_strides)),
                                         core::Order::index, none);
  return leaves;
}

struct Failed {};  // an operation

// One for each thread.
class Trees {
 public:
  Trees(const Bound& bound, std::span<const Leaves> leaves)
      : bound_(bound), leaves_(leaves), evaluator_(bound.program(), bound.parameters()) {
    for (std::size_t k = 0; k < leaves.size(); ++k) {
      const Scalar type = bound.types()[k];
      Component& component = components_.emplace_back();
      if (type != Scalar::boolean && formula::scalar_of(leaves[k].type) == type) continue;
      const Formula conversion = formula::conversion_to(type);
      component.conversion = std::make_unique<Program>(formula::resolve(conversion.tree(), {{"x", Array(nullptr, 0, leaves[k].type)}}, {}));
      component.converter = std::make_unique<Evaluator>(*component.conversion, std::span<const Value>{});
    }
  }

  /// The roots over leaves 0 to `each` of results [result, result + lanes), at most kTreeLanes. @throws Failed
  void roots(std::uint64_t result, std::size_t lanes, std::uint64_t each, std::span<std::byte* const> to) {
    lanes_ = lanes;
    for (std::size_t k = 0; k < leaves_.size(); ++k) place(leaves_[k], result, components_[k]);
    rows_.resize(static_cast<std::size_t>(std::bit_width(each)) * leaves_.size());
    for (auto& row : rows_) row.resize(kTreeLanes);
    tree(0, each, 0, to);
  }

 private:
  struct Component {
    std::unique_ptr<Program> conversion;
    std::unique_ptr<Evaluator> converter;
    bool gathered = false;
    std::vector<std::int64_t> offsets;     // of each lane
    const std::byte* data = nullptr;       // of the first lane
    std::int64_t stride = 0;               // between lanes that are not gathered
    std::vector<std::byte> together = {};  // rows of lanes
  };

  void place(const Leaves& leaves, std::uint64_t result, Component& component) const {
    const std::uint64_t inner = leaves.kept.empty() ? 1 : leaves.kept.back().extent;
    component.stride = leaves.kept.empty() ? 0 : leaves.kept.back().stride;
    component.data = leaves.data + Leaves::offset(leaves.kept, result);
    component.gathered = component.conversion || std::abs(component.stride) > kNear || result % inner + lanes_ > inner;
    if (!component.gathered) return;
    component.offsets.resize(lanes_);
    for (std::size_t lane = 0; lane < lanes_; ++lane) component.offsets[lane] = Leaves::offset(leaves.kept, result + lane);
    component.together.resize(kGathered * row_bytes());
  }

  static constexpr std::size_t row_bytes() { return kTreeLanes * 8 + kPadding; }

  template <std::size_t kBytes>
  void gather(const Leaves& leaves, Component& component, std::span<const std::int64_t> along) const {
    const auto copy = [&](std::size_t lane, std::size_t leaf) {
      std::memcpy(component.together.data() + leaf * row_bytes() + lane * kBytes, leaves.data + component.offsets[lane] + along[leaf],
                  kBytes);
    };
    const bool rows =
        along.size() > 1 && lanes_ > 1 && std::abs(along[1] - along[0]) < std::abs(component.offsets[1] - component.offsets[0]);
    if (rows) {
      for (std::size_t lane = 0; lane < lanes_; ++lane) {
        for (std::size_t leaf = 0; leaf < along.size(); ++leaf) copy(lane, leaf);
      }
    } else {
      for (std::size_t leaf = 0; leaf < along.size(); ++leaf) {
        for (std::size_t lane = 0; lane < lanes_; ++lane) copy(lane, leaf);
      }
    }
  }

  void gather(std::uint64_t first, std::uint64_t count) {
    std::array<std::int64_t, kGathered> along{};
    for (std::size_t k = 0; k < leaves_.size(); ++k) {
      Component& component = components_[k];
      if (!component.gathered) continue;
      for (std::uint64_t leaf = 0; leaf < count; ++leaf) along[leaf] = Leaves::offset(leaves_[k].reduced, first + leaf);
      const std::span<const std::int64_t> offsets(along.data(), count);
      switch (size_of(leaves_[k].type)) {
        case 1:
          gather<1>(leaves_[k], component, offsets);
          break;
        case 2:
          gather<2>(leaves_[k], component, offsets);
          break;
        case 4:
          gather<4>(leaves_[k], component, offsets);
          break;
        default:
          gather<8>(leaves_[k], component, offsets);
      }
      for (std::uint64_t leaf = 0; leaf < count && component.conversion; ++leaf) {
        std::byte* const row = component.together.data() + leaf * row_bytes();
        const Column from[] = {{row, leaves_[k].type, static_cast<std::int64_t>(size_of(leaves_[k].type))}};
        if (component.converter->run(component.conversion->inputs.empty() ? std::span<const Column>{} : from, 0, lanes_)) throw Failed();
        std::memcpy(row, component.converter->results()[0], lanes_ * formula::bytes_of(bound_.types()[k]));
      }
    }
  }

  // Where leaf `index` of all lanes lies; those that were gathered begin with leaf `gathered`.
  Column leaf(std::size_t k, std::uint64_t index, std::uint64_t gathered) const {
    const Component& component = components_[k];
    if (!component.gathered) return {component.data + Leaves::offset(leaves_[k].reduced, index), leaves_[k].type, component.stride};
    const std::byte* const row = component.together.data() + (index - gathered) * row_bytes();
    if (component.conversion) return formula::contiguous(row, bound_.types()[k]);
    return {row, leaves_[k].type, static_cast<std::int64_t>(size_of(leaves_[k].type))};
  }

  void tree(std::uint64_t first, std::uint64_t count, std::size_t depth, std::span<std::byte* const> to) {
    if (count <= kGathered) {
      gather(first, count);
      return small_tree(first, count, first, depth, to);
    }
    const std::uint64_t left = std::bit_ceil(count) / 2;
    const std::vector<std::byte*> row = row_of(depth);
    tree(first, left, depth + 1, row);
    tree(first + left, count - left, depth + 1, to);
    combine(row, to, to);
  }

  void small_tree(std::uint64_t first, std::uint64_t count, std::uint64_t gathered, std::size_t depth, std::span<std::byte* const> to) {
    if (count == 1) {
      for (std::size_t k = 0; k < to.size(); ++k) {
        const Scalar type = bound_.types()[k];
        const Column column = leaf(k, first, gathered);
        if (are_states(column, type)) {
          std::memcpy(to[k], column.data, lanes_ * formula::bytes_of(type));
        } else {
          formula::load(column, type, to[k], lanes_);
        }
        formula::canonical(type, to[k], lanes_);
      }
      return;
    }
    if (count == 2) {
      columns_.clear();
      for (const formula::InputComponent& input : bound_.program().inputs) {
        columns_.push_back(leaf(input.component, first + input.input, gathered));
      }
      return run(to);
    }
    const std::uint64_t left = std::bit_ceil(count) / 2;
    const std::vector<std::byte*> row = row_of(depth);
    small_tree(first, left, gathered, depth + 1, row);
    small_tree(first + left, count - left, gathered, depth + 1, to);
    combine(row, to, to);
  }

  static bool are_states(const Column& column, Scalar type) {
    return column.type == formula::dtype_of(type) && column.stride == static_cast<std::int64_t>(formula::bytes_of(type));
  }

  std::vector<std::byte*> row_of(std::size_t depth) {
    std::vector<std::byte*> row;
    for (std::size_t k = 0; k < leaves_.size(); ++k) row.push_back(reinterpret_cast<std::byte*>(rows_[depth * leaves_.size() + k].data()));
    return row;
  }

  void combine(std::span<std::byte* const> a, std::span<std::byte* const> b, std::span<std::byte* const> to) {
    columns_.clear();
    for (const formula::InputComponent& input : bound_.program().inputs) {
      columns_.push_back(formula::contiguous((input.input == 0 ? a : b)[input.component], bound_.types()[input.component]));
    }
    run(to);
  }

  void run(std::span<std::byte* const> to) {
    if (evaluator_.run(columns_, 0, lanes_)) throw Failed();
    formula::store_states(bound_, evaluator_.results(), lanes_, to);
  }

  const Bound& bound_;
  std::span<const Leaves> leaves_;
  Evaluator evaluator_;
  std::size_t lanes_ = 0;
  std::vector<Component> components_;
  std::vector<std::vector<std::uint64_t>> rows_;  // of each depth and component
  std::vector<Column> columns_;
};

// Trees over `each` leaves of `results` results.
bool by_lanes(const Bound& bound, std::span<const Leaves> leaves, std::uint64_t results, std::uint64_t each, std::uint32_t wanted_threads,
              std::span<std::byte* const> to) {
  std::uint64_t bytes = 0;
  for (const Leaves& one : leaves) bytes += results * each * size_of(one.type);
  const std::uint32_t threads = core::thread_count(bytes, wanted_threads);
  std::vector<std::unique_ptr<Trees>> trees(threads);
  for (auto& one : trees) one = std::make_unique<Trees>(bound, leaves);
  std::atomic<bool> failed = false;
  const std::uint64_t lanes = std::clamp<std::uint64_t>((results + threads - 1) / threads, 1, kTreeLanes);
  core::for_chunks(results, threads, lanes, [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) {
    if (failed.load(std::memory_order_relaxed)) return;
    std::vector<std::byte*> part(to.begin(), to.end());
    for (std::size_t k = 0; k < part.size(); ++k) part[k] += first * formula::bytes_of(bound.types()[k]);
    try {
      trees[task]->roots(first, count, each, part);
    } catch (const Failed&) {
      failed.store(true, std::memory_order_relaxed);
    }
  });
  return !failed.load();
}

// Memory of states.
class Rows {
 public:
  Rows(const Bound& bound, std::uint64_t states) {
    for (const Scalar type : bound.types()) bytes_.emplace_back(states * formula::bytes_of(type) + 8);
  }
  std::vector<std::byte*> from(const Bound& bound, std::uint64_t state) {
    std::vector<std::byte*> places;
    for (std::size_t k = 0; k < bytes_.size(); ++k) places.push_back(bytes_[k].data() + state * formula::bytes_of(bound.types()[k]));
    return places;
  }

 private:
  std::vector<std::vector<std::byte>> bytes_;
};

// The same, where chunks of the leaves are further results.
bool by_chunks(const Bound& bound, std::span<const Leaves> leaves, std::uint64_t results, std::uint64_t each, std::uint32_t threads,
               std::span<std::byte* const> to) {
  const std::uint64_t chunks = each / kChunk, rest = each % kChunk, all = chunks + (rest != 0);
  Rows roots(bound, all * results);
  std::vector<Leaves> of_chunks(leaves.begin(), leaves.end()), behind(leaves.begin(), leaves.end()), above;
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    const core::Axis along = leaves[k].reduced[0];
    of_chunks[k].reduced = {{kChunk, along.stride}};
    of_chunks[k].kept.insert(of_chunks[k].kept.begin(), {chunks, along.stride * static_cast<std::int64_t>(kChunk)});
    behind[k].data += along.stride * static_cast<std::int64_t>(chunks * kChunk);
    const Scalar type = bound.types()[k];
    const auto bytes = static_cast<std::int64_t>(formula::bytes_of(type));
    above.push_back(
        {roots.from(bound, 0)[k], formula::dtype_of(type), {{results, bytes}}, {{all, bytes * static_cast<std::int64_t>(results)}}});
  }
  if (!by_lanes(bound, of_chunks, chunks * results, kChunk, threads, roots.from(bound, 0))) return false;
  if (rest != 0 && !by_lanes(bound, behind, results, rest, threads, roots.from(bound, chunks * results))) return false;
  // States are what an operator takes: no conversion stands before these trees, but that of bools, which have no type of elements.
  return by_lanes(bound, above, results, all, threads, to);
}

// Each result by itself.
bool one_by_one(const Bound& bound, std::span<const AxisProblem> problems, std::uint32_t wanted_threads, std::span<std::byte* const> to) {
  const std::uint64_t results = problems[0].results;
  std::uint64_t bytes = 0;
  for (const AxisProblem& problem : problems) bytes += problem.data.bytes();
  const std::uint32_t threads = core::thread_count(bytes, wanted_threads);
  const bool all_for_each = results < 2 * std::uint64_t{threads};
  std::atomic<bool> failed = false;
  core::for_chunks(results, all_for_each ? 1 : threads, 1, [&](std::uint32_t, std::uint64_t first, std::uint64_t) {
    if (failed.load(std::memory_order_relaxed)) return;
    std::vector<Array> elements;
    for (const AxisProblem& problem : problems) elements.push_back(problem.elements(first));
    try {
      const formula::State root = root_of(bound, elements, all_for_each ? wanted_threads : 1);
      for (std::size_t k = 0; k < to.size(); ++k) {
        const Scalar type = bound.types()[k];
        std::uint64_t bits = root[k];
        formula::canonical(type, &bits, 1);
        std::memcpy(to[k] + first * formula::bytes_of(type), &bits, formula::bytes_of(type));
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::no_answer) throw;
      failed.store(true, std::memory_order_relaxed);
    }
  });
  return !failed.load();
}

}  // namespace

bool roots_along(const Bound& bound, std::span<const Array> components, const Axes& axes, std::uint32_t threads,
                 std::span<std::byte* const> to) {
  std::vector<AxisProblem> problems;
  std::vector<Leaves> leaves;
  bool one_axis = true, together = true;
  for (const Array& array : components) {
    const Leaves& one = leaves.emplace_back(leaves_of(problems.emplace_back(array, axes)));
    one_axis &= one.reduced.size() == 1;
    together &= one.reduced.size() == 1 && one.reduced[0].stride == static_cast<std::int64_t>(size_of(one.type));
  }
  const std::uint64_t results = problems[0].results, each = problems[0].each;
  if (each >= kLongTree ? together || results < kFewTrees : each >= kTreeLanes && results < kFewTrees) {
    return one_by_one(bound, problems, threads, to);
  }
  if (one_axis && each >= 4 * kChunk && results < 4 * kTreeLanes) return by_chunks(bound, leaves, results, each, threads, to);
  return by_lanes(bound, leaves, results, each, threads, to);
}

}  // namespace samesum::groups
