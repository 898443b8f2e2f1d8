// Subtrees of the product on the CPU, compiled once for each instruction set of the processor family and chosen at run time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "product/block_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "core/half.hpp"
#include "product/product.hpp"
#include "reduce/cpu/halves-inl.hpp"
#include "reduce/cpu/sum_cpu_block-inl.hpp"

#include <hwy/highway.h>

#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace samesum::product_tree {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace loops = reduction::HWY_NAMESPACE;

template <class T>
T one_if_nan(T value) {
  return value != value ? T{1} : value;
}

#if HWY_TARGET == HWY_SCALAR

// Reduces the tree level by level, in place.
template <class T>
T tree_of(T* leaves, std::size_t count) {
  for (; count > 1; count /= 2) {
    for (std::size_t i = 0; i < count / 2; ++i) leaves[i] = leaves[2 * i] * leaves[2 * i + 1];
  }
  return leaves[0];
}

template <class Element, class T>
void reduce_blocks(const std::byte* from, bool skip, std::size_t blocks, T* products) {
  for (std::size_t i = 0; i < blocks; ++i) {
    T leaves[kBlock];
    for (std::size_t n = 0; n < kBlock; ++n) {
      Element leaf;
      std::memcpy(&leaf, from + (i * kBlock + n) * sizeof leaf, sizeof leaf);
      leaves[n] = skip ? one_if_nan(static_cast<T>(leaf)) : static_cast<T>(leaf);
    }
    products[i] = tree_of(leaves, kBlock);
  }
}

#else

// The products of neighbours in two vectors, in order.
template <class D, class V = hn::Vec<D> >
HWY_INLINE V pairs(D d, V low, V high) {
  return hn::Mul(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low));
}

// Puts in order what several vectors share by lanes, as many as a block of 128 bits has: their elements are at the same lane of each block.
// To multiply within blocks, and to put them in order once, is cheaper than to multiply across them.
template <class D, class V = hn::Vec<D> >
HWY_INLINE V in_order(D d, V shared) {
  using T = hn::TFromD<D>;
  using Index = hwy::MakeSigned<T>;
  constexpr std::size_t kLanes = hn::MaxLanes(d), kVectors = 16 / sizeof(T), kBlocks = kLanes / kVectors;
  if constexpr (kBlocks == 1) {
    return shared;
  } else {
    alignas(64) Index from[kLanes];
    for (std::size_t i = 0; i < kLanes; ++i) from[i] = static_cast<Index>(i % kBlocks * kVectors + i / kBlocks);
    return hn::TableLookupLanes(shared, hn::SetTableIndices(d, from));
  }
}

// One level of two vectors of doubles, two levels of four vectors of floats.
template <class D, class Load>
HWY_INLINE hn::Vec<D> within_blocks(D d, double, const Load& load, std::size_t i) {
  const auto a = load(i);
  const auto b = load(i + hn::Lanes(d));
  return in_order(d, hn::Mul(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)));
}
template <class D, class Load>
HWY_INLINE hn::Vec<D> within_blocks(D d, float, const Load& load, std::size_t i) {
  const hn::Repartition<double, D> wide;
  const auto pair = [&](std::size_t from) HWY_ATTR {
    const auto a = load(from);
    const auto b = load(from + hn::Lanes(d));
    return hn::BitCast(wide, hn::Mul(hn::OddEven(hn::DupEven(b), a), hn::OddEven(b, hn::DupOdd(a))));
  };
  const auto first = pair(i);
  const auto second = pair(i + 2 * hn::Lanes(d));
  const auto even = hn::BitCast(d, hn::InterleaveLower(wide, first, second));
  const auto odd = hn::BitCast(d, hn::InterleaveUpper(wide, first, second));
  return in_order(d, hn::Mul(even, odd));
}

template <class D, class Element>
HWY_INLINE hn::Vec<D> load_leaves(D d, Element type, const std::byte* from) {
  if constexpr (sizeof(Element) == 2)
    return loops::load_as_floats(type, from);
  else
    return loops::load(d, from);
}

// Three levels: reduces eight vectors of leaves to one, in each of several places, one every `distance` bytes; their results follow one
// another.
template <class Element, class T, bool kSkip, std::size_t kPlaces>
void three_levels(const std::byte* first, std::size_t distance, std::size_t count, T* to) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < count; i += 8 * lanes) {
    loops::unrolled<kPlaces>([&](auto place) SAMESUM_INLINE_LAMBDA {
      const std::byte* const from = first + place * distance + i * sizeof(Element);
      const auto load = [&](std::size_t n) SAMESUM_INLINE_LAMBDA {
        const std::byte* const at = from + n * sizeof(Element);
        loops::prefetch<hn::MaxLanes(d) * sizeof(Element)>(at);
        const auto leaves = load_leaves(d, Element{}, at);
        return kSkip ? hn::IfThenElse(hn::IsNaN(leaves), hn::Set(d, T{1}), leaves) : leaves;
      };
      T* const result = to + (place * count + i) / 8;
      // Each in a statement of its own: arguments may be read from the last to the first, of which processors fetch less ahead.
      const auto a = within_blocks(d, T{}, load, 0);
      if constexpr (sizeof(T) == 4) {
        const auto b = within_blocks(d, T{}, load, 4 * lanes);
        hn::StoreU(pairs(d, a, b), d, result);
      } else {
        const auto b = within_blocks(d, T{}, load, 2 * lanes);
        const auto c = within_blocks(d, T{}, load, 4 * lanes);
        const auto e = within_blocks(d, T{}, load, 6 * lanes);
        hn::StoreU(pairs(d, pairs(d, a, b), pairs(d, c, e)), d, result);
      }
    });
  }
}

// Reduces trees that follow one another level by level, in place, from `count` leaves to `roots`; there are a vector's leaves or more.
template <class T>
HWY_INLINE void reduce_levels(T* leaves, std::size_t count, std::size_t roots) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (; count > roots && count >= 2 * lanes; count /= 2) {
    for (std::size_t i = 0; i < count / 2; i += lanes) {
      hn::Store(pairs(d, hn::Load(d, leaves + 2 * i), hn::Load(d, leaves + 2 * i + lanes)), d, leaves + i);
    }
  }
  auto last = hn::Load(d, leaves);
  for (; count > roots; count /= 2) last = pairs(d, last, last);  // of which the lower half counts
  hn::Store(last, d, leaves);
}

// Reduces a block in each of several places.
template <class Element, bool kSkip, std::size_t kPlaces, class T>
void reduce_in_places(const std::byte* from, std::size_t distance, T* products, std::size_t apart) {
  static_assert(kBlock % (64 * hn::MaxLanes(hn::ScalableTag<T>())) == 0);
  alignas(64) T first[kPlaces * kBlock / 8], second[kPlaces * kBlock / 64];
  three_levels<Element, T, kSkip, kPlaces>(from, distance, kBlock, first);
  three_levels<T, T, false, 1>(reinterpret_cast<const std::byte*>(first), 0, kPlaces * kBlock / 8, second);
  reduce_levels(second, kPlaces * kBlock / 64, kPlaces);
  for (std::size_t place = 0; place < kPlaces; ++place) products[place * apart] = second[place];
}

template <class Element, bool kSkip, class T>
void reduce_blocks_of(const std::byte* from, std::size_t blocks, T* products) {
  constexpr std::size_t kPlaces = reduction::kPlaces, kBytes = kBlock * sizeof(Element);
  const std::size_t apart = blocks / kPlaces;
  for (std::size_t i = 0; i < apart; ++i) reduce_in_places<Element, kSkip, kPlaces>(from + i * kBytes, apart * kBytes, products + i, apart);
  for (std::size_t i = kPlaces * apart; i < blocks; ++i) reduce_in_places<Element, kSkip, 1>(from + i * kBytes, 0, products + i, 0);
}

template <class Element, class T>
void reduce_blocks(const std::byte* from, bool skip, std::size_t blocks, T* products) {
  skip ? reduce_blocks_of<Element, true>(from, blocks, products) : reduce_blocks_of<Element, false>(from, blocks, products);
}

#endif

void float_blocks(const std::byte* elements, DType type, bool skip, std::size_t blocks, float* products) {
  if (type == DType::float16) return reduce_blocks<core::Float16>(elements, skip, blocks, products);
  if (type == DType::bfloat16) return reduce_blocks<core::BFloat16>(elements, skip, blocks, products);
  reduce_blocks<float>(elements, skip, blocks, products);
}

void double_blocks(const std::byte* elements, bool skip, std::size_t blocks, double* products) {
  reduce_blocks<double>(elements, skip, blocks, products);
}

}  // namespace HWY_NAMESPACE
}  // namespace samesum::product_tree
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::product_tree {

SIMD_EXPORT(float_blocks);
SIMD_EXPORT(double_blocks);

void block_products(const std::byte* elements, DType type, bool skip, std::size_t blocks, float* products) {
  SIMD_CALL(float_blocks)(elements, type, skip, blocks, products);
}
void block_products(const std::byte* elements, DType, bool skip, std::size_t blocks, double* products) {
  SIMD_CALL(double_blocks)(elements, skip, blocks, products);
}

}  // namespace samesum::product_tree
#endif  // HWY_ONCE
