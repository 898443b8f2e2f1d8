#include "core/float_environment.hpp"

namespace samesum::core {
namespace {

volatile double numbers[3];

bool rounds(double a, double b) noexcept {
  numbers[0] = a;
  numbers[1] = b;
  const RoundingWatch watch;
  numbers[2] = numbers[0] + numbers[1];
  return watch.rounded();
}

bool underflows(double a, double b) noexcept {
  numbers[0] = a;
  numbers[1] = b;
  const RoundingWatch watch;
  numbers[2] = numbers[0] * numbers[1];
  return watch.underflowed();
}

}  // namespace

bool RoundingWatch::works() noexcept {
  static const bool answer = [] {
    const DefaultFloatEnvironment environment;
    return rounds(1, 0x1p-60) && !rounds(1, 0x1p-50) && underflows(0x1p-600, 0x1p-600) && !underflows(0x1p-600, 0);
  }();
  return answer;
}

}  // namespace samesum::core
