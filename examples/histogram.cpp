// A histogram of an array, merged from two halves, and its median.
#include <samesum/samesum.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  std::vector<float> samples(1'000'000);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = std::sin(static_cast<float>(i));

  const samesum::Bins bins = samesum::Bins::even(-1, 1, 8);
  const samesum::Device device = samesum::Device::open("cpu");
  const samesum::Array view = samples;
  samesum::Histogram histogram = samesum::histogram(view.part(0, 500'000), bins, {.device = device});
  histogram += samesum::histogram(view.part(500'000, 500'000), bins, {.device = device});

  for (std::size_t i = 0; i < bins.count(); ++i) {
    std::printf("%5.2f .. %5.2f  %llu\n", bins.edges()[i], bins.edges()[i + 1], static_cast<unsigned long long>(histogram.counts()[i]));
  }
  const samesum::Quantile median = histogram.quantile(0.5);
  std::printf("median in %g .. %g\n", median.low, median.high);
  return histogram.total() == samples.size() ? 0 : 1;
}
