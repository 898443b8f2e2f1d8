// Fuzzer of partial sums as bytes: every sum comes back equal, and what is no sum's form is refused, checksum right or wrong.
//   fuzz_serialize [--seconds N] [--seed S]
#include "support/fuzz.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/error.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <cmath>
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
  const auto count = static_cast<double>(sum.count());
  if (sum.result_type() == DType::uint64 && !(sum.round() >= 0 && sum.round() <= count * 0x1p64)) {
    throw test::Mismatch("unsigned integers with a sum that is none of theirs was accepted");
  }
  if (sum.result_type() == DType::int64 && !(std::abs(sum.round()) <= count * 0x1p64)) {
    throw test::Mismatch("integers with a sum that is none of theirs was accepted");
  }
  Accumulator twice = sum;
  try {
    twice += sum;  // must not overflow, whatever was in the file
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::no_answer || sum.count() >> 63 == 0) throw;
    if (!(twice == sum)) throw test::Mismatch("a sum of too many elements was changed");
  }
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

Accumulator random_sum(hard::Random& random) {
  Accumulator sum;
  const std::uint64_t kind = random.below(4), terms = random.below(20);
  if (kind == 0) {
    for (std::uint64_t i = 0; i <= terms; ++i) sum.add(static_cast<std::int64_t>(random.bits(64)));
  } else if (kind == 1) {
    for (std::uint64_t i = 0; i <= terms; ++i) sum.add(random.bits(64));
  } else {
    const double first = random_double(random);
    sum.add(first);
    for (std::uint64_t i = 0; i < terms; ++i) sum.add(random_double(random));
    if (random.bits(1) != 0) sum.add(-first);
  }
  return sum;
}

void check_one(hard::Random& random) {
  const Accumulator sum = random_sum(random);
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
