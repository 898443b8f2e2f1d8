#include "core/array/pack.hpp"

#include "core/threads/parallel.hpp"
#include "core/visit.hpp"

#include <cstring>

namespace samesum::core {
namespace {

template <class Element>
void copy(const std::byte* from, std::int64_t stride, std::uint64_t count, std::byte* to) {
  for (std::uint64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * sizeof(Element), from + static_cast<std::int64_t>(i) * stride, sizeof(Element));
  }
}

}  // namespace

View pack_here(View data, std::byte* to) {
  visit(data.type(),
        [&](auto element) { copy<decltype(element)>(static_cast<const std::byte*>(data.data()), data.stride(), data.size(), to); });
  return {to, data.size(), data.type()};
}

View pack(View data, std::byte* to) {
  constexpr std::uint64_t kBlock = std::uint64_t{1} << 16;
  if (data.size() <= kBlock) return pack_here(data, to);
  parallel_for((data.size() + kBlock - 1) / kBlock, [&](std::uint64_t block) {
    const std::uint64_t first = block * kBlock;
    pack_here(data.part(first, std::min(kBlock, data.size() - first)), to + first * size_of(data.type()));
  });
  return {to, data.size(), data.type()};
}

}  // namespace samesum::core
