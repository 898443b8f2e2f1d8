// The public function: checks, and division of the work into pieces for progress and cancellation.
#include <samesum/pairs.hpp>

#include "core/float_environment.hpp"
#include "device/device.hpp"
#include "device/memory/run.hpp"
#include "formula/bound.hpp"
#include "pairs/cpu/pairs_cpu.hpp"
#include "pairs/named.hpp"
#include "pairs/pairs_device.hpp"
#include "pairs/pairs_formula.hpp"
#include "pairs/tree/host_elements.hpp"
#include "pairs/tree/nodes.hpp"
#include "pairs/tree/tree_cpu.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

namespace samesum {
namespace {

using all_pairs::HostElements;

constexpr std::uint64_t kMaxComponents = 1024;

constexpr std::array<std::string_view, 6> kFunctions = {"product", "difference", "absdiff", "sqdist", "gaussian", "invdist"};
constexpr std::array<std::string_view, 9> kReductions = {"sum",     "min",       "max",      "argmin",     "argmax",
                                                         "product", "logsumexp", "smallest", "argsmallest"};
constexpr std::uint32_t kMaxSmallest = 128;
constexpr std::array<std::string_view, 3> kAccuracies = {"fast", "compensated", "exact"};

template <class Enum, std::size_t n>
Enum parse(const std::array<std::string_view, n>& names, std::string_view name, std::string_view what) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw Error(ErrorKind::usage, fmt::format("'{}' is no {} of pairs: there are {}", name, what, fmt::join(names, ", ")));
  }
  return static_cast<Enum>(found - names.begin());
}

[[noreturn]] void refuse(std::string message) { throw Error(ErrorKind::usage, std::move(message)); }

std::uint64_t count_of(const Array& view, std::uint64_t components, std::string_view name) {
  if (view.size() % components != 0) {
    refuse(fmt::format("{} has {} elements, which are no vectors of {} components", name, view.size(), components));
  }
  return view.size() / components;
}

bool parameter_fits(DType type, double value) {
  if (type == DType::float64) return std::isfinite(value);
  return std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max());
}

// Rounded to the type.
double in_type(DType type, double value) { return type == DType::float32 ? static_cast<double>(static_cast<float>(value)) : value; }

// Checks the capabilities that determine the answer's bits.
void check_capabilities(const DeviceInfo& info, const PairsProblem& options, const all_pairs::Problem& problem) {
  if (!info.has(Capability::kernels)) return;  // the host's own arithmetic
  const DType type = problem.type;
  std::vector<Capability> needed;
  if (type == DType::float64) needed.push_back(Capability::fp64);
  if (problem.formula != nullptr) formula::require_types(problem.formula->program, info);
  if (problem.nodes != nullptr) {
    for (const formula::Program* program : {&problem.nodes->bound.program(), &problem.nodes->finish})
      formula::require_types(*program, info);
  }
  const bool bits = options.reduction != PairReduction::sum || options.accuracy == PairAccuracy::exact || problem.nodes != nullptr;
  if (bits || options.accuracy == PairAccuracy::compensated) needed.insert(needed.end(), {Capability::fma, Capability::unfused});
  if (bits) {
    needed.push_back(Capability::denormals);
    const std::vector<Capability> own = problem.formula != nullptr           ? all_pairs::needs_of(problem.formula->program)
                                        : options.f == PairFunction::invdist ? std::vector{Capability::division, Capability::square_root}
                                                                             : std::vector<Capability>{};
    needed.insert(needed.end(), own.begin(), own.end());
    if (problem.nodes != nullptr) {
      for (const formula::Program* program : {&problem.nodes->bound.program(), &problem.nodes->finish}) {
        for (const Capability capability : all_pairs::needs_of(*program)) needed.push_back(capability);
      }
    }
  }
  for (const Capability capability : needed) {
    if (info.has(capability)) continue;
    refuse(fmt::format("{} cannot do pairs with f={} reduction={} accuracy={}, as it lacks {}: {}", info.selector,
                       problem.formula != nullptr ? "a formula" : name_of(options.f), name_of(options.reduction), name_of(options.accuracy),
                       name_of(capability), info.why_not(capability)));
  }
}

// The inputs of the y as all_pairs::Problem::of_y.
std::vector<double> gathered(const std::vector<FormulaInput>& inputs, const all_pairs::Problem& problem) {
  const std::size_t bytes = size_of(problem.type);
  std::vector<double> rows(problem.y_count * problem.extras * bytes / sizeof(double) + 1);
  auto* to = reinterpret_cast<std::byte*>(rows.data());
  for (const FormulaInput& input : inputs) {
    const HostElements there(input.array, problem.type);
    const auto* from = static_cast<const std::byte*>(there.data());
    const std::uint64_t each = all_pairs::components_of(input) * bytes;
    for (std::uint64_t y = 0; y < problem.y_count; ++y) std::memcpy(to + y * problem.extras * bytes, from + y * each, each);
    to += each;
  }
  return rows;
}

// Runs body(first, count) over the x, in pieces of about kMoment; the first one is small, to estimate the time of the others.
template <class Body>
void in_pieces(const all_pairs::Problem& problem, std::uint64_t step, const Options& options, const Body& body) {
  constexpr double kMoment = 0.25;  // seconds
  constexpr double kFirstPairs = 1 << 27;
  using Clock = std::chrono::steady_clock;
  const double pairs_of_x = static_cast<double>(problem.y_count) * static_cast<double>(problem.components) + 1;
  const auto fitting = [&](double count) {
    const auto steps = static_cast<std::uint64_t>(std::clamp(count / static_cast<double>(step), 1.0, 1e15));
    return options.progress ? steps * step : std::max<std::uint64_t>(problem.x_count, 1);
  };
  std::uint64_t piece = fitting(kFirstPairs / pairs_of_x);
  for (std::uint64_t first = 0; first < problem.x_count;) {
    const std::uint64_t count = std::min(piece, problem.x_count - first);
    const auto start = Clock::now();
    body(first, count);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    first += count;
    if (!options.progress) continue;
    options.progress({first * problem.y_count, problem.x_count * problem.y_count});
    piece = fitting(static_cast<double>(count) * std::clamp(kMoment / std::max(seconds, 1e-6), 0.25, 16.0));
  }
}

template <class Value>
std::vector<Value> run(const all_pairs::Problem& problem, const Device& device, const Options& options) {
  std::vector<Value> c(problem.x_count * problem.results);
  const all_pairs::Target target{c.data()};
  if (problem.x_count == 0 || problem.y_count == 0) {  // empty sums
    if (problem.nodes != nullptr) all_pairs::tree_of_nothing(problem, target);
    return c;
  }
  const std::uint64_t bytes = all_pairs::result_bytes(problem);
  if (!device.info().has(Capability::kernels)) {
    constexpr std::uint64_t kStep = 1024;
    in_pieces(problem, kStep, options, [&](std::uint64_t first, std::uint64_t count) {
      all_pairs::pairs_on_cpu(problem.part(first, count), target.part(first, bytes), options.tuning.threads);
    });
    return c;
  }
  // The device is unlocked between two pieces: for the progress function and for other threads.
  device::Device& queue = device.implementation();
  auto on_device = [&] {
    const device::Lock lock(queue.mutex());
    return all_pairs::on_device(queue, problem, {options.tuning.group_size});
  }();
  in_pieces(problem, on_device->step(), options, [&](std::uint64_t first, std::uint64_t count) {
    const device::Lock lock(queue.mutex());
    on_device->run(first, count, target.part(first, bytes));
  });
  return c;
}

// Several exact sums for each x: one after the other.
template <class Value>
std::vector<Value> run_each(const all_pairs::Problem& problem, const Device& device, const Options& options) {
  if (!problem.one_by_one()) return run<Value>(problem, device, options);
  std::vector<Value> c(problem.x_count * problem.results);
  Options part = options;
  for (std::uint32_t k = 0; k < problem.results; ++k) {
    all_pairs::PairFormula formula = *problem.formula;
    formula.program.results = {formula.program.results[k]};
    all_pairs::Problem one = problem;
    one.formula = std::make_shared<const all_pairs::PairFormula>(std::move(formula));
    one.results = 1;
    if (options.progress) {
      part.progress = [&](const Progress& done) { options.progress({k * done.total + done.done, problem.results * done.total}); };
    }
    const std::vector<Value> values = run<Value>(one, device, part);
    for (std::uint64_t x = 0; x < problem.x_count; ++x) c[x * problem.results + k] = values[x];
  }
  return c;
}

// How C[x] is reduced: by the tree, or by loops and kernels that are made for one number of each pair.
void choose_reduction(const PairsProblem& options, all_pairs::Problem& problem) {
  std::vector<formula::Scalar> values = {formula::scalar_of(problem.type)};
  const bool complex = problem.formula != nullptr && problem.formula->program.complex;
  if (problem.formula != nullptr) {
    const formula::Program& program = problem.formula->program;
    values.clear();
    for (const std::uint32_t node : program.results) values.push_back(program.nodes[node].type);
    problem.may_fail = program.may_fail;
  }
  problem.results = static_cast<std::uint32_t>(values.size());
  problem.complex = complex;
  const bool is_float = problem.type == DType::float32 || problem.type == DType::float64;
  const bool exact = is_float && options.reduction == PairReduction::sum && options.accuracy == PairAccuracy::exact && !options.combine;
  if (problem.smallest() && !options.combine) {
    if (values.size() != 1)
      refuse(fmt::format("{} takes an f that gives one number for a pair, not {}", name_of(options.reduction), values.size()));
    if (options.k == 0 || options.k > kMaxSmallest || options.k > problem.y_count) {
      refuse(fmt::format("k is 1 to {}, and at most the number of y, which is {}: not {}", kMaxSmallest, problem.y_count, options.k));
    }
    problem.k = problem.results = options.k;
    if (!problem.indices()) problem.own_result = all_pairs::value_type(problem);
  } else if (!exact && (!is_float || all_pairs::by_tree(options, values))) {
    problem.nodes = std::make_shared<const all_pairs::Nodes>(options, values, complex);
    problem.complex = problem.nodes->complex;
    problem.results = static_cast<std::uint32_t>(problem.nodes->finish.results.size());
    problem.own_result = problem.nodes->result;
    problem.may_fail |= problem.nodes->may_fail();
  }
  if (is_float && problem.formula != nullptr && problem.formula->program.may_fail && !options.combine) {
    throw all_pairs::refused(
        options,
        "an integer operation of this formula may fail, and pairs take no such formula of floating-point numbers: compute in these");
  }
}

// Puts functions with names in place of formulas that are such. Kernels compile every formula, and have nothing to gain but in fast sums.
void use_named(const PairsProblem& options, DType type, const DeviceInfo& info, all_pairs::Problem& problem) {
  const bool fast = options.reduction == PairReduction::sum && options.accuracy == PairAccuracy::fast && !options.combine;
  if (problem.formula == nullptr || (info.has(Capability::kernels) && !fast)) return;
  if (const std::optional<PairFunction> f = all_pairs::named_by(options, type, *problem.formula)) {
    problem.f = *f;
  } else if (const auto near = fast ? all_pairs::approximation_of(options, type, *problem.formula) : std::nullopt) {
    problem.f = near->f;
    problem.factor = near->factor;
    problem.softening = near->softening;
  } else {
    return;
  }
  problem.formula = nullptr;
}

}  // namespace

all_pairs::Problem all_pairs::checked(const Array& a, const Array& b, const PairsProblem& wanted) {
  const core::DefaultFloatEnvironment environment;
  PairsProblem options = wanted;
  if ((is_integer(a.type()) || options.complex) && !options.formula) {
    if (!options.of_y.empty() || !options.parameters.empty())
      refuse("parameters and further inputs of y are those of a formula, and there is none");
    options.formula = formula_of(options, a.type());
  }
  const DType type = a.type();
  if (b.type() != type) refuse(fmt::format("A and B are of one type, but here of {} and {}", name_of(type), name_of(b.type())));
  if (options.components == 0 || options.components > kMaxComponents) {
    refuse(fmt::format("vectors have 1 to {} components, not {}", kMaxComponents, options.components));
  }
  if (options.complex && (options.components != 2 || is_integer(type))) {
    refuse(fmt::format("complex numbers are vectors of two floating-point numbers, not of {} {}", options.components, name_of(type)));
  }
  if (options.combine && options.reduction != PairReduction::sum) refuse("an operator takes the place of a reduction: leave that out");
  const DType computed = formula::dtype_of(formula::scalar_of(type));
  Problem problem{computed, options.f, options.reduction, options.accuracy, options.components};
  problem.x_count = count_of(a, options.components, "A");
  problem.y_count = count_of(b, options.components, "B");
  problem.a = a.data();
  problem.b = b.data();
  problem.own_stored = type;
  if (options.formula) {
    for (const FormulaInput& input : inputs_of_y(options)) {
      if (input.vector && input.array.rank() == 0)
        refuse(fmt::format("the input '{}' is said to be of vectors, but has no axis", input.name));
      const std::uint64_t each = components_of(input);
      if (input.array.type() != type || each == 0 || input.array.size() != problem.y_count * each) {
        refuse(fmt::format("the input '{}' has an element or a vector for each y, of the type of A and B: here {} of {} for {} y of {}",
                           input.name, each == 0 ? 0 : input.array.size() / each, name_of(input.array.type()), problem.y_count,
                           name_of(type)));
      }
      problem.extras += each;
    }
    problem.formula = std::make_shared<const PairFormula>(
        all_pairs::bind(options, type, options.combine || is_integer(type) ? std::nullopt : std::optional(computed)));
  } else if (!options.of_y.empty() || !options.parameters.empty()) {
    refuse("parameters and further inputs of y are those of a formula, and there is none");
  } else if (options.weights) {
    if (options.weights->type() != type || options.weights->size() != problem.y_count) {
      refuse(fmt::format("there is one weight for each y, of the same type: here {} of {} for {} y of {}", options.weights->size(),
                         name_of(options.weights->type()), problem.y_count, name_of(type)));
    }
    problem.extras = 1;
  }
  if (problem.formula == nullptr && options.f == PairFunction::gaussian) {
    problem.factor = in_type(computed, -1 / options.h);
    if (!(options.h > 0) || !parameter_fits(computed, 1 / options.h) || problem.factor == 0) {
      refuse(fmt::format("h = {} cannot be the scale of a gaussian of {}: it has to be positive, and 1/h a finite number", options.h,
                         name_of(type)));
    }
  }
  if (problem.formula == nullptr && options.f == PairFunction::invdist) {
    problem.softening = in_type(computed, options.softening * options.softening);
    if (!(options.softening >= 0) || !parameter_fits(computed, options.softening * options.softening)) {
      refuse(fmt::format("a softening is not negative and has a finite square, unlike {}", options.softening));
    }
  }
  choose_reduction(options, problem);
  const bool empty = options.combine || options.reduction == PairReduction::sum || options.reduction == PairReduction::product ||
                     options.reduction == PairReduction::logsumexp;
  if (problem.y_count == 0 && problem.x_count != 0 && !empty) {
    refuse(fmt::format("the {} over no y at all is nothing: B is empty", name_of(options.reduction)));
  }
  return problem;
}

all_pairs::OwnProblem all_pairs::prepared(const Array& a, const Array& b, const PairsProblem& options, const DeviceInfo& info) {
  OwnProblem own{checked(a, b, options), {}};
  check_capabilities(info, options, own.problem);
  use_named(options, a.type(), info, own.problem);
  own.problem.a = own.problem.b = nullptr;
  if (own.problem.extras != 0) own.of_y = gathered(inputs_of_y(options), own.problem);
  own.problem.of_y = own.of_y.data();
  return own;
}

std::string_view name_of(PairFunction f) noexcept { return kFunctions[static_cast<std::size_t>(f)]; }
std::string_view name_of(PairReduction reduction) noexcept { return kReductions[static_cast<std::size_t>(reduction)]; }
std::string_view name_of(PairAccuracy accuracy) noexcept { return kAccuracies[static_cast<std::size_t>(accuracy)]; }
PairFunction parse_pair_function(std::string_view name) { return parse<PairFunction>(kFunctions, name, "function f"); }
PairReduction parse_pair_reduction(std::string_view name) { return parse<PairReduction>(kReductions, name, "reduction"); }
PairAccuracy parse_pair_accuracy(std::string_view name) { return parse<PairAccuracy>(kAccuracies, name, "accuracy"); }

PairsResult pairs(const Array& a, const Array& b, const PairsProblem& wanted, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  constexpr double kMax = 1e18;
  const double pairs_in_all = static_cast<double>(a.size()) * static_cast<double>(b.size());
  const Device device = device::device_for(a, static_cast<std::uint64_t>(std::min(pairs_in_all, kMax)), options);
  all_pairs::OwnProblem own = all_pairs::prepared(a, b, wanted, device.info());
  all_pairs::Problem& problem = own.problem;
  const HostElements a_there(a, problem.type), b_there(b, problem.type);
  problem.a = a_there.data();
  problem.b = b_there.data();
  problem.own_stored.reset();
  const auto start = std::chrono::steady_clock::now();
  PairsResult result = all_pairs::with_type(problem.result(),
                                            [&](auto number) { return PairsResult(run_each<decltype(number)>(problem, device, options)); });
  if (options.report != nullptr) {
    *options.report = {device.info().selector, "pairs", "",
                       a.bytes() + b.bytes(),  0,       std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  }
  return result;
}

PairsResult pairs(const ComplexArray& a, const ComplexArray& b, const PairsProblem& problem, const Options& options) {
  PairsProblem of_complex = problem;
  of_complex.components = 2;
  of_complex.complex = true;
  return pairs(a.parts(), b.parts(), of_complex, options);
}

bool pairs_give_complex(const Array& a, const Array& b, const PairsProblem& problem) { return all_pairs::checked(a, b, problem).complex; }

Array array_of(const PairsResult& result) noexcept {
  return std::visit([](const auto& values) { return Array(values); }, result);
}

}  // namespace samesum
