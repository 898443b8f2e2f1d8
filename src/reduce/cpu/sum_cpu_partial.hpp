// What one thread of the CPU's sum does with its part of the array.
#pragma once

#include "reduce/cpu/sum_cpu_bins.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/types.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace samesum::reduction {

__extension__ typedef __int128 Int128;  // no standard name for it

/// The most doubles that a vector has.
inline constexpr int kMaxLanes = 8;
/// Elements that are added up in registers before anything is kept: they stay in the first-level cache, and may be looked at again.
inline constexpr std::size_t kBlock = 1024;
/// Loops read so many places of an array in turns: memory gives more to a processor that reads in several.
inline constexpr std::size_t kPlaces = 2;

/// Sums of doubles in vectors that are exact because the processor has not rounded (core::RoundingWatch), which nothing has to look at an
/// element for: of float32 as they are; of float64 in two parts, the upper 26 bits and the other 27, so that sums have bits to grow by;
/// of 16-bit floats also their products, or the elements and their squares at once.
struct WatchedSums {
  static constexpr int kSums = 8;          ///< vectors of a block's sums; of two kinds half of them for each
  static constexpr int kKept = kSums / 2;  ///< of which two make one
  using Lanes = std::array<std::array<double, kMaxLanes>, kKept>;

  alignas(64) Lanes upper{}, lower{};  ///< sums of blocks are added up as two doubles each, exactly
  bool any = false;                    ///< has been added to these; otherwise they are zeros

  /// Adds them to `totals`, which the vectors belong to in equal parts.
  void flush(std::initializer_list<Accumulator*> totals) noexcept;
};

/// Magnitudes by the upper 32 bits of their encoding: lowest <= bits < end; and zeros, where `zeros` is set.
struct Bounds {
  std::int32_t lowest = 0;
  std::int32_t end = 0;
  bool zeros = false;  ///< look at whole encodings, which tells zeros from the smallest numbers, at some cost
};

/// How elements are split so that sums of them in registers are exact, and for which elements that holds.
///
/// A running sum starts at an anchor 1.5·2^k and stays in its binade, where doubles are the multiples of 2^(k-52). Of each element it
/// takes the nearest such multiple; what is left, which is exact, goes to the next sum, whose anchor lies lower; the last one takes all
/// that is left. As the sums of one slice share their spacing, they add up as integers.
/// Reference: Demmel and Nguyen, Fast Reproducible Floating-Point Summation (ARITH 2013), who round the last rest away.
struct Window : Bounds {  // for which it holds
  static constexpr int kMaxSlices = 3;
  static constexpr int kScaleBits = 64;
  static constexpr double kScale = 0x1p-64;

  int slices = 0;       ///< sums that an element is split over; 0: no window yet
  bool rounds = false;  ///< takes any lesser magnitudes too, and rounds them: each is off by a spacing of the last slice at most
  bool scales = false;  ///< takes elements times kScale, in which the greatest leave room for sums; it loses the least, so it `rounds`
  std::array<double, kMaxSlices> anchors{};
  std::array<int, kMaxSlices> positions{};  ///< of each slice's spacing, for Accumulator::add_scaled
};

/// When to try a faster way that works for some data: the less often, the more attempts fail.
struct Attempts {
  int left_out = 0;       ///< blocks to come before the next attempt,
  int last_left_out = 0;  ///< and how many were left out the last time

  bool due() const noexcept { return left_out == 0; }
  /// An attempt worked, or did not; returns that.
  bool note(bool worked) noexcept {
    last_left_out = worked ? last_left_out / 2 : std::clamp(8 * last_left_out, 4, 512);
    left_out = worked ? 0 : last_left_out;
    return worked;
  }
  /// So many blocks of kBlock elements were added.
  void pass(int blocks) noexcept { left_out = std::max(left_out - blocks, 0); }
};

/// An accumulator and what is on its way there.
template <class T>
struct PartialSum {
  static constexpr int kMaxBlocks = 64;  ///< that `lanes` has room for: a block adds up to 2^53 to a lane; all lanes add up under 2^63

  /// `rounds`: small parts of elements may be rounded away, so that `total` is off by less than twice `slack`.
  explicit PartialSum(bool rounds = false) : may_round(rounds) {}

  std::uint64_t elements = 0;  ///< how many were added
  Accumulator total;           ///< of finite numbers; counts nothing
  std::uint64_t nans = 0;
  std::uint64_t positive_infinities = 0;
  std::uint64_t negative_infinities = 0;
  bool only_negative_zeros = true;  ///< and NaNs

  WatchedSums watched;
  Attempts watching;  ///< attempts to add blocks to these

  bool may_round;
  double slack = 0;  ///< itself a sum that has been rounded

  Window window;
  Attempts unseen;  ///< attempts to add blocks within the window without a look at their elements
  alignas(64) std::array<std::array<std::int64_t, kMaxLanes>, Window::kMaxSlices> lanes{};  ///< sums of each slice, in its spacing
  int blocks = 0;                                                                           ///< in `lanes`

  Bins<T> bins;
  std::uint64_t infinities_in_bins = 0;  ///< counted above, too
  int blocks_to_bins = 0;                ///< blocks to come that go to the bins unseen,
  int last_blocks_to_bins = 0;           ///< and how many did the last time
  bool expects_specials = false;         ///< infinities or NaNs: the last block had some

  void flush_watched() noexcept { sizeof(T) == 4 ? watched.flush({&total}) : watched.flush({&total, &total}); }
  void flush_lanes() noexcept;
  void add_one_by_one(const std::byte* from, std::size_t count) noexcept;
  /// Adds what another thread added to `part`, which ends that.
  void merge(PartialSum& part) noexcept {
    total.merge(part.finish());
    slack += part.slack;
  }
  /// The sum of all that was added, complete; may be called once.
  const Accumulator& finish() noexcept;
};

/// Adds `count` elements at any byte alignment, with the best instructions that this processor has: float32, float16 and bfloat16 to a
/// sum of floats, float64 to one of doubles.
void add_elements(const std::byte* elements, std::uint64_t count, DType type, PartialSum<float>& partial);
void add_elements(const std::byte* elements, std::uint64_t count, DType type, PartialSum<double>& partial);

/// The plain sum of `count` elements in their own type, several at a time.
template <class T>
T plain_sum_simd(const std::byte* elements, std::uint64_t count);
template <>
float plain_sum_simd<float>(const std::byte* elements, std::uint64_t count);
template <>
double plain_sum_simd<double>(const std::byte* elements, std::uint64_t count);

/// The sum of integers of one type.
struct IntegerSum {
  std::uint64_t elements = 0;
  bool is_signed = false;
  Accumulator total;

  /// Adds the sum of `count` elements of `type`.
  void add(Int128 sum, std::uint64_t count, DType type) noexcept {
    elements += count;
    is_signed = samesum::is_signed(type);
    constexpr int kUnit = 1074, kBits = 60;
    total.add_scaled(static_cast<std::int64_t>(sum & ((Int128{1} << kBits) - 1)), kUnit);
    total.add_scaled(static_cast<std::int64_t>(sum >> kBits), kUnit + kBits);  // all sums are less than 2^(kBits + 63)
  }
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
