// Formulas beside what is built in, in one run and in turns: sums of maps beside the plain sum of as many bytes, operators of one's own
// beside the bytes that they read. Prints for each the median of all rounds, in GB/s of bytes read, and its ratio to the built-in one.
//
//   c++ -std=c++20 -O2 -Iinclude bench/formulas.cpp -o formulas build/release/libsamesum.a -ltbb -lz -lzstd -ldl
//   ./formulas cuda:0 28 21        # device, log2 of the elements, rounds
#include "placed.hpp"

#include <samesum/operator.hpp>
#include <samesum/samesum.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace samesum;

struct Work {
  std::string name;
  double bytes;  // that it reads
  std::function<void(const Options&)> run;
  std::vector<double> seconds = {};
};

}  // namespace

int main(int argc, char** argv) {
  const Device device = Device::open(argc > 1 ? argv[1] : "cpu");
  const std::size_t size = std::size_t{1} << (argc > 2 ? std::atoi(argv[2]) : 26);
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 9;
  std::vector<float> x(size), y(size);
  std::vector<std::int32_t> n(size);
  std::uint64_t state = 1;
  for (std::size_t k = 0; k < size; ++k) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    x[k] = static_cast<float>(state >> 40) * 0x1p-24f - 0.5f;
    y[k] = static_cast<float>(state >> 20 & 0xffffff) * 0x1p-24f;
    n[k] = static_cast<std::int32_t>(state >> 34) + 1;
  }
  const Array a = placed(device, x), b = placed(device, y), c = placed(device, n);
  const double one = 4.0 * static_cast<double>(size);
  std::vector<Work> all;
  all.push_back({"sum", one, [&](const Options& o) { accumulate(a, o); }});
  all.push_back({"sum of squares", one, [&](const Options& o) { collect(a, {false, false, true, false}, o); }});
  all.push_back({"dot", 2 * one, [&](const Options& o) { dot(a, b, o); }});
  const auto add_map = [&](const char* text, double bytes, FormulaMath math = FormulaMath::fixed) {
    all.push_back(
        {std::string("sum(") + text + (math == FormulaMath::native ? "), native" : ")"), bytes, [&, text, math](const Options& o) {
           accumulate(*map(Formula(text, math), {{"x", a}, {"y", b}}, {{"m", 0.25}}), o);
         }});
  };
  add_map("x*x", one);
  add_map("x*y", 2 * one);
  add_map("(x-m)*(x-m)", one);
  add_map("exp(-x*x)", one);
  add_map("exp(-x*x)", one, FormulaMath::native);
  const auto add_operator = [&](const char* text, const Array& data) {
    all.push_back({std::string("reduce(") + text + ")", one, [&, text](const Options& o) { reduce(data, Operator{Formula(text)}, o); }});
  };
  add_operator("a + b", a);
  add_operator("gcd(a, b)", c);
  add_operator("a*b % 1000003", c);
  all.push_back(
      {"complex product (tuple)", 2 * one, [&](const Options& o) {
         reduce(Formula("(x, y)"), {{"x", a}, {"y", b}}, {}, Operator{Formula("(a[0]*b[0] - a[1]*b[1], a[0]*b[1] + a[1]*b[0])")}, o);
       }});
  all.push_back(
      {"log-sum-exp (tuple)", one, [&](const Options& o) {
         reduce(Formula("(x, float32(1))"), {{"x", a}}, {},
                Operator{Formula("let d = a[0] - b[0]; let t = exp(-abs(d)); (max(a[0], b[0]), d > 0 ? a[1] + b[1]*t : b[1] + a[1]*t)")},
                o);
       }});
  for (int round = 0; round <= rounds; ++round) {
    for (Work& work : all) {
      const auto start = std::chrono::steady_clock::now();
      work.run({.device = device});
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (round != 0) work.seconds.push_back(seconds);  // the first compiles
    }
  }
  double plain = 0;
  for (Work& work : all) {
    std::nth_element(work.seconds.begin(), work.seconds.begin() + static_cast<std::ptrdiff_t>(work.seconds.size() / 2), work.seconds.end());
    const double rate = work.bytes / work.seconds[work.seconds.size() / 2] * 1e-9;
    if (plain == 0) plain = rate;
    std::printf("%-28s %8.1f GB/s  %5.2f of the sum\n", work.name.c_str(), rate, rate / plain);
  }
}
