#include "formula/lexer.hpp"

#include "formula/syntax.hpp"

#include <algorithm>
#include <charconv>
#include <string>

namespace samesum::formula {
namespace {

// The characters of C's locale, whatever the caller's is.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hexadecimal(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

Error error_at(std::string_view text, std::size_t column, std::string_view message) {
  constexpr std::size_t kBefore = 60, kBehind = 40;
  const std::size_t line = column == 0 ? 0 : text.rfind('\n', column - 1) + 1;  // npos + 1 is 0
  const std::size_t line_end = std::min(text.find('\n', column), text.size());
  const std::size_t first = column - line > kBefore ? column - kBefore : line;
  const std::size_t last = std::min(line_end, column + kBehind);
  std::string shown = "  ";
  for (const char c : text.substr(first, last - first)) shown += c >= ' ' && c <= '~' ? c : '?';
  return {ErrorKind::usage, "formula, column " + std::to_string(column + 1) + ": " + std::string(message) + "\n" + shown + "\n  " +
                                std::string(column - first, ' ') + "^"};
}

Token Lexer::number() {
  const std::size_t first = at_;
  const auto here = [&](std::size_t i) { return i < text_.size() ? text_[i] : '\0'; };
  const bool hexadecimal = here(at_) == '0' && (here(at_ + 1) == 'x' || here(at_ + 1) == 'X');
  const auto digits = [&] {
    const std::size_t from = at_;
    while (hexadecimal ? is_hexadecimal(here(at_)) : is_digit(here(at_))) ++at_;
    return at_ != from;
  };
  if (hexadecimal) at_ += 2;
  bool any = digits(), real = false;
  if (here(at_) == '.') {
    real = true;
    ++at_;
    any |= digits();
  }
  if (!any) throw error_at(text_, first, "this number has no digits");
  if (hexadecimal ? here(at_) == 'p' || here(at_) == 'P' : here(at_) == 'e' || here(at_) == 'E') {
    real = true;
    ++at_;
    if (here(at_) == '-' || here(at_) == '+') ++at_;
    if (!is_digit(here(at_))) throw error_at(text_, at_, "expected the digits of an exponent");
    while (is_digit(here(at_))) ++at_;
  } else if (hexadecimal && real) {
    throw error_at(text_, at_, "a hexadecimal number with a point needs an exponent, as in 0x1.8p0");
  }
  if (begins_name(here(at_)) || here(at_) == '.') throw error_at(text_, at_, "expected an operator behind the number");
  Token token{real ? Token::Kind::real : Token::Kind::whole, first, text_.substr(first, at_ - first)};
  if (!real) {
    const char* const from = token.text.data() + (hexadecimal ? 2 : 0);
    const auto read = std::from_chars(from, token.text.data() + token.text.size(), token.whole, hexadecimal ? 16 : 10);
    if (read.ec != std::errc()) throw error_at(text_, first, "this whole number does not fit 64 bits; with a point it is a float64");
  }
  return token;
}

Token Lexer::next() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  if (at_ == text_.size()) return {Token::Kind::end, at_, {}};
  const char c = text_[at_];
  if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) return number();
  const std::size_t first = at_;
  if (begins_name(c)) {
    while (at_ < text_.size() && (begins_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
    return {Token::Kind::name, first, text_.substr(first, at_ - first)};
  }
  for (const std::string_view symbol : {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"}) {
    if (text_.substr(at_).starts_with(symbol)) {
      at_ += 2;
      return {Token::Kind::symbol, first, text_.substr(first, 2)};
    }
  }
  if (std::string_view("+-*/%^<>&|~!?:,;()[]=").find(c) == std::string_view::npos) {
    throw error_at(text_, at_, "no formula has this character");
  }
  ++at_;
  return {Token::Kind::symbol, first, text_.substr(first, 1)};
}

std::string_view shown(const Token& token) { return token.kind == Token::Kind::end ? "the end" : token.text; }

}  // namespace samesum::formula
