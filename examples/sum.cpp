// The exact sum of an array, and what a loop makes of it.
#include <samesum/samesum.hpp>

#include <cstdio>
#include <vector>

int main() {
  // A large number, many small ones, and the large one taken away again.
  std::vector<float> values(1000001, 0.125f);
  values.front() = 1e9f;
  values.back() = -1e9f;

  float loop = 0;
  for (const float value : values) loop += value;
  const double exact = samesum::sum(values);

  std::printf("loop:  %.9g\nexact: %.9g\n", static_cast<double>(loop), exact);
  return exact == 0.125 * 999999 ? 0 : 1;
}
