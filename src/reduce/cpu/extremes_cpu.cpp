// The extremes on the CPU: compiled once for each instruction set of the processor family and chosen at run time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/cpu/extremes_cpu.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "core/visit.hpp"
#include "reduce/cpu/extremes_cpu.hpp"
#include "reduce/cpu/sum_cpu_block-inl.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace samesum::statistics {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET != HWY_SCALAR
using reduction::HWY_NAMESPACE::kCacheLine;
using reduction::HWY_NAMESPACE::kVectorBytes;
using reduction::HWY_NAMESPACE::prefetch;
using reduction::HWY_NAMESPACE::unrolled;
#endif

// What a type's encoding is compared as.
template <class Element>
struct Order {
  static constexpr bool kFloat = false;
  using Key = Element;
};
template <class Bits>
struct FloatOrder {
  static constexpr bool kFloat = true;
  using Key = Bits;
};
template <>
struct Order<core::Float16> : FloatOrder<std::int16_t> {
  static constexpr Key kInfinity = 0x7c00;
};
template <>
struct Order<core::BFloat16> : FloatOrder<std::int16_t> {
  static constexpr Key kInfinity = 0x7f80;
};
template <>
struct Order<float> : FloatOrder<std::int32_t> {
  static constexpr Key kInfinity = 0x7f800000;
};
template <>
struct Order<double> : FloatOrder<std::int64_t> {
  static constexpr Key kInfinity = 0x7ff0000000000000;
};

template <class Element>
typename Order<Element>::Key key_at(const std::byte* elements, std::uint64_t i) {
  typename Order<Element>::Key key;
  std::memcpy(&key, elements + i * sizeof key, sizeof key);
  if constexpr (Order<Element>::kFloat) {
    constexpr int kSign = 8 * sizeof key - 1;
    key = static_cast<decltype(key)>(key ^ ((key >> kSign) & std::numeric_limits<decltype(key)>::max()));
  }
  return key;
}

template <class Element>
void add_one_by_one(const std::byte* elements, std::uint64_t count, std::uint64_t first, Extremes& extremes) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto key = key_at<Element>(elements, i);
    if constexpr (Order<Element>::kFloat) {
      if (key > Order<Element>::kInfinity || key < -Order<Element>::kInfinity - 1) {
        extremes.see_nan(first + i);
        continue;
      }
    }
    extremes.see(common_key(key), first + i);
  }
}

template <class Element>
std::uint64_t zeros_one_by_one(const std::byte* elements, std::uint64_t count) {
  std::uint64_t zeros = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto key = key_at<Element>(elements, i);
    zeros += key == 0 || (Order<Element>::kFloat && key == static_cast<decltype(key)>(-1));  // the key of -0.0
  }
  return zeros;
}

// Small enough to be looked at again in the first-level cache, once it is known to have an extreme.
constexpr std::size_t kBlockBytes = 8192;

#if HWY_TARGET == HWY_SCALAR

template <class Element, bool kZeros>
void add_vectors(const std::byte* elements, std::uint64_t count, std::uint64_t first, Extremes& extremes) {
  add_one_by_one<Element>(elements, count, first, extremes);
  if constexpr (kZeros) extremes.zeros += zeros_one_by_one<Element>(elements, count);
}

#else

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const std::byte* from) {
  const hn::Repartition<std::uint8_t, D> bytes;
  return hn::BitCast(d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(from)));
}

template <class Element, class D, class V = hn::Vec<D> >
HWY_INLINE V keys_of(D d, V bits) {
  if constexpr (!Order<Element>::kFloat) return bits;
  using Key = hn::TFromD<D>;
  const auto negative = hn::ShiftRight<8 * sizeof(Key) - 1>(bits);
  return hn::Xor(bits, hn::And(negative, hn::Set(d, hwy::LimitsMax<Key>())));
}

template <class Key>
struct Range {
  Key min, max;
};

// Of the lanes of two vectors: the least of one, the greatest of the other.
template <class D, class V = hn::Vec<D> >
Range<hn::TFromD<D> > range_of_lanes(D d, V low, V high) {
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  if constexpr (kLanes * sizeof(hn::TFromD<D>) > 16) {
    const hn::Half<D> half;
    return range_of_lanes(half, hn::Min(hn::LowerHalf(half, low), hn::UpperHalf(half, low)),
                          hn::Max(hn::LowerHalf(half, high), hn::UpperHalf(half, high)));
  } else {
    alignas(16) hn::TFromD<D> least[kLanes], greatest[kLanes];
    hn::Store(low, d, least);
    hn::Store(high, d, greatest);
    return {*std::min_element(least, least + kLanes), *std::max_element(greatest, greatest + kLanes)};
  }
}

// Of whole vectors; at least one. May count zeros, of either sign, as well. Of `count` elements in each of several places, one every
// `distance` bytes: then an even number of vectors.
template <class Element, bool kZeros, std::size_t kPlaces = 1>
Range<typename Order<Element>::Key> range_of(const std::byte* block, std::size_t count, std::uint64_t& zeros, std::size_t distance = 0) {
  using Key = typename Order<Element>::Key;
  const hn::ScalableTag<Key> d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t kChains = 2 * kPlaces;
  std::uint64_t found = 0;
  const auto keys_at = [&](const std::byte* at) HWY_ATTR {
    const auto bits = load(d, at);
    if constexpr (kZeros) found += hn::CountTrue(d, hn::Eq(Order<Element>::kFloat ? hn::Add(bits, bits) : bits, hn::Zero(d)));
    return keys_of<Element>(d, bits);
  };
  hn::Vec<decltype(d)> low[kChains], high[kChains];
  unrolled<kChains>([&](auto chain) HWY_ATTR {
    low[chain] = keys_of<Element>(d, load(d, block));
    high[chain] = low[chain];
  });
  const auto look_at = [&](const std::byte* at, auto chain) SAMESUM_INLINE_LAMBDA {
    const auto keys = keys_at(at);
    low[chain] = hn::Min(low[chain], keys);
    high[chain] = hn::Max(high[chain], keys);
  };
  std::size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    unrolled<kChains>([&](auto n) SAMESUM_INLINE_LAMBDA {
      const std::byte* const at = block + n / 2 * distance + (i + n % 2 * lanes) * sizeof(Key);
      if constexpr (kPlaces > 1) prefetch<kVectorBytes>(at);
      look_at(at, n);
    });
  }
  if constexpr (kPlaces == 1) {
    if (i < count) look_at(block + i * sizeof(Key), std::integral_constant<std::size_t, 0>());
  }
  zeros += found;
  unrolled<kChains - 1>([&](auto n) HWY_ATTR {
    low[0] = hn::Min(low[0], low[n + 1]);
    high[0] = hn::Max(high[0], high[n + 1]);
  });
  return range_of_lanes(d, low[0], high[0]);
}

// The first of the elements that has this key; there is one.
template <class Element, class Key>
std::size_t find(const std::byte* block, Key key) {
  const hn::ScalableTag<Key> d;
  const auto wanted = hn::Set(d, key);
  std::size_t i = 0;
  while (hn::AllFalse(d, hn::Eq(keys_of<Element>(d, load(d, block + i * sizeof(Key))), wanted))) i += hn::Lanes(d);
  while (key_at<Element>(block, i) != key) ++i;
  return i;
}

template <class Element, class Key>
bool has_nans(const Range<Key>& range) {
  using O = Order<Element>;
  if constexpr (O::kFloat) return range.max > O::kInfinity || range.min < -O::kInfinity - 1;
  return false;
}

// Whether elements from the index `first` on that have these extremes may change something: of equal elements the first one counts, and
// chunks may come in any order.
inline bool has_less(std::int64_t least, std::uint64_t first, const Extremes& extremes) {
  return !extremes.min_index || least < extremes.min || (least == extremes.min && first < *extremes.min_index);
}
inline bool has_greater(std::int64_t greatest, std::uint64_t first, const Extremes& extremes) {
  return !extremes.max_index || greatest > extremes.max || (greatest == extremes.max && first < *extremes.max_index);
}

// Of whole vectors.
template <class Element, bool kZeros>
void add_block(const std::byte* block, std::size_t count, std::uint64_t first, Extremes& extremes) {
  const auto range = range_of<Element, kZeros>(block, count, extremes.zeros);
  if (has_nans<Element>(range)) return add_one_by_one<Element>(block, count, first, extremes);
  const std::int64_t least = common_key(range.min), greatest = common_key(range.max);
  extremes.count += count;
  if (has_less(least, first, extremes)) {
    extremes.min = least;
    extremes.min_index = first + find<Element>(block, range.min);
  }
  if (has_greater(greatest, first, extremes)) {
    extremes.max = greatest;
    extremes.max_index = first + find<Element>(block, range.max);
  }
}

template <class Element, bool kZeros>
void add_vectors(const std::byte* elements, std::uint64_t count, std::uint64_t first, Extremes& extremes) {
  constexpr std::size_t kBlock = kBlockBytes / sizeof(Element);
  constexpr std::size_t kPart = kBlock / reduction::kPlaces;  // of a block, in each of several places
  const auto take = [&](std::uint64_t taken) {
    elements += taken * sizeof(Element);
    first += taken;
    count -= taken;
  };
  if (count >= 16 * kBlock) {  // beyond the first-level cache
    // It pays to have vectors that do not straddle cache lines.
    const std::uint64_t head = -reinterpret_cast<std::uintptr_t>(elements) % kCacheLine / sizeof(Element);
    add_one_by_one<Element>(elements, head, first, extremes);
    if constexpr (kZeros) extremes.zeros += zeros_one_by_one<Element>(elements, head);
    take(head);
    const std::uint64_t distance = count / kBlock * kPart;
    for (std::uint64_t i = 0; i < distance; i += kPart) {
      const std::byte* const block = elements + i * sizeof(Element);
      const auto range = range_of<Element, kZeros, reduction::kPlaces>(block, kPart, extremes.zeros, distance * sizeof(Element));
      if (!has_nans<Element>(range) && !has_less(common_key(range.min), first + i, extremes) &&
          !has_greater(common_key(range.max), first + i, extremes)) {
        extremes.count += kBlock;
        continue;
      }
      for (std::uint64_t place = 0; place < reduction::kPlaces; ++place) {
        add_block<Element, false>(block + place * distance * sizeof(Element), kPart, first + i + place * distance, extremes);
      }
    }
    take(reduction::kPlaces * distance);
  }
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<typename Order<Element>::Key>());
  while (count >= lanes) {
    const std::size_t taken = std::min<std::uint64_t>(kBlock, count / lanes * lanes);
    add_block<Element, kZeros>(elements, taken, first, extremes);
    take(taken);
  }
  add_one_by_one<Element>(elements, count, first, extremes);
  if constexpr (kZeros) extremes.zeros += zeros_one_by_one<Element>(elements, count);
}

#endif

// The dispatch is by instruction set first, so the type is told by a value.
void add(const std::byte* elements, std::uint64_t count, DType type, std::uint64_t first, bool zeros, Extremes& extremes) {
  core::visit(type, [&](auto element) {
    zeros ? add_vectors<decltype(element), true>(elements, count, first, extremes)
          : add_vectors<decltype(element), false>(elements, count, first, extremes);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace samesum::statistics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::statistics {

SIMD_EXPORT(add);

void Extremes::see(std::int64_t key, std::uint64_t index) noexcept {
  ++count;
  if (!min_index || key < min || (key == min && index < *min_index)) {
    min = key;
    min_index = index;
  }
  if (!max_index || key > max || (key == max && index < *max_index)) {
    max = key;
    max_index = index;
  }
}

void Extremes::see_nan(std::uint64_t index) noexcept {
  ++count;
  ++nan_count;
  if (!first_nan || index < *first_nan) first_nan = index;
}

void Extremes::merge(const Extremes& other) noexcept {
  const std::uint64_t all = count + other.count;
  if (other.min_index) see(other.min, *other.min_index);
  if (other.max_index) see(other.max, *other.max_index);
  if (other.first_nan) see_nan(*other.first_nan);
  nan_count += other.nan_count - (other.first_nan ? 1 : 0);
  zeros += other.zeros;
  count = all;
}

void add_extremes(const std::byte* elements, std::uint64_t count, DType type, std::uint64_t first, bool zeros, Extremes& extremes) {
  SIMD_CALL(add)(elements, count, type, first, zeros, extremes);
}

}  // namespace samesum::statistics
#endif  // HWY_ONCE
