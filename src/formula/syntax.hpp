// The text of a formula as a tree (docs/formulas.md). Names have no types yet: resolve.hpp gives them.
#pragma once

#include "formula/functions.hpp"

#include <samesum/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::formula {

inline constexpr std::size_t kMaxCharacters = 16384;
inline constexpr std::size_t kMaxParts = 4096;
inline constexpr std::uint32_t kMaxLevels = 256;  // of parentheses and the like
inline constexpr std::uint32_t kMaxHeight = 512;  // of a tree: what walks it is recursive
inline constexpr std::uint32_t kMaxComponents = 64;
inline constexpr std::uint32_t kMaxExponent = 1024;

/// One part of a formula. Parts refer to others by their numbers in Tree::parts; those that they are made of come before them.
struct Part {
  enum class Kind : std::uint8_t {
    whole,      ///< a number without point and exponent; `whole`
    real,       ///< any other; its digits stand in the text
    name,       ///< an input, a parameter, the index or a constant; `name`
    reference,  ///< the value of the `let` whose expression is `children[0]`; `name`
    apply,      ///< a function or an operator of `children`
    tuple,      ///< of `children`
    component,  ///< number `whole` of `children[0]`
  };
  Kind kind = Kind::whole;
  std::uint32_t column = 0;  ///< in bytes, from 0
  std::uint32_t length = 0;  ///< of the word there
  std::uint32_t levels = 1;  ///< of the parts below it and itself
  std::uint64_t whole = 0;
  const Function* function = nullptr;
  std::vector<std::uint32_t> children;
};

/// A `let`.
struct Definition {
  std::string name;
  std::uint32_t part;
};

struct Tree {
  std::string text;
  std::vector<Part> parts;
  std::vector<Definition> definitions;  ///< in order
  std::uint32_t root = 0;
  bool fixed = false;  ///< functions such as exp by fixed operations

  std::string_view word(const Part& part) const { return std::string_view(text).substr(part.column, part.length); }
};

/// @throws Error (usage) where `text` is no formula: it shows the text with a caret below the place, and says what was expected.
Tree parse(std::string_view text);

/// The formula in its canonical form: parentheses where they are needed and nowhere else. It parses to the same tree.
std::string to_string(const Tree& tree);

/// `float64(…)` of a formula with one result.
Tree as_float64(Tree tree);

/// An error at a column of a formula: the message, and below it the line of the text that has it, with a caret. What is no printable ASCII
/// is shown as '?'.
Error error_at(std::string_view text, std::size_t column, std::string_view message);

}  // namespace samesum::formula
