// Pairs on the CPU.
#pragma once

#include "pairs/problem.hpp"

namespace samesum::all_pairs {

/// Computes C for all x of `problem`, on `threads` threads (0: all cores). The same bits for any number of threads.
void pairs_on_cpu(const Problem& problem, Target c, std::uint32_t threads);

/// The textbook's loop on one thread, one multiply and one add for each pair: the ladder's first rung. Only products of scalars.
void serial_products(const Problem& problem, Target c);

/// The value that has the least key (problem.hpp).
template <class Real>
Real value_of_key(Key<Real> key, bool max) noexcept;

}  // namespace samesum::all_pairs
