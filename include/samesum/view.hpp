// A view: where an array lies in host memory, without owning or copying it. For arrays on devices: BufferView (samesum/buffer.hpp).
#pragma once

#include <samesum/types.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace samesum {

/// The type of what lies in a contiguous range.
template <class Range>
using ElementOf = typename decltype(std::span(std::declval<Range&>()))::value_type;

/// What elements lie in one after the other: a std::vector, std::array, std::span, C array, std::initializer_list … of a type that is an
/// Element. A text is none: for its bytes there is count_characters() (samesum/histogram.hpp).
template <class Range>
concept ElementRange = Element<ElementOf<Range>> && !std::convertible_to<Range&, std::string_view>;

/// `size` elements of type `type` in host memory, the first at `data`, one every `stride` bytes. Any byte alignment is allowed, and any
/// stride: 0 for one element again and again, negative for an array from its end. The memory stays the caller's and
/// must not change while a function of samesum reads it; any number of threads may read it.
class View {
 public:
  /// All of `elements`. Of a temporary (`sum(std::vector{1.0, 2.0})`) a view is good for the call that it is made for, and no longer.
  template <ElementRange Range>
  View(Range&& elements) noexcept
      : View(std::span(elements).data(), std::span(elements).size(), dtype_of<ElementOf<Range>>()) {}
  /// Any type: the only way to float16 and bfloat16, for which C++20 has no name.
  View(const void* data, std::uint64_t size, DType type) noexcept : View(data, size, type, static_cast<std::int64_t>(size_of(type))) {}
  /// One element every `stride` bytes: a column of a matrix, a channel of an image.
  View(const void* data, std::uint64_t size, DType type, std::int64_t stride) noexcept
      : data_(data), size_(size), type_(type), stride_(stride) {}

  const void* data() const noexcept { return data_; }
  std::uint64_t size() const noexcept { return size_; }                    ///< in elements
  std::uint64_t bytes() const noexcept { return size_ * size_of(type_); }  ///< of the elements, without what lies between them
  DType type() const noexcept { return type_; }
  std::int64_t stride() const noexcept { return stride_; }  ///< in bytes, from an element to the next
  bool contiguous() const noexcept { return stride_ == static_cast<std::int64_t>(size_of(type_)) || size_ <= 1; }

  /// `count` elements from element `first` on. Requires first + count <= size().
  View part(std::uint64_t first, std::uint64_t count) const noexcept {
    // An empty part has no place: `data` may be null.
    const std::int64_t offset = count == 0 ? 0 : static_cast<std::int64_t>(first) * stride_;
    return {static_cast<const std::byte*>(data_) + offset, count, type_, stride_};
  }

 private:
  const void* data_;
  std::uint64_t size_;
  DType type_;
  std::int64_t stride_;
};

}  // namespace samesum
