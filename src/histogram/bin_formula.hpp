// Bins by a formula: the slots of the values of 8 and 16 bits, once for all; other samples are counted by the formula's values.
#pragma once

#include <samesum/error.hpp>
#include <samesum/histogram.hpp>

#include <cstdint>
#include <vector>

namespace samesum::binning {

/// For each pattern of a type of 8 or 16 bits its slot, as Plan has them; and the bits of formula::Fault where the formula fails.
struct PatternSlots {
  std::vector<std::uint32_t> slots;
  std::vector<std::uint32_t> faults;  ///< empty where it never fails
};
/// @throws Error (usage) where the formula does not go with the type, or gives several numbers.
PatternSlots pattern_slots(const Bins& bins, DType type);
/// The error for a pattern that occurs and at which the formula fails.
Error failed_at(const Bins& bins, DType type, std::uint32_t pattern, std::uint32_t faults);

/// @throws Error (usage) likewise.
void check_formula(const Bins& bins, DType type);

/// Whether samples of this type are counted by count_values().
inline bool by_formula_value(const Bins& bins, DType type) noexcept { return bins.formula() != nullptr && size_of(type) > 2; }
/// The histogram of an array of such samples. Arrays on a device: what the formula gives stays there.
Histogram count_values(const Array& data, const Bins& bins, const Options& options);

}  // namespace samesum::binning
