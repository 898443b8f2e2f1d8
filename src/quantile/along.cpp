// Quantiles along axes, on the CPU. The keys of short lists are gathered into the lanes of vectors and sorted by a network, many lists at
// once; those of a longer list are selected by themselves. NaNs have the greatest key, behind all numbers.
#include <samesum/quantile.hpp>

#include "core/array/array_blocks.hpp"
#include "core/float_environment.hpp"
#include "core/threads/chunks.hpp"
#include "core/visit.hpp"
#include "device/memory/run.hpp"
#include "groups/axes.hpp"
#include "quantile/between.hpp"
#include "quantile/keys.hpp"
#include "quantile/network.hpp"
#include "quantile/ranks.hpp"
#include "quantile/select.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace samesum {
namespace {

using namespace selection;
using groups::AxisProblem;

constexpr std::uint64_t kMostInNetwork = 128;  // elements of a list

bool has_between(QuantileMethod method) { return method == QuantileMethod::linear || method == QuantileMethod::midpoint; }

DType result_type(DType type, const QuantileRule& rule) {
  return rule.to_float ? DType::float32 : has_between(rule.method) ? DType::float64 : type;
}

// The results of one call: each list of elements has `quantiles.size()` of them, which lie `problem.results` apart.
struct Along {
  Along(const AxisProblem& along, std::span<const Fraction> wanted, const QuantileRule& how, const Options& options, std::byte* results)
      : problem(along), quantiles(wanted), rule(how), nan(options.nan), threads(options.tuning.threads),
        type(result_type(along.data.type(), how)), whole(wanted, along.each, how), to(results) {}

  const AxisProblem& problem;
  std::span<const Fraction> quantiles;
  const QuantileRule& rule;
  NanPolicy nan;
  std::uint32_t threads;
  DType type;
  Ranking whole;  // of lists without NaNs
  std::byte* to;

  std::byte* place(std::uint64_t list, std::size_t quantile) const {
    return to + (quantile * problem.results + list) * size_of(type);
  }
  [[noreturn]] void fail(std::uint64_t list, std::string_view why) const {
    throw Error(ErrorKind::no_answer, fmt::format("quantile at {}: {}", groups::position_of(list, problem.shape), why));
  }
};

template <class Real>
void put(Real value, std::byte* to) {
  std::memcpy(to, &value, sizeof value);
}

template <class Element>
void store_between(const Along& along, const Between& between, Element low, Element high, std::byte* to) {
  double result;
  std::optional<double> quick;
  if constexpr (std::is_integral_v<Element> && sizeof(Element) == 8) {
    const double least = static_cast<double>(low), greatest = static_cast<double>(high);
    if (std::fabs(least) < 0x1p53 && std::fabs(greatest) < 0x1p53) quick = between.quickly(least, greatest);
  } else if constexpr (requires { low.bits; }) {
    quick = between.quickly(double{static_cast<float>(low)}, double{static_cast<float>(high)});
  } else {
    quick = between.quickly(static_cast<double>(low), static_cast<double>(high));
  }
  if (quick) {
    result = *quick;
  } else {
    const auto value = [&](Element x) { return selection::value_of(narrow_key(x), along.problem.data.type()); };
    result = between(value(low), value(high)).as_double();
  }
  along.rule.to_float ? put(static_cast<float>(result), to) : put(result, to);
}

// The quantiles of a list from its keys at the ranks of `ranking`.
template <class Element, class Key>
void store(const Along& along, const Ranking& ranking, std::uint64_t list, std::span<const Key> found) {
  for (std::size_t i = 0; i < ranking.places.size(); ++i) {
    const Ranking::Place& place = ranking.places[i];
    std::byte* const to = along.place(list, i);
    const auto low = element_of<Element>(found[place.low]);
    if (place.between) {
      store_between(along, *place.between, low, element_of<Element>(found[place.high]), to);
    } else if (along.type == along.problem.data.type()) {
      put(low, to);
    } else if (along.type == DType::float32) {
      put(static_cast<float>(low), to);
    } else {
      put(static_cast<double>(low), to);
    }
  }
}

// Those of a list that has NaNs. `keys_at`: gives its keys at some ranks, of which there are as many as other elements.
template <class Element, class KeysAt>
void store_beside_nans(const Along& along, std::uint64_t list, std::uint64_t nans, const KeysAt& keys_at) {
  if (along.nan == NanPolicy::propagate) {
    for (std::size_t i = 0; i < along.quantiles.size(); ++i) groups::store({kNan, along.type}, along.type, along.place(list, i));
    return;
  }
  const std::uint64_t count = along.problem.each - nans;
  if (count == 0) along.fail(list, "there are no elements: all are NaN, and left out");
  const Ranking ranking(along.quantiles, count, along.rule);
  const auto found = keys_at(ranking.ranks);
  store<Element>(along, ranking, list, std::span(std::as_const(found)));
}

// Where keys of some lists go: those of one list are `next` apart.
struct Layout {
  std::size_t list, next;
};

// Writes the keys of `count` lists, from `first` on, and how many NaNs each has.
template <class Element, class Key>
void gather(const AxisProblem& problem, std::uint64_t first, std::size_t count, Layout layout, Key* keys, std::uint64_t* nans) {
  const auto element = static_cast<std::int64_t>(sizeof(Element));
  std::array<std::int64_t, kRowBytes> offsets;
  bool adjacent = true;
  for (std::size_t i = 0; i < count; ++i) {
    offsets[i] = problem.offset_of(first + i);
    adjacent = adjacent && offsets[i] == offsets[0] + static_cast<std::int64_t>(i) * element;
    nans[i] = 0;
  }
  const auto put_key = [&](const std::byte* from, Key& to, std::uint64_t& nans_of) {
    Element x;
    std::memcpy(&x, from, sizeof x);
    const bool nan = is_nan(x);
    to = nan ? std::numeric_limits<Key>::max() : narrow_key(x);
    nans_of += nan;
  };
  const core::Axis last = problem.reduced.empty() ? core::Axis{1, 0} : problem.reduced.back();
  for (std::uint64_t run = 0; run < problem.each / last.extent; ++run) {
    std::int64_t offset = problem.first;
    std::uint64_t rest = run;
    for (std::size_t i = problem.reduced.size(); i-- > 1; rest /= problem.reduced[i - 1].extent) {
      offset += static_cast<std::int64_t>(rest % problem.reduced[i - 1].extent) * problem.reduced[i - 1].stride;
    }
    const auto* const from = static_cast<const std::byte*>(problem.data.data()) + offset;
    Key* const to = keys + run * last.extent * layout.next;
    if (adjacent && last.stride != element) {
      for (std::uint64_t j = 0; j < last.extent; ++j) {
        const std::byte* const row = from + offsets[0] + static_cast<std::int64_t>(j) * last.stride;
        for (std::size_t i = 0; i < count; ++i) put_key(row + i * sizeof(Element), to[j * layout.next + i * layout.list], nans[i]);
      }
      continue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t nans_here = 0;
      for (std::uint64_t j = 0; j < last.extent; ++j) {
        put_key(from + offsets[i] + static_cast<std::int64_t>(j) * last.stride, to[j * layout.next + i * layout.list], nans_here);
      }
      nans[i] += nans_here;
    }
  }
}

// Lists of a few elements, sorted by networks.
template <class Element>
void short_lists(const Along& along, std::uint64_t begin, std::uint64_t size, std::span<const Exchange> selecting,
                 std::span<const Exchange> sorting) {
  using Key = Unsigned<sizeof(Element)>;
  constexpr std::size_t kLists = kRowBytes / sizeof(Key);
  std::vector<Key> rows(along.problem.each * kLists);
  std::array<std::uint64_t, kLists> nans;
  std::vector<Key> found(along.whole.ranks.size());
  for (std::uint64_t first = begin; first < begin + size; first += kLists) {
    const std::size_t count = std::min<std::uint64_t>(kLists, begin + size - first);
    gather<Element>(along.problem, first, count, {1, kLists}, rows.data(), nans.data());
    const bool any_nan = std::any_of(nans.begin(), nans.begin() + static_cast<std::ptrdiff_t>(count), [](auto n) { return n != 0; });
    exchange(any_nan ? sorting : selecting, rows.data());
    for (std::size_t i = 0; i < count; ++i) {
      const auto keys_at = [&](std::span<const std::uint64_t> ranks) {
        found.resize(ranks.size());
        for (std::size_t k = 0; k < ranks.size(); ++k) found[k] = rows[ranks[k] * kLists + i];
        return std::span<const Key>(found);
      };
      if (nans[i] != 0) {
        store_beside_nans<Element>(along, first + i, nans[i], keys_at);
      } else {
        store<Element>(along, along.whole, first + i, keys_at(along.whole.ranks));
      }
    }
  }
}

// Lists that are selected one by one. Those of columns are gathered a few at a time.
template <class Element>
void long_lists(const Along& along, std::uint64_t begin, std::uint64_t size) {
  using Key = Unsigned<sizeof(Element)>;
  constexpr std::uint64_t kMostKeys = (std::uint64_t{4} << 20) / sizeof(Key);
  const std::size_t each = along.problem.each;
  const std::size_t lists = std::clamp<std::uint64_t>(std::min(kMostKeys / each, size), 1, kRowBytes / sizeof(Key));
  std::vector<Key> keys(lists * each), spare(each);
  std::array<std::uint64_t, kRowBytes> nans;
  for (std::uint64_t first = begin; first < begin + size; first += lists) {
    const std::size_t count = std::min<std::uint64_t>(lists, begin + size - first);
    gather<Element>(along.problem, first, count, {each, 1}, keys.data(), nans.data());
    for (std::size_t i = 0; i < count; ++i) {
      const auto keys_at = [&](std::span<const std::uint64_t> ranks) {
        return keys_of<Key>(std::span(keys).subspan(i * each, each), ranks, spare);
      };
      if (nans[i] != 0) {
        store_beside_nans<Element>(along, first + i, nans[i], keys_at);
      } else {
        const std::vector<Key> found = keys_at(along.whole.ranks);
        store<Element>(along, along.whole, first + i, std::span<const Key>(found));
      }
    }
  }
}

// Lists each of which is worth all threads.
void longest_lists(const Along& along, std::span<const double> q, const Options& options) {
  Options of_one = options;
  of_one.report = nullptr;
  of_one.progress = {};
  for (std::uint64_t list = 0; list < along.problem.results; ++list) {
    try {
      const Quantiles found = quantiles(along.problem.elements(list), q, along.rule, of_one);
      for (std::size_t i = 0; i < q.size(); ++i) {
        const Value& value = found.values[i];
        if (is_integer(along.type)) {
          groups::store(value, along.type, along.place(list, i));
        } else {
          groups::store({value.as_double(), along.type}, along.type, along.place(list, i));
        }
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::no_answer) throw;
      along.fail(list, error.what());
    }
  }
}

// Calls body(first, count) for all lists, in all threads; an error is that of the first list that has one.
template <class Body>
void for_lists(const Along& along, std::uint64_t lists_together, const Body& body) {
  const std::uint64_t bytes = along.problem.each * size_of(along.problem.data.type()), all = along.problem.results;
  const std::uint32_t threads = core::thread_count(all * std::max<std::uint64_t>(4 * bytes, 256), along.threads);
  const std::uint64_t at_once = std::max<std::uint64_t>(1, (std::uint64_t{1} << 17) / bytes);
  const std::uint64_t chunk = std::max<std::uint64_t>(1, std::min(at_once, all / threads / 4) / lists_together) * lists_together;
  std::mutex mutex;
  std::uint64_t failed = all;
  std::exception_ptr error;
  core::for_chunks(all, threads, chunk, [&](std::uint32_t, std::uint64_t first, std::uint64_t count) {
    try {
      body(first, count);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (first >= failed) return;
      failed = first;
      error = std::current_exception();
    }
  });
  if (error) std::rethrow_exception(error);
}

// Of an array in host memory.
void quantiles_on_host(const AxisProblem& problem, std::span<const double> q, const QuantileRule& rule, const Options& options,
                       std::byte* to) {
  std::vector<Fraction> fractions;
  for (const double one : q) fractions.push_back(fraction_of(one));
  if (problem.results == 0 || q.empty()) return;
  if (problem.each == 0) {
    throw Error(ErrorKind::no_answer, fmt::format("quantile at {}: there are no elements", groups::position_of(0, problem.shape)));
  }
  const Along along(problem, fractions, rule, options, to);
  constexpr std::uint64_t kFew = 16, kLong = std::uint64_t{1} << 16;
  if (problem.each > kMaxGathered || (problem.results < kFew && problem.each > kLong)) return longest_lists(along, q, options);
  core::visit(problem.data.type(), [&](auto element) {
    using Element = decltype(element);
    if (problem.each <= kMostInNetwork) {
      const std::vector<Exchange> sorting = network(problem.each), selecting = network(problem.each, along.whole.ranks);
      for_lists(along, kRowBytes / sizeof(Element),
                [&](std::uint64_t first, std::uint64_t count) { short_lists<Element>(along, first, count, selecting, sorting); });
    } else {
      for_lists(along, 1, [&](std::uint64_t first, std::uint64_t count) { long_lists<Element>(along, first, count); });
    }
  });
}

// `shape`: of the results, before the axes that are kept.
Values quantiles_along(const Array& data, std::span<const double> q, std::vector<std::uint64_t> shape, const Axes& axes,
                       const QuantileRule& rule, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  groups::refuse_ddof("a quantile", axes);
  const Array there = data.on_device() ? device::on_host(data) : data;
  const AxisProblem problem(there, axes);
  shape.insert(shape.end(), problem.shape.begin(), problem.shape.end());
  Values results(result_type(data.type(), rule), std::move(shape));
  Options on_cpu = options;
  on_cpu.device.reset();
  quantiles_on_host(problem, q, rule, on_cpu, static_cast<std::byte*>(results.data()));
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
