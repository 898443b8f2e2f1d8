// Dot products along axes, and of matrices: the public functions.
#include "groups/dots/dots.hpp"

#include "core/float_environment.hpp"
#include "core/threads/chunks.hpp"
#include "groups/axes.hpp"

#include <samesum/axes_dot.hpp>
#include <samesum/error.hpp>
#include <samesum/reduce.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

namespace samesum {
namespace {

// Some results by dot(), in integers; on the CPU many at once, where there are more of them than threads.
void each_dot(const groups::DotProblem& problem, const std::vector<std::uint64_t>& which, const Options& options, std::byte* to) {
  const std::uint64_t each_bytes = 2 * problem.summed.size() * size_of(problem.a.type());
  const std::uint32_t threads = !problem.a.on_device() && which.size() > 1 && each_bytes < core::kMaxChunkBytes
                                    ? core::thread_count(which.size() * std::max<std::uint64_t>(each_bytes, 4096), options.tuning.threads)
                                    : 1;
  Options of_one = options;
  of_one.report = nullptr;
  of_one.progress = {};
  if (threads > 1) of_one.tuning.threads = 1;
  const std::uint64_t chunk =
      std::max<std::uint64_t>(1, std::min<std::uint64_t>(which.size() / threads / 8, (1 << 16) / (each_bytes + 1) + 1));
  groups::for_each_result(which.size(), which.data(), threads, chunk, "dot product", problem.shape, [&](std::uint64_t result) {
    const auto put = [&](auto value) { std::memcpy(to + 8 * result, &value, sizeof value); };
    const ProductAccumulator sum = dot(problem.left(result), problem.right(result), of_one);
    if (problem.type() == DType::float64) return put(sum.round(options.nan));
    return problem.type() == DType::int64 ? put(sum.to_int64()) : put(sum.to_uint64());
  });
}

// Into memory of the host.
void dots(const groups::DotProblem& problem, const Options& options, std::byte* to) {
  if (problem.summed.size() == 0) {
    std::memset(to, 0, 8 * problem.results);
    return;
  }
  std::vector<std::uint64_t> pending;
  if (!problem.a.on_device() && groups::has_dots_on_cpu(problem)) {
    pending = groups::dots_on_cpu(problem, options.tuning.threads, to);
  } else {
    pending.resize(problem.results);
    std::iota(pending.begin(), pending.end(), std::uint64_t{0});
  }
  if (!pending.empty()) each_dot(problem, pending, options, to);
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
    for (std::size_t i = 0; i < std::max(before_a.size(), before_b.size()); ++i) {  // the shapes are checked where they are broadcast
      const auto at = [&](const std::vector<std::uint64_t>& before) {
        const std::size_t missing = std::max(before_a.size(), before_b.size()) - before.size();
        return i < missing ? 1 : before[i - missing];
      };
      shape.push_back(at(before_a) == 1 ? at(before_b) : at(before_a));
    }
    if (!row) shape.push_back(rows);
    if (!column) shape.push_back(columns);
  }
};

void check_place_of(const Array& to, const Array& data) {
  if (to.on_device() && (!data.on_device() || &to.buffer().device().implementation() != &data.buffer().device().implementation())) {
    throw Error(ErrorKind::usage,
                fmt::format("the array for the result lies on {}, the data do not", to.buffer().device().info().selector));
  }
}

void dots_to(const groups::DotProblem& problem, const Array& to, const Options& options) {
  if (!to.on_device() && to.contiguous()) return dots(problem, options, static_cast<std::byte*>(const_cast<void*>(to.data())));
  Values results(problem.type(), {problem.results});
  dots(problem, options, static_cast<std::byte*>(results.data()));
  groups::copy_to(to, static_cast<const std::byte*>(results.data()));
}

}  // namespace

Values dot(const Array& a, const Array& b, const Axes& axes, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const groups::DotProblem problem(a, b, axes);
  Values results(problem.type(), problem.shape);
  if (results.size() != 0) dots(problem, options, static_cast<std::byte*>(results.data()));
  return results;
}

void dot(const Array& a, const Array& b, const Axes& axes, const Array& to, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const groups::DotProblem problem(a, b, axes);
  groups::require_like(to, problem.shape, problem.type());
  check_place_of(to, a);
  if (problem.results != 0) dots_to(problem, to, options);
}

Values matmul(const Array& a, const Array& b, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const MatrixProduct product(a, b);
  const groups::DotProblem problem(product.a, product.b, {-1});
  Values results(problem.type(), product.shape);
  if (results.size() != 0) dots(problem, options, static_cast<std::byte*>(results.data()));
  return results;
}

void matmul(const Array& a, const Array& b, const Array& to, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const MatrixProduct product(a, b);
  const groups::DotProblem problem(product.a, product.b, {-1});
  groups::require_like(to, product.shape, problem.type());
  check_place_of(to, a);
  if (problem.results != 0) dots_to(problem, to, options);
}

}  // namespace samesum
