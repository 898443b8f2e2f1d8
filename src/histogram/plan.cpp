#include "histogram/plan.hpp"

#include "core/float_environment.hpp"
#include "core/visit.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace samesum::binning {
namespace {

// Guesses have to stay below half: then an edge's neighbours need not be looked at.
constexpr double kMostTolerance = 0.49;
// Where the arithmetic adds a large constant to round, numbers must be smaller than it by two bits.
constexpr std::uint64_t kMostFloatEdges = std::uint64_t{1} << 21;

// The least value of T that is >= edge (or > edge, where `above`), as a key.
template <class T>
std::optional<std::uint64_t> threshold(double edge, bool above) {
  if constexpr (std::is_floating_point_v<T>) {
    auto value = static_cast<T>(edge);
    const auto too_low = [&] { return above ? static_cast<double>(value) <= edge : static_cast<double>(value) < edge; };
    if (too_low()) value = std::nextafter(value, std::numeric_limits<T>::infinity());
    if (value == 0) value = -T{0};  // both zeros are equal to it
    if constexpr (std::is_same_v<T, float>) {
      return float_key(std::bit_cast<std::uint32_t>(value));
    } else {
      return double_key(std::bit_cast<std::uint64_t>(value));
    }
  } else {
    using Key = std::make_unsigned_t<T>;
    constexpr auto kLeast = static_cast<double>(std::numeric_limits<T>::min());
    constexpr double kEnd = 2 * static_cast<double>(std::uint64_t{1} << (std::numeric_limits<T>::digits - 1));  // one beyond the greatest
    const double value = above ? std::floor(edge) : std::ceil(edge);
    if (value < kLeast) return 0;
    if (value >= kEnd) return std::nullopt;
    const T integer = static_cast<T>(value);
    if (above && integer == std::numeric_limits<T>::max()) return std::nullopt;
    const auto key = static_cast<Key>(static_cast<Key>(integer) ^ static_cast<Key>(std::numeric_limits<T>::min()));
    return key + (above ? 1u : 0u);
  }
}

// Whether it is a finite number in float32, where `single`, or float64.
bool representable(double value, bool single) {
  return std::abs(value) <= (single ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max());
}

// real() of the sample with this key.
template <class T>
double real_of(const Even& even, std::uint64_t key) {
  if constexpr (std::is_same_v<T, float>) {
    const float x = std::bit_cast<float>(float_bits_of(static_cast<std::uint32_t>(key)));
    return binning::real_of(x, static_cast<float>(even.low), static_cast<float>(even.scale));
  } else if constexpr (std::is_same_v<T, double>) {
    return binning::real_of(std::bit_cast<double>(double_bits_of(key)), even.low, even.scale);
  } else {
    using Key = std::make_unsigned_t<T>;
    return real_of_key(static_cast<Key>(key), static_cast<Key>(even.first), static_cast<float>(even.scale));
  }
}

template <class T>
double to_double(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<double>(static_cast<std::conditional_t<std::is_arithmetic_v<T>, T, float>>(value));
}

}  // namespace

Plan::Plan(const Bins& bins, DType type) : type_(type), slots_(bins.count() + 3) {
  const core::DefaultFloatEnvironment environment;
  if (by_value()) {
    const auto edges = bins.edges();
    pattern_slots_.resize(std::size_t{1} << (8 * size_of(type)));
    for (std::size_t pattern = 0; pattern < pattern_slots_.size(); ++pattern) {
      const double value =
          core::visit(type, [&](auto element) { return to_double<decltype(element)>(reinterpret_cast<const std::byte*>(&pattern)); });
      const auto reached = std::upper_bound(edges.begin(), edges.end() - 1, value) - edges.begin();
      const auto slot = static_cast<std::uint64_t>(value > edges.back() ? edges.size() : reached);
      pattern_slots_[pattern] = static_cast<std::uint32_t>(std::isnan(value) ? nan_slot() : slot);
    }
    return;
  }
  make_thresholds(bins);
  find_even(bins);
}

std::vector<std::uint64_t> Plan::fold(std::span<const std::uint64_t> patterns) const {
  std::vector<std::uint64_t> counts(slots_);
  for (std::size_t i = 0; i < patterns.size(); ++i) counts[pattern_slots_[i]] += patterns[i];
  return counts;
}

Element Plan::element() const noexcept {
  if (is_integer(type_)) return size_of(type_) == 4 ? Element::integer32 : Element::integer64;
  return type_ == DType::float32 ? Element::float32 : Element::float64;
}

void Plan::make_thresholds(const Bins& bins) {
  core::visit(type_, [&](auto element) {
    using T = decltype(element);
    if constexpr (std::is_arithmetic_v<T>) {
      thresholds_.reserve(bins.edges().size());
      for (std::size_t i = 0; i < bins.edges().size(); ++i) {
        const auto key = threshold<T>(bins.edges()[i], i == bins.count());
        if (!key) break;
        thresholds_.push_back(*key);
      }
    }
  });
}

void Plan::find_even(const Bins& bins) {
  if (thresholds_.empty()) return;
  const bool single = type_ != DType::float64;
  if (single && bins.count() > kMostFloatEdges) return;
  Even even;
  even.low = bins.low();
  even.scale = static_cast<double>(bins.count()) / (bins.high() - bins.low());
  even.top = static_cast<double>(thresholds_.size()) - 0.5;
  even.first = thresholds_.front();
  if (!representable(even.low, single) || !representable(even.scale, single)) return;
  if (single) {
    even.low = static_cast<float>(even.low);
    even.scale = static_cast<float>(even.scale);
  }
  core::visit(type_, [&](auto element) {
    using T = decltype(element);
    if constexpr (std::is_arithmetic_v<T>) {
      for (std::size_t i = 0; i < thresholds_.size(); ++i) {
        for (const std::uint64_t key : {thresholds_[i], thresholds_[i] - 1}) {
          if (key > thresholds_[i]) continue;  // there is none before 0
          const double real = real_of<T>(even, key);
          const double distance = std::abs(std::clamp(real, -0.5, even.top) - static_cast<double>(i));
          if (std::isnan(real) || distance > kMostTolerance) return;
          even.tolerance = std::max(even.tolerance, distance);
        }
      }
      even_ = even;
    }
  });
  // In float32, as the loops compare it.
  if (even_ && single) {
    const auto rounded = static_cast<float>(even_->tolerance);
    even_->tolerance = rounded < even_->tolerance ? std::nextafter(rounded, 1.0f) : rounded;
  }
}

std::uint64_t Plan::slot_of(std::uint64_t bits) const noexcept {
  std::uint64_t key = bits;
  switch (element()) {
    case Element::integer32:
      key = is_signed(type_) ? (bits ^ 0x80000000u) : bits;
      break;
    case Element::integer64:
      key = is_signed(type_) ? bits ^ std::uint64_t{1} << 63 : bits;
      break;
    case Element::float32:
      if ((bits & 0x7fffffffu) > 0x7f800000u) return nan_slot();
      key = float_key(static_cast<std::uint32_t>(bits));
      break;
    case Element::float64:
      if ((bits & ~std::uint64_t{0} >> 1) > 0x7ff0000000000000u) return nan_slot();
      key = double_key(bits);
      break;
  }
  return static_cast<std::uint64_t>(std::upper_bound(thresholds_.begin(), thresholds_.end(), key) - thresholds_.begin());
}

// Makes a trie level by level: its children side by side.
class TrieMaker {
 public:
  TrieMaker(std::span<const std::uint64_t> thresholds, std::uint64_t most, std::uint32_t extra)
      : thresholds_(thresholds), most_(most), extra_(extra) {
    trie_.first = thresholds.front();
    trie_.span = thresholds.back() - trie_.first;
    trie_.width = static_cast<std::uint32_t>(std::bit_width(trie_.span));
    trie_.root = word(trie_.first, trie_.width, 0, thresholds.size());
    while (next_ < open_.size()) {
      const Open node = open_[next_++];
      fill(node);
    }
  }
  /// Whether there was room for all nodes.
  bool whole() const { return whole_; }
  Trie take() { return std::move(trie_); }

 private:
  // A node whose children are to be filled in.
  struct Open {
    std::uint64_t first;  // key
    std::uint32_t width, shift, base;
    std::size_t begin, end;  // thresholds
  };

  // The word of 2^width keys from `first` on, with these thresholds.
  std::uint32_t word(std::uint64_t first, std::uint32_t width, std::size_t begin, std::size_t end) {
    constexpr std::size_t kFew = 2;
    constexpr std::uint32_t kMostBits = 22, kRootBits = 10;
    const std::size_t count = end - begin;
    // The first level hardly does more than to tell exponents apart.
    const std::uint32_t wanted = trie_.words.empty() ? std::min(static_cast<std::uint32_t>(std::bit_width(count)) + 1, kRootBits)
                                                      : static_cast<std::uint32_t>(std::bit_width(count)) + extra_;
    const auto bits = std::min({width, wanted, kMostBits});
    const bool divisible = count > kFew && thresholds_[begin] != thresholds_[end - 1];
    const bool room = trie_.words.size() + (std::size_t{1} << bits) <= most_;
    whole_ = whole_ && (room || !divisible);
    if (!divisible || !room) {
      return static_cast<std::uint32_t>(std::min<std::size_t>(count, Trie::kMany)) << 25 | static_cast<std::uint32_t>(begin);
    }
    const auto base = static_cast<std::uint32_t>(trie_.words.size());
    trie_.words.resize(base + (std::size_t{1} << bits));
    open_.push_back({first, width, width - bits, base, begin, end});
    return Trie::kNode | (width - bits) << 25 | base;
  }

  void fill(const Open& node) {
    std::size_t begin = node.begin;
    for (std::uint64_t child = 0; child < std::uint64_t{1} << (node.width - node.shift); ++child) {
      const std::uint64_t first = node.first + (child << node.shift);
      const std::uint64_t last = first + ((std::uint64_t{1} << node.shift) - 1);
      std::size_t end = begin;
      while (end < node.end && thresholds_[end] - node.first <= last - node.first) ++end;
      const std::uint32_t made = word(first, node.shift, begin, end);  // which may move the words
      trie_.words[node.base + child] = made;
      begin = end;
    }
  }

  std::span<const std::uint64_t> thresholds_;
  std::uint64_t most_;
  std::uint32_t extra_;  // bits of a node beyond one child a threshold
  bool whole_ = true;
  Trie trie_;
  std::vector<Open> open_;
  std::size_t next_ = 0;
};

Trie Plan::trie(std::uint64_t most) const {
  if (thresholds_.empty()) return {};
  // The more children, the fewer steps and comparisons: as many as fit.
  for (std::uint32_t extra = 2;; --extra) {
    TrieMaker maker(thresholds_, std::min<std::uint64_t>(most, Trie::kLow), extra);
    if (maker.whole() || extra == 0) return maker.take();
  }
}

}  // namespace samesum::binning
