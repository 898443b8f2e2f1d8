// Formulas as sources: a chunk of positions is evaluated, then it is the reduction's. Of arrays on a device, reductions that can take terms
// instead (term.hpp) evaluate the formula themselves.
#include "core/array/array_blocks.hpp"
#include "core/array/together.hpp"
#include "core/float_environment.hpp"
#include "device/memory/run.hpp"
#include "formula/bound.hpp"
#include "formula/map/term.hpp"
#include "formula/map/untyped.hpp"

#include <samesum/error.hpp>
#include <samesum/map_source.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace samesum {
namespace {

// Positions of a chunk: its values stay in a last-level cache between evaluation and reduction.
constexpr std::uint64_t kHostChunk = std::uint64_t{1} << 19, kDeviceChunk = std::uint64_t{1} << 22;

DType result_type(const formula::Program& program) {
  if (program.complex) {
    throw Error(ErrorKind::usage,
                "this formula gives a complex number at each position, and a reduction takes a real one: write real(...), "
                "imag(...), abs(...) or abs2(...)");
  }
  if (program.results.size() != 1) {
    throw Error(ErrorKind::usage,
                fmt::format("this formula gives {} numbers at each position, and a reduction takes one: write one of them",
                            program.results.size()));
  }
  return formula::dtype_of(program.nodes[program.results[0]].type);
}

// Room for the values of a chunk, where the inputs lie.
class Chunk {
 public:
  // `count` values of `type` on the host, or on a device.
  Array values(DType type, std::uint64_t count, const std::optional<Device>& device) {
    const std::uint64_t bytes = count * size_of(type);
    if (!device) {
      if (host_.size() * sizeof host_[0] < bytes) host_.resize((bytes + sizeof host_[0] - 1) / sizeof host_[0]);
      return Array(host_.data(), count, type);
    }
    if (!buffer_ || buffer_->bytes() < bytes) buffer_.emplace(*device, std::max<std::uint64_t>(bytes, 16));
    return Array(*buffer_, count, type);
  }

 private:
  std::vector<std::uint64_t> host_;
  std::optional<Buffer> buffer_;
};

// A formula's constants are read as the default rounding mode has them.
formula::Program resolved(const Formula& formula, const std::vector<FormulaInput>& inputs,
                          const std::vector<FormulaParameter>& parameters) {
  const core::DefaultFloatEnvironment environment;
  return formula::resolve(formula.tree(), inputs, parameters);
}

class ArrayMap final : public statistics::TermSource {
 public:
  ArrayMap(const Formula& formula, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters)
      : formula_(formula), inputs_(inputs), program_(resolved(formula_, inputs_, parameters)), values_(formula::values_of(parameters)) {
    const core::DefaultFloatEnvironment environment;
    type_ = result_type(program_);
    shape_ = shape_of(inputs_);
    for (const std::uint64_t extent : shape_) size_ *= extent;
    for (const FormulaInput& input : inputs_) {
      if (!input.vector && !input.complex) formula::broadcast(input.array, shape_, input.name);  // also those that the formula does not use
      if (!input.array.on_device()) continue;
      device_ = input.array.buffer().device();
    }
    for (const formula::InputComponent& use : program_.inputs) {
      arrays_.push_back(formula::component_of(inputs_[use.input], use.component, shape_));
    }
    for (const FormulaInput& input : inputs_) {
      if (!device_ || (input.array.on_device() && &input.array.buffer().device().implementation() == &device_->implementation())) continue;
      throw Error(ErrorKind::usage, "the arrays of a formula lie in different places: bring all of them to host memory or to one device");
    }
    if (device_ && !device_->info().has(Capability::kernels)) {
      for (Array& array : arrays_) array = device::on_host(array);
      on_host_ = true;
    }
  }

  std::optional<Array> next() override {
    const core::DefaultFloatEnvironment environment;
    const std::uint64_t count = std::min(device_ && !on_host_ ? kDeviceChunk : kHostChunk, size_ - done_);
    if (count == 0) return std::nullopt;
    const bool there = device_ && !on_host_;
    const Array values = chunk_.values(type_, count, there ? device_ : std::nullopt);
    const auto evaluate = there ? formula::map_on_device : formula::map_on_host;
    evaluate(formula_, program_, values_, arrays_, std::span(&values, 1), shape_, done_, done_);
    done_ += count;
    return values;
  }

  std::unique_ptr<statistics::HostTerms> take_host_terms() override {
    if ((device_ && !on_host_) || size_ == 0 || done_ != 0) return nullptr;
    const core::DefaultFloatEnvironment environment;
    auto terms = formula::host_terms_of(formula_, program_, values_, arrays_, shape_);
    done_ = size_;
    return terms;
  }

  std::unique_ptr<statistics::Terms> take_terms() override {
    if (!device_ || on_host_ || size_ == 0 || done_ != 0) return nullptr;
    const core::DefaultFloatEnvironment environment;
    auto terms = formula::terms_of(formula_, program_, values_, arrays_, shape_);
    if (terms) done_ = size_;
    return terms;
  }

  std::string_view format() const noexcept override { return "formula"; }
  std::optional<DType> type() const noexcept override { return type_; }
  std::vector<std::uint64_t> shape() const override { return shape_; }
  std::uint64_t resident_bytes() const noexcept override { return size_ * size_of(type_); }
  std::optional<Device> device() const override { return device_ && !on_host_ ? device_ : std::nullopt; }

 private:
  Formula formula_;
  std::vector<FormulaInput> inputs_;
  formula::Program program_;
  std::vector<Value> values_;
  std::vector<std::uint64_t> shape_;
  std::vector<Array> arrays_;
  std::optional<Device> device_;
  bool on_host_ = false;
  DType type_;
  std::uint64_t size_ = 1, done_ = 0;
  Chunk chunk_;
};

// Of chunks that other sources give.
class SourceMap final : public Source {
 public:
  SourceMap(const Formula& formula, std::vector<SourceInput> inputs, std::vector<FormulaParameter> parameters)
      : formula_(formula), inputs_(std::move(inputs)), parameters_(std::move(parameters)), together_(together(inputs_)) {
    if (inputs_.empty()) throw Error(ErrorKind::usage, "a formula over sources takes one or more of them");
    const auto resolve = [&](DType untyped) {
      std::vector<FormulaInput> known;
      for (const SourceInput& input : inputs_) known.push_back(input_of(input, Array(nullptr, 0, input.source->type().value_or(untyped))));
      type_ = result_type(resolved(formula_, known, parameters_));
    };
    const DType untyped = formula::type_for_untyped(resolve);
    for (const SourceInput& input : inputs_) untyped_.emplace_back(input.name, untyped);
  }

  std::optional<Array> next() override {
    const core::DefaultFloatEnvironment environment;
    const std::span<const Array> parts = together_.next(kHostChunk);
    if (parts.empty()) return std::nullopt;
    const std::uint64_t count = parts[0].size() / width_of(inputs_[0]);
    std::vector<FormulaInput> now;
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      now.push_back(input_of(inputs_[k], inputs_[k].source->type() ? parts[k] : untyped_[k].convert(parts[k])));
    }
    const formula::Program program = resolved(formula_, now, parameters_);
    const Array values = chunk_.values(type_, count, std::nullopt);
    const std::uint64_t shape[] = {count};
    std::vector<Array> arrays;
    for (const formula::InputComponent& use : program.inputs) arrays.push_back(formula::component_of(now[use.input], use.component, shape));
    formula::map_on_host(formula_, program, formula::values_of(parameters_), arrays, std::span(&values, 1), shape, 0, together_.before());
    return values;
  }

  std::string_view format() const noexcept override { return "formula"; }
  std::optional<DType> type() const noexcept override { return type_; }
  std::uint64_t bytes() const noexcept override { return inputs_[0].source->bytes(); }
  std::uint64_t bytes_read() const noexcept override { return inputs_[0].source->bytes_read(); }

 private:
  static core::Together together(const std::vector<SourceInput>& inputs) {
    std::vector<core::Together::Input> all;
    for (const SourceInput& input : inputs) all.push_back({input.name, input.source.get(), width_of(input)});
    return {"a formula", std::move(all)};
  }
  static std::uint64_t width_of(const SourceInput& input) { return input.source->complex() ? 2 : 1; }
  static FormulaInput input_of(const SourceInput& input, const Array& part) {
    if (!input.source->complex()) return {input.name, part};
    return {input.name, ComplexArray(part.reshaped({part.size() / 2, 2}))};
  }

  Formula formula_;
  std::vector<SourceInput> inputs_;
  std::vector<FormulaParameter> parameters_;
  DType type_ = DType::float64;
  std::vector<formula::Untyped> untyped_;  // for each input: what converts its numbers, if it has no type
  core::Together together_;
  Chunk chunk_;
};

}  // namespace

std::unique_ptr<Source> map(const Formula& formula, const std::vector<FormulaInput>& inputs,
                            const std::vector<FormulaParameter>& parameters) {
  return std::make_unique<ArrayMap>(formula, inputs, parameters);
}

std::unique_ptr<Source> map(const Formula& formula, std::vector<SourceInput> inputs, const std::vector<FormulaParameter>& parameters) {
  return std::make_unique<SourceMap>(formula, std::move(inputs), parameters);
}

}  // namespace samesum
