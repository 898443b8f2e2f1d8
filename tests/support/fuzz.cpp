#include "support/fuzz.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>

namespace samesum::test {

int fuzz(const char* name, int argc, char** argv, const std::function<void(hard::Random&)>& check) {
  double seconds = 5;
  std::optional<std::uint64_t> only;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 < argc && std::strcmp(argv[i], "--seconds") == 0) {
      seconds = std::strtod(argv[i + 1], nullptr);
    } else if (i + 1 < argc && std::strcmp(argv[i], "--seed") == 0) {
      only = std::strtoull(argv[i + 1], nullptr, 0);
    } else {
      std::fprintf(stderr, "usage: %s [--seconds N] [--seed S]\n", name);
      return 2;
    }
  }
  const std::uint64_t first = only.value_or(std::uint64_t{std::random_device{}()} << 16);
  std::printf("%s: seeds from %llu\n", name, static_cast<unsigned long long>(first));
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t seed = first;
  do {
    try {
      hard::Random random(seed);
      check(random);
    } catch (const std::exception& error) {
      std::printf("%s: %s\nto reproduce: %s --seed %llu\n", name, error.what(), argv[0], static_cast<unsigned long long>(seed));
      return 1;
    }
    ++seed;
  } while (!only && std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds);
  std::printf("%s: %llu inputs, no failure\n", name, static_cast<unsigned long long>(seed - first));
  return 0;
}

}  // namespace samesum::test
