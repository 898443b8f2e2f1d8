// Products along axes. Those of floats are the operator a*b over the tree. Those of integers are multiplied in a word each; where one is
// more than that on the way, all digits are kept (product()), as a 0 behind it makes it fit again.
#include "core/threads/chunks.hpp"
#include "core/visit.hpp"
#include "device/memory/run.hpp"
#include "groups/axes.hpp"

#include <samesum/axes_formula.hpp>
#include <samesum/error.hpp>
#include <samesum/reduce.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <mutex>
#include <type_traits>
#include <vector>

namespace samesum::groups {
namespace {

constexpr std::uint64_t kTogether = 256;  // results

struct Along {
  std::vector<core::Axis> axes;
  std::int64_t offset(std::uint64_t index) const noexcept {
    std::int64_t offset = 0;
    for (std::size_t k = axes.size(); k-- > 0; index /= axes[k].extent) {
      offset += static_cast<std::int64_t>(index % axes[k].extent) * axes[k].stride;
    }
    return offset;
  }
};

// Products of `count` results from number `first` on; of those that left the type on the way, the numbers are added to `pending`.
template <class Element, class Wide>
void multiply(const AxisProblem& problem, const Along& reduced, std::uint64_t first, std::uint64_t count, Wide* to,
              std::vector<std::uint64_t>& pending) {
  const auto* const data = static_cast<const std::byte*>(problem.data.data()) + problem.first;
  std::array<std::int64_t, kTogether> offsets{};
  std::array<bool, kTogether> beyond{};
  for (std::uint64_t i = 0; i < count; ++i) offsets[i] = problem.offset_of(first + i);
  const auto step = [&](std::uint64_t i, std::int64_t along) {
    Element element;
    std::memcpy(&element, data + offsets[i] + along, sizeof element);
    beyond[i] |= __builtin_mul_overflow(to[i], static_cast<Wide>(element), &to[i]);
  };
  std::fill_n(to, count, Wide{1});
  const bool rows = count > 1 && !reduced.axes.empty() && reduced.axes.back().stride < std::abs(offsets[1] - offsets[0]);
  const std::uint64_t inner = reduced.axes.empty() ? 1 : reduced.axes.back().extent;
  const std::int64_t stride = reduced.axes.empty() ? 0 : reduced.axes.back().stride;
  for (std::uint64_t outer = 0; outer < problem.each; outer += inner) {
    const std::int64_t begin = reduced.offset(outer);
    if (rows || count == 1) {
      for (std::uint64_t i = 0; i < count; ++i) {
        for (std::uint64_t k = 0; k < inner; ++k) step(i, begin + static_cast<std::int64_t>(k) * stride);
      }
    } else {
      for (std::uint64_t k = 0; k < inner; ++k) {
        for (std::uint64_t i = 0; i < count; ++i) step(i, begin + static_cast<std::int64_t>(k) * stride);
      }
    }
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    if (beyond[i]) pending.push_back(first + i);
  }
}

void multiply_integers(const AxisProblem& problem, const Options& options, std::byte* to) {
  const std::uint32_t threads = core::thread_count(problem.data.bytes(), options.tuning.threads);
  const std::uint64_t together = std::clamp<std::uint64_t>(problem.results / threads, 1, kTogether);
  std::vector<std::vector<std::uint64_t>> pending(threads);
  const Along reduced{problem.reduced};
  core::visit(problem.data.type(), [&](auto element) {
    using Element = decltype(element);
    if constexpr (std::is_integral_v<Element>) {
      using Wide = std::conditional_t<std::is_signed_v<Element>, std::int64_t, std::uint64_t>;
      core::for_chunks(problem.results, threads, together, [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) {
        multiply<Element>(problem, reduced, first, count, reinterpret_cast<Wide*>(to) + first, pending[task]);
      });
    }
  });
  std::vector<std::uint64_t> left;
  for (const std::vector<std::uint64_t>& some : pending) left.insert(left.end(), some.begin(), some.end());
  std::ranges::sort(left);
  for (const std::uint64_t result : left) {
    try {
      store(product(problem.elements(result), options), result_type(AxisReduction::product, problem.data.type()), to + result * 8);
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("product at {}: {}", position_of(result, problem.shape), error.what()));
    }
  }
}

}  // namespace

void multiply_along(const Array& data, const Axes& axes, const Array& to, const Options& options) {
  if (!is_integer(data.type())) {
    Operator op(Formula("a*b"), {Value{1.0, DType::float64}});
    const bool skip = options.nan == NanPolicy::skip;
    const std::vector<Values> results =
        skip ? reduce(Formula("isnan(x) ? 1 : x"), {{"x", data}}, {}, op, axes, options) : reduce(data, op, axes, options);
    return copy_to(to, static_cast<const std::byte*>(results[0].data()));
  }
  Values results(to.type(), {to.shape().begin(), to.shape().end()});
  Options here = options;
  here.device = Device::open("cpu");
  here.report = nullptr;
  here.progress = {};
  const auto multiply_here = [&](const Array& array) {
    multiply_integers(AxisProblem(array, axes), here, static_cast<std::byte*>(results.data()));
  };
  if (data.on_device() && data.buffer().device().info().has(Capability::kernels)) {
    multiply_here(copied_to_host(data).array());
  } else {
    multiply_here(data.on_device() ? device::on_host(data) : data);
  }
  copy_to(to, static_cast<const std::byte*>(results.data()));
}

}  // namespace samesum::groups
