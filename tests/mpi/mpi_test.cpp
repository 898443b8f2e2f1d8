// Reductions over the ranks of a communicator have the bits of the same reduction of the whole array, whatever the number of ranks and
// however the elements are distributed. Run by mpirun with several numbers of ranks.
#include <samesum/mpi.hpp>

#include "selftest/cases.hpp"
#include "support/informative.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace samesum {
namespace {

const MPI_Comm kWorld = MPI_COMM_WORLD;

int rank() { return mpi::detail::rank_of(kWorld); }
int ranks() { return mpi::detail::size_of(kWorld); }

// The elements of this rank: evenly distributed, at random with empty ranks, or all in the last rank. All ranks draw the same numbers.
Array part_of(const Array& whole, int distribution, hard::Random& random) {
  std::vector<std::uint64_t> cuts{0};
  const auto parts = static_cast<std::uint64_t>(ranks());
  for (std::uint64_t i = 1; i < parts; ++i) {
    cuts.push_back(distribution == 0 ? whole.size() * i / parts : distribution == 1 ? random.below(whole.size() + 1) : 0);
  }
  cuts.push_back(whole.size());
  std::sort(cuts.begin(), cuts.end());
  const auto mine = static_cast<std::size_t>(rank());
  return whole.slice(0, cuts[mine], cuts[mine + 1] - cuts[mine]);
}

// Each case with 100 elements, and some with none or one; the distributions in turns. Ranks that share a core wait for each other at every
// call, so that the calls are few.
template <class Check>
void for_all_cases(DType type, const Check& check) {
  hard::Random random(7);
  int distribution = 0;
  for (const hard::Case& one : hard::cases()) {
    for (const std::uint64_t size : {100, 1, 0}) {
      if (size < 100 && distribution > 8) continue;
      const auto data = hard::make(one, type, size);
      const Array whole(data.view().data(), {size}, type);
      SCOPED_TRACE(std::string(one.name) + " of " + std::to_string(size) + ", distribution " + std::to_string(distribution % 3));
      check(whole, part_of(whole, distribution++ % 3, random));
      if (testing::Test::HasFailure()) return;
    }
  }
}

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

class Mpi : public testing::TestWithParam<DType> {};

TEST_P(Mpi, SumsAndDots) {
  for_all_cases(GetParam(), [](const Array& whole, const Array& part) {
    EXPECT_EQ(mpi::accumulate(part, kWorld), accumulate(whole));
    EXPECT_EQ(mpi::dot(part, part, kWorld), dot(whole, whole));
    EXPECT_EQ(bits(mpi::sum(part, kWorld)), bits(accumulate(whole).round()));
  });
}

TEST_P(Mpi, StatisticsWithIndicesOfTheWhole) {
  for_all_cases(GetParam(), [](const Array& whole, const Array& part) {
    const Fields all{.extrema = true, .sum = true, .squares = true, .nonzeros = true};
    EXPECT_EQ(mpi::collect(part, all, kWorld), collect(whole, all));
    if (whole.size() == 0) return;
    EXPECT_EQ(bits(mpi::mean(part, kWorld)), bits(mean(whole)));
    EXPECT_EQ(bits(mpi::variance(part, kWorld)), bits(variance(whole)));
    EXPECT_EQ(bits(mpi::norm(part, kWorld)), bits(norm(whole)));
    EXPECT_EQ(mpi::max(part, kWorld, {.nan = NanPolicy::propagate}).index, max(whole).index);
  });
}

TEST_P(Mpi, HistogramsAndProducts) {
  const Bins bins = Bins::even(-1, 1, 7);
  for_all_cases(GetParam(), [&](const Array& whole, const Array& part) {
    EXPECT_EQ(mpi::histogram(part, bins, kWorld), histogram(whole, bins));
    if (is_integer(whole.type())) return;
    EXPECT_EQ(bits(mpi::product(part, kWorld)), bits(product(whole).as_double()));
  });
}

INSTANTIATE_TEST_SUITE_P(All, Mpi, testing::Values(DType::float32, DType::float64, DType::int32),
                         [](const auto& type) { return std::string(name_of(type.param)); });

// Products near 1, so that each node's rounding counts, at sizes that are no powers of two.
TEST(MpiTest, ProductsAreThoseOfTheFixedTree) {
  hard::Random random(3);
  std::vector<double> x(4099);
  for (double& value : x) value = 1 + (static_cast<double>(random.bits() >> 11) * 0x1p-53 - 0.5) * 0.01;
  std::vector<float> y(x.begin(), x.end());
  for (int distribution = 0; distribution < 3; ++distribution) {
    EXPECT_EQ(bits(mpi::product(part_of(x, distribution, random), kWorld)), bits(product(x).as_double()));
    EXPECT_EQ(bits(mpi::product(part_of(y, distribution, random), kWorld)), bits(product(y).as_double()));
  }
  EXPECT_NE(product(x).as_double(), 1);
  const std::int32_t integers[] = {1, 2};
  EXPECT_THROW(mpi::product(integers, kWorld), Error);
}

// Sums of ordinary numbers, which take few words; of any numbers, which take all; and of integers, zeros and NaNs.
TEST(MpiTest, ManySumsAtOnce) {
  hard::Random random(11);
  const auto merged = [&](const std::vector<Array>& arrays) {
    std::vector<Accumulator> parts, wholes;
    for (const Array& whole : arrays) {
      wholes.push_back(accumulate(whole));
      parts.push_back(accumulate(part_of(whole, 1, random)));
    }
    mpi::all_reduce(parts, kWorld);
    EXPECT_EQ(parts, wholes);
    for (std::size_t i = 0; i < arrays.size(); ++i) EXPECT_EQ(mpi::accumulate(part_of(arrays[i], 1, random), kWorld), wholes[i]) << i;
  };
  std::vector<double> ordinary(1000);
  for (std::size_t i = 0; i < ordinary.size(); ++i) ordinary[i] = (i % 3 == 0 ? -1.0 : 0.7) / static_cast<double>(i + 1);
  std::vector<Array> arrays;
  for (std::size_t i = 0; i < 100; ++i) arrays.push_back(Array(ordinary).part(7 * i, 7));
  merged(arrays);
  const std::vector<double> zeros(9, -0.0), nans(9, std::numeric_limits<double>::quiet_NaN()), tiny(9, 5e-324), great(9, 1e308);
  const std::vector<std::int32_t> integers{-1, 2, -3};
  for (const Array& one : {Array(zeros), Array(nans), Array(integers), Array(tiny), Array(great)}) {
    merged({one});
    arrays.push_back(one);
    merged(arrays);
  }
  merged({});
}

// Results with many sums, which are merged as bytes.
TEST(MpiTest, GroupsAndHistogramsOverSeveralAxes) {
  std::vector<double> x(90), y(90);
  std::vector<std::uint32_t> groups(90);
  hard::Random random(13);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = std::ldexp(static_cast<double>(random.bits(53)) - 0x1p52, static_cast<int>(random.below(300)) - 200);
    y[i] = static_cast<double>(random.below(10));
    groups[i] = static_cast<std::uint32_t>(random.below(5));
  }
  const std::vector<Bins> axes{Bins::between({-1, 0, 1e9}), Bins::even(2, 8, 3)};
  const auto grouped = [&](const Array& values, const Array& indices) {
    GroupSums sums(5, {.squares = true, .extrema = true, .ignore_outside = false, .threads = 1});
    sums.add(values, indices);
    return sums;
  };
  const auto weighted = [&](const Array& a, const Array& b) {
    WeightedHistogram histogram(axes);
    histogram.add({a, b}, a);
    return histogram;
  };
  for (int distribution = 0; distribution < 3; ++distribution) {
    const std::uint64_t seed = random.bits();
    const auto mine = [&](const Array& whole) {
      hard::Random same(seed);
      return part_of(whole, distribution, same);
    };
    EXPECT_EQ(mpi::all_reduce(grouped(mine(x), mine(groups)), kWorld), grouped(x, groups));
    EXPECT_EQ(mpi::all_reduce(histogram_nd({mine(x), mine(y)}, axes), kWorld), histogram_nd({x, y}, axes));
    EXPECT_EQ(mpi::all_reduce(weighted(mine(x), mine(y)), kWorld), weighted(x, y));
  }
  if (ranks() == 1) return;
  EXPECT_THROW(mpi::all_reduce(GroupSums(rank() == 0 ? 1 : 2), kWorld), Error) << "different numbers of groups";
}

// Ranks that compute on different devices: the CPU, and in turns all others that there are.
TEST(MpiTest, RanksOnDifferentDevices) {
  if (ranks() > 8) GTEST_SKIP() << "each rank would load an OpenCL driver";
  hard::Random random(17);
  std::vector<double> x(3000), y(3000);
  for (std::vector<double>* values : {&x, &y}) {
    for (double& value : *values)
      value = std::ldexp(static_cast<double>(random.bits(53)) - 0x1p52, static_cast<int>(random.below(300)) - 200);
  }
  const std::vector<Device> devices = open_devices("all", 0);
  Options options;
  options.device = devices[static_cast<std::size_t>(rank()) % devices.size()];
  const std::uint64_t seed = random.bits();
  const auto mine = [&](const Array& whole) {
    hard::Random same(seed);
    return part_of(whole, 0, same);
  };
  EXPECT_EQ(mpi::accumulate(mine(x), kWorld, options), accumulate(x));
  EXPECT_EQ(mpi::dot(mine(x), mine(y), kWorld, options), dot(x, y));
  EXPECT_EQ(mpi::collect(mine(x), {}, kWorld, options), collect(x));
  const Bins bins = Bins::even(-1, 1, 7);
  EXPECT_EQ(mpi::histogram(mine(x), bins, kWorld, options), histogram(x, bins));
}

TEST(MpiTest, WithoutWaiting) {
  std::vector<double> x(100);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 1e100 : static_cast<double>(i);
  hard::Random random(5);
  const Array part = part_of(x, 0, random);
  auto sum = mpi::start_all_reduce(accumulate(part), kWorld);
  auto histogram_of_all = mpi::start_all_reduce(histogram(part, Bins::even(0, 100, 7)), kWorld);
  auto moments = mpi::start_all_reduce(collect(part, {.extrema = false, .sum = true, .squares = true}), kWorld);
  auto extremes = mpi::start_all_reduce(collect(part), kWorld);
  EXPECT_EQ(extremes.wait(), collect(x));
  EXPECT_TRUE(test::informative(accumulate(x)) && test::informative_counts(histogram(x, Bins::even(0, 100, 7)).counts()));
  EXPECT_EQ(moments.wait(), collect(x, {.extrema = false, .sum = true, .squares = true}));
  EXPECT_EQ(sum.wait(), accumulate(x));
  EXPECT_TRUE(sum.is_ready());
  EXPECT_EQ(histogram_of_all.wait(), histogram(x, Bins::even(0, 100, 7)));
  static_cast<void>(mpi::start_all_reduce(accumulate(part), kWorld));  // the destructor waits
}

// A slow rank: the others go on meanwhile, and nothing is ready before it has started.
TEST(MpiTest, ASlowRankIsWaitedFor) {
  const double x[] = {1.5, 1e100, -1e100};
  const auto starts = [&] { return mpi::start_all_reduce(accumulate(std::span(x).first(rank() == 0 ? 1 : 3)), kWorld); };
  int word = 0;
  if (rank() == 0) {
    for (int other = 1; other < ranks(); ++other) MPI_Recv(&word, 1, MPI_INT, other, 0, kWorld, MPI_STATUS_IGNORE);
  }
  auto sum = starts();
  if (rank() != 0) {
    EXPECT_FALSE(sum.is_ready());
    MPI_Send(&word, 1, MPI_INT, 0, 0, kWorld);
  }
  EXPECT_EQ(sum.wait().round(), 1.5 * ranks());
}

// A rank that cannot compute its part throws its own error; the others say which it was, and nobody waits forever.
TEST(MpiTest, ARankThatFailsIsNamedByTheOthers) {
  const double x[] = {1, 2};
  const int bad = ranks() - 1;
  Options options;
  if (rank() == bad) options.tuning.variant = "no such variant";
  const auto message = [](const std::function<void()>& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string other = "rank " + std::to_string(bad) + " of " + std::to_string(ranks());
  EXPECT_NE(message([&] { mpi::sum(x, kWorld, options); }).find(rank() == bad ? "no such variant" : other), std::string::npos);
  const float y[] = {1, 2};
  const Array b = rank() == bad ? Array(y) : Array(x);  // of another type
  EXPECT_NE(message([&] { mpi::dot(x, b, kWorld); }).find(rank() == bad ? "type" : other), std::string::npos);
  EXPECT_EQ(mpi::sum(x, kWorld), 3.0 * ranks()) << "the next call is not affected";
}

}  // namespace
}  // namespace samesum

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (samesum::rank() != 0) {
    // Only rank 0 writes the file of results. GoogleTest has read GTEST_OUTPUT before main(), so the environment is too late.
    testing::GTEST_FLAG(output) = "";
    std::freopen("/dev/null", "w", stdout);
  }
  testing::InitGoogleTest(&argc, argv);
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
