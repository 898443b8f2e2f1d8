#include "ladder/reduce/reference.hpp"

#include "core/threads/parallel.hpp"
#include "core/view.hpp"
#include "core/visit.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace samesum::bench {
namespace {

struct BySign {
  Accumulator positive, negative;
};

bool is_negative(double x) { return std::signbit(x); }
bool is_negative(std::integral auto x) { return x < 0; }

template <class Element>
BySign sum_by_sign(View data) {
  using Value = std::conditional_t<std::is_arithmetic_v<Element>, Element, float>;
  const auto* bytes = static_cast<const std::byte*>(data.data());
  const std::uint64_t block = std::max<std::uint64_t>(1 << 16, data.size() / 256);
  std::vector<BySign> sums(data.size() / block + 1);
  core::parallel_for(sums.size(), [&](std::uint64_t index) {
    const std::uint64_t end = std::min(data.size(), (index + 1) * block);
    for (std::uint64_t i = index * block; i < end; ++i) {
      Element element;
      std::memcpy(&element, bytes + i * sizeof element, sizeof element);
      const Value x = element;
      (is_negative(x) ? sums[index].negative : sums[index].positive).add(x);
    }
  });
  for (std::size_t i = 1; i < sums.size(); ++i) {
    sums[0].positive += sums[i].positive;
    sums[0].negative += sums[i].negative;
  }
  return sums[0];
}

constexpr double kSlack = 1 + 0x1p-40;  // exceeds the rounding errors in computing the bound

}  // namespace

Reference::Reference(View data) {
  BySign sums = core::visit(data.type(), [&](auto element) { return sum_by_sign<decltype(element)>(data); });
  magnitude = (sums.positive.round() - sums.negative.round()) * kSlack;
  sum = std::move(sums.positive);
  sum += sums.negative;
}

double Reference::error_of(double value) const {
  if (!std::isfinite(value)) return std::numeric_limits<double>::quiet_NaN();
  Accumulator difference = sum;
  difference.add(-value);
  return std::abs(difference.round());
}

double error_bound(DType type, std::uint64_t count, std::uint64_t depth, double magnitude, bool flushed) {
  const bool single = type == DType::float32;
  const double unit = single ? 0x1p-24 : 0x1p-53;
  const double ku = static_cast<double>(std::min(depth, count)) * unit;
  double factor = count > 1 ? static_cast<double>(count - 1) * unit : 0;
  if (ku < 0.5) factor = std::min(factor, ku / (1 - ku));
  const double most = single ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  if (!(magnitude <= most / (1 + factor))) return std::numeric_limits<double>::infinity();
  const double lost =
      flushed ? static_cast<double>(count) * (single ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min()) : 0;
  return (factor * magnitude + lost) * kSlack;
}

}  // namespace samesum::bench
