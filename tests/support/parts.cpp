#include "support/parts.hpp"

#include <samesum/array.hpp>
#include <samesum/device.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <limits>

namespace samesum::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// An integer near zero, or near a limit of the type.
template <std::integral Integer>
Integer ugly_integer(hard::Random& random) {
  using Limits = std::numeric_limits<Integer>;
  const auto small = static_cast<Integer>(random.below(3));
  const std::uint64_t kind = random.below(4);
  if (kind == 0) return static_cast<Integer>(random.bits());
  return kind == 1 ? small : kind == 2 ? static_cast<Integer>(Limits::max() - small) : static_cast<Integer>(Limits::min() + small);
}

template <std::integral Integer>
std::vector<Integer> ugly_integers(hard::Random& random, std::uint64_t count) {
  std::vector<Integer> values(count);
  for (Integer& value : values) value = ugly_integer<Integer>(random);
  return values;
}

// Doubles, some with their negatives.
std::vector<double> ugly_doubles(hard::Random& random, std::uint64_t count) {
  std::vector<double> values(count);
  for (double& value : values) value = ugly_double(random);
  if (count > 2 && random.bits(1) != 0) values.back() = -values.front();
  return values;
}

Statistics collected(const Array& data, hard::Random& random) {
  const Fields fields{random.bits(1) != 0, random.below(8) != 0, random.below(4) != 0, random.bits(1) != 0};
  static const Device cpu = Device::open("cpu");
  Statistics::Contents contents = collect(data, fields, {.device = cpu, .tuning = {.threads = 1}}).contents();
  contents.missing = random.below(4) == 0 ? random.below(5) : 0;
  return Statistics(std::move(contents));
}

}  // namespace

double ugly_double(hard::Random& random) {
  switch (random.below(16)) {
    case 0:
      return 0.0;
    case 1:
      return -0.0;
    case 2:
      return std::bit_cast<double>(random.bits(52));  // denormal
    case 3:
      return random.below(4) == 0 ? (random.bits(1) != 0 ? kInfinity : -kInfinity) : std::numeric_limits<double>::max();
    case 4:
      return random.below(4) == 0 ? std::numeric_limits<double>::quiet_NaN() : -std::numeric_limits<double>::max();
    default:
      return std::bit_cast<double>(random.bits());
  }
}

const Bins& bins_of_parts() {
  static const Bins bins = Bins::between({-1e300, -1, -0.5, 0, 1e-300, 0.25, 0.25, 1, 1e18, 1e300});
  return bins;
}

template <>
Accumulator random_part(hard::Random& random) {
  Accumulator sum;
  const std::uint64_t kind = random.below(8), terms = random.below(20);
  if (kind == 0) {
    for (const std::int64_t value : ugly_integers<std::int64_t>(random, terms)) sum.add(value);
  } else if (kind == 1) {
    for (const std::uint64_t value : ugly_integers<std::uint64_t>(random, terms)) sum.add(value);
  } else if (kind == 2) {
    for (std::uint64_t i = 0; i < terms; ++i) sum.add(-0.0);
  } else {
    for (const double value : ugly_doubles(random, terms)) sum.add(value);
  }
  return sum;
}

template <>
ProductAccumulator random_part(hard::Random& random) {
  ProductAccumulator sum;
  const std::uint64_t kind = random.below(8), terms = random.below(20);
  for (std::uint64_t i = 0; i < terms; ++i) {
    if (kind == 0) {
      sum.add(ugly_integer<std::int64_t>(random), ugly_integer<std::int64_t>(random));
    } else if (kind == 1) {
      sum.add(ugly_integer<std::uint64_t>(random), ugly_integer<std::uint64_t>(random));
    } else if (kind == 2) {
      sum.add(-0.0, 1.0);
    } else if (kind == 3) {
      sum.add(Value{ugly_double(random), DType::float64}, Value{ugly_integer<std::uint64_t>(random), DType::uint64});
    } else {
      sum.add(ugly_double(random), ugly_double(random));
    }
  }
  return sum;
}

template <>
Statistics random_part(hard::Random& random) {
  const std::uint64_t terms = 1 + random.below(20);
  switch (random.below(8)) {
    case 0:
      return random.bits(1) != 0 ? Statistics() : Statistics({.missing = 3});
    case 1:
      return collected(ugly_integers<std::int64_t>(random, terms), random);
    case 2:
      return collected(ugly_integers<std::uint64_t>(random, terms), random);
    case 3:
      return collected(ugly_integers<std::int8_t>(random, terms), random);
    case 4: {
      std::vector<float> values;
      for (const double value : ugly_doubles(random, terms)) values.push_back(static_cast<float>(value));
      return collected(values, random);
    }
    case 5: {
      const auto patterns = ugly_integers<std::uint16_t>(random, terms);
      return collected(Array(patterns.data(), patterns.size(), random.bits(1) != 0 ? DType::float16 : DType::bfloat16), random);
    }
    default:
      return collected(ugly_doubles(random, terms), random);
  }
}

template <>
Histogram random_part(hard::Random& random) {
  std::vector<std::uint64_t> slots(bins_of_parts().count() + 3);
  for (std::uint64_t& slot : slots) slot = random.bits(1 + static_cast<int>(random.below(36)));
  return {bins_of_parts(), slots};
}

const std::vector<Bins>& axes_of_parts() {
  static const std::vector<Bins> axes{Bins::between({-1, 0.5}), Bins::between({0, 1, 1e300})};
  return axes;
}

template <>
HistogramNd random_part(hard::Random& random) {
  HistogramNd result(axes_of_parts());
  std::vector<std::uint64_t> cells(result.cells().size());
  for (std::uint64_t& cell : cells) cell = random.bits(1 + static_cast<int>(random.below(36)));
  return {axes_of_parts(), cells};
}

template <>
GroupSums random_part(hard::Random& random) {
  GroupSums sums(kGroupsOfParts, kOptionsOfParts);
  const std::uint64_t kind = random.below(8), terms = random.below(20);
  const auto add = [&](const auto& values) {
    std::vector<std::uint32_t> groups(values.size());
    for (std::uint32_t& group : groups) group = static_cast<std::uint32_t>(random.below(kGroupsOfParts + 1));
    sums.add(values, groups);
  };
  if (kind == 0) {
    add(ugly_integers<std::int64_t>(random, terms));
  } else if (kind == 1) {
    add(ugly_integers<std::uint64_t>(random, terms));
  } else if (kind == 2) {
    add(std::vector<double>(terms, -0.0));
  } else if (kind == 3) {
    std::vector<double> values(terms);
    for (double& value : values) value = static_cast<double>(random.below(1000)) / 7;
    add(values);
  } else {
    add(ugly_doubles(random, terms));
  }
  return sums;
}

template <>
WeightedHistogram random_part(hard::Random& random) {
  static const Device cpu = Device::open("cpu");
  WeightedHistogram result(axes_of_parts());
  const std::uint64_t terms = random.below(20);
  const std::vector<double> x = ugly_doubles(random, terms), y = ugly_doubles(random, terms);
  const Options alone{.device = cpu, .tuning = {.threads = 1}};
  if (random.below(4) == 0) {
    result.add({x, y}, ugly_integers<std::int64_t>(random, terms), alone);
  } else {
    result.add({x, y}, ugly_doubles(random, terms), alone);
  }
  return result;
}

std::vector<std::byte> forged(std::vector<std::byte> bytes, std::size_t offset, std::initializer_list<int> values) {
  for (const int value : values) bytes.at(offset++) = static_cast<std::byte>(value);
  if (bytes.size() < 8) return bytes;
  const std::uint64_t checksum = XXH3_64bits(bytes.data(), bytes.size() - 8);
  for (std::size_t i = 0; i < 8; ++i) bytes[bytes.size() - 8 + i] = static_cast<std::byte>(checksum >> (8 * i));
  return bytes;
}

}  // namespace samesum::test
