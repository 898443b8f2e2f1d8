// The sum, the sum of squares and the extremes of integers at once, compiled once for each instruction set of the processor family and
// chosen at run time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/cpu/products/fused_integers_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "core/visit.hpp"
#include "reduce/cpu/extremes_cpu.hpp"
#include "reduce/cpu/products/integer_vectors-inl.hpp"
#include "reduce/cpu/products/products.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace samesum::statistics {
namespace HWY_NAMESPACE {

constexpr std::size_t kPart = FusedIntegers::kPart;
// Without vectors each of the loops over wider integers is faster alone.
constexpr std::size_t kWidest = HWY_TARGET == HWY_SCALAR ? 2 : 8;

#if HWY_TARGET == HWY_SCALAR

template <class T>
FusedIntegers sum_in_places(const std::byte* from, std::size_t distance, bool zeros) {
  FusedIntegers all;
  T least = std::numeric_limits<T>::max(), greatest = std::numeric_limits<T>::min();
  for (std::size_t place = 0; place < kPlaces; ++place, from += distance) {
    std::int32_t sum = 0, found = 0;
    std::conditional_t<sizeof(T) == 1, std::int32_t, std::int64_t> squares = 0;
    for (std::size_t i = 0; i < kPart; i += sizeof(T)) {  // compilers make vectors of this
      T element;
      std::memcpy(&element, from + i, sizeof element);
      sum += element;
      squares += static_cast<decltype(squares)>(element) * element;
      least = std::min(least, element);
      greatest = std::max(greatest, element);
      found += element == 0;
    }
    all.sum += sum;
    all.squares.low += squares;
    if (zeros) all.zeros += static_cast<std::uint64_t>(found);
  }
  all.least = least;
  all.greatest = greatest;
  return all;
}

#else

using D64 = hn::Repartition<std::int64_t, D16>;

template <class T>
constexpr std::int64_t kElements = kPlaces* kPart / sizeof(T);  // of a block

// Sums of vectors: of all elements that were added, less kOffset each.
template <class T, std::size_t kBytes = sizeof(T)>
class VectorSums;

// Bytes are added up as unsigned ones, and their squares in pairs.
template <class T>
class VectorSums<T, 1> {
 public:
  static constexpr std::int64_t kOffset = std::is_signed_v<T> ? -128 : 0;

  HWY_INLINE VectorSums() : sum_(hn::Zero(D64())), squares_(hn::Zero(D32())), rest_(hn::Zero(D32())) {}
  template <class V>
  HWY_INLINE void add(V x, const std::byte* at) {
    const hn::Repartition<std::uint8_t, D16> bytes;
    sum_ =
        hn::Add(sum_, hn::BitCast(D64(), hn::SumsOf8(hn::Xor(hn::BitCast(bytes, x), hn::Set(bytes, static_cast<std::uint8_t>(kOffset))))));
    const hn::Rebind<T, D16> half;
    loops::unrolled<2>([&](auto n) SAMESUM_INLINE_LAMBDA {
      const auto y = hn::PromoteTo(D16(), loops::load(half, at + n * kVectorSize / 2));
      squares_ = hn::ReorderWidenMulAccumulate(D32(), y, y, squares_, rest_);
    });
  }
  HWY_INLINE std::int64_t sum() const { return hn::GetLane(hn::SumOfLanes(D64(), sum_)); }
  HWY_INLINE IntegerProducts squares() const { return {.low = hn::GetLane(hn::SumOfLanes(D32(), hn::Add(squares_, rest_)))}; }

 private:
  static_assert(kPlaces * kPart * 255 * 255 < std::uint64_t{1} << 31);
  hn::Vec<D64> sum_;
  hn::Vec<D32> squares_, rest_;
};

// Integers of 16 bits become signed ones. Sums of two of their squares have 32 bits.
template <class T>
class VectorSums<T, 2> {
 public:
  static constexpr std::int64_t kOffset = std::is_signed_v<T> ? 0 : 32768;

  HWY_INLINE VectorSums() : sum_(hn::Zero(D32())), rest_(hn::Zero(D32())), squares_(hn::Zero(Wide())) {}
  template <class V>
  HWY_INLINE void add(V x, const std::byte*) {
    const auto y = hn::BitCast(D16(), hn::Xor(x, hn::Set(hn::DFromV<V>(), static_cast<T>(kOffset))));
    sum_ = hn::ReorderWidenMulAccumulate(D32(), y, hn::Set(D16(), 1), sum_, rest_);
    auto none = hn::Zero(D32());
    const auto squares = hn::ReorderWidenMulAccumulate(D32(), y, y, hn::Zero(D32()), none);
    const auto pairs = hn::BitCast(Wide(), hn::Add(squares, none));  // some processors have half of them in the second
    squares_ = hn::Add(squares_, sums_of_halves(pairs));
  }
  HWY_INLINE std::int64_t sum() const { return hn::GetLane(hn::SumOfLanes(D32(), hn::Add(sum_, rest_))); }
  // (y + kOffset)^2 = y^2 + 2 kOffset y + kOffset^2
  HWY_INLINE IntegerProducts squares() const {
    return {.low = total_of(squares_) + 2 * kOffset * sum() + kElements<T> * kOffset * kOffset};
  }

 private:
  static_assert(kPlaces * kPart / 2 * 32768 < std::uint64_t{1} << 31);
  hn::Vec<D32> sum_, rest_;
  hn::Vec<Wide> squares_;
};

// Integers of 32 bits become signed ones. Sums of two of their squares have 64 bits.
template <class T>
class VectorSums<T, 4> {
 public:
  static constexpr std::int64_t kOffset = std::is_signed_v<T> ? 0 : std::int64_t{1} << 31;

  HWY_INLINE VectorSums() : sum_(hn::Zero(Wide())) {}
  template <class V>
  HWY_INLINE void add(V x, const std::byte*) {
    const hn::DFromV<V> d;
    const auto flipped = hn::BitCast(Wide(), hn::Xor(x, hn::Set(d, static_cast<T>(std::uint32_t{1} << 31))));
    const auto given = hn::BitCast(Wide(), x);
    const auto y = std::is_signed_v<T> ? given : flipped;
    const auto above = std::is_signed_v<T> ? flipped : given;  // y + 2^31
    sum_ = hn::Add(sum_, sums_of_halves(above));
    const auto even = hn::BitCast(D32(), y), odd = hn::BitCast(D32(), upper(y));
    squares_.add(hn::BitCast(Wide(), hn::Add(hn::MulEven(even, even), hn::MulEven(odd, odd))));
  }
  HWY_INLINE Int128 sum() const { return total_of(sum_) - (Int128{kElements<T>} << 31); }
  HWY_INLINE IntegerProducts squares() const {
    return {.low = squares_.sum() + 2 * kOffset * sum() + Int128{kElements<T>} * kOffset * kOffset};
  }

 private:
  hn::Vec<Wide> sum_;
  Halves squares_;
};

// Integers of 64 bits become unsigned ones.
template <class T>
class VectorSums<T, 8> {
 public:
  static constexpr Int128 kOffset = std::is_signed_v<T> ? -(Int128{1} << 63) : 0;

  HWY_INLINE VectorSums() {}
  template <class V>
  HWY_INLINE void add(V x, const std::byte*) {
    const auto given = hn::BitCast(Wide(), x);
    const auto y = std::is_signed_v<T> ? hn::Xor(given, hn::Set(Wide(), kUpperBit)) : given;
    sum_.add(y);
    squares_.add_square(y);
  }
  HWY_INLINE Int128 sum() const { return sum_.sum(); }
  // (y + kOffset)^2 = y^2 + 2 kOffset y + kOffset^2
  HWY_INLINE IntegerProducts squares() const {
    IntegerProducts squares = squares_.sum_of_squares();
    if (std::is_signed_v<T>) squares.high += (Int128{kElements<T>} << 62) - sum();
    return squares;
  }

 private:
  Halves sum_;
  WideProducts squares_;
};

template <class T, bool kZeros>
FusedIntegers add_up(const std::byte* from, std::size_t distance) {
  const hn::Repartition<T, D16> d;
  VectorSums<T> sums;
  auto low = loops::load(d, from), high = low;
  std::uint64_t zeros = 0;
  for (std::size_t i = 0; i < kPart; i += kVectorSize) {
    loops::unrolled<kPlaces>([&](auto place) SAMESUM_INLINE_LAMBDA {
      const std::byte* const at = from + place * distance + i;
      loops::prefetch<kVectorSize>(at);
      const auto x = loops::load(d, at);
      low = hn::Min(low, x);
      high = hn::Max(high, x);
      if constexpr (kZeros) zeros += hn::CountTrue(d, hn::Eq(x, hn::Zero(d)));
      sums.add(x, at);
    });
  }
  alignas(64) T least[hn::MaxLanes(d)], greatest[hn::MaxLanes(d)];
  hn::Store(low, d, least);
  hn::Store(high, d, greatest);
  return {.sum = sums.sum() + kElements<T> * Int128{sums.kOffset},
          .squares = sums.squares(),
          .least = common_key(*std::min_element(least, least + hn::MaxLanes(d))),
          .greatest = common_key(*std::max_element(greatest, greatest + hn::MaxLanes(d))),
          .zeros = zeros};
}

template <class T>
FusedIntegers sum_in_places(const std::byte* from, std::size_t distance, bool zeros) {
  return zeros ? add_up<T, true>(from, distance) : add_up<T, false>(from, distance);
}

#endif

bool fuses(DType type) { return size_of(type) <= kWidest; }

FusedIntegers add_integers(const std::byte* from, std::size_t distance, DType type, bool zeros) {
  return core::visit(type, [&](auto element) -> FusedIntegers {
    using T = decltype(element);
    if constexpr (std::is_integral_v<T> && sizeof(T) <= kWidest) return sum_in_places<T>(from, distance, zeros);
    return {};
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace samesum::statistics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::statistics {

SIMD_EXPORT(add_integers);
SIMD_EXPORT(fuses);

bool fuses_integers(DType type) { return SIMD_CALL(fuses)(type); }

FusedIntegers add_fused_integers(const std::byte* from, std::size_t distance, DType type, bool zeros) {
  return SIMD_CALL(add_integers)(from, distance, type, zeros);
}

}  // namespace samesum::statistics
#endif  // HWY_ONCE
