#include "groups/device/device_results.hpp"

#include "device/memory/buffer.hpp"
#include "groups/axes.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

namespace samesum::groups {
namespace {

constexpr std::string_view kResultsOfAxes = "results of axes";
constexpr std::uint64_t kMostResultsKept = std::uint64_t{64} << 20;  // bytes

}  // namespace

DeviceResults::DeviceResults(const samesum::Device& device, const Array& to)
    : device_(device), to_(to), in_place_(to.on_device() && to.contiguous() && to.offset() % 8 == 0) {
  if (in_place_) {
    memory_ = to.buffer().state().memory;
    return;
  }
  device::Device& queue = device_.implementation();
  const device::Lock lock(queue.mutex());
  if (const auto kept = queue.plans().take<device::Memory>(kResultsOfAxes)) memory_ = *kept;
  if (memory_.bytes < to.bytes()) memory_ = queue.allocate(std::max<std::uint64_t>(16, to.bytes()));
}

void DeviceResults::finish(const std::vector<std::uint64_t>& which, const std::byte* others) {
  const std::size_t element = size_of(to_.type());
  if (in_place_) {
    for (std::size_t i = 0; i < which.size(); ++i) to_.buffer().write(others + i * element, element, to_.offset() + which[i] * element);
    return;
  }
  std::vector<std::byte> all(to_.bytes());
  {
    device::Device& queue = device_.implementation();
    const device::Lock lock(queue.mutex());
    queue.read(memory_, 0, all.data(), all.size());
    if (memory_.bytes <= kMostResultsKept) {
      queue.plans().give_back(std::string(kResultsOfAxes), std::make_shared<device::Memory>(memory_));
    }
  }
  place_results(which, others, element, all.data());
  copy_to(to_, all.data());
}

}  // namespace samesum::groups
