// The shapes of a formula's parts: numbers, complex numbers and tuples, and of which types their components are.
#pragma once

#include "formula/program.hpp"
#include "formula/syntax.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace samesum::formula {

/// A Scalar, or that of a number which takes the type of what it meets.
enum class Kind : std::uint8_t { boolean, int64, uint64, float32, float64, whole, real };

constexpr bool is_weak(Kind kind) { return kind >= Kind::whole; }
constexpr Kind kind_from(Scalar type) { return static_cast<Kind>(type); }
/// The type of a number that meets no other.
constexpr Scalar scalar_of(Kind kind) {
  return kind == Kind::whole ? Scalar::int64 : kind == Kind::real ? Scalar::float64 : static_cast<Scalar>(kind);
}
/// What a bool counts as among numbers.
constexpr Kind number(Kind kind) { return kind == Kind::boolean ? Kind::whole : kind; }

/// A number; a complex number, whose components are its parts, both of one kind; or a tuple of several numbers.
struct Shape {
  enum class Form : std::uint8_t { number, complex, tuple };
  Form form = Form::number;
  std::vector<Kind> kinds;

  bool tuple() const noexcept { return form == Form::tuple; }
  bool complex() const noexcept { return form == Form::complex; }
};

struct Constant {
  std::string_view name;
  double value;
};

/// Those of all parts of a tree.
class Shapes {
 public:
  /// @throws Error (usage), with the column, for parts that do not go together.
  Shapes(const Tree& tree, std::span<const InputType> inputs, std::span<const ParameterType> parameters);

  const Shape& operator[](std::uint32_t part) const { return shapes_[part]; }
  /// Of component k of a part; of a number that goes with each.
  Kind kind_at(std::uint32_t part, std::size_t k) const {
    const Shape& shape = shapes_[part];
    return shape.kinds[shape.form == Shape::Form::number ? 0 : k];
  }
  /// The type in which the operands of an application meet, of those from `first` on, in component k.
  Scalar common(const Part& part, std::uint32_t k, std::size_t first = 0) const;

  // What a name means.
  const InputType* input_of(const Part& part) const { return find(inputs_, part); }
  const ParameterType* parameter_of(const Part& part) const { return find(parameters_, part); }
  const Constant* constant_of(const Part& part) const;
  /// Where an exponent is a whole number in the text, with a sign or without.
  std::optional<std::int64_t> whole_exponent(const Part& part) const;

  [[noreturn]] void fail(const Part& part, std::string_view message) const;

 private:
  void check_names() const;
  template <class T>
  const T* find(std::span<const T> all, const Part& part) const {
    for (const T& one : all) {
      if (one.name == tree_.word(part)) return &one;
    }
    return nullptr;
  }
  Shape shape_of(const Part& part) const;
  Shape shape_of_name(const Part& part) const;
  Shape shape_of_vectors(const Part& part) const;
  Shape shape_of_complex(const Part& part) const;
  Shape shape_of_each(const Part& part) const;
  Kind join(const Part& part, Kind a, Kind b) const;
  Kind kind_of(const Part& part, std::span<const Kind> operands) const;
  Kind kind_of_power(const Part& part, Kind base, Kind exponent) const;

  const Tree& tree_;
  std::span<const InputType> inputs_;
  std::span<const ParameterType> parameters_;
  std::vector<Shape> shapes_;
};

}  // namespace samesum::formula
