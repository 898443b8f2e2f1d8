// A formula whose inputs have types: operations on numbers, one after the other, of which each is done once.
#pragma once

#include "formula/functions.hpp"
#include "formula/syntax.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::formula {

inline constexpr std::size_t kMaxOperations = 4096;

/// What an integer operation cannot give, as bits of one word (operations.h has the same).
enum Fault : std::uint32_t { kOverflow = 1, kDivision = 2, kShift = 4, kConversion = 8, kModulus = 16 };
/// "overflow", …: of several the lowest.
std::string_view name_of_fault(std::uint32_t faults) noexcept;

/// One operation. Its operands come before it in Program::nodes.
struct Node {
  Op op = Op::constant;
  Scalar type = Scalar::float64;
  std::uint8_t operands = 0;
  /// The operation itself may fail: integers that may leave their type, a divisor that may be 0. This and the two below: ranges.hpp.
  bool checked = false;
  /// It or one that its value depends on may.
  bool may_fail = false;
  std::array<std::uint32_t, 3> from{};
  /// Of an input its number among Program::inputs, of a parameter among Program::parameters, of a constant its bits: of a float32 the
  /// low 32.
  std::uint64_t bits = 0;
  /// Integers so small that the operation's narrow form gives the same (operations.h).
  bool narrow = false;
};

/// One number of each position that a program reads: a component of an input.
struct InputComponent {
  std::uint32_t input;  ///< number of the input, as given to resolve()
  std::uint32_t component;
  Scalar type;
};

/// A parameter in one type: it may be needed in several.
struct ParameterUse {
  std::uint32_t parameter;  ///< number of the parameter, as given to resolve()
  Scalar type;
};

struct Program {
  std::vector<Node> nodes;
  std::vector<std::uint32_t> results;  ///< nodes; several of a tuple
  std::vector<InputComponent> inputs;
  std::vector<ParameterUse> parameters;
  bool uses_index = false;
  bool may_fail = false;
  bool complex = false;  ///< the two results are the parts of a complex number
  bool fixed = false;    ///< functions such as exp by fixed operations
};

/// An input as type inference sees it.
struct InputType {
  std::string name;
  DType type = DType::float64;
  std::uint32_t components = 1;
  bool vector = false;  ///< `a[0]` is meant, even of one component
  /// The types of the components, where they have several.
  std::vector<DType> types = {};
  bool complex = false;  ///< its two components are the parts of complex numbers

  DType type_of(std::size_t component) const { return types.empty() ? type : types[component]; }
};

/// A parameter: a whole number or not; its value does not matter here.
struct ParameterType {
  std::string name;
  bool whole = false;
};

/// @throws Error (usage), with the column: for a name without a value, types that do not go together, too many operations; and for inputs
/// and parameters of the same name or of none.
Program resolve(const Tree& tree, std::span<const InputType> inputs, std::span<const ParameterType> parameters);

/// Names that a formula takes from its inputs and parameters or, where they have none of that name, from the constants: in order of
/// appearance.
std::vector<std::string> free_names(const Tree& tree);

/// What a program's bits depend on.
struct Reproducibility {
  bool transcendental = false;  ///< they differ between devices
  bool division = false, square_root = false, fma = false;
  std::string_view function;  ///< a transcendental one
};
Reproducibility reproducibility(const Program& program);

}  // namespace samesum::formula
