// Expansions of doubles (expansion.h) on the CPU: a vector of results at once where results are neighbours in memory, else a run of
// elements at once. Compiled once for each instruction set of the processor family and chosen at run time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "groups/axes_cpu_expansions.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "groups/axes_cpu_expansions.hpp"
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
// Floats are added up as doubles, which is exact if the exponents of a block span a narrow range. Otherwise the block is added again, element by
// element.
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

// Rows with more neighbours than registers hold are added in the order of memory, a block of rows at once, with as many terms as their
// numbers are likely to need. After each block a test shows whether the sums are exact. If they are not, the block is added again with all
// terms.
template <bool kSkip>
class RowBlock {
 public:
  static constexpr std::uint64_t kRows = 64;

  // Adds rows, `lanes` a multiple of a vector's and kLanes at most.
  template <class Real>
  void add(const std::byte* from, std::uint64_t steps, std::int64_t apart, std::size_t lanes, Terms to) {
    for (std::uint64_t first = 0; first < steps; first += kRows) {
      const std::uint64_t count = std::min(kRows, steps - first);
      const std::byte* const at = from + static_cast<std::int64_t>(first) * apart;
      if (!add_if_exact(at, count, apart, lanes, to, Real())) add_with_all_terms<Real>(at, count, apart, lanes, to);
    }
  }

 private:
  // The processor does not prefetch across pages. A prefetch beyond the last row is harmless.
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

  // Floats as doubles, which rounds nothing while exponents span a narrow range.
  bool add_if_exact(const std::byte* from, std::uint64_t count, std::int64_t apart, std::size_t lanes, Terms to, float) {
    const D d;
    const std::size_t width = hn::Lanes(d);
    Exponents exponents;
    for (std::uint64_t step = 0; step < count; ++step, from += apart) {
      for (std::size_t i = 0; i < lanes; i += width) {
        fetch<float>(from + kAhead * apart, i);
        const auto value = number<float>(from, i);
        exponents.add(value);
        const V sum = step == 0 ? hn::Set(d, -0.0) : hn::Load(d, state_ + i);
        hn::Store(hn::Add(sum, hn::PromoteTo(d, value)), d, state_ + i);
      }
    }
    exponents.join_lanes();
    if (!exponents.within(Exponents::kSpan)) return false;
    for (std::size_t i = 0; i < lanes; i += width) {
      auto terms = load_terms<true>(to, i);
      terms.add(hn::Load(d, state_ + i));
      store_terms(terms, to, i);
    }
    return true;
  }
  // Doubles with two terms; two rows at once, so that terms are loaded and stored half as often.
  bool add_if_exact(const std::byte* from, std::uint64_t count, std::int64_t apart, std::size_t lanes, Terms to, double) {
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
  const Exponents::Narrow narrow;
  const std::size_t width = hn::Lanes(d);
  const std::uint64_t whole = count / width * width;
  const auto rest = hn::FirstN(narrow, count - whole);
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
    if (whole != count) add(hn::IfThenElse(rest, hn::MaskedLoad(rest, narrow, row + whole), hn::Set(narrow, -0.0F)));
    exponents.join_lanes();
    EXPANSION x{to.s[lane], to.e[lane], to.f[lane], to.lost[lane] != 0};
    if (exponents.within(span)) {
      x = expansion_add(x, hn::GetLane(hn::SumOfLanes(d, sum)));
      to.s[lane] = x.s, to.e[lane] = x.e, to.f[lane] = x.f, to.lost[lane] = x.inexact;
    } else {
      add_run<float, kSkip>(from, count, {to.s + lane, to.e + lane, to.f + lane, to.lost + lane});
    }
  }
}

// Terms::means(): of one term, expansion_mean() gives the same.
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

// Terms::sums().
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

SIMD_EXPORT(rows);
SIMD_EXPORT(run);
SIMD_EXPORT(short_rows);
SIMD_EXPORT(finish_means);
SIMD_EXPORT(finish_sums);

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
bool Terms::means(std::size_t lanes, double count, double* to) const { return SIMD_CALL(finish_means)(*this, lanes, count, to); }
bool Terms::sums(std::size_t lanes, double* to) const { return SIMD_CALL(finish_sums)(*this, lanes, to); }

}  // namespace samesum::groups
#endif  // HWY_ONCE
