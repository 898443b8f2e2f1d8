// What one thread of the CPU's sum of integers does with its part of the array.
#pragma once

#include <samesum/accumulator.hpp>
#include <samesum/types.hpp>

#include <cstddef>
#include <cstdint>

namespace samesum::reduction {

/// The sum of integers of one type.
struct IntegerSum {
  std::uint64_t elements = 0;
  bool is_signed = false;
  Accumulator total;

  /// Adds what another thread added to `part`, which ends that.
  void merge(IntegerSum& part) noexcept { total.merge(part.finish()); }
  /// The sum of all that was added, complete; may be called once.
  const Accumulator& finish() noexcept {
    total.add_integer_count(elements, is_signed);
    return total;
  }
};

/// Adds `count` integers of `type` at any byte alignment, with the best instructions that this processor has.
void add_elements(const std::byte* elements, std::uint64_t count, DType type, IntegerSum& sum);

}  // namespace samesum::reduction
