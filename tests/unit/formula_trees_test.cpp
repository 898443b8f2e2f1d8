// Random formulas on the CPU against an evaluation of their text by MPFR and integers of 128 bits, by bits, and where they fail.
// SAMESUM_TREES says how many (default 400).
#include "selftest/cases.hpp"
#include "support/formula_oracle.hpp"
#include "support/random_formula.hpp"

#include <samesum/error.hpp>
#include <samesum/formula.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace samesum {
namespace {

using test::FormulaOracle;
using Kind = FormulaOracle::Kind;

constexpr std::size_t kPositions = 24;

struct Numbers {
  std::vector<float> x;
  std::vector<double> y;
  std::vector<std::int32_t> n;
  std::vector<std::int64_t> m;
  std::vector<std::uint64_t> u;

  explicit Numbers(hard::Random& random) {
    constexpr float kUgly[] = {0.0f, -0.0f, HUGE_VALF, -HUGE_VALF, NAN, 1.0f, 0x1p-149f, -0x1p-130f, 0x1.fffffep127f, 2.5f, -3.5f, 100.0f};
    const int most = random.below(2) == 0 ? 5 : 64;  // integers that are small, so that operations do not always fail
    const auto some = [&](int limit) { return random.bits(static_cast<int>(1 + random.below(static_cast<std::uint64_t>(std::min(most, limit))))); };
    for (std::size_t k = 0; k < kPositions; ++k) {
      x.push_back(random.below(3) == 0   ? kUgly[random.below(std::size(kUgly))]
                  : random.below(2) == 0 ? static_cast<float>(random.bits(20)) / 1024 - 300
                                         : std::bit_cast<float>(static_cast<std::uint32_t>(random.bits())));
      y.push_back(random.below(3) == 0 ? static_cast<double>(x.back()) : std::bit_cast<double>(random.bits()));
      n.push_back(static_cast<std::int32_t>(some(32)));
      m.push_back(static_cast<std::int64_t>(some(64)) - 8);
      u.push_back(some(64));
    }
  }
  std::vector<FormulaInput> inputs() const { return {{"x", x}, {"y", y}, {"n", n}, {"m", m}, {"u", u}}; }
  FormulaOracle::Names at(std::size_t k) const {
    return {{"x", {Kind::float32, 0, x[k], false}},
            {"y", {Kind::float64, 0, y[k], false}},
            {"n", {Kind::int64, n[k], 0, false}},
            {"m", {Kind::int64, m[k], 0, false}},
            {"u", {Kind::uint64, u[k], 0, false}},
            {"i", {Kind::int64, static_cast<std::int64_t>(k), 0, false}},
            {"h", {Kind::real, 0, 0.375, false}},
            {"k", {Kind::whole, 3, 0, false}},
            {"pi", {Kind::real, 0, 0x1.921fb54442d18p1, false}},
            {"inf", {Kind::real, 0, HUGE_VAL, false}},
            {"true", {Kind::boolean, 1, 0, false}}};
  }
};

std::uint64_t bits_of(const FormulaOracle::Value& value) {
  switch (value.kind) {
    case Kind::float32:
      return std::isnan(value.number) ? 0x7fc00000 : std::bit_cast<std::uint32_t>(static_cast<float>(value.number));
    case Kind::float64:
      return std::isnan(value.number) ? 0x7ff8000000000000 : std::bit_cast<std::uint64_t>(value.number);
    default:
      return static_cast<std::uint64_t>(value.integer);
  }
}

std::uint64_t mask_of(Kind kind) { return kind == Kind::boolean ? 0xff : kind == Kind::float32 ? 0xffffffff : ~std::uint64_t{0}; }

// Returns whether the formula failed somewhere.
bool check(const std::string& text, const Numbers& numbers) {
  const Formula formula(text);
  const std::vector<FormulaParameter> parameters{{"h", 0.375}, {"k", 3}};
  const FormulaDescription described = formula.describe(numbers.inputs(), parameters);
  std::vector<std::uint64_t> memory(kPositions);
  std::optional<std::string> error;
  try {
    map(formula, numbers.inputs(), parameters, {Array(memory.data(), kPositions, described.results[0])});
  } catch (const Error& thrown) {
    if (thrown.kind() != ErrorKind::no_answer) throw;
    error = thrown.what();
  }
  const FormulaOracle::Names names = numbers.at(0);
  const FormulaOracle oracle(text, names);
  for (std::size_t k = 0; k < kPositions; ++k) {
    const FormulaOracle::Value expected = oracle.value(numbers.at(k));
    if (expected.failed) {
      EXPECT_TRUE(error && error->find(" at index " + std::to_string(k)) != std::string::npos)
          << text << " fails at " << k << "; found: " << error.value_or("no error");
      return true;
    }
    if (error) continue;
    const std::size_t bytes = size_of(described.results[0]);
    std::uint64_t found = 0;
    std::memcpy(&found, reinterpret_cast<const char*>(memory.data()) + k * bytes, bytes);
    EXPECT_EQ(found, bits_of(expected) & mask_of(expected.kind)) << std::hex << text << "\nat " << k << " is " << found;
    if (testing::Test::HasFailure()) return false;
  }
  EXPECT_FALSE(error) << text << ": " << *error;
  return false;
}

TEST(FormulaTrees, AreWhatTheirTextSays) {
  const char* const wanted = std::getenv("SAMESUM_TREES");
  const std::uint64_t count = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 400;
  std::uint64_t failures = 0;
  for (std::uint64_t seed = 0; seed < count && !testing::Test::HasFailure(); ++seed) {
    hard::Random random(seed);
    test::RandomFormula make(random);
    const Numbers numbers(random);
    const int depth = random.between(1, 4);
    const std::uint64_t sort = random.below(6);
    const std::string text = sort < 3    ? make.floating(depth)
                             : sort == 3 ? make.condition(depth)
                             : sort == 4 ? make.safe_integer(depth)
                                         : make.integer(std::min(depth, 3));
    failures += check(text, numbers) ? 1 : 0;
  }
  EXPECT_GT(failures, count / 50);
  EXPECT_LT(failures, count / 2);
}

}  // namespace
}  // namespace samesum
