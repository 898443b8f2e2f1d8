// Products of floats over the ranks of an MPI communicator: a part of samesum/mpi.hpp, which includes it.
#pragma once

#include <samesum/mpi.hpp>

namespace samesum::mpi {

namespace detail {

// The root of a subtree of 2^level leaves.
struct Node {
  double root = 1;
  std::int64_t level = 0;
};

// The largest aligned subtrees of the leaves that a rank has, from `first` on.
inline std::vector<Node> nodes_of(const Array& data, std::uint64_t first, const Options& options) {
  std::vector<Node> nodes;
  const Array flat = data.rank() == 1 ? data : data.reshaped({data.size()});
  for (std::uint64_t done = 0; done < data.size();) {
    const int aligned = first + done == 0 ? 63 : std::countr_zero(first + done);
    const int level = std::min(aligned, static_cast<int>(std::bit_width(data.size() - done)) - 1);
    const std::uint64_t count = std::uint64_t{1} << level;
    nodes.push_back({product(flat.slice(0, done, count), options).as_double(), level});
    done += count;
  }
  return nodes;
}

// The root of the tree over all nodes, each rounded to Real (core's balanced tree over the index).
template <class Real>
double root_of(const std::vector<Node>& nodes) {
  std::vector<Node> pending;
  const auto times = [](double a, double b) { return double{static_cast<Real>(a) * static_cast<Real>(b)}; };
  for (Node node : nodes) {
    for (; !pending.empty() && pending.back().level == node.level; pending.pop_back()) {
      node = {times(pending.back().root, node.root), node.level + 1};
    }
    pending.push_back(node);
  }
  if (pending.empty()) return 1;
  double root = pending.back().root;
  for (std::size_t i = pending.size() - 1; i-- > 0;) root = times(pending[i].root, root);
  return root == root ? root : std::numeric_limits<double>::quiet_NaN();  // the canonical one
}

}  // namespace detail

/// As samesum::product() of floats: by the fixed tree over the index in the array of the whole, of which each rank computes whole subtrees;
/// those (16 bytes for each of at most 2 log2 n) are gathered by all ranks. @throws Error (usage) for integers: a part may not fit
/// even if the whole does.
inline double product(const Array& data, MPI_Comm comm, const Options& options = {}) {
  // First the number of elements, whether the type is the same everywhere, and whether it is one of floats.
  std::array<std::int64_t, 3> mine{static_cast<std::int64_t>(data.size()), static_cast<std::int64_t>(data.type()), is_integer(data.type())};
  const auto ranks = static_cast<std::size_t>(detail::size_of(comm));
  std::vector<std::int64_t> all(3 * ranks);
  MPI_Allgather(mine.data(), 3, MPI_INT64_T, all.data(), 3, MPI_INT64_T, comm);
  std::uint64_t first = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (all[3 * rank + 2] != 0)
      throw Error(ErrorKind::usage, "the product of integers over several ranks: their parts may not fit 64 bits");
    if (all[3 * rank + 1] != all[1]) throw Error(ErrorKind::usage, "the ranks have elements of different types");
    if (static_cast<int>(rank) < detail::rank_of(comm)) first += static_cast<std::uint64_t>(all[3 * rank]);
  }
  std::vector<detail::Node> nodes;
  std::exception_ptr own;
  try {
    nodes = detail::nodes_of(data, first, options);
  } catch (...) {
    own = std::current_exception();
    nodes.clear();
  }
  int bytes = own ? -1 : static_cast<int>(nodes.size() * sizeof(detail::Node));
  std::vector<int> sizes(ranks), places(ranks);
  MPI_Allgather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, comm);
  if (own) std::rethrow_exception(own);
  const auto failed = std::find(sizes.begin(), sizes.end(), -1);
  if (failed != sizes.end()) detail::refuse(std::count(sizes.begin(), sizes.end(), -1), failed - sizes.begin(), comm);
  int total = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    places[rank] = total;
    total += sizes[rank];
  }
  std::vector<detail::Node> gathered(static_cast<std::size_t>(total) / sizeof(detail::Node));
  MPI_Allgatherv(nodes.data(), bytes, MPI_BYTE, gathered.data(), sizes.data(), places.data(), MPI_BYTE, comm);
  return data.type() == DType::float64 ? detail::root_of<double>(gathered) : detail::root_of<float>(gathered);
}

}  // namespace samesum::mpi
