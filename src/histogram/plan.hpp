// How the bin of a sample is found: exactly, and mostly without a look at an edge.
//
// Every type's values are ordered as integers, their keys. An edge, a double, becomes a threshold: the least key of the samples' own type
// whose value is not below the edge. A last threshold is the least key above the last edge. The slot of a sample is the number of
// thresholds that are <= its key: 0 below all bins, i + 1 in bin i, count + 1 above them; NaNs have one more. So comparisons are exact,
// and no double is compared with anything else; what follows are ways not to search.
#pragma once

#include <samesum/histogram.hpp>

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace samesum::binning {

/// How samples of 32 and 64 bits lie in memory.
enum class Element { integer32, integer64, float32, float64 };

/// A guess at the slot, by arithmetic: real(x) = (x - low) * scale in float (double for float64; for integers from key - first), clamped to
/// [-0.5, top]. The nearest whole number r is an edge's index, and the slot is r, or r + 1 where real(x) >= r. Each operation is monotone.
/// So it is wrong only where rounding took a threshold's real() below the index of its edge, or that of the key before it not below. The
/// host looks at all of them: such lie less than `tolerance` from the index, and samples as near as that are compared with threshold r. The
/// last edge, which belongs to the bin below it, has a tolerance of its own: there may be no other, and samples on edges are common.
/// A low of zero is -0.0: so real() is +0.0 for both zeros, and loops may take the sign bit of what is left to the nearest edge.
struct Even {
  double low = 0;
  double scale = 0;
  double top = 0;
  double tolerance = 0;
  double last_tolerance = 0;
  std::uint64_t first = 0;  ///< key of the first threshold, for integers
};

/// A search by table: a trie over keys, of which the first level may be over values instead. There, an offset is that of a key from the
/// first threshold's, clamped to the thresholds' span. Cell offset >> shift of the root, or, for float32, cell round((x - low) * scale),
/// clamped to [0, top], is a word: of a leaf, with the thresholds among its keys, so many of them from `start` on; or of a node, whose word
/// for an offset is words[(offset >> shift) - bias]. Cells are divided until they have two thresholds at most, so that edges may lie
/// however they like: evenly, logarithmically (as floating-point keys do), in clusters. A word is 1 : 6 : 25 bits, node : shift : bias
/// (modulo 2^25), or 0 : count : start; a count of kMany says that there may be more.
struct Trie {
  static constexpr std::uint32_t kNode = std::uint32_t{1} << 31;
  static constexpr std::uint32_t kLow = (std::uint32_t{1} << 25) - 1;
  static constexpr std::uint32_t kMany = 63;

  std::uint64_t first = 0;  ///< key of the first threshold
  std::uint64_t span = 0;   ///< from it to the last
  std::uint32_t shift = 0;
  bool by_value = false;
  float low = 0;
  float scale = 0;
  float top = 0;
  std::vector<std::uint32_t> words;  ///< the root's cells first
};

/// The plan for samples of one type.
class Plan {
 public:
  Plan(const Bins& bins, DType type);

  DType type() const noexcept { return type_; }
  /// Of 8 and 16 bits: there are so few values that all of them are counted, and put into bins at the end.
  bool by_value() const noexcept { return size_of(type_) <= 2; }
  std::uint64_t slots() const noexcept { return slots_; }
  std::uint64_t nan_slot() const noexcept { return slots_ - 1; }

  /// Of by_value(): the slot of each of all 256 or 65536 patterns.
  const std::vector<std::uint32_t>& pattern_slots() const noexcept { return pattern_slots_; }
  /// The slots, folded from the patterns' counts.
  std::vector<std::uint64_t> fold(std::span<const std::uint64_t> patterns) const;

  // Of the others.
  Element element() const noexcept;
  /// Ascending; those that some value of the type reaches: at most slots() - 2. Where there are none every sample lies in slot 0.
  const std::vector<std::uint64_t>& thresholds() const noexcept { return thresholds_; }
  /// Nothing where the guess would be too rough.
  const std::optional<Even>& even() const noexcept { return even_; }
  /// Of at most so many words, one at least; where they are too few leaves have more thresholds. `by_value`: whether the first level may be
  /// over values, which takes arithmetic as the host has it.
  Trie trie(std::uint64_t most, bool by_value) const;
  /// The slot of the sample with these bits, by search.
  std::uint64_t slot_of(std::uint64_t bits) const noexcept;

 private:
  void make_thresholds(const Bins& bins);
  void find_even(const Bins& bins);

  DType type_;
  std::uint64_t slots_;
  std::vector<std::uint64_t> thresholds_;
  std::vector<std::uint32_t> pattern_slots_;
  std::optional<Even> even_;
};

/// What makes key(x) >= threshold the same as x >= edge: the order of the values, as unsigned integers. -0.0 has a key below that of 0.0;
/// the threshold of an edge 0 is the former's.
constexpr std::uint32_t float_key(std::uint32_t bits) noexcept { return bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u); }
constexpr std::uint64_t double_key(std::uint64_t bits) noexcept {
  return bits ^ ((bits >> 63) != 0 ? ~std::uint64_t{0} : std::uint64_t{1} << 63);
}
constexpr std::uint32_t float_bits_of(std::uint32_t key) noexcept { return key ^ ((key >> 31) != 0 ? 0x80000000u : 0xffffffffu); }
constexpr std::uint64_t double_bits_of(std::uint64_t key) noexcept {
  return key ^ ((key >> 63) != 0 ? std::uint64_t{1} << 63 : ~std::uint64_t{0});
}

/// Even's real(), as slots.cl and the CPU's loops have it, bit for bit.
inline float real_of(float x, float low, float scale) noexcept { return (x - low) * scale; }
inline double real_of(double x, double low, double scale) noexcept { return (x - low) * scale; }
template <class Key>
float real_of_key(Key key, Key first, float scale) noexcept {
  return (key < first ? -1.0f : static_cast<float>(static_cast<Key>(key - first))) * scale;
}

/// Trie's cell by value.
inline std::uint32_t cell_of(float x, const Trie& trie) noexcept {
  constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23
  float real = real_of(x, trie.low, trie.scale);
  real = real > 0 ? real : 0.0f;
  real = real < trie.top ? real : trie.top;
  return std::bit_cast<std::uint32_t>(real + kRounder) - std::bit_cast<std::uint32_t>(kRounder);
}

}  // namespace samesum::binning
