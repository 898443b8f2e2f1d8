// `samesum kernel` uses the names of `samesum bench`.
#include <samesum/bench.hpp>
#include <samesum/bench_barrier.hpp>
#include <samesum/bench_histogram.hpp>
#include <samesum/bench_pairs.hpp>
#include <samesum/bench_reduce.hpp>
#include <samesum/inspect.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace samesum {
namespace {

TEST(Inspect, HasTheLaddersNames) {
  const std::set<std::string> of_the_host = {"sequential", "parallel", "exact_blocks", "accumulator", "cpu", "serial", "std_barrier"};
  for (const Device& device : open_devices("all", 0)) {
    if (!device.info().has(Capability::kernels)) continue;
    const auto operations = bench::reduce_operations();
    std::map<std::string, std::vector<std::string>> ladders = {{"sum", bench::sum_rungs(device)},
                                                               {"histogram", bench::histogram_rungs(device)},
                                                               {"pairs", bench::pairs_rungs(device)},
                                                               {"barrier", bench::barrier_methods()},
                                                               {"reduce", {operations.begin(), operations.end()}}};
    for (const std::string& pattern : kernel_patterns()) {
      ASSERT_TRUE(ladders.contains(pattern)) << pattern;
      std::vector<std::string>& rungs = ladders.at(pattern);
      std::erase_if(rungs, [&](const std::string& name) { return of_the_host.contains(name); });
      EXPECT_EQ(kernel_variants(pattern), rungs) << pattern << " on " << device.info().selector;
    }
    EXPECT_EQ(kernel_patterns().size(), ladders.size());
  }
}

}  // namespace
}  // namespace samesum
