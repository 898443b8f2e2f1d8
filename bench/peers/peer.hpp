// What is compared: a way to sum an array, where it runs, and what came of it.
#pragma once

#include <samesum/bench.hpp>
#include <samesum/samesum.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace peers {

/// A sum of host memory.
struct HostPeer {
  std::string name;
  std::string where;             ///< "cpu, 1 thread": rows of one place are compared with samesum's there
  bool in_element_type = false;  ///< the result has the type of the elements; otherwise it is a double
  std::function<double(samesum::Array)> sum;
};

/// One line of the table.
struct Row {
  std::string name;
  std::string where;
  bool in_element_type = false;
  samesum::bench::Statistics seconds;  ///< of one sum, its rounded value in memory (in device memory, on a GPU)
  double value = 0;
  bool repeats = true;       ///< the same bits whenever the same data were summed
  bool order_free = true;    ///< and for the same data in another order
  std::string not_measured;  ///< why there is no figure
};

/// The data of one round: the same elements in two orders, and their exact sum.
struct Problem {
  samesum::Array data;
  samesum::Array permuted;
  samesum::Accumulator exact;
};

// Each source file's peers.
std::vector<HostPeer> samesum_host_peers();
std::vector<HostPeer> plain_peers();        ///< loops, TBB, Eigen
std::vector<HostPeer> compensated_peers();  ///< Kahan, Neumaier
std::vector<HostPeer> xsum_like_peers();
std::vector<HostPeer> exblas_like_peers();

// Those that are measured in their own way.
std::vector<Row> measure_numpy(const Problem& problem, const samesum::bench::Effort& effort);
std::vector<Row> measure_samesum_on_gpu(const Problem& problem, const samesum::bench::Effort& effort);
std::vector<Row> measure_cub(const Problem& problem, const samesum::bench::Effort& effort);

}  // namespace peers
