// Quantiles along axes: of the list of elements of each result.
#include "core/float_environment.hpp"
#include "core/visit.hpp"
#include "device/memory/run.hpp"
#include "groups/axes.hpp"
#include "quantile/lists.hpp"
#include "quantile/lists_device.hpp"
#include "quantile/select.hpp"

#include <samesum/error.hpp>
#include <samesum/quantile.hpp>

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace samesum {
namespace {

using namespace selection;
using groups::AxisProblem;

[[noreturn]] void fail(const AxisProblem& problem, std::uint64_t result, std::string_view why) {
  throw Error(ErrorKind::no_answer, fmt::format("quantile at {}: {}", groups::position_of(result, problem.shape), why));
}

class AxisLists {
 public:
  explicit AxisLists(const AxisProblem& problem) : problem_(problem) {}
  std::uint64_t count() const { return problem_.results; }
  std::uint64_t size(std::uint64_t) const { return problem_.each; }
  std::uint64_t elements() const { return problem_.results * problem_.each; }
  void none(std::uint64_t list, std::uint64_t, DType) const { fail(problem_, list, "there are no elements: all are NaN, and left out"); }

  template <class Element, class Key>
  void gather(std::uint64_t first, std::size_t count, Spacing spacing, Key* keys, std::uint64_t* nans) const {
    const auto element = static_cast<std::int64_t>(sizeof(Element));
    std::array<std::int64_t, kRowBytes> offsets;
    bool adjacent = true;
    for (std::size_t i = 0; i < count; ++i) {
      offsets[i] = problem_.offset_of(first + i);
      adjacent = adjacent && offsets[i] == offsets[0] + static_cast<std::int64_t>(i) * element;
      nans[i] = 0;
    }
    const core::Axis last = problem_.reduced.empty() ? core::Axis{1, 0} : problem_.reduced.back();
    for (std::uint64_t run = 0; run < problem_.each / last.extent; ++run) {
      std::int64_t offset = problem_.first;
      std::uint64_t rest = run;
      for (std::size_t i = problem_.reduced.size(); i-- > 1; rest /= problem_.reduced[i - 1].extent) {
        offset += static_cast<std::int64_t>(rest % problem_.reduced[i - 1].extent) * problem_.reduced[i - 1].stride;
      }
      const auto* const from = static_cast<const std::byte*>(problem_.data.data()) + offset;
      Key* const to = keys + run * last.extent * spacing.next;
      if (adjacent && last.stride != element) {
        for (std::uint64_t j = 0; j < last.extent; ++j) {
          const std::byte* const row = from + offsets[0] + static_cast<std::int64_t>(j) * last.stride;
          for (std::size_t i = 0; i < count; ++i) {
            nans[i] += put_key<Element>(row + i * sizeof(Element), to[j * spacing.next + i * spacing.list]);
          }
        }
        continue;
      }
      for (std::size_t i = 0; i < count; ++i) {
        if (last.stride == element && spacing.next == 1) {
          nans[i] += put_keys<Element>(from + offsets[i], last.extent, to + i * spacing.list);
          continue;
        }
        std::uint64_t nans_here = 0;
        for (std::uint64_t j = 0; j < last.extent; ++j) {
          const std::byte* const at = from + offsets[i] + static_cast<std::int64_t>(j) * last.stride;
          nans_here += put_key<Element>(at, to[j * spacing.next + i * spacing.list]);
        }
        nans[i] += nans_here;
      }
    }
  }

 private:
  const AxisProblem& problem_;
};

// Lists each of which is worth all threads.
void find_one_by_one(const AxisProblem& problem, std::span<const double> q, const QuantileRule& rule, const Options& options,
                     std::byte* to) {
  const std::size_t bytes = size_of(result_type(problem.data.type(), rule));
  Options of_one = options;
  of_one.report = nullptr;
  of_one.progress = {};
  of_one.device.reset();
  for (std::uint64_t list = 0; list < problem.results; ++list) {
    try {
      store_alone(problem.elements(list), q, rule, of_one, problem.results, to + list * bytes);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::no_answer) throw;
      fail(problem, list, "there are no elements: all are NaN, and left out");
    }
  }
}

// `shape`: of the results, before the axes that are kept.
Values quantiles_along(const Array& data, std::span<const double> q, std::vector<std::uint64_t> shape, const Axes& axes,
                       const QuantileRule& rule, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  groups::refuse_ddof("a quantile", axes.ddof());
  const std::vector<Fraction> fractions = fractions_of(q);
  const AxisProblem on_device(data, axes);
  if (on_device.results != 0 && !q.empty() && selects_on_device(on_device, options)) {
    shape.insert(shape.end(), on_device.shape.begin(), on_device.shape.end());
    Values results(result_type(data.type(), rule), std::move(shape));
    const FoundKeys keys = keys_on_device(on_device, fractions, rule.method, options.nan);
    const AxisLists lists(on_device);
    const Wish wish{fractions, rule, options.nan, options.tuning.threads, data.type(), static_cast<std::byte*>(results.data())};
    core::visit(data.type(), [&](auto element) { OfLists<decltype(element), AxisLists>(lists, wish).take(keys); });
    return results;
  }
  std::optional<Values> copy;
  if (data.on_device() && data.buffer().device().info().has(Capability::kernels)) copy.emplace(groups::copied_to_host(data));
  const Array there = copy ? copy->array() : data.on_device() ? device::on_host(data) : data;
  const AxisProblem problem(there, axes);
  shape.insert(shape.end(), problem.shape.begin(), problem.shape.end());
  Values results(result_type(data.type(), rule), std::move(shape));
  if (results.size() == 0) return results;
  if (problem.each == 0) fail(problem, 0, "there are no elements");
  auto* const to = static_cast<std::byte*>(results.data());
  constexpr std::uint64_t kFew = 16, kLong = std::uint64_t{1} << 16;
  if (problem.each > kMaxGathered || (problem.results < kFew && problem.each > kLong)) {
    find_one_by_one(problem, q, rule, options, to);
    return results;
  }
  const AxisLists lists(problem);
  const Wish wish{fractions, rule, options.nan, options.tuning.threads, data.type(), to};
  core::visit(data.type(), [&](auto element) { OfLists<decltype(element), AxisLists>(lists, wish).find(); });
  return results;
}

}  // namespace

Values quantiles(const Array& data, std::span<const double> q, const Axes& axes, const QuantileRule& rule, const Options& options) {
  return quantiles_along(data, q, {q.size()}, axes, rule, options);
}

Values quantile(const Array& data, double q, const Axes& axes, const QuantileRule& rule, const Options& options) {
  return quantiles_along(data, std::span<const double>(&q, 1), {}, axes, rule, options);
}

Values median(const Array& data, const Axes& axes, const Options& options) { return quantile(data, 0.5, axes, {}, options); }

}  // namespace samesum
