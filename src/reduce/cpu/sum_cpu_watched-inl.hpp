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

// Half of a first-level cache, so that a block may be looked at again.
constexpr std::size_t kWatchedBytes = 16384;
// Sums of float64 grow by a bit with every other block; those of float32 have more room.
constexpr int kWatchedBlocks = 8;

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

// Adds a block by add(sums), if the processor does not round on the way and all is finite.
template <class Add>
HWY_INLINE bool add_without_rounding(WatchedSums& watched, const Add& add) {
  const Doubles d;
  hn::Vec<Doubles> sums[WatchedSums::kSums];
  const core::RoundingWatch watch;
  unrolled<WatchedSums::kSums>([&](auto i) HWY_ATTR { sums[i] = hn::Load(d, watched.lanes[i].data()); });
  add(sums);
  auto zero_if_finite = hn::Zero(d);
  unrolled<WatchedSums::kSums>([&](auto i) HWY_ATTR {
    zero_if_finite = hn::MulAdd(sums[i], hn::Zero(d), zero_if_finite);
    hn::Store(sums[i], d, watched.tried[i].data());
  });
  if (watch.rounded() || !hn::AllTrue(d, hn::Eq(zero_if_finite, hn::Zero(d)))) return false;
  unrolled<WatchedSums::kSums>([&](auto i) HWY_ATTR { hn::Store(sums[i], d, watched.lanes[i].data()); });
  ++watched.blocks;
  return true;
}

// The same, unless blocks like this one were tried in vain.
template <class Partial, class Add>
HWY_INLINE bool add_watched(Partial& partial, const Add& add) {
  if (!partial.watching.due() || !core::RoundingWatch::works()) return false;
  const bool done = partial.watching.note(add_without_rounding(partial.watched, add));
  // Once one has failed, smaller sums leave more room.
  if (!done || partial.watched.blocks == kWatchedBlocks) partial.flush_watched();
  return done;
}

template <class T, std::size_t count, class Partial>
bool add_block_watched(const Block<count>& block, Partial& partial) {
  return add_watched(partial, [&](hn::Vec<Doubles>* sums) SAMESUM_INLINE_LAMBDA {
    for (std::size_t offset = 0; offset != block.piece_bytes; offset += kUnitBytes) {
      unrolled<count>([&](auto piece) HWY_ATTR {
        const std::byte* const unit = block.pieces[piece] + offset;
        prefetch(unit);
        add_unit(unit, T{}, sums);
      });
    }
  });
}

#endif  // HWY_SCALAR
}  // namespace HWY_NAMESPACE
}  // namespace samesum::reduction
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
