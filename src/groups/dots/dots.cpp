// Dot products along axes, and of matrices: the public functions.
#include "groups/dots/dots.hpp"

#include "core/float_environment.hpp"
#include "core/threads/chunks.hpp"
#include "device/memory/buffer.hpp"
#include "device/memory/run.hpp"
#include "device/memory/upload.hpp"
#include "groups/axes.hpp"
#include "groups/device/device_results.hpp"
#include "groups/dots/device/dots_device.hpp"

#include <samesum/axes_dot.hpp>
#include <samesum/error.hpp>
#include <samesum/reduce.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

namespace samesum {
namespace {

// Some results by dot(), in integers, one after the other in `to`. On the CPU many at once, where there are more of them than threads.
void each_dot(const groups::DotProblem& problem, const std::vector<std::uint64_t>& which, const Options& options, std::byte* to) {
  const std::uint64_t each_bytes = 2 * problem.summed.size() * size_of(problem.a.type());
  const std::uint32_t threads = !problem.a.on_device() && which.size() > 1 && each_bytes < core::kMaxChunkBytes
                                    ? core::thread_count(which.size() * std::max<std::uint64_t>(each_bytes, 4096), options.tuning.threads)
                                    : 1;
  Options of_one = options;
  of_one.report = nullptr;
  of_one.progress = {};
  if (!problem.a.on_device()) of_one.device = Device::open("cpu");
  if (threads > 1) of_one.tuning.threads = 1;
  const std::uint64_t chunk =
      std::max<std::uint64_t>(1, std::min<std::uint64_t>(which.size() / threads / 8, (1 << 16) / (each_bytes + 1) + 1));
  groups::for_each_result(which.size(), which.data(), threads, chunk, "dot product", problem.shape,
                          [&](std::uint64_t i, std::uint64_t result) {
                            const auto put = [&](auto value) { std::memcpy(to + 8 * i, &value, sizeof value); };
                            const ProductAccumulator sum = dot(problem.left(result), problem.right(result), of_one);
                            if (problem.type() == DType::float64) return put(sum.round(options.nan));
                            return problem.type() == DType::int64 ? put(sum.to_int64()) : put(sum.to_uint64());
                          });
}

std::vector<std::uint64_t> all_of(const groups::DotProblem& problem) {
  std::vector<std::uint64_t> all(problem.results);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  return all;
}

// Of arrays in host memory.
void dots_on_host(const groups::DotProblem& problem, const Options& options, std::byte* to) {
  std::vector<std::uint64_t> pending;
  if (groups::has_dots_on_cpu(problem)) {
    pending = groups::dots_on_cpu(problem, options.tuning.threads, to);
  } else {
    pending = all_of(problem);
  }
  if (pending.empty()) return;
  std::vector<std::byte> found(8 * pending.size());
  each_dot(problem, pending, options, found.data());
  groups::place_results(pending, found.data(), 8, to);
}

Array here(const Array& array, Values& copy) {
  copy = groups::copied_to_host(array);
  return copy.array();
}

// Of arrays on a device, some results by dot(): few there, many of copies on the host.
void other_dots(const groups::DotProblem& problem, const Array& a, const Array& b, const Axes& axes,
                const std::vector<std::uint64_t>& which, const Options& options, std::byte* to) {
  if (which.empty()) return;
  if (which.size() <= groups::kFewPending) return each_dot(problem, which, options, to);
  Values copy_of_a(a.type(), {0}), copy_of_b = copy_of_a;
  Options on_cpu = options;
  on_cpu.device.reset();
  each_dot(groups::DotProblem(here(a, copy_of_a), here(b, copy_of_b), axes), which, on_cpu, to);
}

// To an array of the shape and type of the results, of which there are some.
void dots_to(const Array& a, const Array& b, const Axes& axes, const Array& to, const Options& options) {
  const groups::DotProblem problem(a, b, axes);
  std::vector<std::byte> results;
  if (problem.summed.size() != 0 && a.on_device() && a.buffer().device().info().has(Capability::kernels)) {
    const Device& device = a.buffer().device();
    device::require_on(a, device::device_for(a, a.bytes() + b.bytes(), options));
    if (groups::has_dots_on_device(problem)) {
      groups::DeviceResults there(device, to);
      const std::vector<std::uint64_t> pending = groups::dots_on_device(problem, there.memory(), there.offset());
      results.resize(8 * pending.size());
      other_dots(problem, a, b, axes, pending, options, results.data());
      return there.finish(pending, results.data());
    }
    results.resize(8 * problem.results);
    other_dots(problem, a, b, axes, all_of(problem), options, results.data());
    return groups::copy_to(to, results.data());
  }
  const bool runs_kernels = options.device && options.device->info().has(Capability::kernels);
  if (!a.on_device() && runs_kernels && problem.summed.size() != 0) {
    return dots_to(device::uploaded(a, *options.device), device::uploaded(b, *options.device), axes, to, options);
  }
  const bool in_place = !to.on_device() && to.contiguous();
  if (!in_place) results.resize(8 * problem.results);
  std::byte* const place = in_place ? static_cast<std::byte*>(const_cast<void*>(to.data())) : results.data();
  if (problem.summed.size() == 0) {
    std::memset(place, 0, 8 * problem.results);
  } else if (a.on_device()) {
    dots_on_host(groups::DotProblem(device::on_host(a), device::on_host(b), axes), options, place);
  } else {
    dots_on_host(problem, options, place);
  }
  if (!in_place) groups::copy_to(to, place);
}

// The same elements by other axes.
Array view_of(const Array& array, const std::vector<std::uint64_t>& shape, const std::vector<std::int64_t>& strides) {
  if (array.on_device()) return {array.buffer(), Shape(shape), array.type(), array.offset(), Strides(strides)};
  return {array.data(), Shape(shape), array.type(), Strides(strides)};
}

// A product of matrices as dot products along the last axis of both.
struct MatrixProduct {
  Array a, b;
  std::vector<std::uint64_t> shape;  // of the results, without the axes of vectors

  MatrixProduct(const Array& left, const Array& right) : a(left), b(right) {
    for (const Array* array : {&left, &right}) {
      if (array->rank() == 0)
        throw Error(ErrorKind::usage, "a product of matrices is of arrays of one axis or more, and this is one number");
    }
    const bool row = left.rank() == 1, column = right.rank() == 1;
    const auto with = [](const Array& array) {
      return std::pair(std::vector<std::uint64_t>(array.shape().begin(), array.shape().end()),
                       std::vector<std::int64_t>(array.strides().begin(), array.strides().end()));
    };
    auto [a_shape, a_strides] = with(left);  // (…, n, k), then (…, n, 1, k)
    if (row) a_shape.insert(a_shape.begin(), 1), a_strides.insert(a_strides.begin(), 0);
    auto [b_shape, b_strides] = with(right);  // (…, k, m), then (…, 1, m, k)
    if (column) b_shape.push_back(1), b_strides.push_back(0);
    const std::size_t a_rank = a_shape.size(), b_rank = b_shape.size();
    if (a_shape.back() != b_shape[b_rank - 2]) {
      throw Error(ErrorKind::usage, fmt::format("the matrices do not fit: the rows of a have {} elements, the columns of b {}",
                                                a_shape.back(), b_shape[b_rank - 2]));
    }
    const std::uint64_t rows = a_shape[a_rank - 2], columns = b_shape[b_rank - 1];
    a_shape.insert(a_shape.end() - 1, 1);
    a_strides.insert(a_strides.end() - 1, 0);
    std::swap(b_shape[b_rank - 2], b_shape[b_rank - 1]);
    std::swap(b_strides[b_rank - 2], b_strides[b_rank - 1]);
    b_shape.insert(b_shape.end() - 2, 1);
    b_strides.insert(b_strides.end() - 2, 0);
    a = view_of(left, a_shape, a_strides);
    b = view_of(right, b_shape, b_strides);
    const std::vector<std::uint64_t> before_a(a_shape.begin(), a_shape.end() - 3), before_b(b_shape.begin(), b_shape.end() - 3);
    const std::size_t stacked = std::max(before_a.size(), before_b.size());
    for (std::size_t i = 0; i < stacked; ++i) {
      const auto at = [&](const std::vector<std::uint64_t>& before) {
        const std::size_t missing = stacked - before.size();
        return i < missing ? 1 : before[i - missing];
      };
      if (at(before_a) != at(before_b) && at(before_a) != 1 && at(before_b) != 1) {
        throw Error(ErrorKind::usage, fmt::format("the axes before those of the matrices do not fit: ({}) of a, ({}) of b",
                                                  fmt::join(before_a, ", "), fmt::join(before_b, ", ")));
      }
      shape.push_back(at(before_a) == 1 ? at(before_b) : at(before_a));
    }
    if (!row) shape.push_back(rows);
    if (!column) shape.push_back(columns);
  }
};

}  // namespace

Values dot(const Array& a, const Array& b, const Axes& axes, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const groups::DotProblem problem(a, b, axes);
  Values results(problem.type(), problem.shape);
  if (results.size() != 0) dots_to(a, b, axes, results.array(), options);
  return results;
}

void dot(const Array& a, const Array& b, const Axes& axes, const Array& to, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const groups::DotProblem problem(a, b, axes);
  groups::require_like(to, problem.shape, problem.type());
  groups::require_same_device(to, a);
  if (problem.results != 0) dots_to(a, b, axes, to, options);
}

Values matmul(const Array& a, const Array& b, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const MatrixProduct product(a, b);
  Values results(groups::DotProblem(product.a, product.b, {-1}).type(), product.shape);
  if (results.size() != 0) dots_to(product.a, product.b, {-1}, results.array(), options);
  return results;
}

void matmul(const Array& a, const Array& b, const Array& to, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const MatrixProduct product(a, b);
  groups::require_like(to, product.shape, groups::DotProblem(product.a, product.b, {-1}).type());
  groups::require_same_device(to, a);
  if (to.size() != 0) dots_to(product.a, product.b, {-1}, to, options);
}

}  // namespace samesum
