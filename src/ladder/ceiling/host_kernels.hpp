// Loops for the ceilings of the CPU.
#pragma once

#include <cstdint>

namespace samesum::bench {

/// How to read: in 1, 2 or 4 parallel streams, each with software prefetches at that distance in bytes (0: none).
struct ReadShape {
  std::uint32_t streams = 1;
  std::uint32_t prefetch = 0;
};

/// Reads `bytes` bytes from any address and returns the exclusive or of all 64-bit words (the last one padded with zeros).
std::uint64_t read_bits(const void* data, std::uint64_t bytes, ReadShape shape) noexcept;

/// `rounds` x 16 multiply-adds x -> fma(x, factor, term) in each lane of `chains` vectors that start at 0, 1, 2, …: the sum of the first
/// lanes. `operations` receives the number of multiplications and additions.
template <class Real>
Real multiply_add(Real factor, Real term, std::uint32_t rounds, std::uint64_t* operations) noexcept;
constexpr int kChains = 12;

}  // namespace samesum::bench
