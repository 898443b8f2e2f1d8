#include "product/product_plan.hpp"

#include "reduce/device/walk.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace samesum::product_tree {
namespace {

constexpr std::uint64_t kTilesOfChunk = std::uint64_t{1} << 15;  // a power of two, so that a chunk is a subtree

std::uint64_t up(std::uint64_t count, std::uint64_t tile) { return count == 0 ? 1 : (count + tile - 1) / tile; }

// With the kernels of plans.
device::Source plan_source(DType type, bool skip, const TileShape& shape) {
  device::Source source = product_source(type, skip, shape.group_size, shape.loads);
  source.files.emplace_back("product/product_plan.cl");
  return source;
}

}  // namespace

PlannedFloats::PlannedFloats(device::Device& device, DType type, bool skip, const Tuning& tuning, std::uint64_t most)
    : device_(device), type_(type), tiles_(device, type, skip, tuning), shape_(tile_shape(device.info(), tuning)) {
  const DType node = type == DType::float64 ? DType::float64 : DType::float32;
  part_ = device::build(device, plan_source(type, skip, shape_), "product_part");
  again_ = device::build(device, plan_source(node, false, shape_), "product_part");
  record_ = device::build(device, plan_source(node, false, shape_), "product_record");
  tile_ = std::uint64_t{1} << tiles_.level();
  again_tile_ = std::uint64_t{shape_.group_size} * shape_.loads * 16 / size_of(node);
  chunk_ = tile_ * kTilesOfChunk;
  products_ = device.allocate(kTilesOfChunk * size_of(node));
  others_ = device.allocate(kTilesOfChunk * size_of(node));
  roots_ = device.allocate(up(most, chunk_) * size_of(node));
}

void PlannedFloats::launch_part(const device::Kernel& kernel, const device::Memory& from, std::uint64_t offset, std::uint64_t count,
                                const device::Memory& to, std::uint64_t index) {
  const std::uint64_t tiles = up(count, &kernel == &part_ ? tile_ : again_tile_);
  const device::Argument arguments[] = {from, offset, count, to, index};
  device_.launch(kernel, {static_cast<std::uint32_t>(tiles), shape_.group_size}, arguments);
}

// The product of `count` products.
void PlannedFloats::reduce(device::Memory from, std::uint64_t count, const device::Memory& to, std::uint64_t index) {
  const device::Memory* next = from.handle == others_.handle ? &products_ : &others_;
  for (; count > again_tile_; count = up(count, again_tile_)) {
    launch_part(again_, from, 0, count, *next, 0);
    from = *next;
    next = next == &others_ ? &products_ : &others_;
  }
  launch_part(again_, from, 0, count, to, index);
}

void PlannedFloats::launch(const device::Run& data, const device::Place& to) {
  const std::uint64_t chunks = up(data.count, chunk_);
  const bool in_loads = statistics::walk_of(device_, data, data, type_, true).head == 0;
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::uint64_t first = chunk * chunk_, count = std::min(chunk_, data.count - first);
    const std::uint64_t offset = data.offset + first * size_of(type_), whole = in_loads ? count / tile_ : 0;
    if (whole != 0) tiles_.launch_tiles(data.memory, offset, whole, products_);
    const std::uint64_t rest = count - whole * tile_;
    if (rest != 0 || count == 0) launch_part(part_, data.memory, offset + whole * tile_ * size_of(type_), rest, products_, whole);
    reduce(products_, up(count, tile_), roots_, chunk);
  }
  // A single root is a product already.
  if (chunks > 1) reduce(roots_, chunks, products_, 0);
  const device::Argument arguments[] = {chunks > 1 ? products_ : roots_, to.memory, to.offset};
  device_.launch(record_, {1, 1}, arguments);
}

PlannedIntegers::PlannedIntegers(device::Device& device, DType type, const Tuning& tuning)
    : PlannedIntegers(device, type, tuning, plan_source(type, false, {tile_shape(device.info(), tuning).group_size, 1})) {}

PlannedIntegers::PlannedIntegers(device::Device& device, DType type, const Tuning& tuning, const device::Source& source)
    : device_(device), type_(type), head_(device, type, tuning, source), rest_(device, type, tuning, source) {
  record_ = device::build(device, source, "product_record");
}

void PlannedIntegers::launch(const device::Run& data, const device::Place& to) {
  const std::uint64_t head = statistics::walk_of(device_, data, data, type_, true).head;
  if (head != 0) head_.launch(data.memory, data.offset, head);  // fewer elements than a load has: the kernel takes them one by one
  const std::uint32_t groups = rest_.launch(data.memory, data.offset + head * size_of(type_), data.count - head);
  const device::Argument of_record[] = {rest_.records(), groups, head_.records(), std::uint32_t{head != 0}, to.memory, to.offset};
  device_.launch(record_, {1, rest_.group_size()}, of_record);
}

}  // namespace samesum::product_tree
