// Expansions of doubles (expansion.h) on the CPU: a vector of results at once where results are neighbours in memory, else a run of
// elements at once. Compiled once for each instruction set of the processor family and chosen at run time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "groups/cpu/axes_expansions.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "groups/cpu/axes_expansions.hpp"
#include "groups/cpu/axes_row_block-inl.hpp"
#include "groups/expansion.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace samesum::groups {
namespace HWY_NAMESPACE {

// Neighbours in memory; or, of results whose elements lie further apart, one element of each.
struct Contiguous {
  template <class D, class T>
  HWY_INLINE hn::Vec<D> load(D d, const T* from) const {
    return hn::LoadU(d, from);
  }
};
template <class Index>
struct Apart {
  Index index;
  template <class D, class T>
  HWY_INLINE hn::Vec<D> load(D d, const T* from) const {
    return hn::GatherIndex(d, from, index);
  }
};

// The exponents of floats that are added up as doubles: of the numbers of each lane or, after join_lanes(), of all. Sums of numbers whose
// exponents span a narrow range are exact.
class Exponents {
 public:
  using Narrow = hn::Rebind<float, D>;
  static constexpr std::int32_t kSpan = 23;  // with which 2^6 numbers below 2^(e - 126), multiples of 2^(e - 23 - 150), add up to 53 bits

  HWY_INLINE Exponents() : greatest_(hn::Zero(Bits())), least_(hn::Set(Bits(), ~std::uint32_t{0})) {}
  HWY_INLINE void add(hn::Vec<Narrow> value) {
    const Bits bits;
    const auto magnitude = hn::And(hn::BitCast(bits, value), hn::Set(bits, 0x7fffffffu));
    greatest_ = hn::Max(greatest_, magnitude);
    least_ = hn::Min(least_, hn::Sub(magnitude, hn::Set(bits, 1u)));  // zeros become the greatest
  }
  HWY_INLINE void join_lanes() {
    greatest_ = hn::MaxOfLanes(Bits(), greatest_);
    least_ = hn::MinOfLanes(Bits(), least_);
  }
  // Whether they span less in each lane, and all numbers are finite.
  HWY_INLINE bool within(std::int32_t span) const {
    const hn::RebindToSigned<Bits> fields;
    const auto top = hn::BitCast(fields, hn::ShiftRight<23>(greatest_)), bottom = hn::BitCast(fields, hn::ShiftRight<23>(least_));
    // Of special numbers the top exponent is 255; where all are zeros the bottom is above the top.
    return hn::AllTrue(fields, hn::And(hn::Lt(top, hn::Add(bottom, hn::Set(fields, span))), hn::Lt(top, hn::Set(fields, 255))));
  }

 private:
  using Bits = hn::RebindToUnsigned<Narrow>;
  hn::Vec<Bits> greatest_, least_;
};

// Adds `steps` numbers to each lane of some vectors, of which `at(vector, step)` is the address of the first.
template <bool kSkip, std::size_t kCount, class Load, class At>
HWY_INLINE void add_numbers(Vectors<false> (&x)[kCount], const Load& load, std::uint64_t steps, const At& at, double) {
  const D d;
  for (std::uint64_t step = 0; step < steps; ++step) {
    for (std::size_t k = 0; k < kCount; ++k) x[k].add(without_nans<kSkip>(d, load.load(d, reinterpret_cast<const double*>(at(k, step)))));
  }
}
// Floats are added up as doubles, which is exact if the exponents of a block span a narrow range. Otherwise the block is added again,
// element by element.
template <bool kSkip, std::size_t kCount, class Load, class At>
HWY_INLINE void add_numbers(Vectors<true> (&x)[kCount], const Load& load, std::uint64_t steps, const At& at, float) {
  constexpr std::uint64_t kBlock = 64;
  const D d;
  const Exponents::Narrow narrow;
  const auto number = [&](std::size_t k, std::uint64_t step)
                          HWY_ATTR { return without_nans<kSkip>(narrow, load.load(narrow, reinterpret_cast<const float*>(at(k, step)))); };
  for (std::uint64_t first = 0; first < steps; first += kBlock) {
    const std::uint64_t end = std::min(first + kBlock, steps);
    V sums[kCount];
    Exponents exponents;
    for (V& sum : sums) sum = hn::Set(d, -0.0);
    for (std::uint64_t step = first; step < end; ++step) {
      for (std::size_t k = 0; k < kCount; ++k) {
        const auto value = number(k, step);
        exponents.add(value);
        sums[k] = hn::Add(sums[k], hn::PromoteTo(d, value));
      }
    }
    if (exponents.within(Exponents::kSpan)) {
      for (std::size_t k = 0; k < kCount; ++k) x[k].add(sums[k]);
    } else {
      for (std::uint64_t step = first; step < end; ++step) {
        for (std::size_t k = 0; k < kCount; ++k) x[k].add(hn::PromoteTo(d, number(k, step)));
      }
    }
  }
}

template <class Real, bool kSkip>
void add_one(const std::byte* at, std::uint64_t steps, std::int64_t apart, Terms to, std::size_t i) {
  EXPANSION x{to.s[i], to.e[i], to.f[i], to.lost[i] != 0};
  for (std::uint64_t step = 0; step < steps; ++step, at += apart) {
    Real value;
    std::memcpy(&value, at, sizeof value);
    if (kSkip && std::isnan(value)) value = Real(-0.0);
    x = expansion_add(x, value);
  }
  to.s[i] = x.s, to.e[i] = x.e, to.f[i] = x.f, to.lost[i] = x.inexact;
}

// Adds `steps` rows of `lanes` numbers, `apart` bytes from one row to the next and `lane_stride` (of whole numbers) from one lane to the
// next, to as many expansions.
template <class Real, bool kSkip>
void add_rows(const std::byte* from, std::uint64_t steps, std::int64_t apart, std::size_t lanes, std::int64_t lane_stride, Terms to) {
  constexpr bool kShort = std::is_same_v<Real, float>;
  constexpr std::size_t kVectors = kShort ? 4 : 2;
  const D d;
  const hn::Rebind<Real, D> numbers;
  const hn::RebindToSigned<decltype(numbers)> indices;
  using Index = hn::TFromD<decltype(indices)>;
  const std::size_t width = hn::Lanes(d);
  std::size_t i = 0;
  const auto part = [&](auto vectors, const auto& load) HWY_ATTR {
    constexpr std::size_t kCount = decltype(vectors)::value;
    Vectors<kShort> x[kCount];
    for (std::size_t k = 0; k < kCount; ++k) x[k] = load_terms<kShort>(to, i + k * width);
    const std::byte* const row = from + static_cast<std::int64_t>(i) * lane_stride;
    const std::int64_t vector = static_cast<std::int64_t>(width) * lane_stride;
    add_numbers<kSkip>(
        x, load, steps,
        [&](std::size_t k, std::uint64_t step)
            HWY_ATTR { return row + static_cast<std::int64_t>(k) * vector + static_cast<std::int64_t>(step) * apart; },
        Real());
    for (std::size_t k = 0; k < kCount; ++k) store_terms(x[k], to, i + k * width);
    i += kCount * width;
  };
  const auto all = [&](const auto& load) HWY_ATTR {
    while (i + kVectors * width <= lanes) part(std::integral_constant<std::size_t, kVectors>(), load);
    while (i + width <= lanes) part(std::integral_constant<std::size_t, 1>(), load);
  };
  if (lane_stride == sizeof(Real)) {
    if (lanes <= kLanes && apart == static_cast<std::int64_t>(lanes * sizeof(Real)) && steps >= kLanes / lanes) {
      RowBlock<kSkip> block;
      const std::uint64_t done = block.template add_adjacent<Real>(from, steps, lanes, to);
      from += static_cast<std::int64_t>(done) * apart;
      steps -= done;
    }
    if (const std::size_t most = lanes / width * width; most > kVectors * width) {
      RowBlock<kSkip> block;
      block.template add<Real>(from, steps, apart, most, to);
      i = most;
    }
    all(Contiguous());
  } else {
    const auto stride = hn::Set(indices, static_cast<Index>(lane_stride / static_cast<std::int64_t>(sizeof(Real))));
    const auto index = hn::Mul(hn::Iota(indices, 0), stride);
    all(Apart<decltype(index)>{index});
  }
  for (; i < lanes; ++i) add_one<Real, kSkip>(from + static_cast<std::int64_t>(i) * lane_stride, steps, apart, to, i);
}

// Adds `count` contiguous numbers to the one expansion `to`.
template <class Real, bool kSkip>
void add_part_of_run(const std::byte* from, std::uint64_t count, Terms to) {
  constexpr bool kShort = std::is_same_v<Real, float>;
  constexpr std::size_t kVectors = kShort ? 4 : 2;
  const D d;
  const std::size_t width = hn::Lanes(d), together = kVectors * width;
  Vectors<kShort> x[kVectors];
  for (auto& vector : x) vector = {hn::Set(d, -0.0), hn::Set(d, -0.0), hn::Set(d, -0.0), hn::Zero(d)};
  add_numbers<kSkip>(
      x, Contiguous(), count / together,
      [&](std::size_t k, std::uint64_t step) HWY_ATTR { return from + (step * together + k * width) * sizeof(Real); }, Real());
  EXPANSION sum{*to.s, *to.e, *to.f, *to.lost != 0};
  for (const auto& vector : x) {
    alignas(64) double s[hn::MaxLanes(d)], e[hn::MaxLanes(d)], f[hn::MaxLanes(d)], lost[hn::MaxLanes(d)];
    store_terms(vector, {s, e, f, lost, nullptr}, 0);
    for (std::size_t k = 0; k < width; ++k) sum = expansion_merge(sum, {s[k], e[k], f[k], lost[k] != 0});
  }
  *to.s = sum.s, *to.e = sum.e, *to.f = sum.f, *to.lost = sum.inexact;
  const std::uint64_t done = count / together * together;
  add_one<Real, kSkip>(from + done * sizeof(Real), count - done, sizeof(Real), to, 0);
}

template <class Real, bool kSkip>
void add_run(const std::byte* from, std::uint64_t count, Terms to) {
  constexpr std::uint64_t kPart = 16384 / sizeof(Real);
  for (std::uint64_t first = 0; first < count; first += kPart, from += kPart * sizeof(Real)) {
    const std::uint64_t part = std::min(kPart, count - first);
    if (!add_watched_run<Real, kSkip>(from, part, to)) add_part_of_run<Real, kSkip>(from, part, to);
  }
}

// Adds a short row of `count` contiguous floats to each of `lanes` expansions: as doubles, which rounds nothing where exponents span
// little.
template <bool kSkip>
void add_short_rows(const std::byte* from, std::uint64_t count, std::size_t lanes, std::int64_t lane_stride, Terms to) {
  const D d;
  const Exponents::Narrow narrow;
  const std::size_t width = hn::Lanes(d);
  const std::uint64_t whole = count / width * width;
  // `count` numbers below 2^(e - 126) that are multiples of 2^(e - span - 150) add up to 53 bits.
  const auto span = static_cast<std::int32_t>(29 - std::bit_width(count));
  for (std::size_t lane = 0; lane < lanes; ++lane, from += lane_stride) {
    const auto* const row = reinterpret_cast<const float*>(from);
    Exponents exponents;
    V sum = hn::Set(d, -0.0);
    const auto add = [&](auto value) HWY_ATTR {
      value = without_nans<kSkip>(narrow, value);
      exponents.add(value);
      sum = hn::Add(sum, hn::PromoteTo(d, value));
    };
    for (std::uint64_t i = 0; i < whole; i += width) add(hn::LoadU(narrow, row + i));
    if (whole != count) add(watched::first_of(narrow, reinterpret_cast<const std::byte*>(row + whole), count - whole));
    exponents.join_lanes();
    EXPANSION x{to.s[lane], to.e[lane], to.f[lane], to.lost[lane] != 0};
    if (exponents.within(span)) {
      x = expansion_add(x, hn::GetLane(hn::SumOfLanes(d, sum)));
      to.s[lane] = x.s, to.e[lane] = x.e, to.f[lane] = x.f, to.lost[lane] = x.inexact;
    } else {
      add_run<float, kSkip>(from, count, {to.s + lane, to.e + lane, to.f + lane, to.lost + lane, to.trying});
    }
  }
}

void rows(const std::byte* from, bool wide, bool skip, std::uint64_t steps, std::int64_t apart, std::size_t lanes, std::int64_t lane_stride,
          Terms to) {
  const auto add = wide ? skip ? add_rows<double, true> : add_rows<double, false> : skip ? add_rows<float, true> : add_rows<float, false>;
  add(from, steps, apart, lanes, lane_stride, to);
}
void short_rows(const std::byte* from, bool skip, std::uint64_t count, std::size_t lanes, std::int64_t lane_stride, Terms to) {
  (skip ? add_short_rows<true> : add_short_rows<false>)(from, count, lanes, lane_stride, to);
}
void run(const std::byte* from, bool wide, bool skip, std::uint64_t count, Terms to) {
  const auto add = wide ? skip ? add_run<double, true> : add_run<double, false> : skip ? add_run<float, true> : add_run<float, false>;
  add(from, count, to);
}

}  // namespace HWY_NAMESPACE
}  // namespace samesum::groups
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::groups {

SIMD_EXPORT(rows);
SIMD_EXPORT(run);
SIMD_EXPORT(short_rows);

void Terms::add_rows(const std::byte* from, bool wide, bool skip, std::uint64_t steps, std::int64_t apart, std::size_t lanes,
                     std::int64_t lane_stride) const {
  SIMD_CALL(rows)(from, wide, skip, steps, apart, lanes, lane_stride, *this);
}
void Terms::add_short_rows(const std::byte* from, bool skip, std::uint64_t count, std::size_t lanes, std::int64_t lane_stride) const {
  SIMD_CALL(short_rows)(from, skip, count, lanes, lane_stride, *this);
}
void Terms::add_run(const std::byte* from, bool wide, bool skip, std::uint64_t count) const {
  SIMD_CALL(run)(from, wide, skip, count, *this);
}

}  // namespace samesum::groups
#endif  // HWY_ONCE
