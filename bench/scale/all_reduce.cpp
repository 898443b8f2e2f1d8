// The time of MPI_Allreduce for messages of the sizes that exact sums have: on a machine by mpirun, or simulated by SimGrid's smpirun
// (simulate.py). It needs MPI alone. Prints the number of ranks, and for each message its name and the time of a call in microseconds.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct Message {
  const char* name;
  int count;
  bool integers;
};

constexpr Message kMessages[] = {{"1 double", 1, false},        {"15 integers", 15, true},      {"84 integers", 84, true},
                                 {"225 integers", 225, true},   {"1000 doubles", 1000, false},  {"4000 integers", 4000, true},
                                 {"1 MB of integers", 131072, true}};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int calls = argc > 1 ? std::atoi(argv[1]) : 3;
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) std::printf("%d", ranks);
  std::vector<double> doubles(1000, 1);
  std::vector<std::int64_t> integers(131072, 1);
  for (const Message& message : kMessages) {
    std::vector<double> times;
    for (int call = 0; call < calls; ++call) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      if (message.integers) {
        MPI_Allreduce(MPI_IN_PLACE, integers.data(), message.count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
      } else {
        MPI_Allreduce(MPI_IN_PLACE, doubles.data(), message.count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      }
      // From when the last rank begins to when the last one ends: the clock is the same for all, on one machine or simulated.
      double both[] = {start, MPI_Wtime()};
      MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      times.push_back(1e6 * (both[1] - both[0]));
    }
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    if (rank == 0) std::printf(",%s,%.3f", message.name, times[times.size() / 2]);
  }
  if (rank == 0) std::puts("");
  MPI_Finalize();
}
