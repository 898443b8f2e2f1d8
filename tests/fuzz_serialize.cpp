// Fuzzer of partial sums as bytes: every sum comes back equal, and what is no sum's form is refused, checksum right or wrong.
//   fuzz_serialize [--seconds N] [--seed S]
#include "support/fuzz.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/error.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

namespace samesum {
namespace {

using Bytes = std::vector<std::byte>;

// Throws where `bytes` are accepted although they are not the form of the sum that comes out.
void check(const Bytes& bytes) {
  const auto copy = std::make_unique<std::byte[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.get());
  Accumulator sum;
  try {
    sum = Accumulator::deserialize({copy.get(), bytes.size()});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw test::Mismatch("an odd refusal");
    return;
  }
  if (sum.serialize() != bytes) throw test::Mismatch("another form of the same sum was accepted");
  Accumulator twice = sum;
  twice += sum;  // must not overflow, whatever was in the file
  twice.round();
  twice.round_to_float();
}

double random_double(hard::Random& random) {
  if (random.below(8) == 0) return random.bits(1) != 0 ? -0.0 : 0.0;
  return std::bit_cast<double>(random.bits());
}

Bytes sealed(Bytes bytes) {
  if (bytes.size() < 8) return bytes;
  const std::uint64_t checksum = XXH3_64bits(bytes.data(), bytes.size() - 8);
  for (std::size_t i = 0; i < 8; ++i) bytes[bytes.size() - 8 + i] = static_cast<std::byte>(checksum >> (8 * i));
  return bytes;
}

void check_one(hard::Random& random) {
  Accumulator sum;
  const double first = random_double(random);
  sum.add(first);
  for (std::uint64_t i = random.below(20); i-- > 0;) sum.add(random_double(random));
  if (random.bits(1) != 0) sum.add(-first);
  Bytes bytes = sum.serialize();
  if (!(Accumulator::deserialize(bytes) == sum)) throw test::Mismatch("a sum does not come back equal");
  check(bytes);
  for (std::uint64_t i = random.below(4) + 1; i-- > 0;) bytes[random.below(bytes.size())] = static_cast<std::byte>(random.bits(8));
  if (random.below(4) == 0) bytes.resize(random.below(bytes.size() + 9));
  check(bytes);
  check(sealed(bytes));
}

}  // namespace
}  // namespace samesum

int main(int argc, char** argv) { return samesum::test::fuzz("fuzz_serialize", argc, argv, samesum::check_one); }
