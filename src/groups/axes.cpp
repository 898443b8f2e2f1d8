// Reductions along axes: the public functions.
#include "groups/axes.hpp"

#include "core/array/pack.hpp"
#include "core/float_environment.hpp"
#include "core/half.hpp"
#include "core/threads/chunks.hpp"
#include "core/visit.hpp"
#include "device/memory/buffer.hpp"
#include "device/memory/run.hpp"
#include "device/memory/upload.hpp"
#include "groups/device/device_results.hpp"

#include <samesum/error.hpp>
#include <samesum/reduce.hpp>
#include <samesum/sum.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace samesum {
namespace groups {

std::vector<bool> reduced_axes(const Array& data, const Axes& axes) {
  std::vector<bool> reduced(data.rank(), false);
  const auto rank = static_cast<std::int64_t>(data.rank());
  for (const std::int64_t axis : axes.numbers()) {
    if (axis < -rank || axis >= rank) {
      throw Error(ErrorKind::usage, rank == 0 ? fmt::format("there is no axis {}: the array is one number", axis)
                                              : fmt::format("there is no axis {}: the array has {}, numbered from 0 (or from -{} to -1)",
                                                            axis, rank == 1 ? "one axis" : fmt::format("{} axes", rank), rank));
    }
    const auto number = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    if (reduced[number]) throw Error(ErrorKind::usage, fmt::format("axis {} is named twice", axis));
    reduced[number] = true;
  }
  return reduced;
}

void store(const Value& value, DType type, std::byte* to) {
  core::visit(type, [&](auto element) {
    using Element = decltype(element);
    if constexpr (requires { element.bits; }) {
      constexpr bool kHalf = std::is_same_v<Element, core::Float16>;
      const double number = value.as_double();
      element = Element::truncate(static_cast<float>(number));  // which is exact: it is an element
      if (kHalf && std::isinf(number)) element.bits = number < 0 ? 0xfc00 : 0x7c00;
      if (std::isnan(number)) element.bits = kHalf ? 0x7e00 : 0x7fc0;
    } else {
      std::visit([&](const auto number) { element = static_cast<Element>(number); }, value.number);
    }
    std::memcpy(to, &element, sizeof element);
  });
}

namespace {

// The reduction of one result's elements, by the functions for whole arrays.
void reduce_one(const Array& elements, AxisReduction reduction, std::uint64_t ddof, const Options& options, DType type, std::byte* to) {
  const auto put = [&](auto value) { std::memcpy(to, &value, sizeof value); };
  switch (reduction) {
    case AxisReduction::sum: {
      const Accumulator sum = accumulate(elements, options);
      if (type == DType::float64) return put(sum.round(options.nan));
      return type == DType::int64 ? put(sum.to_int64()) : put(sum.to_uint64());
    }
    case AxisReduction::mean:
      return put(mean(elements, options));
    case AxisReduction::variance:
      return put(variance(elements, ddof, options));
    case AxisReduction::standard_deviation:
      return put(standard_deviation(elements, ddof, options));
    case AxisReduction::norm:
      return put(norm(elements, options));
    case AxisReduction::squared_norm:
      return put(squared_norm(elements, options));
    case AxisReduction::min:
      return store(min(elements, options).value, type, to);
    case AxisReduction::max:
      return store(max(elements, options).value, type, to);
    case AxisReduction::argmin:
      return put(min(elements, options).index);
    case AxisReduction::argmax:
      return put(max(elements, options).index);
    case AxisReduction::count_nonzero:
      return put(count_nonzero(elements, options));
    case AxisReduction::product:
      return store(product(elements, options), type, to);
  }
}

}  // namespace

std::string position_of(std::uint64_t index, const std::vector<std::uint64_t>& shape) {
  std::vector<std::uint64_t> numbers(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    numbers[i] = index % shape[i];
    index /= shape[i];
  }
  return fmt::format("({})", fmt::join(numbers, ", "));
}

void for_each_result(std::uint64_t count, const std::uint64_t* which, std::uint32_t threads, std::uint64_t chunk, std::string_view name,
                     const std::vector<std::uint64_t>& shape, core::FunctionRef<void(std::uint64_t, std::uint64_t)> one) {
  std::mutex mutex;
  std::uint64_t failed = count;
  std::exception_ptr error;
  core::for_chunks(count, threads, chunk, [&](std::uint32_t, std::uint64_t first, std::uint64_t size) {
    for (std::uint64_t i = first; i < first + size; ++i) {
      const std::uint64_t index = which != nullptr ? which[i] : i;
      try {
        one(i, index);
      } catch (const Error& of_one) {
        const std::lock_guard lock(mutex);
        if (i >= failed) return;
        failed = i;
        error = std::make_exception_ptr(Error(of_one.kind(), fmt::format("{} at {}: {}", name, position_of(index, shape), of_one.what())));
        return;
      }
    }
  });
  if (error) std::rethrow_exception(error);
}

void place_results(const std::vector<std::uint64_t>& which, const std::byte* from, std::size_t bytes, std::byte* to) {
  for (std::size_t i = 0; i < which.size(); ++i) std::memcpy(to + which[i] * bytes, from + i * bytes, bytes);
}

namespace {

// Results one by one: all, or some, which then lie one after the other in `to`. On the CPU many at once, where there are more of them than
// threads.
void reduce_each(const AxisProblem& problem, AxisReduction reduction, const Options& options, const std::vector<std::uint64_t>* which,
                 DType type, std::byte* to) {
  const std::uint64_t count = which != nullptr ? which->size() : problem.results;
  const std::uint64_t each_bytes = problem.each * size_of(problem.data.type());
  const bool on_host = !problem.data.on_device() && (!options.device || !options.device->info().has(Capability::kernels));
  const std::uint32_t threads = on_host && count > 1 && each_bytes < core::kMaxChunkBytes
                                    ? core::thread_count(count * std::max<std::uint64_t>(each_bytes, 4096), options.tuning.threads)
                                    : 1;
  Options of_one = options;
  of_one.report = nullptr;
  of_one.progress = {};
  if (on_host) of_one.device = Device::open("cpu");
  if (threads > 1) of_one.tuning.threads = 1;
  const std::uint64_t chunk = std::max<std::uint64_t>(1, std::min<std::uint64_t>(count / threads / 8, (1 << 16) / (each_bytes + 1) + 1));
  for_each_result(count, which != nullptr ? which->data() : nullptr, threads, chunk, name_of(reduction), problem.shape,
                  [&](std::uint64_t i, std::uint64_t index) {
                    reduce_one(problem.elements(index), reduction, problem.ddof, of_one, type, to + i * size_of(type));
                  });
}

// Whether a result says where an element stands.
bool has_positions(AxisReduction reduction) { return reduction == AxisReduction::argmin || reduction == AxisReduction::argmax; }

// Of an array in host memory.
void reduce_host(const AxisProblem& problem, AxisReduction reduction, const Options& options, DType type, std::byte* to) {
  // Long rows: the loops for whole arrays read each in several places, and those of megabytes by all threads.
  constexpr std::uint64_t kLongRow = std::uint64_t{1} << 17;  // bytes
  const bool long_rows = problem.each * size_of(problem.data.type()) >= kLongRow && problem.reduced.size() == 1 &&
                         problem.reduced[0].stride == static_cast<std::int64_t>(size_of(problem.data.type()));
  if (!reduces_on_cpu(reduction, problem.data.type(), problem.each) || problem.each <= problem.ddof || problem.kept.empty() || long_rows) {
    return reduce_each(problem, reduction, options, nullptr, type, to);
  }
  const std::vector<std::uint64_t> pending = reduce_cpu(problem, reduction, options.nan, options.tuning.threads, to);
  if (pending.empty()) return;
  std::vector<std::byte> found(pending.size() * size_of(type));
  reduce_each(problem, reduction, options, &pending, type, found.data());
  place_results(pending, found.data(), size_of(type), to);
}

}  // namespace

void require_like(const Array& to, const std::vector<std::uint64_t>& shape, DType type) {
  if (to.type() == type && std::ranges::equal(to.shape(), shape)) return;
  throw Error(ErrorKind::usage, fmt::format("the result is {} of shape ({}), the array for it is {} of shape ({})", name_of(type),
                                            fmt::join(shape, ", "), name_of(to.type()), fmt::join(to.shape(), ", ")));
}

void require_same_device(const Array& to, const Array& data) {
  if (!to.on_device() || (data.on_device() && &to.buffer().device().implementation() == &data.buffer().device().implementation())) return;
  throw Error(ErrorKind::usage, fmt::format("the array for the result lies on {}, the data do not", to.buffer().device().info().selector));
}

void copy_to(const Array& to, const std::byte* from) {
  const std::size_t element = size_of(to.type());
  if (to.contiguous()) {
    if (to.size() == 0) return;
    if (to.on_device()) return to.buffer().write(from, to.bytes(), to.offset());
    std::memcpy(const_cast<void*>(to.data()), from, to.bytes());
    return;
  }
  std::vector<std::uint64_t> index(to.rank(), 0);
  for (std::uint64_t i = 0; i < to.size(); ++i) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) at += static_cast<std::int64_t>(index[axis]) * to.strides()[axis];
    if (to.on_device()) {
      to.buffer().write(from + i * element, element, to.offset() + static_cast<std::uint64_t>(at));
    } else {
      std::memcpy(static_cast<std::byte*>(const_cast<void*>(to.data())) + at, from + i * element, element);
    }
    for (std::size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < to.shape()[axis]) break;
      index[axis] = 0;
    }
  }
}

DType result_type(AxisReduction reduction, DType type) {
  switch (reduction) {
    case AxisReduction::sum:
      return !is_integer(type) ? DType::float64 : is_signed(type) ? DType::int64 : DType::uint64;
    case AxisReduction::product:
      return is_integer(type) ? (is_signed(type) ? DType::int64 : DType::uint64) : type == DType::float64 ? type : DType::float32;
    case AxisReduction::min:
    case AxisReduction::max:
      return type;
    case AxisReduction::argmin:
    case AxisReduction::argmax:
    case AxisReduction::count_nonzero:
      return DType::uint64;
    default:
      return DType::float64;
  }
}

Values copied_to_host(const Array& data) {
  Values copy(data.type(), {data.shape().begin(), data.shape().end()});
  auto* to = static_cast<std::byte*>(copy.data());
  device::for_host_blocks(data, core::Order::index, [&](View block) {
    core::pack(block, to);
    to += block.bytes();
  });
  return copy;
}

AxisProblem::AxisProblem(const Array& array, const Axes& axes, bool ordered) : data(array), ddof(axes.ddof()) {
  const std::vector<bool> is_reduced = reduced_axes(array, axes);
  std::vector<std::uint64_t> kept_shape;
  std::vector<std::int64_t> kept_strides;
  for (std::size_t axis = 0; axis < array.rank(); ++axis) {
    const std::uint64_t extent = array.shape()[axis];
    if (is_reduced[axis]) {
      reduced_shape.push_back(extent);
      reduced_strides.push_back(array.strides()[axis]);
      each *= extent;
      if (axes.are_kept()) shape.push_back(1);
    } else {
      kept_shape.push_back(extent);
      kept_strides.push_back(array.strides()[axis]);
      results *= extent;
      shape.push_back(extent);
    }
  }
  const auto simplified = [&](const auto& extents, const auto& strides, core::Order order, std::int64_t& begin) {
    return core::simplified_axes(Array(nullptr, Shape(extents), array.type(), Strides(strides)), order, begin);
  };
  std::int64_t none = 0;
  kept = simplified(kept_shape, kept_strides, core::Order::index, none);
  reduced = simplified(reduced_shape, reduced_strides, ordered ? core::Order::index : core::Order::memory, first);
}

std::int64_t AxisProblem::offset_of(std::uint64_t index) const noexcept {
  std::int64_t offset = 0;
  for (std::size_t i = kept.size(); i-- > 0;) {
    offset += static_cast<std::int64_t>(index % kept[i].extent) * kept[i].stride;
    index /= kept[i].extent;
  }
  return offset;
}

Array AxisProblem::elements(std::uint64_t index) const {
  const std::int64_t offset = each == 0 ? 0 : offset_of(index);
  if (data.on_device()) {
    return {data.buffer(), Shape(reduced_shape), data.type(), data.offset() + static_cast<std::uint64_t>(offset), Strides(reduced_strides)};
  }
  return {static_cast<const std::byte*>(data.data()) + offset, Shape(reduced_shape), data.type(), Strides(reduced_strides)};
}

}  // namespace groups

Values::Values(DType type, std::vector<std::uint64_t> shape) : type_(type), shape_(std::move(shape)) {
  size_ = Array(nullptr, Shape(shape_), type).size();  // checks that it is a number of elements
  bytes_.resize(size_ * size_of(type));
}

Values& Values::operator=(Values&& other) noexcept {
  type_ = other.type_;
  shape_ = std::move(other.shape_);
  size_ = std::exchange(other.size_, 0);
  bytes_ = std::move(other.bytes_);
  other.shape_.assign({});
  other.bytes_.clear();
  return *this;
}

void Values::require(DType type) const {
  if (type == type_) return;
  throw Error(ErrorKind::usage, fmt::format("these values are {}, not {}", name_of(type_), name_of(type)));
}

std::string_view name_of(AxisReduction reduction) noexcept {
  constexpr std::array<std::string_view, 12> kNames = {"sum", "mean",   "variance", "standard deviation", "norm",   "squared norm", "min",
                                                       "max", "argmin", "argmax",   "count of nonzeros",  "product"};
  const auto number = static_cast<std::size_t>(reduction);
  return number < kNames.size() ? kNames[number] : "no reduction";
}

void groups::check_ddof(AxisReduction reduction, std::uint64_t ddof) {
  if (reduction > AxisReduction::product)
    throw Error(ErrorKind::usage, fmt::format("there is no reduction {}", static_cast<int>(reduction)));
  if (reduction == AxisReduction::variance || reduction == AxisReduction::standard_deviation) return;
  refuse_ddof(fmt::format("the {}", name_of(reduction)), ddof);
}

void groups::refuse_ddof(std::string_view what, std::uint64_t ddof) {
  if (ddof == 0) return;
  throw Error(ErrorKind::usage, fmt::format("ddof is for variances and standard deviations, and this is {}: leave it out", what));
}

Values axis_reduction(const Array& data, AxisReduction reduction, const Axes& axes, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  groups::check_ddof(reduction, axes.ddof());
  const groups::AxisProblem problem(data, axes);
  const DType type = groups::result_type(reduction, data.type());
  Values results(type, problem.shape);
  if (results.size() == 0) return results;
  axis_reduction(data, reduction, axes, results.array(), options);
  return results;
}

void axis_reduction(const Array& data, AxisReduction reduction, const Axes& axes, const Array& to, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  groups::check_ddof(reduction, axes.ddof());
  const groups::AxisProblem problem(data, axes, groups::has_positions(reduction));
  const DType type = groups::result_type(reduction, data.type());
  groups::require_like(to, problem.shape, type);
  groups::require_same_device(to, data);
  if (problem.results == 0) return;
  if (reduction == AxisReduction::product) return groups::multiply_along(data, axes, to, options);
  if (data.on_device() && data.buffer().device().info().has(Capability::kernels)) {
    const Device& device = data.buffer().device();
    device::require_on(data, device::device_for(data, data.bytes(), options));
    if (problem.each > problem.ddof && groups::reduces_on_device(reduction, data.type(), problem.each, device.info())) {
      groups::DeviceResults there(device, to);
      const std::vector<std::uint64_t> pending = groups::reduce_on_device(problem, reduction, options.nan, there.memory(), there.offset());
      // Of those that are left few are computed there; of many the elements come to the host.
      std::vector<std::byte> fixed(pending.size() * size_of(type));
      if (pending.size() > groups::kFewPending) {
        const Values copy = groups::copied_to_host(data);
        Options on_cpu = options;
        on_cpu.device.reset();
        groups::reduce_each(groups::AxisProblem(copy.array(), axes), reduction, on_cpu, &pending, type, fixed.data());
      } else if (!pending.empty()) {
        groups::reduce_each(problem, reduction, options, &pending, type, fixed.data());
      }
      return there.finish(pending, fixed.data());
    }
    const Values copy = groups::copied_to_host(data);
    Options on_cpu = options;
    on_cpu.device.reset();
    Values results(type, problem.shape);
    groups::reduce_host(groups::AxisProblem(copy.array(), axes, groups::has_positions(reduction)), reduction, on_cpu, type,
                        static_cast<std::byte*>(results.data()));
    return groups::copy_to(to, static_cast<const std::byte*>(results.data()));
  }
  if (options.device && options.device->info().has(Capability::kernels) && !data.on_device() &&
      groups::reduces_on_device(reduction, data.type(), problem.each, options.device->info())) {
    const Array uploaded = device::uploaded(data, *options.device);
    return axis_reduction(uploaded, reduction, axes, to, options);
  }
  const Array there = data.on_device() ? device::on_host(data) : data;
  const groups::AxisProblem host(there, axes, groups::has_positions(reduction));
  Options on_cpu = options;
  if (data.on_device()) on_cpu.device.reset();
  if (!to.on_device() && to.contiguous()) {
    return groups::reduce_host(host, reduction, on_cpu, type, static_cast<std::byte*>(const_cast<void*>(to.data())));
  }
  Values results(type, problem.shape);
  groups::reduce_host(host, reduction, on_cpu, type, static_cast<std::byte*>(results.data()));
  groups::copy_to(to, static_cast<const std::byte*>(results.data()));
}

}  // namespace samesum
