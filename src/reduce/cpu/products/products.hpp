// The exact sum of products on the CPU: squares, and a·b.
#pragma once

#include "reduce/cpu/sum_cpu_partial.hpp"
#include "reduce/slack.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/product_accumulator.hpp>
#include <samesum/types.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace samesum::statistics {

using reduction::Int128;

/// Running sums of products in registers, for blocks whose products lie in a window, where all of these sums are exact. The first sum takes
/// of a product the nearest multiple of its spacing, the next what is left, and so on; the anchors are those of the sum's windows
/// (reduce/cpu/sum_cpu_partial.hpp). A product of floats has 48 bits and is one double; a product of doubles has 106 and is two.
struct ProductWindow {
  static constexpr int kMaxLanes = 8;
  static constexpr int kMaxSlices = 4;
  static constexpr int kMaxBlocks = 64;  ///< that `lanes` has room for

  /// Which blocks are tried: those behind one that does not fit are likely to be like it.
  struct Tries {
    int to_skip = 0;    ///< blocks to come that are not tried,
    int last_skip = 0;  ///< and how many were not the last time

    bool now() noexcept {
      if (to_skip == 0) return true;
      --to_skip;
      return false;
    }
    /// Whether the one that was tried fits; returns that.
    bool done(bool success) noexcept;
  };

  /// Of floats, those of the factors. Of doubles, those of the rounded products, and of factors that are squared: where no zeros are
  /// expected, which is cheaper to look at.
  reduction::Bounds first, second;
  int slices = 0;  ///< sums that a product is split over; 0: no window yet
  std::array<double, kMaxSlices> anchors{};
  std::array<int, kMaxSlices> positions{};  ///< of each sum's spacing, for ProductAccumulator::add_scaled
  alignas(64) std::array<std::array<std::int64_t, kMaxLanes>, kMaxSlices> lanes{};
  int blocks = 0;  ///< in `lanes`
  Tries tries;

  /// The exponents of the anchors: the first one's, and how much lower each next one lies. The sums must be empty. `unit`: that of the
  /// accumulator to come, such as ProductAccumulator::kUnit.
  void set_anchors(int slices_wanted, int exponent, int distance, int unit) noexcept;
  template <class Total>
  void flush(Total& total) noexcept;
};

/// What one thread adds its products to.
struct PartialProducts {
  ProductAccumulator total;  ///< of finite products; counts nothing but what add_counts() is given
  bool any = false;          ///< product is known to be there that is neither -0.0 nor NaN

  ProductWindow narrow, wide;             ///< the second has a sum more, and takes what the first does not hold
  reduction::PartialSum<double> rounded;  ///< of floats: products that have no window; of 16-bit floats: plain sums

  std::vector<std::int64_t> bins;  ///< of floats: sums of products of mantissas, by the sum of their exponents
  std::vector<Int128> wide_bins;   ///< the same of doubles; exponents are counted from that of the least normal number
  std::uint64_t in_bins = 0;

  /// Keeps in `total` whether any of these products is neither -0.0 nor NaN.
  template <class T>
  void note_any(const T* a, const T* b, std::size_t count);
  /// `wide_bins`, for `count` products more, at most 2^20.
  Int128* room_in_wide_bins(std::size_t count);
  void flush_bins() noexcept;
  /// The sum of all that was added, complete; may be called once.
  const ProductAccumulator& finish() noexcept;
};

/// Adds a[i] · b[i] for `count` elements of `type` at any byte alignment. `a` and `b` may be the same: then squares are added.
void add_products(const std::byte* a, const std::byte* b, std::uint64_t count, DType type, PartialProducts& partial);

/// The same of floats and doubles, one by one, to the bins.
void add_products_to_bins(const float* a, const float* b, std::size_t count, PartialProducts& partial);
void add_products_to_bins(const double* a, const double* b, std::size_t count, PartialProducts& partial);

using reduction::kPlaces;
inline constexpr std::size_t kProductBlock = 1024;
/// With the best instructions that this processor has.
void add_products_simd(const float* a, const float* b, std::size_t count, PartialProducts& partial);
void add_products_simd(const double* a, const double* b, std::size_t count, PartialProducts& partial);
inline constexpr std::size_t kHalfProducts = 4 * kProductBlock;
/// kHalfProducts products of float16 or bfloat16, at any byte alignment; or none, and returns false, where plain sums are not exact.
bool add_half_products(const std::byte* a, const std::byte* b, DType type, PartialProducts& partial);

/// Adds finite numbers that were summed elsewhere.
void add_sum(ProductAccumulator& total, const Accumulator& sum) noexcept;

/// A sum of products of integers: low + high · 2^64.
struct IntegerProducts {
  Int128 low = 0, high = 0;
};
/// Adds the sum of `count` products of integers.
void add_sum_of_products(const IntegerProducts& sum, std::uint64_t count, PartialProducts& partial) noexcept;

/// Of up to 2^30 elements of `type` at any byte alignment, with the best instructions that this processor has.
IntegerProducts sum_of_products(const std::byte* a, const std::byte* b, std::uint64_t count, DType type);

/// The sum, the sum of squares and the extremes at once, in registers, while both sums of a block are exact in windows.
struct FusedSums {
  struct Windows {
    ProductWindow squares;
    ProductWindow sum;  ///< its anchors and sums alone
  };

  Windows narrow, wide;  ///< the second has a sum more for both, and takes what the first does not hold
  std::uint64_t elements = 0;
  Accumulator sum;
  ProductAccumulator squares;

  void flush(Windows& windows) noexcept {
    windows.sum.flush(sum);
    windows.squares.flush(squares);
  }
  void flush() noexcept {
    flush(narrow);
    flush(wide);
  }
  /// How many blocks to come would not be tried: they need not be offered.
  int skip() noexcept {
    const int blocks = std::min(narrow.squares.tries.to_skip, wide.squares.tries.to_skip);
    narrow.squares.tries.to_skip -= blocks;
    wide.squares.tries.to_skip -= blocks;
    return blocks;
  }
};

/// How many elements of 4 or 8 bytes a block has in each place.
constexpr std::size_t fused_part(std::size_t bytes) { return (bytes == 4 ? kProductBlock : kProductBlock / 2) / kPlaces; }
/// Adds a block, the parts of which lie `distance` elements apart, if that is exact and some of its elements are not zero. Then `least` and
/// `greatest` are its extremes; a zero may be less than the least by its sign, and greater than the greatest.
bool add_fused_block(const float* from, std::size_t distance, FusedSums& sums, float& least, float& greatest);
bool add_fused_block(const double* from, std::size_t distance, FusedSums& sums, double& least, double& greatest);
/// The same of float16 or bfloat16, as many as a block has floats, at any alignment.
bool add_fused_block(const std::byte* from, std::size_t distance, DType type, FusedSums& sums, float& least, float& greatest);

/// The same sums of 16-bit floats as plain ones, which often are exact.
struct FusedHalves {
  static constexpr std::size_t kPart = 8192 / kPlaces;  ///< in each place

  reduction::WatchedSums watched;  ///< half of them of the elements, the others of their squares
  reduction::Attempts watching;
  std::uint64_t elements = 0;
  Accumulator sum, squares;
  std::uint16_t least = 0, greatest = 0;  ///< of the last block

  void flush_watched() noexcept { watched.flush({&sum, &squares}); }
  /// How many blocks to come would not be tried: they need not be offered.
  int skip() noexcept {
    constexpr int kBlocks = kPlaces * kPart / reduction::kBlock;
    const int left_out = watching.left_out;
    watching.pass(left_out);
    return left_out / kBlocks;
  }
};

/// Adds kPart elements from each of kPlaces places, one every `distance` elements, at any byte alignment, if that is exact and some of them
/// are not zero.
bool add_fused_halves(const std::byte* from, std::size_t distance, DType type, FusedHalves& sums);

/// The sum, the sum of squares and the extremes of a block of integers, in one loop.
struct FusedIntegers {
  static constexpr std::size_t kPart = 16384 / kPlaces;  ///< bytes in each place

  Int128 sum = 0;
  IntegerProducts squares;               ///< low + high · 2^64
  std::int64_t least = 0, greatest = 0;  ///< as keys (Extremes)
  std::uint64_t zeros = 0;               ///< if they are wanted
};

/// Whether that is faster than one loop after the other, with this processor's instructions.
bool fuses_integers(DType type);
/// Of kPart bytes in each of kPlaces places, one every `distance` bytes, at any alignment; for types of which fuses_integers() is true.
FusedIntegers add_fused_integers(const std::byte* from, std::size_t distance, DType type, bool zeros);

/// The sum, and the sum of squares, of which the least parts are rounded away.
struct EnclosedSums {
  static constexpr std::size_t kPart = 4096 / kPlaces;  ///< in each place

  ProductWindow squares_window;
  ProductWindow sum_window;    ///< its anchors and sums alone
  ProductWindow::Tries fours;  ///< of floats: sums of four of them, which then go to the second
  bool scales = false;         ///< in the windows elements are so much less that squares of all doubles are doubles
  std::uint64_t elements = 0;
  Accumulator sum;
  ProductAccumulator squares;
  Slack slack;

  void flush() noexcept;
};

/// Adds kPart elements from each of kPlaces places, one every `distance` elements, if they are finite and the greatest of their squares is
/// not at the lower end of the range of doubles. The squares alone or, `with_sum`, both.
bool add_enclosed_block(const float* from, std::size_t distance, bool with_sum, EnclosedSums& sums);
bool add_enclosed_block(const double* from, std::size_t distance, bool with_sum, EnclosedSums& sums);

}  // namespace samesum::statistics
