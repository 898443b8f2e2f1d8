#include "ladder/whole_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace samesum::bench {
namespace {

constexpr std::uint64_t kMostSummed = std::uint64_t{1} << 22;

std::uint64_t number(std::uint64_t index, std::uint64_t seed) { return 1 + ((index + seed) * 0x9e3779b97f4a7c15 >> 40) % 3; }

template <class Real>
void fill(std::vector<char>& to, std::uint64_t count, std::uint64_t seed) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto value = static_cast<Real>(number(i, seed));
    std::memcpy(to.data() + i * sizeof value, &value, sizeof value);
  }
}

}  // namespace

std::uint64_t whole_count(std::uint64_t size, std::uint64_t most) { return size <= most ? size : most / 2 + size % (most / 2); }

std::vector<char> whole_numbers(DType type, std::uint64_t count, std::uint64_t seed) {
  std::vector<char> numbers(count * size_of(type));
  type == DType::float32 ? fill<float>(numbers, count, seed) : fill<double>(numbers, count, seed);
  return numbers;
}

std::string why_not_whole_sum(device::Device& device, DType type, std::uint64_t size,
                              const std::function<std::shared_ptr<reduction::TextbookSum>(const device::Memory&, std::uint64_t)>& prepare) {
  const std::uint64_t count = whole_count(size, kMostSummed);
  const std::vector<char> numbers = whole_numbers(type, count, 0);
  const device::Memory memory = device.allocate(std::max<std::uint64_t>(numbers.size(), 16));
  if (count != 0) device.write(memory, 0, numbers.data(), numbers.size());
  const auto sum = prepare(memory, count);
  sum->launch();
  std::uint64_t expected = 0;
  for (std::uint64_t i = 0; i < count; ++i) expected += number(i, 0);
  const double found = sum->result();
  if (found == static_cast<double>(expected)) return {};
  return fmt::format("of {} numbers 1, 2 and 3, whose sum is exact in any order, it is {} instead of {}", count, found, expected);
}

}  // namespace samesum::bench
