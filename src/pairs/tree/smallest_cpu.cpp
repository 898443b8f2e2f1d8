#include "pairs/tree/smallest_cpu.hpp"

#include "core/float_environment.hpp"
#include "pairs/tree/values.hpp"
#include "pairs/tree/work.hpp"

#include <algorithm>
#include <bit>
#include <concepts>
#include <limits>
#include <vector>

namespace samesum::all_pairs {
namespace {

using SmallestKey = std::int64_t;  // the order of keys is that of numbers: see problem.hpp

template <class Number>
SmallestKey smallest_key(Number number) noexcept {
  if constexpr (std::floating_point<Number>) {
    const auto bits = std::bit_cast<Key<Number>>(number);
    const Key<Number> key = bits ^ ((bits >> (8 * sizeof(Number) - 1)) & KeyOf<Number>::kSign);
    return number == number ? key : -KeyOf<Number>::kSign - 1;
  } else if constexpr (std::signed_integral<Number>) {
    return number;
  } else {
    return static_cast<SmallestKey>(number ^ std::uint64_t{1} << 63);
  }
}

template <class Number>
Number number_of(SmallestKey key) noexcept {
  if constexpr (std::floating_point<Number>) {
    const auto own = static_cast<Key<Number>>(key);
    if (own == -KeyOf<Number>::kSign - 1) return std::numeric_limits<Number>::quiet_NaN();
    return std::bit_cast<Number>(own ^ (own < 0 ? KeyOf<Number>::kSign : Key<Number>{0}));
  } else {
    return static_cast<Number>(std::unsigned_integral<Number> ? static_cast<std::uint64_t>(key) ^ std::uint64_t{1} << 63
                                                              : static_cast<std::uint64_t>(key));
  }
}

// The smallest so far, in order.
class Smallest {
 public:
  explicit Smallest(std::size_t k) : k_(k) {}

  struct Entry {
    SmallestKey key;
    std::uint64_t place;
  };

  bool takes(SmallestKey key) const noexcept { return entries_.size() < k_ || key < entries_.back().key; }
  /// Of places in order.
  void add(Entry entry) {
    if (!takes(entry.key)) return;
    const auto at =
        std::upper_bound(entries_.begin(), entries_.end(), entry.key, [](SmallestKey key, const Entry& other) { return key < other.key; });
    entries_.insert(at, entry);
    if (entries_.size() > k_) entries_.pop_back();
  }
  /// Of `count` numbers from place `first` on.
  template <class Number>
  void add(const Number* numbers, std::size_t count, std::uint64_t first) {
    SmallestKey keys[formula::Evaluator::kBlock];
    for (std::size_t i = 0; i < count; ++i) keys[i] = smallest_key(numbers[i]);
    if (entries_.size() == k_) {
      const SmallestKey worst = entries_.back().key;
      int better = 0;
      for (std::size_t i = 0; i < count; ++i) better |= keys[i] < worst;
      if (better == 0) return;
    }
    for (std::size_t i = 0; i < count; ++i) add({keys[i], first + i});
  }
  const std::vector<Entry>& entries() const noexcept { return entries_; }

 private:
  std::size_t k_;
  std::vector<Entry> entries_;
};

// C of number x.
void write_smallest(const Problem& problem, DType type, std::uint64_t x, const Smallest& found, Target c) {
  for (std::size_t j = 0; j < problem.k; ++j) {
    const Smallest::Entry entry = found.entries()[j];
    if (problem.indices()) {
      static_cast<std::int64_t*>(c.data)[x * problem.k + j] = static_cast<std::int64_t>(entry.place);
    } else {
      with_type(type,
                [&](auto number) { static_cast<decltype(number)*>(c.data)[x * problem.k + j] = number_of<decltype(number)>(entry.key); });
    }
  }
}

template <class Real>
void find_smallest(const Problem& problem, Target c, std::uint32_t threads) {
  constexpr std::size_t kBlock = PairValues<Real>::kBlock, kMax = PairValues<Real>::kMax;
  const Shares shares(problem, kMax);
  std::vector<Smallest> parts(shares.parts == 1 ? 0 : problem.x_count * shares.parts, Smallest(0));  // few, as there are few x
  FirstFailure failed;
  const DType type = value_type(problem);
  for_shares(problem, shares, threads, [&](std::uint64_t first, std::uint64_t count, std::uint64_t part) {
    const core::DefaultFloatEnvironment environment;
    PairValues<Real> values(problem);
    std::vector<Smallest> found(count, Smallest(problem.k));
    const std::uint64_t begin = part * shares.share, end = std::min(begin + shares.share, problem.y_count);
    for (std::uint64_t y = begin; y < end; y += kMax) {
      const std::size_t there = std::min<std::uint64_t>(kMax, end - y);
      values.load_y(y, there);
      for (std::uint64_t x = 0; x < count; ++x) {
        values.load_x(static_cast<const Real*>(problem.a) + (first + x) * problem.components);
        for (std::size_t i = 0; i < there; i += kBlock) {
          const std::size_t length = std::min(kBlock, there - i);
          const void* const numbers = values.run(i, length)[0];
          if (const auto failure = values.failure()) {
            const std::uint64_t at = y + i + failure->position;
            return failed.add(first + x, at, no_value(problem.first + first + x, at, formula::name_of_fault(failure->faults)));
          }
          with_type(type, [&](auto number) { found[x].add(static_cast<const decltype(number)*>(numbers), length, y + i); });
        }
      }
    }
    for (std::uint64_t x = 0; x < count; ++x) {
      if (shares.parts == 1) {
        write_smallest(problem, type, first + x, found[x], c);
      } else {
        parts[(first + x) * shares.parts + part] = std::move(found[x]);
      }
    }
  });
  failed.rethrow();
  for (std::uint64_t x = 0; x < problem.x_count && shares.parts > 1; ++x) {
    Smallest all = parts[x * shares.parts];
    for (std::uint64_t part = 1; part < shares.parts; ++part) {
      for (const Smallest::Entry& entry : parts[x * shares.parts + part].entries()) all.add(entry);
    }
    write_smallest(problem, type, x, all, c);
  }
}

}  // namespace

void smallest_on_cpu(const Problem& problem, Target c, std::uint32_t threads) {
  const core::DefaultFloatEnvironment environment;
  with_type(problem.type, [&](auto number) { find_smallest<decltype(number)>(problem, c, threads); });
}

}  // namespace samesum::all_pairs
