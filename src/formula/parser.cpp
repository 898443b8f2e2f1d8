#include "formula/lexer.hpp"
#include "formula/syntax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace samesum::formula {
namespace {

// Operators of two operands, from the loosest to the tightest.
enum Level { kOr = 1, kAnd, kComparison, kBits, kMasked, kShifted, kSum, kProduct, kNone = 0 };

Level level_of(const Token& token) {
  if (token.kind != Token::Kind::symbol) return kNone;
  static constexpr std::pair<std::string_view, Level> kLevels[] = {
      {"||", kOr},         {"&&", kAnd},        {"<", kComparison}, {"<=", kComparison}, {">", kComparison}, {">=", kComparison},
      {"==", kComparison}, {"!=", kComparison}, {"|", kBits},       {"&", kMasked},      {"<<", kShifted},   {">>", kShifted},
      {"+", kSum},         {"-", kSum},         {"*", kProduct},    {"/", kProduct},     {"%", kProduct}};
  for (const auto& [symbol, level] : kLevels) {
    if (token.text == symbol) return level;
  }
  return kNone;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) { tree_.text = text; }

  Tree parse() {
    advance();
    while (token_.kind == Token::Kind::name && token_.text == "let") {
      advance();
      if (token_.kind != Token::Kind::name || token_.text == "let") fail("expected the name that let defines");
      std::string name(token_.text);
      advance();
      if (token_.text == "==") fail("expected '=' behind the name that let defines");
      expect("=", "behind the name that let defines");
      const std::uint32_t part = expression();
      expect(";", "behind the value of a let");
      tree_.definitions.push_back({std::move(name), part});
    }
    tree_.root = expression();
    if (token_.kind != Token::Kind::end) {
      if (token_.text == "=") fail("expected an operator; equality is '=='");
      fail(token_.text == ")" || token_.text == "]" ? fmt::format("nothing was opened that '{}' would close", token_.text)
                                                    : fmt::format("expected an operator or the end, found '{}'", token_.text));
    }
    return std::move(tree_);
  }

 private:
  // What nests nests here: bounded, so that the stack is.
  class Nested {
   public:
    explicit Nested(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaxLevels) parser_.fail(fmt::format("parts of a formula nest at most {} deep", kMaxLevels));
    }
    ~Nested() { --parser_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Parser& parser_;
  };

  [[noreturn]] void fail(std::string_view message) const { throw error_at(tree_.text, token_.column, message); }
  void advance() { token_ = lexer_.next(); }
  bool at(std::string_view symbol) const { return token_.kind == Token::Kind::symbol && token_.text == symbol; }
  bool take(std::string_view symbol) {
    if (!at(symbol)) return false;
    advance();
    return true;
  }
  void expect(std::string_view symbol, std::string_view where) {
    if (!take(symbol)) fail(fmt::format("expected '{}' {}, found {}", symbol, where, quoted()));
  }
  // What other languages write with this symbol twice.
  std::string_view hint() const {
    const bool twice = token_.column > 0 && tree_.text.substr(token_.column - 1, 1) == token_.text;
    return !twice ? "" : at("*") ? "; a power is x^2" : at("/") ? "; a quotient rounded down is floor(x/y)" : "";
  }
  std::string quoted() const { return token_.kind == Token::Kind::end ? "the end" : fmt::format("'{}'", token_.text.substr(0, 40)); }

  std::uint32_t add(Part part) {
    if (tree_.parts.size() == kMaxParts) throw error_at(tree_.text, part.column, fmt::format("a formula has at most {} parts", kMaxParts));
    for (const std::uint32_t child : part.children) part.levels = std::max(part.levels, tree_.parts[child].levels + 1);
    if (part.levels > kMaxHeight) {
      throw error_at(tree_.text, part.column, fmt::format("at most {} operations may stand one upon another", kMaxHeight));
    }
    tree_.parts.push_back(std::move(part));
    return static_cast<std::uint32_t>(tree_.parts.size() - 1);
  }
  std::uint32_t apply(const Token& word, const Function& function, std::vector<std::uint32_t> children) {
    Part part;
    part.kind = Part::Kind::apply;
    part.column = static_cast<std::uint32_t>(word.column);
    part.length = static_cast<std::uint32_t>(word.text.size());
    part.function = &function;
    part.children = std::move(children);
    return add(std::move(part));
  }
  Part of_word(Part::Kind kind, const Token& word) const {
    Part part;
    part.kind = kind;
    part.column = static_cast<std::uint32_t>(word.column);
    part.length = static_cast<std::uint32_t>(word.text.size());
    part.whole = word.whole;
    return part;
  }

  std::uint32_t expression() {
    const Nested nested(*this);
    const std::uint32_t condition = binary(kOr);
    if (!at("?")) return condition;
    const Token word = token_;
    advance();
    const std::uint32_t yes = expression();
    expect(":", "behind the first value of '?'");
    const std::uint32_t no = expression();
    return apply(word, operator_of("?", 3), {condition, yes, no});
  }

  std::uint32_t binary(int loosest) {
    std::uint32_t left = unary();
    for (;;) {
      const Level level = level_of(token_);
      if (level == kNone || level < loosest) return left;
      const Token word = token_;
      advance();
      const std::uint32_t right = binary(level + 1);
      left = apply(word, operator_of(word.text, 2), {left, right});
      if (level == kComparison && level_of(token_) == kComparison) fail("comparisons do not chain: write a < b && b < c");
    }
  }

  std::uint32_t unary() {
    if (!at("+") && !at("-") && !at("~") && !at("!")) return power();
    const Nested nested(*this);
    const Token word = token_;
    advance();
    if (word.text == "+") return unary();
    const std::uint32_t operand = unary();
    return apply(word, operator_of(word.text, 1), {operand});
  }

  std::uint32_t power() {
    const std::uint32_t base = postfix();
    if (!at("^")) return base;
    const Token word = token_;
    advance();
    const Nested nested(*this);
    const std::uint32_t exponent = unary();
    return apply(word, operator_of("^", 2), {base, exponent});
  }

  std::uint32_t postfix() {
    std::uint32_t part = primary();
    while (at("[")) {
      const Token word = token_;
      advance();
      if (token_.kind != Token::Kind::whole) fail(fmt::format("expected the number of a component, found {}", quoted()));
      Part component = of_word(Part::Kind::component, word);
      component.whole = token_.whole;
      advance();
      expect("]", "behind the number of a component");
      component.children = {part};
      part = add(std::move(component));
    }
    return part;
  }

  std::uint32_t primary() {
    const Token word = token_;
    if (word.kind == Token::Kind::whole || word.kind == Token::Kind::real) {
      advance();
      return add(of_word(word.kind == Token::Kind::whole ? Part::Kind::whole : Part::Kind::real, word));
    }
    if (word.kind == Token::Kind::name) {
      if (word.text == "let") fail("let stands before the formula, not in it: let name = value; formula");
      advance();
      return at("(") ? call(word) : name(word);
    }
    if (!take("(")) fail(fmt::format("expected a number, a name or '(', found {}{}", quoted(), hint()));
    std::vector<std::uint32_t> children{expression()};
    while (take(",")) children.push_back(expression());
    expect(")", "to close the '(' before");
    if (children.size() == 1) return children[0];
    if (children.size() > kMaxComponents) {
      throw error_at(tree_.text, word.column, fmt::format("a tuple has at most {} components", kMaxComponents));
    }
    Part tuple = of_word(Part::Kind::tuple, word);
    tuple.children = std::move(children);
    return add(std::move(tuple));
  }

  std::uint32_t name(const Token& word) {
    Part part = of_word(Part::Kind::name, word);
    const auto defined =
        std::find_if(tree_.definitions.rbegin(), tree_.definitions.rend(), [&](const Definition& d) { return d.name == word.text; });
    if (defined != tree_.definitions.rend()) {
      part.kind = Part::Kind::reference;
      part.children = {defined->part};
    }
    return add(std::move(part));
  }

  std::uint32_t call(const Token& word) {
    const Function* const function = find_function(word.text);
    if (function == nullptr) {
      std::string known;
      for (const Function& f : functions()) known += fmt::format("{}{}", known.empty() ? "" : ", ", f.name);
      const Function* const similar = similar_function(word.text.substr(0, 40));
      throw error_at(tree_.text, word.column,
                     fmt::format("no function '{}'{}; there are {}", word.text.substr(0, 40),
                                 similar != nullptr ? fmt::format(" (did you mean '{}'?)", similar->name) : "", known));
    }
    advance();
    std::vector<std::uint32_t> operands;
    if (!at(")")) {
      do operands.push_back(expression());
      while (take(","));
    }
    expect(")", fmt::format("or ',' in the operands of {}", function->name));
    if (operands.size() < function->least || operands.size() > function->most) {
      throw error_at(tree_.text, word.column,
                     fmt::format("{} takes {}{} operand{}, not {}", function->name, function->least,
                                 function->least == function->most ? "" : " or more", function->least == 1 ? "" : "s", operands.size()));
    }
    // Of several operands: min(min(a, b), c).
    if (function->most == 255) {
      std::uint32_t result = operands[0];
      for (std::size_t i = 1; i < operands.size(); ++i) result = apply(word, *function, {result, operands[i]});
      return result;
    }
    return apply(word, *function, std::move(operands));
  }

  Lexer lexer_;
  Tree tree_;
  Token token_;
  std::uint32_t nesting_ = 0;
};

// How tightly a part holds together, for parentheses.
constexpr int kTernary = 0, kUnary = kProduct + 1, kPower = kUnary + 1, kTightest = kPower + 2;

int level_of(const Part& part) {
  if (part.kind != Part::Kind::apply || !part.function->written_as_operator) return kTightest;
  if (part.function->op == Op::select) return kTernary;
  if (part.function->op == Op::power) return kPower;
  if (part.children.size() == 1) return kUnary;
  return level_of(Token{Token::Kind::symbol, 0, part.function->name});
}

// Not recursive in what a reference stands for, so at most as deep as the tree.
void print(const Tree& tree, std::uint32_t number, int loosest, std::string& to) {
  const Part& part = tree.parts[number];
  const int level = level_of(part);
  const auto child = [&](std::size_t i, int of) { print(tree, part.children[i], of, to); };
  if (level < loosest) to += '(';
  switch (part.kind) {
    case Part::Kind::component:
      child(0, kTightest);
      to += fmt::format("[{}]", part.whole);
      break;
    case Part::Kind::tuple:
    case Part::Kind::apply:
      if (part.kind == Part::Kind::apply && part.function->written_as_operator) {
        const std::string_view symbol = part.function->name;
        if (level == kTernary) {
          child(0, kTernary + 1);
          to += " ? ";
          child(1, kTernary);
          to += " : ";
          child(2, kTernary);
        } else if (level == kUnary) {
          to += symbol;
          child(0, kUnary);
        } else if (level == kPower) {
          child(0, kTightest);
          to += '^';
          child(1, kUnary);
        } else {
          child(0, level == kComparison ? level + 1 : level);
          to += level == kProduct ? std::string(symbol) : fmt::format(" {} ", symbol);
          child(1, level + 1);
        }
        break;
      }
      if (part.kind == Part::Kind::apply) to += part.function->name;
      to += '(';
      for (std::size_t i = 0; i < part.children.size(); ++i) {
        if (i != 0) to += ", ";
        child(i, kTernary);
      }
      to += ')';
      break;
    default:
      to += tree.word(part);
  }
  if (level < loosest) to += ')';
}

}  // namespace

Tree parse(std::string_view text) {
  if (text.size() > kMaxCharacters) {
    throw Error(ErrorKind::usage, fmt::format("this formula has {} characters; at most {} are allowed", text.size(), kMaxCharacters));
  }
  return Parser(text).parse();
}

Tree as_float64(Tree tree) {
  Part part;
  part.kind = Part::Kind::apply;
  part.function = find_function("float64");
  part.children = {tree.root};
  tree.parts.push_back(std::move(part));
  tree.root = static_cast<std::uint32_t>(tree.parts.size() - 1);
  return tree;
}

std::string to_string(const Tree& tree) {
  std::string text;
  for (const Definition& definition : tree.definitions) {
    text += "let " + definition.name + " = ";
    print(tree, definition.part, kTernary, text);
    text += "; ";
  }
  print(tree, tree.root, kTernary, text);
  return text;
}

}  // namespace samesum::formula
