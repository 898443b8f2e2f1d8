// Reductions by an operator that stay on a device: all of the tree is computed there, by kernels and in memory made once.
#pragma once

#include "device/memory/run.hpp"
#include "formula/operator/operator_device.hpp"

#include <samesum/operator.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace samesum::formula {

/// An operator bound to what a formula gives of some inputs, of which the types count.
struct BoundMap {
  /// For up to `most` positions. @throws Error (usage) where it is no operator of that, and where an integer operation may fail.
  BoundMap(const Formula& map, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters, const Operator& op,
           std::uint64_t most);
  BoundMap(const BoundMap&) = delete;
  BoundMap& operator=(const BoundMap&) = delete;

  Operator op;
  std::vector<FormulaInput> inputs;
  Program leaf;
  std::vector<Value> parameters;
  Bound bound;
  Program finish;  ///< what is made of the root

  const Program& combine() const { return bound.any_order() ? bound.any_order()->program : bound.program(); }
};

/// Requires that the device, which runs kernels, is locked.
class PlannedOperator {
 public:
  /// For about `size` positions, up to `most`. @throws Error (device) where the kernels cannot be built; Error (usage) where they would have
  /// too many arguments.
  PlannedOperator(const samesum::Device& device, std::shared_ptr<const BoundMap> map, std::uint64_t size, std::uint64_t most);
  PlannedOperator(const PlannedOperator&) = delete;
  PlannedOperator& operator=(const PlannedOperator&) = delete;

  /// Enqueues: a word of 64 bits for each number of the result, with its bits in the first bytes. @throws Error (no_answer) for no positions
  /// and no identity.
  void launch(const std::vector<FormulaInput>& inputs, const device::Place& to);

  /// Of what launch() leaves.
  std::vector<Value> values(std::span<const std::uint64_t> words) const;
  /// "group_size=256 loads=4 each=4"
  std::string text() const;

 private:
  using Roots = std::vector<device::Memory>;  // of each component

  // Leaves to roots: whole tiles of arrays that are read by loads of 16 bytes, whole tiles of others, and parts.
  struct Level {
    TreeShape shape;
    std::vector<DType> types;  // of the inputs
    device::Kernel loads, any, part;
  };

  Level level(const Program& leaf, std::vector<DType> types, std::uint64_t size) const;
  Roots roots(std::uint64_t count) const;
  void launch_level(const Level& level, const Program& leaf, std::span<const Value> parameters, std::span<const device::Run> runs,
                    std::uint64_t count, const Roots& to) const;

  samesum::Device device_;
  std::shared_ptr<const BoundMap> map_;
  Program states_;  // whose leaves are states
  Level elements_, again_;
  Roots roots_[2], identity_;
  device::Memory failed_;  // a word that no position writes
  device::Kernel record_;
};

}  // namespace samesum::formula
