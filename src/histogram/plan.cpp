#include "histogram/plan.hpp"

#include "histogram/bin_formula.hpp"

#include "core/float_environment.hpp"
#include "core/threads/parallel.hpp"
#include "core/visit.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <type_traits>

namespace samesum::binning {
namespace {

// An error of a guess must be below half, so that only one edge has to be compared.
constexpr double kMaxTolerance = 0.49;
constexpr std::uint64_t kGrain = std::uint64_t{1} << 14;  // edges that a thread takes at once
constexpr std::uint64_t kChecked = 1024;                  // edges between two looks at whether they are even
constexpr std::uint64_t kManyThresholds = std::uint64_t{1} << 17;
// Where the arithmetic rounds by adding a large constant, numbers must be smaller than it by two bits.
constexpr std::uint64_t kMaxFloorBins = std::uint64_t{1} << 17;  // with more, finding bins is not what takes time
constexpr std::uint64_t kMaxFloatEdges = std::uint64_t{1} << 21;

// The key of the least value of T that is >= edge (or > edge, where `above`).
template <class T>
std::optional<std::uint64_t> threshold(double edge, bool above) {
  if constexpr (std::is_floating_point_v<T>) {
    auto value = static_cast<T>(edge);
    const bool too_low = above ? static_cast<double>(value) <= edge : static_cast<double>(value) < edge;
    if (value == 0) value = too_low ? T{0} : -T{0};  // both zeros are equal to the edge
    // The key of the next number is the next key.
    if constexpr (std::is_same_v<T, float>) {
      return float_key(std::bit_cast<std::uint32_t>(value)) + (too_low ? 1u : 0u);
    } else {
      return double_key(std::bit_cast<std::uint64_t>(value)) + (too_low ? 1u : 0u);
    }
  } else {
    using Key = std::make_unsigned_t<T>;
    constexpr auto kLeast = static_cast<double>(std::numeric_limits<T>::min());
    constexpr double kEnd = 2 * static_cast<double>(std::uint64_t{1} << (std::numeric_limits<T>::digits - 1));  // the greatest value plus 1
    const double value = above ? std::floor(edge) : std::ceil(edge);
    if (value < kLeast) return 0;
    if (value >= kEnd) return std::nullopt;
    const T integer = static_cast<T>(value);
    if (above && integer == std::numeric_limits<T>::max()) return std::nullopt;
    const auto key = static_cast<Key>(static_cast<Key>(integer) ^ static_cast<Key>(std::numeric_limits<T>::min()));
    return key + (above ? 1u : 0u);
  }
}

// Whether it is finite in float32, where `single`, or in float64.
bool representable(double value, bool single) {
  return std::abs(value) <= (single ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max());
}

// real() (see Even) of the sample with this key.
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
  if (bins.formula() != nullptr) {
    if (!by_value()) {
      throw Error(ErrorKind::usage,
                  fmt::format("bins by a formula are planned for samples of 8 and 16 bits, not for {}: call histogram()", name_of(type)));
    }
    PatternSlots found = binning::pattern_slots(bins, type);
    pattern_slots_ = std::move(found.slots);
    faults_ = std::move(found.faults);
    if (!faults_.empty()) failing_ = bins;
    return;
  }
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
  find_floor(bins);
}

std::vector<std::uint64_t> Plan::fold(std::span<const std::uint64_t> patterns) const {
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    if (faults_[i] != 0 && patterns[i] != 0) throw failed_at(*failing_, type_, static_cast<std::uint32_t>(i), faults_[i]);
  }
  std::vector<std::uint64_t> counts(slots_);
  for (std::size_t i = 0; i < patterns.size(); ++i) counts[pattern_slots_[i]] += patterns[i];
  return counts;
}

Element Plan::element() const noexcept {
  if (is_integer(type_)) return size_of(type_) == 4 ? Element::integer32 : Element::integer64;
  return type_ == DType::float32 ? Element::float32 : Element::float64;
}

void Plan::make_thresholds(const Bins& bins) {
  const std::span<const double> edges = bins.edges();
  core::visit(type_, [&](auto element) {
    using T = decltype(element);
    if constexpr (std::is_floating_point_v<T>) {
      thresholds_.resize(edges.size());
      core::parallel_parts(bins.count(), kGrain, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i) thresholds_[i] = *threshold<T>(edges[i], false);
      });
      thresholds_.back() = *threshold<T>(edges.back(), true);
    } else if constexpr (std::is_integral_v<T>) {
      thresholds_.reserve(edges.size());
      for (std::size_t i = 0; i < edges.size(); ++i) {
        const auto key = threshold<T>(edges[i], i == bins.count());
        if (!key) break;
        thresholds_.push_back(*key);
      }
    }
  });
}

namespace {

// How far real() (see Even) of some thresholds, and of the keys before them, is on the wrong side of their indices: a threshold must lie
// above, the key before it below. Distances below 1 are exact in Real. In lanes and without branches, so that compilers make vectors of it.
template <class T>
class WrongSide {
 public:
  explicit WrongSide(const Even& even) : even_(even), top_(static_cast<Real>(even.top)) {}

  // Of thresholds from number `first` on.
  void add(std::span<const std::uint64_t> thresholds, std::uint64_t first) {
    const auto count = static_cast<std::int32_t>(thresholds.size()), index = static_cast<std::int32_t>(first);
    Lanes lanes;  // not this object's own, which the compiler could not keep in registers
    std::ranges::fill(lanes.below, Real{-1});
    std::int32_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (std::int32_t lane = 0; lane < kLanes; ++lane) add_one(thresholds[i + lane], index + i + lane, lanes, lane);
    }
    for (; i < count; ++i) add_one(thresholds[i], index + i, lanes, 0);
    for (std::int32_t lane = 0; lane < kLanes; ++lane) {
      if (!(lanes.zero[lane] == 0)) widest_ = 1;
      if (lanes.above[lane] > 0) widest_ = std::max(widest_, lanes.above[lane]);
      widest_ = std::max(widest_, lanes.below[lane]);
    }
  }
  // The greatest distance, below 0 where there is none; 1 where some real() is no number.
  double widest() const { return widest_; }

 private:
  using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
  static constexpr std::int32_t kLanes = 32;  // enough for a loop that is not unrolled
  struct Lanes {
    Real above[kLanes] = {}, below[kLanes] = {};
    Real zero[kLanes] = {};  // NaN where some real() is
  };

  [[gnu::always_inline]] void add_one(std::uint64_t key, std::int32_t index, Lanes& lanes, std::int32_t lane) const {
    const Real at = static_cast<Real>(index), above = at - bounded(key);
    Real below = bounded(key - 1) - at;
    if constexpr (std::is_integral_v<T>) below = key == 0 ? Real{-1} : below;  // 0 has no predecessor
    lanes.zero[lane] += (above - above) + (below - below);
    lanes.above[lane] = above > lanes.above[lane] ? above : lanes.above[lane];
    lanes.below[lane] = below > lanes.below[lane] ? below : lanes.below[lane];
  }
  [[gnu::always_inline]] Real bounded(std::uint64_t key) const {
    const auto real = static_cast<Real>(real_of<T>(even_, key));
    const Real low = real < Real{-0.5} ? Real{-0.5} : real;
    return top_ < low ? top_ : low;
  }

  const Even& even_;
  Real top_, widest_ = -1;
};

}  // namespace

void Plan::find_even(const Bins& bins) {
  if (thresholds_.empty()) return;
  const bool single = type_ != DType::float64;
  if (single && bins.count() > kMaxFloatEdges) return;
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
  if (even.low == 0) even.low = -0.0;  // as (-0.0) - (-0.0) is +0.0, but (-0.0) - (+0.0) is -0.0, whose sign bit means below the edge
  core::visit(type_, [&](auto element) {
    using T = decltype(element);
    if constexpr (std::is_arithmetic_v<T>) {
      const std::span<const std::uint64_t> all(thresholds_);
      const std::uint64_t inner = std::min<std::uint64_t>(all.size(), bins.count());  // without the last edge
      double widest = -1, widest_last = -1;                                           // of all distances; below 0: none
      if (inner < all.size()) {
        WrongSide<T> last(even);
        last.add(all.subspan(inner), inner);
        widest_last = last.widest();
      }
      std::mutex mutex;
      core::parallel_parts(inner, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
        WrongSide<T> part(even);
        for (std::uint64_t i = begin; i < end && part.widest() <= kMaxTolerance; i += kChecked) {
          part.add(all.subspan(i, std::min(kChecked, end - i)), i);
        }
        const std::lock_guard lock(mutex);
        widest = std::max(widest, part.widest());
      });
      if (std::max(widest, widest_last) > kMaxTolerance) return;
      // Greater than the distance, also in float32, in which the loops compare it.
      if (widest >= 0) even.tolerance = std::nextafter(static_cast<float>(widest), 1.0f);
      if (widest_last >= 0) even.last_tolerance = std::nextafter(static_cast<float>(widest_last), 1.0f);
      even_ = even;
    }
  });
}

namespace {

// floor((x - low) * scale) as kernels compute it (see Floor) of the sample with this key.
double floor_of(std::uint64_t key, float low, float scale) {
  const double x = std::bit_cast<float>(float_bits_of(static_cast<std::uint32_t>(key)));
  // Rounded down: the error of the sum shows whether rounding to the nearest has rounded up.
  const double sum = x - low, taken = x - sum, lost = (x - (sum + taken)) + (taken - low);
  float difference = static_cast<float>(sum);
  if (difference > sum || (difference == sum && lost < 0)) difference = std::nextafter(difference, -std::numeric_limits<float>::infinity());
  return std::floor(static_cast<double>(difference) * scale);
}

}  // namespace

void Plan::find_floor(const Bins& bins) {
  const std::uint64_t count = bins.count();
  if (type_ != DType::float32 || count > kMaxFloorBins || thresholds_.size() != count + 1) return;
  const double width = bins.high() - bins.low();
  if (!representable(bins.low(), true) || !representable(static_cast<double>(count) / width, true)) return;
  const auto low = static_cast<float>(bins.low()), nearest = static_cast<float>(static_cast<double>(count) / width);
  const std::uint64_t high = thresholds_.back() - 1;
  if (thresholds_[count - 1] > high) return;  // no float is in the last bin
  for (const float scale : {nearest, std::nextafter(nearest, std::numeric_limits<float>::infinity()), std::nextafter(nearest, 0.0f)}) {
    const auto is_right = [&](std::uint64_t i) {
      // Samples equal to the last edge are compared with it.
      const std::uint64_t before = thresholds_[i] - (i == count ? 2 : 1);
      const double edge = static_cast<double>(i);
      return floor_of(thresholds_[i], low, scale) >= edge && floor_of(before, low, scale) < edge;
    };
    std::atomic<bool> right = true;
    core::parallel_parts(count + 1, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end && right; ++i) {
        if (!is_right(i)) right = false;
      }
    });
    if (!right) continue;
    floor_ =
        Floor{low, scale, 0x1.8p23f + static_cast<float>(count), std::bit_cast<float>(float_bits_of(static_cast<std::uint32_t>(high)))};
    return;
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

// Builds a trie level by level, the cells of a node adjacent.
class TrieMaker {
 public:
  TrieMaker(std::span<const std::uint64_t> thresholds, std::uint64_t most, std::uint32_t extra)
      : thresholds_(thresholds), most_(most), extra_(extra) {
    trie_.first = thresholds.front();
    trie_.span = thresholds.back() - trie_.first;
  }

  // Divides the root into cells by key.
  void divide_keys() {
    trie_.by_value = false;
    const auto width = static_cast<std::uint32_t>(std::bit_width(trie_.span));
    trie_.shift = width - std::min(width, root_bits());
    cells_ = (trie_.span >> trie_.shift) + 1;
  }
  bool divide_values() {
    const float low = value_at(0), high = value_at(trie_.span);
    trie_.by_value = true;
    trie_.low = low;
    trie_.top = static_cast<float>(std::uint32_t{1} << root_bits());
    trie_.scale = trie_.top / (high - low);
    if (!std::isfinite(low) || !std::isfinite(high) || !std::isfinite(high - low) || !std::isfinite(trie_.scale)) return false;
    cells_ = (std::uint64_t{1} << root_bits()) + 1;
    return true;
  }
  // The sum over all thresholds of the number of thresholds in their cell.
  double crowd() const {
    double sum = 0;
    std::mutex mutex;
    core::parallel_parts(thresholds_.size(), kGrain, [&](std::uint64_t begin, std::uint64_t end) {
      double part = 0;
      for_cells(begin, end, [&](std::uint64_t, std::size_t first, std::size_t last) {
        const auto count = static_cast<double>(last - first);
        part += count * count;
      });
      const std::lock_guard lock(mutex);
      sum += part;  // of integers below 2^53: exact
    });
    return sum;
  }

  // Builds the other levels; false where some nodes did not fit.
  bool make() {
    trie_.words.resize(cells_);
    std::vector<Crowded> crowded;
    std::mutex mutex;
    core::parallel_parts(thresholds_.size(), kGrain, [&](std::uint64_t begin, std::uint64_t end) {
      std::vector<Crowded> found;
      std::uint64_t next = begin == 0 ? 0 : cell_at(begin - 1) + 1;  // the cell after those that are written
      for_cells(begin, end, [&](std::uint64_t cell, std::size_t first, std::size_t last) {
        for (; next < cell; ++next) trie_.words[next] = leaf(first, first);
        if (last - first > kFew) found.push_back({cell, first, last});
        trie_.words[next++] = leaf(first, last);
      });
      const std::lock_guard lock(mutex);
      crowded.insert(crowded.end(), found.begin(), found.end());
    });
    const std::size_t size = thresholds_.size();
    for (std::uint64_t cell = cell_at(size - 1) + 1; cell < cells_; ++cell) trie_.words[cell] = leaf(size, size);
    std::ranges::sort(crowded, {}, &Crowded::cell);
    for (const Crowded& node : crowded) {
      const std::uint32_t made = word(first_of(node.cell, node.begin), first_of(node.cell + 1, node.end) - 1, node.begin, node.end);
      trie_.words[node.cell] = made;  // which may have reallocated the words
    }
    while (next_ < open_.size()) {
      const Open node = open_[next_++];
      fill(node);
    }
    return whole_;
  }
  Trie take() { return std::move(trie_); }

 private:
  static constexpr std::size_t kFew = 2;
  static constexpr std::uint32_t kMaxBits = 22;  // the integers of a float, less a bit

  // A cell of the root with more than kFew thresholds.
  struct Crowded {
    std::uint64_t cell;
    std::size_t begin, end;
  };
  // A node whose cells are not filled in yet: its offsets, the index of its first cell, its thresholds.
  struct Open {
    std::uint64_t first, last;
    std::uint32_t shift, base;
    std::size_t begin, end;
  };

  std::uint32_t root_bits() const {
    const auto room = static_cast<std::uint32_t>(std::bit_width(std::max<std::uint64_t>(most_, 2) - 1) - 1);
    return std::min({static_cast<std::uint32_t>(std::bit_width(thresholds_.size())) + extra_, room, kMaxBits});
  }
  float value_at(std::uint64_t offset) const {
    return std::bit_cast<float>(float_bits_of(static_cast<std::uint32_t>(trie_.first + offset)));
  }

  // The root's cell of threshold number `index`.
  std::uint64_t cell_at(std::size_t index) const {
    const std::uint64_t offset = thresholds_[index] - trie_.first;
    return trie_.by_value ? cell_of(value_at(offset), trie_) : offset >> trie_.shift;
  }
  // Calls body(cell, begin, end) for the thresholds of each cell of the root whose first one is in [begin, end).
  template <class Body>
  void for_cells(std::size_t begin, std::size_t end, const Body& body) const {
    std::size_t first = begin;
    if (first != 0) {
      const std::uint64_t before = cell_at(first - 1);
      while (first < end && cell_at(first) == before) ++first;
    }
    if (first == end) return;
    std::uint64_t cell = cell_at(first);
    while (first < end) {
      std::size_t last = first + 1;
      std::uint64_t next = cell;
      while (last < thresholds_.size() && (next = cell_at(last)) == cell) ++last;
      body(cell, first, last);
      first = last;
      cell = next;
    }
  }
  // The least offset in this cell of the root or a later one, span + 1 if there is none; `index`: of the first threshold there.
  std::uint64_t first_of(std::uint64_t cell, std::size_t index) const {
    if (!trie_.by_value) return cell < cells_ ? cell << trie_.shift : trie_.span + 1;
    // After the threshold before.
    std::uint64_t low = index == 0 ? 0 : thresholds_[index - 1] - trie_.first + 1;
    std::uint64_t high = index == thresholds_.size() ? trie_.span + 1 : thresholds_[index] - trie_.first;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (cell_of(value_at(middle), trie_) >= cell) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  static std::uint32_t leaf(std::size_t begin, std::size_t end) {
    return static_cast<std::uint32_t>(std::min<std::size_t>(end - begin, Trie::kMany)) << 25 | static_cast<std::uint32_t>(begin);
  }

  // The word for the offsets first..last, with these thresholds.
  std::uint32_t word(std::uint64_t first, std::uint64_t last, std::size_t begin, std::size_t end) {
    // A threshold at the first offset is reached by the whole cell; not so in the first cell, which samples below all edges are mapped to.
    while (first != 0 && begin < end && thresholds_[begin] - trie_.first == first) ++begin;
    const std::size_t count = end - begin;
    if (count <= kFew || thresholds_[begin] == thresholds_[end - 1]) return leaf(begin, end);
    const auto width = static_cast<std::uint32_t>(std::bit_width(last - first));
    const std::uint32_t shift = width - std::min({width, static_cast<std::uint32_t>(std::bit_width(count)) + extra_, kMaxBits});
    const std::uint64_t cells = (last >> shift) - (first >> shift) + 1;
    if (trie_.words.size() + cells > most_) {
      whole_ = false;
      return leaf(begin, end);
    }
    const auto base = static_cast<std::uint32_t>(trie_.words.size());
    trie_.words.resize(base + cells);
    open_.push_back({first, last, shift, base, begin, end});
    return Trie::kNode | shift << 25 | ((static_cast<std::uint32_t>(first >> shift) - base) & Trie::kLow);
  }

  void fill(const Open& node) {
    std::size_t begin = node.begin;
    const std::uint64_t before = node.first >> node.shift;
    for (std::uint64_t cell = before; cell <= node.last >> node.shift; ++cell) {
      const std::uint64_t start = cell << node.shift;
      const std::uint64_t last = std::min(start + ((std::uint64_t{1} << node.shift) - 1), node.last);
      std::size_t end = begin;
      while (end < node.end && thresholds_[end] - trie_.first <= last) ++end;
      const std::uint32_t made = word(std::max(start, node.first), last, begin, end);  // may reallocate the words
      trie_.words[node.base + (cell - before)] = made;
      begin = end;
    }
  }

  std::span<const std::uint64_t> thresholds_;
  std::uint64_t most_;
  std::uint32_t extra_;  // bits of a node in addition to one cell per threshold
  bool whole_ = true;
  Trie trie_;
  std::uint64_t cells_ = 0;  // of the root
  std::vector<Open> open_;
  std::size_t next_ = 0;
};

Trie Plan::trie(std::uint64_t most, bool by_value) const {
  if (thresholds_.empty()) {
    Trie none;
    none.words = {0};
    return none;
  }
  // More cells mean fewer steps and comparisons: takes as many as fit, and of many thresholds few enough to stay in a cache.
  for (std::uint32_t extra = thresholds_.size() > kManyThresholds ? 1 : 3;; --extra) {
    TrieMaker maker(thresholds_, std::min<std::uint64_t>(most, Trie::kLow), extra);
    const bool values = by_value && type_ == DType::float32 && maker.divide_values();
    const double crowd = values ? maker.crowd() : 0;
    maker.divide_keys();
    if (values && crowd < maker.crowd()) maker.divide_values();
    if (maker.make() || extra == 0) return maker.take();
  }
}

}  // namespace samesum::binning
