// The names of places, and sums by all cores.
#pragma once

#include "peer.hpp"

#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_reduce.h>

namespace peers {

inline const std::string kOneThread = "cpu, 1 thread";

inline std::string all_cores() { return "cpu, " + std::to_string(tbb::info::default_concurrency()) + " threads"; }

/// An exact sum that is merged from those of parts.
template <class Exact>
samesum::Accumulator by_all_cores(samesum::Array data, const Exact& exact) {
  using Range = tbb::blocked_range<std::uint64_t>;
  return tbb::parallel_reduce(
      Range(0, data.size(), std::uint64_t{1} << 16), samesum::Accumulator(),
      [&](const Range& range, samesum::Accumulator total) { return total += exact(data.part(range.begin(), range.size())); },
      [](samesum::Accumulator a, const samesum::Accumulator& b) { return a += b; });
}

/// Calls body(pointer, count) with the elements as what they are.
template <class Body>
auto typed(samesum::Array data, const Body& body) {
  if (data.type() == samesum::DType::float32) return body(static_cast<const float*>(data.data()), data.size());
  return body(static_cast<const double*>(data.data()), data.size());
}

}  // namespace peers
