// Loops for the ceilings of the host's processor.
#pragma once

#include <cstdint>

namespace samesum::bench {

/// How to read: in 1, 2 or 4 streams side by side, each with software prefetches so many bytes ahead (0: none).
struct ReadShape {
  std::uint32_t streams = 1;
  std::uint32_t prefetch = 0;
};

/// Reads `bytes` bytes from any address and returns the exclusive or of all of them, by 64-bit words (the last one filled up with zeros).
std::uint64_t read_bits(const void* data, std::uint64_t bytes, ReadShape shape) noexcept;

/// `rounds` x 16 multiply-adds x -> fma(x, factor, term) in each lane of `chains` vectors that start at 0, 1, 2, …: the sum of the
/// first lanes. `operations` receives how many multiplications and additions that were.
template <class Real>
Real multiply_add(Real factor, Real term, std::uint32_t rounds, std::uint64_t* operations) noexcept;
constexpr int kChains = 12;

}  // namespace samesum::bench
