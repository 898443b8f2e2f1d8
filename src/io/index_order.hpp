// An array in Fortran order, by index.
#pragma once

#include <samesum/view.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace samesum::io {

/// Gives the elements of an array whose first index is the fastest in memory in the order in which the last one is. They are brought there
/// in blocks: as many indices of an axis as fit, with all that is behind them.
///
/// O(n), by all cores. A line of the cache that was read is used up before it is lost, unless an element for each of its indices takes more
/// than a block.
class IndexOrder {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 23;

  /// `memory` has the elements as they lie there; `shape` is as numpy has it.
  IndexOrder(View memory, const std::vector<std::uint64_t>& shape, std::size_t block_bytes = kBlockBytes);

  /// The next block, which is valid until the next call; nothing at the end.
  std::optional<View> next();

 private:
  struct Axis {
    std::uint64_t size;
    std::uint64_t behind;  // elements that one step takes by index, and
    std::uint64_t apart;   // in memory
  };

  void gather(const std::byte* from, std::uint64_t steps);

  View memory_;
  std::vector<Axis> axes_;
  std::size_t axis_ = 0;          // which a block has several indices of
  std::uint64_t most_steps_ = 1;  // of it
  std::uint64_t done_ = 0;        // elements
  std::vector<std::byte> block_;
};

}  // namespace samesum::io
