// Several devices, each of which holds a part of the data: each sums what it has, at the same time, and the accumulators are merged. The
// same bits as from one device that holds it all; and on devices of one kind, in nearly 1/n of the time.
//
//   several [DEVICES [NUMBERS]]     several cuda:0,cuda:1 1073741824
#include <samesum/samesum.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct Part {
  samesum::Array view;
  samesum::Plan plan;
};

double sum_of(std::vector<Part>& parts, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) parts[i].plan.enqueue(parts[i].view);  // enqueued: the devices work at the same time
  samesum::Accumulator total;
  for (std::size_t i = 0; i < count; ++i) total.merge(parts[i].plan.result<samesum::Accumulator>());
  return total.round();
}

double median_seconds(std::vector<Part>& parts, std::size_t count) {
  std::vector<double> seconds(21);
  for (double& s : seconds) {
    const auto start = std::chrono::steady_clock::now();
    sum_of(parts, count);
    s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  std::nth_element(seconds.begin(), seconds.begin() + 10, seconds.end());
  return seconds[10];
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t n = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1 << 20;
  std::vector<float> data(n);  // large and small, of both signs: their plain sum depends on the order
  for (std::uint64_t i = 0; i < n; ++i)
    data[i] = static_cast<float>(static_cast<int>(i * 2654435761u % 65537) - 32768) / static_cast<float>(1 + i % 63);
  const samesum::Array numbers = data;

  std::vector<Part> parts;
  samesum::Accumulator expected;
  for (const samesum::Device& device : samesum::open_devices(argc > 1 ? argv[1] : "all", numbers.bytes())) {
    const samesum::Buffer buffer(device, numbers.bytes());
    buffer.write(data.data(), buffer.bytes());
    parts.push_back({{buffer, n, numbers.type()}, {device, samesum::ops::sum, numbers.type(), n}});
    expected.merge(samesum::accumulate(numbers, {.device = samesum::Device::open("cpu")}));
  }
  const double sum = sum_of(parts, parts.size());
  const double one = median_seconds(parts, 1), all = median_seconds(parts, parts.size());
  const auto count = static_cast<double>(parts.size());
  std::printf("%zu devices, %llu numbers each: %.17g\n", parts.size(), static_cast<unsigned long long>(n), sum);
  std::printf("the first alone %.1f us, all at once %.1f us: %.2f times as many numbers a second\n", 1e6 * one, 1e6 * all,
              count * one / all);
  return sum == expected.round() ? 0 : 1;
}
