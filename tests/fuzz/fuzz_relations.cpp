// Relations that hold between operations, on the CPU and on hard data: what is computed of many numbers at once has the bits of the sum of
// the same numbers alone, which fuzz_sum compares with GMP. Groups by key and segment, in parts that are merged, saved and loaded; weights
// of histograms; prefixes; reductions along axes; products of pairs as sums of what a product is without rounding.
//   fuzz_relations [--seconds N] [--seed S]
#include <samesum/axes.hpp>
#include <samesum/by.hpp>
#include <samesum/error.hpp>
#include <samesum/group_sums.hpp>
#include <samesum/pairs.hpp>
#include <samesum/reduce.hpp>
#include <samesum/scan.hpp>
#include <samesum/sum.hpp>
#include <samesum/weighted_histogram.hpp>

#include "selftest/cases.hpp"
#include "support/fuzz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace samesum {
namespace {

using hard::Random;

const Options& on_cpu() {
  static const Options options{.device = Device::open("cpu")};
  return options;
}

void require_equal(double found, double expected, const std::string& what) {
  if (std::bit_cast<std::uint64_t>(found) == std::bit_cast<std::uint64_t>(expected)) return;
  throw test::Mismatch(fmt::format("{}: {:a}, not {:a}", what, found, expected));
}

// Hard cases; or numbers of which nearly all cancel, in any order.
template <class Real>
std::vector<Real> numbers(Random& random, std::size_t count) {
  const bool wide = sizeof(Real) == 8;
  if (random.below(3) == 0) {
    std::vector<std::uint64_t> patterns(count);
    const auto& cases = hard::cases();
    const DType type = wide ? DType::float64 : DType::float32;
    cases[random.below(cases.size())].fill(random, hard::format_of(type), patterns);
    const hard::Data data(patterns, type, 0);
    const auto* const from = static_cast<const Real*>(data.view().data());
    return {from, from + count};
  }
  int clusters[4];
  for (int& cluster : clusters) cluster = random.between(wide ? -500 : -70, wide ? 450 : 60);
  std::vector<Real> all;
  while (all.size() < count) {
    const double mantissa = random.below(4) == 0 ? 1 : 1 + static_cast<double>(random.bits(wide ? 52 : 23)) * (wide ? 0x1p-52 : 0x1p-23);
    const auto x =
        static_cast<Real>(std::ldexp(random.bits(1) != 0 ? mantissa : -mantissa, clusters[random.below(4)] + random.between(-2, 2)));
    all.push_back(x);
    if (all.size() < count && random.below(10) != 0) all.push_back(random.below(9) == 0 ? std::nextafter(-x, Real{0}) : -x);
  }
  for (std::size_t i = count; i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
  return all;
}

double sum_alone(const Array& x) { return accumulate(x, on_cpu()).round(); }

template <class Real>
void check_groups(Random& random) {
  const std::size_t groups = 1 + random.below(40), count = random.below(400);
  const std::vector<Real> x = numbers<Real>(random, count);
  std::vector<std::uint32_t> keys(count);
  for (std::uint32_t& key : keys) key = static_cast<std::uint32_t>(random.below(groups));
  if (random.bits(1) != 0) std::ranges::sort(keys);
  std::vector<std::vector<Real>> members(groups);
  for (std::size_t i = 0; i < count; ++i) members[keys[i]].push_back(x[i]);
  const std::size_t cut = random.below(count + 1);
  GroupSums sums(groups, {.squares = true});
  sums.add(Array(x).part(0, cut), Array(keys).part(0, cut));
  GroupSums more(groups, {.squares = true});
  more.add(Array(x).part(cut, count - cut), Array(keys).part(cut, count - cut));
  sums.merge(random.bits(1) != 0 ? GroupSums::deserialize(more.serialize()) : more);
  const Values found = sums.sums(), squares = sums.squares(), means = sums.means(), variances = sums.variances();
  const Values by_key = sum(x, by(keys, groups), on_cpu());
  WeightedHistogram weights({Bins::even(0, static_cast<double>(groups), groups)}, random.bits(1) != 0);
  weights.add({Array(keys)}, Array(x), on_cpu());
  const Values weighted = weights.sums();
  for (std::size_t group = 0; group < groups; ++group) {
    const Array own(members[group]);
    const std::string where = fmt::format(" of {} numbers by key", own.size());
    require_equal(found.as<double>()[group], sum_alone(own), "the sum" + where);
    require_equal(by_key.as<double>()[group], sum_alone(own), "sum()" + where);
    require_equal(weighted.as<double>()[group], sum_alone(own), "the weight" + where);
    require_equal(squares.as<double>()[group], squared_norm(own, on_cpu()), "the squares" + where);
    if (own.size() == 0) continue;
    require_equal(means.as<double>()[group], mean(own, on_cpu()), "the mean" + where);
    require_equal(variances.as<double>()[group], variance(own, 0, on_cpu()), "the variance" + where);
  }
}

template <class Real>
void check_lines(Random& random) {
  const std::uint64_t rows = 1 + random.below(30), columns = 1 + random.below(random.below(4) == 0 ? 600 : 30);
  const std::vector<Real> x = numbers<Real>(random, rows * columns);
  const Array matrix = Array(x).reshaped({rows, columns});
  const std::int64_t axis = static_cast<std::int64_t>(random.bits(1));
  const Values sums = sum(matrix, Axes{axis}, on_cpu()), variances = variance(matrix, Axes{axis}, on_cpu()),
               norms = norm(matrix, Axes{axis}, on_cpu()), prefixes = scan(matrix, {.axis = axis}, on_cpu());
  for (std::uint64_t i = 0; i < (axis == 0 ? columns : rows); ++i) {
    const Array line = matrix.at(axis == 0 ? 1 : 0, i);
    const std::string where = fmt::format(" of {} numbers along axis {}", line.size(), axis);
    require_equal(sums.as<double>()[i], sum_alone(line), "the sum" + where);
    require_equal(variances.as<double>()[i], variance(line, 0, on_cpu()), "the variance" + where);
    require_equal(norms.as<double>()[i], norm(line, on_cpu()), "the norm" + where);
    const std::uint64_t last = random.below(line.size());
    const std::uint64_t at = axis == 0 ? last * columns + i : i * columns + last;
    require_equal(prefixes.as<double>()[at], sum_alone(line.part(0, last + 1)), "a prefix" + where);
  }
}

// A product of floats is a double; of doubles two, unless it is very small or great.
template <class Real>
void check_products(Random& random) {
  const std::size_t count = random.below(random.below(4) == 0 ? 3000 : 40);
  const std::vector<Real> a = numbers<Real>(random, count), b = numbers<Real>(random, count);
  std::vector<double> terms, squares;
  const auto add_product = [](std::vector<double>& to, double x, double y) {
    const double product = x * y;
    to.push_back(product);
    const bool moderate = std::abs(product) > 0x1p-950 && std::abs(product) < 0x1p1020;
    if (sizeof(Real) == 8 && moderate) to.push_back(std::fma(x, y, -product));
    return sizeof(Real) == 4 || moderate || x == 0 || y == 0 || !std::isfinite(x) || !std::isfinite(y);
  };
  bool both = true, alone = true;
  for (std::size_t i = 0; i < count; ++i) {
    both &= add_product(terms, a[i], b[i]);
    alone &= add_product(squares, a[i], a[i]);
  }
  if (both) {
    require_equal(dot(a, b, on_cpu()).round(), sum_alone(terms), fmt::format("the dot product of {} numbers", count));
  }
  if (sizeof(Real) == 8 && count != 0) {  // whose exact sums are of rounded products
    const std::size_t few = std::min<std::size_t>(count, 3);
    const PairsResult found = pairs(Array(a).part(0, few), b, {.accuracy = PairAccuracy::exact}, on_cpu());
    for (std::size_t i = 0; i < few; ++i) {
      std::vector<double> products;
      for (const Real y : b) products.push_back(static_cast<double>(a[i]) * static_cast<double>(y));
      require_equal(std::get<std::vector<double>>(found)[i], sum_alone(products), fmt::format("the sum of {} pairs", count));
    }
  }
  if (alone) require_equal(squared_norm(a, on_cpu()), sum_alone(squares), fmt::format("the squared norm of {} numbers", count));
}

void check(Random& random) {
  switch (random.below(6)) {
    case 0:
      return check_groups<float>(random);
    case 1:
      return check_groups<double>(random);
    case 2:
      return check_lines<float>(random);
    case 3:
      return check_lines<double>(random);
    case 4:
      return check_products<float>(random);
    default:
      return check_products<double>(random);
  }
}

}  // namespace
}  // namespace samesum

int main(int argc, char** argv) {
  return samesum::test::fuzz("fuzz_relations", argc, argv, [](samesum::hard::Random& random) { samesum::check(random); });
}
