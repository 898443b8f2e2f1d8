// Arrays in a device's memory, as kernels take them, and the places where their results go.
#pragma once

#include "device/device.hpp"

#include <samesum/buffer.hpp>
#include <samesum/view.hpp>

#include <cstdint>
#include <string_view>

namespace samesum::device {

/// `count` elements, one every `stride` bytes, the first at byte `offset`. The element's size divides offset and stride, the memory's own
/// misalignment included.
struct Array {
  Memory memory;
  std::uint64_t count = 0;
  std::int64_t stride = 0;
  std::uint64_t offset = 0;
};
Array array_of(const BufferView& data);

/// The same where the device's memory is the host's.
View host_view(const BufferView& data);

/// @throws Error (usage) where a plan for arrays of `type` and `layout` on `device` cannot take `data`.
void check_planned(const BufferView& data, const samesum::Device& device, DType type, Layout layout);
/// @throws Error (usage): result() of a plan that was not launched.
[[noreturn]] void refuse_result();

/// Where a record is to go.
struct Place {
  Memory memory;
  std::uint64_t offset = 0;  // in bytes
};
/// @throws Error (usage) where `to` is not on the plan's device, or has no room for `bytes` bytes of "a SumRecord" at `offset`, or no
/// alignment to 8 there.
Place place_in(const Buffer& to, std::uint64_t offset, std::string_view record, std::size_t bytes, const samesum::Device& device);

}  // namespace samesum::device
