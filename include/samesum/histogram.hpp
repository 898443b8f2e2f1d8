// Histograms: the number of samples in each bin, counted exactly, and the same on every device.
//
//   const samesum::Bins bins = samesum::Bins::even(0, 1, 256);
//   const samesum::Histogram h = samesum::histogram(samples, bins);
//   h.counts()[17], h.under(), h.over(), h.nan_count(), h.quantile(0.5).value
//
// Bin i holds edge[i] <= x < edge[i+1]; the last bin includes edge[n]. Edges are doubles, and samples of every type are compared with them
// exactly; docs/histogram.md explains why exact comparison costs no time.
#pragma once

#include <samesum/array.hpp>
#include <samesum/buffer.hpp>
#include <samesum/device.hpp>
#include <samesum/export.hpp>
#include <samesum/formula.hpp>
#include <samesum/options.hpp>
#include <samesum/source.hpp>
#include <samesum/types.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum SAMESUM_EXPORT {

namespace detail {

/// For numbers that are written right after they are made: resize() leaves them as they are, so that all cores can fill them.
template <class T>
struct Uninitialized : std::allocator<T> {
  Uninitialized() noexcept = default;
  template <class U>
  Uninitialized(const Uninitialized<U>&) noexcept {}
  template <class U>
  struct rebind {
    using other = Uninitialized<U>;
  };
  template <class U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class V>
  void construct(U* place, V&& value) noexcept {
    ::new (static_cast<void*>(place)) U(std::forward<V>(value));
  }
};
using Edges = std::vector<double, Uninitialized<double>>;

}  // namespace detail

/// A formula of the sample `x` that gives the number of its bin, and its parameters.
struct BinFormula {
  Formula formula;
  std::vector<FormulaParameter> parameters;
};

/// Where bins begin and end. A value; copies share the edges. An edge of -0.0 is 0, and samples of either zero are equal to it.
class Bins {
 public:
  /// The maximum number of bins: 2^24.
  static constexpr std::uint64_t kMax = std::uint64_t{1} << 24;

  /// `count` bins of equal width from `low` to `high`: edge i is fl(fl(i * step) + low) with step = fl((high - low) / count), and the last
  /// edge is `high`, as in numpy.linspace. If the width is so small that edges repeat, the bins between equal edges stay empty.
  /// @throws Error (usage) unless low < high, both finite, and 1 <= count <= kMax.
  static Bins even(double low, double high, std::uint64_t count);
  /// `count` bins over the range of some data, as `even`; if least == greatest, from half a unit below to half a unit above (for numbers
  /// too large for that, to the neighbouring doubles; the greatest double has one neighbour).
  static Bins spanning(double least, double greatest, std::uint64_t count);
  /// `count` bins whose consecutive edges have a constant ratio: edge i is low * (high / low)^(i / count), the first and the last one
  /// exact.
  /// @throws Error (usage) unless 0 < low < high, both finite.
  static Bins logarithmic(double low, double high, std::uint64_t count);
  /// A bin for each integer from `first` to `last`: its edges lie half a unit to either side.
  /// @throws Error (usage) for more than kMax integers, or beyond 2^51, where doubles cannot represent such edges.
  static Bins each_value(std::int64_t first, std::int64_t last);
  /// A bin for each value of an integer type of 8 or 16 bits. @throws Error (usage) for any other type.
  static Bins each_value(DType type);
  /// A bin for each category: samples are the categories' numbers, 0 to names.size() - 1, and bin i is named names[i].
  /// @throws Error (usage) for no names, or more than kMax.
  static Bins categories(std::vector<std::string> names);
  /// Any edges. @throws Error (usage) unless there are two or more, finite, in ascending order (repeats allowed), the last greater than the
  /// first.
  static Bins between(std::vector<double> edges);
  /// Bins by number: a sample `x` belongs to bin n if the formula's value v is n or, of a formula in floating point, n <= v < n + 1:
  /// `clz(x)`, `(x - 97)/4`. Values below 0 are counted as under(), of `count` and more as over(), and NaN as such. Edges are 0, 1, …,
  /// `count`: those of values, not of samples; so are quantiles. Samples of 8 and 16 bits are looked up in a table of all their values.
  /// Samples of a source without Source::type() are float64, or int64 for a formula that takes integers only. What is wrong with the
  /// formula for samples of a type is told where they are counted: Error (usage); and Error (no_answer) if an integer operation fails at a
  /// sample.
  /// @throws Error (usage) unless 1 <= count < kMax, and for a formula that takes the index `i`.
  static Bins by_formula(Formula formula, std::uint64_t count, std::vector<FormulaParameter> parameters = {});

  std::uint64_t count() const noexcept { return edges_->size() - 1; }  ///< their number
  /// count() + 1 edges.
  std::span<const double> edges() const noexcept { return *edges_; }
  double low() const noexcept { return edges_->front(); }  ///< the first edge
  double high() const noexcept { return edges_->back(); }  ///< the last edge
  /// How the bins were made: "even", "logarithmic", "each value", "categories", "edges", "formula".
  std::string_view kind() const noexcept { return kind_; }
  /// Of categories: a name for each bin; else empty.
  std::span<const std::string> names() const noexcept;

  /// What index_of() says of samples that are in no bin.
  static constexpr std::int64_t kUnder = -1, kOver = -2, kNan = -3;
  /// The number of the bin in which histogram() counts a sample, or kUnder, kOver, kNan. O(log count()); with a formula O(count()).
  /// @throws Error as histogram() of this sample, if there is a formula.
  template <Element T>
  std::int64_t index_of(T sample) const {
    return index_of(&sample, dtype_of<T>());
  }
  /// The same of a sample of `type` in host memory, at any alignment.
  std::int64_t index_of(const void* sample, DType type) const;

  /// Null if edges say it all.
  const BinFormula* formula() const noexcept { return formula_.get(); }

  /// Compares edges, names, and formulas with their parameters.
  friend SAMESUM_EXPORT bool operator==(const Bins& a, const Bins& b) noexcept;

 private:
  Bins(detail::Edges edges, std::string_view kind);

  std::shared_ptr<const detail::Edges> edges_;
  std::string_view kind_;
  std::shared_ptr<const BinFormula> formula_;
  std::shared_ptr<const std::vector<std::string>> names_;
};

/// An estimate of a quantile from binned samples.
struct Quantile {
  double value = 0;  ///< interpolated within its bin, assuming its samples are evenly spread
  double low = 0;    ///< the quantile lies in [low, high]: its bin; -inf below all bins, inf above them
  double high = 0;

  double error() const noexcept;  ///< upper bound of |value - quantile|
};

/// The number of samples in each bin. A value: histograms of parts can be merged.
class Histogram {
 public:
  /// All counts 0.
  explicit Histogram(Bins bins);
  /// `slots`: the samples below all bins, in each bin, above all bins, and the NaNs: bins.count() + 3 numbers.
  /// @throws Error (usage) for another number of them; Error (no_answer) if there are more than 2^64 - 1 samples.
  Histogram(Bins bins, std::span<const std::uint64_t> slots);
  /// The same from the counts of the bins, and those of the other samples.
  Histogram(Bins bins, const std::vector<std::uint64_t>& counts, std::uint64_t under, std::uint64_t over, std::uint64_t nan);
  /// From slots of 32 bits, as devices count them. Many are converted by all cores. @throws Error (usage) for another number of them.
  Histogram(Bins bins, std::span<const std::uint32_t> slots);

  const Bins& bins() const noexcept { return bins_; }                                ///< as given
  std::span<const std::uint64_t> counts() const noexcept { return counts_; }         ///< of the bins, in their order
  std::uint64_t under() const noexcept { return under_; }                            ///< samples below the first edge
  std::uint64_t over() const noexcept { return over_; }                              ///< above the last edge
  std::uint64_t nan_count() const noexcept { return nan_; }                          ///< samples that are NaN
  std::uint64_t inside() const noexcept;                                             ///< in all bins
  std::uint64_t total() const noexcept { return inside() + under_ + over_ + nan_; }  ///< all samples

  /// counts()[i] / (inside() * width of bin i), which integrates to 1; 0 for bins without width, and all 0 if inside() is 0.
  std::vector<double> density() const;
  /// For each i the number of samples in bins 0 to i.
  std::vector<std::uint64_t> cumulative() const;
  /// The smallest x such that a fraction of at least `p` of all samples but NaNs is <= x; its bin is exact, its place in the bin estimated.
  /// @throws Error (usage) unless 0 <= p <= 1; Error (no_answer) if there are no samples but NaNs.
  Quantile quantile(double p) const;

  /// The same samples over the `count` bins from number `first` on; the samples in the bins below and above are counted as under() and
  /// over(). A sample on the upper edge of the last of these bins stays where it was counted: above it, unless that bin was the last one
  /// before, too. @throws Error (usage) for bins that do not exist, or none.
  Histogram slice(std::uint64_t first, std::uint64_t count) const;
  /// The same samples over fewer bins, `factor` adjacent ones to one; the last bin may have fewer. @throws Error (usage) for a factor of 0.
  Histogram rebin(std::uint64_t factor) const;

  /// Adds the counts of a histogram over the same bins. @throws Error (usage) for other bins; Error (no_answer) if there would be more
  /// than 2^64 - 1 samples: then nothing is added.
  void merge(const Histogram& other);
  Histogram& operator+=(const Histogram& other) {
    merge(other);
    return *this;
  }

  /// The canonical serialized form (docs/accumulator-format.md), edges included: equal histograms have equal bytes. O(bins).
  std::vector<std::byte> serialize() const;
  /// The bins have the same edges; their kind() is "edges". A formula is no part of it.
  /// @throws Error (usage) for anything but a complete, undamaged serialized form of a version that this library knows.
  static Histogram deserialize(std::span<const std::byte> bytes);

  /// 2 * (bins().count() + 3) words that merge by addition, as Accumulator::words(). They do not include the edges: only words of
  /// histograms with the same bins may be added. O(bins).
  std::vector<std::int64_t> words() const;
  /// @throws Error (usage) for another number of words, or words that are not such a sum; Error (no_answer) if there are more than
  /// 2^64 - 1 samples.
  static Histogram from_words(Bins bins, std::span<const std::int64_t> words);

  friend bool operator==(const Histogram&, const Histogram&) = default;

 private:
  void check_total() const;

  Bins bins_;
  std::vector<std::uint64_t, detail::Uninitialized<std::uint64_t>> counts_;
  std::uint64_t under_ = 0, over_ = 0, nan_ = 0;
};

/// The histogram of `data`: exact counts, the same on every device. O(n), and O(bins) memory for each thread or group of work-items.
/// May be called from several threads at once.
/// @throws Error (usage) for a group size that the device cannot run; Error (device) if the device fails.
/// An array on a device is counted there, and only the counts are copied to the host. An array that is not one contiguous run is gathered
/// on the device first, in parts of 64 MiB. A call caches what it prepares for its bins for the next call with the same Bins, or a copy of
/// them; that one costs its kernel and a copy of the counts. @throws Error (device) for a report on a caller's queue that records no times.
Histogram histogram(const Array& data, const Bins& bins, const Options& options = {});
/// The histogram of all chunks of `source`.
Histogram histogram(Source& source, const Bins& bins, const Options& options = {});

/// The least and the greatest finite number of some data, as doubles: integers of more than 53 bits are rounded outwards.
struct Range {
  double min = 0;
  double max = 0;
};
/// Computed on all cores of the CPU; an array on a device is copied to the host for that. No value if there is no finite number.
std::optional<Range> range_of(const Array& data);
std::optional<Range> range_of(Source& source);

// --- text ------------------------------------------------------------------------------------------------------------------------

/// Which bin each byte of a text belongs to, if any.
struct CharacterMap {
  static constexpr std::int16_t kNone = -1;

  std::vector<std::string> names;       ///< of the bins: "a-d"
  std::array<std::int16_t, 256> bin{};  ///< of each byte; kNone: counted in CharacterCounts::others

  /// One bin for each byte.
  static CharacterMap bytes();
  /// Letters without regard to case, `group` (1 to 26) to a bin: with 4 a-d, e-h, …, y-z. All other bytes are kNone.
  static CharacterMap letters(std::uint32_t group = 4);
  /// A bin for each entry of `groups`, which lists its characters ("aeiou", "0123456789"). @throws Error (usage) for a byte in two of them.
  static CharacterMap of(const std::vector<std::string>& groups);
};

struct CharacterCounts {
  std::vector<std::string> names;
  std::vector<std::uint64_t> counts;
  std::uint64_t others = 0;
};

/// Counts the bytes of `text`. @throws Error (usage) if `map` assigns a byte to a bin without a name.
CharacterCounts count_characters(std::string_view text, const CharacterMap& map, const Options& options = {});

}  // namespace samesum
