// Contiguous copies of strided arrays, for loops and kernels that need contiguous ones.
#pragma once

#include "core/array/pack.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace samesum::core {

/// The size of a copy.
inline constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 24;

/// Calls body(View) with contiguous pieces of `data`, in order: the whole view if it is contiguous, otherwise copies of parts of it. At
/// least one call, with an empty piece if there are no elements.
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
