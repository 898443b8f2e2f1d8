#include "device/array.hpp"

#include "device/buffer.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

namespace samesum::device {
namespace {

void check_device(const Buffer& buffer, const samesum::Device& device, std::string_view what) {
  if (&buffer.device().implementation() == &device.implementation()) return;
  throw Error(ErrorKind::usage, fmt::format("{} lies on {}, the plan is for {}, or for another queue of it", what,
                                            buffer.device().info().selector, device.info().selector));
}

}  // namespace

Array array_of(const BufferView& data) { return {data.buffer().state().memory, data.size(), data.stride(), data.offset()}; }

View host_view(const BufferView& data) {
  const auto* base = static_cast<const std::byte*>(data.buffer().state().memory.handle.get());
  return {base + data.offset(), data.size(), data.type(), data.stride()};
}

void check_planned(const BufferView& data, const samesum::Device& device, DType type, Layout layout) {
  check_device(data.buffer(), device, "the array");
  if (data.type() != type) {
    throw Error(ErrorKind::usage, fmt::format("the plan is for {}, the array has {}", name_of(type), name_of(data.type())));
  }
  if (layout == Layout::strided || data.contiguous()) return;
  throw Error(ErrorKind::usage,
              fmt::format("the plan is for contiguous arrays, the array has an element every {} bytes: make the plan with "
                          "Layout::strided, so that it compiles the kernel for these as well",
                          data.stride()));
}

void refuse_result() {
  throw Error(ErrorKind::usage,
              "the plan has no result yet: call launch(data) before result(); what launch() left in a buffer is read there");
}

Place place_in(const Buffer& to, std::uint64_t offset, std::string_view record, std::size_t bytes, const samesum::Device& device) {
  check_device(to, device, "the place for the result");
  if (offset % 8 != 0 || offset > to.bytes() || to.bytes() - offset < bytes) {
    throw Error(ErrorKind::usage, fmt::format("{} of {} bytes at byte {} is not aligned to 8, or not within a buffer of {} bytes", record,
                                              bytes, offset, to.bytes()));
  }
  return {to.state().memory, offset};
}

}  // namespace samesum::device
