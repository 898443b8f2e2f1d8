// A view: where an array lies in host memory, without owning or copying it. For arrays on devices: BufferView (samesum/buffer.hpp).
#pragma once

#include <samesum/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace samesum {

/// `size` elements of type `type` in host memory, the first at `data`, one every `stride` bytes. Any byte alignment is allowed, and any
/// stride: 0 for one element again and again, negative for an array from its end. The memory stays the caller's and
/// must not change while a function of samesum reads it; any number of threads may read it.
class View {
 public:
  View(std::span<const std::int8_t> values) noexcept : View(values.data(), values.size(), DType::int8) {}
  View(std::span<const std::uint8_t> values) noexcept : View(values.data(), values.size(), DType::uint8) {}
  View(std::span<const std::int16_t> values) noexcept : View(values.data(), values.size(), DType::int16) {}
  View(std::span<const std::uint16_t> values) noexcept : View(values.data(), values.size(), DType::uint16) {}
  View(std::span<const std::int32_t> values) noexcept : View(values.data(), values.size(), DType::int32) {}
  View(std::span<const std::uint32_t> values) noexcept : View(values.data(), values.size(), DType::uint32) {}
  View(std::span<const std::int64_t> values) noexcept : View(values.data(), values.size(), DType::int64) {}
  View(std::span<const std::uint64_t> values) noexcept : View(values.data(), values.size(), DType::uint64) {}
  View(std::span<const float> values) noexcept : View(values.data(), values.size(), DType::float32) {}
  View(std::span<const double> values) noexcept : View(values.data(), values.size(), DType::float64) {}
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
