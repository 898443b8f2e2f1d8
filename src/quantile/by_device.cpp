// Ranks of the lists of groups on a device: elements are sorted, first by their keys, then by their groups.
#include "device/memory/buffer.hpp"
#include "device/memory/run.hpp"
#include "groups/by/device/lists_device.hpp"
#include "quantile/lists_device.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace samesum::selection {
namespace {

constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kFewElements = 4096;

}  // namespace

std::optional<FoundGroups> keys_on_device(const Array& data, const By& by, std::span<const Fraction> quantiles, QuantileMethod method,
                                          NanPolicy nan) {
  if (!groups::has_lists(data) || quantiles.empty()) return std::nullopt;
  const Array sorted_by = groups::element_keys(data, groups::ElementOrder::ascending, false);
  std::optional<groups::DeviceLists> lists = groups::lists_on_device(data, by, &sorted_by);
  if (!lists) return std::nullopt;
  device::Device& device = data.buffer().device().implementation();
  const device::Run run = *device::single_run(data, core::Order::index);
  const device::Source source = groups::sort_keys_source(data.type());
  const std::uint64_t count = lists->count();
  const auto lists_32 = static_cast<std::uint32_t>(count);
  const bool has_nans = !is_integer(data.type());
  Values nans(DType::uint32, {has_nans ? count : 0});
  const device::Lock lock(device.mutex());
  if (has_nans) {
    const device::Memory there = device.allocate(std::max<std::uint64_t>(4 * count, 16));
    const device::Argument arguments[] = {run.memory, run.offset, run.stride, lists->numbers(), lists->offsets(), lists_32, there};
    groups::launch_for_each(device, source, "nans_of_lists", count, arguments);
    device.read(there, 0, nans.data(), 4 * count);
  }
  std::vector<std::uint32_t> positions;
  positions.reserve(quantiles.size() * count);
  bool both = false;  // whether two neighbours are needed
  for (const Fraction fraction : quantiles) {
    std::vector<std::uint32_t> kept(kFewElements, kNowhere);  // of lists of so many numbers
    for (std::uint64_t list = 0; list < count; ++list) {
      const std::uint64_t of_list = has_nans ? nans.as<std::uint32_t>()[list] : 0, numbers = lists->size(list) - of_list;
      if (numbers == 0 || (of_list != 0 && nan == NanPolicy::propagate)) {
        positions.push_back(kNowhere);
        continue;
      }
      if (numbers < kFewElements && kept[numbers] != kNowhere) {
        positions.push_back(kept[numbers]);
        continue;
      }
      const Position at = position(fraction, numbers, method);
      positions.push_back(static_cast<std::uint32_t>(at.below));
      if (numbers < kFewElements) kept[numbers] = positions.back();
      both = both || at.rest != 0;
    }
  }
  Values keys(data.type(), {positions.size() * (both ? 2 : 1)});
  const device::Memory places = device.allocate(std::max<std::uint64_t>(4 * positions.size(), 16)),
                       found = device.allocate(std::max<std::uint64_t>(keys.array().bytes(), 16));
  device.write(places, 0, positions.data(), 4 * positions.size());
  const device::Argument arguments[] = {run.memory,         run.offset, run.stride, lists->numbers(),
                                        lists->offsets(),   lists_32,   places,     static_cast<std::uint32_t>(quantiles.size()),
                                        std::int32_t{both}, found};
  groups::launch_for_each(device, source, "keys_of_lists", positions.size(), arguments);
  device.read(found, 0, keys.data(), keys.array().bytes());
  return FoundGroups{{std::move(nans), std::move(keys), both}, std::move(lists->on_host)};
}

}  // namespace samesum::selection
