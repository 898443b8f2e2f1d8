#include "histogram/bin_formula.hpp"

#include "core/float_environment.hpp"
#include "core/threads/parallel.hpp"
#include "core/visit.hpp"
#include "formula/bound.hpp"

#include <samesum/error.hpp>
#include <samesum/map_source.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

namespace samesum {
namespace {

constexpr std::string_view kSample = "x";

// Edges are finite, and none is -0.0: equal ones have equal bytes, which all cores compare.
bool equal_edges(const detail::Edges& a, const detail::Edges& b) {
  if (a.size() != b.size()) return false;
  std::atomic<bool> equal = true;
  core::parallel_parts(a.size(), std::uint64_t{1} << 16, [&](std::uint64_t begin, std::uint64_t end) {
    if (equal && std::memcmp(a.data() + begin, b.data() + begin, 8 * (end - begin)) != 0) equal = false;
  });
  return equal;
}

}  // namespace

Bins Bins::by_formula(Formula formula, std::uint64_t count, std::vector<FormulaParameter> parameters) {
  const core::DefaultFloatEnvironment environment;
  if (count < 1 || count >= kMax) throw Error(ErrorKind::usage, fmt::format("{} bins by a formula: there can be 1 to {}", count, kMax - 1));
  const auto given = [&](std::string_view name) {
    return std::any_of(parameters.begin(), parameters.end(), [&](const FormulaParameter& parameter) { return parameter.name == name; });
  };
  const std::vector<std::string> names = formula.names();
  if (std::find(names.begin(), names.end(), "i") != names.end() && !given("i")) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: a bin depends on the sample x alone, not on its index i", formula.to_string().substr(0, 200)));
  }
  detail::Edges edges(count + 1);
  std::iota(edges.begin(), edges.end(), 0.0);
  Bins bins(std::move(edges), "formula");
  bins.formula_ = std::make_shared<const BinFormula>(BinFormula{std::move(formula), std::move(parameters)});
  return bins;
}

bool operator==(const Bins& a, const Bins& b) noexcept {
  if (a.edges_ != b.edges_ && !equal_edges(*a.edges_, *b.edges_)) return false;
  if (!std::ranges::equal(a.names(), b.names())) return false;
  if (a.formula_ == b.formula_) return true;
  if (a.formula_ == nullptr || b.formula_ == nullptr) return false;
  return a.formula_->formula.to_string() == b.formula_->formula.to_string() &&
         a.formula_->formula.tree().fixed == b.formula_->formula.tree().fixed &&
         std::equal(
             a.formula_->parameters.begin(), a.formula_->parameters.end(), b.formula_->parameters.begin(), b.formula_->parameters.end(),
             [](const FormulaParameter& p, const FormulaParameter& q) { return p.name == q.name && p.value.number == q.value.number; });
}

namespace binning {
namespace {

formula::Program program_of(const Bins& bins, DType type) {
  const BinFormula& own = *bins.formula();
  formula::Program program =
      formula::resolve(own.formula.tree(), {FormulaInput(std::string(kSample), Array(nullptr, 0, type))}, own.parameters);
  if (program.results.size() != 1) {
    throw Error(ErrorKind::usage, fmt::format("{}: this formula gives {} numbers for a sample, and a bin has one",
                                              own.formula.to_string().substr(0, 200), program.results.size()));
  }
  return program;
}

// 0 below all bins, bin + 1 in them, count + 1 above them, count + 2 for NaN.
template <class Number>
std::uint32_t slot_of(Number value, std::uint64_t count) {
  if (std::isnan(static_cast<double>(value))) return static_cast<std::uint32_t>(count + 2);
  if (value < Number{0}) return 0;
  if (static_cast<double>(value) >= static_cast<double>(count)) return static_cast<std::uint32_t>(count + 1);
  return static_cast<std::uint32_t>(value) + 1;
}

}  // namespace

void check_formula(const Bins& bins, DType type) { program_of(bins, type); }

PatternSlots pattern_slots(const Bins& bins, DType type) {
  const formula::Program program = program_of(bins, type);
  formula::Evaluator evaluator(program, formula::values_of(bins.formula()->parameters));
  const std::size_t bytes = size_of(type), count = std::size_t{1} << (8 * bytes);
  std::vector<std::byte> patterns(count * bytes);
  for (std::uint32_t pattern = 0; pattern < count; ++pattern) std::memcpy(patterns.data() + pattern * bytes, &pattern, bytes);
  PatternSlots result;
  result.slots.resize(count);
  // The values of `some` patterns from `first` on, or those of each where one fails.
  const auto evaluate = [&](const auto& again, std::size_t first, std::size_t some) -> void {
    const std::vector<formula::Column> columns(program.inputs.size(),
                                               {patterns.data() + first * bytes, type, static_cast<std::int64_t>(bytes)});
    if (const auto failure = evaluator.run(columns, 0, some)) {
      result.faults.resize(count);
      if (some == 1) {
        result.faults[first] = failure->faults;
      } else {
        for (std::size_t k = 0; k < some; ++k) again(again, first + k, 1);
      }
      return;
    }
    core::visit(formula::dtype_of(program.nodes[program.results[0]].type), [&](auto element) {
      using Number = decltype(element);
      if constexpr (std::is_arithmetic_v<Number>) {
        const auto* const values = static_cast<const Number*>(evaluator.results()[0]);
        for (std::size_t k = 0; k < some; ++k) result.slots[first + k] = slot_of(values[k], bins.count());
      }
    });
  };
  for (std::size_t first = 0; first < count; first += formula::Evaluator::kBlock) {
    evaluate(evaluate, first, std::min(formula::Evaluator::kBlock, count - first));
  }
  return result;
}

Error failed_at(const Bins& bins, DType type, std::uint32_t pattern, std::uint32_t faults) {
  const std::uint64_t bits = pattern;
  const std::string value = core::visit(type, [&](auto element) {
    std::memcpy(&element, &bits, sizeof element);
    if constexpr (std::is_integral_v<decltype(element)>) {
      return fmt::format("{}", static_cast<int>(element));
    } else {
      return fmt::format("{}", static_cast<float>(element));
    }
  });
  return {ErrorKind::no_answer, fmt::format("{} at the sample {} of the formula {}", formula::name_of_fault(faults), value,
                                            bins.formula()->formula.to_string().substr(0, 100))};
}

Histogram count_values(const Array& data, const Bins& bins, const Options& options) {
  program_of(bins, data.type());
  // One bin more, so that the value `count` lies in no bin of the formula's: the last bin has its upper edge.
  std::vector<double> edges(bins.count() + 2);
  std::iota(edges.begin(), edges.end(), 0.0);
  const BinFormula& own = *bins.formula();
  const std::unique_ptr<Source> values = map(own.formula, {FormulaInput(std::string(kSample), data)}, own.parameters);
  const Histogram counted = histogram(*values, Bins::between(std::move(edges)), options);
  const std::span<const std::uint64_t> counts = counted.counts();
  return Histogram(bins, {counts.begin(), counts.end() - 1}, counted.under(), counted.over() + counts.back(), counted.nan_count());
}

}  // namespace binning
}  // namespace samesum
