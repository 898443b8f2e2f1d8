// The innermost loops of the CPU's pairs, compiled once for each instruction set of the processor family and chosen at run time.

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pairs/cpu/pairs_cpu_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "pairs/cpu/pairs_cpu_function-inl.hpp"
#include "pairs/cpu/pairs_cpu_loops.hpp"

#include <hwy/highway.h>

#include <type_traits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace samesum::all_pairs {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Twelve independent sums hide the latency of a multiply-add; with three x and one y they fill AVX2's sixteen registers.
constexpr std::size_t kVectors = 3;  // of x
constexpr std::size_t kChains = 4;   // of y

// Calls body(0), …, body(n - 1) with constants, so that arrays indexed by them stay in registers.
template <std::size_t n, class Body>
HWY_INLINE void unrolled(const Body& body) {
  [&]<std::size_t... i>(std::index_sequence<i...>) HWY_ATTR { (body(std::integral_constant<std::size_t, i>()), ...); }
  (std::make_index_sequence<n>());
}

// The block's loop over y: step(n, j) for n consecutive y from j on, n a constant.
template <std::size_t n, class Step>
HWY_INLINE void for_each_y(std::size_t count, const Step& step) {
  std::size_t j = 0;
  for (; j + n <= count; j += n) step(std::integral_constant<std::size_t, n>(), j);
  if constexpr (n > 1) {
    for (; j < count; ++j) step(std::integral_constant<std::size_t, 1>(), j);
  }
}

// Adds the terms of f directly to the sum over y. kComponents: 1, or 0 for block.components.
template <PairFunction f, std::size_t kComponents, bool kWeighted, class Real>
void fast_sum_of(const Block<Real>& block, Lanes<Real>& lanes) {
  const Tag<Real> d;
  using V = hn::Vec<Tag<Real>>;
  const std::size_t width = hn::Lanes(d);
  const std::size_t components = kComponents != 0 ? kComponents : block.components;
  constexpr bool kFolded = is_additive(f) && !kWeighted;
  const Function<f, Real> function(block.factor, block.softening);
  V sums[kChains][kVectors];
  unrolled<kChains>([&](auto c) HWY_ATTR { unrolled<kVectors>([&](auto v) HWY_ATTR { sums[c][v] = hn::Zero(d); }); });
  V held[kVectors];  // the only component, where there is one
  if constexpr (kComponents == 1) {
    unrolled<kVectors>([&](auto v) HWY_ATTR { held[v] = hn::LoadU(d, block.a + v * width); });
  }
  const auto component = [&](auto v, std::size_t i) HWY_ATTR {
    if constexpr (kComponents == 1) {
      return held[v];
    } else {
      return hn::LoadU(d, block.a + i * kVectors * width + v * width);
    }
  };
  for_each_y<kChains>(block.count, [&](auto n, std::size_t j) HWY_ATTR {
    const Real* const b = block.b + j * components;
    V s[kChains][kVectors];
    for (std::size_t i = 0; i < components; ++i) {
      unrolled<n>([&](auto c) HWY_ATTR {
        const V bi = hn::Set(d, b[c * components + i]);
        unrolled<kVectors>([&](auto v) HWY_ATTR {
          if constexpr (kFolded) {
            sums[c][v] = function.template next<false>(sums[c][v], component(v, i), bi);
          } else {
            s[c][v] = i == 0 ? function.first(component(v, i), bi) : function.template next<false>(s[c][v], component(v, i), bi);
          }
        });
      });
    }
    if constexpr (!kFolded) {
      unrolled<n>([&](auto c) HWY_ATTR {
        const V w = hn::Set(d, kWeighted ? block.weights[j + c] : Real{1});
        unrolled<kVectors>([&](auto v) HWY_ATTR {
          const V value = function.finish(s[c][v]);
          sums[c][v] = kWeighted ? hn::MulAdd(w, value, sums[c][v]) : hn::Add(sums[c][v], value);
        });
      });
    }
  });
  unrolled<kVectors>([&](auto v) HWY_ATTR {
    Real* const to = lanes.sum + v * width;
    hn::StoreU(hn::Add(hn::LoadU(d, to), hn::Add(hn::Add(sums[0][v], sums[1][v]), hn::Add(sums[2][v], sums[3][v]))), d, to);
  });
}

// w f of vector v of x and y number j; `error` is its rounding error, where known.
template <PairFunction f, class Real, class V>
HWY_INLINE V weighted_value(const Function<f, Real>& function, const Block<Real>& block, std::size_t v, std::size_t j, V* error) {
  const Tag<Real> d;
  const std::size_t width = hn::Lanes(d);
  const Real* const a = block.a + v * width;
  const Real* const b = block.b + j * block.components;
  V s = function.first(hn::LoadU(d, a), hn::Set(d, b[0]));
  for (std::size_t i = 1; i < block.components; ++i) {
    s = function.template next<true>(s, hn::LoadU(d, a + i * kVectors * width), hn::Set(d, b[i]));
  }
  const V value = function.finish(s);
  if (block.weights == nullptr) {
    *error = hn::Zero(d);
    return value;
  }
  const V w = hn::Set(d, block.weights[j]);
  const V product = hn::Mul(w, value);
  *error = fused(w, value, hn::Neg(product));
  return product;
}

// s + x, with the rounding error added to c (Knuth's two-sum).
template <class V>
HWY_INLINE void add_with_error(V& s, V& c, V x) {
  const V sum = hn::Add(s, x);
  const V back = hn::Sub(sum, s);
  c = hn::Add(c, hn::Add(hn::Sub(s, hn::Sub(sum, back)), hn::Sub(x, back)));
  s = sum;
}

template <PairFunction f, class Real>
void compensated_sum_of(const Block<Real>& block, Lanes<Real>& lanes) {
  const Tag<Real> d;
  using V = hn::Vec<Tag<Real>>;
  const std::size_t width = hn::Lanes(d);
  const Function<f, Real> function(block.factor, block.softening);
  for (std::size_t v = 0; v < kVectors; ++v) {
    V s = hn::LoadU(d, lanes.sum + v * width);
    V c = hn::LoadU(d, lanes.compensation + v * width);
    for (std::size_t j = 0; j < block.count; ++j) {
      if constexpr (f == PairFunction::product || f == PairFunction::difference) {
        // Without errors: each term is two numbers, for any weight.
        const V w = hn::Set(d, block.weights != nullptr ? block.weights[j] : Real{1});
        for (std::size_t i = 0; i < block.components; ++i) {
          const V a = hn::LoadU(d, block.a + (i * kVectors + v) * width);
          const V b = hn::Set(d, block.b[j * block.components + i]);
          V high, low = hn::Zero(d);
          if constexpr (f == PairFunction::product) {
            high = hn::Mul(a, b);
            low = fused(a, b, hn::Neg(high));
          } else {
            high = a;
            add_with_error(high, low, hn::Neg(b));
          }
          const V weighted = hn::Mul(w, high);
          c = hn::Add(c, fused(w, low, fused(w, high, hn::Neg(weighted))));
          add_with_error(s, c, weighted);
        }
      } else {
        V error;
        const V value = weighted_value(function, block, v, j, &error);
        c = hn::Add(c, error);
        add_with_error(s, c, value);
      }
    }
    hn::StoreU(s, d, lanes.sum + v * width);
    hn::StoreU(c, d, lanes.compensation + v * width);
  }
}

// Keys as in problem.hpp.
template <class Real, class V>
HWY_INLINE auto key_of(V value, bool max) {
  const hn::RebindToSigned<Tag<Real>> d;
  const auto bits = hn::BitCast(d, value);
  const auto flips = hn::And(hn::ShiftRight<8 * sizeof(Real) - 1>(bits), hn::Set(d, KeyOf<Real>::kSign));
  const auto key = hn::Xor(hn::Xor(bits, flips), hn::Set(d, static_cast<Key<Real>>(max ? -1 : 0)));
  const auto not_a_number = hn::VecFromMask(d, hn::RebindMask(d, hn::IsNaN(value)));
  return hn::IfVecThenElse(not_a_number, hn::Set(d, static_cast<Key<Real>>(-KeyOf<Real>::kSign - 1)), key);
}

template <PairFunction f, class Real>
void least_of(bool max, const Block<Real>& block, Lanes<Real>& lanes) {
  const Tag<Real> d;
  const hn::RebindToSigned<Tag<Real>> di;
  const std::size_t width = hn::Lanes(d);
  const Function<f, Real> function(block.factor, block.softening);
  for (std::size_t v = 0; v < kVectors; ++v) {
    hn::Vec<Tag<Real>> ignored;
    auto best = key_of<Real>(weighted_value(function, block, v, 0, &ignored), max);
    auto place = hn::Zero(di);
    for (std::size_t j = 1; j < block.count; ++j) {
      const auto key = key_of<Real>(weighted_value(function, block, v, j, &ignored), max);
      const auto less = hn::Lt(key, best);
      best = hn::IfThenElse(less, key, best);
      place = hn::IfThenElse(less, hn::Set(di, static_cast<Key<Real>>(j)), place);
    }
    hn::StoreU(best, di, lanes.best + v * width);
    hn::StoreU(place, di, lanes.place + v * width);
  }
}

template <PairFunction f, class Real>
void evaluate_of(const Real* a, const Block<Real>& block, std::size_t stride, Real* values) {
  const Function<f, Real> function(block.factor, block.softening);
  const auto some = [&](auto d, std::size_t j) HWY_ATTR {
    auto s = function.first(hn::Set(d, a[0]), hn::LoadU(d, block.b + j));
    for (std::size_t i = 1; i < block.components; ++i) {
      s = function.template next<true>(s, hn::Set(d, a[i]), hn::LoadU(d, block.b + i * stride + j));
    }
    const auto value = function.finish(s);
    hn::StoreU(block.weights != nullptr ? hn::Mul(hn::LoadU(d, block.weights + j), value) : value, d, values + j);
  };
  const Tag<Real> d;
  std::size_t j = 0;
  for (; j + hn::Lanes(d) <= block.count; j += hn::Lanes(d)) some(d, j);
  for (; j < block.count; ++j) some(hn::CappedTag<Real, 1>(), j);
}

// Dispatch from the function's name to its code.
template <class Body>
HWY_INLINE void with_function(PairFunction f, const Body& body) {
  switch (f) {
    case PairFunction::product:
      return body(std::integral_constant<PairFunction, PairFunction::product>());
    case PairFunction::difference:
      return body(std::integral_constant<PairFunction, PairFunction::difference>());
    case PairFunction::absdiff:
      return body(std::integral_constant<PairFunction, PairFunction::absdiff>());
    case PairFunction::sqdist:
      return body(std::integral_constant<PairFunction, PairFunction::sqdist>());
    case PairFunction::gaussian:
      return body(std::integral_constant<PairFunction, PairFunction::gaussian>());
    case PairFunction::invdist:
      return body(std::integral_constant<PairFunction, PairFunction::invdist>());
  }
}

template <class Real>
void any_fast_sum(PairFunction f, const Block<Real>& block, Lanes<Real>& lanes) {
  with_function(f, [&](auto function) {
    if (block.weights != nullptr) return fast_sum_of<function(), 0, true>(block, lanes);
    if (block.components == 1) return fast_sum_of<function(), 1, false>(block, lanes);
    fast_sum_of<function(), 0, false>(block, lanes);
  });
}
template <class Real>
void any_compensated_sum(PairFunction f, const Block<Real>& block, Lanes<Real>& lanes) {
  with_function(f, [&](auto function) { compensated_sum_of<function()>(block, lanes); });
}
template <class Real>
void any_least(PairFunction f, bool max, const Block<Real>& block, Lanes<Real>& lanes) {
  with_function(f, [&](auto function) { least_of<function()>(max, block, lanes); });
}
template <class Real>
void any_evaluate(PairFunction f, const Real* a, const Block<Real>& block, std::size_t stride, Real* values) {
  with_function(f, [&](auto function) { evaluate_of<function()>(a, block, stride, values); });
}

// A name for each type, as the table of instruction sets does not support templates.
#define SAMESUM_PAIRS_OF(Real, suffix)                                                                                  \
  void fast_sum_##suffix(PairFunction f, const Block<Real>& b, Lanes<Real>& l) { any_fast_sum(f, b, l); }               \
  void compensated_sum_##suffix(PairFunction f, const Block<Real>& b, Lanes<Real>& l) { any_compensated_sum(f, b, l); } \
  void least_##suffix(PairFunction f, bool max, const Block<Real>& b, Lanes<Real>& l) { any_least(f, max, b, l); }      \
  void evaluate_##suffix(PairFunction f, const Real* a, const Block<Real>& b, std::size_t stride, Real* v) {            \
    any_evaluate(f, a, b, stride, v);                                                                                   \
  }
SAMESUM_PAIRS_OF(float, f32)
SAMESUM_PAIRS_OF(double, f64)
#undef SAMESUM_PAIRS_OF

// A plain loop, so that every instruction set adds the same: compilers make vectors of it.
template <class Real>
Real sum_by_chains_of(const Real* values, std::size_t count) {
  constexpr std::size_t kSums = 32;
  Real sums[kSums] = {};
  std::size_t k = 0;
  for (; k + kSums <= count; k += kSums) {
    for (std::size_t c = 0; c < kSums; ++c) sums[c] += values[k + c];
  }
  for (std::size_t c = 0; k + c < count; ++c) sums[c] += values[k + c];
  for (std::size_t step = kSums / 2; step > 0; step /= 2) {
    for (std::size_t c = 0; c < step; ++c) sums[c] += sums[c + step];
  }
  return sums[0];
}
float sum_by_chains_f32(const float* values, std::size_t count) { return sum_by_chains_of(values, count); }
double sum_by_chains_f64(const double* values, std::size_t count) { return sum_by_chains_of(values, count); }

std::size_t lanes_of(DType type) { return kVectors * (type == DType::float32 ? hn::Lanes(Tag<float>()) : hn::Lanes(Tag<double>())); }

}  // namespace HWY_NAMESPACE
}  // namespace samesum::all_pairs
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::all_pairs {

SIMD_EXPORT(lanes_of);
std::size_t block_lanes(DType type) noexcept { return SIMD_CALL(lanes_of)(type); }

#define SAMESUM_PAIRS_OF(Real, suffix)                                                                                \
  SIMD_EXPORT(fast_sum_##suffix);                                                                                     \
  SIMD_EXPORT(compensated_sum_##suffix);                                                                              \
  SIMD_EXPORT(least_##suffix);                                                                                        \
  SIMD_EXPORT(evaluate_##suffix);                                                                                     \
  SIMD_EXPORT(sum_by_chains_##suffix);                                                                                \
  template <>                                                                                                         \
  Real sum_by_chains(const Real* values, std::size_t count) noexcept {                                                \
    return SIMD_CALL(sum_by_chains_##suffix)(values, count);                                                          \
  }                                                                                                                   \
  template <>                                                                                                         \
  void fast_sum(PairFunction f, const Block<Real>& block, Lanes<Real>& lanes) noexcept {                              \
    SIMD_CALL(fast_sum_##suffix)(f, block, lanes);                                                                    \
  }                                                                                                                   \
  template <>                                                                                                         \
  void compensated_sum(PairFunction f, const Block<Real>& block, Lanes<Real>& lanes) noexcept {                       \
    SIMD_CALL(compensated_sum_##suffix)(f, block, lanes);                                                             \
  }                                                                                                                   \
  template <>                                                                                                         \
  void least(PairFunction f, bool greatest, const Block<Real>& block, Lanes<Real>& lanes) noexcept {                  \
    SIMD_CALL(least_##suffix)(f, greatest, block, lanes);                                                             \
  }                                                                                                                   \
  template <>                                                                                                         \
  void evaluate(PairFunction f, const Real* a, const Block<Real>& block, std::size_t stride, Real* values) noexcept { \
    SIMD_CALL(evaluate_##suffix)(f, a, block, stride, values);                                                        \
  }
SAMESUM_PAIRS_OF(float, f32)
SAMESUM_PAIRS_OF(double, f64)
#undef SAMESUM_PAIRS_OF

}  // namespace samesum::all_pairs
#endif
