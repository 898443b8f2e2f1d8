// Pairs on the CPU's own cores.
#pragma once

#include "pairs/problem.hpp"

namespace samesum::all_pairs {

/// Computes C for all x of `problem`, by `threads` threads (0: all cores). The same bits for any number of threads.
void pairs_on_cpu(const Problem& problem, Target c, std::uint32_t threads);

/// The textbook's one thread, which multiplies and adds one pair after the other: the ladder's first rung. Products of scalars alone.
void serial_products(const Problem& problem, Target c);

/// The value whose key (problem.hpp) was found least.
template <class Real>
Real value_of_key(Key<Real> key, bool max) noexcept;

}  // namespace samesum::all_pairs
