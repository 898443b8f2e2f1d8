// Histograms of tiles on the CPU.
#include "histogram/nd/tiles.hpp"

#include "core/array/array_blocks.hpp"
#include "core/array/pack.hpp"
#include "core/threads/chunks.hpp"
#include "histogram/cpu/slots.hpp"

#include <algorithm>
#include <cstring>

namespace samesum::binning {
namespace {

// Counts one tile after the other. Rows are short: samples are brought together, and their slots found block by block.
class TileCounter {
 public:
  /// Bytes of a large tile are counted by value, and assigned to bins at the end.
  TileCounter(const SlotFinder& finder, std::uint64_t elements)
      : finder_(finder), size_(size_of(finder.plan().type())), by_value_(size_ == 1 && elements >= kMany) {}

  /// The elements along `axes`, the last one innermost, from `data` on, into `counts`.
  void count(const std::byte* data, std::span<const core::Axis> axes, std::uint64_t* counts) {
    counts_ = counts;
    if (axes.empty()) {
      add_run({data, 1, finder_.plan().type()});
    } else {
      add_axes(data, axes);
    }
    finish();
  }

 private:
  static constexpr std::size_t kBlock = 512, kCopies = 4;
  static constexpr std::uint64_t kMany = 4096;

  void add_axes(const std::byte* data, std::span<const core::Axis> axes) {
    if (axes.size() == 1) return add_run({data, axes[0].extent, finder_.plan().type(), axes[0].stride});
    for (std::uint64_t i = 0; i < axes[0].extent; ++i) {
      add_axes(data + static_cast<std::int64_t>(i) * axes[0].stride, axes.subspan(1));
    }
  }

  void add_run(View run) {
    std::uint64_t done = 0;
    while (done < run.size()) {
      View part = run.part(done, std::min<std::uint64_t>(run.size() - done, kBlock - filled_));
      done += part.size();
      if (part.contiguous() && part.size() == kBlock) {
        add_block(static_cast<const std::byte*>(part.data()), kBlock);
        continue;
      }
      std::byte* const to = block_ + filled_ * size_;
      if (part.contiguous()) {
        std::memcpy(to, part.data(), part.bytes());
      } else {
        core::pack_here(part, to);
      }
      filled_ += part.size();
      if (filled_ == kBlock) flush();
    }
  }

  void flush() {
    add_block(block_, filled_);
    filled_ = 0;
  }

  void add_block(const std::byte* from, std::size_t count) {
    if (by_value_) {  // copies, so that successive equal bytes do not wait for each other
      std::size_t i = 0;
      for (; i + kCopies <= count; i += kCopies) {
        for (std::size_t k = 0; k < kCopies; ++k) ++bytes_[k][static_cast<std::uint8_t>(from[i + k])];
      }
      for (; i < count; ++i) ++bytes_[0][static_cast<std::uint8_t>(from[i])];
      return;
    }
    std::uint32_t slots[kBlock];
    finder_.find(from, count, slots);
    for (std::size_t i = 0; i < count; ++i) ++counts_[slots[i]];
  }

  void finish() {
    flush();
    if (!by_value_) return;
    const std::vector<std::uint32_t>& slots = finder_.plan().pattern_slots();
    for (std::size_t value = 0; value < 256; ++value) {
      std::uint64_t count = 0;
      for (auto& copy : bytes_) {
        count += copy[value];
        copy[value] = 0;
      }
      counts_[slots[value]] += count;
    }
  }

  const SlotFinder& finder_;
  std::size_t size_;
  bool by_value_;
  std::uint64_t* counts_ = nullptr;
  std::size_t filled_ = 0;
  std::uint64_t bytes_[kCopies][256] = {};
  alignas(64) std::byte block_[8 * kBlock];
};

}  // namespace

void count_tiles_on_cpu(const groups::TileBlock& block, const std::vector<std::uint64_t>& shape, const Plan& plan, std::uint32_t wanted,
                        std::uint64_t* slots) {
  const SlotFinder finder(plan);
  struct Place {
    std::uint64_t tile;
    std::int64_t offset;
  };
  std::vector<Place> places;
  groups::for_tiles(block, shape, [&](std::uint64_t index, std::uint64_t tile) {
    places.push_back({tile, groups::offset_of(block, index)});
  });
  if (places.empty()) return;
  std::int64_t first_element = 0;
  const Array one = groups::elements_of(block, 0);
  const std::vector<core::Axis> axes = core::simplified_axes(one, core::Order::memory, first_element);
  const auto* const data = static_cast<const std::byte*>(block.data.data()) + first_element;
  const std::uint32_t threads = core::thread_count(block.data.bytes(), wanted);
  const std::uint64_t chunk = std::max<std::uint64_t>(places.size() / threads / 16, 1);
  core::for_chunks(places.size(), threads, chunk, [&](std::uint32_t, std::uint64_t first, std::uint64_t count) {
    TileCounter counter(finder, one.size());
    for (std::uint64_t i = first; i < first + count; ++i) {
      counter.count(data + places[i].offset, axes, slots + places[i].tile * plan.slots());
    }
  });
}

}  // namespace samesum::binning
