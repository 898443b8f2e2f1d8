// Prefix sums of floats on the CPU.
#pragma once

#include "scan/tiles.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/types.hpp>

#include <cstddef>

namespace samesum::prefix {

/// What lies before an element: the finite numbers exactly, as the accumulator or as the base where that has no error; and the others.
struct SumState {
  Accumulator exact;  ///< where `is_exact`
  Base base;
  bool is_exact = false;  ///< false: base.error is 0
  bool nan = false, positive_infinity = false, negative_infinity = false;
  bool any = false;                 ///< is there an element at all? Skipped NaNs are none
  bool only_negative_zeros = true;  ///< of those
};

/// A Scanner (lines.hpp) of float32 or float64 elements, whose results are rounded to float64 or float32.
template <class T, class U>
class FloatSums {
 public:
  using Result = U;
  using State = SumState;

  explicit FloatSums(NanPolicy nan) : skip_(nan == NanPolicy::skip) {}

  State start() const { return {}; }
  U empty() const { return 0; }
  void add(State& state, const T* x, std::size_t count) const;
  void merge(State& state, const State& later) const;
  void scan(State& state, const T* x, std::size_t count, U* to) const;

 private:
  std::size_t scan_specials(State& state, const T* x, std::size_t count, U* to) const;
  void scan_exactly(State& state, const T* x, std::size_t count, U* to) const;

  bool skip_;
};

extern template class FloatSums<float, float>;
extern template class FloatSums<float, double>;
extern template class FloatSums<double, float>;
extern template class FloatSums<double, double>;

}  // namespace samesum::prefix
