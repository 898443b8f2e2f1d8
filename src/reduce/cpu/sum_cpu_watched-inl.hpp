// Sums of doubles that are exact as long as the processor does not round. Included once for each instruction set.
#if defined(SAMESUM_SUM_CPU_WATCHED) == defined(HWY_TARGET_TOGGLE)
#ifdef SAMESUM_SUM_CPU_WATCHED
#undef SAMESUM_SUM_CPU_WATCHED
#else
#define SAMESUM_SUM_CPU_WATCHED
#endif

#include "core/float_environment.hpp"
#include "reduce/cpu/halves-inl.hpp"
#include "reduce/cpu/sum_cpu_block-inl.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace samesum::reduction {
namespace HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR

namespace hn = hwy::HWY_NAMESPACE;

// Of a block of elements that are read as they are: so long that what a block costs once is a few percent, so short that it may be looked
// at again in the nearest caches.
constexpr std::size_t kWatchedBytes = 32768;

// Adds a unit: each vector of doubles to sums of its own, as one addition has to wait for another.
HWY_INLINE void add_unit(const std::byte* unit, float, hn::Vec<Doubles>* sums) {
  static_assert(WatchedSums::kSums * kLanes == kUnit<float>);
  unrolled<WatchedSums::kSums>([&](auto i) HWY_ATTR {
    sums[i] = plus(sums[i], load_doubles(unit + i * kLanes * sizeof(float), 0.0F));
    compute_now(sums[i]);
  });
}

HWY_INLINE void add_unit(const std::byte* unit, double, hn::Vec<Doubles>* sums) {
  constexpr std::size_t kParts = WatchedSums::kSums / 2;
  static_assert(kParts * kLanes == kUnit<double>);
  const Doubles d;
  const auto upper_bits = hn::BitCast(d, hn::Set(hn::Repartition<std::uint64_t, Doubles>(), ~std::uint64_t{0} << 27));
  unrolled<kParts>([&](auto i) HWY_ATTR {
    const auto x = load_doubles(unit + i * kVectorBytes, 0.0);
    const auto upper = hn::And(x, upper_bits);
    sums[i] = hn::Add(sums[i], upper);
    sums[kParts + i] = hn::Add(sums[kParts + i], minus(x, upper));
    compute_now(sums[i]);
    compute_now(sums[kParts + i]);
  });
}

// 16-bit floats.
template <class Half>
HWY_INLINE void add_unit(const std::byte* unit, Half type, hn::Vec<Doubles>* sums) {
  const Doubles d;
  unrolled<kUnitBytes / kVectorBytes>([&](auto i) HWY_ATTR {
    hn::Vec<Floats> floats[2];
    load_in_any_order(type, unit + i * kVectorBytes, floats);
    hn::Vec<Doubles>* const to = sums + 4 * i % WatchedSums::kSums;
    unrolled<2>([&](auto k) HWY_ATTR {
      to[2 * k] = plus(to[2 * k], hn::PromoteTo(d, hn::LowerHalf(floats[k])));
      to[2 * k + 1] = plus(to[2 * k + 1], hn::PromoteTo(d, hn::UpperHalf(hn::Half<Floats>(), floats[k])));
      compute_now(to[2 * k]);
      compute_now(to[2 * k + 1]);
    });
  });
}

// Adds the sums of a block to `watched`, exactly: both additions' errors by Knuth, The Art of Computer Programming, volume 2, section
// 4.2.2, theorem B. Or nothing, where that needs more bits than two doubles have.
HWY_INLINE bool keep(const hn::Vec<Doubles>* sums, WatchedSums& watched) {
  const Doubles d;
  if (!watched.any) {
    unrolled<WatchedSums::kKept>([&](auto i) HWY_ATTR { hn::Store(sums[i], d, watched.upper[i].data()); });
    return watched.any = true;
  }
  hn::Vec<Doubles> upper[WatchedSums::kKept], lower[WatchedSums::kKept];
  auto exact = hn::Eq(hn::Zero(d), hn::Zero(d));
  unrolled<WatchedSums::kKept>([&](auto i) HWY_ATTR {
    const auto a = hn::Load(d, watched.upper[i].data()), b = hn::Load(d, watched.lower[i].data());
    upper[i] = hn::Add(a, sums[i]);
    const auto added = hn::Sub(upper[i], a), error = hn::Add(hn::Sub(a, hn::Sub(upper[i], added)), hn::Sub(sums[i], added));
    lower[i] = hn::Add(b, error);
    const auto kept = hn::Sub(lower[i], b);
    exact = hn::And(exact, hn::And(hn::Eq(hn::Sub(lower[i], kept), b), hn::Eq(kept, error)));
  });
  if (!hn::AllTrue(d, exact)) return false;
  unrolled<WatchedSums::kKept>([&](auto i) HWY_ATTR {
    hn::Store(upper[i], d, watched.upper[i].data());
    hn::Store(lower[i], d, watched.lower[i].data());
  });
  return true;
}

// Whether a block is to be added to watched sums: unless blocks like this one were tried in vain.
template <class Partial>
bool may_watch(const Partial& partial) {
  return partial.watching.due() && core::RoundingWatch::works();
}

// The end of such a block: keeps its sums, if the processor has not rounded and all of them are finite; whether that is so.
template <class Partial>
HWY_INLINE bool keep_if_exact(const core::RoundingWatch& watch, const hn::Vec<Doubles>* sums, Partial& partial) {
  const Doubles d;
  hn::Vec<Doubles> kept[WatchedSums::kKept];
  auto zero_if_finite = hn::Zero(d);
  unrolled<WatchedSums::kKept>([&](auto i) HWY_ATTR {
    kept[i] = hn::Add(sums[2 * i], sums[2 * i + 1]);
    compute_now(kept[i]);
    zero_if_finite = hn::MulAdd(kept[i], hn::Zero(d), zero_if_finite);
  });
  compute_now(zero_if_finite);
  if (!partial.watching.note(!watch.rounded() && hn::AllTrue(d, hn::Eq(zero_if_finite, hn::Zero(d))))) return false;
  if (!keep(kept, partial.watched)) {
    partial.flush_watched();
    keep(kept, partial.watched);
  }
  return true;
}

// Adds a block, if that is exact.
template <class T, std::size_t count, class Partial>
bool add_watched(const Block<count>& block, Partial& partial) {
  if (!may_watch(partial)) return false;
  hn::Vec<Doubles> sums[WatchedSums::kSums];
  const core::RoundingWatch watch;
  unrolled<WatchedSums::kSums>([&](auto i) HWY_ATTR { sums[i] = hn::Zero(Doubles()); });
  for (std::size_t offset = 0; offset != block.piece_bytes; offset += kUnitBytes) {
    unrolled<count>([&](auto piece) HWY_ATTR {
      const std::byte* const unit = block.pieces[piece] + offset;
      prefetch(unit);
      add_unit(unit, T{}, sums);
    });
  }
  return keep_if_exact(watch, sums, partial);
}

#endif  // HWY_SCALAR
}  // namespace HWY_NAMESPACE
}  // namespace samesum::reduction
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
