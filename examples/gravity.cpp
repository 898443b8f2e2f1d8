// The gravitational potential of a ball of 4000 stars at each of them, exactly summed: the same bits on every device and in any order.
#include <samesum/pairs.hpp>

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

int main() {
  constexpr std::size_t kStars = 4000;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> places, masses;
  while (masses.size() < kStars) {
    const double x = uniform(random), y = uniform(random), z = uniform(random);
    if (x * x + y * y + z * z > 1) continue;
    places.insert(places.end(), {x, y, z});
    masses.push_back(1.0 / kStars);
  }

  samesum::PairsProblem options;
  options.f = samesum::PairFunction::invdist;
  options.components = 3;
  options.softening = 0.01;  // so that a star does not fall on itself
  options.weights = masses;
  options.accuracy = samesum::PairAccuracy::exact;
  const samesum::Device cpu = samesum::Device::open("cpu");
  const auto potential = std::get<std::vector<double>>(samesum::pairs(places, places, options, {.device = cpu}));

  // The other way round, each star's attraction is summed in another order.
  std::vector<double> turned(places);
  for (std::size_t i = 0; i < kStars; ++i) std::copy_n(&places[3 * i], 3, &turned[3 * (kStars - 1 - i)]);
  const auto again = std::get<std::vector<double>>(samesum::pairs(places, turned, options, {.device = cpu}));

  double energy = 0;
  for (std::size_t i = 0; i < kStars; ++i) energy -= masses[i] * (potential[i] - masses[i] / options.softening) / 2;
  std::printf("energy %.6f, a ball's is -0.6; the same bits in any order: %s\n", energy, potential == again ? "yes" : "no");
  return potential == again && energy < -0.58 && energy > -0.62 ? 0 : 1;
}
