// Arrays in host memory, uploaded: chunk by chunk while the device works on the chunk before, or whole.
#pragma once

#include "core/array/array_blocks.hpp"
#include "core/array/pack.hpp"
#include "core/array/pieces.hpp"
#include "core/view.hpp"
#include "device/device.hpp"

#include <samesum/array.hpp>
#include <samesum/buffer.hpp>
#include <samesum/options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace samesum::device {

/// Elements of a chunk of these arrays, of one type and size: a multiple of `unit`, as many as there are at most, one unit at least. Large
/// enough for full speed, small enough for any device.
inline std::uint64_t chunk_size(const DeviceInfo& info, DType type, std::uint64_t size, std::uint64_t unit = 1) {
  constexpr std::uint64_t kBytes = std::uint64_t{256} << 20;
  const std::uint64_t most = std::min(kBytes, info.max_allocation_bytes) / size_of(type);
  return std::max<std::uint64_t>(std::min(most, (size + unit - 1) / unit * unit) / unit, 1) * unit;
}

/// The number of lanes of for_uploaded() for this many elements. Each lane needs results of its own.
inline std::size_t upload_lanes(std::uint64_t size, std::uint64_t chunk) { return size > chunk ? 2 : 1; }

/// Uploads `arrays`, of one type and size, in chunks of `chunk` elements: at least one, which may be empty. For each of them
/// launch(lane, memories, first, count) enqueues the work on elements first … first + count - 1, which begin in each of the memories; then
/// collect(lane, first, count) reads what it left, and may wait: in order, and after the next chunk has been uploaded and enqueued in the other
/// lane. `report`, if not null, gets the seconds of uploads and launches. Requires that the device's mutex is held.
template <class Launch, class Collect>
void for_uploaded(Device& device, std::span<const View> arrays, std::uint64_t chunk, Report* report, const Launch& launch,
                  const Collect& collect) {
  struct Lane {
    std::vector<Memory> memories;
    std::uint64_t first = 0, count = 0;
    bool busy = false;
  };
  const std::uint64_t size = arrays[0].size(), element = size_of(arrays[0].type());
  std::vector<Lane> lanes(upload_lanes(size, chunk));
  for (Lane& lane : lanes) {
    for (std::size_t k = 0; k < arrays.size(); ++k) lane.memories.push_back(device.allocate((chunk * element + 15) / 16 * 16));
  }
  const auto finish = [&](std::size_t number) {
    Lane& lane = lanes[number];
    if (std::exchange(lane.busy, false)) collect(number, lane.first, lane.count);
  };
  std::vector<std::byte> packed;
  std::vector<Mark> marks;
  const auto mark = [&] {
    if (report != nullptr) marks.push_back(device.mark());
  };
  std::size_t turn = 0;
  for (std::uint64_t first = 0; first == 0 || first < size; first += chunk) {
    const std::size_t number = turn++ % lanes.size();
    Lane& lane = lanes[number];
    finish(number);
    lane.first = first;
    lane.count = std::min(chunk, size - first);
    mark();
    for (std::size_t k = 0; k < arrays.size() && lane.count != 0; ++k) {
      View part = arrays[k].part(first, lane.count);
      if (!part.contiguous()) {
        packed.resize(chunk * element);
        part = core::pack(part, packed.data());
      }
      device.write(lane.memories[k], 0, part.data(), part.bytes());
    }
    mark();
    launch(number, std::span<const Memory>(lane.memories), first, lane.count);
    mark();
    lane.busy = true;
  }
  for (std::size_t i = 0; i < lanes.size(); ++i) finish(turn++ % lanes.size());
  for (std::size_t i = 0; i + 2 < marks.size(); i += 3) {
    report->upload_seconds += device.seconds_between(marks[i], marks[i + 1]);
    report->seconds += device.seconds_between(marks[i + 1], marks[i + 2]);
  }
}

/// A copy of an array in host memory, in the device's, in C order.
inline Array uploaded(const Array& array, const samesum::Device& device) {
  const Buffer buffer(device, std::max<std::uint64_t>(array.bytes(), 16));
  std::uint64_t done = 0;
  core::for_blocks(array, core::Order::index, [&](View block) {
    core::for_contiguous_pieces(block, [&](View piece) {
      if (piece.size() != 0) buffer.write(piece.data(), piece.bytes(), done);
      done += piece.bytes();
    });
  });
  return {buffer, array.shape(), array.type()};
}

}  // namespace samesum::device
