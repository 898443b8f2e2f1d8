// The words of a formula.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace samesum::formula {

struct Token {
  enum class Kind : std::uint8_t { whole, real, name, symbol, end };
  Kind kind = Kind::end;
  std::size_t column = 0;  ///< in bytes, from 0
  std::string_view text;   ///< of the end: empty
  std::uint64_t whole = 0;
};

/// Reads one word after the other. Everything in `text` must outlive it.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  /// @throws Error (usage) where no word begins.
  Token next();

 private:
  Token number();

  std::string_view text_;
  std::size_t at_ = 0;
};

/// The word as a message shows it: "'+'", "the end".
std::string_view shown(const Token& token);

}  // namespace samesum::formula
