// Reductions over the ranks of a communicator have the bits of the same reduction of the whole array, whatever the number of ranks and
// however the elements are distributed. Run by mpirun with several numbers of ranks.
#include <samesum/mpi.hpp>

#include "selftest/cases.hpp"

#include <gtest/gtest.h>

#include <bit>
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

template <class Check>
void for_all_cases(DType type, const Check& check) {
  hard::Random random(7);
  for (const hard::Case& one : hard::cases()) {
    for (const std::uint64_t size : {0, 1, 1000}) {
      const auto data = hard::make(one, type, size);
      const Array whole(data.view().data(), {size}, type);
      for (int distribution = 0; distribution < 3; ++distribution) {
        SCOPED_TRACE(std::string(one.name) + " of " + std::to_string(size) + ", distribution " + std::to_string(distribution));
        check(whole, part_of(whole, distribution, random));
        if (testing::Test::HasFailure()) return;
      }
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

TEST(MpiTest, ManySumsAtOnce) {
  hard::Random random(11);
  std::vector<Accumulator> parts(257), wholes(257);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto data = hard::make(hard::cases()[i % hard::cases().size()], DType::float64, 100);
    const Array whole(data.view().data(), {100}, DType::float64);
    wholes[i] = accumulate(whole);
    parts[i] = accumulate(part_of(whole, 1, random));
  }
  mpi::all_reduce(parts, kWorld);
  EXPECT_EQ(parts, wholes);
  std::vector<Accumulator> none;
  mpi::all_reduce(none, kWorld);
}

TEST(MpiTest, WithoutWaiting) {
  std::vector<double> x(100);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 1e100 : static_cast<double>(i);
  hard::Random random(5);
  const Array part = part_of(x, 0, random);
  auto sum = mpi::start_all_reduce(accumulate(part), kWorld);
  auto histogram_of_all = mpi::start_all_reduce(histogram(part, Bins::even(0, 100, 10)), kWorld);
  auto moments = mpi::start_all_reduce(collect(part, {.extrema = false, .sum = true, .squares = true}), kWorld);
  EXPECT_EQ(moments.wait(), collect(x, {.extrema = false, .sum = true, .squares = true}));
  EXPECT_EQ(sum.wait(), accumulate(x));
  EXPECT_TRUE(sum.is_ready());
  EXPECT_EQ(histogram_of_all.wait(), histogram(x, Bins::even(0, 100, 10)));
  static_cast<void>(mpi::start_all_reduce(accumulate(part), kWorld));  // the destructor waits
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
    unsetenv("GTEST_OUTPUT");  // one file, of rank 0
    std::freopen("/dev/null", "w", stdout);
  }
  testing::InitGoogleTest(&argc, argv);
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
