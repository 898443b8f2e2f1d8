// What a formula gives at the positions of an array, part by part along the axes that are kept.
#pragma once

#include "formula/bound.hpp"
#include "formula/ranges.hpp"

#include <samesum/axes.hpp>
#include <samesum/device.hpp>
#include <samesum/error.hpp>
#include <samesum/formula.hpp>
#include <samesum/options.hpp>
#include <samesum/source.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace samesum::groups {

/// An operation of the formula failed at a position, which is named.
struct FormulaFailed final : Error {
  using Error::Error;
};

/// Some positions: along each axis `count` indices from `first` on.
struct Box {
  std::vector<std::uint64_t> first, count;
  std::uint64_t size() const noexcept;
};

/// A formula with the arrays of one call.
class FormulaValues {
 public:
  FormulaValues(const Formula& formula, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters,
                const Options& options);

  const std::vector<std::uint64_t>& shape() const noexcept { return shape_; }     ///< of all positions
  const std::vector<DType>& types() const noexcept { return types_; }             ///< of the components
  bool complex() const noexcept { return taken_.program.complex; }                ///< the two components are the parts of complex numbers
  const std::vector<formula::Range>& ranges() const noexcept { return ranges_; }  ///< of the components
  /// @throws Error (usage) unless the formula gives one real number at each position.
  void require_one() const;
  /// The device that runs kernels on which the values are computed, if there is one.
  const std::optional<Device>& device() const noexcept { return device_; }

  /// The values at the positions of a box from number `first` on, `count` of them: an array of one axis for each component, valid until the
  /// next call. @throws FormulaFailed as map(), with the lowest position of all.
  std::vector<Array> evaluate(const Box& box, std::uint64_t first, std::uint64_t count);

  /// Calls body(box, result) for boxes with all indices of the axes that are reduced, in C order of the results, of which the first of a
  /// box is number `result`: as many positions as have values of some MiB, or those of one result.
  void for_boxes(const std::vector<bool>& reduced, const std::function<void(const Box&, std::uint64_t)>& body) const;
  /// Whether the values of one result are too many for memory.
  bool is_long(const Box& box) const noexcept;

 private:
  // A formula with the arrays that its program reads, of the positions' shape.
  struct Taken {
    Formula formula;
    formula::Program program;
    std::vector<Array> arrays;
  };
  Taken take(const Formula& formula, const std::vector<FormulaInput>& inputs);
  void number_positions(const Formula& formula, std::vector<FormulaInput>& inputs);
  std::vector<Array> room(std::uint64_t count);
  [[noreturn]] void fail(const Error& error);

  std::vector<FormulaParameter> parameters_;
  std::vector<Value> values_;
  std::vector<std::uint64_t> shape_;
  std::optional<Device> device_;
  std::vector<std::vector<std::int64_t>> numbers_;  // of each axis what its indices add to the number of a position
  Taken given_, taken_;                             // where the formula takes i, `taken_` has it as a sum of inputs
  std::vector<DType> types_;
  std::vector<formula::Range> ranges_;
  std::uint64_t each_bytes_ = 0;  // of the components at one position
  std::vector<std::vector<std::uint64_t>> here_;
  std::vector<Buffer> there_;
};

/// A box's values of one component as a source, chunk by chunk.
std::unique_ptr<Source> source_of(FormulaValues& values, const Box& box);

}  // namespace samesum::groups
