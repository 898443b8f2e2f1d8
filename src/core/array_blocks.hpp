// The elements of an array in host memory, whatever its axes, as runs that loops can walk.
#pragma once

#include "core/view.hpp"

#include <samesum/array.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace samesum::core {

/// In which order elements are wanted.
enum class Order {
  index,   ///< of their indices, the last axis fastest: for what depends on it
  memory,  ///< any: as they lie
};

/// An axis along which elements lie `stride` bytes apart.
struct Axis {
  std::uint64_t extent;
  std::int64_t stride;
};

/// The fewest axes by which the elements of `array` come in this order: those of one element are left out, and those that count as one are
/// one. By memory, axes are sorted by their strides, and counted upwards: `first` receives the bytes from the array's first element to the
/// one with which that begins.
std::vector<Axis> simplified_axes(const Array& array, Order order, std::int64_t& first);

/// The elements of an array in host memory in this order as they lie, where they are one run.
std::optional<View> single_view(const Array& array, Order order);

/// The same, of an array that may lie anywhere. @throws Error (usage) with `what` where it is no such array.
View require_single_view(const Array& array, Order order, std::string_view what);

/// Gives the elements block by block. Where they lie along one axis, all of them in one, where they are; else copies, in blocks: as many
/// indices of an axis as fit, with all of those behind it.
///
/// O(n), by all cores. Copies are made in tiles, so that a line of the cache that was read is used up before it is lost.
class ArrayBlocks {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 23;

  /// `array` lies in host memory.
  ArrayBlocks(const Array& array, Order order, std::size_t block_bytes = kBlockBytes);

  /// The next block, which is valid until the next call; nothing at the end. Of no elements: nothing.
  std::optional<View> next();

 private:
  struct Walk : Axis {
    std::uint64_t behind;  // elements that one step takes in the order in which they are wanted
  };

  void gather(const std::byte* from, std::uint64_t steps);

  const std::byte* data_;
  DType type_;
  std::uint64_t size_;
  std::vector<Walk> axes_;
  std::size_t axis_ = 0;          // which a block has several indices of
  std::uint64_t most_steps_ = 1;  // of it
  std::uint64_t done_ = 0;        // elements
  std::vector<std::byte> block_;
};

/// Calls body(View) with all elements of `array`, in order: at least once, with an empty view where there are none.
template <class Body>
void for_blocks(const Array& array, Order order, const Body& body) {
  if (const std::optional<View> view = single_view(array, order)) return body(*view);
  ArrayBlocks blocks(array, order);
  while (const std::optional<View> block = blocks.next()) body(*block);
}

}  // namespace samesum::core
