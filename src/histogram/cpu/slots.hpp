// The slots of samples (plan.hpp) on the CPU.
#pragma once

#include "histogram/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace samesum::binning {

/// A value at any alignment.
template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Finds the slots of samples of one type, at any alignment. May be used by several threads at once.
class SlotFinder {
 public:
  /// `plan` must outlive this object, and its bins' formula, if any, must not fail.
  explicit SlotFinder(const Plan& plan);

  const Plan& plan() const noexcept { return plan_; }
  /// The slots of `count` contiguous samples.
  void find(const std::byte* from, std::size_t count, std::uint32_t* slots) const;

 private:
  const Plan& plan_;
  std::optional<Trie> trie_;
};

/// The slots of `count` float32 or float64 at any alignment, of a plan with even() (loops.cpp).
void even_slots(const std::byte* from, std::size_t count, const Plan& plan, std::uint32_t* slots);

}  // namespace samesum::binning
