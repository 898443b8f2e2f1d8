#include "formula/cpu/evaluate.hpp"

#include "core/visit.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace samesum::formula {
namespace {

template <class To>
void load_as(const Column& column, void* to, std::size_t count) {
  core::visit(column.type, [&](auto element) {
    using Element = decltype(element);
    constexpr bool kFloat =
        std::is_same_v<Element, core::Float16> || std::is_same_v<Element, core::BFloat16> || std::is_floating_point_v<Element>;
    if constexpr (kFloat == std::is_floating_point_v<To>) {
      To* const all = static_cast<To*>(to);
      const std::byte* const from = column.data;
      const auto every = [&](auto stride) {
        for (std::size_t k = 0; k < count; ++k) {
          Element value;
          std::memcpy(&value, from + static_cast<std::int64_t>(k) * stride, sizeof value);
          all[k] = static_cast<To>(value);
        }
      };
      // Compilers make vectors of a distance that they know: of neighbours, and of every other element, as a tree's levels take them.
      constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Element));
      if (column.stride == kBytes) return every(std::integral_constant<std::int64_t, kBytes>());
      if (column.stride == 2 * kBytes) return every(std::integral_constant<std::int64_t, 2 * kBytes>());
      every(column.stride);
    }
  });
}

bool is_same_everywhere(const Node& node) { return node.op == Op::constant || node.op == Op::parameter; }

void fill(Scalar type, std::uint64_t bits, void* to, std::size_t count) {
  const std::size_t bytes = bytes_of(type);
  for (std::size_t k = 0; k < count; ++k)
    std::memcpy(static_cast<std::byte*>(to) + k * bytes, &bits, bytes);  // the lowest bytes come first
}
static_assert(std::endian::native == std::endian::little);

}  // namespace

void load(const Column& column, Scalar type, void* to, std::size_t count) {
  switch (type) {
    case Scalar::int64:
      return load_as<std::int64_t>(column, to, count);
    case Scalar::uint64:
      return load_as<std::uint64_t>(column, to, count);
    case Scalar::float32:
      return load_as<float>(column, to, count);
    default:
      return load_as<double>(column, to, count);
  }
}

std::optional<std::uint64_t> fold(const Node& node, Scalar from, std::span<const std::uint64_t> operands) {
  const Loop loop = find_loop(node.op, from, node.type, {});
  if (loop == nullptr) return std::nullopt;
  const void* places[3] = {};
  for (std::size_t i = 0; i < operands.size(); ++i) places[i] = &operands[i];
  std::uint64_t result = 0;
  std::uint32_t faults = 0;
  loop(places, &result, 1, faults, nullptr);
  canonical(node.type, &result, 1);
  if (faults != 0) return std::nullopt;
  return result;
}

std::uint64_t bits_of(const Value& value, Scalar type) {
  return std::visit(
      [&](auto number) -> std::uint64_t {
        if (type == Scalar::float32) return std::bit_cast<std::uint32_t>(static_cast<float>(number));
        if (type == Scalar::float64) return std::bit_cast<std::uint64_t>(static_cast<double>(number));
        if constexpr (std::is_integral_v<decltype(number)>) {
          if (type == Scalar::int64 ? std::in_range<std::int64_t>(number) : std::in_range<std::uint64_t>(number))
            return static_cast<std::uint64_t>(number);
        }
        throw Error(ErrorKind::usage,
                    fmt::format("the parameter {} of a formula does not fit {}, in which it is needed", number, name_of(type)));
      },
      value.number);
}

// An operation each; of (a - b)*(a - b) and fma(a - b, a - b, c), where nothing else takes the difference, one for both.
void Evaluator::add_steps() {
  const std::vector<Node>& nodes = program_.nodes;
  std::vector<std::uint32_t> uses(nodes.size(), 0);
  for (const Node& node : nodes) {
    for (std::size_t k = 0; k < node.operands; ++k) ++uses[node.from[k]];
  }
  for (const std::uint32_t result : program_.results) ++uses[result];
  std::vector<bool> within(nodes.size(), false);
  std::vector<Step> steps(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    if (node.operands == 0) continue;
    const Scalar from = nodes[node.from[node.operands - 1]].type;
    const bool one_divisor = node.operands == 2 && is_same_everywhere(nodes[node.from[1]]);
    steps[i] = {find_loop(node.op, from, node.type, {node.checked, node.narrow, one_divisor}), static_cast<std::uint32_t>(i), node.operands,
                node.from, nullptr};
    const std::uint32_t squared = node.from[0];
    const Loop loop = node.operands > 1 && node.from[1] == squared && nodes[squared].op == Op::subtract && uses[squared] == 2
                          ? find_square_loop(node.op, node.type)
                          : nullptr;
    if (loop == nullptr) continue;
    within[squared] = true;
    steps[i].loop = loop;
    std::copy_n(nodes[squared].from.begin(), 2, steps[i].from.begin());
  }
  for (const Step& step : steps) {
    if (step.loop != nullptr && !within[step.node]) steps_.push_back(step);
  }
}

Evaluator::Evaluator(const Program& program, std::span<const Value> parameters)
    : program_(program),
      values_(program.nodes.size(), nullptr),
      places_(program.nodes.size(), nullptr),
      results_(program.results.size(), nullptr) {
  add_steps();
  const std::vector<Node>& nodes = program.nodes;
  // A number has its place until the last step that needs it; what is the same for all blocks, for good.
  std::vector<std::size_t> last(nodes.size(), 0);
  for (const Step& step : steps_) {
    for (std::size_t k = 0; k < step.operands; ++k) last[step.from[k]] = step.node;
  }
  for (const std::uint32_t result : program.results) last[result] = nodes.size();
  std::vector<std::uint32_t> slots(nodes.size(), 0), free;
  std::uint32_t used = 0;
  auto next = steps_.begin();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Step none;
    const bool has_step = next != steps_.end() && next->node == i;
    if (!has_step && nodes[i].operands != 0) continue;  // within another step
    const Step& step = has_step ? *next++ : none;
    for (std::size_t k = 0; k < step.operands; ++k) {
      const std::uint32_t operand = step.from[k];
      const bool once = std::find(step.from.begin(), step.from.begin() + k, operand) == step.from.begin() + k;
      if (last[operand] == i && once && !is_same_everywhere(nodes[operand])) free.push_back(slots[operand]);
    }
    // A result of another width than an operand's may not take its place: it would be written before all of that has been read.
    const auto fits = [&](std::uint32_t slot) {
      for (std::size_t k = 0; k < step.operands; ++k) {
        if (slots[step.from[k]] == slot && bytes_of(nodes[step.from[k]].type) != bytes_of(nodes[i].type)) return false;
      }
      return true;
    };
    // What is there before the first operation takes a place that none of them has written.
    const auto found = step.operands == 0 ? free.rend() : std::find_if(free.rbegin(), free.rend(), fits);
    if (found == free.rend()) {
      slots[i] = used++;
    } else {
      slots[i] = *found;
      free.erase(std::next(found).base());
    }
  }
  constexpr std::size_t kLine = 64;
  storage_.resize(std::size_t{used} * kBlock + kLine / 8);
  void* first = storage_.data();
  std::size_t room = storage_.size() * 8;
  std::align(kLine, std::size_t{used} * kBlock * 8, first, room);
  memory_ = {static_cast<std::byte*>(first), room};

  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    places_[i] = place(slots[i]);
    values_[i] = places_[i];
    const auto number = static_cast<std::uint32_t>(i);
    if (node.op == Op::constant) fill(node.type, node.bits, places_[i], kBlock);
    if (node.op == Op::parameter)
      fill(node.type, bits_of(parameters[program.parameters[node.bits].parameter], node.type), places_[i], kBlock);
    if (node.op == Op::input) input_nodes_.push_back(number);
    if (node.op == Op::index) index_nodes_.push_back(number);
  }
  for (Step& step : steps_) step.to = places_[step.node];
}

std::optional<Failure> Evaluator::run(std::span<const Column> columns, std::uint64_t position, std::size_t count, void* to) {
  for (const std::uint32_t node : input_nodes_) {
    const Scalar type = program_.nodes[node].type;
    const Column& column = columns[program_.nodes[node].bits];
    const bool as_it_lies = column.type == dtype_of(type) && column.stride == static_cast<std::int64_t>(bytes_of(type)) &&
                            reinterpret_cast<std::uintptr_t>(column.data) % bytes_of(type) == 0;
    values_[node] = as_it_lies ? column.data : places_[node];
    if (!as_it_lies) load(column, type, places_[node], count);
  }
  for (const std::uint32_t node : index_nodes_) {
    auto* const all = static_cast<std::int64_t*>(places_[node]);
    for (std::size_t k = 0; k < count; ++k) all[k] = static_cast<std::int64_t>(position + k);
  }
  std::uint32_t faults = 0;
  const bool to_caller = to != nullptr && !steps_.empty() && steps_.back().node == program_.results[0];
  for (const Step& step : steps_) {
    const void* from[3] = {values_[step.from[0]], values_[step.from[1]], values_[step.from[2]]};
    step.loop(from, to_caller && &step == &steps_.back() ? to : step.to, count, faults, nullptr);
  }
  for (std::size_t k = 0; k < results_.size(); ++k) results_[k] = values_[program_.results[k]];
  if (to_caller) results_[0] = to;
  if (faults == 0 || !program_.may_fail) return std::nullopt;
  // Something failed; whether its value was wanted is another question. Operands may have been overwritten, so all is done again.
  if (faults_.empty()) {
    faults_.resize(program_.nodes.size());
    for (std::size_t i = 0; i < faults_.size(); ++i) faults_[i].resize(program_.nodes[i].may_fail ? kBlock : 0);
  }
  for (const std::uint32_t node : input_nodes_) {
    if (values_[node] == places_[node]) load(columns[program_.nodes[node].bits], program_.nodes[node].type, places_[node], count);
  }
  for (const std::uint32_t node : index_nodes_) {
    auto* const all = static_cast<std::int64_t*>(places_[node]);
    for (std::size_t k = 0; k < count; ++k) all[k] = static_cast<std::int64_t>(position + k);
  }
  return look_again(position, count);
}

std::optional<Failure> Evaluator::look_again(std::uint64_t position, std::size_t count) {
  for (const Step& step : steps_) {
    const Node& node = program_.nodes[step.node];
    const void* from[3] = {values_[step.from[0]], values_[step.from[1]], values_[step.from[2]]};
    // A result may take the place of the condition that says which faults count.
    std::uint8_t chosen[kBlock];
    const bool chooses = node.may_fail && (node.op == Op::select || node.op == Op::logical_and || node.op == Op::logical_or);
    if (chooses) std::memcpy(chosen, from[0], count);
    std::uint32_t ignored = 0;
    std::uint8_t* const own = node.may_fail ? faults_[step.node].data() : nullptr;
    if (own != nullptr) std::memset(own, 0, count);
    step.loop(from, step.to, count, ignored, node.checked ? own : nullptr);
    if (own == nullptr) continue;
    for (std::size_t i = 0; i < step.operands; ++i) {
      const std::vector<std::uint8_t>& of = faults_[step.from[i]];
      if (of.empty()) continue;
      // Which operands are not looked at: the value not chosen; behind a false && and a true ||.
      const bool always = i == 0 || !chooses;
      const bool where = node.op == Op::select ? i == 1 : node.op == Op::logical_and;
      for (std::size_t k = 0; k < count; ++k)
        own[k] = static_cast<std::uint8_t>(own[k] | (always || (chosen[k] != 0) == where ? of[k] : 0));
    }
  }
  for (std::size_t k = 0; k < count; ++k) {
    std::uint32_t faults = 0;
    for (const std::uint32_t result : program_.results) {
      if (program_.nodes[result].may_fail) faults |= faults_[result][k];
    }
    if (faults != 0) return Failure{position + k, faults};
  }
  return std::nullopt;
}

}  // namespace samesum::formula
