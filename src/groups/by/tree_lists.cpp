// Trees over lists of different lengths on the CPU.
//
// Short lists go through their levels together, as many as stay in a cache: the pairs of a level, of all these lists, are brought together
// and are lanes of the evaluator. The last element of an odd number passes to the next level as it is, which makes the same tree as
// operator_tree.hpp. A long list fills the lanes by itself.
#include "groups/by/tree_lists.hpp"

#include "core/threads/chunks.hpp"
#include "groups/operator_results.hpp"

#include <samesum/error.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace samesum::groups {
namespace {

using formula::Bound;
using formula::Column;
using formula::Evaluator;
using formula::Scalar;

constexpr std::uint64_t kListsTogether = std::uint64_t{1} << 13;  // elements of lists that go through their levels together
constexpr std::uint64_t kAllThreads = std::uint64_t{1} << 20;     // elements of a list on which all threads work

// Copies state from_of(i) of `from` to place to_of(i) of `to`, for `count` of them.
template <class FromOf, class ToOf>
void move_states(Scalar type, const void* from, const FromOf& from_of, void* to, const ToOf& to_of, std::size_t count) {
  const auto move = [&]<std::size_t kBytes>(std::integral_constant<std::size_t, kBytes>) {
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(static_cast<std::byte*>(to) + to_of(i) * kBytes, static_cast<const std::byte*>(from) + from_of(i) * kBytes, kBytes);
    }
  };
  switch (formula::bytes_of(type)) {
    case 1:
      return move(std::integral_constant<std::size_t, 1>());
    case 4:
      return move(std::integral_constant<std::size_t, 4>());
    default:
      return move(std::integral_constant<std::size_t, 8>());
  }
}

// One for each thread. Elements of a component are of the state's type, or are read as it.
class Lists {
 public:
  Lists(const Bound& bound, std::span<const Array> components)
      : bound_(bound),
        components_(components),
        evaluator_(bound.program(), bound.parameters()),
        states_(components.size()),
        next_(components.size()),
        results_(components.size()),
        operands_(bound.program().inputs.size()) {
    for (auto* const rows : {&states_, &next_}) {
      for (auto& row : *rows) row.resize(kListsTogether);
    }
    for (auto* const rows : {&results_, &operands_}) {
      for (auto& row : *rows) row.resize(Evaluator::kBlock);
    }
  }

  /// The roots of lists of at most kListsTogether elements in all, of which the first is number `first` of the results. Returns false where
  /// an operation fails.
  bool roots(std::span<const std::uint64_t> offsets, std::uint64_t first, std::span<std::byte* const> to) {
    load(offsets.front(), offsets.back() - offsets.front());
    lists_.clear();
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      if (offsets[i] == offsets[i + 1]) continue;
      lists_.push_back(
          {static_cast<std::uint32_t>(offsets[i] - offsets.front()), static_cast<std::uint32_t>(offsets[i + 1] - offsets[i]), first + i});
    }
    for (;;) {
      std::erase_if(lists_, [&](const List& list) {
        if (list.size == 1) put(list, to);
        return list.size == 1;
      });
      if (lists_.empty()) return true;
      if (!next_level()) return false;
    }
  }

 private:
  struct List {
    std::uint32_t begin, size;  // where its states lie
    std::uint64_t result;
  };
  struct Place {
    std::uint32_t from, to;
  };

  void load(std::uint64_t first, std::uint64_t count) {
    for (std::size_t k = 0; k < components_.size() && count != 0; ++k) {
      const Scalar type = bound_.types()[k];
      const Array& elements = components_[k];
      const std::size_t bytes = size_of(elements.type());
      const std::byte* const from = static_cast<const std::byte*>(elements.data()) + first * bytes;
      if (elements.type() == formula::dtype_of(type)) {
        std::memcpy(states_[k].data(), from, count * bytes);
      } else {
        formula::load({from, elements.type(), static_cast<std::int64_t>(bytes)}, type, states_[k].data(), count);
      }
      formula::canonical(type, states_[k].data(), count);
    }
  }

  void put(const List& list, std::span<std::byte* const> to) const {
    for (std::size_t k = 0; k < to.size(); ++k) {
      const std::size_t bytes = formula::bytes_of(bound_.types()[k]);
      std::memcpy(to[k] + list.result * bytes, reinterpret_cast<const std::byte*>(states_[k].data()) + list.begin * bytes, bytes);
    }
  }

  bool next_level() {
    pairs_.clear();
    alone_.clear();
    std::uint32_t at = 0;
    for (List& list : lists_) {
      const std::uint32_t begin = at;
      for (std::uint32_t i = 0; i + 1 < list.size; i += 2) pairs_.push_back({list.begin + i, at++});
      if (list.size % 2 != 0) alone_.push_back({list.begin + list.size - 1, at++});
      list.begin = begin;
      list.size = at - begin;
    }
    for (std::size_t first = 0; first < pairs_.size(); first += Evaluator::kBlock) {
      if (!combine(std::span(pairs_).subspan(first, std::min(Evaluator::kBlock, pairs_.size() - first)))) return false;
    }
    for (std::size_t k = 0; k < states_.size(); ++k) {
      move_states(
          bound_.types()[k], states_[k].data(), [&](std::size_t i) { return alone_[i].from; }, next_[k].data(),
          [&](std::size_t i) { return alone_[i].to; }, alone_.size());
    }
    std::swap(states_, next_);
    return true;
  }

  // Pairs of states, of each of which the second stands behind the first.
  bool combine(std::span<const Place> pairs) {
    std::vector<Column> columns;
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      const formula::InputComponent& input = bound_.program().inputs[k];
      const Scalar type = bound_.types()[input.component];
      move_states(
          type, states_[input.component].data(), [&](std::size_t i) { return std::size_t{pairs[i].from} + input.input; },
          operands_[k].data(), [](std::size_t i) { return i; }, pairs.size());
      columns.push_back(formula::contiguous(reinterpret_cast<const std::byte*>(operands_[k].data()), type));
    }
    if (evaluator_.run(columns, 0, pairs.size())) return false;
    std::vector<std::byte*> results;
    for (auto& row : results_) results.push_back(reinterpret_cast<std::byte*>(row.data()));
    formula::store_states(bound_, evaluator_.results(), pairs.size(), results);
    for (std::size_t k = 0; k < results.size(); ++k) {
      move_states(
          bound_.types()[k], results[k], [](std::size_t i) { return i; }, next_[k].data(), [&](std::size_t i) { return pairs[i].to; },
          pairs.size());
    }
    return true;
  }

  const Bound& bound_;
  std::span<const Array> components_;
  Evaluator evaluator_;
  std::vector<std::vector<std::uint64_t>> states_, next_;       // of each component
  std::vector<std::vector<std::uint64_t>> results_, operands_;  // of a block: of each component, and of each input
  std::vector<List> lists_;
  std::vector<Place> pairs_, alone_;
};

// Components as the operator takes them; false where one cannot be converted.
bool convert(const Bound& bound, std::vector<Array>& components, std::vector<Values>& converted) {
  for (std::size_t k = 0; k < components.size(); ++k) {
    const Scalar type = bound.types()[k];
    if (type != Scalar::boolean && formula::scalar_of(components[k].type()) == type) continue;
    converted.emplace_back(formula::dtype_of(type), std::vector{components[k].size()});
    try {
      if (components[k].size() != 0) map(formula::conversion_to(type), {{"x", components[k]}}, {}, {converted.back().array()});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::no_answer) throw;
      return false;
    }
    components[k] = converted.back().array();
  }
  return true;
}

}  // namespace

bool roots_of_lists(const Bound& bound, std::span<const Array> components, std::span<const std::uint64_t> offsets,
                    std::uint32_t wanted_threads, std::span<std::byte* const> to) {
  std::vector<Array> elements(components.begin(), components.end());
  std::vector<Values> converted;
  if (!convert(bound, elements, converted)) return false;
  std::atomic<bool> failed = false;
  const auto long_list = [&](std::uint64_t list, std::uint32_t threads) {
    std::vector<Array> parts;
    for (const Array& array : elements) parts.push_back(array.part(offsets[list], offsets[list + 1] - offsets[list]));
    try {
      const formula::State root = root_of(bound, parts, threads);
      for (std::size_t k = 0; k < to.size(); ++k) {
        std::uint64_t bits = root[k];
        formula::canonical(bound.types()[k], &bits, 1);
        const std::size_t bytes = formula::bytes_of(bound.types()[k]);
        std::memcpy(to[k] + list * bytes, &bits, bytes);
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::no_answer) throw;
      failed.store(true, std::memory_order_relaxed);
    }
  };
  // Lists that go together; one that is too long for that is a part by itself.
  struct Part {
    std::uint64_t first, count;
  };
  std::vector<Part> parts;
  for (std::uint64_t list = 0; list + 1 < offsets.size();) {
    const std::uint64_t first = list++;
    while (list + 1 < offsets.size() && offsets[list + 1] - offsets[first] <= kListsTogether) ++list;
    if (offsets[list] - offsets[first] >= kAllThreads) {
      long_list(first, wanted_threads);
    } else {
      parts.push_back({first, list - first});
    }
  }
  std::uint64_t bytes = 0;
  for (const Array& array : elements) bytes += array.bytes();
  const std::uint32_t threads = core::thread_count(bytes, wanted_threads);
  std::vector<std::unique_ptr<Lists>> of_threads(threads);
  for (auto& one : of_threads) one = std::make_unique<Lists>(bound, elements);
  core::for_chunks(parts.size(), threads, 1, [&](std::uint32_t task, std::uint64_t first, std::uint64_t) {
    const Part& part = parts[first];
    if (failed.load(std::memory_order_relaxed)) return;
    if (offsets[part.first + part.count] - offsets[part.first] > kListsTogether) return long_list(part.first, 1);
    if (!of_threads[task]->roots(offsets.subspan(part.first, part.count + 1), part.first, to)) {
      failed.store(true, std::memory_order_relaxed);
    }
  });
  return !failed.load();
}

}  // namespace samesum::groups
