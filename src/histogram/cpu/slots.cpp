#include "histogram/cpu/slots.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace samesum::binning {
namespace {

// Slots of elements one at a time: Even for integers, Trie for all types.
template <class Bits>
class Slots {
 public:
  Slots(const Plan& plan, const Trie* trie) : plan_(plan), trie_(trie) {
    if (is_signed(plan.type())) flip_ = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  }

  void find(const std::byte* from, std::size_t count, std::uint32_t* slots) const {
    if (trie_ == nullptr) {
      for (std::size_t i = 0; i < count; ++i) slots[i] = even(load<Bits>(from + i * sizeof(Bits)));
    } else {
      for (std::size_t i = 0; i < count; ++i) slots[i] = search(load<Bits>(from + i * sizeof(Bits)));
    }
  }

 private:
  using Real = std::conditional_t<sizeof(Bits) == 8, double, float>;

  static bool is_nan(Bits bits) { return std::isnan(std::bit_cast<Real>(bits)); }
  bool floating() const { return !is_integer(plan_.type()); }
  Bits key_of(Bits bits) const {
    if (!floating()) return bits ^ flip_;
    if constexpr (sizeof(Bits) == 8) {
      return double_key(bits);
    } else {
      return float_key(bits);
    }
  }

  // Of integers: those of floats are vectors' (loops.cpp).
  std::uint32_t even(Bits bits) const {
    const Even& guess = *plan_.even();
    const float real = real_of_key(key_of(bits), static_cast<Bits>(guess.first), static_cast<float>(guess.scale));
    const float bounded = std::clamp(real, -0.5f, static_cast<float>(guess.top));
    const auto edge = static_cast<std::uint32_t>(bounded + 0.5f);
    const float off = bounded - static_cast<float>(edge);
    const bool near_last = std::abs(bounded - static_cast<float>(guess.top - 0.5)) < static_cast<float>(guess.last_tolerance);
    if (!(std::abs(off) < static_cast<float>(guess.tolerance)) && !near_last) return edge + (off >= 0 ? 1 : 0);
    return edge + (key_of(bits) >= plan_.thresholds()[edge] ? 1 : 0);
  }

  std::uint32_t search(Bits bits) const {
    if (floating() && is_nan(bits)) return static_cast<std::uint32_t>(plan_.nan_slot());
    const std::uint64_t key = key_of(bits);
    const std::uint64_t offset = std::min(key < trie_->first ? 0 : key - trie_->first, trie_->span);
    std::uint32_t word = trie_->words[root_cell(bits, offset)];
    while ((word & Trie::kNode) != 0) {
      word = trie_->words[(static_cast<std::uint32_t>(offset >> (word >> 25 & 63)) - word) & Trie::kLow];
    }
    const auto* thresholds = plan_.thresholds().data();
    const std::uint32_t low = word & Trie::kLow, count = word >> 25;
    const std::uint64_t high = count == Trie::kMany ? plan_.thresholds().size() : low + count;
    return static_cast<std::uint32_t>(std::upper_bound(thresholds + low, thresholds + high, key) - thresholds);
  }

  std::uint64_t root_cell(Bits bits, std::uint64_t offset) const {
    if constexpr (sizeof(Bits) == 4) {
      if (trie_->by_value) return cell_of(std::bit_cast<float>(bits), *trie_);
    }
    return offset >> trie_->shift;
  }

  const Plan& plan_;
  const Trie* trie_;
  Bits flip_ = 0;
};

}  // namespace

SlotFinder::SlotFinder(const Plan& plan) : plan_(plan) {
  if (!plan.by_value() && !plan.even()) trie_ = plan.trie(Trie::kLow, true);
}

void SlotFinder::find(const std::byte* from, std::size_t count, std::uint32_t* slots) const {
  const Trie* const trie = trie_ ? &*trie_ : nullptr;
  if (!is_integer(plan_.type()) && plan_.even()) return even_slots(from, count, plan_, slots);
  switch (size_of(plan_.type())) {
    case 1:
      for (std::size_t i = 0; i < count; ++i) slots[i] = plan_.pattern_slots()[static_cast<std::uint8_t>(from[i])];
      return;
    case 2:
      for (std::size_t i = 0; i < count; ++i) slots[i] = plan_.pattern_slots()[load<std::uint16_t>(from + 2 * i)];
      return;
    case 4:
      return Slots<std::uint32_t>(plan_, trie).find(from, count, slots);
    default:
      return Slots<std::uint64_t>(plan_, trie).find(from, count, slots);
  }
}

}  // namespace samesum::binning
