// The sum on the host's own processor.
#pragma once

#include <samesum/accumulator.hpp>
#include <samesum/view.hpp>

#include <cstdint>

namespace samesum::reduce {

/// The exact sum of `data` with `threads` threads (0: as many as pay for the size, at most all cores). `threads_used`, where given,
/// receives how many it took.
Accumulator sum_cpu(View data, std::uint32_t threads, std::uint32_t* threads_used = nullptr);

/// The plain sums of the textbook, in the type of the elements: one loop in index order; one loop backwards; all cores with SIMD.
double plain_sum_forward(View data);
double plain_sum_backward(View data);
double plain_sum_parallel(View data, std::uint32_t threads);

}  // namespace samesum::reduce
