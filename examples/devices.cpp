// One array on every device of the machine: the same bits.
#include <samesum/samesum.hpp>

#include <cstdio>
#include <vector>

int main() {
  std::vector<double> values;
  for (int i = 1; i <= 1000000; ++i) values.push_back((i % 2 == 0 ? 1.0 : -1.0) / i);

  const double expected = samesum::sum(values);
  bool same = true;
  for (const samesum::Device& device : samesum::open_devices("all", samesum::Array(values).bytes())) {
    const double sum = samesum::sum(values, {.device = device});
    std::printf("%-10s %a  (%s)\n", device.info().selector.c_str(), sum, device.info().name.c_str());
    same = same && sum == expected;
  }
  for (const samesum::Absence& absence : samesum::list_devices().absent) {
    std::printf("%-10s not here: %s\n", absence.selector.c_str(), absence.reason.c_str());
  }
  return same ? 0 : 1;
}
