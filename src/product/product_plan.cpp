#include "product/product_plan.hpp"

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

std::uint64_t address(const device::Device& device, const device::Run& run) { return device.misalignment(run.memory) + run.offset; }

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
  const bool in_loads = address(device_, data) % 16 == 0;
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
    : device_(device), type_(type), shape_{tile_shape(device.info(), tuning).group_size, 1} {
  kernel_ = device::build(device, plan_source(type, false, shape_), "product");
  record_ = device::build(device, plan_source(type, false, shape_), "product_record");
  most_groups_ = record_groups(device, kernel_, shape_.group_size, tuning.groups);
  groups_ = device.allocate(std::uint64_t{most_groups_} * 16);
  head_ = device.allocate(16);
}

void PlannedIntegers::launch(const device::Run& data, const device::Place& to) {
  const std::uint64_t bytes = size_of(type_), before = (16 - address(device_, data) % 16) % 16 / bytes;
  const std::uint64_t head = std::min(before, data.count), count = data.count - head;
  const std::uint64_t tile = shape_.group_size * (16 / bytes);
  const auto groups = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(count / tile, 1, most_groups_));
  if (head != 0) {  // fewer elements than a load has: the kernel takes them one by one
    const device::Argument arguments[] = {data.memory, data.offset, head, head_};
    device_.launch(kernel_, {1, shape_.group_size}, arguments);
  }
  const device::Argument arguments[] = {data.memory, data.offset + head * bytes, count, groups_};
  device_.launch(kernel_, {groups, shape_.group_size}, arguments);
  const device::Argument of_record[] = {groups_, groups, head_, std::uint32_t{head != 0}, to.memory, to.offset};
  device_.launch(record_, {1, shape_.group_size}, of_record);
}

std::string PlannedIntegers::text() const { return fmt::format("groups={} group_size={}", most_groups_, shape_.group_size); }

}  // namespace samesum::product_tree
