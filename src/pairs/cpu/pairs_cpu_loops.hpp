// The innermost loops of the CPU's pairs, compiled for each instruction set (pairs_cpu_simd.cpp).
#pragma once

#include "pairs/problem.hpp"

#include <cstddef>
#include <cstdint>

namespace samesum::all_pairs {

/// A block of x against a block of y. The x lie in the lanes of a few vectors.
template <class Real>
struct Block {
  const Real* a;        ///< component d of x number i: a[d * lanes + i]
  const Real* b;        ///< component d of y number j: b[j * components + d]
  const Real* weights;  ///< of y number j
  std::size_t count;    ///< of y
  std::size_t components;
  Real factor, softening;
};

/// The partial results for the x of a block; `lanes` elements of each array are used.
constexpr std::size_t kMaxLanes = 64;
template <class Real>
struct alignas(64) Lanes {
  Real sum[kMaxLanes];  ///< fast, compensated
  Real compensation[kMaxLanes];
  Key<Real> best[kMaxLanes];   ///< minima, maxima
  Key<Real> place[kMaxLanes];  ///< index of the y in the block
};

/// The number of x in a block: 3 vectors.
std::size_t block_lanes(DType type) noexcept;

/// Processes a block. Sums are added to `lanes`; minima in `lanes` are replaced by those of this block.
template <class Real>
void fast_sum(PairFunction f, const Block<Real>& block, Lanes<Real>& lanes) noexcept;  // weights: may be null
template <class Real>
void compensated_sum(PairFunction f, const Block<Real>& block, Lanes<Real>& lanes) noexcept;
template <class Real>
void least(PairFunction f, bool greatest, const Block<Real>& block, Lanes<Real>& lanes) noexcept;

/// fl(w f) of one x, `a`, and `count` y, which are stored by components: component d of y number j is b[d * stride + j].
template <class Real>
void evaluate(PairFunction f, const Real* a, const Block<Real>& block, std::size_t stride, Real* values) noexcept;

/// The sum of `count` numbers by 32 chains of additions: of every 32nd, and then by halves.
template <class Real>
Real sum_by_chains(const Real* values, std::size_t count) noexcept;

}  // namespace samesum::all_pairs
