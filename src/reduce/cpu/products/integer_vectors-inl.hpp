// Sums of vectors of integers. Included once for each instruction set. (Constructors are written out: those that compilers add would be
// compiled for the oldest processors.)
#if defined(SAMESUM_INTEGER_VECTORS) == defined(HWY_TARGET_TOGGLE)
#ifdef SAMESUM_INTEGER_VECTORS
#undef SAMESUM_INTEGER_VECTORS
#else
#define SAMESUM_INTEGER_VECTORS
#endif

#include "reduce/cpu/products/products.hpp"
#include "reduce/cpu/sum_cpu_block-inl.hpp"

#include <hwy/highway.h>

#include <cstdint>
#include <numeric>

HWY_BEFORE_NAMESPACE();
namespace samesum::statistics {
namespace HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR

namespace hn = hwy::HWY_NAMESPACE;
namespace loops = reduction::HWY_NAMESPACE;

using D16 = hn::ScalableTag<std::int16_t>;
using D32 = hn::Repartition<std::int32_t, D16>;
using Wide = hn::Repartition<std::uint64_t, D16>;

constexpr std::size_t kVectorSize = loops::kVectorBytes;
constexpr std::uint64_t kUpperBit = std::uint64_t{1} << 63;

HWY_INLINE Int128 total_of(hn::Vec<Wide> lanes) { return hn::GetLane(hn::SumOfLanes(Wide(), lanes)); }
HWY_INLINE std::int64_t total_of(hn::Vec<D32> lanes) {
  alignas(64) std::int32_t each[hn::MaxLanes(D32())];
  hn::Store(lanes, D32(), each);
  return std::accumulate(each, each + hn::MaxLanes(D32()), std::int64_t{0});
}

// The upper halves of lanes of 64 bits, and both halves' sums.
HWY_INLINE hn::Vec<Wide> upper(hn::Vec<Wide> x) { return hn::ShiftRight<32>(x); }
HWY_INLINE hn::Vec<Wide> sums_of_halves(hn::Vec<Wide> x) { return hn::Add(hn::And(x, hn::Set(Wide(), 0xffffffff)), upper(x)); }

// A sum of lanes of 64 bits, their lower and upper halves apart: up to 2^32 of them.
class Halves {
 public:
  HWY_INLINE Halves() : low_(hn::Zero(Wide())), high_(hn::Zero(Wide())) {}
  HWY_INLINE void add(hn::Vec<Wide> x) {
    low_ = hn::Add(low_, hn::And(x, hn::Set(Wide(), 0xffffffff)));
    high_ = hn::Add(high_, upper(x));
  }
  HWY_INLINE Int128 sum() const { return total_of(low_) + (total_of(high_) << 32); }

 private:
  hn::Vec<Wide> low_, high_;
};

// A sum of products of unsigned integers of 64 bits. With a = 2^32 h + l and b = 2^32 k + m, a b = 2^64 h k + 2^32 (h m + l k) + l m.
class WideProducts {
 public:
  HWY_INLINE WideProducts() {}
  HWY_INLINE void add_square(hn::Vec<Wide> a) {
    const auto l = parts(a), h = parts(upper(a));
    low_.add(hn::MulEven(l, l));
    middle_.add(hn::MulEven(l, h));
    high_.add(hn::MulEven(h, h));
  }
  HWY_INLINE void add(hn::Vec<Wide> a, hn::Vec<Wide> b) {
    const auto l = parts(a), h = parts(upper(a)), m = parts(b), k = parts(upper(b));
    low_.add(hn::MulEven(l, m));
    middle_.add(hn::MulEven(l, k));
    middle_.add(hn::MulEven(h, m));
    high_.add(hn::MulEven(h, k));
  }
  HWY_INLINE IntegerProducts sum() const { return with_middle(middle_.sum()); }
  HWY_INLINE IntegerProducts sum_of_squares() const { return with_middle(2 * middle_.sum()); }

 private:
  using U32 = hn::Repartition<std::uint32_t, Wide>;
  static HWY_INLINE hn::Vec<U32> parts(hn::Vec<Wide> x) { return hn::BitCast(U32(), x); }
  HWY_INLINE IntegerProducts with_middle(Int128 middle) const {
    return {.low = low_.sum() + ((middle & 0xffffffff) << 32), .high = high_.sum() + (middle >> 32)};
  }

  Halves low_, middle_, high_;
};

#endif
}  // namespace HWY_NAMESPACE
}  // namespace samesum::statistics
HWY_AFTER_NAMESPACE();

#endif
