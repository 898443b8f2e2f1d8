#include "io/index_order.hpp"

#include "core/parallel.hpp"
#include "core/visit.hpp"

#include <algorithm>
#include <cstring>

namespace samesum::io {
namespace {

// A tile: so many elements that lie one after the other by index, for so many that do in memory. As many lines of a cache are read by turns
// as a tile has columns.
constexpr std::uint64_t kTileColumns = 16;
constexpr std::uint64_t kTileRows = 4096;

}  // namespace

IndexOrder::IndexOrder(View memory, const std::vector<std::uint64_t>& shape, std::size_t block_bytes) : memory_(memory) {
  std::uint64_t apart = 1;
  for (const std::uint64_t size : shape) {
    if (size != 1) axes_.push_back({size, 1, apart});
    apart *= size;
  }
  if (axes_.empty()) axes_.push_back({memory.size(), 1, 1});
  for (std::size_t i = axes_.size(); i-- > 1;) axes_[i - 1].behind = axes_[i].behind * axes_[i].size;
  const std::uint64_t most = std::max<std::uint64_t>(block_bytes / size_of(memory.type()), 1);
  while (axes_[axis_].behind > most) ++axis_;
  most_steps_ = std::min(most / axes_[axis_].behind, axes_[axis_].size);
  block_.resize(static_cast<std::size_t>(std::min(most_steps_ * axes_[axis_].behind, memory.size()) * size_of(memory.type())));
}

std::optional<View> IndexOrder::next() {
  if (done_ == memory_.size()) return std::nullopt;
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i <= axis_; ++i) offset += done_ / axes_[i].behind % axes_[i].size * axes_[i].apart;
  const Axis& axis = axes_[axis_];
  const std::uint64_t steps = std::min(most_steps_, axis.size - done_ / axis.behind % axis.size);
  gather(static_cast<const std::byte*>(memory_.data()) + offset * size_of(memory_.type()), steps);
  done_ += steps * axis.behind;
  return View(block_.data(), steps * axis.behind, memory_.type());
}

// Columns are the indices of the last axis; rows those of the others, in the order of memory.
void IndexOrder::gather(const std::byte* from, std::uint64_t steps) {
  std::vector<Axis> axes(axes_.begin() + static_cast<std::ptrdiff_t>(axis_), axes_.end());
  axes.front().size = steps;
  const Axis last = axes.back();
  axes.pop_back();
  std::uint64_t rows = 1;
  for (const Axis& axis : axes) rows *= axis.size;
  const std::uint64_t across = (last.size + kTileColumns - 1) / kTileColumns, down = (rows + kTileRows - 1) / kTileRows;
  core::visit(memory_.type(), [&](auto element) {
    using Element = decltype(element);
    core::parallel_for(std::uint64_t{0}, across * down, [&](std::uint64_t tile) {
      const std::uint64_t first_row = tile / across * kTileRows, end_row = std::min(first_row + kTileRows, rows);
      const std::uint64_t first = tile % across * kTileColumns, end = std::min(first + kTileColumns, last.size);
      for (std::uint64_t row = first_row; row < end_row; ++row) {
        std::uint64_t to = 0, at = 0, left = row;
        for (const Axis& axis : axes) {
          const std::uint64_t index = left % axis.size;
          left /= axis.size;
          to += index * axis.behind;
          at += index * axis.apart;
        }
        for (std::uint64_t i = first; i < end; ++i) {
          std::memcpy(block_.data() + (to + i) * sizeof(Element), from + (at + i * last.apart) * sizeof(Element), sizeof(Element));
        }
      }
    });
  });
}

}  // namespace samesum::io
