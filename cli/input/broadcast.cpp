#include "input/broadcast.hpp"

#include "input/elements.hpp"

#include <samesum/complex.hpp>
#include <samesum/map_source.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace samesum::cli {
namespace {

// With the files that its chunks are made of.
class MapOfFiles final : public Source {
 public:
  MapOfFiles(std::vector<Elements> files, std::unique_ptr<Source> values) : files_(std::move(files)), values_(std::move(values)) {}

  std::optional<Array> next() override {
    std::optional<Array> chunk = values_->next();
    if (!chunk) {
      for (const Elements& file : files_) file.check_unchanged();
    }
    return chunk;
  }
  std::string_view format() const noexcept override { return values_->format(); }
  std::optional<DType> type() const noexcept override { return values_->type(); }
  std::vector<std::uint64_t> shape() const override { return values_->shape(); }

 private:
  std::vector<Elements> files_;
  std::unique_ptr<Source> values_;
};

}  // namespace

FormulaInput input_of(const std::string& name, const Elements& file, const Array& there) {
  const Array array = there.reshaped(file.shape());
  return file.complex() ? FormulaInput(name, ComplexArray(array)) : FormulaInput(name, array);
}

std::unique_ptr<Source> broadcast_map(const Formula& formula, const std::vector<Input::Operand>& operands,
                                      const std::vector<FormulaParameter>& parameters) {
  if (operands.size() < 2 || std::ranges::any_of(operands, [](const auto& operand) { return is_stream(operand.file); })) return nullptr;
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<std::vector<std::uint64_t>> shapes;
  for (const Input::Operand& operand : operands) {
    InputOptions how = operand.how;
    how.mapped = true;
    std::unique_ptr<Source>& source = sources.emplace_back(open_source(operand.file, how));
    if (source->format() != "npy" || source->resident_bytes() == 0) return nullptr;
    shapes.push_back(source->shape());
    if (source->complex()) shapes.back().pop_back();
  }
  if (std::ranges::all_of(shapes, [&](const auto& shape) { return shape == shapes.front(); })) return nullptr;
  std::vector<Elements> files;
  std::vector<FormulaInput> inputs;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const Elements& file = files.emplace_back(operands[k].file, std::move(sources[k]));
    inputs.push_back(input_of(operands[k].name, file, file.view()));
  }
  std::unique_ptr<Source> values = samesum::map(formula, inputs, parameters);
  return std::make_unique<MapOfFiles>(std::move(files), std::move(values));
}

}  // namespace samesum::cli
