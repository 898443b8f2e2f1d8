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

/// What is known of the x of a block so far, `lanes` of each array in use.
constexpr std::size_t kMostLanes = 64;
template <class Real>
struct alignas(64) Lanes {
  Real sum[kMostLanes];  ///< fast, compensated
  Real compensation[kMostLanes];
  Key<Real> best[kMostLanes];   ///< min, max, argmin
  Key<Real> place[kMostLanes];  ///< argmin: number of the y in the block
};

/// How many x a block has: 4 vectors.
std::size_t block_lanes(DType type) noexcept;

/// Adds a block to `lanes`. Sums: to what is there. Minima: of this block alone.
template <class Real>
void fast_sum(PairFunction f, const Block<Real>& block, Lanes<Real>& lanes) noexcept;  // weights: may be null
template <class Real>
void compensated_sum(PairFunction f, const Block<Real>& block, Lanes<Real>& lanes) noexcept;
template <class Real>
void least(PairFunction f, PairReduction reduction, const Block<Real>& block, Lanes<Real>& lanes) noexcept;

/// fl(w f) of one x, `a`, and `count` y, which lie by components here: component d of y number j is b[d * stride + j].
template <class Real>
void evaluate(PairFunction f, const Real* a, const Block<Real>& block, std::size_t stride, Real* values) noexcept;

}  // namespace samesum::all_pairs
