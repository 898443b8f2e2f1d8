// All pairs, on every device: compared with MPFR, and bit for bit where bits are guaranteed.
#include "support/devices.hpp"
#include "support/oracle.hpp"
#include "support/pairs_oracle.hpp"
#include "support/simd_levels.hpp"

#include <samesum/bench_pairs.hpp>
#include <samesum/error.hpp>
#include <samesum/pairs.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

namespace samesum {
namespace {

constexpr PairFunction kFunctions[] = {PairFunction::product, PairFunction::difference, PairFunction::absdiff,
                                       PairFunction::sqdist,  PairFunction::gaussian,   PairFunction::invdist};
constexpr std::uint64_t kComponents[] = {1, 2, 3, 4, 7, 16, 64};

template <class Real>
using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;

std::vector<Device> devices(bool kernels_only = false) {
  std::vector<Device> found;
  for (const Device& device : test::devices()) {
    if (!kernels_only || device.info().has(Capability::kernels)) found.push_back(device);
  }
  return found;
}

template <class Real>
struct Data {
  std::vector<Real> a, b, weights;
  PairsProblem options;
  Options how;

  Data(std::uint64_t x_count, std::uint64_t y_count, std::uint64_t components, bool weighted, unsigned seed = 1) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    for (std::uint64_t i = 0; i < x_count * components; ++i) a.push_back(static_cast<Real>(normal(random)));
    for (std::uint64_t i = 0; i < y_count * components; ++i) b.push_back(static_cast<Real>(normal(random)));
    for (std::uint64_t i = 0; weighted && i < y_count; ++i) weights.push_back(static_cast<Real>(normal(random)));
    options.components = components;
    options.h = 2.5 * static_cast<double>(components);
    options.softening = 0.1;
    if (weighted) options.weights = std::span<const Real>(weights);
  }
  std::uint64_t y_count() const { return b.size() / options.components; }
  PairsResult run(const Device& device) const { return pairs(a, b, options, test::on(device, how)); }
  PairsResult run(const Device& device, PairReduction reduction, PairAccuracy accuracy = PairAccuracy::fast) {
    options.reduction = reduction;
    options.accuracy = accuracy;
    return run(device);
  }
  // fl(w f) of all pairs, one y at a time, without a reduction.
  std::vector<std::vector<Real>> values(const Device& device) const {
    std::vector<std::vector<Real>> all;
    PairsProblem alone = options;
    alone.reduction = PairReduction::sum;
    alone.accuracy = PairAccuracy::exact;
    for (std::uint64_t y = 0; y < y_count(); ++y) {
      if (!weights.empty()) alone.weights = std::span<const Real>(weights).subspan(y, 1);
      const auto of_y = std::span<const Real>(b).subspan(y * options.components, options.components);
      all.push_back(std::get<std::vector<Real>>(pairs(std::span<const Real>(a), of_y, alone, {.device = device})));
    }
    return all;
  }
};

template <class Real>
std::vector<Bits<Real>> bits_of(const std::vector<Real>& values) {
  std::vector<Bits<Real>> bits;
  for (const Real value : values) bits.push_back(std::bit_cast<Bits<Real>>(value));
  return bits;
}
template <class Real>
std::vector<Bits<Real>> bits_of(const PairsResult& result) {
  return bits_of(std::get<std::vector<Real>>(result));
}

std::string label(const PairsProblem& o, const Device& device, std::size_t bytes) {
  return fmt::format("{}: {} of {}, {}, D={}, {} bytes, {}weights", device.info().selector, name_of(o.reduction), name_of(o.f),
                     name_of(o.accuracy), o.components, bytes, o.weights ? "" : "no ");
}

// The error that PairAccuracy allows.
template <class Real>
double bound_of(const PairsProblem& o, const test::TruePairs& right, double k) {
  const double u = sizeof(Real) == 4 ? 0x1p-24 : 0x1p-53;
  const auto d = static_cast<double>(o.components);
  const bool additive = o.f == PairFunction::product || o.f == PairFunction::difference;
  double bound = k * static_cast<double>(std::numeric_limits<Real>::min());
  if (o.accuracy == PairAccuracy::fast) {
    bound += std::min(k * d, 4096 + k * (d + 4) / 1024 + 8 * d) * u * right.magnitude;
  } else {
    bound += 2 * u * std::abs(right.value) + 4 * k * k * d * d * u * u * right.magnitude;
  }
  if (o.f == PairFunction::gaussian) {
    bound += 8 * u * right.magnitude + (d + 5) * u * right.argument;
  } else if (!additive || o.accuracy == PairAccuracy::fast) {
    bound += (d + 3) * u * right.magnitude;
  }
  return bound;
}

template <class Real>
void check_sums(Data<Real>& data, const Device& device, PairAccuracy accuracy) {
  const auto c = std::get<std::vector<Real>>(data.run(device, PairReduction::sum, accuracy));
  SCOPED_TRACE(label(data.options, device, sizeof(Real)));
  const Real* const weights = data.weights.empty() ? nullptr : data.weights.data();
  for (std::size_t x = 0; x < c.size(); x += 1 + c.size() / 5) {
    const test::TruePairs right =
        test::true_pairs(data.options.f, data.options.h, data.options.softening, data.a.data() + x * data.options.components, data.b.data(),
                         weights, data.y_count(), data.options.components);
    EXPECT_NEAR(c[x], right.value, bound_of<Real>(data.options, right, static_cast<double>(data.y_count()))) << "x = " << x;
  }
}

// All reductions whose bits are guaranteed, computed from the single values.
template <class Real>
void check_bits(Data<Real>& data, const Device& device, const std::vector<std::vector<Real>>& values,
                std::initializer_list<PairReduction> reductions) {
  const std::size_t x_count = values.front().size();
  for (const PairReduction reduction : reductions) {
    const PairsResult result = data.run(device, reduction, PairAccuracy::exact);
    SCOPED_TRACE(label(data.options, device, sizeof(Real)));
    for (std::size_t x = 0; x < x_count; ++x) {
      std::vector<Real> of_x;
      for (const auto& y : values) of_x.push_back(y[x]);
      const auto less = [](Real p, Real q) { return p < q || (p == q && std::signbit(p) && !std::signbit(q)); };
      const auto nan = std::find_if(of_x.begin(), of_x.end(), [](Real value) { return std::isnan(value); });
      const auto first = nan != of_x.end() ? nan : std::min_element(of_x.begin(), of_x.end(), less);
      if (reduction == PairReduction::argmin) {
        ASSERT_EQ(std::get<std::vector<std::int64_t>>(result)[x], first - of_x.begin()) << "x = " << x;
        continue;
      }
      const Real found = std::get<std::vector<Real>>(result)[x];
      Bits<Real> right = std::bit_cast<Bits<Real>>(nan != of_x.end() ? std::numeric_limits<Real>::quiet_NaN() : *first);
      if (reduction == PairReduction::max && nan == of_x.end()) {
        right = std::bit_cast<Bits<Real>>(*std::max_element(of_x.begin(), of_x.end(), less));
      } else if (reduction == PairReduction::sum) {
        const test::Expected expected = test::mpfr_oracle(std::span<const Real>(of_x), NanPolicy::propagate);
        right = sizeof(Real) == 4 ? static_cast<Bits<Real>>(expected.float32) : static_cast<Bits<Real>>(expected.float64);
      }
      ASSERT_EQ(std::bit_cast<Bits<Real>>(found), right) << "x = " << x << ": " << found;
    }
  }
}

template <class Real>
void check_values(const Data<Real>& data, const std::vector<std::vector<Real>>& values) {
  const std::uint64_t components = data.options.components;
  for (std::size_t y = 0; y < values.size(); ++y) {
    for (std::size_t x = 0; x < values[y].size(); ++x) {
      Real right = test::stepwise_value(data.options.f, data.options.h, data.options.softening, data.a.data() + x * components,
                                        data.b.data() + y * components, components);
      if (data.options.f == PairFunction::gaussian) {
        if (data.weights.empty()) {
          ASSERT_LE(test::error_of_exp(right, values[y][x], sizeof(Real) == 4), 2);
        }
        continue;
      }
      if (!data.weights.empty()) right *= data.weights[y];
      ASSERT_EQ(std::bit_cast<Bits<Real>>(values[y][x]), std::bit_cast<Bits<Real>>(right)) << x << " " << y;
    }
  }
}

constexpr auto kAll = {PairReduction::sum, PairReduction::min, PairReduction::max, PairReduction::argmin};

template <class Real>
void check_all_on_cpu(std::uint64_t components, bool weighted) {
  const Device cpu = Device::open("cpu");
  for (const PairFunction f : kFunctions) {
    Data<Real> data(37, 211, components, weighted);
    data.options.f = f;
    check_sums(data, cpu, PairAccuracy::fast);
    check_sums(data, cpu, PairAccuracy::compensated);
    const auto values = data.values(cpu);
    SCOPED_TRACE(label(data.options, cpu, sizeof(Real)));
    check_values(data, values);
    check_bits(data, cpu, values, kAll);
  }
}

TEST(Pairs, OnTheCpuWithEveryInstructionSet) {
  const simd::Level best = simd::level();
  for (const simd::Level level : test::simd_levels()) {
    simd::restrict_to(level);
    for (const std::uint64_t components : kComponents) {
      check_all_on_cpu<float>(components, components % 2 == 0);
      if (components != 16) check_all_on_cpu<double>(components, components % 2 == 1);
    }
    simd::restrict_to(best);
  }
}

// The kinds of kernels: sums of two accuracies, those whose bits are guaranteed, and sums in a GPU's shape on any device.
constexpr int kKinds = 7;

template <class Real>
void check_kind(const Device& device, int kind, PairFunction f, std::uint64_t components, bool weighted) {
  Data<Real> data(45, 517, components, weighted, static_cast<unsigned>(kind));
  data.options.f = f;
  if (kind == 6) data.how.tuning.group_size = 16;
  if (kind == 0 || kind == 6) return check_sums(data, device, PairAccuracy::fast);
  if (kind == 1) return check_sums(data, device, PairAccuracy::compensated);
  constexpr PairReduction kExact[] = {PairReduction::sum, PairReduction::min, PairReduction::max, PairReduction::argmin};
  check_bits(data, device, data.values(Device::open("cpu")), {kExact[kind - 2]});
}

// Every function with every number of components. Each case compiles a kernel, so kinds, types and weights are chosen cyclically, so that
// each meets each function, and each number of components; with SAMESUM_TEST_ALL set, all combinations run.
class PairsOnKernels : public testing::TestWithParam<std::tuple<PairFunction, std::size_t>> {};

TEST_P(PairsOnKernels, AreRight) {
  const auto [f, component] = GetParam();
  const int turn = 3 * static_cast<int>(f) + static_cast<int>(component);
  const bool all = std::getenv("SAMESUM_TEST_ALL") != nullptr;
  for (const Device& device : devices(true)) {
    for (int kind = 0; kind < kKinds; ++kind) {
      for (const bool single : {false, true}) {
        for (const bool weighted : {false, true}) {
          const int variant = (static_cast<int>(f) + kind) % 4;
          if (!all && (kind != turn % kKinds || single != (variant % 2 == 0) || weighted != (variant / 2 == 0))) continue;
          single ? check_kind<float>(device, kind, f, kComponents[component], weighted)
                 : check_kind<double>(device, kind, f, kComponents[component], weighted);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, PairsOnKernels,
                         testing::Combine(testing::ValuesIn(kFunctions), testing::Range<std::size_t>(0, std::size(kComponents))),
                         [](const auto& each) {
                           return fmt::format("{}_{}", name_of(std::get<0>(each.param)), kComponents[std::get<1>(each.param)]);
                         });

TEST(Pairs, AnyLengthsAndManyParts) {
  for (const Device& device : devices()) {
    for (const auto& [x_count, y_count] : {std::pair(1u, 1u), {1u, 70001u}, {3u, 4099u}, {257u, 33u}, {1031u, 5u}, {65u, 8191u}}) {
      Data<float> data(x_count, y_count, 1, false, x_count);
      check_sums(data, device, PairAccuracy::fast);
      check_sums(data, device, PairAccuracy::compensated);
      data.options.f = PairFunction::sqdist;
      const auto nearest = std::get<std::vector<std::int64_t>>(data.run(device, PairReduction::argmin));
      for (std::size_t x = 0; x < x_count; ++x) {
        std::size_t right = 0;
        const auto distance = [&](std::size_t y) { return test::stepwise_value(data.options.f, 1, 0, &data.a[x], &data.b[y], 1); };
        for (std::size_t y = 1; y < y_count; ++y) right = distance(y) < distance(right) ? y : right;
        ASSERT_EQ(nearest[x], static_cast<std::int64_t>(right)) << device.info().selector << " " << x_count << " x " << y_count;
      }
    }
  }
}

TEST(Pairs, TiesNansInfinitiesAndSignedZeros) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  for (const Device& device : devices()) {
    for (const PairFunction f : {PairFunction::product, PairFunction::absdiff}) {
      Data<float> data(0, 0, 1, false);
      data.options.f = f;
      data.a = {0.0f, -0.0f, 1.0f, 5.0f, kInfinity, kNan};
      for (const std::vector<float>& b :
           {std::vector<float>(100, 2.0f), {3, -0.0f, 0.0f, -0.0f, 3}, {kInfinity, -kInfinity, 1}, {1, kNan, kNan}}) {
        data.b = b;
        const auto values = data.values(Device::open("cpu"));
        if (device.info().has(Capability::kernels) && f == PairFunction::absdiff) {  // one kernel each: chosen cyclically
          check_bits(data, device, values, {PairReduction::max});
        } else {
          check_bits(data, device, values, kAll);
        }
      }
      // A tie goes to the lowest index, wherever its part begins.
      data.a = {2.0f};
      data.b.assign(20000, 1.0f);
      data.b[777] = data.b[778] = data.b[15000] = f == PairFunction::product ? -1.0f : 1.5f;
      EXPECT_EQ(std::get<std::vector<std::int64_t>>(data.run(device, PairReduction::argmin))[0], 777) << device.info().selector;
    }
  }
}

TEST(Pairs, GaussianFarOut) {
  for (const Device& device : devices()) {
    Data<float> data(1, 0, 1, false);
    data.options.f = PairFunction::gaussian;
    data.options.h = 1;
    data.a = {0.0f};
    for (int i = 0; i < 400; ++i) data.b.push_back(0.03f * static_cast<float>(i));  // down to denormals and to zero
    const auto values = data.values(device);
    check_values(data, values);
    EXPECT_EQ(values[0][0], 1.0f);
    EXPECT_EQ(values[399][0], 0.0f);
    check_sums(data, device, PairAccuracy::fast);
    data.b = {3e19f};  // its square is infinite
    EXPECT_EQ(data.values(device)[0][0], 0.0f);
  }
}

TEST(Pairs, TheSameBitsForAnyThreadsAndAgain) {
  const Device cpu = Device::open("cpu");
  Data<float> data(301, 3001, 2, true);
  const auto bits = bits_of<float>(data.run(cpu, PairReduction::sum));
  for (const std::uint32_t threads : {1u, 2u, 3u}) {
    data.how.tuning.threads = threads;
    EXPECT_EQ(bits_of<float>(data.run(cpu)), bits);
  }
  for (const Device& device : devices(true)) {
    EXPECT_EQ(bits_of<float>(data.run(device)), bits_of<float>(data.run(device))) << device.info().selector;
  }
}

TEST(Pairs, EmptyAndUnaligned) {
  for (const Device& device : devices()) {
    const std::vector<float> some = {1, 2, 3};
    const Array none(nullptr, 0, DType::float32);
    EXPECT_TRUE(std::get<std::vector<float>>(pairs(none, std::span(some), {}, {.device = device})).empty());
    EXPECT_EQ(bits_of<float>(pairs(std::span(some), none, {}, {.device = device})), (std::vector<std::uint32_t>{0, 0, 0}));
    EXPECT_THROW(pairs(std::span(some), none, {.reduction = PairReduction::min}, {.device = device}), Error);
  }
  std::vector<char> bytes(4 * 3 + 1);
  const float values[] = {1, 2, 3};
  std::memcpy(bytes.data() + 1, values, sizeof values);
  const Array odd(bytes.data() + 1, 3, DType::float32);
  EXPECT_EQ(std::get<std::vector<float>>(pairs(odd, odd, {}, {.device = Device::open("cpu")})), (std::vector<float>{6, 12, 18}));
  const float matrix[] = {1, 9, 2, 9, 3, 9};
  const Array column(matrix, 3, DType::float32, 2 * sizeof(float)),
      backwards(matrix + 4, 3, DType::float32, -2 * static_cast<int>(sizeof(float)));
  EXPECT_EQ(std::get<std::vector<float>>(pairs(backwards, column, {.weights = column}, {.device = Device::open("cpu")})),
            (std::vector<float>{42, 28, 14}));
}

TEST(Pairs, RefusesWhatMakesNoSense) {
  const Device cpu = Device::open("cpu");
  const std::vector<float> a(6, 1.0f);
  const std::vector<double> d(6, 1.0);
  const Array view = std::span(a);
  const auto refused = [&](Array b, const PairsProblem& options) {
    try {
      pairs(view, b, options, {.device = cpu});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refused(std::span(d), {}).find("float64"), std::string::npos);
  EXPECT_NE(refused(view, {.components = 4}).find("6 elements"), std::string::npos);
  EXPECT_NE(refused(view, {.components = 0}), "");
  EXPECT_NE(refused(view, {.components = 2000}), "");
  EXPECT_NE(refused(view, {.weights = view.part(0, 5)}).find("one weight for each y"), std::string::npos);
  for (const double h : {0.0, -1.0, std::nan(""), 1e-60, 1e300, std::numeric_limits<double>::infinity()}) {
    EXPECT_NE(refused(view, {.f = PairFunction::gaussian, .h = h}), "") << h;
  }
  for (const double s : {-1.0, std::nan(""), 1e30}) EXPECT_NE(refused(view, {.f = PairFunction::invdist, .softening = s}), "") << s;
  EXPECT_THROW(parse_pair_function("cosine"), Error);
  for (const Device& device : devices(true)) {
    EXPECT_THROW(pairs(view, view, {}, {.device = device, .tuning = {.group_size = device.info().max_group_size + 1}}), Error);
  }
}

TEST(Pairs, TellsOfItsProgressAndCanBeEnded) {
  for (const Device& device : devices()) {
    Data<float> data(3000, 2000, 64, false);
    std::vector<double> told;
    data.how.progress = [&](const Progress& progress) { told.push_back(progress.fraction()); };
    const auto bits = bits_of<float>(data.run(device));
    ASSERT_GE(told.size(), 2u) << device.info().selector;
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_EQ(told.back(), 1.0);
    check_sums(data, device, PairAccuracy::fast);
    data.how.progress = [](const Progress&) { throw std::runtime_error("enough"); };
    EXPECT_THROW(data.run(device), std::runtime_error);
  }
}

TEST(PairsLadder, ChecksEveryRung) {
  for (const Device& device : devices()) {
    bench::PairsLadderOptions options;
    options.x_count = 515;
    options.y_count = 1027;
    options.effort = {1, 1, 0, {}};
    const bool kernels = device.info().has(Capability::kernels);
    options.kernel_name = "mine.cl";
    options.kernel_source =
        "KERNEL void pairs(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL REAL* c, ulong x_count, ulong y_count) {\n"
        "  REAL sum = 0;\n  for (ulong y = 0; y < y_count; ++y) sum += a[global_id()] * b[y];\n  c[global_id()] = sum;\n}\n";
    if (!kernels) {
      EXPECT_THROW(bench::pairs_ladder(device, options), Error);
      options.kernel_name.clear();
      options.kernel_source.clear();
    }
    const bench::PairsLadder ladder = bench::pairs_ladder(device, options);
    for (const bench::PairsRow& row : ladder.rungs) {
      EXPECT_EQ(row.verdict, bench::Verdict::right) << row.name << " " << row.where << ": " << row.reason;
      EXPECT_GT(row.pairs_per_second, 0) << row.name;
    }
    EXPECT_EQ(ladder.rungs.size(), kernels ? 1 + 3 + 9 + 1 + 3 : 4);
    if (!kernels) continue;

    options.kernel_source.replace(options.kernel_source.find("b[y]"), 4, "b[0]");
    options.rungs = {"mine.cl", "local_all"};
    options.y_count = 1 << 16;
    const bench::PairsLadder wrong = bench::pairs_ladder(device, options);
    EXPECT_EQ(wrong.rungs[0].verdict, bench::Verdict::skipped);
    EXPECT_NE(wrong.rungs[0].reason.find("local memory"), std::string::npos);
    EXPECT_EQ(wrong.rungs[1].verdict, bench::Verdict::wrong);
    options.kernel_source = "no kernel";
    options.rungs = {"naive"};
    try {
      bench::pairs_ladder(device, options);
      ADD_FAILURE() << "nothing was compiled";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(std::string(error.what()).find("mine.cl: cannot build"), 0u) << error.what();
      EXPECT_FALSE(error.context().build_log.empty());
    }
  }
}

}  // namespace
}  // namespace samesum
