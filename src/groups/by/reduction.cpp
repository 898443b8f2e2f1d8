// Reductions by key and by segment: those of sums by GroupSums, products and positions of elements in the order of their groups.
#include "core/float_environment.hpp"
#include "core/threads/chunks.hpp"
#include "core/visit.hpp"
#include "groups/axes.hpp"
#include "groups/by/device/lists_device.hpp"
#include "groups/by/device/tree_lists_device.hpp"
#include "groups/by/segments.hpp"
#include "groups/operator_results.hpp"
#include "reduce/cpu/extremes_cpu.hpp"

#include <samesum/by_formula.hpp>
#include <samesum/error.hpp>
#include <samesum/reduce.hpp>

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace samesum {
namespace groups {
namespace {

// Calls body(group) for each group, on all cores. Those for which it returns false are done again one by one, by `again`.
template <class Body, class Again>
void for_groups(const Segments& segments, std::uint32_t wanted_threads, const Body& body, const Again& again) {
  constexpr std::uint64_t kOfGroup = 64;  // bytes that are as much work as a group without elements
  const std::uint64_t bytes = segments.elements.bytes() + segments.count() * kOfGroup;
  const std::uint32_t threads = core::thread_count(bytes, wanted_threads);
  const std::uint64_t chunk = std::max<std::uint64_t>(1, segments.count() / (std::uint64_t{threads} * 64));
  std::atomic<bool> failed = false;
  core::for_chunks(segments.count(), threads, chunk, [&](std::uint32_t, std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t group = first; group < first + count; ++group) {
      if (!body(group)) failed.store(true, std::memory_order_relaxed);
    }
  });
  for (std::uint64_t group = 0; failed && group < segments.count(); ++group) again(group);
}

// Products of integers on a device, in a word each; none if one is more than that on the way.
std::optional<Values> multiply_there(const Array& data, const By& by) {
  if (!has_lists(data) || by.groups() == 0) return std::nullopt;
  const std::optional<DeviceLists> lists = lists_on_device(data, by);
  if (!lists) return std::nullopt;
  const Operator op(Formula("a*b"));
  const DType types[] = {data.type()};
  const formula::Bound bound(op, types);
  OperatorResults products(bound.types(), {by.groups()});
  if (products.values()[0].type() != result_type(AxisReduction::product, data.type())) return std::nullopt;
  if (!roots_on_device(bound, std::span(&data, 1), false, *lists, products.from(0))) return std::nullopt;
  for (std::uint64_t group = 0; group < by.groups(); ++group) {
    if (lists->size(group) == 0) products.put(group, {1}, bound.types());
  }
  return std::move(products.values()[0]);
}

// Products of integers, as along axes (axes_product.cpp): in a word each, and with all digits where one is more than that on the way.
Values multiply_integers(const Array& data, const By& by, const Options& options) {
  if (std::optional<Values> there = multiply_there(data, by)) return std::move(*there);
  const Segments segments = segments_of(data, by, options.tuning.threads);
  Values results(result_type(AxisReduction::product, data.type()), {by.groups()});
  core::visit(data.type(), [&](auto element) {
    using Element = decltype(element);
    if constexpr (std::is_integral_v<Element>) {
      using Wide = std::conditional_t<std::is_signed_v<Element>, std::int64_t, std::uint64_t>;
      auto* const to = static_cast<Wide*>(results.data());
      const auto* const from = static_cast<const std::byte*>(segments.elements.data());
      const auto multiply = [&](std::uint64_t group) {
        bool beyond = false;
        Wide product = 1;
        for (std::uint64_t i = segments.offsets[group]; i < segments.offsets[group + 1]; ++i) {
          Element factor;
          std::memcpy(&factor, from + i * sizeof factor, sizeof factor);
          beyond |= __builtin_mul_overflow(product, static_cast<Wide>(factor), &product);
        }
        to[group] = product;
        return !beyond;
      };
      Options of_one;
      of_one.device = Device::open("cpu");
      of_one.tuning.threads = options.tuning.threads;
      for_groups(segments, options.tuning.threads, multiply, [&](std::uint64_t group) {
        if (multiply(group)) return;
        try {
          store(product(segments.of(group), of_one), results.type(), reinterpret_cast<std::byte*>(to + group));
        } catch (const Error& error) {
          throw Error(error.kind(), fmt::format("product of group {}: {}", group, error.what()));
        }
      });
    }
  });
  return results;
}

Values multiply(const Array& data, const By& by, const Options& options) {
  if (is_integer(data.type())) return multiply_integers(data, by, options);
  const Operator op(Formula("a*b"), {Value{1.0, DType::float64}});
  if (options.nan == NanPolicy::propagate) return std::move(reduce(data, op, by, options)[0]);
  return std::move(reduce(Formula("isnan(x) ? 1 : x"), {{"x", data}}, {}, op, by, options)[0]);
}

[[noreturn]] void refuse_position(bool least, std::uint64_t group, std::uint64_t size) {
  throw Error(ErrorKind::no_answer,
              fmt::format("{} of group {}: it has no elements{}", least ? "argmin" : "argmax", group, size != 0 ? " but NaNs" : ""));
}

// The best element of each group on a device, by a reduction by the tree: of two elements the one with the greater key, of equal ones the
// first.
struct Best {
  DeviceLists lists;
  std::vector<Values> found;  // keys, and indices
  bool skips;                 // NaNs have no key
  std::span<const std::uint64_t> keys() const { return {static_cast<const std::uint64_t*>(found[0].data()), found[0].size()}; }
  std::span<const std::uint64_t> indices() const { return {static_cast<const std::uint64_t*>(found[1].data()), found[1].size()}; }
  bool has_none(std::uint64_t group) const { return lists.size(group) == 0 || (skips && keys()[group] == kNoKey); }
};
std::optional<Best> best_there(const Array& data, bool least, const By& by, NanPolicy nan) {
  if (!has_lists(data) || by.groups() == 0) return std::nullopt;
  std::optional<DeviceLists> lists = lists_on_device(data, by);
  if (!lists) return std::nullopt;
  const bool skip = !is_integer(data.type()) && nan == NanPolicy::skip;
  const Array keys = element_keys(data, least ? ElementOrder::descending : ElementOrder::ascending, skip);
  const Operator op(Formula("(a[0] >= b[0] ? a[0] : b[0], a[0] >= b[0] ? a[1] : b[1])"));
  const DType types[] = {keys.type(), DType::int64};
  const formula::Bound bound(op, types);
  OperatorResults found(bound.types(), {by.groups()});
  if (!roots_on_device(bound, std::span(&keys, 1), true, *lists, found.from(0))) return std::nullopt;
  return Best{std::move(*lists), std::move(found.values()), skip};
}

std::optional<Values> positions_there(const Array& data, bool least, const By& by, NanPolicy nan) {
  const std::optional<Best> best = best_there(data, least, by, nan);
  if (!best) return std::nullopt;
  Values results(DType::uint64, {by.groups()});
  auto* const to = static_cast<std::uint64_t*>(results.data());
  for (std::uint64_t group = 0; group < by.groups(); ++group) {
    if (best->has_none(group)) refuse_position(least, group, best->lists.size(group));
    to[group] = best->indices()[group];
  }
  return results;
}

DType type_of_extremes(const Array& data) {
  return !is_integer(data.type()) ? DType::float64 : is_signed(data.type()) ? DType::int64 : DType::uint64;
}

// The elements themselves, as float64, int64 or uint64: where groups are so many that their table, which comes to the host, takes longer.
std::optional<Values> extremes_there(const Array& data, bool least, const By& by, NanPolicy nan) {
  constexpr std::uint64_t kMany = std::uint64_t{1} << 16, kElements = 512;  // of which sorting takes as long as a group of a table
  if (by.groups() < std::max(kMany, data.size() / kElements)) return std::nullopt;
  const std::optional<Best> best = best_there(data, least, by, nan);
  if (!best) return std::nullopt;
  Values results(type_of_extremes(data), {by.groups()});
  const ElementOrder order = least ? ElementOrder::descending : ElementOrder::ascending;
  for (std::uint64_t group = 0; group < by.groups(); ++group) {
    const bool none = best->has_none(group);
    if (none && is_integer(data.type())) return std::nullopt;  // the other way says which
    core::visit(data.type(), [&](auto element) {
      using Element = decltype(element);
      const std::uint64_t key = best->keys()[group];
      if constexpr (std::is_integral_v<Element>) {
        const std::int64_t number = static_cast<std::int64_t>(element_with_key<Element>(key, order));
        std::memcpy(static_cast<std::int64_t*>(results.data()) + group, &number, sizeof number);
      } else {
        const auto number = static_cast<double>(
            static_cast<std::conditional_t<sizeof(Element) == 8, double, float>>(element_with_key<Element>(key, order)));
        static_cast<double*>(results.data())[group] = none || std::isnan(number) ? std::numeric_limits<double>::quiet_NaN() : number;
      }
    });
  }
  return results;
}

// The lowest index of the least or the greatest element of each group.
Values positions(const Array& data, bool least, const By& by, const Options& options) {
  if (std::optional<Values> there = positions_there(data, least, by, options.nan)) return std::move(*there);
  const std::uint32_t threads = options.tuning.threads;
  const Segments segments = segments_of(data, by, threads, true);
  const auto* const places = segments.places ? static_cast<const std::uint64_t*>(segments.places->data()) : nullptr;
  Values results(DType::uint64, {by.groups()});
  auto* const to = static_cast<std::uint64_t*>(results.data());
  const auto find = [&](std::uint64_t group) {
    const Array elements = segments.of(group);
    const std::uint64_t first = segments.offsets[group];
    statistics::Extremes extremes;
    statistics::add_extremes(static_cast<const std::byte*>(elements.data()), elements.size(), elements.type(), first, false, extremes);
    const bool is_nan = options.nan == NanPolicy::propagate && extremes.first_nan;
    const std::optional<std::uint64_t> found = is_nan ? extremes.first_nan : least ? extremes.min_index : extremes.max_index;
    if (found) to[group] = places != nullptr ? places[*found] : *found;
    return found.has_value();
  };
  for_groups(segments, threads, find, [&](std::uint64_t group) {
    if (!find(group)) refuse_position(least, group, segments.size(group));
  });
  return results;
}

}  // namespace
}  // namespace groups

namespace {

Values extremes(const Array& data, bool least, const By& by, const Options& options) {
  if (std::optional<Values> there = groups::extremes_there(data, least, by, options.nan)) return std::move(*there);
  const GroupSums sums = by.sums(data, {.extrema = true, .threads = options.tuning.threads});
  if (by.groups() != 0 && is_integer(data.type()) && !is_integer(sums.type())) {
    throw Error(ErrorKind::no_answer, "group 0: a group without elements has no extrema");
  }
  const DType type = groups::type_of_extremes(data);
  Values found = least ? sums.minima(options.nan) : sums.maxima(options.nan);
  return found.type() == type ? std::move(found) : Values(type, found.shape());  // of groups without any element
}

}  // namespace

Values min(const Array& data, const By& by, const Options& options) { return extremes(data, true, by, options); }
Values max(const Array& data, const By& by, const Options& options) { return extremes(data, false, by, options); }

Values group_reduction(const Array& data, AxisReduction reduction, const By& by, std::uint64_t ddof, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  groups::check_ddof(reduction, ddof);
  const bool skip = options.nan == NanPolicy::skip;
  switch (reduction) {
    case AxisReduction::sum:
      return sum(data, by, options);
    case AxisReduction::mean:
      return mean(data, by, options);
    case AxisReduction::variance:
      return variance(data, by, ddof, options);
    case AxisReduction::standard_deviation:
      return standard_deviation(data, by, ddof, options);
    case AxisReduction::norm:
      return norm(data, by, options);
    case AxisReduction::squared_norm:
      return by.sums(data, {.squares = true, .threads = options.tuning.threads}).squares(options.nan);
    case AxisReduction::min:
      return min(data, by, options);
    case AxisReduction::max:
      return max(data, by, options);
    case AxisReduction::argmin:
    case AxisReduction::argmax:
      return groups::positions(data, reduction == AxisReduction::argmin, by, options);
    case AxisReduction::count_nonzero:
      return group_reduction(Formula(skip ? "x != 0 && x == x" : "x != 0"), {{"x", data}}, {}, AxisReduction::sum, by, 0, options);
    case AxisReduction::product:
      return groups::multiply(data, by, options);
  }
  throw Error(ErrorKind::usage, "this is no reduction");
}

}  // namespace samesum
