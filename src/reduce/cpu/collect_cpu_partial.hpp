// What one thread of the CPU's statistics does with its part of the array.
#pragma once

#include "core/view.hpp"
#include "reduce/cpu/extremes_cpu.hpp"
#include "reduce/cpu/halves.hpp"
#include "reduce/cpu/products/products.hpp"
#include "reduce/cpu/sum_cpu_partial.hpp"

#include <samesum/statistics.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <variant>

namespace samesum::statistics {

/// What one thread collects of the parts of an array that it is given, in any order. Zeros are counted with extremes.
class Partial {
 public:
  /// `may_round`: the least parts of sums, by slack() at most.
  Partial(DType type, Fields fields, bool may_round = false) : type_(type), fields_(fields) {
    may_round_ = may_round && fields.squares && !fields.extrema && !fields.nonzeros && (type == DType::float32 || type == DType::float64);
    if (!fields.sum) return;
    if (is_integer(type)) {
      sum_.emplace<reduction::IntegerSum>();
    } else if (type == DType::float64) {
      sum_.emplace<reduction::PartialSum<double>>();
    } else {
      sum_.emplace<reduction::PartialSum<float>>();
    }
  }

  void add(View data, std::uint64_t first, std::uint64_t count) { add(at(data, first), first, count); }
  /// Elements that follow one another, of which the first has the index `first`.
  void add(const std::byte* elements, std::uint64_t first, std::uint64_t count) {
    if (may_round_ && reinterpret_cast<std::uintptr_t>(elements) % size_of(type_) == 0) {
      const std::uint64_t done = type_ == DType::float32 ? add_enclosed<float>(elements, count) : add_enclosed<double>(elements, count);
      elements += done * size_of(type_);
      first += done;
      count -= done;
    }
    add_exactly(elements, first, count);
  }

  /// Adds this to `contents`; `extremes` are merged by key first.
  void finish(Statistics::Contents& contents, Extremes& extremes) {
    std::visit([&](auto& sum) { merge(sum, contents.sum); }, sum_);
    if (fields_.squares) contents.squares.merge(squares_.finish());
    const auto add = [&](auto& sums) {
      if (sums.elements == 0) return;
      sums.flush();
      sums.sum.add_counts(sums.elements, 0, 0, 0, false);
      sums.squares.add_counts(sums.elements, 0, 0, 0, false);
      if (fields_.sum) contents.sum.merge(sums.sum);
      contents.squares.merge(sums.squares);
    };
    add(fused_);
    add(enclosed_);
    if (fields_.nonzeros) contents.nonzeros += extremes_.count - extremes_.zeros;
    extremes.merge(extremes_);
  }

  /// How far what finish() added may be off.
  const Slack& slack() const noexcept { return enclosed_.slack; }

 private:
  using None = std::monostate;
  static constexpr std::uint64_t kBlockBytes = 16384;

  void add_exactly(const std::byte* elements, std::uint64_t first, std::uint64_t count) {
    if (type_ == DType::float32) return add_as<float>(elements, first, count);
    if (type_ == DType::float64) return add_as<double>(elements, first, count);
    if (type_ == DType::float16 || type_ == DType::bfloat16) return add_halves(elements, first, count);
    add_apart(elements, first, count);
  }

  static const std::byte* at(View data, std::uint64_t index) {
    return static_cast<const std::byte*>(data.data()) + index * size_of(data.type());
  }

  // All blocks that may be rounded; how many elements these are.
  template <class T>
  std::uint64_t add_enclosed(const std::byte* elements, std::uint64_t count) {
    using Sums = EnclosedSums;
    const T* const all = reinterpret_cast<const T*>(elements);
    const std::size_t distance = count / (Sums::kPlaces * Sums::kPart) * Sums::kPart;
    for (std::size_t i = 0; i < distance; i += Sums::kPart) {
      if (add_enclosed_block(all + i, distance, fields_.sum, enclosed_)) continue;
      for (std::size_t place = 0; place < Sums::kPlaces; ++place) {
        add_exactly(reinterpret_cast<const std::byte*>(all + place * distance + i), 0, Sums::kPart);
      }
    }
    return Sums::kPlaces * distance;
  }

  // In one loop where that is exact.
  template <class T>
  void add_as(const std::byte* elements, std::uint64_t first, std::uint64_t count) {
    constexpr std::size_t kBlock = fused_block(sizeof(T));
    const bool fused = fields_.sum && fields_.squares && !fields_.nonzeros && reinterpret_cast<std::uintptr_t>(elements) % alignof(T) == 0;
    for (; fused && count >= kBlock; first += kBlock, count -= kBlock, elements += kBlock * sizeof(T)) {
      T least, greatest;
      if (!add_fused_block(reinterpret_cast<const T*>(elements), fused_, least, greatest)) {
        add_apart(elements, first, kBlock);
      } else if (fields_.extrema && !note_extremes(least, greatest, first, kBlock)) {
        add_extremes(elements, kBlock, type_, first, false, extremes_);
      }
    }
    add_apart(elements, first, count);
  }

  bool may_fuse() const { return fields_.sum && fields_.squares && !fields_.nonzeros; }

  // 16-bit floats, as floats; their extremes are those of 16 bits.
  void add_halves(const std::byte* elements, std::uint64_t first, std::uint64_t count) {
    alignas(64) float block[kProductBlock];
    for (; may_fuse() && count >= kProductBlock; first += kProductBlock, count -= kProductBlock, elements += 2 * kProductBlock) {
      reduction::halves_to_floats(elements, kProductBlock, type_, block);
      float least, greatest;
      if (!add_fused_block(block, fused_, least, greatest)) {
        add_apart(elements, first, kProductBlock);
      } else if (fields_.extrema) {
        add_extremes(elements, kProductBlock, type_, first, false, extremes_);
      }
    }
    add_apart(elements, first, count);
  }

  // One loop after the other over a block that lies in the first-level cache. One alone takes all, and so may read in several places.
  void add_apart(const std::byte* elements, std::uint64_t first, std::uint64_t count) {
    const bool alone = fields_.sum + fields_.squares + fields_.extrema == 1;
    const std::uint64_t block = alone ? count : kBlockBytes / size_of(type_);
    for (const std::uint64_t end = first + count; first < end; first += block, elements += kBlockBytes) {
      const std::uint64_t taken = std::min(block, end - first);
      std::visit([&](auto& sum) { add_to(sum, elements, taken); }, sum_);
      if (fields_.squares) add_products(elements, elements, taken, type_, squares_);
      if (fields_.extrema || fields_.nonzeros) add_extremes(elements, taken, type_, first, fields_.nonzeros, extremes_);
    }
  }

  // Whether the extremes of a block without NaNs change nothing; zeros of both signs are equal here, so these are looked at.
  template <class T>
  bool note_extremes(T least, T greatest, std::uint64_t first, std::size_t count) {
    const auto key = [](T x) {
      using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
      const auto bits = std::bit_cast<Bits>(x);
      return std::int64_t{bits ^ ((bits >> (8 * sizeof(T) - 1)) & std::numeric_limits<Bits>::max())};
    };
    if (!extremes_.min_index || !extremes_.max_index || least == 0 || greatest == 0) return false;
    const bool below = key(least) < extremes_.min || (key(least) == extremes_.min && first < *extremes_.min_index);
    const bool above = key(greatest) > extremes_.max || (key(greatest) == extremes_.max && first < *extremes_.max_index);
    if (below || above) return false;
    extremes_.count += count;
    return true;
  }

  void add_to(None&, const std::byte*, std::uint64_t) {}
  template <class Sum>
  void add_to(Sum& sum, const std::byte* elements, std::uint64_t count) {
    add_elements(elements, count, type_, sum);
  }
  static void merge(None&, Accumulator&) {}
  template <class Sum>
  static void merge(Sum& sum, Accumulator& total) {
    total.merge(sum.finish());
  }

  DType type_;
  Fields fields_;
  std::variant<None, reduction::IntegerSum, reduction::PartialSum<float>, reduction::PartialSum<double>> sum_;
  PartialProducts squares_;
  FusedSums fused_;
  bool may_round_;
  EnclosedSums enclosed_;
  Extremes extremes_;
};

}  // namespace samesum::statistics
