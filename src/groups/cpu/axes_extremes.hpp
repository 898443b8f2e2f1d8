// The extremes of neighbouring results along axes, and how many of their elements are not zero, on the CPU.
#pragma once

#include "core/visit.hpp"
#include "groups/axes_work.hpp"
#include "groups/cpu/axes_lanes.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace samesum::groups {

/// An integer in the order of the elements, of whose greatest all extremes are: for least elements it is complemented.
template <class Element>
using OrderKey = std::conditional_t<sizeof(Element) == 8, std::int64_t, std::int32_t>;
template <class Element>
using OrderIndex = std::make_unsigned_t<OrderKey<Element>>;

/// What is compared. Of several NaNs, which are greater than all numbers, or are left out (`skip`), the first counts.
struct Comparison {
  DType type;
  bool least, skip, indexed;
};

/// Adds elements to the greatest keys, and with them to their positions, of which the first is `first`. Arrays of OrderKey and OrderIndex
/// of the type.
void add_extremes(const Comparison& what, const LaneElements& elements, std::uint64_t first, void* keys, void* indices);
/// Adds how many elements are not zeros of any sign, nor (`skip`) NaNs.
void add_nonzeros(DType type, bool skip, const LaneElements& elements, std::uint64_t* counts);

template <class Element>
class LaneExtremes final : public LaneStatesOf<LaneExtremes<Element>> {
 public:
  using Key = OrderKey<Element>;
  using Index = OrderIndex<Element>;

  LaneExtremes(const AxisWork& work, std::size_t size)
      : what_{work.type, work.what == AxisReduction::min || work.what == AxisReduction::argmin, work.skip,
              work.what == AxisReduction::argmin || work.what == AxisReduction::argmax},
        keys_(size),
        indices_(what_.indexed ? size : 0) {
    clear(size);
  }

  void add_rows(const LaneElements& elements, std::uint64_t first) override {
    add_extremes(what_, elements, first, keys_.data(), what_.indexed ? indices_.data() : nullptr);
  }
  void add_runs(const LaneElements& elements, std::uint64_t first) override { add_rows(elements, first); }
  void merge_own(const LaneExtremes& other, std::size_t lanes) {
    for (std::size_t i = 0; i < lanes; ++i) {
      if (other.keys_[i] < keys_[i]) continue;
      if (what_.indexed && (other.keys_[i] > keys_[i] || other.indices_[i] < indices_[i])) indices_[i] = other.indices_[i];
      keys_[i] = other.keys_[i];
    }
  }
  void clear(std::size_t lanes) override {
    std::fill_n(keys_.begin(), lanes, kNone);
    if (what_.indexed) std::fill_n(indices_.begin(), lanes, std::numeric_limits<Index>::max());
  }
  // False if there is no number. `result`: an index, or an element.
  bool finish_lane(std::size_t lane, std::uint64_t, void* result) const {
    const Key key = keys_[lane];
    const bool none = key == kNone;
    if (none && !is_integer(what_.type)) return false;
    if (what_.indexed) {
      const std::uint64_t index = none ? 0 : indices_[lane];  // where all elements are the least of their type, it is the first
      std::memcpy(result, &index, sizeof index);
      return true;
    }
    const Element element = element_of(key);
    std::memcpy(result, &element, sizeof element);
    return true;
  }

 private:
  static constexpr Key kNone = std::numeric_limits<Key>::min();

  Element element_of(Key key) const {
    using Bits = std::make_unsigned_t<Key>;
    constexpr bool kFloat = !std::is_integral_v<Element>;
    const Key own = what_.least && !(kFloat && key == std::numeric_limits<Key>::max()) ? static_cast<Key>(~key) : key;
    if constexpr (kFloat) {
      // Of a NaN the canonical one. Narrow floats are the upper part of a key.
      constexpr int kShift = 8 * static_cast<int>(sizeof(Key) - sizeof(Element));
      Bits bits = static_cast<Bits>(own ^ ((own >> (8 * sizeof(Key) - 1)) & std::numeric_limits<Key>::max())) >> kShift;
      if (key == std::numeric_limits<Key>::max()) {
        bits = what_.type == DType::float16    ? 0x7e00u
               : what_.type == DType::bfloat16 ? 0x7fc0u
               : what_.type == DType::float32  ? 0x7fc00000u
                                               : static_cast<Bits>(0x7ff8000000000000u);
      }
      return std::bit_cast<Element>(static_cast<std::conditional_t<sizeof(Element) == 2, std::uint16_t, Bits>>(bits));
    } else if constexpr (std::is_signed_v<Element> || sizeof(Element) < sizeof(Key)) {
      return static_cast<Element>(own);
    } else {
      return static_cast<Element>(static_cast<Bits>(own) ^ Bits{1} << (8 * sizeof(Key) - 1));
    }
  }

  Comparison what_;
  std::vector<Key> keys_;
  std::vector<Index> indices_;
};

// How many are not zero.
class LaneCounts final : public LaneStatesOf<LaneCounts> {
 public:
  LaneCounts(const AxisWork& work, std::size_t size) : type_(work.type), skip_(work.skip), counts_(size) {}

  void add_rows(const LaneElements& elements, std::uint64_t) override { add_nonzeros(type_, skip_, elements, counts_.data()); }
  void add_runs(const LaneElements& elements, std::uint64_t first) override { add_rows(elements, first); }
  void merge_own(const LaneCounts& other, std::size_t lanes) {
    for (std::size_t i = 0; i < lanes; ++i) counts_[i] += other.counts_[i];
  }
  void clear(std::size_t lanes) override { std::fill_n(counts_.begin(), lanes, std::uint64_t{0}); }
  bool finish_lane(std::size_t lane, std::uint64_t, void* result) const {
    std::memcpy(result, &counts_[lane], sizeof(std::uint64_t));
    return true;
  }

 private:
  DType type_;
  bool skip_;
  std::vector<std::uint64_t> counts_;
};

}  // namespace samesum::groups
