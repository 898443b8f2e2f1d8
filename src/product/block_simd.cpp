// Subtrees of the product on the CPU, compiled once for each instruction set of the processor family and chosen at run time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "product/block_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "product/product.hpp"
#include "reduce/cpu/halves.hpp"

#include <hwy/highway.h>

#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace samesum::product_tree {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Reduces the tree level by level, in place.
template <class T>
T tree_of(T* leaves, std::size_t count) {
  for (; count > 1; count /= 2) {
    for (std::size_t i = 0; i < count / 2; ++i) leaves[i] = leaves[2 * i] * leaves[2 * i + 1];
  }
  return leaves[0];
}

template <class T>
T one_if_nan(T value) {
  return value != value ? T{1} : value;
}

#if HWY_TARGET == HWY_SCALAR

template <class T>
T tree_of_block(const std::byte* from, bool skip) {
  T leaves[kBlock];
  std::memcpy(leaves, from, sizeof leaves);
  if (skip) {
    for (T& leaf : leaves) leaf = one_if_nan(leaf);
  }
  return tree_of(leaves, kBlock);
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

constexpr std::size_t kPrefetchBytes = 2048;
constexpr int kForReading = 0, kSecondLevel = 2;

// Three levels: reduces eight vectors of leaves to one.
template <class T, bool kSkip>
void three_levels(const std::byte* from, std::size_t count, T* to) {
  const hn::ScalableTag<T> d;
  const hn::Repartition<std::uint8_t, decltype(d)> bytes;
  const std::size_t lanes = hn::Lanes(d);
  const auto load = [&](std::size_t i) HWY_ATTR {
    __builtin_prefetch(from + i * sizeof(T) + kPrefetchBytes, kForReading, kSecondLevel);
    const auto leaves = hn::BitCast(d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(from + i * sizeof(T))));
    return kSkip ? hn::IfThenElse(hn::IsNaN(leaves), hn::Set(d, T{1}), leaves) : leaves;
  };
  for (std::size_t i = 0; i < count; i += 8 * lanes) {
    // Each in a statement of its own: arguments may be read from the last to the first, of which processors fetch less ahead.
    const auto a = within_blocks(d, T{}, load, i);
    if constexpr (sizeof(T) == 4) {
      const auto b = within_blocks(d, T{}, load, i + 4 * lanes);
      hn::StoreU(pairs(d, a, b), d, to + i / 8);
    } else {
      const auto b = within_blocks(d, T{}, load, i + 2 * lanes);
      const auto c = within_blocks(d, T{}, load, i + 4 * lanes);
      const auto e = within_blocks(d, T{}, load, i + 6 * lanes);
      hn::StoreU(pairs(d, pairs(d, a, b), pairs(d, c, e)), d, to + i / 8);
    }
  }
}

template <class T>
T tree_of_block(const std::byte* from, bool skip) {
  static_assert(kBlock % (64 * hn::MaxLanes(hn::ScalableTag<T>())) == 0);
  alignas(64) T first[kBlock / 8], second[kBlock / 64];
  skip ? three_levels<T, true>(from, kBlock, first) : three_levels<T, false>(from, kBlock, first);
  three_levels<T, false>(reinterpret_cast<const std::byte*>(first), kBlock / 8, second);
  return tree_of(second, kBlock / 64);
}

#endif

void float_blocks(const std::byte* elements, DType type, bool skip, std::size_t blocks, float* products) {
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::byte* block = elements + i * kBlock * size_of(type);
    alignas(64) float leaves[kBlock];
    if (type != DType::float32) {
      reduction::halves_to_floats(block, kBlock, type, leaves);
      block = reinterpret_cast<const std::byte*>(leaves);
    }
    products[i] = tree_of_block<float>(block, skip);
  }
}

void double_blocks(const std::byte* elements, bool skip, std::size_t blocks, double* products) {
  for (std::size_t i = 0; i < blocks; ++i) products[i] = tree_of_block<double>(elements + i * kBlock * sizeof(double), skip);
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
