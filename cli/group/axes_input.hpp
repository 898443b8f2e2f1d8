// What commands reduce along axes, and by group: the array of one file, or what --map gives at each position of several.
#pragma once

#include "input/elements.hpp"
#include "input/input.hpp"

#include <samesum/axes.hpp>
#include <samesum/axes_formula.hpp>
#include <samesum/by_formula.hpp>
#include <samesum/formula.hpp>
#include <samesum/operator.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace samesum::cli {

class AxesInput {
 public:
  /// `for_operator`: complex numbers are taken, too, and numbers of a text are float64, as for a formula. @throws Error (usage) where there
  /// is no one file or no formula of the files.
  AxesInput(const Input& input, const std::string& option, bool for_operator = false);

  const std::vector<std::uint64_t>& shape() const noexcept { return shape_; }  ///< of all positions
  std::uint64_t bytes() const noexcept { return bytes_; }                      ///< of all files' elements
  bool complex() const noexcept { return complex_; }
  /// The elements of the one file. Requires that there is no formula.
  Array array() const { return inputs_.front().array; }
  bool has_formula() const noexcept { return formula_.has_value(); }

  /// `where`: Axes, or By of all elements in C order. `ddof`: of variances.
  template <class Where>
  Values reduce(AxisReduction reduction, const Where& where, std::uint64_t ddof, const Options& options) const;
  /// The same of what `text`, a formula of x, makes of each number.
  template <class Where>
  Values reduce_of(const std::string& text, AxisReduction reduction, const Where& where, const Options& options) const;
  template <class Where>
  std::vector<Values> reduce(const Operator& op, const Where& where, const Options& options) const;
  /// The elements of the one file, or what the formula gives at all positions, as long as this object. @throws Error (usage) where these
  /// are not real numbers.
  Array real_numbers();
  /// How many there are, as uint64.
  Values count(const Axes& axes, const Options& options) const;
  Values count(const By& by, const Options& options) const;
  void check_unchanged() const;

 private:
  std::deque<Elements> files_;
  std::optional<Formula> formula_;
  FormulaMath math_ = FormulaMath::fixed;
  std::vector<FormulaInput> inputs_;
  std::vector<FormulaParameter> parameters_;
  std::vector<std::uint64_t> shape_;
  std::uint64_t bytes_ = 0;
  bool complex_ = false;
  std::optional<Values> of_formula_;
};

}  // namespace samesum::cli
