// Sums of short columns and rows in plain doubles, for results along axes. Nothing here tests whether they are exact: the processor's
// inexact flag does (core::RoundingWatch), for a block at once. Included once for each instruction set.
#if defined(SAMESUM_AXES_CPU_WATCHED) == defined(HWY_TARGET_TOGGLE)
#ifdef SAMESUM_AXES_CPU_WATCHED
#undef SAMESUM_AXES_CPU_WATCHED
#else
#define SAMESUM_AXES_CPU_WATCHED
#endif

#include "groups/cpu/axes_expansions.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace samesum::groups {
namespace HWY_NAMESPACE {
namespace watched {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
constexpr std::size_t kWidth = hn::MaxLanes(D());

// Of lambdas that have to be inlined, as the arrays that they are given are registers.
#define SAMESUM_LAMBDA __attribute__((always_inline)) HWY_ATTR

// Calls body(0), …, body(n - 1) with constants, so that arrays indexed by them live in registers.
template <std::size_t n, class Body>
HWY_INLINE void unrolled(const Body& body) {
  [&]<std::size_t... i>(std::index_sequence<i...>) SAMESUM_LAMBDA { (body(std::integral_constant<std::size_t, i>()), ...); }
  (std::make_index_sequence<n>());
}

HWY_INLINE V error(V a, V b, V sum) {
  const V of_b = hn::Sub(sum, a);
  return hn::Add(hn::Sub(a, hn::Sub(sum, of_b)), hn::Sub(b, of_b));
}

// The error of product = a * b.
HWY_INLINE V error_of_product(V a, V b, V product) {
#if HWY_NATIVE_FMA
  return hn::MulSub(a, b, product);
#else
  // In two halves each (Dekker, 1971); of numbers beyond 2^996 that is a NaN.
  const V split = hn::Set(D(), 0x1p27 + 1), scaled_a = hn::Mul(a, split), scaled_b = hn::Mul(b, split);
  const V upper_a = hn::Sub(scaled_a, hn::Sub(scaled_a, a)), upper_b = hn::Sub(scaled_b, hn::Sub(scaled_b, b));
  const V lower_a = hn::Sub(a, upper_a), lower_b = hn::Sub(b, upper_b);
  const V most = hn::Sub(hn::Mul(upper_a, upper_b), product);
  return hn::Add(hn::Add(hn::Add(most, hn::Mul(upper_a, lower_b)), hn::Mul(lower_a, upper_b)), hn::Mul(lower_a, lower_b));
#endif
}

// A vector of the `count` numbers that there are, and of -0.0.
template <class Numbers>
HWY_INLINE hn::Vec<Numbers> first_of(Numbers numbers, const std::byte* from, std::size_t count) {
  using Real = hn::TFromD<Numbers>;
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86  // elsewhere Highway reads whole vectors
  const auto which = hn::FirstN(numbers, count);
  return hn::IfThenElse(which, hn::MaskedLoad(which, numbers, reinterpret_cast<const Real*>(from)), hn::Set(numbers, Real(-0.0)));
#else
  Real copy[kWidth];
  std::fill_n(copy, kWidth, Real(-0.0));
  std::memcpy(copy, from, std::min(count, kWidth) * sizeof(Real));
  return hn::LoadU(numbers, copy);
#endif
}

// The sums in each lane: of doubles those of the upper 26 bits of their mantissas and those of the rests, both of which have room to grow.
template <class Real, bool kSkip>
struct Sums {
  static constexpr std::size_t kParts = sizeof(Real) == sizeof(double) ? 2 : 1;
  using Numbers = hn::Rebind<Real, D>;

  V part[kParts];

  HWY_INLINE Sums() {}  // written for GCC, whose own constructors are not for this instruction set
  static HWY_INLINE Sums of(hn::Vec<Numbers> x) {
    const D d;
    const Numbers numbers;
    if constexpr (kSkip) x = hn::IfThenElse(hn::IsNaN(x), hn::Set(numbers, Real(-0.0)), x);
    Sums sums;
    if constexpr (kParts == 1) {
      sums.part[0] = hn::PromoteTo(d, x);
    } else {
      sums.part[0] = hn::And(x, hn::BitCast(d, hn::Set(hn::RebindToUnsigned<D>(), ~std::uint64_t{0} << 27)));
      sums.part[1] = hn::Sub(x, sums.part[0]);
    }
    return sums;
  }
  static HWY_INLINE Sums load(const std::byte* from) { return of(hn::LoadU(Numbers(), reinterpret_cast<const Real*>(from))); }
  static HWY_INLINE Sums load_first(const std::byte* from, std::size_t count) { return of(first_of(Numbers(), from, count)); }
  static HWY_INLINE Sums none() {
    Sums sums;
    for (V& each : sums.part) each = hn::Set(D(), -0.0);
    return sums;
  }
  HWY_INLINE void add(const Sums& other) {
    unrolled<kParts>([&](auto i) SAMESUM_LAMBDA { part[i] = hn::Add(part[i], other.part[i]); });
  }
};

#if HWY_TARGET != HWY_SCALAR

// Of n vectors, n a power of two: the sums of n lanes each, in order.
template <std::size_t n>
HWY_INLINE V add_neighbours(const V (&x)[n]) {
  if constexpr (n == 1) {
    return x[0];
  } else {
    const D d;
    V sums[n / 2];
    unrolled<n / 2>([&](auto i) SAMESUM_LAMBDA {
      sums[i] = hn::Add(hn::ConcatEven(d, x[2 * i + 1], x[2 * i]), hn::ConcatOdd(d, x[2 * i + 1], x[2 * i]));
    });
    return add_neighbours(sums);
  }
}

// Ahead of the loops in bytes, to the second-level cache: the first has too few lines under way. Not in a function of its own: GCC takes
// one that does nothing else for one that does nothing.
constexpr std::int64_t kAhead = 1024, kAheadOfRows = 2048;
#define SAMESUM_FETCH(at, ahead) __builtin_prefetch((at) + (ahead), 0, 2)

// The sums of columns to to[part * kLanes + lane]. Rows are read kTogether at once, `apart` bytes from one to the next: sums are loaded and
// stored less often, and memory gives more to a processor that reads in several places. `next` bytes lie between the first of these and
// the first of the next. `ahead`, in bytes, is what is fetched.
constexpr std::size_t kTogether = 4;  // of eight, fewer lines were there when they were needed
template <class Real, bool kSkip>
void sum_columns(const std::byte* from, std::uint64_t count, std::int64_t apart, std::int64_t next, std::size_t lanes, double* to,
                 std::int64_t ahead = kAhead) {
  using Part = Sums<Real, kSkip>;
  const D d;
  const std::size_t whole = lanes / kWidth * kWidth;
  const auto add = [&](auto rows, bool first) SAMESUM_LAMBDA {
    const auto vector = [&](std::size_t i, auto load) SAMESUM_LAMBDA {
      const std::byte* at = from + i * sizeof(Real);
      Part sums = load(at);
      for (std::size_t row = 1; row < decltype(rows)::value; ++row) {
        at += apart;
        if ((i * sizeof(Real)) % 64 == 0) SAMESUM_FETCH(at, ahead);
        sums.add(load(at));
      }
      unrolled<Part::kParts>([&](auto part) SAMESUM_LAMBDA {
        double* const sum = to + part * kLanes + i;
        hn::StoreU(first ? sums.part[part] : hn::Add(hn::LoadU(d, sum), sums.part[part]), d, sum);
      });
    };
    for (std::size_t i = 0; i < whole; i += kWidth) {
      SAMESUM_FETCH(from + i * sizeof(Real), ahead);
      vector(i, [](const std::byte* at) SAMESUM_LAMBDA { return Part::load(at); });
    }
    if (whole != lanes) vector(whole, [&](const std::byte* at) SAMESUM_LAMBDA { return Part::load_first(at, lanes - whole); });
  };
  std::uint64_t row = 0;
  for (; row + kTogether <= count; row += kTogether, from += next) add(std::integral_constant<std::size_t, kTogether>(), row == 0);
  const auto remaining = [&](auto rows) HWY_ATTR {
    if (row + rows > count) return;
    add(rows, row == 0);
    row += rows;
    from += static_cast<std::int64_t>(rows) * apart;
  };
  remaining(std::integral_constant<std::size_t, 2>());
  remaining(std::integral_constant<std::size_t, 1>());
}

// Adds the second half of `count` sums to the first, and so on, until `left` of them are left; their quotient is a power of two.
HWY_INLINE void fold(double* sums, std::size_t count, std::size_t left) {
  const D d;
  while (count > left) {
    count /= 2;
    std::size_t i = 0;
    for (; i + kWidth <= count; i += kWidth) hn::StoreU(hn::Add(hn::LoadU(d, sums + i), hn::LoadU(d, sums + count + i)), d, sums + i);
    for (; i < count; ++i) sums[i] += sums[count + i];
  }
}

// A row's sums, in as many lanes as a vector has: of few vectors, or of many.
constexpr std::size_t kChains = 4, kFewVectors = 8;
template <class Real, bool kSkip>
HWY_INLINE Sums<Real, kSkip> sum_short_row(const std::byte* row, std::size_t vectors, std::size_t rest) {
  using Part = Sums<Real, kSkip>;
  constexpr std::size_t kBytes = kWidth * sizeof(Real);
  SAMESUM_FETCH(row, kAheadOfRows);
  Part sums = vectors != 0 ? Part::load(row) : Part::none();
  for (std::size_t i = 1; i < vectors; ++i) sums.add(Part::load(row + i * kBytes));
  if (rest != 0) sums.add(Part::load_first(row + vectors * kBytes, rest));
  return sums;
}
template <class Real, bool kSkip>
HWY_INLINE Sums<Real, kSkip> sum_long_row(const std::byte* row, std::size_t vectors, std::size_t rest) {
  using Part = Sums<Real, kSkip>;
  constexpr std::size_t kBytes = kWidth * sizeof(Real);
  Part chains[kChains];
  unrolled<kChains>([&](auto k) SAMESUM_LAMBDA { chains[k] = Part::load(row + k * kBytes); });
  std::size_t i = kChains;
  for (; i + kChains <= vectors; i += kChains) {
    for (std::size_t line = 0; line < kChains * kBytes; line += 64) SAMESUM_FETCH(row + i * kBytes + line, kAheadOfRows);
    unrolled<kChains>([&](auto k) SAMESUM_LAMBDA { chains[k].add(Part::load(row + (i + k) * kBytes)); });
  }
  for (; i < vectors; ++i) chains[0].add(Part::load(row + i * kBytes));
  if (rest != 0) chains[1].add(Part::load_first(row + vectors * kBytes, rest));
  chains[0].add(chains[1]);
  chains[2].add(chains[3]);
  chains[0].add(chains[2]);
  return chains[0];
}

template <class Part, std::size_t n>
HWY_INLINE void store_sums(const Part (&rows)[n], double* to) {
  unrolled<Part::kParts>([&](auto part) SAMESUM_LAMBDA {
    V x[n];
    unrolled<n>([&](auto i) SAMESUM_LAMBDA { x[i] = rows[i].part[part]; });
    hn::StoreU(add_neighbours(x), D(), to + part * kLanes);
  });
}

// The sums of rows of `count` contiguous elements, to to[part * kLanes + lane], of which more may be overwritten up to whole vectors.
template <class Real, bool kSkip>
void sum_rows(const std::byte* from, std::uint64_t count, std::size_t lanes, std::int64_t lane_stride, double* to) {
  using Part = Sums<Real, kSkip>;
  const std::size_t vectors = count / kWidth, rest = count % kWidth;
  std::size_t lane = 0;
  // Adjacent rows that are shorter than a vector.
  const auto adjacent = [&](auto row) SAMESUM_LAMBDA {
    constexpr std::size_t kRow = decltype(row)::value;
    for (; lane + kWidth <= lanes; lane += kWidth, from += kWidth * kRow * sizeof(Real)) {
      Part x[kRow];
      unrolled<kRow>([&](auto i) SAMESUM_LAMBDA { x[i] = Part::load(from + i * kWidth * sizeof(Real)); });
      store_sums(x, to + lane);
    }
  };
  if (lane_stride == static_cast<std::int64_t>(count * sizeof(Real))) {
    if (count == 2) adjacent(std::integral_constant<std::size_t, 2>());
    if constexpr (kWidth >= 4) {
      if (count == 4) adjacent(std::integral_constant<std::size_t, 4>());
    }
  }
  if (vectors < kFewVectors) {
    for (; lane + kWidth <= lanes; lane += kWidth, from += static_cast<std::int64_t>(kWidth) * lane_stride) {
      Part rows[kWidth];
      unrolled<kWidth>([&](auto i) SAMESUM_LAMBDA {
        rows[i] = sum_short_row<Real, kSkip>(from + static_cast<std::int64_t>(i) * lane_stride, vectors, rest);
      });
      store_sums(rows, to + lane);
    }
  }
  for (; lane < lanes; lane += kWidth) {
    Part rows[kWidth];
    for (Part& row : rows) row = Part::none();
    for (std::size_t i = 0; i < std::min(kWidth, lanes - lane); ++i, from += lane_stride) {
      rows[i] = vectors < kFewVectors ? sum_short_row<Real, kSkip>(from, vectors, rest) : sum_long_row<Real, kSkip>(from, vectors, rest);
    }
    store_sums(rows, to + lane);
  }
}

#undef SAMESUM_FETCH
#endif  // HWY_SCALAR
#undef SAMESUM_LAMBDA
}  // namespace watched
}  // namespace HWY_NAMESPACE
}  // namespace samesum::groups
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
