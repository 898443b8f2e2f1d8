// Finding the bin of a sample: exactly, and usually without a comparison with an edge.
//
// The values of every type are ordered as integers, their keys. An edge, a double, becomes a threshold: the least key of the samples' own
// type whose value is not below the edge. The last threshold is the least key above the last edge. The slot of a sample is the number of
// thresholds <= its key: 0 below all bins, i + 1 in bin i, count + 1 above them; NaNs have one more slot. So comparisons are exact, and
// samples are never converted to double; the structures below avoid searching.
#pragma once

#include <samesum/histogram.hpp>

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace samesum::binning {

/// Numbers of which there may be millions: all cores write them right after they are made.
template <class T>
using Filled = std::vector<T, detail::Uninitialized<T>>;

/// The representation of samples of 32 and 64 bits.
enum class Element { integer32, integer64, float32, float64 };

/// A guess at the slot, by arithmetic: real(x) = (x - low) * scale in float (double for float64; for integers from key - first), clamped to
/// [-0.5, top]. The nearest integer r is an edge's index, and the slot is r, or r + 1 where real(x) >= r. Each operation is monotone, so
/// the guess is wrong only where rounding moves the real() of a threshold below its edge's index, or that of the preceding key not below
/// it. The host checks all of them: their distance from the index is less than `tolerance`, and samples within that distance are compared
/// with threshold r. The last edge, which belongs to the bin below it, has its own tolerance: there may be no other, and samples on edges
/// are common. A low of zero is stored as -0.0: so real() is +0.0 for both zeros, and loops may use the sign bit of the difference to the
/// nearest edge.
struct Even {
  double low = 0;
  double scale = 0;
  double top = 0;
  double tolerance = 0;
  double last_tolerance = 0;
  std::uint64_t first = 0;  ///< key of the first threshold, for integers
};

/// The slot of a float32 sample by two operations, where that is right for all samples: floor((x - low) * scale) + 1, of the difference
/// rounded down and the exact product, clamped to what is outside of all bins. Both operations are monotone, so the host checks the
/// thresholds and the keys before them. Only samples equal to the last edge, which belong to the last bin, are compared with it.
struct Floor {
  float low = 0;
  float scale = 0;
  float top = 0;   ///< ROUNDER of slots.cl and the number of bins
  float high = 0;  ///< the greatest sample in the last bin
};

/// A search by table: a trie over keys, whose first level may be over values instead. In it, an offset is the difference of a key to the
/// first threshold, clamped to the thresholds' span. Cell offset >> shift of the root, or, for float32, cell round((x - low) * scale),
/// clamped to [0, top], is a word: of a leaf, with the count and start of the thresholds among its keys; or of a node, whose word for an
/// offset is words[(offset >> shift) - bias]. Cells are divided until they have at most two thresholds, so that edges may be distributed in
/// any way: evenly, logarithmically (as floating-point keys are), in clusters. A word is 1 : 6 : 25 bits, node : shift : bias (modulo
/// 2^25), or 0 : count : start; a count of kMany means kMany or more.
struct Trie {
  static constexpr std::uint32_t kNode = std::uint32_t{1} << 31;
  static constexpr std::uint32_t kLow = (std::uint32_t{1} << 25) - 1;
  static constexpr std::uint32_t kMany = 63;

  std::uint64_t first = 0;  ///< key of the first threshold
  std::uint64_t span = 0;   ///< from the first to the last
  std::uint32_t shift = 0;
  bool by_value = false;
  float low = 0;
  float scale = 0;
  float top = 0;
  Filled<std::uint32_t> words;  ///< beginning with the root's cells
};

/// The plan for samples of one type.
class Plan {
 public:
  /// @throws Error (usage) for bins by a formula that does not go with the type; they are for by_value() alone.
  Plan(const Bins& bins, DType type);

  DType type() const noexcept { return type_; }
  /// Of 8 and 16 bits: all patterns are counted, and assigned to bins at the end.
  bool by_value() const noexcept { return size_of(type_) <= 2; }
  std::uint64_t slots() const noexcept { return slots_; }
  std::uint64_t nan_slot() const noexcept { return slots_ - 1; }

  /// Whether fold() may throw.
  bool may_fail() const noexcept { return failing_.has_value(); }
  /// Requires by_value(): the slot of each of the 256 or 65536 patterns.
  const std::vector<std::uint32_t>& pattern_slots() const noexcept { return pattern_slots_; }
  /// The slot counts, summed from the patterns' counts. @throws Error (no_answer) where the bins' formula fails at a pattern that occurs.
  std::vector<std::uint64_t> fold(std::span<const std::uint64_t> patterns) const;

  // Require !by_value().
  Element element() const noexcept;
  /// Ascending; only thresholds that some value of the type reaches: at most slots() - 2. Without any, every sample is in slot 0.
  const Filled<std::uint64_t>& thresholds() const noexcept { return thresholds_; }
  /// No value where the guess would be too imprecise.
  const std::optional<Even>& even() const noexcept { return even_; }
  const std::optional<Floor>& floor() const noexcept { return floor_; }
  /// A trie of at most `most` words, at least one; where they do not suffice, leaves have more thresholds. `by_value`: whether the first
  /// level may be over values, which needs the host's arithmetic, denormals included.
  Trie trie(std::uint64_t most, bool by_value) const;
  /// The slot of the sample with these bits, by binary search.
  std::uint64_t slot_of(std::uint64_t bits) const noexcept;

 private:
  void make_thresholds(const Bins& bins);
  void find_even(const Bins& bins);
  void find_floor(const Bins& bins);

  DType type_;
  std::uint64_t slots_;
  Filled<std::uint64_t> thresholds_;
  std::vector<std::uint32_t> pattern_slots_;
  std::optional<Bins> failing_;        // bins whose formula fails at some patterns
  std::vector<std::uint32_t> faults_;  // of each pattern
  std::optional<Even> even_;
  std::optional<Floor> floor_;
};

/// The keys of floats: unsigned integers in the order of the values, so that key(x) >= threshold is equivalent to x >= edge. The key of
/// -0.0 precedes that of 0.0; the threshold of an edge 0 is that of -0.0.
constexpr std::uint32_t float_key(std::uint32_t bits) noexcept { return bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u); }
constexpr std::uint64_t double_key(std::uint64_t bits) noexcept {
  return bits ^ ((bits >> 63) != 0 ? ~std::uint64_t{0} : std::uint64_t{1} << 63);
}
constexpr std::uint32_t float_bits_of(std::uint32_t key) noexcept { return key ^ ((key >> 31) != 0 ? 0x80000000u : 0xffffffffu); }
constexpr std::uint64_t double_bits_of(std::uint64_t key) noexcept {
  return key ^ ((key >> 63) != 0 ? std::uint64_t{1} << 63 : ~std::uint64_t{0});
}

/// Even's real(), bit for bit as in slots.cl and the CPU's loops.
inline float real_of(float x, float low, float scale) noexcept { return (x - low) * scale; }
inline double real_of(double x, double low, double scale) noexcept { return (x - low) * scale; }
template <class Key>
float real_of_key(Key key, Key first, float scale) noexcept {
  return (key < first ? -1.0f : static_cast<float>(static_cast<Key>(key - first))) * scale;
}

/// The cell of a trie by value.
inline std::uint32_t cell_of(float x, const Trie& trie) noexcept {
  constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23
  float real = real_of(x, trie.low, trie.scale);
  real = real > 0 ? real : 0.0f;
  real = real < trie.top ? real : trie.top;
  return std::bit_cast<std::uint32_t>(real + kRounder) - std::bit_cast<std::uint32_t>(kRounder);
}

}  // namespace samesum::binning
