#include "device/buffer.hpp"
#include "core/float_environment.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <limits>
#include <mutex>
#include <utility>

namespace samesum {
namespace {

using device::Lock;

}  // namespace

Buffer::Buffer(const Device& device, std::uint64_t bytes) {
  const core::DefaultFloatEnvironment environment;
  device::Device& implementation = device.implementation();
  const Lock lock(implementation.mutex());
  state_ = std::make_shared<State>(State{device, implementation.allocate(bytes)});
}

Buffer Buffer::wrap(const Device& device, void* memory, std::uint64_t bytes) {
  const core::DefaultFloatEnvironment environment;
  device::Device& implementation = device.implementation();
  const Lock lock(implementation.mutex());
  return Buffer(std::make_shared<State>(State{device, implementation.wrap(memory, bytes)}));
}

std::uint64_t Buffer::bytes() const noexcept { return state_->memory.bytes; }

const Device& Buffer::device() const noexcept { return state_->device; }

void Buffer::write(const void* from, std::uint64_t bytes, std::uint64_t offset) const {
  const core::DefaultFloatEnvironment environment;
  device::Device& device = state_->device.implementation();
  const Lock lock(device.mutex());
  device.write(state_->memory, offset, from, bytes);
}

void Buffer::read(void* to, std::uint64_t bytes, std::uint64_t offset) const {
  const core::DefaultFloatEnvironment environment;
  device::Device& device = state_->device.implementation();
  const Lock lock(device.mutex());
  device.read(state_->memory, offset, to, bytes);
}

BufferView::BufferView(Buffer buffer, std::uint64_t size, DType type, std::uint64_t offset, std::int64_t stride)
    : buffer_(std::move(buffer)), size_(size), type_(type), offset_(offset), stride_(stride) {
  const auto element = static_cast<std::int64_t>(size_of(type));
  device::Device& device = buffer_.device().implementation();
  if (stride % element != 0 || (offset + device.misalignment(buffer_.state().memory)) % size_of(type) != 0) {
    throw Error(ErrorKind::usage,
                fmt::format("elements of {} bytes every {} bytes from byte {} of a buffer on are not aligned", element, stride, offset));
  }
  if (size == 0) return;
  // The bytes from the first element that lie before and behind it: in 128 bits, as nobody has checked the arguments.
  __extension__ using Wide = __int128;
  const Wide last = static_cast<Wide>(offset) + static_cast<Wide>(stride) * static_cast<Wide>(size - 1);
  const Wide end = (last > static_cast<Wide>(offset) ? last : static_cast<Wide>(offset)) + element;
  if (last < 0 || end > static_cast<Wide>(buffer_.bytes())) {
    throw Error(ErrorKind::usage, fmt::format("{} elements of {} bytes, one every {} bytes from byte {} on, do not lie within the {} bytes "
                                              "of the buffer",
                                              size, element, stride, offset, buffer_.bytes()));
  }
}

}  // namespace samesum
