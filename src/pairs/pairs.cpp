// The public function: checks, and division of the work into pieces for progress and cancellation.
#include <samesum/pairs.hpp>

#include "core/array/array_blocks.hpp"
#include "core/array/pack.hpp"
#include "core/float_environment.hpp"
#include "device/device.hpp"
#include "device/memory/run.hpp"
#include "formula/bound.hpp"
#include "pairs/pairs_cpu.hpp"
#include "pairs/pairs_device.hpp"
#include "pairs/pairs_formula.hpp"

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

constexpr std::uint64_t kMaxComponents = 1024;

constexpr std::array<std::string_view, 6> kFunctions = {"product", "difference", "absdiff", "sqdist", "gaussian", "invdist"};
constexpr std::array<std::string_view, 5> kReductions = {"sum", "min", "max", "argmin", "argmax"};
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
  const bool bits = options.reduction != PairReduction::sum || options.accuracy == PairAccuracy::exact;
  if (bits || options.accuracy == PairAccuracy::compensated) needed.insert(needed.end(), {Capability::fma, Capability::unfused});
  if (bits) {
    needed.push_back(Capability::denormals);
    const std::vector<Capability> own = problem.formula != nullptr           ? all_pairs::needs_of(*problem.formula)
                                        : options.f == PairFunction::invdist ? std::vector{Capability::division, Capability::square_root}
                                                                             : std::vector<Capability>{};
    needed.insert(needed.end(), own.begin(), own.end());
  }
  for (const Capability capability : needed) {
    if (info.has(capability)) continue;
    refuse(fmt::format("{} cannot do pairs with f={} reduction={} accuracy={}, as it lacks {}: {}", info.selector,
                       problem.formula != nullptr ? "a formula" : name_of(options.f), name_of(options.reduction), name_of(options.accuracy),
                       name_of(capability), info.why_not(capability)));
  }
}

// The elements contiguous and aligned in host memory: the array's own memory, or a copy.
class Packed {
 public:
  explicit Packed(const Array& array) : view_(nullptr, 0, array.type()) {
    if (const auto view = array.on_device() ? std::nullopt : core::single_view(array, core::Order::index)) {
      view_ = *view;
      if (view_.contiguous() && reinterpret_cast<std::uintptr_t>(view_.data()) % size_of(view_.type()) == 0) return;
    }
    copy_.resize(array.bytes() / sizeof(double) + 1);
    auto* to = reinterpret_cast<std::byte*>(copy_.data());
    view_ = View(to, array.size(), array.type());
    device::for_host_blocks(array, core::Order::index, [&](View block) {
      core::pack(block, to);
      to += block.bytes();
    });
  }
  View view() const noexcept { return view_; }

 private:
  View view_;
  std::vector<double> copy_;
};

// The inputs of the y as all_pairs::Problem::of_y.
std::vector<double> gathered(const std::vector<FormulaInput>& inputs, const all_pairs::Problem& problem) {
  const std::size_t bytes = size_of(problem.type);
  std::vector<double> rows(problem.y_count * problem.extras * bytes / sizeof(double) + 1);
  auto* to = reinterpret_cast<std::byte*>(rows.data());
  for (const FormulaInput& input : inputs) {
    const Packed there(input.array);
    const auto* from = static_cast<const std::byte*>(there.view().data());
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
PairsResult run(const all_pairs::Problem& problem, const Device& device, const Options& options) {
  std::vector<Value> c(problem.x_count);
  if (problem.x_count == 0 || problem.y_count == 0) return c;  // no y: empty sums
  const all_pairs::Target target{c.data()};
  if (!device.info().has(Capability::kernels)) {
    constexpr std::uint64_t kStep = 1024;
    in_pieces(problem, kStep, options, [&](std::uint64_t first, std::uint64_t count) {
      all_pairs::pairs_on_cpu(problem.part(first, count), target.part(first, sizeof(Value)), options.tuning.threads);
    });
    return c;
  }
  // The device is unlocked between two pieces: for the progress function and for other threads.
  device::Device& queue = device.implementation();
  auto on_device = [&] {
    const device::Lock lock(queue.mutex());
    return all_pairs::DevicePairs(queue, problem, {options.tuning.group_size});
  }();
  in_pieces(problem, on_device.step(), options, [&](std::uint64_t first, std::uint64_t count) {
    const device::Lock lock(queue.mutex());
    on_device.run(first, count, target.part(first, sizeof(Value)));
  });
  return c;
}

}  // namespace

all_pairs::Problem all_pairs::checked(const Array& a, const Array& b, const PairsProblem& options) {
  const core::DefaultFloatEnvironment environment;
  const DType type = a.type();
  if (type != DType::float32 && type != DType::float64) refuse(fmt::format("pairs are of float32 or float64, not of {}", name_of(type)));
  if (b.type() != type) refuse(fmt::format("A and B are of one type, but here of {} and {}", name_of(type), name_of(b.type())));
  if (options.components == 0 || options.components > kMaxComponents) {
    refuse(fmt::format("vectors have 1 to {} components, not {}", kMaxComponents, options.components));
  }
  Problem problem{type, options.f, options.reduction, options.accuracy, options.components};
  problem.x_count = count_of(a, options.components, "A");
  problem.y_count = count_of(b, options.components, "B");
  problem.a = a.data();
  problem.b = b.data();
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
    problem.formula = std::make_shared<const PairFormula>(bind(options, type));
  } else if (!options.of_y.empty() || !options.parameters.empty()) {
    refuse("parameters and further inputs of y are those of a formula, and there is none");
  } else if (options.weights) {
    if (options.weights->type() != type || options.weights->size() != problem.y_count) {
      refuse(fmt::format("there is one weight for each y, of the same type: here {} of {} for {} y of {}", options.weights->size(),
                         name_of(options.weights->type()), problem.y_count, name_of(type)));
    }
    problem.extras = 1;
    problem.of_y = options.weights->data();
  }
  if (problem.formula == nullptr && options.f == PairFunction::gaussian) {
    problem.factor = in_type(type, -1 / options.h);
    if (!(options.h > 0) || !parameter_fits(type, 1 / options.h) || problem.factor == 0) {
      refuse(fmt::format("h = {} cannot be the scale of a gaussian of {}: it has to be positive, and 1/h a finite number", options.h,
                         name_of(type)));
    }
  }
  if (problem.formula == nullptr && options.f == PairFunction::invdist) {
    problem.softening = in_type(type, options.softening * options.softening);
    if (!(options.softening >= 0) || !parameter_fits(type, options.softening * options.softening)) {
      refuse(fmt::format("a softening is not negative and has a finite square, unlike {}", options.softening));
    }
  }
  if (problem.y_count == 0 && problem.x_count != 0 && options.reduction != PairReduction::sum) {
    refuse(fmt::format("the {} over no y at all is nothing: B is empty", name_of(options.reduction)));
  }
  return problem;
}

all_pairs::OwnProblem all_pairs::prepared(const Array& a, const Array& b, const PairsProblem& options, const DeviceInfo& info) {
  OwnProblem own{checked(a, b, options), {}};
  check_capabilities(info, options, own.problem);
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
  constexpr double kMost = 1e18;
  const double pairs_in_all = static_cast<double>(a.size()) * static_cast<double>(b.size());
  const Device device = device::device_for(a, static_cast<std::uint64_t>(std::min(pairs_in_all, kMost)), options);
  all_pairs::OwnProblem own = all_pairs::prepared(a, b, wanted, device.info());
  all_pairs::Problem& problem = own.problem;
  const Packed a_there(a), b_there(b);
  problem.a = a_there.view().data();
  problem.b = b_there.view().data();
  const auto start = std::chrono::steady_clock::now();
  PairsResult result = problem.indices()                ? run<std::int64_t>(problem, device, options)
                       : problem.type == DType::float32 ? run<float>(problem, device, options)
                                                        : run<double>(problem, device, options);
  if (options.report != nullptr) {
    *options.report = {device.info().selector, "pairs", "",
                       a.bytes() + b.bytes(),  0,       std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  }
  return result;
}

Array array_of(const PairsResult& result) noexcept {
  return std::visit([](const auto& values) { return Array(values); }, result);
}

}  // namespace samesum
