// Scanners (lines.hpp) of what takes one step an element: integers, counts, extremes; and of 16-bit floats by way of float32.
#pragma once

#include "core/half.hpp"
#include "scan/lines.hpp"

#include <samesum/types.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace samesum::prefix {

/// Sums of integers. Totals of blocks have 128 bits: parts of a line may cancel.
template <std::integral T>
class IntegerSums {
 public:
  using Result = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  __extension__ using State = __int128;

  State start() const { return 0; }
  Result empty() const { return 0; }
  void merge(State& state, const State& later) const { state += later; }
  void add(State& state, const T* x, std::size_t count) const {
    if constexpr (sizeof(T) < 8) {
      std::int64_t sum = 0;  // of up to 2^15 elements
      for (std::size_t i = 0; i < count; ++i) sum += x[i];
      state += sum;
    } else {
      for (std::size_t i = 0; i < count; ++i) state += x[i];
    }
  }
  void scan(State& state, const T* x, std::size_t count, Result* to) const {
    constexpr State kLeast = std::numeric_limits<Result>::min(), kMax = std::numeric_limits<Result>::max();
    constexpr std::size_t kPart = std::size_t{1} << 15;
    for (std::size_t first = 0; first < count; first += kPart) {
      const std::size_t size = std::min(kPart, count - first);
      const State bound = static_cast<State>(size) << (8 * sizeof(T));
      if (state - (std::is_signed_v<T> ? bound : 0) >= kLeast && state + bound <= kMax) {
        auto sum = static_cast<Result>(state);
        for (std::size_t i = 0; i < size; ++i) to[first + i] = sum += static_cast<Result>(x[first + i]);
        state = sum;
        continue;
      }
      auto sum = static_cast<Result>(state);
      bool fits = state >= kLeast && state <= kMax;
      for (std::size_t i = first; i < first + size; ++i) {
        fits &= !__builtin_add_overflow(sum, static_cast<Result>(x[i]), &sum);
        if (!fits) {
          throw NoResult{
              i, fmt::format("the sum up to this element does not fit into 64 bits ({})", std::is_signed_v<T> ? "int64" : "uint64")};
        }
        to[i] = sum;
      }
      state = sum;
    }
  }
};

/// Products of integers. A product of a block may be of twice the size of a result's: -1 times 2^63 has one.
template <std::integral T>
class IntegerProducts {
 public:
  using Result = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  __extension__ using Wide = __int128;
  struct State {
    Wide product = 1;
    bool fits = true;  ///< false: the product is greater than 2^64
  };

  State start() const { return {}; }
  Result empty() const { return 1; }
  void merge(State& state, const State& later) const {
    if (later.fits) {
      multiply(state, later.product);
    } else if (state.product != 0 || !state.fits) {
      state.fits = false;
    }
  }
  void add(State& state, const T* x, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) multiply(state, x[i]);
  }
  void scan(State& state, const T* x, std::size_t count, Result* to) const {
    for (std::size_t i = 0; i < count; ++i) {
      multiply(state, x[i]);
      if (!state.fits || state.product < std::numeric_limits<Result>::min() || state.product > Wide{std::numeric_limits<Result>::max()}) {
        throw NoResult{
            i, fmt::format("the product up to this element does not fit into 64 bits ({})", std::is_signed_v<T> ? "int64" : "uint64")};
      }
      to[i] = static_cast<Result>(state.product);
    }
  }

 private:
  static void multiply(State& state, Wide factor) {
    constexpr Wide kMax = Wide{1} << 64;
    state.fits &= !__builtin_mul_overflow(state.product, factor, &state.product) && state.product <= kMax && state.product >= -kMax;
  }
};

/// How many elements are not zero; NaNs are not.
template <class T>
class Counts {
 public:
  using Result = std::uint64_t;
  using State = std::uint64_t;

  explicit Counts(NanPolicy nan) : skip_(nan == NanPolicy::skip) {}
  State start() const { return 0; }
  Result empty() const { return 0; }
  void merge(State& state, const State& later) const { state += later; }
  void add(State& state, const T* x, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) state += counts(x[i]);
  }
  void scan(State& state, const T* x, std::size_t count, Result* to) const {
    for (std::size_t i = 0; i < count; ++i) to[i] = state += counts(x[i]);
  }

 private:
  bool counts(T element) const {
    if constexpr (std::is_integral_v<T>) {
      return element != 0;
    } else {
      const auto value = static_cast<double>(element);
      return value != 0 && !(skip_ && std::isnan(value));
    }
  }
  bool skip_;
};

/// Extremes, by keys: integers in the order of the elements, with NaNs beyond all others.
template <class T, bool kGreatest>
class Extremes {
 public:
  using Result = T;
  using Key = std::conditional_t<sizeof(T) == 8, std::int64_t, std::conditional_t<sizeof(T) == 4, std::int32_t, std::int16_t>>;
  static constexpr bool kFloat = !std::is_integral_v<T>;
  struct State {
    T value{};
    bool any = false, nan = false;
  };

  explicit Extremes(NanPolicy nan) : skip_(nan == NanPolicy::skip) {}
  State start() const { return {}; }
  T empty() const { return {}; }  // not used: there are no exclusive extremes
  void merge(State& state, const State& later) const {
    state.nan |= later.nan;
    if (later.any) see(state, later.value);
  }
  void add(State& state, const T* x, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) see(state, x[i]);
  }
  void scan(State& state, const T* x, std::size_t count, T* to) const {
    for (std::size_t i = 0; i < count; ++i) {
      see(state, x[i]);
      if constexpr (kFloat) {
        if (state.nan && !skip_) {
          to[i] = canonical_nan();
          continue;
        }
      }
      if (!state.any) throw NoResult{i, "all elements up to this one are NaNs, which are skipped: there is no extreme"};
      to[i] = state.value;
    }
  }

 private:
  static T canonical_nan() {
    if constexpr (std::is_same_v<T, double>) return std::bit_cast<double>(std::uint64_t{0x7ff8} << 48);
    if constexpr (std::is_same_v<T, float>) return std::bit_cast<float>(std::uint32_t{0x7fc00000});
    if constexpr (std::is_same_v<T, core::Float16>) return T{0x7e00};
    if constexpr (std::is_same_v<T, core::BFloat16>) return T{0x7fc0};
    return T{};
  }
  static bool is_nan(T element) {
    if constexpr (kFloat) return std::isnan(static_cast<double>(element));
    return false;
  }
  static auto order_of(T element) {
    if constexpr (kFloat) {
      const Key key = std::bit_cast<Key>(element);
      return static_cast<Key>(key ^ ((key >> (8 * sizeof(Key) - 1)) & std::numeric_limits<Key>::max()));
    } else {
      return element;
    }
  }
  void see(State& state, T element) const {
    if (is_nan(element)) {
      state.nan = true;
    } else if (!state.any || (kGreatest ? order_of(element) > order_of(state.value) : order_of(element) < order_of(state.value))) {
      state.value = element;
      state.any = true;
    }
  }
  bool skip_;
};

/// A scanner of 16-bit floats, which are subsets of float32, by one of these.
template <class Half, class Inner>
class Widened {
 public:
  using Result = typename Inner::Result;
  using State = typename Inner::State;

  explicit Widened(Inner inner) : inner_(inner) {}
  State start() const { return inner_.start(); }
  Result empty() const { return inner_.empty(); }
  void merge(State& state, const State& later) const { inner_.merge(state, later); }
  void add(State& state, const Half* x, std::size_t count) const {
    in_parts(x, count, [&](const float* part, std::size_t size, std::size_t) { inner_.add(state, part, size); });
  }
  void scan(State& state, const Half* x, std::size_t count, Result* to) const {
    in_parts(x, count, [&](const float* part, std::size_t size, std::size_t first) { inner_.scan(state, part, size, to + first); });
  }

 private:
  template <class Body>
  static void in_parts(const Half* x, std::size_t count, const Body& body) {
    std::array<float, 4096> part;
    for (std::size_t first = 0; first < count; first += part.size()) {
      const std::size_t size = std::min(part.size(), count - first);
      for (std::size_t i = 0; i < size; ++i) part[i] = x[first + i];
      body(part.data(), size, first);
    }
  }
  Inner inner_;
};

}  // namespace samesum::prefix
