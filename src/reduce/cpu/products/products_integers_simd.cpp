// Products of integers on the CPU, compiled once for each instruction set of the processor family and chosen at run time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/cpu/products/products_integers_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "core/visit.hpp"
#include "reduce/cpu/products/integer_vectors-inl.hpp"
#include "reduce/cpu/products/products.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace samesum::statistics {
namespace HWY_NAMESPACE {

__extension__ typedef unsigned __int128 Uint128;

template <class T>
HWY_INLINE T element_at(const std::byte* elements, std::uint64_t i) {
  T element;
  std::memcpy(&element, elements + i * sizeof element, sizeof element);
  return element;
}

#if HWY_TARGET != HWY_SCALAR

// Sums of products of vectors, up to kRun of each.
template <class T, std::size_t kBytes = sizeof(T)>
class VectorProducts;
constexpr std::uint64_t kRun = 4096;

// Of bytes.
template <class T>
class VectorProducts<T, 1> {
 public:
  HWY_INLINE VectorProducts() : sum_(hn::Zero(D32())), rest_(hn::Zero(D32())) {}
  HWY_INLINE void add(const std::byte* a, const std::byte* b) {
    const hn::Rebind<T, D16> half;
    loops::unrolled<2>([&](auto n) SAMESUM_INLINE_LAMBDA {
      const std::size_t at = n * kVectorSize / 2;
      sum_ = hn::ReorderWidenMulAccumulate(D32(), hn::PromoteTo(D16(), loops::load(half, a + at)),
                                           hn::PromoteTo(D16(), loops::load(half, b + at)), sum_, rest_);
    });
  }
  HWY_INLINE IntegerProducts sum(std::uint64_t) const { return {.low = total_of(hn::Add(sum_, rest_))}; }

 private:
  static_assert(kRun * 4 * 255 * 255 < std::uint64_t{1} << 31);
  hn::Vec<D32> sum_, rest_;
};

// Integers of 16 bits become signed ones. A sum of two of their products lies between -kLeast and 2^31.
template <class T>
class VectorProducts<T, 2> {
 public:
  HWY_INLINE VectorProducts() : sum_(hn::Zero(Wide())), factors_(hn::Zero(D32())), rest_(hn::Zero(D32())) {}
  HWY_INLINE void add(const std::byte* a, const std::byte* b) {
    const auto x = load(a), y = load(b);
    auto none = hn::Zero(D32());
    const auto products = hn::ReorderWidenMulAccumulate(D32(), x, y, hn::Zero(D32()), none);
    const auto above = hn::Add(hn::Add(products, none), hn::Set(D32(), kLeast));
    sum_ = hn::Add(sum_, sums_of_halves(hn::BitCast(Wide(), above)));
    if constexpr (std::is_signed_v<T>) return;
    const auto one = hn::Set(D16(), 1);
    factors_ = hn::ReorderWidenMulAccumulate(D32(), x, one, factors_, rest_);
    factors_ = hn::ReorderWidenMulAccumulate(D32(), y, one, factors_, rest_);
  }
  // (x + kOffset) (y + kOffset) = x y + kOffset (x + y) + kOffset^2
  HWY_INLINE IntegerProducts sum(std::uint64_t count) const {
    const auto offsets = static_cast<Int128>(count) * (std::int64_t{kOffset} * kOffset - kLeast / 2);
    return {.low = total_of(sum_) + Int128{kOffset} * total_of(hn::Add(factors_, rest_)) + offsets};
  }

 private:
  static constexpr std::int32_t kOffset = std::is_signed_v<T> ? 0 : 32768, kLeast = 2 * 32768 * 32767;
  static_assert(kRun * 4 * 32768 < std::uint64_t{1} << 31);

  static HWY_INLINE hn::Vec<D16> load(const std::byte* from) {
    return hn::Xor(loops::load(D16(), from), hn::Set(D16(), static_cast<std::int16_t>(kOffset)));
  }

  hn::Vec<Wide> sum_;
  hn::Vec<D32> factors_, rest_;
};

// Of 32 bits. Signed products get 2^63 each.
template <class T>
class VectorProducts<T, 4> {
 public:
  HWY_INLINE VectorProducts() {}
  HWY_INLINE void add(const std::byte* a, const std::byte* b) {
    const auto x = loops::load(Wide(), a), y = loops::load(Wide(), b);
    add_even(x, y);
    add_even(upper(x), upper(y));
  }
  HWY_INLINE IntegerProducts sum(std::uint64_t count) const {
    return {.low = sum_.sum() - (std::is_signed_v<T> ? static_cast<Int128>(count) << 63 : 0)};
  }

 private:
  HWY_INLINE void add_even(hn::Vec<Wide> x, hn::Vec<Wide> y) {
    const hn::Repartition<T, Wide> d;
    const auto products = hn::BitCast(Wide(), hn::MulEven(hn::BitCast(d, x), hn::BitCast(d, y)));
    sum_.add(std::is_signed_v<T> ? hn::Xor(products, hn::Set(Wide(), kUpperBit)) : products);
  }

  Halves sum_;
};

// Integers of 64 bits become unsigned ones.
template <class T>
class VectorProducts<T, 8> {
 public:
  HWY_INLINE VectorProducts() {}
  HWY_INLINE void add(const std::byte* a, const std::byte* b) {
    const auto x = load(a), y = load(b);
    sum_.add(x, y);
    if constexpr (std::is_unsigned_v<T>) return;
    factors_.add(x);
    factors_.add(y);
  }
  // (x - 2^63) (y - 2^63) = x y - 2^63 (x + y) + 2^126
  HWY_INLINE IntegerProducts sum(std::uint64_t count) const {
    IntegerProducts sum = sum_.sum();
    if constexpr (std::is_signed_v<T>) {
      const Int128 factors = factors_.sum();
      sum.low -= (factors & 1) << 63;
      sum.high += (static_cast<Int128>(count) << 62) - (factors >> 1);
    }
    return sum;
  }

 private:
  static HWY_INLINE hn::Vec<Wide> load(const std::byte* from) {
    return hn::Xor(loops::load(Wide(), from), hn::Set(Wide(), std::is_signed_v<T> ? kUpperBit : 0));
  }

  WideProducts sum_;
  Halves factors_;
};

// Of whole vectors; how many elements these have.
template <class T>
std::uint64_t add_vectors(const std::byte* a, const std::byte* b, std::uint64_t count, IntegerProducts& total) {
  constexpr std::uint64_t kStep = kVectorSize / sizeof(T);
  const std::uint64_t whole = count / kStep * kStep;
  for (std::uint64_t i = 0; i < whole;) {
    VectorProducts<T> run;
    const std::uint64_t first = i;
    for (const std::uint64_t end = std::min(whole, i + kRun * kStep); i < end; i += kStep) {
      loops::prefetch<kVectorSize>(a + i * sizeof(T));
      loops::prefetch<kVectorSize>(b + i * sizeof(T));
      run.add(a + i * sizeof(T), b + i * sizeof(T));
    }
    const IntegerProducts sum = run.sum(i - first);
    total.low += sum.low;
    total.high += sum.high;
  }
  return whole;
}

#endif

// One by one, which compilers make vectors of. Of 8 and 16 bits: sums of whole products fit.
template <class T>
IntegerProducts add_whole(const std::byte* a, const std::byte* b, std::uint64_t count) {
  using Sum = std::conditional_t<sizeof(T) == 1, std::int32_t, std::int64_t>;
  constexpr std::uint64_t kProducts = 32768;  // of bytes, 255² each
  std::int64_t total = 0;
  for (std::uint64_t first = 0; first < count; first += kProducts) {
    Sum sum = 0;
    for (std::uint64_t i = first; i < std::min(count, first + kProducts); ++i) {
      sum += static_cast<Sum>(element_at<T>(a, i)) * static_cast<Sum>(element_at<T>(b, i));
    }
    total += sum;
  }
  return {.low = total};
}

// Of 32 and 64 bits: products' lower and upper halves, of which 2^31 fit.
template <class T>
IntegerProducts add_halves(const std::byte* a, const std::byte* b, std::uint64_t count) {
  constexpr bool kWide = sizeof(T) == 8, kSigned = std::is_signed_v<T>;
  using Product =
      std::conditional_t<kWide, std::conditional_t<kSigned, Int128, Uint128>, std::conditional_t<kSigned, std::int64_t, std::uint64_t>>;
  using Half = std::conditional_t<kWide, std::uint64_t, std::uint32_t>;
  using Sum = std::conditional_t<kWide, Int128, std::int64_t>;
  constexpr int kHalfBits = 8 * sizeof(Half);
  Sum low = 0, high = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Product product = static_cast<Product>(element_at<T>(a, i)) * static_cast<Product>(element_at<T>(b, i));
    low += static_cast<Half>(product);
    high += static_cast<Sum>(product >> kHalfBits);
  }
  if constexpr (!kWide) return {.low = low + (Int128{high} << kHalfBits)};
  return {.low = low, .high = high};
}

template <class T>
IntegerProducts add_all(const std::byte* a, const std::byte* b, std::uint64_t count) {
  IntegerProducts total;
  std::uint64_t done = 0;
#if HWY_TARGET != HWY_SCALAR
  // Two products of 64 bits in a vector take longer than the processor's own multiplication.
  if constexpr (sizeof(T) < 8 || kVectorSize > 16) done = add_vectors<T>(a, b, count, total);
#endif
  a += done * sizeof(T);
  b += done * sizeof(T);
  const IntegerProducts rest = sizeof(T) <= 2 ? add_whole<T>(a, b, count - done) : add_halves<T>(a, b, count - done);
  return {.low = total.low + rest.low, .high = total.high + rest.high};
}

// The dispatch is by instruction set first, so the type is told by a value.
IntegerProducts add(const std::byte* a, const std::byte* b, std::uint64_t count, DType type) {
  return core::visit(type, [&](auto element) -> IntegerProducts {
    using T = decltype(element);
    if constexpr (std::is_integral_v<T>) return add_all<T>(a, b, count);
    return {};
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace samesum::statistics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::statistics {

SIMD_EXPORT(add);

IntegerProducts sum_of_products(const std::byte* a, const std::byte* b, std::uint64_t count, DType type) {
  return SIMD_CALL(add)(a, b, count, type);
}

}  // namespace samesum::statistics
#endif  // HWY_ONCE
