// product.cl for int64, run on the host.
#define BITS 64
#define FLOATS 0
#define SIGNED 1
#define GROUP_SIZE 32
#define LOADS 1
#include "support/product_kernel_test.hpp"

namespace samesum::test {
namespace {

struct Found {
  unsigned long flags, magnitude;
};

Found product_of(const std::vector<std::int64_t>& values) {
  std::vector<dialect::uint4> memory(values.size() / 2 + 1);
  std::memcpy(static_cast<void*>(memory.data()), values.data(), values.size() * 8);
  Found found{};
  dialect::emulation().run(1, GROUP_SIZE, [&] {
    dialect::product(reinterpret_cast<unsigned char*>(memory.data()), values.size(), reinterpret_cast<unsigned long*>(&found));
  });
  return found;
}

// Two factors of 2^40 at every two places: of one load, of one work-item's loads, and of two work-items.
TEST(ProductKernelInt64, NoticesEveryOverflow) {
  constexpr std::size_t kSize = 4 * GROUP_SIZE + 3;
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t k = i + 1; k < kSize; k += 1 + (k - i) / 8) {
      std::vector<std::int64_t> values(kSize, 1);
      values[i] = values[k] = std::int64_t{1} << 40;
      ASSERT_EQ(product_of(values).flags & 4, 4u) << i << " and " << k;
      values[k] = -3;
      const Found fits = product_of(values);
      ASSERT_EQ(fits.flags, 2u) << i << " and " << k;
      ASSERT_EQ(fits.magnitude, 3ul << 40) << i << " and " << k;
    }
  }
}

}  // namespace
}  // namespace samesum::test
