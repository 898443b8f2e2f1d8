#include "core/array/array_blocks.hpp"

#include "core/threads/parallel.hpp"
#include "core/visit.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace samesum::core {
namespace {

// The elements of a tile: along the last axis, and along all others together. Where the last axis is not the one with the smallest stride,
// a tile reads as many cache lines alternately as it has columns; otherwise each cache line is read once.
constexpr std::uint64_t kNarrowColumns = 16, kNarrowRows = 4096;
constexpr std::uint64_t kWideColumns = 16384, kWideElements = 65536;

std::uint64_t distance(const Axis& axis) { return static_cast<std::uint64_t>(std::abs(axis.stride)); }

// Iterates over the indices of some axes, the first one fastest.
class Odometer {
 public:
  struct Wheel {
    std::uint64_t extent;
    std::int64_t from, to;  // bytes of a step
  };

  Odometer(const std::vector<Wheel>& wheels, std::uint64_t position) : wheels_(wheels) {
    for (std::size_t i = 0; i < wheels.size(); ++i) {
      index_[i] = position % wheels[i].extent;
      position /= wheels[i].extent;
      from += static_cast<std::int64_t>(index_[i]) * wheels[i].from;
      to += static_cast<std::int64_t>(index_[i]) * wheels[i].to;
    }
  }
  void step() {
    for (std::size_t i = 0; i < wheels_.size(); ++i) {
      from += wheels_[i].from;
      to += wheels_[i].to;
      if (++index_[i] != wheels_[i].extent) return;
      from -= static_cast<std::int64_t>(wheels_[i].extent) * wheels_[i].from;
      to -= static_cast<std::int64_t>(wheels_[i].extent) * wheels_[i].to;
      index_[i] = 0;
    }
  }

  std::int64_t from = 0, to = 0;

 private:
  const std::vector<Wheel>& wheels_;
  std::array<std::uint64_t, Array::kMaxRank> index_{};
};

template <class Element>
void copy_run(const std::byte* from, std::int64_t stride, std::uint64_t count, std::byte* to) {
  if (stride == static_cast<std::int64_t>(sizeof(Element))) {
    std::memcpy(to, from, count * sizeof(Element));
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i, from += stride, to += sizeof(Element)) std::memcpy(to, from, sizeof(Element));
}

}  // namespace

std::vector<Axis> simplified_axes(const Array& array, Order order, std::int64_t& first) {
  first = 0;
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < array.rank(); ++i) {
    if (array.shape()[i] != 1) axes.push_back({array.shape()[i], array.strides()[i]});
  }
  if (order == Order::memory) {
    for (Axis& axis : axes) {
      if (axis.stride >= 0) continue;
      first += static_cast<std::int64_t>(axis.extent - 1) * axis.stride;
      axis.stride = -axis.stride;
    }
    std::ranges::stable_sort(axes, [](const Axis& a, const Axis& b) { return a.stride > b.stride; });
  }
  std::vector<Axis> merged;
  for (const Axis& axis : axes) {
    if (!merged.empty() && merged.back().stride == static_cast<std::int64_t>(axis.extent) * axis.stride) {
      merged.back() = {merged.back().extent * axis.extent, axis.stride};
    } else {
      merged.push_back(axis);
    }
  }
  return merged;
}

std::optional<View> single_view(const Array& array, Order order) {
  if (array.rank() == 1) return View(array.data(), array.size(), array.type(), array.stride());
  const auto element = static_cast<std::int64_t>(size_of(array.type()));
  if (array.size() == 0) return View(array.data(), 0, array.type());
  std::int64_t first = 0;
  const std::vector<Axis> axes = simplified_axes(array, order, first);
  if (axes.size() > 1) return std::nullopt;
  return View(static_cast<const std::byte*>(array.data()) + first, array.size(), array.type(),
              axes.empty() ? element : axes.front().stride);
}

View require_single_view(const Array& array, Order order, std::string_view what) {
  const std::optional<View> view = array.on_device() ? std::nullopt : single_view(array, order);
  if (!view)
    throw Error(ErrorKind::usage, fmt::format("{} takes an array in host memory whose elements are one run with one stride", what));
  return *view;
}

ArrayBlocks::ArrayBlocks(const Array& array, Order order, std::size_t block_bytes)
    : data_(static_cast<const std::byte*>(array.data())), type_(array.type()), size_(array.size()) {
  if (size_ == 0) return;
  std::int64_t first = 0;
  for (const Axis& axis : simplified_axes(array, order, first)) axes_.push_back({axis, 1});
  data_ += first;
  if (axes_.size() <= 1) return;
  for (std::size_t i = axes_.size(); i-- > 1;) axes_[i - 1].behind = axes_[i].behind * axes_[i].extent;
  const std::uint64_t most = std::max<std::uint64_t>(block_bytes / size_of(type_), 1);
  while (axes_[axis_].behind > most) ++axis_;
  most_steps_ = std::min(most / axes_[axis_].behind, axes_[axis_].extent);
  block_.resize(static_cast<std::size_t>(most_steps_ * axes_[axis_].behind * size_of(type_)));
}

std::optional<View> ArrayBlocks::next() {
  if (done_ == size_) return std::nullopt;
  if (axes_.size() <= 1) {
    done_ = size_;
    return View(data_, size_, type_, axes_.empty() ? static_cast<std::int64_t>(size_of(type_)) : axes_.front().stride);
  }
  std::int64_t offset = 0;
  for (std::size_t i = 0; i <= axis_; ++i) {
    offset += static_cast<std::int64_t>(done_ / axes_[i].behind % axes_[i].extent) * axes_[i].stride;
  }
  const Walk& axis = axes_[axis_];
  const std::uint64_t steps = std::min(most_steps_, axis.extent - done_ / axis.behind % axis.extent);
  gather(data_ + offset, steps);
  done_ += steps * axis.behind;
  return View(block_.data(), steps * axis.behind, type_);
}

// Columns are the indices of the last axis; rows those of the others, the smallest stride fastest.
void ArrayBlocks::gather(const std::byte* from, std::uint64_t steps) {
  std::vector<Walk> axes(axes_.begin() + static_cast<std::ptrdiff_t>(axis_), axes_.end());
  axes.front().extent = steps;
  const Walk last = axes.back();
  axes.pop_back();
  std::ranges::stable_sort(axes, [](const Axis& a, const Axis& b) { return distance(a) < distance(b); });
  std::vector<Odometer::Wheel> wheels;
  std::uint64_t rows = 1;
  for (const Walk& axis : axes) {
    wheels.push_back({axis.extent, axis.stride, static_cast<std::int64_t>(axis.behind * size_of(type_))});
    rows *= axis.extent;
  }
  const bool wide = axes.empty() || distance(last) <= distance(axes.front());
  const std::uint64_t columns = std::min(wide ? kWideColumns : kNarrowColumns, last.extent);
  const std::uint64_t rows_together = wide ? std::max<std::uint64_t>(kWideElements / columns, 1) : kNarrowRows;
  const std::uint64_t across = (last.extent + columns - 1) / columns, down = (rows + rows_together - 1) / rows_together;
  visit(type_, [&](auto element) {
    using Element = decltype(element);
    parallel_for(across * down, [&](std::uint64_t tile) {
      const std::uint64_t first_row = tile / across * rows_together, end_row = std::min(first_row + rows_together, rows);
      const std::uint64_t first = tile % across * columns, count = std::min(columns, last.extent - first);
      Odometer at(wheels, first_row);
      for (std::uint64_t row = first_row; row < end_row; ++row, at.step()) {
        copy_run<Element>(from + at.from + static_cast<std::int64_t>(first) * last.stride, last.stride, count,
                          block_.data() + at.to + first * sizeof(Element));
      }
    });
  });
}

void for_blocks(const Array& array, Order order, FunctionRef<void(View)> body) {
  if (const std::optional<View> view = single_view(array, order)) return body(*view);
  ArrayBlocks blocks(array, order);
  while (const std::optional<View> block = blocks.next()) body(*block);
}

}  // namespace samesum::core
