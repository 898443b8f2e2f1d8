// Subtrees of the product on the CPU, compiled once for each instruction set of the processor family and chosen at run time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "product/block_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "core/half.hpp"
#include "product/product.hpp"

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

// Three levels: reduces eight vectors of leaves to one.
template <class T, bool kSkip>
void three_levels(const std::byte* from, std::size_t count, T* to) {
  const hn::ScalableTag<T> d;
  const hn::Repartition<std::uint8_t, decltype(d)> bytes;
  const std::size_t lanes = hn::Lanes(d);
  const auto load = [&](std::size_t i) HWY_ATTR {
    const auto leaves = hn::BitCast(d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(from + i * sizeof(T))));
    return kSkip ? hn::IfThenElse(hn::IsNaN(leaves), hn::Set(d, T{1}), leaves) : leaves;
  };
  for (std::size_t i = 0; i < count; i += 8 * lanes) {
    __builtin_prefetch(from + i * sizeof(T) + 2048);
    const auto a = pairs(d, pairs(d, load(i), load(i + lanes)), pairs(d, load(i + 2 * lanes), load(i + 3 * lanes)));
    const auto b = pairs(d, pairs(d, load(i + 4 * lanes), load(i + 5 * lanes)), pairs(d, load(i + 6 * lanes), load(i + 7 * lanes)));
    hn::StoreU(pairs(d, a, b), d, to + i / 8);
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

template <class Half>
void halves_to_floats(const std::byte* from, float* to) {
  for (std::size_t i = 0; i < kBlock; ++i) {
    Half half;
    std::memcpy(&half, from + i * sizeof half, sizeof half);
    to[i] = half;
  }
}

void float_blocks(const std::byte* elements, DType type, bool skip, std::size_t blocks, float* products) {
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::byte* block = elements + i * kBlock * size_of(type);
    alignas(64) float leaves[kBlock];
    if (type == DType::float16) halves_to_floats<core::Float16>(block, leaves);
    if (type == DType::bfloat16) halves_to_floats<core::BFloat16>(block, leaves);
    if (type != DType::float32) block = reinterpret_cast<const std::byte*>(leaves);
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
