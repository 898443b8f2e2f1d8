// A formula with the arrays and parameters of one call.
#pragma once

#include "formula/cpu/evaluate.hpp"
#include "formula/program.hpp"

#include <samesum/formula.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace samesum::formula {

/// The program of a formula for these inputs and parameters. @throws Error (usage) as the other resolve().
Program resolve(const Tree& tree, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters);
std::vector<Value> values_of(const std::vector<FormulaParameter>& parameters);

/// `array` as one of this shape, by numpy's rules. @throws Error (usage) where that cannot be, with the input's name.
Array broadcast(const Array& array, std::span<const std::uint64_t> shape, std::string_view name);
/// What Program::inputs[k] reads: an array of the positions' shape.
Array component_of(const FormulaInput& input, std::uint32_t component, std::span<const std::uint64_t> shape);

/// The error for an integer operation that failed at a position.
Error failed(const Formula& formula, std::uint64_t position, std::span<const std::uint64_t> shape, std::uint32_t faults);

/// Arrays of one shape in host memory, walked in the order of indices: where a run of positions lies in each of them.
class Walk {
 public:
  Walk(std::span<const Array> arrays, std::span<const std::uint64_t> shape);

  /// The places of position `first` in each array go to `to`; returns how many positions from there on lie as far apart as stride() says,
  /// at most `most`.
  std::uint64_t at(std::uint64_t first, std::uint64_t most, std::span<const std::byte*> to) const noexcept;
  /// Of array k, in bytes.
  std::int64_t stride(std::size_t k) const noexcept { return axes_.back().strides[k]; }

 private:
  struct Axis {
    std::uint64_t extent;
    std::vector<std::int64_t> strides;  // of each array
  };
  std::vector<const std::byte*> data_;
  std::vector<Axis> axes_;  // those that count as one are one
};

/// map() where all arrays lie in host memory. Of the positions of `shape`, those from number `first` on, as many as a result has elements;
/// the index `i` of the first is `index`.
void map_on_host(const Formula& formula, const Program& program, std::span<const Value> parameters, std::span<const Array> inputs,
                 std::span<const Array> results, std::span<const std::uint64_t> shape, std::uint64_t first = 0, std::uint64_t index = 0);
/// The same where they lie on a device that runs kernels.
void map_on_device(const Formula& formula, const Program& program, std::span<const Value> parameters, std::span<const Array> inputs,
                   std::span<const Array> results, std::span<const std::uint64_t> shape, std::uint64_t first = 0, std::uint64_t index = 0);

/// @throws Error (device) where a program computes in float64 and the device cannot.
void require_types(const Program& program, const DeviceInfo& info);

}  // namespace samesum::formula
