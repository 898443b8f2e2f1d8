// samesum_core.hpp by itself: the bits of the library, on whatever machine this is compiled for. Exit code 0 where they are.
#include "samesum_core.hpp"

#include "core_golden.hpp"

#include <cstdio>
#include <vector>

namespace other_unit {
double sum_of(const std::vector<double>& numbers);  // second.cpp includes the header too
}

namespace {

int failures = 0;

void expect(bool condition, const char* what) {
  if (!condition) {
    ++failures;
    std::printf("wrong: %s\n", what);
  }
}

}  // namespace

int main() {
  const std::uint64_t hash =
      samesum::test::CoreGolden().hash<samesum_core::Accumulator, samesum_core::ProductAccumulator, samesum_core::NanPolicy>();
  std::printf("%016llx\n", static_cast<unsigned long long>(hash));
  expect(hash == samesum::test::kCoreGolden, "the hash of sums and sums of products");

  const std::vector<double> x{1e100, 1.0, -1e100};
  expect(samesum_core::sum(x) == 1.0 && other_unit::sum_of(x) == 1.0, "sum()");
  expect(samesum_core::sum(std::vector<int>{1 << 30, 1 << 30, 1 << 30, 7}) == 3221225479.0, "sum() of integers");
  expect(samesum_core::dot(x, x) == 2e200, "dot()");
  try {
    samesum_core::dot(x, std::span(x).first(2));
    expect(false, "dot() of different sizes");
  } catch (const samesum_core::Error& error) {
    expect(error.kind() == samesum_core::ErrorKind::usage, "the kind of an error");
  }
  std::array<std::int64_t, samesum_core::Accumulator::kWords> words{};
  words[3] = std::int64_t{1} << 62;
  try {
    samesum_core::Accumulator::from_words(words);
    expect(false, "words that are no sum");
  } catch (const samesum_core::Error&) {
  }
  return failures;
}
