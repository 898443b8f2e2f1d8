// A sum in parts: each part could lie on another machine. What travels is the exact sum, as bytes; it is rounded once, at the end.
#include <samesum/samesum.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

int main() {
  std::vector<float> values;
  for (int i = 0; i < 1000000; ++i) values.push_back(1.0f / static_cast<float>(1 + i));
  const samesum::Array view = values;
  const samesum::Device cpu = samesum::Device::open("cpu");

  std::vector<std::vector<std::byte>> parts;  // what the machines send
  for (std::uint64_t first = 0; first < view.size(); first += 300000) {
    const samesum::Array part = view.part(first, std::min<std::uint64_t>(300000, view.size() - first));
    parts.push_back(samesum::accumulate(part, {.device = cpu}).serialize());
  }

  samesum::Accumulator total;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) total += samesum::Accumulator::deserialize(*part);  // in any order

  std::printf("%zu parts: %a\nwhole:   %a\n", parts.size(), total.round(), samesum::sum(values));
  return total.round() == samesum::sum(values) ? 0 : 1;
}
