// Formulas: what is computed from the elements at each position of one or several arrays (docs/formulas.md).
//
//   const samesum::Formula distance("sqrt((x - m)^2 + y*y)");
//   std::vector<float> r = samesum::evaluate<float>(distance, {{"x", x}, {"y", y}}, {{"m", 3.0}});
#pragma once

#include <samesum/array.hpp>
#include <samesum/complex.hpp>
#include <samesum/device.hpp>
#include <samesum/export.hpp>
#include <samesum/types.hpp>
#include <samesum/value.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum::formula {
struct Tree;  // not part of the public interface
}

namespace samesum SAMESUM_EXPORT {

/// An array whose elements a formula takes, by a name.
struct FormulaInput {
  /// `vector`: what the formula takes at a position is all that lies along the last axis, up to 64 components: `a[0]`, `dot(a, b)`.
  FormulaInput(std::string its_name, samesum::Array its_array, bool is_vector = false)
      : name(std::move(its_name)), array(std::move(its_array)), vector(is_vector) {}
  /// What the formula takes at a position is a complex number.
  FormulaInput(std::string its_name, const ComplexArray& numbers)
      : name(std::move(its_name)), array(numbers.parts()), vector(false), complex(true) {}

  std::string name;
  samesum::Array array;  ///< of complex numbers their parts
  bool vector;
  bool complex = false;
};

/// A number that a formula takes by a name, the same at all positions: of integers a whole number, of floating-point types one that takes
/// the type of what it meets.
struct FormulaParameter {
  template <std::integral T>
  FormulaParameter(std::string its_name, T number) : name(std::move(its_name)) {
    value.type = std::is_signed_v<T> ? DType::int64 : DType::uint64;
    if constexpr (std::is_signed_v<T>) {
      value.number = std::int64_t{number};
    } else {
      value.number = std::uint64_t{number};
    }
  }
  FormulaParameter(std::string its_name, double number) : name(std::move(its_name)) { value.number = number; }

  std::string name;
  Value value;
};

/// How functions such as exp, sin and erf are computed (docs/formulas.md has the bounds).
enum class FormulaMath {
  fixed,   ///< by operations of which each is rounded correctly: the same bits everywhere
  native,  ///< on devices by their own functions: other bits on each, in a third to all of the time
};

/// What a formula gives for inputs of certain types.
struct FormulaDescription {
  std::vector<DType> results;  ///< one type; of a tuple one for each component. That of a bool is uint8
  bool complex = false;        ///< the two results are the real and the imaginary part of a complex number
  bool may_fail = false;       ///< whether there are elements for which an integer operation fails
  bool reproducible = true;    ///< the values have the same bits on every device that has the capabilities below
  std::vector<Capability> needs;
  std::string reason;  ///< why it is not reproducible; empty if it is
};

/// A formula that has been read: what its names stand for is said where it is used. An immutable value; copies share what it is made of.
class Formula {
 public:
  /// O(length). @throws Error (usage) if `text` is no formula: the message shows the place with a caret, and says what was expected
  /// there.
  explicit Formula(std::string_view text, FormulaMath math = FormulaMath::fixed);

  /// The text in its canonical form: one space if there is one, parentheses if they are needed. It is a formula, and the same one.
  std::string to_string() const;
  /// The names that it takes from outside, in order of appearance; if the caller gives nothing of the name, `i` and constants have a
  /// meaning.
  std::vector<std::string> names() const;
  /// Types, and whether the bits are the same everywhere, for these inputs and parameters, of which only types matter.
  /// @throws Error (usage) if a name is not given or types do not go together: with the place in the text, as above.
  FormulaDescription describe(const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters = {}) const;

  const formula::Tree& tree() const noexcept { return *tree_; }  ///< for the library's own use

 private:
  std::shared_ptr<const formula::Tree> tree_;
};

/// An elementwise map: writes the formula's value at each position to `results`, one array for each component of the result, whose type is
/// described by Formula::describe, and whose memory is written.
///
/// The shape of `results` is that of all positions. Inputs have the same, or one that numpy would broadcast to it: fewer axes in front, or
/// axes of one element. The index `i` counts in the order of indices, the last axis fastest. All arrays are in host memory, or on one
/// device; results may be an input's own memory only if each element lies where that input's does. Every NaN is written as the canonical
/// one.
///
/// O(positions · operations); in host memory by all cores, in blocks that stay in the first-level cache.
/// @throws Error (usage) for shapes, types or devices that do not go together; Error (no_answer) if an integer operation fails whose
/// value is wanted: it names the operation's failure and the lowest index if there is one. Error (device) if the device lacks float64
/// or fails. Then `results` hold nothing of meaning.
void map(const Formula& formula, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters,
         const std::vector<Array>& results);

/// The positions' shape for these inputs: what they broadcast to; empty for inputs that are single elements, or none.
/// @throws Error (usage) if they do not.
std::vector<std::uint64_t> shape_of(const std::vector<FormulaInput>& inputs);

/// The values of a formula with one result for all positions, in the order of their indices, as map() has them; T is the type that the
/// formula gives, or double, to which all types are converted. @throws Error as map(), and (usage) for another T.
template <Element T>
std::vector<T> evaluate(const Formula& formula, const std::vector<FormulaInput>& inputs,
                        const std::vector<FormulaParameter>& parameters = {});

/// Not to be called by users: evaluate() for the type of elements `type`; a single result of it.
void evaluate_to(const Formula& formula, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters,
                 DType type, std::span<const std::uint64_t> shape, void* to);

template <Element T>
std::vector<T> evaluate(const Formula& formula, const std::vector<FormulaInput>& inputs, const std::vector<FormulaParameter>& parameters) {
  const std::vector<std::uint64_t> shape = shape_of(inputs);
  std::uint64_t size = 1;
  for (const std::uint64_t extent : shape) size *= extent;
  std::vector<T> values(size);
  evaluate_to(formula, inputs, parameters, dtype_of<T>(), shape, values.data());
  return values;
}

}  // namespace samesum
