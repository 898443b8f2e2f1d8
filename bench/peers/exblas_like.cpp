// The idea of S. Collange, D. Defour, S. Graillat, R. Iakymchuk, Numerical reproducibility for the parallel reduction on multi- and
// many-core architectures (Parallel Computing 49, 2015), in a program of its own: each lane of a vector keeps its sum as an expansion of
// eight doubles, by error-free additions; what does not fit goes to a superaccumulator.
#include "places.hpp"

#include <array>

namespace peers {
namespace {

constexpr int kTerms = 8;
#if defined(__AVX512F__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
using Vector = double __attribute__((vector_size(kLanes * sizeof(double))));

bool all_zero(const Vector& values) {
  const auto nonzero = values != 0;
  std::int64_t any = 0;
  for (int lane = 0; lane < kLanes; ++lane) any |= nonzero[lane];
  return any == 0;
}

// D. E. Knuth's TwoSum: sum becomes the rounded sum, value what was rounded away.
void add_exactly(Vector& sum, Vector& value) {
  const Vector rounded = sum + value;
  const Vector part = rounded - sum;
  value = (sum - (rounded - part)) + (value - part);
  sum = rounded;
}

samesum::Accumulator expansions(samesum::Array data) {
  return typed(data, [](const auto* from, std::uint64_t count) {
    samesum::Accumulator rest;
    std::array<Vector, kTerms> terms{};
    std::uint64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      Vector value;
      for (int lane = 0; lane < kLanes; ++lane) value[lane] = from[i + static_cast<std::uint64_t>(lane)];
      for (int term = 0; term < kTerms && !all_zero(value); ++term) add_exactly(terms[static_cast<std::size_t>(term)], value);
      if (all_zero(value)) continue;
      for (int lane = 0; lane < kLanes; ++lane) rest.add(value[lane]);
    }
    for (; i < count; ++i) rest.add(from[i]);
    for (const Vector& term : terms) {
      for (int lane = 0; lane < kLanes; ++lane) rest.add(term[lane]);
    }
    return rest;
  });
}

}  // namespace

std::vector<HostPeer> exblas_like_peers() {
  return {{"ExBLAS-like, 8 terms", kOneThread, false, [](samesum::Array data) { return expansions(data).round(); }},
          {"ExBLAS-like, 8 terms", all_cores(), false, [](samesum::Array data) { return by_all_cores(data, expansions).round(); }}};
}

}  // namespace peers
