// The self-test's golden hash, on every device of this machine.
#include <samesum/device.hpp>
#include <samesum/selftest.hpp>

#include <gtest/gtest.h>

namespace samesum {
namespace {

TEST(Selftest, GivesTheGoldenHashOnEveryDevice) {
  for (const Device& device : open_devices("all", 0)) {
    const SelftestResult result = selftest(device);
    for (const auto& failure : result.failures) ADD_FAILURE() << device.info().selector << ": " << failure;
    EXPECT_EQ(result.hash, kSelftestHash) << device.info().selector;
    EXPECT_EQ(result.passed(), result.failures.empty() && result.hash == kSelftestHash);
    EXPECT_GT(result.sums, 900u);
    const std::string line = result.json();
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_NE(line.find(device.info().selector), std::string::npos);
  }
}

}  // namespace
}  // namespace samesum
