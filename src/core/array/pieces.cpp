#include "core/array/pieces.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace samesum::core {

void for_contiguous_pieces(View data, FunctionRef<void(View)> body) {
  if (data.contiguous()) return body(View(data.data(), data.size(), data.type()));
  const std::uint64_t most = kPieceBytes / size_of(data.type());
  std::vector<std::byte> buffer(std::min(most, data.size()) * size_of(data.type()));
  for (std::uint64_t first = 0; first < data.size(); first += most) {
    body(pack(data.part(first, std::min(most, data.size() - first)), buffer.data()));
  }
}

}  // namespace samesum::core
