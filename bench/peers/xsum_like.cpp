// The idea of R. M. Neal, Fast exact summation using small and large superaccumulators (arXiv:1505.05571), in a program of its own: a chunk
// of 64 bits for each sign and exponent takes whole mantissas; when it may overflow it is emptied into a small superaccumulator.
#include "places.hpp"

#include <array>
#include <bit>
#include <cmath>

namespace peers {
namespace {

class LargeAccumulator {
 public:
  void add(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::size_t at = bits >> 52;
    sums_[at] += bits & kMantissa;
    if (++counts_[at] == kMaxAdditions) empty(at);
  }

  samesum::Accumulator finish() {
    for (std::size_t at = 0; at < kChunks; ++at) {
      if (counts_[at] != 0) empty(at);
    }
    return small_;
  }

 private:
  static constexpr std::size_t kChunks = 4096;
  static constexpr std::uint64_t kMantissa = (std::uint64_t{1} << 52) - 1;
  static constexpr std::uint16_t kMaxAdditions = 1024;  // of less than 2^53, leading bits included: below 2^63

  void empty(std::size_t at) {
    const int exponent = static_cast<int>(at & 2047);
    const bool negative = at >= kChunks / 2;
    if (exponent == 2047) {  // no number: what the sum will be does not depend on how many there are
      small_.add(sums_[at] != 0 ? std::nan("") : negative ? -HUGE_VAL : HUGE_VAL);
    } else {
      const std::uint64_t leading = exponent == 0 ? 0 : std::uint64_t{counts_[at]} << 52;
      const auto sum = static_cast<std::int64_t>(sums_[at] + leading);
      small_.add_scaled(negative ? -sum : sum, std::max(exponent, 1) - 1);
    }
    sums_[at] = 0;
    counts_[at] = 0;
  }

  std::array<std::uint64_t, kChunks> sums_{};
  std::array<std::uint16_t, kChunks> counts_{};
  samesum::Accumulator small_;
};

samesum::Accumulator large(samesum::Array data) {
  return typed(data, [](const auto* from, std::uint64_t count) {
    LargeAccumulator sum;
    for (std::uint64_t i = 0; i < count; ++i) sum.add(from[i]);
    return sum.finish();
  });
}

samesum::Accumulator small(samesum::Array data) {
  return typed(data, [](const auto* from, std::uint64_t count) {
    samesum::Accumulator sum;
    for (std::uint64_t i = 0; i < count; ++i) sum.add(from[i]);
    return sum;
  });
}

}  // namespace

std::vector<HostPeer> xsum_like_peers() {
  return {{"xsum-like, small", kOneThread, false, [](samesum::Array data) { return small(data).round(); }},
          {"xsum-like, large", kOneThread, false, [](samesum::Array data) { return large(data).round(); }},
          {"xsum-like, large", all_cores(), false, [](samesum::Array data) { return by_all_cores(data, large).round(); }}};
}

}  // namespace peers
