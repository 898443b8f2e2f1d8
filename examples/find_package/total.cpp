// The sum of a .npy file, or of a few numbers, in a project that finds samesum with find_package or pkg-config.
#include <samesum/samesum.hpp>

#include <cstdio>
#include <vector>

int main(int count, char** arguments) {
  try {
    if (count > 1) {
      const samesum::ArrayFile file(arguments[1]);
      std::printf("%.17g\n", samesum::sum(file.array()).as_double());
    } else {
      const std::vector<double> values = {1e300, 1, -1e300};
      std::printf("%.17g\n", samesum::sum(values));
    }
    return 0;
  } catch (const samesum::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
