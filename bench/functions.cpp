// The functions of formulas by fixed operations, and as the device has them: sums of f(x) beside the plain sum of as many bytes, in one run
// and in turns. Prints for each the median of all rounds, in GB/s of bytes read, and the ratio of the two. On the CPU they are the same.
//
//   c++ -std=c++20 -O2 -Iinclude bench/functions.cpp -o functions build/release/libsamesum.a -ltbb -lz -lzstd -ldl
//   ./functions cuda:0 28 9        # device, log2 of the elements, rounds
#include "placed.hpp"

#include <samesum/samesum.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace samesum;

double seconds_of(const auto& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

template <class T>
void measure(const Device& device, std::size_t size, int rounds) {
  std::vector<T> x(size);
  std::uint64_t state = 1;
  for (T& value : x) {  // from 0 to 1: in the range of all functions
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<T>(state >> 40) * T(0x1p-24);
  }
  const Array array = placed(device, x);
  const double bytes = static_cast<double>(size * sizeof(T));
  const char* const kTexts[] = {"exp(x)",  "exp2(x)",  "expm1(x)", "sinh(x)",     "cosh(x)",       "tanh(x)",      "log(x)",  "log1p(x)",
                                "log2(x)", "log10(x)", "sin(x)",   "cos(x)",      "tan(x)",        "asin(x)",      "acos(x)", "atan(x)",
                                "erf(x)",  "erfc(x)",  "cbrt(x)",  "pow(x, 1.5)", "hypot(x, 1.5)", "atan2(x, 1.5)"};
  std::vector<double> plain;
  for (int round = 0; round <= rounds; ++round) plain.push_back(seconds_of([&] { accumulate(array, {.device = device}); }));
  std::printf("%-16s %8.1f GB/s\n", sizeof(T) == 4 ? "sum float32" : "sum float64", bytes / median(plain) * 1e-9);
  for (const char* const text : kTexts) {
    std::vector<double> fixed, native;
    for (int round = 0; round <= rounds; ++round) {
      for (const FormulaMath math : {FormulaMath::fixed, FormulaMath::native}) {
        const double seconds = seconds_of([&] { accumulate(*map(Formula(text, math), {{"x", array}}), {.device = device}); });
        if (round != 0) (math == FormulaMath::fixed ? fixed : native).push_back(seconds);  // the first compiles
      }
    }
    std::printf("%-16s fixed %8.1f GB/s   native %8.1f GB/s   %5.2f\n", text, bytes / median(fixed) * 1e-9, bytes / median(native) * 1e-9,
                median(native) / median(fixed));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Device device = Device::open(argc > 1 ? argv[1] : "cpu");
  const std::size_t size = std::size_t{1} << (argc > 2 ? std::atoi(argv[2]) : 24);
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 9;
  measure<float>(device, size, rounds);
  measure<double>(device, size, rounds);
}
