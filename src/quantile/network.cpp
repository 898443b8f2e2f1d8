// Compiled once for each instruction set of the processor family and chosen at run time.
#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quantile/network.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "quantile/network.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace samesum::selection {
namespace HWY_NAMESPACE {

template <class Key>
void exchange_in(std::span<const Exchange> network, Key* rows) {
  constexpr std::size_t kKeys = kRowBytes / sizeof(Key);
#if HWY_TARGET == HWY_SCALAR
  for (const Exchange pair : network) {
    for (std::size_t i = 0; i < kKeys; ++i) {
      Key& first = rows[pair.first * kKeys + i];
      Key& second = rows[pair.second * kKeys + i];
      const Key least = std::min(first, second);
      second = std::max(first, second);
      first = least;
    }
  }
#else
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<Key, kKeys> d;
  for (std::size_t i = 0; i < kKeys; i += hn::Lanes(d)) {
    for (const Exchange pair : network) {
      Key* const first = rows + pair.first * kKeys + i;
      Key* const second = rows + pair.second * kKeys + i;
      const auto a = hn::LoadU(d, first), b = hn::LoadU(d, second);
      hn::StoreU(hn::Min(a, b), d, first);
      hn::StoreU(hn::Max(a, b), d, second);
    }
  }
#endif
}

void exchange8(std::span<const Exchange> network, std::uint8_t* rows) { exchange_in(network, rows); }
void exchange16(std::span<const Exchange> network, std::uint16_t* rows) { exchange_in(network, rows); }
void exchange32(std::span<const Exchange> network, std::uint32_t* rows) { exchange_in(network, rows); }
void exchange64(std::span<const Exchange> network, std::uint64_t* rows) { exchange_in(network, rows); }

}  // namespace HWY_NAMESPACE
}  // namespace samesum::selection
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::selection {

SIMD_EXPORT(exchange8);
SIMD_EXPORT(exchange16);
SIMD_EXPORT(exchange32);
SIMD_EXPORT(exchange64);

template <>
void exchange(std::span<const Exchange> network, std::uint8_t* rows) {
  SIMD_CALL(exchange8)(network, rows);
}
template <>
void exchange(std::span<const Exchange> network, std::uint16_t* rows) {
  SIMD_CALL(exchange16)(network, rows);
}
template <>
void exchange(std::span<const Exchange> network, std::uint32_t* rows) {
  SIMD_CALL(exchange32)(network, rows);
}
template <>
void exchange(std::span<const Exchange> network, std::uint64_t* rows) {
  SIMD_CALL(exchange64)(network, rows);
}

std::vector<Exchange> network(std::size_t size, std::span<const std::uint64_t> wanted) {
  std::vector<Exchange> all;
  std::size_t most = 1;  // a power of 2, at least half of `size`
  while (2 * most < size) most *= 2;
  for (std::size_t p = most; p > 0; p /= 2) {
    std::size_t r = 0, distance = p;
    for (std::size_t q = most;; q /= 2) {
      for (std::size_t i = 0; i + distance < size; ++i) {
        if ((i & p) == r) all.push_back({static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(i + distance)});
      }
      if (q == p) break;
      distance = q - p;
      r = p;
    }
  }
  if (wanted.empty()) return all;
  std::vector<bool> needed(size, false);
  for (const std::uint64_t place : wanted) needed[place] = true;
  std::vector<Exchange> kept;
  for (auto pair = all.rbegin(); pair != all.rend(); ++pair) {
    if (!needed[pair->first] && !needed[pair->second]) continue;
    needed[pair->first] = needed[pair->second] = true;
    kept.push_back(*pair);
  }
  std::ranges::reverse(kept);
  return kept;
}

}  // namespace samesum::selection
#endif  // HWY_ONCE
