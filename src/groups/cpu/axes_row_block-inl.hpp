// Vectors of expansions of doubles, and what is added to them block by block. Included once for each instruction set.
#if defined(SAMESUM_AXES_CPU_ROW_BLOCK) == defined(HWY_TARGET_TOGGLE)
#ifdef SAMESUM_AXES_CPU_ROW_BLOCK
#undef SAMESUM_AXES_CPU_ROW_BLOCK
#else
#define SAMESUM_AXES_CPU_ROW_BLOCK
#endif

#include "core/float_environment.hpp"
#include "groups/cpu/axes_expansions.hpp"
#include "groups/cpu/axes_watched-inl.hpp"
#include "groups/expansion.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
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

  // Both are written for GCC, whose own constructors are not for this instruction set.
  HWY_INLINE Vectors() {}
  HWY_INLINE Vectors(V first, V second, V third, V of_lost) : s(first), e(second), f(third), lost(of_lost) {}
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

#if HWY_TARGET != HWY_SCALAR
// Adds sums of lanes (axes_watched-inl.hpp) to their expansions.
template <class Real>
void add_sums(const double* sums, std::size_t lanes, Terms to) {
  constexpr bool kShort = std::is_same_v<Real, float>;
  const D d;
  const std::size_t width = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + width <= lanes; i += width) {
    auto terms = load_terms<kShort>(to, i);
    terms.add(hn::LoadU(d, sums + i));
    if constexpr (!kShort) {
      const V lower = hn::LoadU(d, sums + kLanes + i);
      terms.add(hn::IfThenElse(hn::Eq(lower, hn::Zero(d)), hn::Set(d, -0.0), lower));
    }
    store_terms(terms, to, i);
  }
  for (; i < lanes; ++i) {
    EXPANSION x = expansion_add({to.s[i], to.e[i], to.f[i], to.lost[i] != 0}, sums[i]);
    if (!kShort && sums[kLanes + i] != 0) x = expansion_add(x, sums[kLanes + i]);
    to.s[i] = x.s, to.e[i] = x.e, to.f[i] = x.f, to.lost[i] = x.inexact;
  }
}

constexpr std::size_t kFolded = 64;  // sums of doubles of rows of few that are left to expansions

// Adds `count` rows of `folded` times `lanes` numbers to `lanes` expansions, if plain sums round nothing. For `apart`, `next` and `ahead`
// see sum_columns().
template <class Real, bool kSkip>
bool add_watched(const std::byte* from, std::uint64_t count, std::int64_t apart, std::int64_t next, std::size_t lanes, std::size_t folded,
                 double* work, Terms to, std::int64_t ahead = watched::kAhead) {
  if (!to.trying->now()) return false;
  asm volatile("" : "+r"(work) : : "memory");  // what is stored there is computed while the processor is watched
  const core::RoundingWatch watch;
  watched::sum_columns<Real, kSkip>(from, count, apart, next, folded * lanes, work, ahead);
  // To as few sums as are likely to have room.
  const std::size_t parts = std::min<std::size_t>(folded, sizeof(Real) == sizeof(double) ? kFolded : std::bit_floor(count));
  watched::fold(work, folded * lanes, parts * lanes);
  if (sizeof(Real) == sizeof(double)) watched::fold(work + kLanes, folded * lanes, parts * lanes);
  if (!to.trying->done(!watch.rounded())) return false;
  for (std::size_t part = 0; part < parts; ++part) add_sums<Real>(work + part * lanes, lanes, to);
  return true;
}
// The same of a run of numbers and one expansion.
template <class Real, bool kSkip>
bool add_watched_run(const std::byte* from, std::uint64_t count, Terms to) {
  if (!to.trying->now()) return false;
  double store[kLanes + 8], *work = store;
  asm volatile("" : "+r"(work) : : "memory");
  const core::RoundingWatch watch;
  watched::sum_rows<Real, kSkip>(from, count, 1, 0, work);
  if (!to.trying->done(!watch.rounded())) return false;
  add_sums<Real>(work, 1, to);
  return true;
}
#else
template <class Real, bool kSkip>
bool add_watched_run(const std::byte*, std::uint64_t, Terms) {
  return false;
}
template <class Real, bool kSkip>
bool add_watched(const std::byte*, std::uint64_t, std::int64_t, std::int64_t, std::size_t, std::size_t, double*, Terms, std::int64_t = 0) {
  return false;
}
#endif

// Rows with more neighbours than registers hold are added in the order of memory, a block of rows at once, as plain sums. If these round,
// the block is added with as many terms as its numbers are likely to need; and if a test shows that the sums are not exact, again with all
// terms.
template <bool kSkip>
class RowBlock {
  static constexpr std::int64_t kTogether = 4;

 public:
  // Of doubles fewer at once, as their halves have less room to grow.
  template <class Real>
  static constexpr std::uint64_t kRows = sizeof(Real) == sizeof(double) ? 32 : 64;

  // Adds rows, `lanes` a multiple of a vector's and kLanes at most.
  template <class Real>
  void add(const std::byte* from, std::uint64_t steps, std::int64_t apart, std::size_t lanes, Terms to) {
    for (std::uint64_t first = 0; first < steps; first += kRows<Real>) {
      const std::uint64_t count = std::min(kRows<Real>, steps - first);
      const std::byte* const at = from + static_cast<std::int64_t>(first) * apart;
      // The next rows: a processor does not fetch from one row to another itself.
      if (add_watched<Real, kSkip>(at, count, apart, kTogether * apart, lanes, 1, state_, to, kTogether * apart)) continue;
      if constexpr (sizeof(Real) == sizeof(double)) {
        if (add_if_exact(at, count, apart, lanes, to)) continue;
      }
      add_with_all_terms<Real>(at, count, apart, lanes, to);
    }
  }
  // Rows of few numbers, one behind the other: as fewer rows of more. Returns how many of them were added.
  template <class Real>
  std::uint64_t add_adjacent(const std::byte* from, std::uint64_t steps, std::size_t lanes, Terms to) {
    const std::size_t folded = std::bit_floor(kLanes / lanes);
    const auto apart = static_cast<std::int64_t>(folded * lanes * sizeof(Real));
    std::uint64_t done = 0;
    while (steps - done >= folded) {
      const std::uint64_t rows = std::min((steps - done) / folded, kRows<Real>), parts = rows / kTogether;
      // In several places that lie far apart, if there are enough rows.
      const std::uint64_t count = parts == 0 ? rows : parts * kTogether;
      if (!add_watched<Real, kSkip>(from, count, parts == 0 ? apart : static_cast<std::int64_t>(parts) * apart, apart, lanes, folded,
                                    state_, to))
        break;
      from += static_cast<std::int64_t>(count) * apart;
      done += count * folded;
    }
    return done;
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

  // Doubles with two terms; two rows at once, so that terms are loaded and stored half as often.
  bool add_if_exact(const std::byte* from, std::uint64_t count, std::int64_t apart, std::size_t lanes, Terms to) {
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

}  // namespace HWY_NAMESPACE
}  // namespace samesum::groups
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
