// What one thread of the CPU's statistics does with its part of the array.
#pragma once

#include "core/half.hpp"
#include "core/view.hpp"
#include "reduce/cpu/extremes_cpu.hpp"
#include "reduce/cpu/products/products.hpp"
#include "reduce/cpu/sum_cpu_partial.hpp"

#include <samesum/statistics.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
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
      if (!sums || sums->elements == 0) return;
      sums->flush();
      sums->sum.add_counts(sums->elements, 0, 0, 0, false);
      sums->squares.add_counts(sums->elements, 0, 0, 0, false);
      if (fields_.sum) contents.sum.merge(sums->sum);
      contents.squares.merge(sums->squares);
    };
    if (halves_) {
      FusedSums& fused = made(fused_);
      halves_->flush_watched();
      fused.elements += halves_->elements;
      fused.sum.merge(halves_->sum);
      add_sum(fused.squares, halves_->squares);
    }
    add(fused_);
    add(enclosed_);
    if (fields_.nonzeros) contents.nonzeros += extremes_.count - extremes_.zeros;
    extremes.merge(extremes_);
  }

  /// How far what finish() added may be off.
  Slack slack() const noexcept { return enclosed_ ? enclosed_->slack : Slack{}; }

 private:
  using None = std::monostate;
  static constexpr std::uint64_t kBlockBytes = 16384;

  void add_exactly(const std::byte* elements, std::uint64_t first, std::uint64_t count) {
    if (is_integer(type_))
      return fields_.squares && fuses_integers(type_) ? add_integers(elements, first, count) : add_apart(elements, first, count);
    if (type_ == DType::float64) return add_as<double>(elements, first, count);
    type_ == DType::float32 ? add_as<float>(elements, first, count) : add_halves(elements, first, count);
  }

  static const std::byte* at(View data, std::uint64_t index) {
    return static_cast<const std::byte*>(data.data()) + index * size_of(data.type());
  }

  // Sums of blocks are made for the first block: short arrays have none, and making them takes a while.
  template <class Sums>
  static Sums& made(std::optional<Sums>& sums) {
    return sums ? *sums : sums.emplace();
  }

  // All blocks that may be rounded; how many elements these are.
  template <class T>
  std::uint64_t add_enclosed(const std::byte* elements, std::uint64_t count) {
    using Sums = EnclosedSums;
    const T* const all = reinterpret_cast<const T*>(elements);
    const std::size_t distance = count / (kPlaces * Sums::kPart) * Sums::kPart;
    for (std::size_t i = 0; i < distance; i += Sums::kPart) {
      if (add_enclosed_block(all + i, distance, fields_.sum, made(enclosed_))) continue;
      for (std::size_t place = 0; place < kPlaces; ++place) {
        add_exactly(reinterpret_cast<const std::byte*>(all + place * distance + i), 0, Sums::kPart);
      }
    }
    return kPlaces * distance;
  }

  // In one loop where that is exact. T: what they are added as.
  template <class T>
  void add_as(const std::byte* elements, std::uint64_t first, std::uint64_t count) {
    constexpr std::size_t kPart = fused_part(sizeof(T));
    const std::size_t size = size_of(type_);
    const bool aligned = size < sizeof(T) || reinterpret_cast<std::uintptr_t>(elements) % alignof(T) == 0;
    const bool fused = (fields_.sum || size < sizeof(T)) && fields_.squares && !fields_.nonzeros && aligned;
    const std::uint64_t distance = fused ? count / (kPlaces * kPart) * kPart : 0, taken = kPlaces * distance;
    add_in_places<T>(elements, first, distance, distance);
    add_apart(elements + taken * size, first + taken, count - taken);
  }

  // Of `count` elements in each of kPlaces places, one every `distance` elements, a multiple of a block's part.
  template <class T>
  void add_in_places(const std::byte* elements, std::uint64_t first, std::uint64_t distance, std::uint64_t count) {
    constexpr std::size_t kPart = fused_part(sizeof(T));
    const std::size_t size = size_of(type_);
    for (std::uint64_t i = 0, part = kPart; i < count; i += part, part = kPart) {
      T least, greatest;
      const bool done = add_fused(elements + i * size, distance, least, greatest);
      if (done && (!fields_.extrema || note_extremes(key(least), key(greatest), first + i, kPlaces * kPart))) continue;
      if (!done) part = std::min<std::uint64_t>(kPart * (1 + fused_->skip()), count - i);
      for (std::uint64_t place = i; place < kPlaces * distance; place += distance) {
        const std::byte* const at = elements + place * size;
        done ? add_extremes(at, part, type_, first + place, false, extremes_) : add_apart(at, first + place, part);
      }
    }
  }

  // As plain sums where those are exact, else as floats.
  void add_halves(const std::byte* elements, std::uint64_t first, std::uint64_t count) {
    constexpr std::size_t kPart = FusedHalves::kPart, kSize = 2;
    const bool fused = fields_.squares && !fields_.nonzeros;
    const std::uint64_t distance = fused ? count / (kPlaces * kPart) * kPart : 0, taken = kPlaces * distance;
    for (std::uint64_t i = 0, part = kPart; i < distance; i += part, part = kPart) {
      const std::byte* const from = elements + i * kSize;
      const auto key = [](std::uint16_t bits) { return key_of(static_cast<std::int16_t>(bits)); };
      FusedHalves& halves = made(halves_);
      if (!add_fused_halves(from, distance, type_, halves)) {
        part = std::min<std::uint64_t>(kPart * (1 + halves.skip()), distance - i);
        add_in_places<float>(from, first + i, distance, part);
      } else if (fields_.extrema && !note_extremes(key(halves.least), key(halves.greatest), first + i, kPlaces * kPart)) {
        for (std::uint64_t place = 0; place < taken; place += distance) {
          add_extremes(from + place * kSize, kPart, type_, first + i + place, false, extremes_);
        }
      }
    }
    add_as<float>(elements + taken * kSize, first + taken, count - taken);
  }

  bool add_fused(const std::byte* from, std::size_t distance, double& least, double& greatest) {
    return add_fused_block(reinterpret_cast<const double*>(from), distance, made(fused_), least, greatest);
  }
  // 16-bit floats are in the same order as floats.
  bool add_fused(const std::byte* from, std::size_t distance, float& least, float& greatest) {
    return type_ == DType::float32 ? add_fused_block(reinterpret_cast<const float*>(from), distance, made(fused_), least, greatest)
                                   : add_fused_block(from, distance, type_, made(fused_), least, greatest);
  }

  // In one loop.
  void add_integers(const std::byte* elements, std::uint64_t first, std::uint64_t count) {
    using Fused = FusedIntegers;
    const std::size_t size = size_of(type_);
    const std::uint64_t part = Fused::kPart / size, distance = count / (kPlaces * part) * part, taken = kPlaces * distance;
    Int128 sum = 0;
    IntegerProducts squares;
    for (std::uint64_t i = 0; i < distance; i += part) {
      const std::byte* const from = elements + i * size;
      const Fused found = add_fused_integers(from, distance * size, type_, fields_.nonzeros);
      sum += found.sum;
      squares.low += found.squares.low;
      squares.high += found.squares.high;
      extremes_.zeros += found.zeros;
      if (!fields_.extrema && !fields_.nonzeros) continue;
      if (note_extremes(found.least, found.greatest, first + i, kPlaces * part)) continue;
      for (std::uint64_t place = 0; place < taken; place += distance) {
        add_extremes(from + place * size, part, type_, first + i + place, false, extremes_);
      }
    }
    if (taken != 0) {
      if (auto* const total = std::get_if<reduction::IntegerSum>(&sum_)) total->add(sum, taken, type_);
      add_sum_of_products(squares, taken, squares_);
    }
    add_apart(elements + taken * size, first + taken, count - taken);
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

  template <class Bits>
  static std::int64_t key_of(Bits bits) {
    return std::int64_t{bits ^ ((bits >> (8 * sizeof(Bits) - 1)) & std::numeric_limits<Bits>::max())};
  }
  std::int64_t key(double x) const { return key_of(std::bit_cast<std::int64_t>(x)); }
  std::int64_t key(float x) const {
    if (type_ == DType::float16) return key_of(static_cast<std::int16_t>(core::Float16::truncate(x).bits));
    if (type_ == DType::bfloat16) return key_of(static_cast<std::int16_t>(core::BFloat16::truncate(x).bits));
    return key_of(std::bit_cast<std::int32_t>(x));
  }

  // Whether a block without NaNs that has these extremes, as keys, changes nothing.
  bool note_extremes(std::int64_t least, std::int64_t greatest, std::uint64_t first, std::size_t count) {
    if (!extremes_.min_index || !extremes_.max_index) return false;
    const bool below = least < extremes_.min || (least == extremes_.min && first < *extremes_.min_index);
    const bool above = greatest > extremes_.max || (greatest == extremes_.max && first < *extremes_.max_index);
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
  std::optional<FusedSums> fused_;
  std::optional<FusedHalves> halves_;
  bool may_round_;
  std::optional<EnclosedSums> enclosed_;
  Extremes extremes_;
};

}  // namespace samesum::statistics
