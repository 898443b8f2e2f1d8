// The exact sum over all ranks beside MPI_Allreduce of rounded sums: one, and a thousand at once. mpirun -n 2 samesum_mpi_sums
#include <samesum/mpi.hpp>

#ifdef PEERS_REPROBLAS
extern "C" {
#include <binnedMPI.h>
}
#endif

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

namespace {

// The median of the slowest rank's time for a call, in microseconds, with the two calls in turns. `prepare` is called before each run
// of 20.
std::pair<double, double> in_turns(
    const std::function<void()>& one, const std::function<void()>& other, const std::function<void()>& prepare = [] {}) {
  constexpr int kRuns = 201, kCalls = 20;
  std::vector<double> times[2];
  for (int run = 0; run < kRuns; ++run) {
    for (int which = 0; which < 2; ++which) {
      prepare();
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      for (int call = 0; call < kCalls; ++call) which == 0 ? one() : other();
      double seconds = (MPI_Wtime() - start) / kCalls;
      MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      times[which].push_back(1e6 * seconds);
    }
  }
  for (std::vector<double>& all : times) std::nth_element(all.begin(), all.begin() + kRuns / 2, all.end());
  return {times[0][kRuns / 2], times[1][kRuns / 2]};
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<double> x(1000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0 / static_cast<double>(i + 1 + static_cast<std::size_t>(rank) * x.size());
  samesum::Accumulator sum;
  std::vector<samesum::Accumulator> sums;
  for (const double one : x) {
    sum.add(one);
    sums.push_back(sum);
    static_cast<void>(samesum::SumMessage::needs({&sums.back(), 1}));  // normalized, as those of accumulate()
  }
  double rounded = sum.round();
  std::vector<double> all(1000, rounded);
  const auto one = in_turns([&] { static_cast<void>(samesum::mpi::all_reduce(sum, MPI_COMM_WORLD)); },
                            [&] { MPI_Allreduce(MPI_IN_PLACE, &rounded, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); });
  std::vector<samesum::Accumulator> merged;
  const auto many = in_turns([&] { samesum::mpi::all_reduce(merged, MPI_COMM_WORLD); },
                             [&] { MPI_Allreduce(MPI_IN_PLACE, all.data(), 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); },
                             [&] {
                               merged = sums;  // which grow by each call
                               std::fill(all.begin(), all.end(), 1.0);
                             });
  const std::size_t words = samesum::SumMessage(samesum::SumMessage::needs(sums)).words();
  if (rank == 0) {
    std::printf(
        "%d ranks: one sum %.2f us, MPI's of a double %.2f us: %.2f times; 1000 sums in %zu integers each %.1f us, of 1000 doubles %.1f "
        "us: "
        "%.2f times\n",
        ranks, one.first, one.second, one.first / one.second, words, many.first, many.second, many.first / many.second);
  }
#ifdef PEERS_REPROBLAS
  // ReproBLAS: reproducible sums of binned numbers, with the fold that its authors recommend.
  constexpr int kFold = 3;
  std::vector<double_binned> binned(binned_dbsize(kFold) / sizeof(double_binned) + 1), result(binned.size());
  binned_dbsetzero(kFold, binned.data());
  for (const double each : x) binned_dbdadd(kFold, each, binned.data());
  const MPI_Datatype type = binnedMPI_DOUBLE_BINNED(kFold);
  const MPI_Op add = binnedMPI_DBDBADD(kFold);
  const auto repro = in_turns([&] { static_cast<void>(samesum::mpi::all_reduce(sum, MPI_COMM_WORLD)); },
                              [&] { MPI_Allreduce(binned.data(), result.data(), 1, type, add, MPI_COMM_WORLD); });
  if (rank == 0) std::printf("ReproBLAS' all-reduce of one sum %.2f us: %.2f times samesum's\n", repro.second, repro.second / repro.first);
#endif
  MPI_Finalize();
}
