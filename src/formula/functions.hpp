// What a formula can do: scalar types, operations, and the functions and operators by which they are written.
#pragma once

#include <samesum/types.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace samesum::formula {

/// The types in which formulas are computed. In memory a bool is a byte, 0 or 1.
enum class Scalar : std::uint8_t { boolean, int64, uint64, float32, float64 };
inline constexpr std::size_t kScalars = 5;

constexpr bool is_float(Scalar type) noexcept { return type >= Scalar::float32; }
constexpr bool is_integer(Scalar type) noexcept { return type == Scalar::int64 || type == Scalar::uint64; }
std::string_view name_of(Scalar type) noexcept;
/// The type of elements that holds such numbers; of bools uint8.
DType dtype_of(Scalar type) noexcept;
inline std::size_t bytes_of(Scalar type) { return size_of(dtype_of(type)); }
/// The type in which elements of this type are computed.
Scalar scalar_of(DType type) noexcept;

/// Operations on numbers of one type, after type inference.
enum class Op : std::uint8_t {
  // leaves
  input,
  index,
  parameter,
  constant,
  // of one number
  convert,
  negate,
  abs,
  complement,
  logical_not,
  floor,
  ceil,
  trunc,
  round,
  sqrt,
  isnan,
  popcount,
  clz,
  exp,
  log,
  log1p,
  expm1,
  sin,
  cos,
  tan,
  tanh,
  exp2,
  log2,
  log10,
  cbrt,
  sinh,
  cosh,
  asin,
  acos,
  atan,
  erf,
  erfc,
  // of two
  add,
  subtract,
  multiply,
  divide,
  modulo,
  less,
  less_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  min,
  max,
  gcd,
  atan2,
  pow,
  hypot,
  // of three
  select,
  fma,
  mulmod,
  // written, but made of others by type inference
  greater,
  greater_equal,
  power,
  rsqrt,
  sign,
  dot,
  sqdist,
  complex,
  real,
  imag,
  conj,
  abs2,
  arg,
};

/// Which operands a function takes, and what it gives.
enum class Signature : std::uint8_t {
  numbers,     ///< of one type, which the result has
  floats,      ///< the same; integers count as float64
  integers,    ///< the same, of integers alone
  bits,        ///< the same as integers
  count,       ///< an integer; gives an int64
  rounding,    ///< numbers; of integers the number itself
  comparison,  ///< numbers of one type; gives a bool
  logic,       ///< of bools; gives a bool
  choice,      ///< a bool and two of one type, which the result has
  conversion,  ///< a number; gives `target`
  power,
  vectors,  ///< two of as many components; gives one number of their type
  complex,  ///< of complex numbers, or making one
};

/// A function or an operator.
struct Function {
  std::string_view name;
  Op op;
  Signature signature;
  std::uint8_t least, most;  ///< operands
  bool written_as_operator = false;
  Scalar target = Scalar::boolean;
};

/// The function of this name; null where there is none.
const Function* find_function(std::string_view name) noexcept;
/// The function whose name is most like this one; null where none is like it.
const Function* similar_function(std::string_view name);
/// The operator of that text with `operands` operands.
const Function& operator_of(std::string_view symbol, unsigned operands) noexcept;
std::span<const Function> functions() noexcept;

/// A function that devices do not round correctly: values differ from one to another. By fixed operations they do not.
struct Transcendental {
  Op op;
  std::string_view file;  ///< has it by fixed operations (formula/transcendental/)
  bool division = false, square_root = false;  ///< what these need of a device
};
/// Null for other operations.
const Transcendental* find_transcendental(Op op) noexcept;
inline bool is_transcendental(Op op) noexcept { return find_transcendental(op) != nullptr; }

}  // namespace samesum::formula
