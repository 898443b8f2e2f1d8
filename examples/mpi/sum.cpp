// The same bits on any number of ranks: mpirun -n 8 mpi_sum
#include <samesum/mpi.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  // Of a million numbers, those of this rank.
  const std::int64_t n = 1'000'000, first = n * rank / ranks, last = n * (rank + 1) / ranks;
  std::vector<double> part;
  for (std::int64_t i = first; i < last; ++i) part.push_back(std::sin(static_cast<double>(i)) / static_cast<double>(i + 1));

  const double sum = samesum::mpi::sum(part, MPI_COMM_WORLD);
  const samesum::Statistics all = samesum::mpi::collect(part, {}, MPI_COMM_WORLD);
  double plain = 0, total = 0;
  for (const double x : part) plain += x;
  MPI_Allreduce(&plain, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);

  if (rank == 0) {
    std::printf("%d ranks: sum %a, by plain additions %a; the greatest is element %llu\n", ranks, sum, total,
                static_cast<unsigned long long>(all.max().index));
  }
  MPI_Finalize();
  return all.sum().round() == sum && all.count() == static_cast<std::uint64_t>(n) ? 0 : 1;
}
