// Differential fuzzer: random arrays, with exponents from random windows and other elements mixed in, summed on every device in random ways
// and compared with the elements added one by one and with the big-integer oracle.
//   fuzz_sum [--seconds N] [--seed S]
#include <samesum/device.hpp>
#include <samesum/sum.hpp>

#include "selftest/cases.hpp"
#include "support/fuzz.hpp"
#include "support/oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

namespace samesum {
namespace {

using hard::Format;
using hard::Random;

// Lengths of all magnitudes, most of them small.
std::uint64_t random_length(Random& random) { return random.below(std::uint64_t{1} << random.between(0, random.below(50) == 0 ? 21 : 14)); }

std::vector<std::uint64_t> random_patterns(Random& random, const Format& format, std::uint64_t length) {
  std::vector<std::uint64_t> patterns(length);
  const auto& hard_cases = hard::cases();
  hard_cases[random.below(hard_cases.size())].fill(random, format, patterns);
  if (random.bits(1) != 0) return patterns;
  // Numbers with exponents from a window, and a share of the unmodified hard case.
  const int fields = 1 << format.exponent_bits;
  const int window = 1 << random.between(0, format.exponent_bits);
  const int low = random.between(0, fields - window);
  const std::uint64_t share = std::uint64_t{1} << random.between(0, 12);
  const bool signs = random.bits(1) != 0;
  for (auto& bits : patterns) {
    if (random.below(share + 1) == 0) continue;
    const auto field = static_cast<std::uint64_t>(std::min(random.between(low, low + window - 1), fields - 2));
    bits = field << format.fraction_bits | random.bits(format.fraction_bits) | (signs && random.bits(1) != 0 ? format.sign() : 0);
  }
  return patterns;
}

Tuning random_tuning(Random& random, const Device& device) {
  Tuning options;
  const auto variants = sum_variants(device);
  options.variant = variants[random.below(variants.size())].name;
  options.threads = static_cast<std::uint32_t>(random.below(4));
  if (device.info().has(Capability::kernels) && random.bits(1) != 0) {
    // Few group sizes, as kernels are compiled for each, and some compilers take seconds.
    constexpr std::uint32_t kGroupSizes[] = {1, 33, 64, 1024};
    options.group_size = std::min(kGroupSizes[random.below(std::size(kGroupSizes))], device.info().max_group_size);
    options.groups = static_cast<std::uint32_t>(random.below(5));
  }
  return options;
}

// Throws what is wrong with one array.
void check(Random& random, const std::vector<Device>& devices) {
  const DType type = random.bits(1) != 0 ? DType::float32 : DType::float64;
  const auto patterns = random_patterns(random, hard::format_of(type), random_length(random));
  const hard::Data data(patterns, type, random.below(65));
  const Accumulator reference = test::add_each(data.view());
  for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
    if (!(test::result_of(reference, nan) == test::gmp_oracle(data.view(), nan))) throw test::Mismatch("the accumulator rounds wrongly");
  }
  for (const Device& device : devices) {
    const Tuning options = random_tuning(random, device);
    const bool right = accumulate(data.view(), {.device = device, .tuning = options}) == reference &&
                       std::bit_cast<std::uint64_t>(sum(data.view(), {.device = device, .tuning = options}).as_double()) ==
                           std::bit_cast<std::uint64_t>(reference.round());
    if (!right) {
      throw test::Mismatch(fmt::format("{}: variant {}, group size {}, groups {}, threads {}, {} elements of {}", device.info().selector,
                                       options.variant, options.group_size, options.groups, options.threads, patterns.size(),
                                       name_of(type)));
    }
  }
}

}  // namespace
}  // namespace samesum

int main(int argc, char** argv) {
  using namespace samesum;
  return test::fuzz("fuzz_sum", argc, argv, [devices = open_devices("all", 0)](hard::Random& random) { check(random, devices); });
}
