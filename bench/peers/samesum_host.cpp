#include "peer.hpp"
#include "places.hpp"

namespace peers {

std::vector<HostPeer> samesum_host_peers() {
  const auto with_threads = [](std::uint32_t threads) {
    samesum::Options options{.device = samesum::Device::open("cpu")};
    options.tuning.threads = threads;
    return [options](samesum::Array data) { return samesum::sum(data, options).as_double(); };
  };
  return {{"samesum", all_cores(), false, with_threads(0)}, {"samesum", kOneThread, false, with_threads(1)}};
}

}  // namespace peers
