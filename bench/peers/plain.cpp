// Plain floating-point sums, in the type of the elements: as fast as it goes, in an order of their own.
#include "places.hpp"

#if defined(PEERS_EIGEN)
#include <Eigen/Core>
#endif

#include <functional>
#include <numeric>

namespace peers {
namespace {

double loop(samesum::Array data) {
  return typed(data, [](const auto* from, std::uint64_t count) -> double { return std::accumulate(from, from + count, *from * 0); });
}

double tbb_reduce(samesum::Array data) {
  return typed(data, []<class T>(const T* from, std::uint64_t count) -> double {
    using Range = tbb::blocked_range<const T*>;
    return tbb::parallel_reduce(
        Range(from, from + count, 1 << 14), T{0},
        [](const Range& range, T sum) { return std::accumulate(range.begin(), range.end(), sum); }, std::plus<T>());
  });
}

#if defined(PEERS_EIGEN)
double eigen(samesum::Array data) {
  return typed(data, []<class T>(const T* from, std::uint64_t count) -> double {
    return Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>(from, static_cast<Eigen::Index>(count)).sum();
  });
}
#endif

}  // namespace

std::vector<HostPeer> plain_peers() {
  std::vector<HostPeer> peers = {{"loop", kOneThread, true, loop}, {"TBB parallel_reduce", all_cores(), true, tbb_reduce}};
#if defined(PEERS_EIGEN)
  peers.push_back({"Eigen sum", kOneThread, true, eigen});
#endif
  return peers;
}

}  // namespace peers
