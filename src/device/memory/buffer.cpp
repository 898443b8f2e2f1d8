#include "device/memory/buffer.hpp"
#include "core/float_environment.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

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

namespace {
void require_inside(const Buffer& buffer, std::uint64_t bytes, std::uint64_t offset) {
  if (offset <= buffer.bytes() && bytes <= buffer.bytes() - offset) return;
  throw Error(ErrorKind::usage, fmt::format("{} bytes at offset {} lie outside a buffer of {} bytes", bytes, offset, buffer.bytes()));
}
}  // namespace

void Buffer::write(const void* from, std::uint64_t bytes, std::uint64_t offset) const {
  const core::DefaultFloatEnvironment environment;
  device::Device& device = state_->device.implementation();
  const Lock lock(device.mutex());
  require_inside(*this, bytes, offset);
  device.write(state_->memory, offset, from, bytes);
}

void Buffer::read(void* to, std::uint64_t bytes, std::uint64_t offset) const {
  const core::DefaultFloatEnvironment environment;
  device::Device& device = state_->device.implementation();
  const Lock lock(device.mutex());
  require_inside(*this, bytes, offset);
  device.read(state_->memory, offset, to, bytes);
}

}  // namespace samesum
