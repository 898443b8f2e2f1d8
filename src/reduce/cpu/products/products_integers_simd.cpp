// Products of integers on the CPU, compiled once for each instruction set of the processor family and chosen at run time: compilers make
// vectors of these loops.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/cpu/products/products_integers_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "core/visit.hpp"
#include "reduce/cpu/products/products.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace samesum::statistics {
namespace HWY_NAMESPACE {

__extension__ typedef unsigned __int128 Uint128;

template <class Element>
HWY_INLINE Element element_at(const std::byte* elements, std::uint64_t i) {
  Element element;
  std::memcpy(&element, elements + i * sizeof element, sizeof element);
  return element;
}

#if HWY_TARGET != HWY_SCALAR

// Of whole vectors of bytes, whose products processors add up in pairs; how many these are.
template <class Element>
std::uint64_t add_bytes(const std::byte* a, const std::byte* b, std::uint64_t count, std::int64_t& total) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<std::int16_t> d16;
  const hn::Repartition<std::int32_t, decltype(d16)> d32;
  const hn::Rebind<Element, decltype(d16)> d8;
  constexpr std::size_t kLanes = hn::MaxLanes(d16), kStep = 2 * kLanes;
  constexpr std::uint64_t kRun = 256 * kLanes;  // a lane takes 4 · 255² of each step, and the lanes are added up
  const auto load = [&](const std::byte* elements, std::uint64_t i)
                        HWY_ATTR { return hn::PromoteTo(d16, hn::LoadU(d8, reinterpret_cast<const Element*>(elements + i))); };
  const std::uint64_t whole = count / kStep * kStep;
  for (std::uint64_t i = 0; i < whole;) {
    auto sum = hn::Zero(d32), other = sum, rest = sum;
    for (const std::uint64_t end = std::min(whole, i + kRun); i < end; i += kStep) {
      sum = hn::ReorderWidenMulAccumulate(d32, load(a, i), load(b, i), sum, rest);
      other = hn::ReorderWidenMulAccumulate(d32, load(a, i + kLanes), load(b, i + kLanes), other, rest);
    }
    total += hn::GetLane(hn::SumOfLanes(d32, hn::Add(hn::Add(sum, other), rest)));
  }
  return whole;
}

#endif

// Of 8 and 16 bits: sums of whole products fit.
template <class Element>
IntegerProducts add_whole(const std::byte* a, const std::byte* b, std::uint64_t count) {
  using Sum = std::conditional_t<sizeof(Element) == 1, std::int32_t, std::int64_t>;
  constexpr std::uint64_t kRun = 32768;  // 255² of bytes
  std::int64_t total = 0;
  std::uint64_t first = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(Element) == 1) first = add_bytes<Element>(a, b, count, total);
#endif
  for (; first < count; first += kRun) {
    Sum sum = 0;
    for (std::uint64_t i = first; i < std::min(count, first + kRun); ++i) {
      sum += static_cast<Sum>(element_at<Element>(a, i)) * static_cast<Sum>(element_at<Element>(b, i));
    }
    total += sum;
  }
  return {.low = total};
}

// Products' lower and upper halves: 2^31 of them fit.
template <class Element>
IntegerProducts add_halves(const std::byte* a, const std::byte* b, std::uint64_t count) {
  constexpr bool kWide = sizeof(Element) == 8;
  constexpr bool kSigned = std::is_signed_v<Element>;
  using Product =
      std::conditional_t<kWide, std::conditional_t<kSigned, Int128, Uint128>, std::conditional_t<kSigned, std::int64_t, std::uint64_t>>;
  using Half = std::conditional_t<kWide, std::uint64_t, std::uint32_t>;
  using Sum = std::conditional_t<kWide, Int128, std::int64_t>;
  Sum low = 0, high = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Product product = static_cast<Product>(element_at<Element>(a, i)) * static_cast<Product>(element_at<Element>(b, i));
    low += static_cast<Half>(product);
    high += static_cast<Sum>(product >> IntegerProducts::half_bits(sizeof(Element)));
  }
  return {.low = low, .high = high};
}

// The dispatch is by instruction set first, so the type is told by a value.
IntegerProducts add(const std::byte* a, const std::byte* b, std::uint64_t count, DType type) {
  return core::visit(type, [&](auto element) -> IntegerProducts {
    using Element = decltype(element);
    if constexpr (!std::is_integral_v<Element>) {
      return {};
    } else if constexpr (sizeof(Element) <= 2) {
      return add_whole<Element>(a, b, count);
    } else {
      return add_halves<Element>(a, b, count);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace samesum::statistics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::statistics {

SIMD_EXPORT(add);

IntegerProducts sum_of_products(const std::byte* a, const std::byte* b, std::uint64_t count, DType type) {
  return SIMD_CALL(add)(a, b, count, type);
}

}  // namespace samesum::statistics
#endif  // HWY_ONCE
