// The expected results of sums: computed by MPFR and, independently, with GMP's big integers, without the library's own arithmetic.
#pragma once

#include <samesum/accumulator.hpp>
#include <samesum/array.hpp>
#include <samesum/types.hpp>

#include <gmp.h>

#include <cstdint>
#include <iosfwd>

namespace samesum::test {

/// The bits of a sum rounded to float64 and to float32, and the counts.
struct Expected {
  std::uint64_t float64 = 0;
  std::uint32_t float32 = 0;
  std::uint64_t nan_count = 0;

  friend bool operator==(const Expected&, const Expected&) = default;
};
std::ostream& operator<<(std::ostream& out, const Expected& expected);

/// By mpfr_sum.
Expected mpfr_oracle(Array data, NanPolicy nan);
/// By one big integer in units of 2^-1074.
Expected gmp_oracle(Array data, NanPolicy nan);
/// A big integer in units of 2^-1074, rounded.
Expected gmp_round(mpz_srcptr units);

/// The elements added sequentially: the reference for every other way to sum them.
Accumulator add_each(Array data);
/// The results of an accumulator, for comparison with an oracle.
Expected result_of(const Accumulator& accumulator, NanPolicy nan = NanPolicy::propagate);

}  // namespace samesum::test
