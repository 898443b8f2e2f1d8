// Arrays: where elements lie, in host memory or on a device, without owning or copying them. Every function of samesum takes them.
//
//   samesum::sum(values);                                              // a std::vector, std::span, std::array, C array …
//   samesum::sum(samesum::Array(data, {rows, columns}, samesum::DType::float32).column(2));
//   samesum::sum(samesum::Array(samesum::Buffer::wrap(gpu, pointer, bytes), n, samesum::DType::float32));
#pragma once

#include <samesum/buffer.hpp>
#include <samesum/export.hpp>
#include <samesum/types.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// The element type of a contiguous range; bool counts as uint8, its representation in memory.
template <class Range>
using ElementOf = std::conditional_t<std::same_as<typename decltype(std::span(std::declval<Range&>()))::value_type, bool>, std::uint8_t,
                                     typename decltype(std::span(std::declval<Range&>()))::value_type>;

/// A contiguous range of elements: a std::vector, std::array, std::span, C array, std::initializer_list … of a type that is an Element, or
/// of bool. Strings are excluded: count_characters() (samesum/histogram.hpp) counts their bytes.
template <class Range>
concept ElementRange = Element<ElementOf<Range>> && !std::convertible_to<Range&, std::string_view>;

/// The extents of an array's axes: `{rows, columns}`, a std::vector or std::span of them. Valid only for the call that it is made for.
class Shape {
 public:
  Shape(std::initializer_list<std::uint64_t> extents) noexcept : extents_(extents.begin(), extents.size()) {}
  Shape(std::span<const std::uint64_t> extents) noexcept : extents_(extents) {}
  Shape(const std::vector<std::uint64_t>& extents) noexcept : extents_(extents) {}
  std::span<const std::uint64_t> extents() const noexcept { return extents_; }  ///< as given

 private:
  std::span<const std::uint64_t> extents_;
};

/// The distance in bytes from an element to the next along each axis: `{-8, 80}`, a std::vector or std::span of them. Lifetime as Shape.
class Strides {
 public:
  Strides(std::initializer_list<std::int64_t> bytes) noexcept : bytes_(bytes.begin(), bytes.size()) {}
  Strides(std::span<const std::int64_t> bytes) noexcept : bytes_(bytes) {}
  Strides(const std::vector<std::int64_t>& bytes) noexcept : bytes_(bytes) {}
  std::span<const std::int64_t> bytes() const noexcept { return bytes_; }  ///< as given

 private:
  std::span<const std::int64_t> bytes_;
};

/// A view of elements of one type with up to kMaxRank axes. Any order is C order, the last axis fastest (as in C and
/// numpy). Strides are in bytes, and may be 0 (the same element repeated) or negative. The memory stays the caller's and must not change
/// while a function of samesum reads it; any number of threads may read it.
///
/// In host memory elements may be unaligned; in device memory they must be aligned to their size.
class Array {
 public:
  static constexpr std::size_t kMaxRank = 64;                        ///< numpy's
  static constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 60;  ///< elements

  /// All of `elements`, one axis. A view of a temporary (`sum(std::vector{1.0, 2.0})`) is valid only for that call.
  template <ElementRange Range>
  Array(Range&& elements) noexcept : Array(std::span(elements).data(), std::span(elements).size(), dtype_of<ElementOf<Range>>()) {}

  /// `size` elements in host memory, one every `stride` bytes: any type, also float16 and bfloat16, for which C++20 has no name.
  /// @throws Error (usage) for more than kMaxSize elements.
  template <std::integral Size>  // {} is a Shape
  Array(const void* data, Size size, DType type)
      : Array(data, static_cast<std::uint64_t>(size), type, static_cast<std::int64_t>(size_of(type))) {}
  Array(const void* data, std::uint64_t size, DType type, std::int64_t stride)
      : data_(static_cast<const std::byte*>(data)), size_(size), type_(type), rank_(1) {
    extents_[0] = size;
    strides_[0] = stride;
    if (size > kMaxSize) refuse_size();
  }
  /// Several axes; in C order, or as `strides` says. No axis at all: one element.
  /// @throws Error (usage) for more than kMaxRank axes, more than kMaxSize elements, and strides that are not one for each axis.
  Array(const void* data, Shape shape, DType type);
  Array(const void* data, Shape shape, DType type, Strides strides);

  // Copies only the first rank_ entries of extents and strides.
  Array(const Array& other) noexcept;
  Array& operator=(const Array& other) noexcept;
  Array(Array&& other) noexcept : Array(static_cast<const Array&>(other)) {}
  Array& operator=(Array&& other) noexcept { return *this = static_cast<const Array&>(other); }
  ~Array() = default;

  /// The same in a device's memory, the first element at byte `offset` of `buffer`.
  /// @throws Error (usage) as above, and if an element would lie outside of the buffer or is not aligned to its size.
  Array(Buffer buffer, std::uint64_t size, DType type, std::uint64_t offset = 0);
  Array(Buffer buffer, std::uint64_t size, DType type, std::uint64_t offset, std::int64_t stride);
  Array(Buffer buffer, Shape shape, DType type, std::uint64_t offset = 0);
  Array(Buffer buffer, Shape shape, DType type, std::uint64_t offset, Strides strides);

  DType type() const noexcept { return type_; }                            ///< of the elements
  std::uint64_t size() const noexcept { return size_; }                    ///< elements in all
  std::uint64_t bytes() const noexcept { return size_ * size_of(type_); }  ///< of the elements, without what lies between them
  std::size_t rank() const noexcept { return rank_; }                      ///< axes
  std::span<const std::uint64_t> shape() const noexcept { return {extents_.data(), rank_}; }   ///< the extent of each axis
  std::span<const std::int64_t> strides() const noexcept { return {strides_.data(), rank_}; }  ///< in bytes, of each axis
  /// The distance in bytes from an element to the next of an array of one axis.
  std::int64_t stride() const noexcept { return strides_[0]; }
  /// Whether the elements lie one after the other, in the order of their indices.
  bool contiguous() const noexcept;

  bool on_device() const noexcept { return buffer_.has_value(); }  ///< whether the elements are in a device's memory
  /// The address of the first element in host memory; null on a device.
  const void* data() const noexcept { return data_; }
  /// Of an array on a device: its memory, and the byte offset of the first element in it. Requires on_device().
  const Buffer& buffer() const noexcept { return *buffer_; }
  std::uint64_t offset() const noexcept { return offset_; }  ///< in bytes

  /// `count` indices of an axis, starting at `first` with a step of `step`, which may be negative.
  /// @throws Error (usage) if an index or the axis is out of range.
  Array slice(std::size_t axis, std::uint64_t first, std::uint64_t count, std::int64_t step = 1) const;
  /// slice(0, first, count): a part of an array of one axis, rows of a matrix.
  Array part(std::uint64_t first, std::uint64_t count) const;
  /// The elements at one index of an axis; the result lacks that axis. @throws Error (usage) if the index or the axis is out of range.
  Array at(std::size_t axis, std::uint64_t index) const;
  Array row(std::uint64_t index) const { return at(0, index); }     ///< of a matrix
  Array column(std::uint64_t index) const { return at(1, index); }  ///< of a matrix
  /// The axes in reverse order.
  Array transposed() const noexcept;
  /// The same elements in the same order with other axes. @throws Error (usage) for another number of elements, and if a copy would be
  /// needed.
  Array reshaped(Shape shape) const;

 private:
  [[noreturn]] void refuse_size() const;
  void set_axes(std::span<const std::uint64_t> extents, std::span<const std::int64_t> strides);
  void set_axes(std::span<const std::uint64_t> extents);
  void check_place() const;
  void advance(std::int64_t bytes) noexcept;

  const std::byte* data_ = nullptr;
  std::optional<Buffer> buffer_;
  std::uint64_t offset_ = 0;
  std::uint64_t size_ = 1;
  DType type_ = DType::float64;
  std::uint32_t rank_ = 0;
  std::array<std::uint64_t, kMaxRank> extents_;  // the first rank_ of them
  std::array<std::int64_t, kMaxRank> strides_;
};

}  // namespace samesum
