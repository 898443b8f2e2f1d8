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

// In vectors by AVX-512: others have no instruction that compresses one.
template <class Key>
std::size_t keep_in(const Key* keys, std::size_t size, Key least, Key greatest, Key* kept, std::size_t& below) {
  std::size_t i = 0, number = 0, less = 0;
#if HWY_TARGET == HWY_AVX3
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<Key> d;
  const auto from = hn::Set(d, least), to = hn::Set(d, greatest);
  for (; i + hn::Lanes(d) <= size; i += hn::Lanes(d)) {
    const auto x = hn::LoadU(d, keys + i);
    const auto is_less = hn::Lt(x, from);
    less += hn::CountTrue(d, is_less);
    number += hn::CompressBlendedStore(x, hn::Not(hn::Or(is_less, hn::Lt(to, x))), d, kept + number);
  }
#endif
  number += keep_each(keys + i, size - i, least, greatest, kept + number, below);
  below += less;
  return number;
}

std::size_t keep32(const std::uint32_t* keys, std::size_t size, std::uint32_t least, std::uint32_t greatest, std::uint32_t* kept,
                   std::size_t& below) {
  return keep_in(keys, size, least, greatest, kept, below);
}
std::size_t keep64(const std::uint64_t* keys, std::size_t size, std::uint64_t least, std::uint64_t greatest, std::uint64_t* kept,
                   std::size_t& below) {
  return keep_in(keys, size, least, greatest, kept, below);
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

SIMD_EXPORT(keep32);
SIMD_EXPORT(keep64);

template <>
std::size_t keep_between(const std::uint32_t* keys, std::size_t size, std::uint32_t least, std::uint32_t greatest, std::uint32_t* kept,
                         std::size_t& below) {
  return SIMD_CALL(keep32)(keys, size, least, greatest, kept, below);
}
template <>
std::size_t keep_between(const std::uint64_t* keys, std::size_t size, std::uint64_t least, std::uint64_t greatest, std::uint64_t* kept,
                         std::size_t& below) {
  return SIMD_CALL(keep64)(keys, size, least, greatest, kept, below);
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
