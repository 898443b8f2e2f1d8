// The sum on the host's own processor.
#pragma once

#include <samesum/accumulator.hpp>
#include "core/progress.hpp"
#include "reduce/term.hpp"

#include <cstdint>

namespace samesum::reduction {

/// The exact sum of `data` with `threads` threads (0: as many as pay for the size, at most all cores). `threads_used`, where given,
/// receives how many it took.
Accumulator sum_cpu(View data, std::uint32_t threads, std::uint32_t* threads_used = nullptr);

/// The same of terms, at least one.
Accumulator sum_cpu(statistics::HostTerms& terms, std::uint32_t threads, std::uint32_t* threads_used = nullptr);

/// The same sum rounded, as Accumulator::round() does it. It is faster if the elements' exponents span much: the smallest elements are
/// rounded away, with a bound on the error. If the result could depend on them, the sum is computed again with all of them. `progress`,
/// where given, hears of the first time.
double rounded_sum_cpu(View data, std::uint32_t threads, NanPolicy nan = NanPolicy::propagate, core::ProgressParts* progress = nullptr);

/// The plain sums of the textbook, in the type of the elements: one loop in index order; one loop backwards; all cores with SIMD.
double plain_sum_forward(View data, double start = 0);
double plain_sum_backward(View data, double start = 0);
double plain_sum_parallel(View data, std::uint32_t threads);

}  // namespace samesum::reduction
