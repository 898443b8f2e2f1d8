// The elements of an array in host memory with any axes, as runs that loops can process.
#pragma once

#include "core/threads/function_ref.hpp"
#include "core/view.hpp"

#include <samesum/array.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace samesum::core {

/// The order in which elements are processed.
enum class Order {
  index,   ///< C order, the last axis fastest: for operations that depend on the order
  memory,  ///< any order: the order in memory
};

/// An axis with a stride of `stride` bytes.
struct Axis {
  std::uint64_t extent;
  std::int64_t stride;
};

/// The fewest axes that give the elements of `array` in this order: axes of extent 1 are dropped, and axes that are equivalent to one are
/// merged. For Order::memory, axes are sorted by their strides, and negative strides are reversed: `first` receives the offset in bytes of
/// the element that the iteration then begins with.
std::vector<Axis> simplified_axes(const Array& array, Order order, std::int64_t& first);

/// The elements of an array in host memory in this order as a view, if they form one strided run.
std::optional<View> single_view(const Array& array, Order order);

/// The same for an array in any memory. @throws Error (usage) with `what` where the elements are not such a run in host memory.
View require_single_view(const Array& array, Order order, std::string_view what);

/// Gives the elements block by block. Elements along one axis are one block, in place; others are copied, in blocks of as many indices of
/// an axis as fit, with all axes after it.
///
/// O(n), on all cores. Copies are made in tiles, so that all of a cache line is used before it is evicted.
class ArrayBlocks {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 23;

  /// Requires an `array` in host memory.
  ArrayBlocks(const Array& array, Order order, std::size_t block_bytes = kBlockBytes);

  /// The next block, valid until the next call; no value at the end, and where there are no elements.
  std::optional<View> next();

 private:
  struct Walk : Axis {
    std::uint64_t behind;  // elements of one step, in the requested order
  };

  void gather(const std::byte* from, std::uint64_t steps);

  const std::byte* data_;
  DType type_;
  std::uint64_t size_;
  std::vector<Walk> axes_;
  std::size_t axis_ = 0;          // the axis of which a block has several indices
  std::uint64_t most_steps_ = 1;  // of that axis in a block
  std::uint64_t done_ = 0;        // elements
  std::vector<std::byte> block_;
};

/// Calls body(View) with all elements of `array`, in order: at least once, with an empty view if there are none.
void for_blocks(const Array& array, Order order, FunctionRef<void(View)> body);

}  // namespace samesum::core
