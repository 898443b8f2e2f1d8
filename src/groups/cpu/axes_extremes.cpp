// The extremes of neighbouring results, and their counts (axes_extremes.hpp): plain loops, of which compilers make vectors. Compiled once
// for each instruction set of the processor family and chosen at run time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "groups/cpu/axes_extremes.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "core/visit.hpp"
#include "groups/cpu/axes_extremes.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace samesum::groups {
namespace HWY_NAMESPACE {
namespace extremes {

template <class Element>
constexpr bool kIsFloat = !std::is_integral_v<Element>;

// An element's bits; of narrow floats, as the upper part of a key.
template <class Element>
HWY_INLINE OrderKey<Element> bits_at(const std::byte* at) {
  using Key = OrderKey<Element>;
  if constexpr (kIsFloat<Element> && sizeof(Element) < sizeof(Key)) {
    std::uint16_t bits;
    std::memcpy(&bits, at, sizeof bits);
    return static_cast<Key>(static_cast<std::uint32_t>(bits) << 16);
  } else if constexpr (kIsFloat<Element>) {
    Key bits;
    std::memcpy(&bits, at, sizeof bits);
    return bits;
  } else {
    Element element;
    std::memcpy(&element, at, sizeof element);
    if constexpr (std::is_unsigned_v<Element> && sizeof(Element) == sizeof(Key)) {
      return static_cast<Key>(element ^ Element{1} << (8 * sizeof(Key) - 1));
    } else {
      return static_cast<Key>(element);
    }
  }
}

template <class Element>
struct Order {
  static constexpr OrderKey<Element> kInfinity = 0;
};
template <>
struct Order<core::Float16> {
  static constexpr std::int32_t kInfinity = 0x7c000000;
};
template <>
struct Order<core::BFloat16> {
  static constexpr std::int32_t kInfinity = 0x7f800000;
};
template <>
struct Order<float> {
  static constexpr std::int32_t kInfinity = 0x7f800000;
};
template <>
struct Order<double> {
  static constexpr std::int64_t kInfinity = 0x7ff0000000000000;
};

// How keys are made: for least elements they are complemented, and NaNs have the greatest or, if they are left out, the least.
template <class Element>
struct Keys {
  using Key = OrderKey<Element>;
  static constexpr Key kMost = std::numeric_limits<Key>::max();

  explicit Keys(const Comparison& what) : flips(what.least ? -1 : 0), nan(what.skip ? std::numeric_limits<Key>::min() : kMost) {}

  HWY_INLINE Key at(const std::byte* at) const {
    const Key bits = bits_at<Element>(at);
    if constexpr (!kIsFloat<Element>) {
      return static_cast<Key>(bits ^ flips);
    } else {
      const Key key = static_cast<Key>(bits ^ ((bits >> (8 * sizeof(Key) - 1)) & kMost) ^ flips);
      return (bits & kMost) > Order<Element>::kInfinity ? nan : key;
    }
  }

  Key flips, nan;
};

// One element of each lane, which are neighbours in memory.
template <class Element>
void add_row(Keys<Element> of, const std::byte* from, std::size_t lanes, OrderKey<Element>* HWY_RESTRICT keys) {
  for (std::size_t i = 0; i < lanes; ++i) {
    const auto key = of.at(from + i * sizeof(Element));
    keys[i] = key > keys[i] ? key : keys[i];
  }
}
template <class Element>
void add_row(Keys<Element> of, const std::byte* from, std::size_t lanes, OrderIndex<Element> index, OrderKey<Element>* HWY_RESTRICT keys,
             OrderIndex<Element>* HWY_RESTRICT indices) {
  for (std::size_t i = 0; i < lanes; ++i) {
    const auto key = of.at(from + i * sizeof(Element));
    const bool greater = key > keys[i];
    indices[i] = greater ? index : indices[i];
    keys[i] = greater ? key : keys[i];
  }
}

// The greatest key of a run: of some lanes at once, so that there are vectors of them.
template <class Element>
OrderKey<Element> greatest_of(Keys<Element> of, const std::byte* from, std::uint64_t count) {
  constexpr std::size_t kTogether = 256 / sizeof(OrderKey<Element>);
  auto greatest = std::numeric_limits<OrderKey<Element>>::min();
  std::uint64_t i = 0;
  if (count >= 2 * kTogether) {
    OrderKey<Element> keys[kTogether];
    std::fill_n(keys, kTogether, greatest);
    for (; i + kTogether <= count; i += kTogether) add_row<Element>(of, from + i * sizeof(Element), kTogether, keys);
    for (const auto key : keys) greatest = key > greatest ? key : greatest;
  }
  for (; i < count; ++i) {
    const auto key = of.at(from + i * sizeof(Element));
    greatest = key > greatest ? key : greatest;
  }
  return greatest;
}

template <class Element>
void add(const Comparison& what, const LaneElements& of, std::uint64_t first, void* to, void* indices_to) {
  const Keys<Element> keys_of(what);
  auto* const keys = static_cast<OrderKey<Element>*>(to);
  auto* const indices = static_cast<OrderIndex<Element>*>(indices_to);
  if (of.lane_stride == sizeof(Element)) {
    for (std::uint64_t step = 0; step < of.steps; ++step) {
      const std::byte* const row = of.from + static_cast<std::int64_t>(step) * of.apart;
      if (indices == nullptr) {
        add_row<Element>(keys_of, row, of.lanes, keys);
      } else {
        add_row<Element>(keys_of, row, of.lanes, static_cast<OrderIndex<Element>>(first + step), keys, indices);
      }
    }
    return;
  }
  for (std::size_t lane = 0; lane < of.lanes; ++lane) {
    const std::byte* const run = of.from + static_cast<std::int64_t>(lane) * of.lane_stride;
    if (of.apart == sizeof(Element)) {
      constexpr std::uint64_t kBlock = 2048;  // is looked at again while it is in the first-level cache
      for (std::uint64_t begin = 0; begin < of.steps; begin += kBlock) {
        const std::byte* const block = run + begin * sizeof(Element);
        const auto greatest = greatest_of<Element>(keys_of, block, std::min(kBlock, of.steps - begin));
        if (greatest <= keys[lane]) continue;
        keys[lane] = greatest;
        if (indices == nullptr) continue;
        std::uint64_t i = 0;
        while (keys_of.at(block + i * sizeof(Element)) != greatest) ++i;
        indices[lane] = static_cast<OrderIndex<Element>>(first + begin + i);
      }
      continue;
    }
    for (std::uint64_t step = 0; step < of.steps; ++step) {
      const auto key = keys_of.at(run + static_cast<std::int64_t>(step) * of.apart);
      if (key <= keys[lane]) continue;
      keys[lane] = key;
      if (indices != nullptr) indices[lane] = static_cast<OrderIndex<Element>>(first + step);
    }
  }
}

// Whether an element is neither zero nor, of floats, above `most` in magnitude: infinity, or a NaN.
template <class Element>
HWY_INLINE OrderKey<Element> nonzero_at(const std::byte* at, OrderKey<Element> most) {
  using Key = OrderKey<Element>;
  if constexpr (!kIsFloat<Element>) {
    Element element;
    std::memcpy(&element, at, sizeof element);
    return element != 0;
  } else {
    const Key magnitude = bits_at<Element>(at) & std::numeric_limits<Key>::max();
    return static_cast<Key>(magnitude != 0 && magnitude <= most);
  }
}

template <class Element>
void count(bool skip, const LaneElements& of, std::uint64_t* HWY_RESTRICT counts) {
  const OrderKey<Element> most = skip ? Order<Element>::kInfinity : std::numeric_limits<OrderKey<Element>>::max();
  if (of.lane_stride == sizeof(Element)) {
    for (std::uint64_t step = 0; step < of.steps; ++step) {
      const std::byte* const row = of.from + static_cast<std::int64_t>(step) * of.apart;
      for (std::size_t i = 0; i < of.lanes; ++i) {
        counts[i] += static_cast<std::uint64_t>(nonzero_at<Element>(row + i * sizeof(Element), most));
      }
    }
    return;
  }
  for (std::size_t lane = 0; lane < of.lanes; ++lane) {
    const std::byte* const run = of.from + static_cast<std::int64_t>(lane) * of.lane_stride;
    std::uint64_t found = 0;
    if (of.apart == sizeof(Element)) {
      constexpr std::uint64_t kBlock = std::uint64_t{1} << 20;  // which 32 bits count
      for (std::uint64_t begin = 0; begin < of.steps; begin += kBlock) {
        const std::uint64_t end = std::min(begin + kBlock, of.steps);
        OrderKey<Element> some = 0;
        for (std::uint64_t i = begin; i < end; ++i) some += nonzero_at<Element>(run + i * sizeof(Element), most);
        found += static_cast<std::uint64_t>(some);
      }
    } else {
      for (std::uint64_t step = 0; step < of.steps; ++step) {
        found += static_cast<std::uint64_t>(nonzero_at<Element>(run + static_cast<std::int64_t>(step) * of.apart, most));
      }
    }
    counts[lane] += found;
  }
}

// The dispatch is by instruction set first, so the type is told by a value.
void extremes_of(const Comparison& what, const LaneElements& elements, std::uint64_t first, void* keys, void* indices) {
  core::visit(what.type, [&](auto element) { add<decltype(element)>(what, elements, first, keys, indices); });
}
void nonzeros_of(DType type, bool skip, const LaneElements& elements, std::uint64_t* counts) {
  core::visit(type, [&](auto element) { count<decltype(element)>(skip, elements, counts); });
}

}  // namespace extremes
using extremes::extremes_of;
using extremes::nonzeros_of;
}  // namespace HWY_NAMESPACE
}  // namespace samesum::groups
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::groups {

SIMD_EXPORT(extremes_of);
SIMD_EXPORT(nonzeros_of);

void add_extremes(const Comparison& what, const LaneElements& elements, std::uint64_t first, void* keys, void* indices) {
  SIMD_CALL(extremes_of)(what, elements, first, keys, indices);
}
void add_nonzeros(DType type, bool skip, const LaneElements& elements, std::uint64_t* counts) {
  SIMD_CALL(nonzeros_of)(type, skip, elements, counts);
}

}  // namespace samesum::groups
#endif  // HWY_ONCE
