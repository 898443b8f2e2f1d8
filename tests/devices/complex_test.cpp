// Complex numbers on every device, against their parts and plain recursion.
#include "selftest/cases.hpp"
#include "support/devices.hpp"

#include <samesum/complex.hpp>
#include <samesum/error.hpp>
#include <samesum/reduce.hpp>
#include <samesum/sum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace samesum {
namespace {

template <class T>
std::vector<std::complex<T>> numbers(std::size_t size, bool ugly) {
  hard::Random random(size);
  std::vector<std::complex<T>> z(size);
  const auto part = [&](std::size_t i) {
    const T value = static_cast<T>(static_cast<double>(random.bits() >> 11) * 0x1p-53 - 0.5);
    return ugly && i % 7 == 0 ? value * static_cast<T>(0x1p70) : value;
  };
  for (std::size_t i = 0; i < size; ++i) z[i] = {part(i), part(i + 1)};
  return z;
}

template <class T>
std::complex<T> tree(const std::vector<std::complex<T>>& z, std::size_t first, std::size_t count) {
  if (count == 1) return z[first];
  const std::size_t left = std::bit_ceil(count) / 2;
  const std::complex<T> a = tree(z, first, left), b = tree(z, first + left, count - left);
  const T ac = a.real() * b.real(), bd = a.imag() * b.imag(), ad = a.real() * b.imag(), bc = a.imag() * b.real();
  return {ac - bd, ad + bc};
}

template <class T>
void check(std::size_t size) {
  const std::vector<std::complex<T>> z = numbers<T>(size, true), factors = numbers<T>(std::min<std::size_t>(size, 60), false);
  std::vector<T> real, imag;
  for (const std::complex<T>& number : z) {
    real.push_back(number.real());
    imag.push_back(number.imag());
  }
  const std::complex<double> total(sum(real), sum(imag));
  const std::complex<T> product_of = factors.empty() ? std::complex<T>(1) : tree(factors, 0, factors.size());
  const Array parts(z.data(), {z.size(), 2}, dtype_of<T>()), factor_parts(factors.data(), {factors.size(), 2}, dtype_of<T>());
  for (const Device& device : test::devices()) {
    const Buffer buffer(device, std::max<std::uint64_t>(parts.bytes(), 8)), other(device, std::max<std::uint64_t>(factor_parts.bytes(), 8));
    if (size != 0) buffer.write(parts.data(), parts.bytes());
    if (size != 0) other.write(factor_parts.data(), factor_parts.bytes());
    const ComplexArray there(Array(buffer, parts.shape(), parts.type())), factors_there(Array(other, factor_parts.shape(), parts.type()));
    SCOPED_TRACE(device.info().selector + ", " + std::to_string(size));
    for (const auto& [data, few] : {std::pair{ComplexArray(z), ComplexArray(factors)}, std::pair{there, factors_there}}) {
      const Options options{.device = device};
      EXPECT_EQ(sum(data, options), total);
      ComplexSum merged = accumulate(data, options);
      EXPECT_EQ(merged.round(), total);
      merged += merged;
      EXPECT_EQ(merged.round().real(), 2 * total.real());
      EXPECT_EQ(product(few, options), std::complex<double>(product_of));
      EXPECT_EQ(norm(data, options), norm(parts));
      if (size != 0) {
        EXPECT_EQ(mean(data, options), std::complex<double>(mean(real), mean(imag)));
      }
    }
  }
}

TEST(ComplexTest, SumsNormsAndProducts) {
  for (const std::size_t size : {0, 1, 2, 7, 1000, 30001}) {
    check<float>(size);
    check<double>(size);
  }
}

TEST(ComplexTest, PartsDoNotMix) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::complex<double>> z = {{1, nan}, {2, 5}};
  EXPECT_EQ(sum(z).real(), 3);
  EXPECT_TRUE(std::isnan(sum(z).imag()));
  EXPECT_EQ(sum(z, {.nan = NanPolicy::skip}).imag(), 5);
  const std::vector<double> three(3);
  EXPECT_THROW(ComplexArray(Array(three)), Error);
  EXPECT_THROW(mean(std::vector<std::complex<float>>()), Error);
}

}  // namespace
}  // namespace samesum
