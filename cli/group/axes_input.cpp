#include "group/axes_input.hpp"

#include "input/broadcast.hpp"

#include <samesum/device.hpp>
#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <type_traits>

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

namespace {

Values reduction_of(const Array& data, AxisReduction reduction, const Axes& axes, std::uint64_t ddof, const Options& options) {
  return axis_reduction(data, reduction, axes.with_ddof(ddof), options);
}
Values reduction_of(const Array& data, AxisReduction reduction, const By& by, std::uint64_t ddof, const Options& options) {
  return group_reduction(data.reshaped({data.size()}), reduction, by, ddof, options);
}
Values reduction_of(const Formula& formula, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters,
                    AxisReduction reduction, const Axes& axes, std::uint64_t ddof, const Options& options) {
  return axis_reduction(formula, inputs, parameters, reduction, axes.with_ddof(ddof), options);
}
Values reduction_of(const Formula& formula, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters,
                    AxisReduction reduction, const By& by, std::uint64_t ddof, const Options& options) {
  return group_reduction(formula, inputs, parameters, reduction, by, ddof, options);
}

}  // namespace

template <class Where>
Values AxesInput::reduce(AxisReduction reduction, const Where& where, std::uint64_t ddof, const Options& options) const {
  return formula_ ? reduction_of(*formula_, inputs_, parameters_, reduction, where, ddof, options)
                  : reduction_of(array(), reduction, where, ddof, options);
}

template <class Where>
Values AxesInput::reduce_of(const std::string& text, AxisReduction reduction, const Where& where, const Options& options) const {
  if (!formula_) return reduction_of(Formula(text), inputs_, {}, reduction, where, 0, options);
  // "let a = …; f" becomes "let a = …; let x = f; text".
  std::string whole = formula_->to_string();
  const std::size_t named = whole.rfind(';');
  whole.insert(named == std::string::npos ? 0 : named + 1, " let x = ");
  return reduction_of(Formula(fmt::format("{}; {}", whole, text), math_), inputs_, parameters_, reduction, where, 0, options);
}

template <class Where>
std::vector<Values> AxesInput::reduce(const Operator& op, const Where& where, const Options& options) const {
  if (formula_) return samesum::reduce(*formula_, inputs_, parameters_, op, where, options);
  constexpr bool kAlongAxes = std::is_same_v<Where, Axes>;
  return samesum::reduce(kAlongAxes ? array() : array().reshaped({array().size()}), op, where, options);
}

template Values AxesInput::reduce(AxisReduction, const Axes&, std::uint64_t, const Options&) const;
template Values AxesInput::reduce(AxisReduction, const By&, std::uint64_t, const Options&) const;
template Values AxesInput::reduce_of(const std::string&, AxisReduction, const Axes&, const Options&) const;
template Values AxesInput::reduce_of(const std::string&, AxisReduction, const By&, const Options&) const;
template std::vector<Values> AxesInput::reduce(const Operator&, const Axes&, const Options&) const;
template std::vector<Values> AxesInput::reduce(const Operator&, const By&, const Options&) const;

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

namespace {

const std::uint8_t kOne = 1;

Array ones(const std::vector<std::uint64_t>& shape) {
  return {&kOne, Shape(shape), DType::uint8, Strides(std::vector<std::int64_t>(shape.size(), 0))};
}

}  // namespace

Values AxesInput::count(const Axes& axes, const Options& options) const {
  return axis_reduction(ones(shape_), AxisReduction::sum, axes, {.device = Device::open("cpu"), .tuning = options.tuning});
}

Values AxesInput::count(const By& by, const Options& options) const {
  return samesum::count(ones({ones(shape_).size()}), by, {.tuning = options.tuning});
}

void AxesInput::check_unchanged() const {
  for (const Elements& file : files_) file.check_unchanged();
}

}  // namespace samesum::cli
