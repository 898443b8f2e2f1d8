// Sums and means along axes on the CPU: expansions of doubles (expansion.h), a vector of results at once where results are neighbours in
// memory, else a run of elements at once. Compiled once for each instruction set of the processor family and chosen at run time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "groups/axes_cpu.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "core/chunks.hpp"
#include "core/visit.hpp"
#include "groups/axes.hpp"
#include "groups/expansion.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <type_traits>
#include <vector>

#ifndef SAMESUM_GROUPS_EXPANSION
#define SAMESUM_GROUPS_EXPANSION
namespace samesum::groups {
constexpr std::size_t kLanes = 1024;  // results that are worked on at once: their state stays in the first-level cache
/// Expansions of neighbouring results, by terms.
struct Terms {
  double *s, *e, *f;
  double* lost;  ///< not zero: inexact
};
}  // namespace samesum::groups
#endif

HWY_BEFORE_NAMESPACE();
namespace samesum::groups {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

// Some vectors of expansions; of floats up to four bytes wide two terms are enough, or `lost` says that they are not.
template <bool kShort>
struct Vectors {
  V s, e, f, lost;

  HWY_INLINE static V error(V a, V b, V sum) {
    const V of_b = hn::Sub(sum, a);
    return hn::Add(hn::Sub(a, hn::Sub(sum, of_b)), hn::Sub(b, of_b));
  }
  HWY_INLINE void add(V value) {
    const V sum = hn::Add(s, value);
    V next = error(s, value, sum);
    s = sum;
    const V second = hn::Add(e, next);
    next = error(e, next, second);
    e = second;
    if constexpr (!kShort) {
      const V third = hn::Add(f, next);
      next = error(f, next, third);
      f = third;
    }
    lost = hn::Or(lost, next);  // of zeros of any sign the magnitude is zero; a NaN's is not
  }
};

template <bool kSkip, class D, class Numbers = hn::Vec<D>>
HWY_INLINE Numbers without_nans(D d, Numbers x) {
  if constexpr (kSkip) return hn::IfThenElse(hn::IsNaN(x), hn::Set(d, hn::TFromD<D>(-0.0)), x);
  return x;
}

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

// Adds `steps` numbers to each lane of some vectors, of which `at(vector, step)` is the address of the first.
template <bool kSkip, std::size_t kCount, class Load, class At>
HWY_INLINE void add_numbers(Vectors<false> (&x)[kCount], const Load& load, std::uint64_t steps, const At& at, double) {
  const D d;
  for (std::uint64_t step = 0; step < steps; ++step) {
    for (std::size_t k = 0; k < kCount; ++k) x[k].add(without_nans<kSkip>(d, load.load(d, reinterpret_cast<const double*>(at(k, step)))));
  }
}
// Floats are added up as doubles, which rounds nothing while the exponents of a block span little: that is looked at afterwards.
template <bool kSkip, std::size_t kCount, class Load, class At>
HWY_INLINE void add_numbers(Vectors<true> (&x)[kCount], const Load& load, std::uint64_t steps, const At& at, float) {
  constexpr std::uint64_t kBlock = 64;  // 2^6 numbers below 2^(e - 126), multiples of 2^(e - 23 - 150): 53 bits
  constexpr std::int32_t kSpan = 23;
  const D d;
  const hn::Rebind<float, D> narrow;
  const hn::RebindToUnsigned<decltype(narrow)> bits;
  const auto number = [&](std::size_t k, std::uint64_t step)
                          HWY_ATTR { return without_nans<kSkip>(narrow, load.load(narrow, reinterpret_cast<const float*>(at(k, step)))); };
  for (std::uint64_t first = 0; first < steps; first += kBlock) {
    const std::uint64_t end = std::min(first + kBlock, steps);
    V sums[kCount];
    auto greatest = hn::Zero(bits), least = hn::Set(bits, ~std::uint32_t{0});
    for (V& sum : sums) sum = hn::Set(d, -0.0);
    for (std::uint64_t step = first; step < end; ++step) {
      for (std::size_t k = 0; k < kCount; ++k) {
        const auto value = number(k, step);
        const auto magnitude = hn::And(hn::BitCast(bits, value), hn::Set(bits, 0x7fffffffu));
        greatest = hn::Max(greatest, magnitude);
        least = hn::Min(least, hn::Sub(magnitude, hn::Set(bits, 1u)));  // zeros become the greatest
        sums[k] = hn::Add(sums[k], hn::PromoteTo(d, value));
      }
    }
    const hn::RebindToSigned<decltype(bits)> fields;
    const auto top = hn::BitCast(fields, hn::ShiftRight<23>(greatest)), bottom = hn::BitCast(fields, hn::ShiftRight<23>(least));
    // Of special numbers the top exponent is 255; where all are zeros the bottom is above the top.
    const auto fits = hn::And(hn::Lt(top, hn::Add(bottom, hn::Set(fields, kSpan))), hn::Lt(top, hn::Set(fields, 255)));
    if (hn::AllTrue(fields, fits)) {
      for (std::size_t k = 0; k < kCount; ++k) x[k].add(sums[k]);
    } else {
      for (std::uint64_t step = first; step < end; ++step) {
        for (std::size_t k = 0; k < kCount; ++k) x[k].add(hn::PromoteTo(d, number(k, step)));
      }
    }
  }
}

template <bool kShort>
HWY_INLINE Vectors<kShort> load_terms(Terms to, std::size_t at) {
  const D d;
  return {hn::LoadU(d, to.s + at), hn::LoadU(d, to.e + at), hn::LoadU(d, to.f + at), hn::LoadU(d, to.lost + at)};
}
template <bool kShort>
HWY_INLINE void store_terms(const Vectors<kShort>& x, Terms to, std::size_t at) {
  const D d;
  hn::StoreU(x.s, d, to.s + at);
  hn::StoreU(x.e, d, to.e + at);
  hn::StoreU(x.f, d, to.f + at);
  hn::StoreU(x.lost, d, to.lost + at);
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

// Rows of neighbours that are more than registers hold are added in the order of memory, a block of rows at once, as exactly as their
// numbers are likely to need: whether that was enough is looked at after each block, and else it is added up again with all terms.
template <bool kSkip>
class RowBlock {
 public:
  static constexpr std::uint64_t kRows = 64;  // of floats 2^6 numbers below 2^(e - 126), multiples of 2^(e - 23 - 150): 53 bits

  // Adds rows, `lanes` a multiple of a vector's and kLanes at most.
  template <class Real>
  void add(const std::byte* from, std::uint64_t steps, std::int64_t apart, std::size_t lanes, Terms to) {
    for (std::uint64_t first = 0; first < steps; first += kRows) {
      const std::uint64_t count = std::min(kRows, steps - first);
      const std::byte* const at = from + static_cast<std::int64_t>(first) * apart;
      if (!add_quickly(at, count, apart, lanes, to, Real())) add_with_all_terms<Real>(at, count, apart, lanes, to);
    }
  }

 private:
  // Rows that lie in pages of their own are not fetched ahead by the processor. Beyond the last row this does no harm.
  static constexpr std::int64_t kAhead = 4;
  template <class Real>
  static HWY_INLINE void fetch(const std::byte* row, std::size_t i) {
    __builtin_prefetch(row + i * sizeof(Real));
  }

  template <class Real>
  static HWY_INLINE auto number(const std::byte* row, std::size_t i) {
    const hn::Rebind<Real, D> d;
    return without_nans<kSkip>(d, hn::LoadU(d, reinterpret_cast<const Real*>(row) + i));
  }
  template <class Real>
  static HWY_INLINE V wide(const std::byte* row, std::size_t i) {
    if constexpr (std::is_same_v<Real, float>) {
      return hn::PromoteTo(D(), number<float>(row, i));
    } else {
      return number<double>(row, i);
    }
  }

  // Floats as doubles, which rounds nothing while exponents span little.
  bool add_quickly(const std::byte* from, std::uint64_t count, std::int64_t apart, std::size_t lanes, Terms to, float) {
    constexpr std::int32_t kSpan = 23;
    const D d;
    const hn::RebindToUnsigned<hn::Rebind<float, D>> bits;
    const std::size_t width = hn::Lanes(d);
    auto greatest = hn::Zero(bits), least = hn::Set(bits, ~std::uint32_t{0});
    for (std::uint64_t step = 0; step < count; ++step, from += apart) {
      for (std::size_t i = 0; i < lanes; i += width) {
        fetch<float>(from + kAhead * apart, i);
        const auto value = number<float>(from, i);
        const auto magnitude = hn::And(hn::BitCast(bits, value), hn::Set(bits, 0x7fffffffu));
        greatest = hn::Max(greatest, magnitude);
        least = hn::Min(least, hn::Sub(magnitude, hn::Set(bits, 1u)));  // zeros become the greatest
        const V sum = step == 0 ? hn::Set(d, -0.0) : hn::Load(d, state_ + i);
        hn::Store(hn::Add(sum, hn::PromoteTo(d, value)), d, state_ + i);
      }
    }
    const hn::RebindToSigned<decltype(bits)> fields;
    const auto top = hn::MaxOfLanes(bits, greatest), bottom = hn::MinOfLanes(bits, least);
    const auto highest = hn::BitCast(fields, hn::ShiftRight<23>(top)), lowest = hn::BitCast(fields, hn::ShiftRight<23>(bottom));
    // Of special numbers the top exponent is 255; where all are zeros the bottom is above the top.
    const auto fits = hn::And(hn::Lt(highest, hn::Add(lowest, hn::Set(fields, kSpan))), hn::Lt(highest, hn::Set(fields, 255)));
    if (!hn::AllTrue(fields, fits)) return false;
    for (std::size_t i = 0; i < lanes; i += width) {
      auto terms = load_terms<true>(to, i);
      terms.add(hn::Load(d, state_ + i));
      store_terms(terms, to, i);
    }
    return true;
  }
  // Doubles with two terms; two rows at once, so that terms are loaded and stored half as often.
  bool add_quickly(const std::byte* from, std::uint64_t count, std::int64_t apart, std::size_t lanes, Terms to, double) {
    const D d;
    const std::size_t width = hn::Lanes(d);
    for (std::size_t i = 0; i < lanes; i += width) {
      const V s = hn::LoadU(d, to.s + i), e = hn::LoadU(d, to.e + i);
      // The first one as large as possible, so that the second has room; a zero keeps its sign.
      const V sum = hn::IfThenElse(hn::Eq(e, hn::Zero(d)), s, hn::Add(s, e));
      hn::Store(sum, d, state_ + 2 * i);
      hn::Store(Vectors<true>::error(s, e, sum), d, state_ + 2 * i + width);
    }
    auto lost = hn::Zero(d);
    const auto add_rows = [&](auto rows) HWY_ATTR {
      constexpr std::int64_t kRowsTogether = decltype(rows)::value;
      for (std::size_t i = 0; i < lanes; i += width) {
        double* const state = state_ + 2 * i;
        Vectors<true> terms{hn::Load(d, state), hn::Load(d, state + width), lost, lost};
        for (std::int64_t row = 0; row < kRowsTogether; ++row) {
          fetch<double>(from + (row + kAhead) * apart, i);
          terms.add(number<double>(from + row * apart, i));
        }
        hn::Store(terms.s, d, state);
        hn::Store(terms.e, d, state + width);
        lost = terms.lost;
      }
      from += kRowsTogether * apart;
    };
    for (std::uint64_t step = 0; step + 2 <= count; step += 2) add_rows(std::integral_constant<std::int64_t, 2>());
    if (count % 2 != 0) add_rows(std::integral_constant<std::int64_t, 1>());
    if (!hn::AllTrue(d, hn::Eq(lost, hn::Zero(d)))) return false;
    for (std::size_t i = 0; i < lanes; i += width) {
      hn::StoreU(hn::Load(d, state_ + 2 * i), d, to.s + i);
      hn::StoreU(hn::Load(d, state_ + 2 * i + width), d, to.e + i);
    }
    return true;
  }
  template <class Real>
  static void add_with_all_terms(const std::byte* from, std::uint64_t count, std::int64_t apart, std::size_t lanes, Terms to) {
    for (std::uint64_t step = 0; step < count; ++step, from += apart) {
      for (std::size_t i = 0; i < lanes; i += hn::Lanes(D())) {
        auto terms = load_terms<std::is_same_v<Real, float>>(to, i);
        terms.add(wide<Real>(from, i));
        store_terms(terms, to, i);
      }
    }
  }

  alignas(64) double state_[2 * kLanes];  // of doubles both terms of a vector side by side
};

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
void add_run(const std::byte* from, std::uint64_t count, Terms to) {
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
    store_terms(vector, {s, e, f, lost}, 0);
    for (std::size_t k = 0; k < width; ++k) sum = expansion_merge(sum, {s[k], e[k], f[k], lost[k] != 0});
  }
  *to.s = sum.s, *to.e = sum.e, *to.f = sum.f, *to.lost = sum.inexact;
  const std::uint64_t done = count / together * together;
  add_one<Real, kSkip>(from + done * sizeof(Real), count - done, sizeof(Real), to, 0);
}

// Adds a short row of `count` contiguous floats to each of `lanes` expansions: as doubles, which rounds nothing where exponents span
// little.
template <bool kSkip>
void add_short_rows(const std::byte* from, std::uint64_t count, std::size_t lanes, std::int64_t lane_stride, Terms to) {
  const D d;
  const hn::Rebind<float, D> narrow;
  const hn::RebindToUnsigned<decltype(narrow)> bits;
  const hn::RebindToSigned<decltype(narrow)> fields;
  const std::size_t width = hn::Lanes(d);
  const std::uint64_t whole = count / width * width;
  const auto rest = hn::FirstN(narrow, count - whole);
  // `count` numbers below 2^(e - 126) that are multiples of 2^(e - span - 150) add up to 53 bits.
  const auto span = hn::Set(fields, static_cast<std::int32_t>(29 - std::bit_width(count)));
  for (std::size_t lane = 0; lane < lanes; ++lane, from += lane_stride) {
    const auto* const row = reinterpret_cast<const float*>(from);
    auto greatest = hn::Zero(bits), least = hn::Set(bits, ~std::uint32_t{0});
    V sum = hn::Set(d, -0.0);
    const auto add = [&](auto value) HWY_ATTR {
      value = without_nans<kSkip>(narrow, value);
      const auto magnitude = hn::And(hn::BitCast(bits, value), hn::Set(bits, 0x7fffffffu));
      greatest = hn::Max(greatest, magnitude);
      least = hn::Min(least, hn::Sub(magnitude, hn::Set(bits, 1u)));  // zeros become the greatest
      sum = hn::Add(sum, hn::PromoteTo(d, value));
    };
    for (std::uint64_t i = 0; i < whole; i += width) add(hn::LoadU(narrow, row + i));
    if (whole != count) add(hn::IfThenElse(rest, hn::MaskedLoad(rest, narrow, row + whole), hn::Set(narrow, -0.0F)));
    const auto top = hn::BitCast(fields, hn::ShiftRight<23>(hn::MaxOfLanes(bits, greatest)));
    const auto bottom = hn::BitCast(fields, hn::ShiftRight<23>(hn::MinOfLanes(bits, least)));
    EXPANSION x{to.s[lane], to.e[lane], to.f[lane], to.lost[lane] != 0};
    if (hn::AllTrue(fields, hn::And(hn::Lt(top, hn::Add(bottom, span)), hn::Lt(top, hn::Set(fields, 255))))) {
      x = expansion_add(x, hn::GetLane(hn::SumOfLanes(d, sum)));
      to.s[lane] = x.s, to.e[lane] = x.e, to.f[lane] = x.f, to.lost[lane] = x.inexact;
    } else {
      add_run<float, kSkip>(from, count, {to.s + lane, to.e + lane, to.f + lane, to.lost + lane});
    }
  }
}

// The means that need no more than one term, `lanes` of them: expansion_mean() does no more there. True if all do.
bool finish_means(Terms from, std::size_t lanes, double count, double* to) {
  const D d;
  const std::size_t width = hn::Lanes(d);
  auto more = hn::Zero(d);
  std::size_t i = 0;
  for (; i + width <= lanes; i += width) {
    const auto s = hn::LoadU(d, from.s + i);
    more = hn::Or(more, hn::Or(hn::LoadU(d, from.e + i), hn::Or(hn::LoadU(d, from.f + i), hn::LoadU(d, from.lost + i))));
    more = hn::Or(more, hn::Sub(s, s));  // of special numbers a NaN
    hn::StoreU(hn::Div(s, hn::Set(d, count)), d, to + i);
  }
  bool simple = hn::AllTrue(d, hn::Eq(more, hn::Zero(d)));
  for (; i < lanes; ++i) {
    const double s = from.s[i];
    simple &= from.e[i] == 0 && from.f[i] == 0 && from.lost[i] == 0 && s - s == 0;
    to[i] = s / count;
  }
  return simple;
}

// Rounds `lanes` sums as expansion_rounded() does; those that it does not know become inexact. True if all are known.
bool finish_sums(Terms from, std::size_t lanes, double* to) {
  const D d;
  const std::size_t width = hn::Lanes(d);
  const auto error = [](V a, V b, V sum) HWY_ATTR { return Vectors<false>::error(a, b, sum); };
  const V zero = hn::Zero(d);
  bool known = true;
  std::size_t i = 0;
  for (; i + width <= lanes; i += width) {
    const V x = hn::LoadU(d, from.s + i), y = hn::LoadU(d, from.e + i), z = hn::LoadU(d, from.f + i), lost = hn::LoadU(d, from.lost + i);
    const V s = hn::Add(x, y), t = error(x, y, s), u = hn::Add(t, z), w = error(t, z, u);
    const V sum = hn::Add(s, u), v = error(s, u, sum), e = hn::Add(v, w), f = error(v, w, e);
    const V twice = hn::Add(e, e);
    const auto tie = hn::And(hn::Ne(f, zero), hn::Eq(hn::Sub(hn::Add(sum, twice), sum), twice));
    const auto good = hn::AndNot(tie, hn::And(hn::Eq(lost, zero), hn::Eq(hn::Sub(sum, sum), zero)));
    const auto one_term = hn::And(hn::Eq(y, zero), hn::Eq(z, zero));  // with the sign of a zero
    hn::StoreU(hn::IfThenElse(one_term, x, sum), d, to + i);
    if (HWY_LIKELY(hn::AllTrue(d, good))) continue;
    known = false;
    hn::StoreU(hn::IfThenElse(good, zero, hn::Set(d, 1.0)), d, from.lost + i);
  }
  for (; i < lanes; ++i) {
    const EXPANSION x = expansion_rounded({from.s[i], from.e[i], from.f[i], from.lost[i] != 0});
    to[i] = x.s;
    from.lost[i] = x.inexact;
    known &= x.inexact == 0;
  }
  return known;
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
namespace {

SIMD_EXPORT(rows);
SIMD_EXPORT(run);
SIMD_EXPORT(short_rows);
SIMD_EXPORT(finish_means);
SIMD_EXPORT(finish_sums);

constexpr std::size_t kLanesApart = 32;  // where each lane's elements are a cache line of their own
constexpr std::uint64_t kNumbersAtOnce = std::uint64_t{1} << 14, kRowsAtOnce = 64;
constexpr std::uint64_t kShortRun = 2048, kShortRunOfDoubles = 64;

// Sums of floats, as expansions.
class FloatSums {
 public:
  FloatSums(DType type, bool skip, std::size_t size) : type_(type), skip_(skip), terms_(3 * size, -0.0), lost_(size, 0.0), size_(size) {}

  // Rows, lane by lane.
  void add_rows(const std::byte* from, std::uint64_t steps, std::int64_t apart, std::size_t lanes, std::int64_t lane_stride) {
    const auto element = static_cast<std::int64_t>(size_of(type_));
    constexpr std::int64_t kReach = std::int64_t{1} << 24;  // of lanes that one vector gathers from, by indices of 32 bits
    if (type_ == DType::float32 && apart == element && lane_stride != element && steps < kShortRun) {
      return SIMD_CALL(short_rows)(from, skip_, steps, lanes, lane_stride, terms(0));
    }
    if (type_ == DType::float64 && apart == element && lane_stride != element && lanes <= kLanesApart) {
      return add_transposed(from, steps, lanes, lane_stride);
    }
    if (is_native() && (lane_stride == element || (lane_stride % element == 0 && lane_stride < kReach && lane_stride > -kReach))) {
      return SIMD_CALL(rows)(from, type_ == DType::float64, skip_, steps, apart, lanes, lane_stride, terms(0));
    }
    with_copy([&](auto* copy) {
      for (std::uint64_t step = 0; step < steps; ++step) {
        gather(from + static_cast<std::int64_t>(step) * apart, lanes, lane_stride, copy);
        SIMD_CALL(rows)(reinterpret_cast<const std::byte*>(copy), sizeof *copy == 8, skip_, 1, 0, lanes, sizeof *copy, terms(0));
      }
    });
  }
  // A run of the elements of one result.
  void add_run(const std::byte* from, std::uint64_t count, std::int64_t stride, std::size_t lane) {
    if (is_native() && stride == static_cast<std::int64_t>(size_of(type_))) {
      return SIMD_CALL(run)(from, type_ == DType::float64, skip_, count, terms(lane));
    }
    with_copy([&](auto* copy) {
      for (std::uint64_t first = 0; first < count; first += kLanes) {
        const std::size_t part = std::min<std::uint64_t>(kLanes, count - first);
        gather(from + static_cast<std::int64_t>(first) * stride, part, stride, copy);
        SIMD_CALL(run)(reinterpret_cast<const std::byte*>(copy), sizeof *copy == 8, skip_, part, terms(lane));
      }
    });
  }
  void merge(const FloatSums& other, std::size_t lanes) {
    for (std::size_t i = 0; i < lanes; ++i) set(i, expansion_merge(at(i), other.at(i)));
  }
  void clear(std::size_t lanes) {
    for (std::size_t term = 0; term < 3; ++term) std::fill_n(terms_.begin() + static_cast<std::ptrdiff_t>(term * size_), lanes, -0.0);
    std::fill_n(lost_.begin(), lanes, 0.0);
  }
  // All at once, as far as that is simple: false where lanes have to be finished one by one.
  bool finish_all(std::size_t lanes, std::uint64_t count, bool mean, std::byte* results) {
    if (skip_ || (mean && count >> 53 != 0) || reinterpret_cast<std::uintptr_t>(results) % sizeof(double) != 0) return false;
    if (!mean) return SIMD_CALL(finish_sums)(terms(0), lanes, reinterpret_cast<double*>(results));
    return SIMD_CALL(finish_means)(terms(0), lanes, static_cast<double>(count), reinterpret_cast<double*>(results));
  }
  // False where it cannot be told in this way.
  bool finish(std::size_t lane, std::uint64_t count, bool mean, void* result) const {
    EXPANSION x = at(lane);
    if (x.inexact != 0) return false;
    x = mean ? expansion_mean(x, static_cast<double>(count)) : expansion_rounded(x);
    if (x.inexact != 0) return false;
    if (skip_ && (mean || x.s == 0)) return false;  // of how many elements is not known here
    std::memcpy(result, &x.s, sizeof x.s);
    return true;
  }

 private:
  bool is_native() const { return type_ == DType::float32 || type_ == DType::float64; }
  Terms terms(std::size_t lane) {
    return {terms_.data() + lane, terms_.data() + size_ + lane, terms_.data() + 2 * size_ + lane, lost_.data() + lane};
  }
  EXPANSION at(std::size_t i) const { return {terms_[i], terms_[size_ + i], terms_[2 * size_ + i], lost_[i] != 0}; }
  void set(std::size_t i, const EXPANSION& x) {
    terms_[i] = x.s;
    terms_[size_ + i] = x.e;
    terms_[2 * size_ + i] = x.f;
    lost_[i] = x.inexact;
  }
  // Short rows of doubles, by way of their transpose: processors gather no faster, and many of them slower.
  void add_transposed(const std::byte* from, std::uint64_t count, std::size_t lanes, std::int64_t lane_stride) {
    constexpr std::uint64_t kPart = 16;
    alignas(64) double copy[kPart * kLanesApart];
    for (std::uint64_t first = 0; first < count; first += kPart) {
      const std::uint64_t part = std::min(kPart, count - first);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const std::byte* const row = from + static_cast<std::int64_t>(lane) * lane_stride + first * sizeof(double);
        for (std::uint64_t i = 0; i < part; ++i) std::memcpy(copy + i * lanes + lane, row + i * sizeof(double), sizeof(double));
      }
      const auto apart = static_cast<std::int64_t>(lanes * sizeof(double));
      SIMD_CALL(rows)(reinterpret_cast<const std::byte*>(copy), true, skip_, part, apart, lanes, sizeof(double), terms(0));
    }
  }
  template <class Body>
  void with_copy(const Body& body) {
    if (type_ == DType::float64) {
      alignas(64) double copy[kLanes];
      body(copy);
    } else {
      alignas(64) float copy[kLanes];
      body(copy);
    }
  }
  template <class Real>
  void gather(const std::byte* from, std::size_t count, std::int64_t stride, Real* to) const {
    core::visit(type_, [&](auto element) {
      for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(&element, from + static_cast<std::int64_t>(i) * stride, sizeof element);
        to[i] = static_cast<Real>(element);
      }
    });
  }

  DType type_;
  bool skip_;
  std::vector<double> terms_, lost_;
  std::size_t size_;
};

// Sums of integers; of up to 32 bits none overflows 64, of less than 2^32 elements.
template <class Element>
class IntegerSums {
 public:
  __extension__ using Wide = __int128;
  using Sum = std::conditional_t<sizeof(Element) == 8, Wide, std::int64_t>;

  IntegerSums(DType, bool, std::size_t size) : sums_(size) {}

  void add_rows(const std::byte* from, std::uint64_t steps, std::int64_t apart, std::size_t lanes, std::int64_t lane_stride) {
    for (std::uint64_t step = 0; step < steps; ++step, from += apart) {
      if (lane_stride == sizeof(Element)) {
        for (std::size_t i = 0; i < lanes; ++i) sums_[i] += element(from + i * sizeof(Element));
      } else {
        for (std::size_t i = 0; i < lanes; ++i) sums_[i] += element(from + static_cast<std::int64_t>(i) * lane_stride);
      }
    }
  }
  void add_run(const std::byte* from, std::uint64_t count, std::int64_t stride, std::size_t lane) {
    Sum sum = 0;
    if (stride == sizeof(Element)) {
      for (std::uint64_t i = 0; i < count; ++i) sum += element(from + i * sizeof(Element));
    } else {
      for (std::uint64_t i = 0; i < count; ++i) sum += element(from + static_cast<std::int64_t>(i) * stride);
    }
    sums_[lane] += sum;
  }
  void merge(const IntegerSums& other, std::size_t lanes) {
    for (std::size_t i = 0; i < lanes; ++i) sums_[i] += other.sums_[i];
  }
  void clear(std::size_t lanes) { std::fill_n(sums_.begin(), lanes, Sum{0}); }
  bool finish_all(std::size_t, std::uint64_t, bool, std::byte*) { return false; }
  bool finish(std::size_t lane, std::uint64_t count, bool mean, void* result) const {
    const Sum sum = sums_[lane];
    if (sizeof(Sum) == 8 && count >> 31 != 0) return false;  // may have overflowed
    if (mean) {
      constexpr Sum kExact = Sum{1} << 53;
      if (sum > kExact || sum < -kExact || count > std::uint64_t{1} << 53) return false;
      const double value = static_cast<double>(sum) / static_cast<double>(count);
      std::memcpy(result, &value, sizeof value);
      return true;
    }
    using Result = std::conditional_t<std::is_signed_v<Element>, std::int64_t, std::uint64_t>;
    if (sum < Sum{std::numeric_limits<Result>::min()} ||
        (sizeof(Sum) == 16 && sum > static_cast<Sum>(std::numeric_limits<Result>::max()))) {
      return false;
    }
    const auto value = static_cast<Result>(sum);
    std::memcpy(result, &value, sizeof value);
    return true;
  }

 private:
  static Element element(const std::byte* at) {
    Element value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }

  std::vector<Sum> sums_;
};

template <class Sums>
class Reducer {
 public:
  Reducer(const AxisProblem& problem, bool mean, NanPolicy nan, std::uint32_t threads, void* results)
      : problem_(problem),
        mean_(mean),
        skip_(nan == NanPolicy::skip),
        results_(static_cast<std::byte*>(results)),
        base_(static_cast<const std::byte*>(problem.data.data()) + problem.first),
        lanes_(problem.kept.back()),
        steps_(problem.reduced.empty() ? core::Axis{1, 0} : problem.reduced.back()),
        threads_(core::thread_count(problem.data.bytes(), threads)) {
    // Short runs are taken of many results at once too: vectors of them are filled with one element of each.
    const auto size = [](std::int64_t stride) { return stride < 0 ? -stride : stride; };
    const bool neighbours = size(lanes_.stride) < size(steps_.stride);
    by_rows_ = neighbours ||
               (steps_.extent < (problem.data.type() == DType::float64 ? kShortRunOfDoubles : kShortRun) && lanes_.extent >= kLanesApart);
    most_lanes_ = neighbours ? kLanes : kLanesApart;
  }

  std::vector<std::uint64_t> run() {
    const std::uint64_t inner = lanes_.extent, outer = problem_.results / inner;
    // Results of a block, all along the last axis that is kept: as many as fill the caches' lines and give each thread several blocks.
    const std::uint64_t work = std::max<std::uint64_t>(std::uint64_t{1} << 16, 1) / std::max<std::uint64_t>(problem_.each, 1);
    const std::uint64_t block = std::clamp<std::uint64_t>(by_rows_ ? most_lanes_ : work, 1, std::min<std::uint64_t>(kLanes, inner));
    const std::uint64_t blocks = (inner + block - 1) / block;
    // Few blocks: each is cut along the outermost axis that is reduced.
    const core::Axis cut = problem_.reduced.empty() ? core::Axis{1, 0} : problem_.reduced.front();
    const std::uint64_t wanted = threads_ == 1 ? 1 : (8 * threads_ + outer * blocks - 1) / (outer * blocks);
    const std::uint64_t cuts = std::clamp<std::uint64_t>(wanted, 1, std::max<std::uint64_t>(cut.extent / 64, 1));
    if (cuts == 1) {
      std::vector<Sums> sums(threads_, Sums(problem_.data.type(), skip_, block));
      const std::uint64_t chunk =
          std::max<std::uint64_t>(1, (std::uint64_t{1} << 18) / (block * problem_.each * size_of(problem_.data.type()) + 1));
      core::for_chunks(outer * blocks, threads_, chunk, [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) {
        for (std::uint64_t i = first; i < first + count; ++i) {
          const std::uint64_t begin = i % blocks * block, lanes = std::min(block, inner - begin);
          sums[task].clear(lanes);
          add(sums[task], i / blocks, begin, lanes, 0, cut.extent);
          finish(sums[task], i / blocks * inner + begin, lanes);
        }
      });
    } else {
      std::vector<Sums> sums(outer * blocks * cuts, Sums(problem_.data.type(), skip_, block));
      core::for_chunks(sums.size(), threads_, 1, [&](std::uint32_t, std::uint64_t first, std::uint64_t count) {
        for (std::uint64_t i = first; i < first + count; ++i) {
          const std::uint64_t of = i / cuts, begin = of % blocks * block, part = i % cuts;
          const std::uint64_t from = cut.extent * part / cuts, until = cut.extent * (part + 1) / cuts;
          add(sums[i], of / blocks, begin, std::min(block, inner - begin), from, until - from);
        }
      });
      for (std::uint64_t of = 0; of < outer * blocks; ++of) {
        const std::uint64_t begin = of % blocks * block, lanes = std::min(block, inner - begin);
        for (std::uint64_t part = 1; part < cuts; ++part) sums[of * cuts].merge(sums[of * cuts + part], lanes);
        finish(sums[of * cuts], of / blocks * inner + begin, lanes);
      }
    }
    std::ranges::sort(left_);
    return std::move(left_);
  }

 private:
  // Adds the elements of results begin, begin + 1, … along the last kept axis, of these `count` indices of the outermost reduced one.
  void add(Sums& sums, std::uint64_t outer, std::uint64_t begin, std::uint64_t lanes, std::uint64_t from, std::uint64_t count) const {
    const std::byte* const base = base_ + problem_.offset_of(outer * lanes_.extent + begin);
    const std::size_t axes = problem_.reduced.size();
    if (axes <= 1) return add_steps(sums, base + static_cast<std::int64_t>(from) * steps_.stride, lanes, count);
    std::vector<std::uint64_t> index(axes - 1, 0);
    for (index[0] = from; index[0] < from + count;) {
      const std::byte* at = base;
      for (std::size_t i = 0; i < index.size(); ++i) at += static_cast<std::int64_t>(index[i]) * problem_.reduced[i].stride;
      add_steps(sums, at, lanes, steps_.extent);
      std::size_t axis = index.size() - 1;
      while (++index[axis] == problem_.reduced[axis].extent && axis != 0) index[axis--] = 0;
    }
  }
  void add_steps(Sums& sums, const std::byte* at, std::uint64_t lanes, std::uint64_t count) const {
    if (!by_rows_) {
      for (std::uint64_t lane = 0; lane < lanes; ++lane)
        sums.add_run(at + static_cast<std::int64_t>(lane) * lanes_.stride, count, steps_.stride, lane);
      return;
    }
    const std::uint64_t at_once = std::max(kNumbersAtOnce / lanes, kRowsAtOnce);
    for (std::uint64_t step = 0; step < count; step += at_once) {
      sums.add_rows(at + static_cast<std::int64_t>(step) * steps_.stride, std::min(at_once, count - step), steps_.stride, lanes,
                    lanes_.stride);
    }
  }
  void finish(Sums& sums, std::uint64_t first, std::uint64_t lanes) {
    if (sums.finish_all(lanes, problem_.each, mean_, results_ + 8 * first)) return;
    for (std::uint64_t lane = 0; lane < lanes; ++lane) {
      if (sums.finish(lane, problem_.each, mean_, results_ + 8 * (first + lane))) continue;
      const std::lock_guard lock(mutex_);
      left_.push_back(first + lane);
    }
  }

  const AxisProblem& problem_;
  bool mean_, skip_;
  std::byte* results_;
  const std::byte* base_;
  core::Axis lanes_, steps_;
  std::uint32_t threads_;
  bool by_rows_;
  std::uint64_t most_lanes_ = 1;
  std::mutex mutex_;
  std::vector<std::uint64_t> left_;
};

}  // namespace

std::vector<std::uint64_t> reduce_cpu(const AxisProblem& problem, bool mean, NanPolicy nan, std::uint32_t threads, void* results) {
  if (!is_integer(problem.data.type())) return Reducer<FloatSums>(problem, mean, nan, threads, results).run();
  return core::visit(problem.data.type(), [&](auto element) {
    using Element = decltype(element);
    if constexpr (std::is_integral_v<Element>) {
      return Reducer<IntegerSums<Element>>(problem, mean, nan, threads, results).run();
    } else {
      return std::vector<std::uint64_t>();
    }
  });
}

}  // namespace samesum::groups
#endif
