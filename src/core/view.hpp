// Strided elements in host memory: the input of the CPU's loops. Public functions take an Array of any shape, and pass it to loops run by
// run (core/array/array_blocks.hpp).
#pragma once

#include <samesum/array.hpp>
#include <samesum/types.hpp>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

namespace samesum {

/// `size` elements of type `type`, the first at `data`, the others at intervals of `stride` bytes. Any alignment and any stride are
/// allowed.
class View {
 public:
  template <ElementRange Range>
  View(Range&& elements) noexcept
      : View(std::span(elements).data(), std::span(elements).size(), dtype_of<ElementOf<Range>>()) {}
  View(const void* data, std::uint64_t size, DType type) noexcept : View(data, size, type, static_cast<std::int64_t>(size_of(type))) {}
  View(const void* data, std::uint64_t size, DType type, std::int64_t stride) noexcept
      : data_(data), size_(size), type_(type), stride_(stride) {}
  /// Requires an array of one axis in host memory.
  View(const Array& array) noexcept : View(array.data(), array.size(), array.type(), array.stride()) {
    assert(array.rank() == 1 && !array.on_device());
  }
  operator Array() const noexcept { return {data_, size_, type_, stride_}; }

  const void* data() const noexcept { return data_; }
  std::uint64_t size() const noexcept { return size_; }                    ///< in elements
  std::uint64_t bytes() const noexcept { return size_ * size_of(type_); }  ///< of the elements, without gaps
  DType type() const noexcept { return type_; }
  std::int64_t stride() const noexcept { return stride_; }  ///< in bytes, from an element to the next
  bool contiguous() const noexcept { return stride_ == static_cast<std::int64_t>(size_of(type_)) || size_ <= 1; }

  /// `count` elements from element `first` on. Requires first + count <= size().
  View part(std::uint64_t first, std::uint64_t count) const noexcept {
    // An empty part has no address: `data` may be null.
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
