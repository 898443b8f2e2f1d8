#include "group/axes_input.hpp"

#include "input/broadcast.hpp"

#include <samesum/device.hpp>
#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace samesum::cli {

AxesInput::AxesInput(const Input& given, const std::string& option, bool for_operator) {
  const TextLines lines = option == "--axis" || option == "--tile" ? TextLines::rows : TextLines::sequence;
  Input input = given;
  input.rows = lines == TextLines::rows;
  const auto add = [&](const std::string& name, const std::string& file, const InputOptions& how, TextAs text) {
    const Elements& elements = files_.emplace_back(file, how, text, lines);
    bytes_ += elements.view().bytes();
    inputs_.push_back(input_of(name, elements, elements.view()));
  };
  if (!input.map.empty()) {
    formula_ = input.formula();
    math_ = input.math();
    parameters_ = input.formula_parameters();
    for (const Input::Operand& operand : input.operands(*formula_)) add(operand.name, operand.file, operand.how, TextAs::float64);
  } else {
    if (input.files.size() != 1) throw Error(ErrorKind::usage, option + " takes one file: each has a shape of its own");
    InputOptions how = input.options();
    how.complex = for_operator;
    add("x", input.files.front(), how, for_operator ? TextAs::float64 : TextAs::numbers);
    complex_ = files_.front().complex();
    if (complex_) formula_ = Formula("x");
  }
  shape_ = shape_of(inputs_);
  if (!formula_ || complex_) return;
  try {
    formula_->describe(inputs_, parameters_);
  } catch (const Error& error) {
    const bool of_integers = std::string_view(error.what()).find("takes integers, not float64") != std::string_view::npos;
    const bool text = std::ranges::any_of(files_, [](const Elements& file) { return file.format() == "text"; });
    if (!of_integers || !text) throw;
    throw Error(error.kind(),
                fmt::format("{}\nhere numbers of a text are float64: 'int64(x)' in the formula makes integers of them", error.what()));
  }
}

Values AxesInput::reduce(AxisReduction reduction, const Axes& axes, const Options& options) const {
  return formula_ ? axis_reduction(*formula_, inputs_, parameters_, reduction, axes, options)
                  : axis_reduction(array(), reduction, axes, options);
}

Values AxesInput::reduce_of(const std::string& text, AxisReduction reduction, const Axes& axes, const Options& options) const {
  if (!formula_) return axis_reduction(Formula(text), inputs_, {}, reduction, axes, options);
  // "let a = …; f" becomes "let a = …; let x = f; text".
  std::string whole = formula_->to_string();
  const std::size_t named = whole.rfind(';');
  whole.insert(named == std::string::npos ? 0 : named + 1, " let x = ");
  return axis_reduction(Formula(fmt::format("{}; {}", whole, text), math_), inputs_, parameters_, reduction, axes, options);
}

Array AxesInput::real_numbers() {
  if (!formula_) return array();
  const FormulaDescription gives = formula_->describe(inputs_, parameters_);
  if (gives.complex) throw Error(ErrorKind::usage, "complex numbers have no order: --map 'abs(x)' or 'real(x)' makes real ones of them");
  if (gives.results.size() != 1) {
    throw Error(ErrorKind::usage, fmt::format("this formula gives {} numbers at each position, and quantiles are of one: write one of them",
                                              gives.results.size()));
  }
  of_formula_.emplace(gives.results[0], shape_);
  map(*formula_, inputs_, parameters_, {of_formula_->array()});
  return of_formula_->array();
}

Values AxesInput::count(const Axes& axes, const Options& options) const {
  const std::uint8_t one = 1;  // at all positions
  return axis_reduction(Array(&one, Shape(shape_), DType::uint8, Strides(std::vector<std::int64_t>(shape_.size(), 0))), AxisReduction::sum,
                        axes, {.device = Device::open("cpu"), .tuning = options.tuning});
}

std::vector<Values> AxesInput::reduce(const Operator& op, const Axes& axes, const Options& options) const {
  return formula_ ? samesum::reduce(*formula_, inputs_, parameters_, op, axes, options) : samesum::reduce(array(), op, axes, options);
}

void AxesInput::check_unchanged() const {
  for (const Elements& file : files_) file.check_unchanged();
}

}  // namespace samesum::cli
