#include "peer.hpp"
#include "places.hpp"

namespace peers {

std::vector<HostPeer> samesum_host_peers() {
  const auto with_threads = [](std::uint32_t threads) {
    return [threads, cpu = samesum::Device::open("cpu")](samesum::Array data) {
      samesum::SumOptions options;
      options.threads = threads;
      return samesum::sum(data, cpu, options).as_double();
    };
  };
  return {{"samesum", all_cores(), false, with_threads(0)}, {"samesum", kOneThread, false, with_threads(1)}};
}

}  // namespace peers
