// Keys on a device: sorted there, equal ones are runs.
#include "device/memory/buffer.hpp"
#include "device/memory/run.hpp"
#include "groups/by/device/lists_device.hpp"
#include "groups/by/keys.hpp"

#include <samesum/reduce.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace samesum::groups {
namespace {

std::uint64_t bits_of(const Value& value) {
  if (const auto* const large = std::get_if<std::uint64_t>(&value.number)) return *large;
  return static_cast<std::uint64_t>(std::get<std::int64_t>(value.number));
}

// The groups in the order of their first elements.
std::vector<std::uint32_t> by_first(device::Device& device, const Sorter::Runs& runs, std::uint64_t elements) {
  SortRoom memory;
  Sorter sorter(device, memory, runs.count);
  static_cast<void>(sorter.sort(runs.first_of, DType::uint32, static_cast<unsigned>(std::bit_width(elements))));
  std::vector<std::uint32_t> order(runs.count);
  device.read(memory.numbers[0], 0, order.data(), 4 * order.size());
  return order;
}

}  // namespace

std::optional<NumberedKeys> number_keys_on_device(const Array& keys, KeyOrder order) {
  if (!has_lists(keys)) return std::nullopt;
  const auto [least, greatest] = minmax(keys);
  const std::uint64_t from = bits_of(least.value);
  const auto bits = std::max(static_cast<unsigned>(std::bit_width(bits_of(greatest.value) - from)), 1u);
  const DType type = bits > 32 ? DType::uint64 : DType::uint32;
  const auto size = static_cast<std::uint32_t>(keys.size());
  const device::Run run = *device::single_run(keys, core::Order::index);
  const samesum::Device handle = keys.buffer().device();
  device::Device& device = handle.implementation();
  Buffer numbers(handle, std::max<std::uint64_t>(std::uint64_t{size} * 4, 16));
  const std::optional<Buffer> renumbered =
      order == KeyOrder::first_seen ? std::optional<Buffer>(std::in_place, handle, numbers.bytes()) : std::nullopt;
  std::vector<std::uint64_t> distances;
  {
    std::shared_ptr<SortRoom> memory;
    const device::Lock lock(device.mutex());
    memory = kept_room(handle);
    memory->grow(device, memory->keys, size * size_of(type));
    const device::Argument arguments[] = {run.memory, run.offset, run.stride, size, from, memory->keys};
    launch_for_each(device, sort_keys_source(keys.type()), bits > 32 ? "far_key_distances" : "key_distances", size, arguments);
    Sorter sorter(device, *memory, size);
    const device::Memory sorted = sorter.sort(memory->keys, type, bits);
    const Sorter::Runs runs = sorter.runs(sorted, type, numbers.state().memory);
    distances.resize(runs.count);
    if (bits > 32) {
      device.read(runs.key_of, 0, distances.data(), 8 * distances.size());
    } else {
      std::vector<std::uint32_t> narrow(runs.count);
      device.read(runs.key_of, 0, narrow.data(), 4 * narrow.size());
      distances.assign(narrow.begin(), narrow.end());
    }
    if (renumbered) {
      const std::vector<std::uint32_t> order_of_first = by_first(device, runs, size);
      std::vector<std::uint64_t> in_order(runs.count);
      std::vector<std::uint32_t> place(runs.count);
      for (std::uint32_t i = 0; i < runs.count; ++i) {
        in_order[i] = distances[order_of_first[i]];
        place[order_of_first[i]] = i;
      }
      distances = std::move(in_order);
      device.write(runs.first_of, 0, place.data(), 4 * place.size());
      const device::Argument places[] = {runs.first_of, numbers.state().memory, size, renumbered->state().memory};
      launch_for_each(device, sort_keys_source(DType::uint32), "keys_of_numbers", size, places);
    }
  }
  NumberedKeys numbered{Values(keys.type(), {distances.size()}), std::nullopt, Array(renumbered.value_or(numbers), size, DType::uint32)};
  for (std::uint64_t& distance : distances) distance += from;
  store_integers(distances, numbered.keys);
  return numbered;
}

}  // namespace samesum::groups
