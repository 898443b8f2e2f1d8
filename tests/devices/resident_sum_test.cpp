// Sums that stay in device memory (samesum/nccl.hpp): the bits of accumulate() and dot(), over any number of ranks.
#include "selftest/cases.hpp"
#include "support/devices.hpp"

#include <samesum/error.hpp>
#include <samesum/nccl.hpp>
#include <samesum/reduce.hpp>
#include <samesum/sum.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

namespace samesum {
namespace {

using nccl::Communicator;
using Of = nccl::Sum::Of;

std::vector<Device> able() {
  std::vector<Device> found;
  for (const Device& device : test::devices()) {
    if (device.info().has(Capability::kernels)) found.push_back(device);
  }
  return found;
}

// A host array, copied to the device `skip` elements behind the start of a buffer.
Array on(const Device& device, const Array& data, std::uint64_t skip = 0) {
  const std::uint64_t size = size_of(data.type());
  const Buffer buffer(device, std::max<std::uint64_t>(data.bytes() + skip * size, 16));
  if (data.bytes() != 0) buffer.write(data.data(), data.bytes(), skip * size);
  return Array(buffer, data.size() + skip, data.type()).part(skip, data.size());
}

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

std::uint64_t rounded(nccl::Sum& sum, const Device& device) {
  const Buffer to(device, 24);
  sum.round(to, 8);
  double value = 0;
  to.read(&value, 8, 8);
  return bits(value);
}

// What is expected, with the canonical NaN.
std::uint64_t sum_of(const Array& x) { return bits(accumulate(x, {.device = Device::open("cpu")}).round()); }
std::uint64_t dot_of(const Array& a, const Array& b) { return bits(dot(a, b, {.device = Device::open("cpu")}).round()); }

TEST(ResidentSum, HasTheBitsOfTheSumAndOfTheDotProduct) {
  for (const Device& device : able()) {
    for (const DType type : {DType::float32, DType::float64}) {
      nccl::Sum sum(device, type), products(device, type, Of::products);
      for (const hard::Case& one : hard::cases()) {
        for (const std::uint64_t size : {5000, 257, 1, 0}) {
          if (size < 5000 && &one != &hard::cases().front() && size != 257) continue;
          const auto data = hard::make(one, type, 2 * size);
          const Array x(data.view().data(), {size}, type),
              y(static_cast<const std::byte*>(data.view().data()) + size * size_of(type), {size}, type);
          SCOPED_TRACE(device.info().selector + ", " + std::string(one.name) + " of " + std::to_string(size));
          const Array there = on(device, x, size % 3), other = on(device, y);
          sum.clear();
          sum.add(there);
          ASSERT_EQ(rounded(sum, device), sum_of(x));
          products.clear();
          products.add(there, other);
          ASSERT_EQ(rounded(products, device), dot_of(x, y));
          // Without a launch that clears them, and the sum of both halves in two launches.
          sum.assign(there);
          ASSERT_EQ(rounded(sum, device), sum_of(x));
          products.assign(there.part(0, size / 2), other.part(0, size / 2));
          products.add(there.part(size / 2, size - size / 2), other.part(size / 2, size - size / 2));
          ASSERT_EQ(rounded(products, device), dot_of(x, y));
        }
      }
    }
  }
}

// Products that no double holds, great ones that cancel, and small ones, among usual ones.
TEST(ResidentSum, ProductsOfAllSizes) {
  hard::Random random(5);
  for (const Device& device : able()) {
    nccl::Sum products(device, DType::float64, Of::products);
    for (int round = 0; round < 60; ++round) {
      std::vector<double> a, b;
      const int kind = round % 4;
      for (std::uint64_t left = 1 + random.below(400); left > 0; --left) {
        const auto power = [&](int low, int high) {
          return std::ldexp(1 + static_cast<double>(random.bits(50)) * 0x1p-50, random.between(low, high));
        };
        a.push_back(kind == 0 ? power(-1074, 1023) : kind == 1 ? power(-1074, -400) : kind == 2 ? power(400, 1023) : power(-20, 20));
        b.push_back(kind == 0 ? power(-1074, 1023) : kind == 1 ? power(-1074, -400) : kind == 2 ? power(500, 1023) : power(-1000, 980));
        if (random.below(2) == 0) a.back() = -a.back();
        if (random.below(3) == 0) {  // it cancels, but for the last bits
          a.push_back(-a.back());
          b.push_back(std::nextafter(b.back(), 0));
        }
        if (random.below(50) == 0) {
          a.push_back(random.below(2) == 0 ? 0.0 : -0.0);
          b.push_back(1);
        }
      }
      if (round % 11 == 0) {
        a.push_back(std::numeric_limits<double>::infinity());
        b.push_back(round % 2 == 0 ? 2 : -0.5);
      }
      products.clear();
      products.add(on(device, a), on(device, b));
      ASSERT_EQ(rounded(products, device), dot_of(a, b)) << device.info().selector << ", " << round;
    }
    // Only -0.0, and nothing.
    const std::vector<double> zero{0.0}, minus{-3.0};
    products.clear();
    EXPECT_EQ(rounded(products, device), bits(0.0));
    products.add(on(device, zero), on(device, minus));
    EXPECT_EQ(rounded(products, device), bits(-0.0));
  }
}

// On a GPU groups draw some of so many tiles from a counter (statistics.cl).
TEST(ResidentArray, OfManyTilesHasTheSumsOfTheCpu) {
  const Device cpu = Device::open("cpu");
  for (const Device& device : able()) {
    std::vector<float> values((std::size_t{1} << (device.info().is_cpu ? 20 : 26)) + 3);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(static_cast<std::uint32_t>(i * 2654435761u) >> 9) - 0x1p21f;
    }
    const Array here{std::span<const float>(values)}, there = on(device, here);
    const Statistics statistics = collect(here, {}, {.device = cpu});
    const ProductAccumulator products = dot(here, here, {.device = cpu});
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(collect(there, {}, {.device = device}), statistics) << device.info().selector;
      EXPECT_EQ(accumulate(there, {.device = device}), statistics.sum()) << device.info().selector;
      EXPECT_EQ(dot(there, there, {.device = device}), products) << device.info().selector;
    }
  }
}

// A carry that goes through all digits, ties, denormals, and what is between them.
TEST(ResidentSum, RoundsOnce) {
  std::vector<std::vector<double>> cases{{0x1p1000, -0x1p-1074},
                                         {-0x1p1000, 0x1p-1074},
                                         {1, 0x1p-53},
                                         {1, 0x1p-53, 0x1p-1074},
                                         {1, 0x1p-53, -0x1p-1074},
                                         {-1, -0x1p-53},
                                         {0x1p-1074},
                                         {-0x1p-1074, -0x1p-1074},
                                         {0x1p1023, 0x1p1023},
                                         {0x1p32, -1},
                                         {-0x1p64, 1},
                                         {0x1p32, -0x1p32},
                                         {0x1p64, -0x1p64, -0x1p32},
                                         {-0.0, -0.0},
                                         {0x1p-1022, -0x1p-1074}};
  hard::Random random(11);
  for (int i = 0; i < 200; ++i) {
    std::vector<double> one;
    for (std::uint64_t left = 1 + random.below(6); left > 0; --left) {
      const int power = 32 * random.between(-33, 31) + random.between(-1, 1);
      one.push_back(std::ldexp(random.below(2) == 0 ? 1 : -1, power));
    }
    cases.push_back(one);
  }
  for (const Device& device : able()) {
    nccl::Sum sum(device, DType::float64), products(device, DType::float64, Of::products);
    for (const std::vector<double>& x : cases) {
      sum.clear();
      sum.add(on(device, x));
      ASSERT_EQ(rounded(sum, device), sum_of(x)) << device.info().selector << ", " << x.size() << " from " << x.front();
      for (const double other : {1.0, 0x1p-600, -0x1p-40}) {
        const std::vector<double> y(x.size(), other);
        products.clear();
        products.add(on(device, x), on(device, y));
        ASSERT_EQ(rounded(products, device), dot_of(x, y)) << device.info().selector << ", " << other << " from " << x.front();
      }
    }
  }
}

// Each addition leaves room for as many again, over 2^20 ranks.
TEST(ResidentSum, DigitsStaySmall) {
  hard::Random random(13);
  std::vector<double> x(5000);
  for (double& value : x) value = std::bit_cast<double>(random.bits(64) & ~(std::uint64_t{1} << 62));
  std::vector<double> all;
  for (const Device& device : able()) {
    nccl::Sum sum(device, DType::float64), products(device, DType::float64, Of::products);
    all.clear();
    for (int i = 0; i < 20; ++i) {
      sum.add(on(device, x));
      products.add(on(device, x), on(device, x));
      all.insert(all.end(), x.begin(), x.end());
    }
    for (const nccl::Sum& one : {sum, products}) {
      std::vector<std::int64_t> words(one.words().bytes() / 8);
      one.words().read(words.data(), 8 * words.size());
      for (std::size_t i = 0; i + 6 < words.size(); ++i) {  // not the last digit, and counts
        EXPECT_LT(std::abs(words[i]), std::int64_t{1} << 34) << device.info().selector << ", " << i;
      }
    }
    EXPECT_EQ(rounded(sum, device), sum_of(all));
    EXPECT_EQ(rounded(products, device), dot_of(all, all));
  }
}

TEST(ResidentSum, AnyNumberOfRanksHasTheSameBits) {
  std::vector<double> x(3000);
  hard::Random random(9);
  for (double& value : x) value = std::ldexp(static_cast<double>(random.bits(53)) - 0x1p52, random.between(-300, 200));
  for (const Device& device : able()) {
    for (const std::size_t ranks : {1, 2, 3, 7}) {
      const std::vector<Communicator> all = Communicator::in_process(ranks);
      std::vector<std::uint64_t> sums(ranks), dots(ranks);
      std::vector<std::thread> threads;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
          const std::uint64_t first = x.size() * rank * rank / (ranks * ranks), last = x.size() * (rank + 1) * (rank + 1) / (ranks * ranks);
          const Array mine = on(device, Array(x).part(first, last - first));
          nccl::Sum sum(device, DType::float64), products(device, DType::float64, Of::products);
          sum.add(mine);
          products.add(mine, mine);
          sum.all_reduce(all[rank]);
          products.all_reduce(all[rank]);
          sums[rank] = rounded(sum, device);
          dots[rank] = rounded(products, device);
        });
      }
      for (std::thread& thread : threads) thread.join();
      EXPECT_EQ(sums, std::vector(ranks, sum_of(x))) << ranks;
      EXPECT_EQ(dots, std::vector(ranks, dot_of(x, x))) << ranks;
    }
  }
}

template <class Call>
std::string message_of(ErrorKind kind, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(ResidentSum, RefusesWhatItCannotAdd) {
  EXPECT_NE(message_of(ErrorKind::device, [] { nccl::Sum(Device::open("cpu"), DType::float32); }).find("lacks kernels"), std::string::npos);
  EXPECT_NE(message_of(ErrorKind::usage, [] { Communicator::wrap(nullptr); }).find("null"), std::string::npos);
  EXPECT_NE(message_of(ErrorKind::usage, [] { Communicator::in_process(0); }).find("no ranks"), std::string::npos);
  const std::vector<float> x{1, 2, 3};
  for (const Device& device : able()) {
    nccl::Sum sum(device, DType::float32), products(device, DType::float32, Of::products);
    EXPECT_NE(message_of(ErrorKind::usage, [&] { nccl::Sum(device, DType::int32); }).find("int32"), std::string::npos);
    EXPECT_NE(message_of(ErrorKind::usage, [&] { sum.add(x); }).find("host memory"), std::string::npos);
    const Array there = on(device, x);
    EXPECT_NE(message_of(ErrorKind::usage, [&] { sum.add(there, there); }).find("one array"), std::string::npos);
    EXPECT_NE(message_of(ErrorKind::usage, [&] { products.add(there); }).find("two arrays"), std::string::npos);
    EXPECT_NE(message_of(ErrorKind::usage, [&] { products.add(there, there.part(0, 2)); }).find("3 and 2"), std::string::npos);
    EXPECT_NE(message_of(ErrorKind::usage, [&] { sum.round(Buffer(device, 8), 4); }).find("a double"), std::string::npos);
    const Buffer small(device, 16);
    EXPECT_NE(message_of(ErrorKind::usage, [&] { Communicator::in_process(1).front().all_reduce(small, 3); }).find("3 integers"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace samesum
