// Sums of products by vectors. Compiled once for each instruction set of the processor family and chosen at run time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "groups/dots/products_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "groups/cpu/axes_watched-inl.hpp"
#include "groups/dots/products.hpp"
#include "groups/expansion.hpp"

#include <hwy/highway.h>

#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace samesum::groups {
namespace HWY_NAMESPACE {
namespace products {

namespace hn = hwy::HWY_NAMESPACE;
using watched::D;
using watched::kWidth;
using watched::V;

struct Sums {
  V s, e, lost;

  // Written for GCC, whose own constructor is not for this instruction set.
  HWY_INLINE Sums() {}

  // Of the first term's error, and the product's own.
  template <bool kExact>
  HWY_INLINE void add(V a, V b) {
    const V product = hn::Mul(a, b), sum = hn::Add(s, product), of_s = watched::error(s, product, sum);
    s = sum;
    e = hn::Add(e, of_s);
    lost = hn::Add(lost, hn::Abs(of_s));
    if constexpr (!kExact) {
      const V rest = watched::error_of_product(a, b, product);
      e = hn::Add(e, rest);
      lost = hn::Add(lost, hn::Abs(rest));
    }
  }

  // The same with a bound of what `e` lacks.
  template <bool kExact>
  HWY_INLINE void add_noting(V a, V b) {
    const V product = hn::Mul(a, b), sum = hn::Add(s, product), of_s = watched::error(s, product, sum);
    const V more = hn::Add(e, of_s);
    V unsure = hn::Abs(watched::error(e, of_s, more));
    s = sum;
    e = more;
    if constexpr (!kExact) {
      const V rest = watched::error_of_product(a, b, product);
      e = hn::Add(more, rest);
      unsure = hn::Add(unsure, hn::Abs(watched::error(more, rest, e)));
    }
    lost = hn::Add(lost, unsure);
  }
};

HWY_INLINE void load(Sums& x, const DotSums& from, std::size_t at) {
  const D d;
  x.s = hn::LoadU(d, from.s + at);
  x.e = hn::LoadU(d, from.e + at);
  x.lost = hn::LoadU(d, from.lost + at);
}
HWY_INLINE void store(const Sums& x, const DotSums& to, std::size_t at) {
  const D d;
  hn::StoreU(x.s, d, to.s + at);
  hn::StoreU(x.e, d, to.e + at);
  hn::StoreU(x.lost, d, to.lost + at);
}

// As many rows at once as registers hold sums of.
constexpr std::size_t kRows = HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86 ? 8 : 4;

template <std::size_t kCount, bool kExact>
HWY_INLINE void add_rows(const double* a, std::size_t a_apart, const double* panel, std::uint64_t steps, const DotSums& sums,
                         std::size_t apart) {
  const D d;
  Sums x[kCount];
  for (std::size_t r = 0; r < kCount; ++r) load(x[r], sums, r * apart);
  for (std::uint64_t step = 0; step < steps; ++step) {
    const V b = hn::LoadU(d, panel + step * kWidth);
    for (std::size_t r = 0; r < kCount; ++r) x[r].template add<kExact>(hn::Set(d, a[r * a_apart + step]), b);
  }
  for (std::size_t r = 0; r < kCount; ++r) store(x[r], sums, r * apart);
}

DotSums behind(const DotSums& sums, std::size_t count) { return {sums.s + count, sums.e + count, sums.f + count, sums.lost + count}; }

template <bool kExact>
void add_all_rows(const double* a, std::size_t a_apart, const double* panel, std::uint64_t steps, std::size_t rows, const DotSums& sums,
                  std::size_t apart) {
  std::size_t r = 0;
  for (; r + kRows <= rows; r += kRows) add_rows<kRows, kExact>(a + r * a_apart, a_apart, panel, steps, behind(sums, r * apart), apart);
  for (; r + 2 <= rows; r += 2) add_rows<2, kExact>(a + r * a_apart, a_apart, panel, steps, behind(sums, r * apart), apart);
  if (r < rows) add_rows<1, kExact>(a + r * a_apart, a_apart, panel, steps, behind(sums, r * apart), apart);
}

void add_panel(const double* a, std::size_t a_apart, const double* panel, std::uint64_t steps, std::size_t rows, bool exact, DotSums sums,
               std::size_t apart) {
  (exact ? add_all_rows<true> : add_all_rows<false>)(a, a_apart, panel, steps, rows, sums, apart);
}

template <bool kExact>
void add_both(const double* a, const double* b, std::uint64_t steps, const DotSums& sums) {
  const D d;
  Sums x;
  load(x, sums, 0);
  for (std::uint64_t step = 0; step < steps; ++step)
    x.template add<kExact>(hn::LoadU(d, a + step * kWidth), hn::LoadU(d, b + step * kWidth));
  store(x, sums, 0);
}

void add_columns(const double* a, const double* b, std::uint64_t steps, bool exact, DotSums sums) {
  (exact ? add_both<true> : add_both<false>)(a, b, steps, sums);
}

template <class Real>
HWY_INLINE V numbers_at(const Real* at) {
  const D d;
  if constexpr (std::is_same_v<Real, double>) {
    return hn::LoadU(d, at);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), at));
  }
}

// As many vectors as hide the time that an addition takes.
template <class Real, bool kExact>
void add_one_row(const Real* a, const Real* b, std::uint64_t count, const DotSums& sum) {
  constexpr std::size_t kVectors = 2;
  double terms[3][kVectors * kWidth] = {};
  for (double& s : terms[0]) s = -0.0;
  const DotSums lanes{terms[0], terms[1], nullptr, terms[2]};
  Sums x[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) load(x[v], lanes, v * kWidth);
  std::uint64_t i = 0;
  for (; i + kVectors * kWidth <= count; i += kVectors * kWidth) {
    for (std::size_t v = 0; v < kVectors; ++v) x[v].template add_noting<kExact>(numbers_at(a + i + v * kWidth), numbers_at(b + i + v * kWidth));
  }
  for (std::size_t v = 0; v < kVectors; ++v) store(x[v], lanes, v * kWidth);
  SQUARES all{*sum.s, *sum.e, *sum.f, *sum.lost};
  for (std::size_t lane = 0; lane < kVectors * kWidth && i != 0; ++lane)
    all = squares_merge(all, {terms[0][lane], terms[1][lane], 0, terms[2][lane]});
  for (; i < count; ++i) all = add_product(all, static_cast<double>(a[i]), static_cast<double>(b[i]));
  *sum.s = all.s, *sum.e = all.e, *sum.f = all.f, *sum.lost = all.lost;
}

void add_row(const void* a, const void* b, bool wide, std::uint64_t count, bool exact, DotSums sum) {
  if (!wide) return add_one_row<float, true>(static_cast<const float*>(a), static_cast<const float*>(b), count, sum);
  const auto add = exact ? add_one_row<double, true> : add_one_row<double, false>;
  add(static_cast<const double*>(a), static_cast<const double*>(b), count, sum);
}

// The lowest bit of each number: what is left without it is subtracted. A power of two has no other bit.
HWY_INLINE V least_of(V least, V x) {
  const D d;
  const hn::RebindToUnsigned<D> bits;
  const V magnitude = hn::Abs(x);
  const auto all = hn::BitCast(bits, magnitude);
  const auto fraction = hn::And(all, hn::Set(bits, 0xfffffffffffff));
  const V others = hn::BitCast(d, hn::And(all, hn::Sub(all, hn::Set(bits, 1))));
  const auto is_power = hn::RebindMask(d, hn::Eq(fraction, hn::Zero(bits)));
  const V lowest = hn::IfThenElse(is_power, magnitude, hn::Sub(magnitude, others));
  return hn::Min(least, hn::IfThenElse(hn::Eq(magnitude, hn::Zero(d)), hn::Set(d, std::numeric_limits<double>::infinity()), lowest));
}

double unit_of(const double* numbers, std::uint64_t count) {
  const D d;
  V least = hn::Set(d, std::numeric_limits<double>::infinity());
  std::uint64_t i = 0;
  for (; i + kWidth <= count; i += kWidth) least = least_of(least, hn::LoadU(d, numbers + i));
  double rest[kWidth] = {};
  for (std::size_t k = 0; i + k < count; ++k) rest[k] = numbers[i + k];
  return hn::GetLane(hn::MinOfLanes(d, least_of(least, hn::LoadU(d, rest))));
}

void widen(const float* from, std::uint64_t count, double* to) {
  const D d;
  std::uint64_t i = 0;
  for (; i + kWidth <= count; i += kWidth) hn::StoreU(numbers_at(from + i), d, to + i);
  for (; i < count; ++i) to[i] = from[i];
}

std::size_t panel_columns() { return kWidth; }

}  // namespace products
using products::add_columns;
using products::add_panel;
using products::add_row;
using products::unit_of;
using products::panel_columns;
using products::widen;
}  // namespace HWY_NAMESPACE
}  // namespace samesum::groups
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::groups {
namespace {

SIMD_EXPORT(add_panel);
SIMD_EXPORT(add_columns);
SIMD_EXPORT(add_row);
SIMD_EXPORT(unit_of);
SIMD_EXPORT(widen);
SIMD_EXPORT(panel_columns);

}  // namespace

std::size_t panel_columns() { return SIMD_CALL(panel_columns)(); }
void add_panel(const double* a, std::size_t a_apart, const double* panel, std::uint64_t steps, std::size_t rows, bool exact, DotSums sums,
               std::size_t apart) {
  SIMD_CALL(add_panel)(a, a_apart, panel, steps, rows, exact, sums, apart);
}
void add_columns(const double* a, const double* b, std::uint64_t steps, bool exact, DotSums sums) {
  SIMD_CALL(add_columns)(a, b, steps, exact, sums);
}
void add_row(const void* a, const void* b, bool wide, std::uint64_t count, bool exact, DotSums sum) {
  SIMD_CALL(add_row)(a, b, wide, count, exact, sum);
}
double unit_of(const double* numbers, std::uint64_t count) { return SIMD_CALL(unit_of)(numbers, count); }
void widen(const float* from, std::uint64_t count, double* to) { SIMD_CALL(widen)(from, count, to); }

}  // namespace samesum::groups
#endif  // HWY_ONCE
