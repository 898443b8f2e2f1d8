// Quantiles of many lists of elements, on the CPU. The keys of short lists are gathered into the lanes of vectors and sorted by a network,
// many lists at once; those of a longer list are selected by themselves. NaNs have the greatest key, behind all numbers.
#pragma once

#include "core/threads/chunks.hpp"
#include "groups/axes.hpp"
#include "quantile/between.hpp"
#include "quantile/keys.hpp"
#include "quantile/lists_device.hpp"
#include "quantile/network.hpp"
#include "quantile/ranks.hpp"

#include <samesum/error.hpp>
#include <samesum/options.hpp>
#include <samesum/quantile.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace samesum::selection {

/// The type of results beside each other: of neighbours that of the elements.
inline DType result_type(DType type, const QuantileRule& rule) {
  const bool between = rule.method == QuantileMethod::linear || rule.method == QuantileMethod::midpoint;
  return rule.to_float ? DType::float32 : between ? DType::float64 : type;
}

inline std::vector<Fraction> fractions_of(std::span<const double> q) {
  std::vector<Fraction> fractions;
  for (const double one : q) fractions.push_back(fraction_of(one));
  return fractions;
}

/// Elements of the longest list that is sorted by a network, which takes longer than selection from about there on.
constexpr std::uint64_t most_in_network(std::size_t element_bytes) { return std::min<std::uint64_t>(2048, 4096 / element_bytes); }

/// Where keys of some lists go: their first ones are `list` apart, and those of one list `next`.
struct Spacing {
  std::size_t list, next;
};

/// Writes an element's key; returns whether it is a NaN.
template <class Element>
bool put_key(const std::byte* from, Unsigned<sizeof(Element)>& to) {
  Element x;
  std::memcpy(&x, from, sizeof x);
  const bool nan = is_nan(x);
  to = nan ? std::numeric_limits<Unsigned<sizeof(Element)>>::max() : narrow_key(x);
  return nan;
}

/// The same of elements that follow one another; returns the number of NaNs. A loop of vectors.
template <class Element>
std::uint64_t put_keys(const std::byte* from, std::uint64_t count, Unsigned<sizeof(Element)>* to) {
  std::uint64_t nans = 0;
  for (std::uint64_t i = 0; i < count; ++i) nans += put_key<Element>(from + i * sizeof(Element), to[i]);
  return nans;
}

/// Networks and rankings that are used again. May be used by several threads at once.
class Kept {
 public:
  Kept(std::span<const Fraction> quantiles, const QuantileRule& rule) : quantiles_(quantiles), rule_(rule) {}
  const std::vector<Exchange>& sorting(std::uint64_t size) {
    return find(sorting_, size, [&] { return network(size); });
  }
  /// The network that brings the ranks of so many numbers to their places.
  const std::vector<Exchange>& selecting(std::uint64_t size) {
    const Ranking& ranks = ranking(size);
    return find(selecting_, size, [&] { return network(size, ranks.ranks); });
  }
  const Ranking& ranking(std::uint64_t count) {
    return find(rankings_, count, [&] { return Ranking(quantiles_, count, rule_); });
  }

 private:
  template <class Thing, class Make>
  const Thing& find(std::map<std::uint64_t, Thing>& things, std::uint64_t size, const Make& make) {
    const std::lock_guard lock(mutex_);
    const auto found = things.find(size);
    return found != things.end() ? found->second : things.emplace(size, make()).first->second;
  }

  std::span<const Fraction> quantiles_;
  QuantileRule rule_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::vector<Exchange>> sorting_, selecting_;
  std::map<std::uint64_t, Ranking> rankings_;
};

/// What is asked of lists, and where results go: those of one quantile lie one after the other.
struct Wish {
  std::span<const Fraction> quantiles;
  QuantileRule rule;
  NanPolicy nan;
  std::uint32_t threads;
  DType elements;
  std::byte* to;
};

/// `Lists`: count() lists of size(i) elements of type Element. gather() writes the keys of some of them, and how many NaNs each has;
/// none() throws or returns where a list has no elements, or only NaNs that are left out: then its results are NaN.
template <class Element, class Lists>
class OfLists {
 public:
  using Key = Unsigned<sizeof(Element)>;

  OfLists(const Lists& lists, const Wish& wish)
      : lists_(lists), wish_(wish), type_(result_type(wish.elements, wish.rule)), kept_(wish.quantiles, wish.rule) {}

  /// The same of keys that a device has found.
  void take(const FoundKeys& found) {
    const std::uint64_t all = lists_.count();
    const auto* const nans_of = static_cast<const std::uint32_t*>(found.nans.data());
    const auto* const keys = static_cast<const Key*>(found.keys.data());
    in_threads(all, core::thread_count(all * 64, wish_.threads), 1024, [&](std::uint64_t first, std::uint64_t count) {
      Work work;
      for (std::uint64_t list = first; list < first + count; ++list) {
        const std::uint64_t nans = found.nans.size() != 0 ? nans_of[list] : is_nan(element_of<Element>(keys[list])) ? 1 : 0;
        const std::uint64_t numbers = lists_.size(list) - (found.nans.size() != 0 ? nans : 0);
        if (has_none(list, numbers, nans)) continue;
        const Ranking& of = ranking(numbers, work);
        for (std::size_t i = 0; i < of.places.size(); ++i) {
          const Key* const at = keys + i * (found.both ? 2 : 1) * all + list;
          put_result(list, i, of.places[i], element_of<Element>(at[0]), element_of<Element>(at[found.both ? all : 0]));
        }
      }
    });
  }

  /// All results, by all threads. An error is that of the first list that has one.
  void find() {
    const std::uint64_t all = lists_.count(), bytes = std::max<std::uint64_t>(lists_.elements() / all * sizeof(Element), 1);
    const std::uint32_t threads = core::thread_count(all * std::max<std::uint64_t>(4 * bytes, 256), wish_.threads);
    const std::uint64_t at_once = std::min(std::max<std::uint64_t>((std::uint64_t{1} << 17) / bytes, 1), all / threads / 4);
    const std::uint64_t chunk = bytes > most_in_network(sizeof(Element)) * sizeof(Element)
                                    ? std::max<std::uint64_t>(at_once, 1)
                                    : std::max(at_once / kLists, std::uint64_t{1}) * kLists;
    in_threads(all, threads, chunk, [&](std::uint64_t first, std::uint64_t count) { find(first, count); });
  }

 private:
  template <class Body>
  static void in_threads(std::uint64_t all, std::uint32_t threads, std::uint64_t chunk, const Body& body) {
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

  static constexpr std::size_t kLists = kRowBytes / sizeof(Key);
  static constexpr std::uint64_t kMostKeys = (std::uint64_t{4} << 20) / sizeof(Key);  // gathered at a time

  // What a thread uses from one batch of lists to the next. The last of what is kept for all threads is found without a lock.
  struct Work {
    std::vector<Key> keys, spare, found;
    const std::vector<Exchange>* network = nullptr;
    std::uint64_t network_size = 0;
    bool selects = false;
    std::vector<const Ranking*> rankings;  // of small lists, by their size
    const Ranking* ranking = nullptr;      // the last one
    std::uint64_t ranked = 0;
    std::optional<Ranking> own;
  };
  static constexpr std::size_t kMostKept = 64;  // quantiles of rankings that are kept
  static constexpr std::uint64_t kFewElements = 4096;

  const Ranking& ranking(std::uint64_t count, Work& work) const {
    if (work.ranking != nullptr && work.ranked == count) return *work.ranking;
    work.ranked = count;
    if (wish_.quantiles.size() <= kMostKept) {
      if (count >= kFewElements) return *(work.ranking = &kept_.ranking(count));
      if (work.rankings.size() <= count) work.rankings.resize(count + 1);
      const Ranking*& kept = work.rankings[count];
      if (kept == nullptr) kept = &kept_.ranking(count);
      return *(work.ranking = kept);
    }
    return *(work.ranking = &work.own.emplace(wish_.quantiles, count, wish_.rule));
  }
  const std::vector<Exchange>& network(std::uint64_t size, bool selects, Work& work) const {
    if (work.network == nullptr || work.network_size != size || work.selects != selects) {
      work.network = selects ? &kept_.selecting(size) : &kept_.sorting(size);
      work.network_size = size;
      work.selects = selects;
    }
    return *work.network;
  }

  void find(std::uint64_t first, std::uint64_t count) const {
    Work work;
    while (count != 0) {
      std::size_t now = std::min<std::uint64_t>(count, kLists);
      std::uint64_t longest = 0, total = 0;
      for (std::size_t i = 0; i < now; ++i) {
        const std::uint64_t size = lists_.size(first + i);
        longest = std::max(longest, size);
        total += size;
      }
      if (longest <= most_in_network(sizeof(Element)) && longest * now <= 4 * total + 64) {
        sort(first, now, longest, total, work);
      } else {
        if (longest * now > kMostKeys) {
          now = std::max<std::size_t>(kMostKeys / longest, 1);
          longest = 0;
          for (std::size_t i = 0; i < now; ++i) longest = std::max(longest, lists_.size(first + i));
        }
        select(first, now, longest, work);
      }
      first += now;
      count -= now;
    }
  }

  // Lists of a few elements each, by a network.
  void sort(std::uint64_t first, std::size_t count, std::uint64_t longest, std::uint64_t total, Work& work) const {
    std::vector<Key>& rows = work.keys;
    std::array<std::uint64_t, kLists> nans;
    const bool uniform = total == longest * count;
    const std::uint64_t length = uniform || longest <= 32 ? longest : (longest + 7) / 8 * 8;  // of few different networks
    rows.resize(std::max<std::uint64_t>(length, 1) * kLists);
    if (!uniform) std::fill(rows.begin(), rows.end(), std::numeric_limits<Key>::max());
    lists_.template gather<Element>(first, count, {1, kLists}, rows.data(), nans.data());
    const bool any_nan = std::any_of(nans.begin(), nans.begin() + static_cast<std::ptrdiff_t>(count), [](auto n) { return n != 0; });
    if (length != 0) exchange<Key>(network(length, uniform && !any_nan, work), rows.data());
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t numbers = lists_.size(first + i) - nans[i];
      if (has_none(first + i, numbers, nans[i])) continue;
      const Ranking& of = ranking(numbers, work);
      work.found.clear();
      for (const std::uint64_t rank : of.ranks) work.found.push_back(rows[rank * kLists + i]);
      store(of, first + i, work.found);
    }
  }

  // Longer ones one by one. Those of columns are gathered a few at a time.
  void select(std::uint64_t first, std::size_t count, std::uint64_t longest, Work& work) const {
    std::array<std::uint64_t, kLists> nans;
    work.keys.resize(count * longest);
    work.spare.resize(longest);
    lists_.template gather<Element>(first, count, {longest, 1}, work.keys.data(), nans.data());
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t size = lists_.size(first + i), numbers = size - nans[i];
      if (has_none(first + i, numbers, nans[i])) continue;
      const std::span<Key> list(work.keys.data() + i * longest, size);
      if (size <= most_in_network(sizeof(Element))) {
        const Ranking& of = ranking(numbers, work);
        store(of, first + i, keys_of<Key>(list, of.ranks, work.spare));
      } else {
        const Ranking of(wish_.quantiles, numbers, wish_.rule);
        store(of, first + i, keys_of<Key>(list, of.ranks, work.spare));
      }
    }
  }

  // Writes NaNs where they are the results.
  bool has_none(std::uint64_t list, std::uint64_t numbers, std::uint64_t nans) const {
    const bool propagates = nans != 0 && wish_.nan == NanPolicy::propagate;
    if (numbers != 0 && !propagates) return false;
    if (!propagates) lists_.none(list, nans, type_);
    for (std::size_t i = 0; i < wish_.quantiles.size(); ++i) groups::store({kNan, type_}, type_, place(list, i));
    return true;
  }

  std::byte* place(std::uint64_t list, std::size_t quantile) const {
    return wish_.to + (quantile * lists_.count() + list) * size_of(type_);
  }

  void store(const Ranking& ranking, std::uint64_t list, const std::vector<Key>& found) const {
    for (std::size_t i = 0; i < ranking.places.size(); ++i) {
      const Ranking::Place& of = ranking.places[i];
      put_result(list, i, of, element_of<Element>(found[of.low]), element_of<Element>(found[of.high]));
    }
  }

  // Of two neighbours, of which the second counts only where there is something between.
  void put_result(std::uint64_t list, std::size_t quantile, const Ranking::Place& of, Element low, Element high) const {
    std::byte* const to = place(list, quantile);
    if (of.between) {
      const double result = between(*of.between, low, high);
      wish_.rule.to_float ? put(static_cast<float>(result), to) : put(result, to);
    } else if (type_ == wish_.elements) {
      put(low, to);
    } else {
      type_ == DType::float32 ? put(static_cast<float>(low), to) : put(static_cast<double>(number_of(low)), to);
    }
  }

  double between(const Between& rule, Element low, Element high) const {
    const auto from = static_cast<double>(number_of(low)), to = static_cast<double>(number_of(high));
    const bool exact = !std::is_integral_v<Element> || sizeof(Element) < 8 || (std::fabs(from) < 0x1p53 && std::fabs(to) < 0x1p53);
    if (exact) {
      if (const std::optional<double> quick = rule.quickly(from, to)) return *quick;
    }
    return rule(value_of(narrow_key(low), wish_.elements), value_of(narrow_key(high), wish_.elements)).as_double();
  }

  // 16-bit floats convert to float only.
  static auto number_of(Element x) {
    if constexpr (requires { x.bits; }) {
      return static_cast<float>(x);
    } else {
      return x;
    }
  }

  template <class Number>
  static void put(Number number, std::byte* to) {
    std::memcpy(to, &number, sizeof number);
  }

  const Lists& lists_;
  const Wish& wish_;
  DType type_;
  mutable Kept kept_;
};

/// The quantiles of one list for which all threads work: each `apart` results behind the one before it.
/// @throws Error (no_answer) if it has none.
inline void store_alone(const Array& list, std::span<const double> q, const QuantileRule& rule, const Options& options, std::uint64_t apart,
                        std::byte* to) {
  const DType type = result_type(list.type(), rule);
  const Quantiles found = quantiles(list, q, rule, options);
  for (std::size_t i = 0; i < q.size(); ++i) {
    const Value& value = found.values[i];
    groups::store(is_integer(type) ? value : Value{value.as_double(), type}, type, to + i * apart * size_of(type));
  }
}

}  // namespace samesum::selection
