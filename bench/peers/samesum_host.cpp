#include "peer.hpp"
#include "places.hpp"

namespace peers {

std::vector<HostPeer> samesum_host_peers() {
  const auto with_threads = [](std::uint32_t threads) {
    return [threads, cpu = samesum::Device::open("cpu")](samesum::Array data) {
      samesum::Options options;
      options.threads = threads;
      return samesum::sum(data, on(cpu, options)).as_double();
    };
  };
  return {{"samesum", all_cores(), false, with_threads(0)}, {"samesum", kOneThread, false, with_threads(1)}};
}

}  // namespace peers
