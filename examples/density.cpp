// A Gaussian density estimate: how dense 20000 numbers lie at each of 101 places, and the largest deviation from what they were drawn from.
#include <samesum/pairs.hpp>

#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>
#include <vector>

int main() {
  constexpr double kBandwidth = 0.15;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> samples(20000), places;
  for (float& sample : samples) sample = normal(random);
  for (int i = -50; i <= 50; ++i) places.push_back(0.06f * static_cast<float>(i));

  samesum::PairsProblem options;
  options.f = samesum::PairFunction::gaussian;
  options.h = 2 * kBandwidth * kBandwidth;
  const auto sums = std::get<std::vector<float>>(samesum::pairs(places, samples, options));

  // What the estimate tends to: a normal density, wider by the bandwidth.
  const double variance = 1 + kBandwidth * kBandwidth;
  double worst = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double density = sums[i] / (static_cast<double>(samples.size()) * kBandwidth * std::sqrt(2 * std::numbers::pi));
    const double right = std::exp(-places[i] * places[i] / (2 * variance)) / std::sqrt(2 * std::numbers::pi * variance);
    worst = std::max(worst, std::abs(density - right));
    if (i % 10 == 0) std::printf("%5.2f %.4f %s\n", places[i], density, std::string(static_cast<std::size_t>(100 * density), '*').c_str());
  }
  std::printf("largest deviation: %.4f\n", worst);
  return worst < 0.02 ? 0 : 1;
}
