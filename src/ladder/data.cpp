// Generated data: a counter-based generator, so that any thread can generate any part.
#include <samesum/bench.hpp>
#include <samesum/error.hpp>

#include "core/threads/parallel.hpp"
#include "core/visit.hpp"
#include "device/device.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <numbers>
#include <type_traits>
#include <utility>

namespace samesum::bench {
namespace {

constexpr std::array<std::pair<std::string_view, DataKind>, 5> kKinds = {{
    {"uniform", DataKind::uniform},
    {"normal", DataKind::normal},
    {"lognormal", DataKind::lognormal},
    {"bits", DataKind::bits},
    {"zeros", DataKind::zeros},
}};

// The finaliser of SplitMix64 over a Weyl sequence (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = (seed * 0xda942042e4dd58b5 + index) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

template <class Real>
constexpr int kMantissa = std::is_same_v<Real, float> ? 24 : 53;

// The top bits of `bits` as a multiple of 2^-mantissa in [0, 1).
template <class Real>
Real unit(std::uint64_t bits) {
  return static_cast<Real>(bits >> (64 - kMantissa<Real>)) * (Real{1} / static_cast<Real>(std::uint64_t{1} << kMantissa<Real>));
}

// Two normals (Box and Muller).
template <class Real>
std::pair<Real, Real> normals(std::uint64_t seed, std::uint64_t pair) {
  const Real radius = std::sqrt(Real{-2} * std::log(Real{1} - unit<Real>(random_bits(seed, 2 * pair))));  // 1 - u lies in (0, 1]
  const Real angle = Real{2} * std::numbers::pi_v<Real> * unit<Real>(random_bits(seed, 2 * pair + 1));
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

template <class Real>
Real finite_bits(std::uint64_t bits) {
  using Bits = std::conditional_t<std::is_same_v<Real, float>, std::uint32_t, std::uint64_t>;
  constexpr Bits kExponent = std::bit_cast<Bits>(std::numeric_limits<Real>::infinity());
  constexpr Bits kLowest = kExponent & -kExponent;
  Bits pattern = static_cast<Bits>(bits >> (64 - 8 * sizeof(Bits)));
  if ((pattern & kExponent) == kExponent) pattern ^= kLowest;  // patterns of infinities and NaNs become the highest finite binade
  return std::bit_cast<Real>(pattern);
}

// Converts reals to an element's type; 16-bit ones are truncated.
template <class Element, class Real>
Element element_of(Real value) {
  if constexpr (std::is_floating_point_v<Element>) {
    return value;
  } else {
    return Element::truncate(value);
  }
}

// Writes pair(i) to elements 2 i and 2 i + 1.
template <class Element, class Pair>
void fill(Element* to, std::uint64_t size, const Pair& pair) {
  core::parallel_parts(size / 2, 1 << 14, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i != end; ++i) {
      const auto [a, b] = pair(i);
      to[2 * i] = element_of<Element>(a);
      to[2 * i + 1] = element_of<Element>(b);
    }
  });
  if (size % 2 != 0) to[size - 1] = element_of<Element>(pair(size / 2).first);
}

template <std::integral Element>
void fill(DataKind kind, std::uint64_t seed, Element* to, std::uint64_t size) {
  const bool zeros = kind == DataKind::zeros;
  core::parallel_parts(size, 1 << 15, [=](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i != end; ++i) {
      const std::uint64_t bits = random_bits(seed, i);
      to[i] = zeros && (bits & 1) != 0 ? Element{0} : static_cast<Element>(bits >> (64 - 8 * sizeof(Element)));
    }
  });
}

template <class Element>
void fill(DataKind kind, std::uint64_t seed, Element* to, std::uint64_t size) {
  using Real = std::conditional_t<std::is_same_v<Element, double>, double, float>;
  const auto each = [&](auto make) {
    fill(to, size, [=](std::uint64_t i) { return std::pair(make(random_bits(seed, 2 * i)), make(random_bits(seed, 2 * i + 1))); });
  };
  switch (kind) {
    case DataKind::uniform:
      return each([](std::uint64_t bits) { return unit<Real>(bits); });
    case DataKind::zeros:
      return each([](std::uint64_t bits) { return unit<Real>(bits) * static_cast<Real>(bits & 1); });
    case DataKind::bits:
      return each([](std::uint64_t bits) { return finite_bits<Real>(bits); });
    case DataKind::normal:
      return fill(to, size, [=](std::uint64_t i) { return normals<Real>(seed, i); });
    case DataKind::lognormal:
      return fill(to, size, [=](std::uint64_t i) {
        const auto [a, b] = normals<Real>(seed, i);
        return std::pair(std::exp(Real{3} * a), std::exp(Real{3} * b));
      });
  }
}

}  // namespace

std::string_view name_of(DataKind kind) noexcept { return kKinds[static_cast<std::size_t>(kind)].first; }

DataKind parse_data_kind(std::string_view name) {
  std::string known;
  for (const auto& [text, kind] : kKinds) {
    if (text == name) return kind;
    known.append(known.empty() ? "" : ", ").append(text);
  }
  throw Error(ErrorKind::usage, "unknown kind of data '" + std::string(name) + "': known are " + known);
}

Data::Data(DataKind kind, DType type, std::uint64_t size, std::uint64_t seed) : size_(size), type_(type) {
  if (size > (std::uint64_t{1} << 48)) throw Error(ErrorKind::usage, "no machine holds " + std::to_string(size) + " elements");
  memory_ = Device::open("cpu").implementation().allocate(size * size_of(type)).handle;
  core::visit(type, [&](auto element) { fill(kind, seed, static_cast<decltype(element)*>(memory_.get()), size); });
}

}  // namespace samesum::bench
