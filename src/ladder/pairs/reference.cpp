#include "ladder/pairs/reference.hpp"

#include "pairs/cpu/pairs_cpu.hpp"
#include "pairs/pairs_formula.hpp"

#include <samesum/device.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <variant>

namespace samesum::bench {

using all_pairs::Problem;

namespace {
constexpr std::uint64_t kSamples = 32;
}

PairsReference::PairsReference(const Problem& problem, const PairsProblem& pairs) : problem_(problem) {
  const std::uint64_t count = std::min(kSamples, problem.x_count);
  const std::uint64_t components = problem.components;
  for (std::uint64_t i = 0; i < count; ++i) samples_.push_back((problem.x_count - 1) * i / std::max<std::uint64_t>(count - 1, 1));
  if (problem.nodes != nullptr || problem.smallest()) return;  // bits are compared
  if (problem.formula != nullptr) {
    if (problem.reduction == PairReduction::sum) sum_formula();
    return;
  }
  std::vector<double> a, b = in_float64(problem.b, problem.y_count * components);
  for (const std::uint64_t x : samples_) {
    const std::vector<double> all = in_float64(at(problem.a, x * components), components);
    a.insert(a.end(), all.begin(), all.end());
  }
  const Device cpu = Device::open("cpu");
  PairsProblem options = pairs;
  options.weights.reset();
  options.accuracy = PairAccuracy::compensated;
  const auto run = [&](PairFunction f, PairReduction reduction) {
    options.f = f;
    options.reduction = reduction;
    return std::get<std::vector<double>>(samesum::pairs(std::span<const double>(a), std::span<const double>(b), options, {.device = cpu}));
  };
  if (problem.reduction == PairReduction::sum) {
    right_ = run(pairs.f, PairReduction::sum);
    for (double& value : a) value = std::abs(value);
    for (double& value : b) value = std::abs(value);
    if (pairs.f == PairFunction::product) {
      magnitudes_ = run(PairFunction::product, PairReduction::sum);
    } else if (pairs.f == PairFunction::difference) {
      for (double& value : b) value = -value;  // |a| + |b|, which is at least |a - b|
      magnitudes_ = run(PairFunction::difference, PairReduction::sum);
    } else {
      magnitudes_ = right_;
    }
  }
}

// Of a formula the values are the CPU's, in the problem's type: their exact sums, and those of their magnitudes.
void PairsReference::sum_formula() {
  const auto sums = [&](bool magnitudes) {
    all_pairs::PairFormula formula = *problem_.formula;
    if (magnitudes) {
      const std::uint32_t value = formula.program.results[0];
      formula.program.nodes.push_back({formula::Op::abs, formula.program.nodes[value].type, 1, false, false, {value}, 0});
      formula.program.results[0] = static_cast<std::uint32_t>(formula.program.nodes.size() - 1);
    }
    Problem one = problem_;
    one.accuracy = PairAccuracy::exact;
    one.formula = std::make_shared<const all_pairs::PairFormula>(std::move(formula));
    std::vector<double> found;
    for (const std::uint64_t x : samples_) {
      std::vector<char> c(sizeof(double));
      all_pairs::pairs_on_cpu(one.part(x, 1), {c.data()}, 0);
      found.push_back(value_at(c, 0));
    }
    return found;
  };
  right_ = sums(false);
  magnitudes_ = sums(true);
}

double PairsReference::error_ratio(const std::vector<char>& c, double depth, PairsRow& row) const {
  const auto d = static_cast<double>(problem_.components);
  const auto y = static_cast<double>(problem_.y_count);
  const double u = problem_.type == DType::float32 ? 0x1p-24 : 0x1p-53;
  double worst = -1;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const double value = value_at(c, samples_[i]);
    const double error = std::abs(value - right_[i]);
    // f's own error: for gaussian, the error of its argument t contributes |t| exp(t), which is at most 1/e.
    double bound = u * (depth + 2 * d + 8) * magnitudes_[i] * 1.01;
    if (problem_.f == PairFunction::gaussian) bound += u * (d + 5) * y / 2.718;
    const double ratio = error == 0 ? 0 : error / bound;
    if (ratio > worst || std::isnan(ratio)) {
      worst = std::isnan(ratio) ? INFINITY : ratio;
      row.error = error;
      row.bound = bound;
    }
  }
  return worst;
}

bool PairsReference::same_bits(const std::vector<char>& c, PairAccuracy accuracy, bool values) const {
  Problem few = problem_;
  few.accuracy = accuracy;
  few.x_count = samples_.size();
  std::vector<char> a;
  const std::size_t bytes_of_x = problem_.components * size_of(problem_.type);
  for (const std::uint64_t x : samples_) {
    const char* from = at(problem_.a, x * problem_.components);
    a.insert(a.end(), from, from + bytes_of_x);
  }
  few.a = a.data();
  std::vector<char> right(samples_.size() * std::max<std::size_t>(all_pairs::result_bytes(problem_), 8));
  all_pairs::pairs_on_cpu(few, {right.data()}, 0);
  const std::size_t bytes = all_pairs::result_bytes(problem_);
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    if (values && problem_.indices()) {
      if (!same_value(few, i, index_at(c, samples_[i]), index_at(right, i))) return false;
    } else if (values && !is_integer(problem_.type)) {
      const double found = value_at(c, samples_[i]), expected = value_at(right, i);
      if (found != expected && !(std::isnan(found) && std::isnan(expected))) return false;
    } else if (std::memcmp(c.data() + samples_[i] * bytes, right.data() + i * bytes, bytes) != 0) {
      return false;
    }
  }
  return true;
}

bool PairsReference::same_value(const Problem& few, std::uint64_t x, std::uint64_t found, std::uint64_t expected) const {
  if (found == expected) return true;
  if (found >= problem_.y_count) return false;
  const auto value = [&](std::uint64_t y) {
    Problem one = few.part(x, 1);
    one.reduction = PairReduction::min;
    one.nodes.reset();
    one.own_result.reset();
    one.y_count = 1;
    one.b = at(problem_.b, y * problem_.components);
    std::vector<char> c(8);
    all_pairs::pairs_on_cpu(one, {c.data()}, 1);
    return value_at(c, 0);
  };
  return !is_integer(problem_.type) && value(found) == value(expected);
}

std::uint64_t PairsReference::index_at(const std::vector<char>& c, std::uint64_t x) {
  return reinterpret_cast<const std::uint64_t*>(c.data())[x];
}

const char* PairsReference::at(const void* data, std::uint64_t element) const {
  return static_cast<const char*>(data) + element * size_of(problem_.type);
}

std::vector<double> PairsReference::in_float64(const void* data, std::uint64_t count) const {
  if (problem_.type == DType::float64) return {static_cast<const double*>(data), static_cast<const double*>(data) + count};
  return {static_cast<const float*>(data), static_cast<const float*>(data) + count};
}

double PairsReference::value_at(const std::vector<char>& c, std::uint64_t x) const {
  if (problem_.type == DType::float64) return reinterpret_cast<const double*>(c.data())[x];
  return reinterpret_cast<const float*>(c.data())[x];
}

}  // namespace samesum::bench
