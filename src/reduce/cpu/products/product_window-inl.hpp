// Sums of products in registers, and the windows in which they are exact. Included once for each instruction set.
#if defined(SAMESUM_PRODUCT_WINDOW) == defined(HWY_TARGET_TOGGLE)
#ifdef SAMESUM_PRODUCT_WINDOW
#undef SAMESUM_PRODUCT_WINDOW
#else
#define SAMESUM_PRODUCT_WINDOW
#endif

#include "reduce/cpu/products/products.hpp"
#include "reduce/cpu/sum_cpu_window-inl.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace samesum::statistics {
namespace HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR

namespace hn = hwy::HWY_NAMESPACE;
namespace loops = reduction::HWY_NAMESPACE;

using D = loops::Doubles;
using V = hn::Vec<D>;
constexpr std::size_t kLanes = loops::kLanes;
constexpr std::size_t kChains = 2;  // of each sum
static_assert(kLanes <= ProductWindow::kMaxLanes);

template <class T>
struct Format;

template <>
struct Format<float> {
  static constexpr std::size_t kBlock = kProductBlock;
  static constexpr int kHeadroom = std::countr_zero(kBlock / (kChains * kLanes));  // a running sum takes 2^kHeadroom numbers
  static constexpr int kBits = 46;  // a product's last bit is 2^-kBits of the power of two that its factors' exponents add up to
  static constexpr int kNarrow = 2, kWide = 3;  // sums
};

template <>
struct Format<double> {
  static constexpr std::size_t kBlock = 512;
  static constexpr int kHeadroom = std::countr_zero(kBlock / (kChains * kLanes)) + 1;  // the second sum takes two numbers of each product
  static constexpr int kBits = 105;
  static constexpr int kNarrow = 3, kWide = 4;
};

template <class T>
constexpr int kDistance = 52 - Format<T>::kHeadroom;  // from one anchor to the next, as for sums

// Makes the sums those for products from 2^lowest on and below 2^end, moving these apart as far as the sums allow; whether that is as far
// as the bounds were. With more sums than the fewest, blocks to come may be greater as well as less, with the fewest they are less.
template <class T>
bool set_window(int slices, int& lowest, int& end, ProductWindow& window) {
  using F = Format<T>;
  static_assert((F::kNarrow - 1) * kDistance<T> > F::kBits - 52 + F::kHeadroom + 1);
  // The last sum's spacing is 2^(end + kHeadroom + 1 - (slices - 1) kDistance - 52), and products are multiples of 2^(lowest - kBits).
  const int spare = (slices - 1) * kDistance<T> + 52 - F::kHeadroom - 1 - F::kBits - (end - lowest);
  if (spare < 0) return false;
  const int above = slices == F::kNarrow ? std::min(spare, 2) : spare / 2;
  const int first = end + above + F::kHeadroom + 1, last = first - (slices - 1) * kDistance<T>;
  if (first > 1022 || last < -1000) return false;
  end += above;
  lowest -= spare - above;
  window.set_anchors(slices, first, kDistance<T>, ProductAccumulator::kUnit);
  return true;
}

template <class T>
const std::byte* bytes(const T* numbers) {
  return reinterpret_cast<const std::byte*>(numbers);
}

// In how many places each array is read at once: with two arrays in half as many, as more streams are slower.
template <bool kSquares>
constexpr std::size_t kPlacesOf = kSquares ? kPlaces : kPlaces / 2;

// Calls body(first, distance, part) for blocks that consist of a part in each of `kIn` places, one every `distance` elements from `first`
// on: for as many whole blocks as there are, and for one of what is left; returns how many elements that leaves. A part is a multiple of
// kUnit.
template <std::size_t kIn, std::size_t kBlock, std::size_t kUnit, class Body>
HWY_INLINE std::size_t for_blocks_in_places(std::size_t count, const Body& body) {
  static_assert(kBlock / kIn % kUnit == 0);
  std::size_t done = 0;
  for (std::size_t part = kBlock / kIn; part >= kUnit; part = (count - done) / (kIn * kUnit) * kUnit) {
    const std::size_t distance = (count - done) / (kIn * part) * part;
    for (std::size_t i = 0; i < distance; i += part) body(done + i, distance, part);
    done += kIn * distance;
  }
  return count - done;
}

inline loops::Range range_in_places(const float* from, std::size_t distance, std::size_t part, std::size_t places) {
  loops::Range range{~std::uint32_t{0}, -1, false};
  for (std::size_t place = 0; place < places; ++place) {
    const loops::Range one = loops::find_range<float>(bytes(from + place * distance), part);
    range = {std::min(range.lowest, one.lowest), std::max(range.highest, one.highest), range.zeros || one.zeros};
  }
  return range;
}

// The window for factors in these ranges, with room for somewhat other ones in blocks to come; whether there is one.
inline bool find_window(const loops::Range& a, const loops::Range& b, int slices, ProductWindow& window) {
  struct Exponents {
    explicit Exponents(const loops::Range& range)
        : highest(std::max((range.highest + 1) >> 23, 1)), lowest(std::clamp(static_cast<int>(range.lowest >> 23), 1, highest)) {}
    int highest, lowest;  // fields, denormals' counted as the least normal one's
  };
  const Exponents first(a), second(b);
  if (first.highest == 255 || second.highest == 255) return false;
  const int all_lowest = first.lowest + second.lowest - 254, all_end = first.highest + second.highest - 252;
  int lowest = all_lowest, end = all_end;
  if (!set_window<float>(slices, lowest, end, window)) return false;
  const int above = (end - all_end) / 2, below = (all_lowest - lowest) / 2;
  const auto bounds = [&](const loops::Range& range, const Exponents& exponents) {
    const int least = exponents.lowest - below;
    return reduction::Bounds{least <= 1 ? 0 : least << 23, std::min(exponents.highest + above + 1, 255) << 23, range.zeros && least > 1};
  };
  window.first = bounds(a, first);
  window.second = bounds(b, second);
  return true;
}

// The window for products of doubles in this range; whether there is one.
inline bool find_window(const loops::Range& range, int slices, ProductWindow& window) {
  const bool zeros = range.highest < 0;
  int lowest = zeros ? 0 : static_cast<int>(range.lowest >> 20) - 1023, end = zeros ? 0 : ((range.highest + 1) >> 20) + 1 - 1023;
  if (end > 1023 || !set_window<double>(slices, lowest, end, window)) return false;
  window.first = {(lowest + 1023) << 20, (end + 1023) << 20, range.zeros};
  window.second = {(((lowest + 1) >> 1) + 1023) << 20, ((end >> 1) + 1023) << 20};
  return true;
}

// The range of products of doubles, of which body(look) calls look(product) for each vector.
template <class Body>
HWY_INLINE loops::Range range_of_products(const Body& body) {
  const D d;
  loops::WholeCheck<double> check;
  auto zeros = hn::Ne(hn::Zero(d), hn::Zero(d));
  body([&](V product) HWY_ATTR {
    check.look_at_one(product);
    zeros = hn::Or(zeros, hn::Eq(product, hn::Zero(d)));
  });
  loops::Range range = check.range();
  range.zeros = !hn::AllFalse(d, zeros);
  return range;
}

using loops::add_quietly;
using loops::multiply_add_quietly;
using loops::multiply_quietly;

// Each sum is several, which take numbers in turns. With quiet operations only what the last sum takes may raise the flag, and with
// kRounds that does not either.
template <int kSlices, std::size_t kTurns = kChains, bool kRounds = false>
class Sums {
 public:
  explicit HWY_INLINE Sums(const ProductWindow& window) {
    loops::unrolled<kSlices>([&](auto slice) HWY_ATTR {
      anchors_[slice] = hn::Set(D(), window.anchors[slice]);
      loops::unrolled<kTurns>([&](auto chain) HWY_ATTR { sums_[slice][chain] = anchors_[slice]; });
    });
  }
  // Numbers of which the sums from the first to the last take all.
  template <int kFirst, int kLast, std::size_t kChain>
  HWY_INLINE void add(V part) {
    loops::unrolled<kLast - kFirst>([&](auto n) HWY_ATTR {
      V& running = sums_[kFirst + n][kChain];
      const V sum = add_quietly(running, part);
      part = loops::minus(part, hn::Sub(sum, running));
      running = sum;
    });
    V& last = sums_[kLast][kChain];
    last = kRounds ? add_quietly(last, part) : loops::plus(last, part);
  }
  // An exact product; it does not matter whether it is fused with the additions.
  template <std::size_t kChain>
  HWY_INLINE void add_product(V x, V y) {
    const V running = sums_[0][kChain], sum = multiply_add_quietly(x, y, running);
    sums_[0][kChain] = sum;
    add<1, kSlices - 1, kChain>(hn::MulSub(x, y, hn::Sub(sum, running)));
  }
  // Has the compiler compute all sums here.
  HWY_INLINE void compute_now() {
    loops::unrolled<kSlices>([&](auto slice) SAMESUM_INLINE_LAMBDA {
      loops::unrolled<kTurns>([&](auto chain) SAMESUM_INLINE_LAMBDA { loops::compute_now(sums_[slice][chain]); });
    });
  }
  // Where each of the first sums is.
  template <std::size_t kCount = kTurns>
  HWY_INLINE hn::Mask<D> below(V end) const {
    const auto last = hn::Lt(sums_[0][kCount - 1], end);
    if constexpr (kCount == 1) {
      return last;
    } else {
      return hn::And(below<kCount - 1>(end), last);
    }
  }
  HWY_INLINE void keep(ProductWindow& window) const {
    const hn::Repartition<std::int64_t, D> d64;
    loops::unrolled<kSlices>([&](auto slice) SAMESUM_INLINE_LAMBDA {
      std::int64_t* const lanes = window.lanes[slice].data();
      auto total = hn::Load(d64, lanes);
      loops::unrolled<kTurns>([&](auto chain) SAMESUM_INLINE_LAMBDA {
        total = hn::Add(total, hn::Sub(hn::BitCast(d64, sums_[slice][chain]), hn::BitCast(d64, anchors_[slice])));
      });
      hn::Store(total, d64, lanes);
    });
  }

 private:
  V anchors_[kSlices];
  V sums_[kSlices][kTurns];
};

// Adds a block by `add`, which tells whether it was within the window; if it was not, after `find` has made a window for it. `flush`
// empties the sums.
template <class Flush, class Add, class Find>
HWY_INLINE bool add_in(ProductWindow& window, const Flush& flush, const Add& add, const Find& find) {
  if (!window.tries.now()) return false;
  bool done = window.slices != 0 && add(window);
  if (!done) {
    flush();
    done = find(window) && add(window);
  }
  if (!window.tries.done(done)) return false;
  if (++window.blocks == ProductWindow::kMaxBlocks) {
    flush();
    if (window.first.zeros || window.second.zeros) window.slices = 0;  // to look for zeros is dearer, and perhaps there are none now
  }
  return true;
}

#endif  // HWY_SCALAR
}  // namespace HWY_NAMESPACE
}  // namespace samesum::statistics
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
