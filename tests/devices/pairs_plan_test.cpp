// Plans of all pairs: C in device memory has the bits of pairs(), for arrays that lie anywhere and of any number of vectors; after a plan
// is made nothing is compiled, allocated or waited for.
#include <samesum/buffer.hpp>
#include <samesum/error.hpp>
#include <samesum/pairs.hpp>
#include <samesum/plan.hpp>

#include "support/devices.hpp"
#include "support/listing_device.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace samesum {
namespace {

// Small integers, so that sums of their products and distances round nothing and have the same bits in any order; `special` also NaN,
// infinities, zeros of both signs and denormals.
template <class Real>
std::vector<Real> numbers(std::size_t count, bool special, unsigned seed) {
  const Real rare[] = {std::numeric_limits<Real>::quiet_NaN(),
                       std::numeric_limits<Real>::infinity(),
                       -std::numeric_limits<Real>::infinity(),
                       Real(-0.0),
                       Real(0.0),
                       std::numeric_limits<Real>::denorm_min()};
  std::mt19937 random(seed);
  std::vector<Real> values(count);
  for (Real& value : values) value = static_cast<Real>(static_cast<int>(random() % 13) - 6);
  if (special) {
    for (std::size_t i = seed % 7; i < count; i += 97) values[i] = rare[i / 97 % std::size(rare)];
  }
  return values;
}

struct Case {
  std::string name;
  PairsProblem problem;
  bool special = false;
  bool weighted = false;
};

std::vector<Case> cases() {
  return {{"products", {}, false, false},
          {"distances in space, weighted", {.f = PairFunction::sqdist, .components = 3}, false, true},
          {"nearest", {.f = PairFunction::sqdist, .reduction = PairReduction::argmin, .components = 3}, true, false},
          {"greatest", {.f = PairFunction::difference, .reduction = PairReduction::max}, true, false},
          {"exact", {.f = PairFunction::product, .accuracy = PairAccuracy::exact, .components = 2}, true, true},
          {"a formula",
           {.accuracy = PairAccuracy::exact,
            .components = 2,
            .formula = Formula("w*dot(a, b) < limit ? abs(a[0] - b[1]) : 0"),
            .parameters = {{"limit", 3.5}}},
           false,
           true}};
}

template <class Real>
void check(const Device& device, const Case& given, std::uint64_t planned) {
  constexpr DType kType = dtype_of<Real>();
  const std::uint64_t components = given.problem.components;
  PairsProblem problem = given.problem;
  const std::uint64_t some_y = 700;
  const auto weights = numbers<Real>(some_y, given.special, 3);
  if (given.weighted) problem.weights = weights;
  Plan plan(device, problem, kType, planned * components);
  for (const std::uint64_t x_count : {1, 40, 1031}) {
    for (const std::uint64_t y_count : {std::uint64_t{1}, std::uint64_t{33}, some_y}) {
      if (given.weighted && y_count != some_y) continue;
      for (const std::uint64_t offset : {0, 1, 3}) {
        const auto a = numbers<Real>(x_count * components, given.special, 1), b = numbers<Real>(y_count * components, given.special, 2);
        const PairsResult expected = pairs(a, b, problem, {.device = Device::open("cpu")});
        const Array c = array_of(expected);
        // A, B and C lie in one buffer, one after the other, at multiples of an element, or of 8 bytes.
        const std::uint64_t at_a = offset * sizeof(Real), at_b = at_a + Array(a).bytes() + offset * sizeof(Real);
        const std::uint64_t at_c = (at_b + Array(b).bytes() + 15) / 8 * 8;
        const Buffer buffer(device, at_c + c.bytes() + 8);
        const std::vector<std::byte> before(buffer.bytes(), std::byte{0xa5});
        buffer.write(before.data(), before.size());
        buffer.write(a.data(), Array(a).bytes(), at_a);
        buffer.write(b.data(), Array(b).bytes(), at_b);
        const Array there_a(buffer, a.size(), kType, at_a), there_b(buffer, b.size(), kType, at_b);
        plan.enqueue(there_a, there_b, buffer, at_c);
        std::vector<std::byte> found(c.bytes() + 8);
        buffer.read(found.data(), found.size(), at_c);
        const std::string what = device.info().selector + ", " + given.name + " of " + std::string(name_of(kType)) + ", " +
                                 std::to_string(x_count) + " x " + std::to_string(y_count) + ", offset " + std::to_string(offset);
        ASSERT_EQ(std::memcmp(found.data(), c.data(), c.bytes()), 0) << what;
        for (std::size_t i = c.bytes(); i < found.size(); ++i) ASSERT_EQ(found[i], std::byte{0xa5}) << "behind C, " << what;
        if (x_count > planned || offset != 1) continue;
        plan.enqueue(there_a, there_b);
        const PairsResult result = plan.result<PairsResult>();
        ASSERT_EQ(result.index(), expected.index()) << what;
        ASSERT_EQ(array_of(result).size(), c.size()) << what;
        ASSERT_EQ(std::memcmp(array_of(result).data(), c.data(), c.bytes()), 0) << what;
      }
    }
  }
}

TEST(PairsPlan, HasTheBitsOfTheCallForArraysAnywhere) {
  for (const Device& device : test::devices()) {
    const bool both = !device.info().is_cpu || !device.info().has(Capability::kernels);  // kernels take seconds where compilers are slow
    std::size_t turn = 0;
    for (const Case& given : cases()) {
      if (both || turn % 2 == 0) check<float>(device, given, 1031);
      if (both || turn % 2 == 1) check<double>(device, given, 40);
      ++turn;
    }
  }
}

TEST(PairsPlan, TakesMoreVectorsThanItWasMadeFor) {
  const auto a = numbers<float>(70001, false, 4), b = numbers<float>(5, false, 5);
  for (const Device& device : test::devices()) {
    const Buffer buffer(device, 4 * (a.size() + b.size())), c(device, 4 * a.size());
    buffer.write(a.data(), 4 * a.size());
    buffer.write(b.data(), 4 * b.size(), 4 * a.size());
    Plan plan(device, PairsProblem(), DType::float32, 4);
    plan.enqueue({buffer, a.size(), DType::float32}, {buffer, b.size(), DType::float32, 4 * a.size()}, c);
    std::vector<float> found(a.size());
    c.read(found.data(), 4 * found.size());
    EXPECT_EQ(found, std::get<std::vector<float>>(pairs(a, b, {}, {.device = Device::open("cpu")}))) << device.info().selector;
    plan.enqueue({buffer, 0, DType::float32}, {buffer, 5, DType::float32});
    EXPECT_EQ(array_of(plan.result<PairsResult>()).size(), 0u);
  }
}

TEST(PairsPlan, CompilesAllocatesAndWaitsForNothingOnceMade) {
  const std::vector<float> weights(500, 1);
  for (Case given : cases()) {
    const auto counted = std::make_shared<test::ListingDevice>();
    const Device device(counted);
    const std::uint64_t components = given.problem.components;
    if (given.weighted) given.problem.weights = weights;
    const Buffer buffer(device, 1 << 20);
    Plan plan(device, given.problem, DType::float32, 500 * components);
    const test::Made made = counted->made;
    const int launches = counted->launches, waits = counted->waits;
    for (const std::uint64_t x_count : {0, 1, 499, 500, 20000}) {
      for (const std::uint64_t y_count : {1, 500, 9000}) {
        if (given.weighted && y_count != 500) continue;
        const Array a(buffer, x_count * components, DType::float32, 4), b(buffer, y_count * components, DType::float32, 12);
        plan.enqueue(a, b, buffer, 1 << 19);
        if (x_count <= 500) plan.enqueue(a, b);
      }
    }
    EXPECT_GT(counted->launches, launches) << given.name;
    EXPECT_EQ(counted->made, made) << given.name;
    EXPECT_EQ(counted->waits, waits) << given.name;
  }
}

void expect_usage(const std::function<void()>& action, const std::string& words) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(PairsPlan, RefusesWhatItCannotDo) {
  const std::vector<float> weights(10, 1);
  for (const Device& device : test::devices()) {
    const Buffer buffer(device, 400), c(device, 100);
    Plan plan(device, PairsProblem{.components = 2, .weights = Array(weights)}, DType::float32, 20);
    const Array a(buffer, 20, DType::float32);
    expect_usage([&] { static_cast<void>(plan.result()); }, "enqueue");
    expect_usage([&] { plan.enqueue(a); }, "two arrays");
    expect_usage([&] { plan.enqueue({buffer, 19, DType::float32}, a); }, "A has 19 elements");
    expect_usage([&] { plan.enqueue(a, {buffer, 18, DType::float32}); }, "further inputs for 10");
    expect_usage([&] { plan.enqueue(a, {buffer, 0, DType::float32}); }, "B is empty");
    expect_usage([&] { plan.enqueue(a, {buffer, 20, DType::float32, 0, 8}); }, "contiguous");
    expect_usage([&] { plan.enqueue({buffer, 20, DType::float64}, a); }, "float64");
    expect_usage([&] { plan.enqueue(a, weights); }, "host memory");
    expect_usage([&] { plan.enqueue(a, a, c, 64); }, "C");
    expect_usage([&] { plan.enqueue(a, a, c, 4); }, "8");
    if (device.info().has(Capability::kernels)) expect_usage([&] { plan.enqueue({buffer, 40, DType::float32}, a); }, "place for C");
    expect_usage([&] { Plan(device, PairsProblem{.components = 0}, DType::float32, 20); }, "components");
    expect_usage([&] { Plan(device, PairsProblem(), DType::int32, 20); }, "no way to say");
    EXPECT_NO_THROW(plan.enqueue(a, a, c, 56));
    // Waits: PoCL aborts a process that ends while it compiles a kernel that was enqueued.
    std::uint64_t first = 0;
    c.read(&first, sizeof first, 56);
  }
}

}  // namespace
}  // namespace samesum
