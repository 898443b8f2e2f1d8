// Reductions along axes of what a formula gives. The values of some results are computed at once, and are an array as any
// other then; where there are more for one result, it takes them chunk by chunk.
#include "groups/axes_formula.hpp"

#include "core/float_environment.hpp"
#include "core/reports.hpp"
#include "device/memory/run.hpp"
#include "device/memory/upload.hpp"
#include "groups/axes.hpp"

#include <samesum/axes_formula.hpp>
#include <samesum/reduce.hpp>
#include <samesum/sum.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace samesum {
namespace groups {
namespace {

constexpr std::uint64_t kPartBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kCachedBytes = std::uint64_t{4} << 20;  // of a part, where its results can be few; a GPU fills with more
constexpr std::uint64_t kWidth = 16;                            // neighbours of which all are read while they are in a cache
constexpr std::uint64_t kHostPositions = std::uint64_t{1} << 18, kDevicePositions = std::uint64_t{1} << 22;  // of a chunk of one result

bool on_kernels(const Array& array) { return array.on_device() && array.buffer().device().info().has(Capability::kernels); }

std::vector<FormulaInput> brought(std::vector<FormulaInput> inputs, const Options& options) {
  for (FormulaInput& input : inputs) {
    if (input.array.on_device()) {
      if (!on_kernels(input.array)) input.array = device::on_host(input.array);
    } else if (options.device && options.device->info().has(Capability::kernels)) {
      input.array = device::uploaded(input.array, *options.device);
    }
  }
  return inputs;
}

class BoxSource final : public Source {
 public:
  BoxSource(FormulaValues& values, const Box& box) : values_(values), box_(box), size_(box.size()) {}
  std::optional<Array> next() override {
    const std::uint64_t count = std::min(values_.device() ? kDevicePositions : kHostPositions, size_ - done_);
    if (count == 0) return std::nullopt;
    const Array part = values_.evaluate(box_, done_, count)[0];
    done_ += count;
    return part;
  }
  std::string_view format() const noexcept override { return "formula"; }
  std::optional<DType> type() const noexcept override { return values_.types()[0]; }
  std::optional<Device> device() const override { return values_.device(); }
  std::uint64_t resident_bytes() const noexcept override { return size_ * size_of(values_.types()[0]); }

 private:
  FormulaValues& values_;
  Box box_;
  std::uint64_t size_, done_ = 0;
};

// The reduction of one result's values.
void reduce_source(Source& source, AxisReduction reduction, std::uint64_t ddof, const Options& options, DType type, std::byte* to) {
  const auto put = [&](auto value) { std::memcpy(to, &value, sizeof value); };
  const auto found = [&](Fields fields) { return collect(source, fields, options); };
  constexpr Fields kExtrema = {true, false, false, false}, kMoments = {false, true, true, false};
  switch (reduction) {
    case AxisReduction::sum: {
      const Accumulator sum = accumulate(source, options);
      if (type == DType::float64) return put(sum.round(options.nan));
      return type == DType::int64 ? put(sum.to_int64()) : put(sum.to_uint64());
    }
    case AxisReduction::product:
      return store(product(source, options), type, to);
    case AxisReduction::mean:
      return put(found({false, true, false, false}).mean(options.nan));
    case AxisReduction::variance:
      return put(found(kMoments).variance(ddof, options.nan));
    case AxisReduction::standard_deviation:
      return put(found(kMoments).standard_deviation(ddof, options.nan));
    case AxisReduction::norm:
      return put(found({false, false, true, false}).norm(options.nan));
    case AxisReduction::squared_norm:
      return put(found({false, false, true, false}).squared_norm(options.nan));
    case AxisReduction::min:
      return store(found(kExtrema).min(options.nan).value, type, to);
    case AxisReduction::max:
      return store(found(kExtrema).max(options.nan).value, type, to);
    case AxisReduction::argmin:
      return put(found(kExtrema).min(options.nan).index);
    case AxisReduction::argmax:
      return put(found(kExtrema).max(options.nan).index);
    case AxisReduction::count_nonzero:
      return put(found({false, false, false, true}).nonzero_count(options.nan));
  }
}

}  // namespace

std::uint64_t Box::size() const noexcept {
  std::uint64_t size = 1;
  for (const std::uint64_t extent : count) size *= extent;
  return size;
}

FormulaValues::FormulaValues(const Formula& formula, const std::vector<FormulaInput>& inputs,
                             const std::vector<FormulaParameter>& parameters, const Options& options)
    : parameters_(parameters), values_(formula::values_of(parameters)), shape_(shape_of(inputs)), given_{formula, {}, {}}, taken_(given_) {
  std::vector<FormulaInput> all = brought(inputs, options);
  for (const FormulaInput& input : all) {
    if (!input.vector && !input.complex) formula::broadcast(input.array, shape_, input.name);  // also those that the formula does not use
    if (input.array.on_device()) device_ = input.array.buffer().device();
  }
  for (const FormulaInput& input : all) {
    if (!device_ || (input.array.on_device() && &input.array.buffer().device().implementation() == &device_->implementation())) continue;
    throw Error(ErrorKind::usage, "the arrays of a formula lie in different places: bring all of them to host memory or to one device");
  }
  given_ = take(formula, all);
  taken_ = given_;
  if (given_.program.uses_index) number_positions(formula, all);
  std::vector<formula::Range> ranges;
  for (const formula::InputComponent& use : taken_.program.inputs) ranges.push_back(formula::range_of(all[use.input].array.type()));
  ranges_ = formula::apply_ranges(taken_.program, ranges);
  for (const std::uint32_t result : taken_.program.results) {
    types_.push_back(formula::dtype_of(taken_.program.nodes[result].type));
    each_bytes_ += size_of(types_.back());
  }
  if (device_) formula::require_types(taken_.program, device_->info());
}

FormulaValues::Taken FormulaValues::take(const Formula& formula, const std::vector<FormulaInput>& inputs) {
  Taken taken{formula, formula::resolve(formula.tree(), inputs, parameters_), {}};
  for (const formula::InputComponent& use : taken.program.inputs) {
    taken.arrays.push_back(formula::component_of(inputs[use.input], use.component, shape_));
  }
  return taken;
}

// In a box positions do not follow one another: i becomes the sum of a number for each axis.
void FormulaValues::number_positions(const Formula& formula, std::vector<FormulaInput>& inputs) {
  std::string suffix;
  const auto is_used = [&](std::string_view name) {
    return std::ranges::any_of(inputs, [&](const FormulaInput& input) { return input.name == name; }) ||
           std::ranges::any_of(parameters_, [&](const FormulaParameter& parameter) { return parameter.name == name; }) ||
           std::ranges::count(formula.names(), name) != 0;
  };
  std::vector<std::string> names;
  for (std::size_t axis = 0; axis < std::max<std::size_t>(shape_.size(), 1); ++axis) {
    std::string name = fmt::format("i{}", axis);
    while (is_used(name)) name += '_';
    std::uint64_t behind = 1;
    for (std::size_t k = axis + 1; k < shape_.size(); ++k) behind *= shape_[k];
    std::vector<std::int64_t>& numbers = numbers_.emplace_back(shape_.empty() ? 1 : shape_[axis]);
    for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = static_cast<std::int64_t>(k * behind);
    std::vector<std::uint64_t> shape(shape_.size() - std::min(axis, shape_.size()), 1);
    if (!shape.empty()) shape[0] = numbers.size();
    const Array array(numbers.data(), Shape(shape), DType::int64);
    inputs.emplace_back(name, device_ ? device::uploaded(array, *device_) : array);
    names.push_back(std::move(name));
  }
  taken_ = take(Formula(fmt::format("let i = {}; {}", fmt::join(names, " + "), formula.to_string()),
                        formula.tree().fixed ? FormulaMath::fixed : FormulaMath::native),
                inputs);
}

void FormulaValues::require_one() const {
  if (types_.size() != 1) {
    throw Error(ErrorKind::usage,
                complex() ? std::string("this formula gives a complex number at each position, and a reduction takes a real one: write "
                                        "real(...), imag(...), abs(...) or abs2(...)")
                          : fmt::format("this formula gives {} numbers at each position, and a reduction takes one: write one of them",
                                        types_.size()));
  }
}

std::vector<Array> FormulaValues::room(std::uint64_t count) {
  std::vector<Array> results;
  here_.resize(types_.size());
  for (std::size_t k = 0; k < types_.size(); ++k) {
    const std::uint64_t bytes = count * size_of(types_[k]);
    if (!device_) {
      if (here_[k].size() * 8 < bytes) here_[k].resize((bytes + 7) / 8);
      results.emplace_back(here_[k].data(), count, types_[k]);
    } else {
      if (there_.size() <= k) there_.emplace_back(*device_, bytes + 16);
      if (there_[k].bytes() < bytes) there_[k] = Buffer(*device_, bytes + 16);
      results.emplace_back(there_[k], count, types_[k]);
    }
  }
  return results;
}

std::vector<Array> FormulaValues::evaluate(const Box& box, std::uint64_t first, std::uint64_t count) {
  std::vector<Array> arrays;
  for (Array array : taken_.arrays) {
    for (std::size_t axis = 0; axis < shape_.size(); ++axis) array = array.slice(axis, box.first[axis], box.count[axis]);
    arrays.push_back(array);
  }
  const std::vector<Array> results = room(count);
  try {
    (device_ ? formula::map_on_device : formula::map_on_host)(taken_.formula, taken_.program, values_, arrays, results, box.count, first,
                                                              0);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::no_answer) throw;
    fail(error);
  }
  return results;
}

// All positions in their order, up to the first that fails: the message names it.
void FormulaValues::fail(const Error& error) {
  std::uint64_t size = 1;
  for (const std::uint64_t extent : shape_) size *= extent;
  const std::uint64_t most = device_ ? kDevicePositions : kHostPositions;
  try {
    for (std::uint64_t first = 0; first < size; first += most) {
      (device_ ? formula::map_on_device : formula::map_on_host)(given_.formula, given_.program, values_, given_.arrays,
                                                                room(std::min(most, size - first)), shape_, first, first);
    }
  } catch (const Error& first) {
    throw FormulaFailed(first.kind(), first.what());
  }
  throw FormulaFailed(error.kind(), error.what());
}

bool FormulaValues::is_long(const Box& box) const noexcept { return box.size() > kPartBytes / each_bytes_; }

void FormulaValues::for_boxes(const std::vector<bool>& reduced, const std::function<void(const Box&, std::uint64_t)>& body) const {
  Box box{std::vector<std::uint64_t>(shape_.size(), 0), shape_};
  std::uint64_t inner = 1, results = 1;  // positions behind the axis that is divided; results in all
  std::vector<std::size_t> kept;
  for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
    inner *= shape_[axis];
    if (reduced[axis]) continue;
    kept.push_back(axis);
    results *= shape_[axis];
  }
  if (inner == 0 || results == 0) return;
  // Single indices of the first kept axes, as many as are needed, and several of the one behind them.
  const std::uint64_t most = kPartBytes / each_bytes_, wanted = device_ ? most : kCachedBytes / each_bytes_;
  std::size_t divided = 0;
  for (; divided < kept.size(); ++divided) {
    inner /= shape_[kept[divided]];
    if (inner <= wanted || (inner <= most && divided + 1 == kept.size())) break;
    box.count[kept[divided]] = 1;
  }
  std::uint64_t step = 1;
  if (divided < kept.size()) {
    const std::uint64_t least = kept[divided] + 1 == shape_.size() ? std::min(kWidth, most / inner) : 1;
    step = std::min(std::max(wanted / inner, least), shape_[kept[divided]]);
  }
  for (std::uint64_t result = 0; result < results;) {
    // The indices of the result along the axes up to the divided one.
    std::uint64_t behind = results, left = result, of_box = 1;
    for (std::size_t k = 0; k < kept.size(); ++k) {
      const std::uint64_t extent = shape_[kept[k]];
      behind /= extent;
      if (k > divided) {
        of_box *= extent;
        continue;
      }
      const std::uint64_t index = left / behind;
      left %= behind;
      box.first[kept[k]] = index;
      if (k == divided) {
        box.count[kept[k]] = std::min(step, extent - index);
        of_box *= box.count[kept[k]];
      }
    }
    body(box, result);
    result += of_box;
  }
}

std::unique_ptr<Source> source_of(FormulaValues& values, const Box& box) { return std::make_unique<BoxSource>(values, box); }

}  // namespace groups

Values axis_reduction(const Formula& map, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters,
                      AxisReduction reduction, const Axes& axes, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  groups::check_ddof(reduction, axes.ddof());
  groups::FormulaValues values(map, inputs, parameters, options);
  values.require_one();
  const DType from = values.types()[0];
  const groups::AxisProblem problem(Array(nullptr, Shape(values.shape()), from), axes);
  if (problem.each == 0 || problem.results == 0) return axis_reduction(problem.data, reduction, axes, options);
  const std::vector<bool> reduced = groups::reduced_axes(problem.data, axes);
  const DType type = groups::result_type(reduction, from);
  Values results(type, problem.shape);
  core::Reports reports(options.report);
  Options of_part = options;
  of_part.progress = {};
  of_part.report = nullptr;
  if (!values.device()) of_part.device = Device::open("cpu");
  const auto place = [&](std::uint64_t result) { return static_cast<std::byte*>(results.data()) + result * size_of(type); };
  const auto by_itself = [&](const groups::Box& box, std::uint64_t result) {
    try {
      groups::reduce_source(*groups::source_of(values, box), reduction, axes.ddof(), of_part, type, place(result));
    } catch (const groups::FormulaFailed&) {
      throw;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::no_answer) throw;
      throw Error(error.kind(), fmt::format("{} at {}: {}", name_of(reduction), groups::position_of(result, problem.shape), error.what()));
    }
  };
  values.for_boxes(reduced, [&](const groups::Box& box, std::uint64_t result) {
    if (values.is_long(box)) return by_itself(box, result);
    const Array part = values.evaluate(box, 0, box.size())[0].reshaped(Shape(box.count));
    const groups::AxisProblem of_box(part, axes);
    of_part.report = reports.next();
    try {
      axis_reduction(part, reduction, axes, Array(place(result), Shape(of_box.shape), type), of_part);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::no_answer) throw;
      // The first result of these without an answer, and its position among all.
      of_part.report = nullptr;
      groups::Box one = box;
      for (std::uint64_t number = 0; number < of_box.results; ++number) {
        std::uint64_t left = number;
        for (std::size_t axis = box.count.size(); axis-- > 0;) {
          if (reduced[axis]) continue;
          one.first[axis] = box.first[axis] + left % box.count[axis];
          one.count[axis] = 1;
          left /= box.count[axis];
        }
        by_itself(one, result + number);
      }
      throw;
    }
    reports.add();
    of_part.report = nullptr;
  });
  return results;
}

}  // namespace samesum
