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

/// A guess at the slot, by arithmetic: real(x) = (x - low) * scale in the type's own arithmetic (for integers in float, from key - first),
/// clamped to [-0.5, top]. The nearest whole number r is an edge's index, and the slot is r or r + 1. Each operation is monotone and the
/// host has found real() of every threshold and of the key before it to lie within `tolerance` of the edge's index; so farther from r
/// than that its side is the sample's, and only nearer is the sample compared with threshold r.
struct Even {
  double low = 0;
  double scale = 0;
  double top = 0;
  double tolerance = 0;
  std::uint64_t first = 0;  ///< key of the first threshold, for integers
};

/// A search by table: a trie over keys. A node stands for 2^width keys and divides them evenly among its 2^(width - shift) children, which
/// lie at base, base + 1, …: a node, or a leaf with the thresholds among its keys: so many of them from `start` on. Children are made until
/// leaves have one or two thresholds, so that edges may lie however they like: evenly, logarithmically (as floating-point keys do), in
/// clusters. A word is 1 : 6 : 25 bits, node : shift : base, or 0 : count : start; a count of kMany says that there may be more.
struct Trie {
  static constexpr std::uint32_t kNode = std::uint32_t{1} << 31;
  static constexpr std::uint32_t kLow = (std::uint32_t{1} << 25) - 1;
  static constexpr std::uint32_t kMany = 63;

  std::uint64_t first = 0;  ///< key of the first threshold
  std::uint64_t span = 0;   ///< from it to the last
  std::uint32_t width = 0;  ///< bits of span
  std::uint32_t root = 0;
  std::vector<std::uint32_t> words;
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

  /// Of by_value(): the slots of all 256 or 65536 patterns, folded from their counts.
  std::vector<std::uint64_t> fold(std::span<const std::uint64_t> patterns) const;

  // Of the others.
  Element element() const noexcept;
  /// Ascending; those that some value of the type reaches: at most slots() - 2. Where there are none every sample lies in slot 0.
  const std::vector<std::uint64_t>& thresholds() const noexcept { return thresholds_; }
  /// Nothing where the guess would be too rough.
  const std::optional<Even>& even() const noexcept { return even_; }
  /// Of at most so many words (a few more than there are thresholds, at least); beyond that leaves have more thresholds.
  Trie trie(std::uint64_t most) const;
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

/// Even's real(), as count.cl and the CPU's loops have it, bit for bit.
inline float real_of(float x, float low, float scale) noexcept { return (x - low) * scale; }
inline double real_of(double x, double low, double scale) noexcept { return (x - low) * scale; }
template <class Key>
float real_of_key(Key key, Key first, float scale) noexcept {
  return (key < first ? -1.0f : static_cast<float>(static_cast<Key>(key - first))) * scale;
}

}  // namespace samesum::binning
