// Products whose result is left in device memory: kernels and memory made once, for any number of launches.
#pragma once

#include "device/memory/run.hpp"
#include "product/product.hpp"

#include <cstdint>
#include <string>

namespace samesum::product_tree {

/// Of floats. Chunk by chunk: products of tiles, products of these, and so on up to the chunk's, and likewise those of the chunks.
class PlannedFloats {
 public:
  /// For up to `most` elements. @throws as DeviceProduct.
  PlannedFloats(device::Device& device, DType type, bool skip, const Tuning& tuning, std::uint64_t most);

  /// Enqueues the product of contiguous elements, and writes its ProductRecord.
  void launch(const device::Run& data, const device::Place& to);
  std::string text() const { return tiles_.text(); }

 private:
  void launch_part(const device::Kernel& kernel, const device::Memory& from, std::uint64_t offset, std::uint64_t count,
                   const device::Memory& to, std::uint64_t index);
  void reduce(device::Memory from, std::uint64_t count, const device::Memory& to, std::uint64_t index);

  device::Device& device_;
  DType type_;
  DeviceProduct tiles_;  // of whole tiles that begin at a multiple of 16 bytes
  TileShape shape_;
  std::uint64_t tile_, again_tile_, chunk_;  // in leaves: of the elements and of products; those of a chunk
  device::Kernel part_, again_, record_;
  device::Memory products_, others_, roots_;  // others_: of each second level
};

/// Of integers: a record for each group, and from these the result.
class PlannedIntegers {
 public:
  PlannedIntegers(device::Device& device, DType type, const Tuning& tuning);

  void launch(const device::Run& data, const device::Place& to);
  std::string text() const { return rest_.text(); }

 private:
  PlannedIntegers(device::Device& device, DType type, const Tuning& tuning, const device::Source& source);

  device::Device& device_;
  DType type_;
  IntegerProducts head_, rest_;  // of the elements before the first multiple of 16 bytes, and from there on
  device::Kernel record_;
};

}  // namespace samesum::product_tree
