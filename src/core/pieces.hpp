// Arrays whose elements lie apart, for loops and kernels that take contiguous ones.
#pragma once

#include "core/pack.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace samesum::core {

/// What is brought together at a time.
inline constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 24;

/// Calls body(View) with contiguous pieces of `data`, in order: all of it in one, where it is contiguous; else copies of parts of it. At
/// least one call, of an empty piece where there are no elements.
template <class Body>
void for_contiguous_pieces(View data, const Body& body) {
  if (data.contiguous()) return body(View(data.data(), data.size(), data.type()));
  const std::uint64_t most = kPieceBytes / size_of(data.type());
  std::vector<std::byte> buffer(std::min(most, data.size()) * size_of(data.type()));
  for (std::uint64_t first = 0; first < data.size(); first += most) {
    body(pack(data.part(first, std::min(most, data.size() - first)), buffer.data()));
  }
}

}  // namespace samesum::core
