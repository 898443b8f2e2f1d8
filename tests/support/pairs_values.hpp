// Random vectors for pairs, and their results as bits.
#pragma once

#include <samesum/pairs.hpp>

#include <bit>
#include <cstdint>
#include <random>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

namespace samesum::test {

template <class Real>
using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;

template <class Real>
std::vector<Bits<Real>> bits_of(const PairsResult& result) {
  std::vector<Bits<Real>> bits;
  for (const Real value : std::get<std::vector<Real>>(result)) bits.push_back(std::bit_cast<Bits<Real>>(value));
  return bits;
}

template <class Real>
std::vector<Real> normal(std::uint64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> distribution;
  std::vector<Real> values;
  for (std::uint64_t i = 0; i < count; ++i) values.push_back(static_cast<Real>(distribution(random)));
  return values;
}

template <class Real>
Array array(const std::vector<Real>& values) {
  return std::span<const Real>(values);
}

// Each operation is rounded once: nothing is fused, nothing is kept in a wider type.
template <class Real>
Real once(Real value) {
  volatile Real kept = value;
  return kept;
}

}  // namespace samesum::test
