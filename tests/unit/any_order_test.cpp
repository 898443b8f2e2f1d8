// Which operators may be combined in any order.
#include "formula/operator/operator_tree.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace samesum::formula {
namespace {

bool in_any_order(const char* text, DType type, std::uint64_t count = std::uint64_t{1} << 31) {
  const Operator op{Formula(text), {}, {{"p", 1000003}, {"zero", 0}}};
  const DType types[] = {type};
  return Bound(op, types, {.count = count}).any_order().has_value();
}

TEST(AnyOrder, IsKnownByTheTree) {
  for (const char* text : {"a + b", "b + a", "min(a, b)", "max(b, a)", "a & b", "a | b", "xor(a, b)", "gcd(a, b)", "a*b % 1000003",
                           "b*a % p", "(a % 7)*(b % 7) % 7", "a % 7*b % 7", "mulmod(a, b, 97)", "mulmod(b, a, p)"}) {
    EXPECT_TRUE(in_any_order(text, DType::int32)) << text;
  }
  for (const char* text : {"a - b", "a", "b", "a + a", "a*b", "a*b + 1", "(a + b) % 7", "a*b % zero", "a*b % (p + a)",
                           "(a % 5)*(b % 7) % 7", "mulmod(a, b, a)", "a < b ? a : b", "min(a, b) + 1", "a/b", "min(a, a)"}) {
    EXPECT_FALSE(in_any_order(text, DType::int32)) << text;
  }
  EXPECT_TRUE(in_any_order("(a + b) % 7", DType::uint32));  // no signs
  for (const DType type : {DType::float32, DType::float64}) {
    EXPECT_TRUE(in_any_order("min(a, b)", type));
    EXPECT_TRUE(in_any_order("max(a, b)", type));
    EXPECT_FALSE(in_any_order("a + b", type));
    EXPECT_FALSE(in_any_order("a*b % 7", type));
  }
}

// An operation that may fail does so by the tree, so that all devices say the same.
TEST(AnyOrder, IsNotWhatMayFail) {
  EXPECT_FALSE(in_any_order("a + b", DType::int64));
  EXPECT_FALSE(in_any_order("a + b", DType::int32, ~std::uint64_t{0}));
  EXPECT_TRUE(in_any_order("a + b", DType::int32, std::uint64_t{1} << 32));
  EXPECT_FALSE(in_any_order("a + b", DType::int32, (std::uint64_t{1} << 32) + 1));
  EXPECT_FALSE(in_any_order("a*b % 7", DType::int64));
  EXPECT_FALSE(in_any_order("a*b % 7", DType::uint32));  // two elements may overflow, though an element and a remainder cannot
  EXPECT_FALSE(in_any_order("gcd(a, b)", DType::int64));
  EXPECT_TRUE(in_any_order("gcd(a, b)", DType::uint64));
  EXPECT_TRUE(in_any_order("mulmod(a, b, 7)", DType::int64));
}

// All levels of a tree decide what is checked, not its leaves.
TEST(AnyOrder, RangesOfTheTree) {
  const auto may_fail = [](const char* text, DType type, std::uint64_t count) {
    const Operator op{Formula(text)};
    const DType types[] = {type};
    return Bound(op, types, {.count = count}).program().may_fail;
  };
  EXPECT_FALSE(may_fail("a*3 + b", DType::int8, 2));
  EXPECT_TRUE(may_fail("a*3 + b", DType::int8, std::uint64_t{1} << 40));
  EXPECT_FALSE(may_fail("(a*3 + b*b + 7) % 1000003", DType::int32, ~std::uint64_t{0}));
  EXPECT_TRUE(may_fail("(a*3 + b*b*b + 7) % 1000003", DType::int32, 2));
  // Components of several types.
  const Operator op{Formula("(a[0] | b[0], a[1] + b[1])")};
  const DType types[] = {DType::uint8, DType::int64};
  EXPECT_TRUE(Bound(op, types).program().may_fail);
}

}  // namespace
}  // namespace samesum::formula
