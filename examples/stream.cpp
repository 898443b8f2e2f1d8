// Numbers that arrive one by one or block by block, from anywhere, in bounded memory: here doubles as text on standard input.
//   seq 0 0.1 100000 | ./stream
#include <samesum/samesum.hpp>

#include <cstdio>

int main() {
  samesum::Accumulator total;
  double naive = 0;
  double value;
  while (std::scanf("%lf", &value) == 1) {
    total.add(value);
    naive += value;
  }
  std::printf("%llu numbers, %llu NaN\nloop:  %.17g\nexact: %.17g\n", static_cast<unsigned long long>(total.count()),
              static_cast<unsigned long long>(total.nan_count()), naive, total.round(samesum::NanPolicy::skip));
  return 0;
}
