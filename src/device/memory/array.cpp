// Arrays: axes, slices, and bounds checks.
#include <samesum/array.hpp>

#include "core/float_environment.hpp"
#include "device/memory/buffer.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace samesum {
namespace {

// For strides and extents before validation: products of them may overflow 64 bits.
__extension__ using Wide = __int128;

[[noreturn]] void refuse(std::string message) { throw Error(ErrorKind::usage, std::move(message)); }

std::string text_of(std::span<const std::uint64_t> extents) { return fmt::format("{}", fmt::join(extents, " x ")); }

}  // namespace

// With the limit sizes in bytes are int64.
void Array::refuse_size() const { refuse(fmt::format("an array of {} elements has more than 2^60", text_of(shape()))); }

void Array::set_axes(std::span<const std::uint64_t> extents, std::span<const std::int64_t> strides) {
  const core::DefaultFloatEnvironment environment;
  if (extents.size() > kMaxRank) refuse(fmt::format("an array of {} axes: there can be {}", extents.size(), kMaxRank));
  if (strides.size() != extents.size()) {
    refuse(fmt::format("an array of {} axes needs as many strides, in bytes: {} are given", extents.size(), strides.size()));
  }
  rank_ = static_cast<std::uint32_t>(extents.size());
  std::ranges::copy(extents, extents_.begin());
  std::ranges::copy(strides, strides_.begin());
  size_ = 1;
  if (std::ranges::find(extents, 0u) != extents.end()) size_ = 0;
  for (const std::uint64_t extent : extents) {
    if (size_ != 0 && (__builtin_mul_overflow(size_, extent, &size_) || size_ > kMaxSize)) refuse_size();
  }
}

void Array::set_axes(std::span<const std::uint64_t> extents) {
  std::array<std::int64_t, kMaxRank> strides{};
  auto behind = static_cast<std::int64_t>(size_of(type_));
  for (std::size_t axis = std::min(extents.size(), kMaxRank); axis-- > 0;) {
    strides[axis] = behind;
    // An overflow means too many elements, an error found below, or none, where strides do not matter.
    behind = static_cast<std::int64_t>(static_cast<std::uint64_t>(behind) * extents[axis]);
  }
  set_axes(extents, std::span(strides).first(std::min(extents.size(), kMaxRank)));
}

void Array::check_place() const {
  const core::DefaultFloatEnvironment environment;
  const std::uint64_t element = size_of(type_);
  const std::uint64_t misalignment = buffer_->device().implementation().misalignment(buffer_->state().memory);
  Wide first = static_cast<Wide>(offset_), last = first;  // byte offsets of the lowest and the highest element
  bool aligned = (offset_ + misalignment) % element == 0;
  for (std::size_t axis = 0; axis < rank_; ++axis) {
    aligned &= strides_[axis] % static_cast<std::int64_t>(element) == 0;
    if (size_ == 0) continue;
    const Wide reach = static_cast<Wide>(strides_[axis]) * static_cast<Wide>(extents_[axis] - 1);
    (reach < 0 ? first : last) += reach;
  }
  if (!aligned) {
    refuse(fmt::format("elements of {} bytes every {} bytes from byte {} of a buffer on are not aligned", element,
                       fmt::join(strides(), ", "), offset_));
  }
  if (size_ == 0 || (first >= 0 && last + static_cast<Wide>(element) <= static_cast<Wide>(buffer_->bytes()))) return;
  refuse(fmt::format("{} elements of {} bytes, one every {} bytes from byte {} on, do not lie within the {} bytes of the buffer",
                     text_of(shape()), element, fmt::join(strides(), ", "), offset_, buffer_->bytes()));
}

Array::Array(const void* data, Shape shape, DType type) : data_(static_cast<const std::byte*>(data)), type_(type) {
  set_axes(shape.extents());
}

Array::Array(const void* data, Shape shape, DType type, Strides strides) : data_(static_cast<const std::byte*>(data)), type_(type) {
  set_axes(shape.extents(), strides.bytes());
}

Array::Array(Buffer buffer, std::uint64_t size, DType type, std::uint64_t offset)
    : Array(std::move(buffer), size, type, offset, static_cast<std::int64_t>(size_of(type))) {}

Array::Array(Buffer buffer, std::uint64_t size, DType type, std::uint64_t offset, std::int64_t stride)
    : Array(std::move(buffer), Shape{size}, type, offset, Strides{stride}) {}

Array::Array(Buffer buffer, Shape shape, DType type, std::uint64_t offset) : buffer_(std::move(buffer)), offset_(offset), type_(type) {
  set_axes(shape.extents());
  check_place();
}

Array::Array(Buffer buffer, Shape shape, DType type, std::uint64_t offset, Strides strides)
    : buffer_(std::move(buffer)), offset_(offset), type_(type) {
  set_axes(shape.extents(), strides.bytes());
  check_place();
}

Array::Array(const Array& other) noexcept : type_(other.type_) { *this = other; }

Array& Array::operator=(const Array& other) noexcept {
  data_ = other.data_;
  buffer_ = other.buffer_;
  offset_ = other.offset_;
  size_ = other.size_;
  type_ = other.type_;
  rank_ = other.rank_;
  std::copy_n(other.extents_.begin(), rank_, extents_.begin());
  std::copy_n(other.strides_.begin(), rank_, strides_.begin());
  return *this;
}

bool Array::contiguous() const noexcept {
  if (size_ <= 1) return true;
  auto behind = static_cast<std::int64_t>(size_of(type_));
  for (std::size_t axis = rank_; axis-- > 0;) {
    if (extents_[axis] != 1 && strides_[axis] != behind) return false;
    behind *= static_cast<std::int64_t>(extents_[axis]);
  }
  return true;
}

void Array::advance(std::int64_t bytes) noexcept {
  if (buffer_) {
    offset_ += static_cast<std::uint64_t>(bytes);
  } else {
    data_ += bytes;
  }
}

Array Array::slice(std::size_t axis, std::uint64_t first, std::uint64_t count, std::int64_t step) const {
  if (axis >= rank_) refuse(fmt::format("there is no axis {} in an array of {}", axis, rank_));
  const Wide last = static_cast<Wide>(first) + static_cast<Wide>(step) * (static_cast<Wide>(count) - 1);
  const bool outside = count != 0 && (first >= extents_[axis] || last < 0 || last >= static_cast<Wide>(extents_[axis]));
  if (outside || first > extents_[axis]) {
    refuse(fmt::format("{} indices from {} on, every {}, are not all within an axis of {}", count, first, step, extents_[axis]));
  }
  Array result = *this;
  result.extents_[axis] = count;
  // An array without elements has no address: `data` may be null.
  if (count != 0 && size_ != 0) result.advance(static_cast<std::int64_t>(first) * strides_[axis]);
  if (count > 1) result.strides_[axis] *= step;
  result.size_ = 1;
  for (const std::uint64_t extent : result.shape()) result.size_ *= extent;
  return result;
}

Array Array::part(std::uint64_t first, std::uint64_t count) const { return slice(0, first, count); }

Array Array::at(std::size_t axis, std::uint64_t index) const {
  if (axis < rank_ && index >= extents_[axis]) refuse(fmt::format("there is no index {} in an axis of {}", index, extents_[axis]));
  Array result = slice(axis, index, 1);
  for (std::size_t next = axis; next + 1 < rank_; ++next) {
    result.extents_[next] = result.extents_[next + 1];
    result.strides_[next] = result.strides_[next + 1];
  }
  --result.rank_;
  return result;
}

Array Array::transposed() const noexcept {
  Array result = *this;
  std::reverse(result.extents_.begin(), result.extents_.begin() + rank_);
  std::reverse(result.strides_.begin(), result.strides_.begin() + rank_);
  return result;
}

// Axes of the old and the new shape are matched in groups with the same number of elements; the old axes of a group must be equivalent to
// one strided axis.
Array Array::reshaped(Shape wanted) const {
  Array result = *this;
  result.set_axes(wanted.extents());
  if (result.size_ != size_) refuse(fmt::format("{} elements cannot be reshaped to {}", size_, text_of(wanted.extents())));
  if (size_ <= 1) return result;
  std::size_t from = 0, to = 0;
  while (from < rank_ || to < result.rank_) {
    const std::size_t from_first = from, to_first = to;
    std::uint64_t old_count = from < rank_ ? extents_[from++] : 1, new_count = to < result.rank_ ? result.extents_[to++] : 1;
    while (old_count != new_count) old_count < new_count ? old_count *= extents_[from++] : new_count *= result.extents_[to++];
    std::int64_t stride = 0;
    std::uint64_t count = 0;  // elements of the axes so far, from the last one; 0: only axes of extent 1 so far
    for (std::size_t axis = from; axis-- > from_first;) {
      if (extents_[axis] == 1) continue;
      if (count != 0 && strides_[axis] != stride * static_cast<std::int64_t>(count)) {
        refuse(fmt::format("an array of {} elements with strides of {} bytes cannot be reshaped to {} without a copy", text_of(shape()),
                           fmt::join(strides(), ", "), text_of(wanted.extents())));
      }
      if (count == 0) stride = strides_[axis], count = 1;
      count *= extents_[axis];
    }
    for (std::size_t axis = to; axis-- > to_first;) {
      result.strides_[axis] = stride;
      stride *= static_cast<std::int64_t>(result.extents_[axis]);
    }
  }
  return result;
}

}  // namespace samesum
