// Pairs by the tree over the y, and the k smallest, on a device by kernels.
#pragma once

#include "pairs/pairs_device.hpp"
#include "pairs/tree/nodes.hpp"

#include <cstdint>
#include <string>

namespace samesum::all_pairs {

class DeviceTree final : public OnDevice {
 public:
  /// As DevicePairs, of a problem with Problem::nodes, or of the k smallest: then a node is a list of these.
  DeviceTree(device::Device& device, const Problem& problem, Configuration wanted);

  std::uint64_t step() const noexcept override { return std::uint64_t{configuration_.group_size} * configuration_.items; }
  void prepare() override;
  void enqueue(const device::Place& a, std::uint64_t x_count, const device::Place& b, std::uint64_t y_count,
               const device::Place& c) override;
  void run(std::uint64_t first, std::uint64_t count, Target c) override;
  const Configuration& configuration() const noexcept override { return configuration_; }

 private:
  void configure(Configuration wanted);
  device::Source source() const;
  void choose_parts(std::uint64_t x_count, std::uint64_t most_nodes);
  void launch(const device::Place& a, std::uint64_t x_count, const device::Place& b, const device::Place& c);

  device::Device& device_;
  Problem problem_;
  Configuration configuration_;
  std::uint64_t node_bytes_;
  device::Kernel kernel_, roots_;  // of parts, and of these
  device::Memory a_, b_, of_y_, nodes_, c_, failed_;
  std::uint64_t share_ = 0;  // y of a part
};

}  // namespace samesum::all_pairs
