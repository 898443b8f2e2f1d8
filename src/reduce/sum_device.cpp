#include "reduce/sum_device.hpp"

#include "core/pack.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace samesum::reduce {
namespace {

// Host data go through in chunks of this size: large enough for full speed, small enough for any device.
constexpr std::uint64_t kChunkBytes = std::uint64_t{256} << 20;

constexpr Fields kSum{.extrema = false, .sum = true, .squares = false, .nonzeros = false};

}  // namespace

DeviceSum::DeviceSum(device::Device& device, DType type, const Tuning& options, std::uint64_t elements)
    : pass_(device, type, statistics::collect_options(kSum, options), false, elements),
      element_(static_cast<std::int64_t>(size_of(type))) {}

DeviceSumResult DeviceSum::result() {
  Accumulator sum = pass_.result().sum;
  return {std::move(sum), pass_.record()};
}

std::string_view DeviceSum::variant() const { return pass_.is_for_little() ? pass_.entry() : "exact_bins"; }

Accumulator sum_on_device(View data, device::Device& device, const Tuning& options, Report* report) {
  const std::lock_guard lock(device.mutex());
  const std::uint64_t element = size_of(data.type());
  const std::uint64_t most = std::min(kChunkBytes, device.info().max_allocation_bytes) / element;
  const std::uint64_t chunk = std::max<std::uint64_t>(std::min(most, data.size()), 1);

  // Two of everything: while the device sums one chunk, the next one is on its way, and the sums are fetched a chunk later.
  struct Lane {
    DeviceSum sum;
    device::Memory memory;
    bool busy = false;
  };
  std::vector<Lane> lanes;
  for (std::uint64_t i = 0; i < (data.size() > chunk ? 2 : 1); ++i) {
    lanes.push_back({DeviceSum(device, data.type(), options, chunk), device.allocate(chunk * element)});
  }
  std::vector<std::byte> packed(data.contiguous() ? 0 : chunk * element);

  Accumulator total;
  double upload_seconds = 0;
  double seconds = 0;
  std::vector<device::Mark> marks;
  const auto mark = [&] {
    if (report != nullptr) marks.push_back(device.mark());
  };
  std::uint64_t turn = 0;
  const auto collect = [&](Lane& lane) {
    if (std::exchange(lane.busy, false)) total.merge(lane.sum.result().accumulator);
  };
  for (std::uint64_t first = 0; first < data.size(); first += chunk) {
    Lane& lane = lanes[turn++ % lanes.size()];
    View part = data.part(first, std::min(chunk, data.size() - first));
    if (!data.contiguous()) part = core::pack(part, packed.data());
    collect(lane);
    mark();
    device.write(lane.memory, 0, part.data(), part.bytes());
    mark();
    lane.sum.launch(lane.memory, part.size());
    mark();
    lane.busy = true;
  }
  for (Lane& lane : lanes) collect(lane);
  for (std::size_t i = 0; i + 2 < marks.size(); i += 3) {
    upload_seconds += device.seconds_between(marks[i], marks[i + 1]);
    seconds += device.seconds_between(marks[i + 1], marks[i + 2]);
  }
  if (report != nullptr) {
    report->variant = lanes.front().sum.variant();
    report->configuration = lanes.front().sum.configuration();
    report->upload_seconds = upload_seconds;
    report->seconds = seconds;
  }
  return total;
}

}  // namespace samesum::reduce
