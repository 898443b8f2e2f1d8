// The value of a formula at one position by docs/formulas.md, from its text, without any code of src/formula: floating-point numbers by MPFR,
// integers in 128 bits. Of real numbers, without tuples, let and the functions that are not the same everywhere.
#pragma once

#include <mpfr.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum::test {

__extension__ using Wide = __int128;

class FormulaOracle {
 public:
  /// Types as in "Types" of the page; whole and real are numbers in the text, which take the type of what they meet.
  enum class Kind { boolean, int64, uint64, float32, float64, whole, real };

  struct Value {
    Kind kind = Kind::boolean;
    Wide integer = 0;     // bool, int64, uint64
    double number = 0;    // float32, float64
    bool failed = false;  // an integer operation on the way to it has
  };
  /// What names stand for; of whole and real parameters, too.
  using Names = std::map<std::string, Value, std::less<>>;

  /// Requires a formula that samesum takes. `names` has the kinds.
  FormulaOracle(std::string_view text, const Names& names) : text_(text), names_(names) {
    root_ = expression();
    if (at_ != text_.size()) fail();
  }

  /// At one position; of the type that the formula has as a whole.
  Value value(const Names& names) const { return in(*root_, alone(root_->kind), names); }

 private:
  struct Node;
  using Child = std::unique_ptr<Node>;
  struct Node {
    std::string word;  // an operator, a function, a name, or a number
    Kind kind = Kind::boolean;
    std::vector<Child> of = {};
    int exponent = 0;  // of "^"
  };

  // Numbers of any size: exact for one operation on doubles.
  struct Real {
    Real() { mpfr_init2(value, 4800); }
    explicit Real(double of) : Real() { mpfr_set_d(value, of, MPFR_RNDN); }
    ~Real() { mpfr_clear(value); }
    Real(const Real&) = delete;
    Real& operator=(const Real&) = delete;
    double rounded(Kind kind) const { return kind == Kind::float32 ? mpfr_get_flt(value, MPFR_RNDN) : mpfr_get_d(value, MPFR_RNDN); }
    mpfr_t value;
  };

  [[noreturn]] void fail() const {
    throw std::logic_error("no formula for this oracle: " + std::string(text_) + " at " + std::to_string(at_));
  }

  // The grammar.

  void blank() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view symbol) {
    blank();
    if (text_.substr(at_, symbol.size()) != symbol) return false;
    at_ += symbol.size();
    blank();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!take(symbol)) fail();
  }
  template <class... Children>
  Child make(std::string word, Children... children) const {
    auto node = std::make_unique<Node>();
    node->word = std::move(word);
    (node->of.push_back(std::move(children)), ...);
    node->kind = kind_of(*node);
    return node;
  }
  Child expression() {
    Child condition = binary(0);
    if (!take("?")) return condition;
    Child yes = expression();
    expect(":");
    return make("select", std::move(condition), std::move(yes), expression());
  }
  // One level of operators, from the loosest.
  Child binary(std::size_t level) {
    static const std::vector<std::vector<std::string_view>> kLevels = {
        {"||"}, {"&&"}, {"<<", ">>", "<=", ">=", "==", "!=", "<", ">"}, {"|"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
    if (level == kLevels.size()) return unary();
    Child left = binary(level + 1);
    for (bool more = true; more;) {
      more = false;
      for (const std::string_view symbol : kLevels[level]) {
        blank();
        const bool here = text_.substr(at_, symbol.size()) == symbol;
        const bool other = here && symbol.size() == 1 && (text_.substr(at_, 2) == "||" || text_.substr(at_, 2) == "&&");
        if (!here) continue;
        if (other || (level == 2 && (symbol == "<<" || symbol == ">>"))) break;
        take(symbol);
        left = make(std::string(symbol), std::move(left), binary(level + 1));
        more = level != 2;
        break;
      }
    }
    return left;
  }
  Child unary() {
    if (take("-")) return make("negate", unary());
    if (take("~")) return make("~", unary());
    if (take("!")) return make("!", unary());
    Child base = primary();
    if (!take("^")) return base;
    const bool negative = take("-");
    const Child exponent = primary();
    auto power = std::make_unique<Node>();
    power->word = "^";
    power->exponent = (negative ? -1 : 1) * std::atoi(exponent->word.c_str());
    power->kind = power->exponent < 0 && number(base->kind) == Kind::whole ? Kind::real : number(base->kind);
    power->of.push_back(std::move(base));
    return power;
  }
  Child primary() {
    if (take("(")) {
      Child inside = expression();
      expect(")");
      return inside;
    }
    const std::size_t begin = at_;
    const auto in_word = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || c == '_'; };
    while (at_ < text_.size() && in_word(text_[at_])) ++at_;
    std::string word(text_.substr(begin, at_ - begin));
    if (word.empty()) fail();
    auto node = std::make_unique<Node>();
    node->word = word;
    if (word[0] >= '0' && word[0] <= '9') {
      node->kind = word.find('.') == std::string::npos ? Kind::whole : Kind::real;
      return node;
    }
    if (take("(")) {
      do {
        node->of.push_back(expression());
      } while (take(","));
      expect(")");
      node->kind = kind_of(*node);
      return node;
    }
    const auto known = names_.find(word);
    if (known == names_.end()) fail();
    node->kind = known->second.kind;
    return node;
  }

  // Types.

  static bool is_integer(Kind kind) { return kind == Kind::int64 || kind == Kind::uint64; }
  static bool is_float(Kind kind) { return kind == Kind::float32 || kind == Kind::float64; }
  static Kind number(Kind kind) { return kind == Kind::boolean ? Kind::whole : kind; }  // a bool beside anything else is 0 or 1
  static Kind alone(Kind kind) { return kind == Kind::whole ? Kind::int64 : kind == Kind::real ? Kind::float64 : kind; }
  static Kind together(Kind a, Kind b) {
    a = number(a);
    b = number(b);
    if (a == b || b == Kind::whole) return a;
    if (a == Kind::whole) return b;
    if (a == Kind::real) std::swap(a, b);
    if (b == Kind::real) return is_integer(a) ? Kind::float64 : a;
    return Kind::float64;
  }
  static Kind joined(const Node& node, std::size_t first = 0) {
    Kind kind = number(node.of[first]->kind);
    for (std::size_t k = first + 1; k < node.of.size(); ++k) kind = together(kind, node.of[k]->kind);
    return kind;
  }
  static bool is_one_of(std::string_view word, std::initializer_list<std::string_view> all) {
    return std::find(all.begin(), all.end(), word) != all.end();
  }
  static bool compares(std::string_view word) { return is_one_of(word, {"<", "<=", ">", ">=", "==", "!="}); }
  static Kind kind_of(const Node& node) {
    const std::string& word = node.word;
    if (compares(word) || is_one_of(word, {"&&", "||", "!", "isnan"})) return Kind::boolean;
    if (word == "select") {
      const bool bools = node.of[1]->kind == Kind::boolean && node.of[2]->kind == Kind::boolean;
      return bools ? Kind::boolean : joined(node, 1);
    }
    if (is_one_of(word, {"int64", "clz", "popcount"})) return Kind::int64;
    if (word == "uint64") return Kind::uint64;
    if (word == "float32") return Kind::float32;
    if (word == "float64") return Kind::float64;
    const Kind kind = joined(node);
    if (is_one_of(word, {"sqrt", "rsqrt"})) return kind == Kind::whole ? Kind::real : is_integer(kind) ? Kind::float64 : kind;
    return kind;
  }

  // Values.

  static Wide least(Kind kind) { return kind == Kind::int64 ? std::numeric_limits<std::int64_t>::min() : 0; }
  static Wide greatest(Kind kind) {
    return kind == Kind::int64 ? Wide{std::numeric_limits<std::int64_t>::max()} : Wide{std::numeric_limits<std::uint64_t>::max()};
  }
  static Value failure(Kind kind) { return {kind, 0, 0, true}; }
  static Value whole(Kind kind, Wide value) {
    return value < least(kind) || value > greatest(kind) ? failure(kind) : Value{kind, value, 0, false};
  }
  static Value truth(bool value) { return {Kind::boolean, value ? 1 : 0, 0, false}; }
  static Value floating(Kind kind, double value) { return {kind, 0, value, false}; }

  static Value converted(const Value& from, Kind to) {
    if (from.failed) return failure(to);
    if (from.kind == to) return from;
    if (is_float(from.kind)) {
      if (is_float(to)) return floating(to, Real(from.number).rounded(to));
      const double cut = std::trunc(from.number);
      if (!(cut >= (to == Kind::int64 ? -0x1p63 : 0.0) && cut < (to == Kind::int64 ? 0x1p63 : 0x1p64))) return failure(to);
      return whole(to, static_cast<Wide>(cut));
    }
    if (!is_float(to)) return whole(to, from.integer);
    Real exact;
    mpfr_set_sj(exact.value, static_cast<std::int64_t>(from.integer >> 32), MPFR_RNDN);
    mpfr_mul_2ui(exact.value, exact.value, 32, MPFR_RNDN);
    mpfr_add_ui(exact.value, exact.value, static_cast<unsigned long>(from.integer & 0xffffffff), MPFR_RNDN);
    return floating(to, exact.rounded(to));
  }

  // In what the operand of a conversion to `to` is computed: numbers in the text are in the type itself, but a fraction has to be cut off.
  static Kind converted_in(const Node& node, Kind to) {
    return node.kind == Kind::whole || (node.kind == Kind::real && is_float(to)) ? to : alone(node.kind);
  }
  // Of a node in a type: what takes the type of others is computed in it whole.
  Value in(const Node& node, Kind type, const Names& names) const {
    const Kind own = node.kind == Kind::whole || node.kind == Kind::real ? type : node.kind;
    return converted(at(node, own, names), type);
  }

  Value at(const Node& node, Kind type, const Names& names) const {
    const std::string& word = node.word;
    if (node.of.empty()) {
      const bool digits = word[0] >= '0' && word[0] <= '9';
      if (digits && is_float(type)) {
        return floating(type, type == Kind::float32 ? std::strtof(word.c_str(), nullptr) : std::strtod(word.c_str(), nullptr));
      }
      if (digits) return whole(type, static_cast<Wide>(std::strtoull(word.c_str(), nullptr, 10)));
      Value value = names.find(word)->second;
      value.kind = alone(value.kind);
      return converted(value, type);
    }
    const auto operand = [&](std::size_t k, Kind kind) { return in(*node.of[k], kind, names); };
    if (word == "^") return power(operand(0, type), node.exponent, type);
    if (word == "select") {
      const Value condition = operand(0, Kind::boolean);
      return condition.failed ? failure(type) : operand(condition.integer != 0 ? 1 : 2, type);
    }
    if (word == "&&" || word == "||") {
      const Value first = operand(0, Kind::boolean);
      if (first.failed || (first.integer != 0) == (word == "||")) return first;
      return operand(1, Kind::boolean);
    }
    const bool own = compares(word) || is_one_of(word, {"isnan", "clz", "popcount"});
    const Kind of = word == "!"                                                                                    ? Kind::boolean
                    : own                                                                                          ? alone(joined(node))
                    : is_one_of(word, {"int64", "uint64", "float32", "float64"})                                   ? converted_in(*node.of[0], type)
                    : is_one_of(word, {"&", "|", "~", "xor", "gcd", "mulmod", "<<", ">>"}) && is_float(type) ? Kind::int64
                                                                                                                   : type;
    std::vector<Value> values;
    for (std::size_t k = 0; k < node.of.size(); ++k) {
      values.push_back(operand(k, of));
      if (values.back().failed) return failure(type);
    }
    if (compares(word)) return truth(is_float(of) ? compared(word, values[0].number, values[1].number)
                                                  : compared(word, values[0].integer, values[1].integer));
    if (word == "!") return truth(values[0].integer == 0);
    if (word == "isnan") return truth(is_float(of) && std::isnan(values[0].number));
    if (is_one_of(word, {"int64", "uint64", "float32", "float64"})) return converted(values[0], type);
    return is_float(of) ? of_floats(word, values, of) : of_integers(word, values, of);
  }

  template <class T>
  static bool compared(std::string_view word, T a, T b) {
    if (word == "<") return a < b;
    if (word == "<=") return a <= b;
    if (word == ">") return a > b;
    if (word == ">=") return a >= b;
    return word == "==" ? a == b : a != b;
  }

  Value power(const Value& base, int exponent, Kind type) const {
    const int n = std::abs(exponent);
    if (n == 0) return converted({Kind::int64, 1, 0, false}, type);  // of anything: the base is not used
    if (base.failed) return base;
    const auto times = [&](const Value& a, const Value& b) {
      if (a.failed || b.failed) return failure(type);
      return is_float(type) ? of_floats("*", {a, b}, type) : of_integers("*", {a, b}, type);
    };
    Value result = converted({Kind::int64, 1, 0, false}, type);
    for (int bit = 10; bit >= 0; --bit) {
      if (n >> bit == 0) continue;
      const bool first = n >> bit == 1;
      if (!first) result = times(result, result);
      if ((n >> bit & 1) != 0) result = first ? base : times(result, base);
    }
    return exponent < 0 ? of_floats("/", {floating(type, 1), result}, type) : result;
  }

  static Value of_floats(std::string_view word, const std::vector<Value>& values, Kind kind) {
    const double a = values[0].number, b = values.size() > 1 ? values[1].number : 0;
    const auto rounded = [&](auto&& operation) {
      Real result;
      const Real x(a), y(b), z(values.size() > 2 ? values[2].number : 0);
      operation(result.value, x.value, y.value, z.value);
      return floating(kind, result.rounded(kind));
    };
    const mpfr_rnd_t n = MPFR_RNDN;
    const auto below = [](double x, double y) { return x < y || (x == y && std::signbit(x) && !std::signbit(y)); };
    if (word == "+") return rounded([=](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y, mpfr_srcptr) { mpfr_add(r, x, y, n); });
    if (word == "-") return rounded([=](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y, mpfr_srcptr) { mpfr_sub(r, x, y, n); });
    if (word == "*") return rounded([=](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y, mpfr_srcptr) { mpfr_mul(r, x, y, n); });
    if (word == "/") return rounded([=](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y, mpfr_srcptr) { mpfr_div(r, x, y, n); });
    if (word == "%") return rounded([=](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y, mpfr_srcptr) { mpfr_fmod(r, x, y, n); });
    if (word == "fma") return rounded([=](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y, mpfr_srcptr z) { mpfr_fma(r, x, y, z, n); });
    if (word == "sqrt") return rounded([=](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr, mpfr_srcptr) { mpfr_sqrt(r, x, n); });
    if (word == "floor") return rounded([=](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr, mpfr_srcptr) { mpfr_rint_floor(r, x, n); });
    if (word == "ceil") return rounded([=](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr, mpfr_srcptr) { mpfr_rint_ceil(r, x, n); });
    if (word == "trunc") return rounded([=](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr, mpfr_srcptr) { mpfr_rint_trunc(r, x, n); });
    if (word == "round") return rounded([=](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr, mpfr_srcptr) { mpfr_rint_roundeven(r, x, n); });
    if (word == "rsqrt") return of_floats("/", {floating(kind, 1), of_floats("sqrt", values, kind)}, kind);
    if (word == "negate") return floating(kind, -a);
    if (word == "abs") return floating(kind, std::fabs(a));
    if (word != "min" && word != "max") throw std::logic_error("an operation of floats that this oracle does not have: " + std::string(word));
    double best = a;
    for (const Value& value : values) {
      if (std::isnan(value.number) || std::isnan(best)) {
        best = std::numeric_limits<double>::quiet_NaN();
      } else if (word == "min" ? below(value.number, best) : below(best, value.number)) {
        best = value.number;
      }
    }
    return floating(kind, best);
  }

  static Value of_integers(std::string_view word, const std::vector<Value>& values, Kind kind) {
    const Wide a = values[0].integer, b = values.size() > 1 ? values[1].integer : 0, c = values.size() > 2 ? values[2].integer : 0;
    const auto bits = [](Wide value) { return static_cast<std::uint64_t>(value); };
    const auto of_bits = [&](std::uint64_t word_of) {
      return Value{kind, kind == Kind::int64 ? Wide{static_cast<std::int64_t>(word_of)} : Wide{word_of}, 0, false};
    };
    if (word == "+") return whole(kind, a + b);
    if (word == "-") return whole(kind, a - b);
    if (word == "*") {
      Wide product = 0;
      return __builtin_mul_overflow(a, b, &product) ? failure(kind) : whole(kind, product);
    }
    if (word == "/") return b == 0 ? failure(kind) : whole(kind, a / b);
    if (word == "%") return b == 0 ? failure(kind) : whole(kind, a % b);
    if (word == "negate") return whole(kind, -a);
    if (word == "abs") return whole(kind, a < 0 ? -a : a);
    if (word == "~") return of_bits(~bits(a));
    if (word == "&") return of_bits(bits(a) & bits(b));
    if (word == "|") return of_bits(bits(a) | bits(b));
    if (word == "xor") return of_bits(bits(a) ^ bits(b));
    if (word == "<<") return b < 0 || b > 63 ? failure(kind) : of_bits(bits(a) << static_cast<int>(b));
    if (word == ">>") return b < 0 || b > 63 ? failure(kind) : whole(kind, a >> static_cast<int>(b));
    if (word == "popcount") return {Kind::int64, __builtin_popcountll(bits(a)), 0, false};
    if (word == "clz") return {Kind::int64, bits(a) == 0 ? 64 : __builtin_clzll(bits(a)), 0, false};
    if (word == "min" || word == "max") {
      Wide best = a;
      for (const Value& value : values) best = word == "min" ? std::min(best, value.integer) : std::max(best, value.integer);
      return whole(kind, best);
    }
    if (word == "gcd") {
      Wide x = a < 0 ? -a : a, y = b < 0 ? -b : b;
      while (y != 0) x = std::exchange(y, x % y);
      return whole(kind, x);
    }
    if (word == "mulmod") {
      if (c < 1) return failure(kind);
      const auto rest = [&](Wide value) { return (value % c + c) % c; };
      Wide result = 0, doubled = rest(a);  // a·b has up to 128 bits: by doubling
      for (Wide factor = rest(b); factor != 0; factor >>= 1) {
        if ((factor & 1) != 0) result = (result + doubled) % c;
        doubled = (doubled + doubled) % c;
      }
      return whole(kind, result);
    }
    if (is_one_of(word, {"floor", "ceil", "trunc", "round"})) return values[0];
    if (word == "fma") {
      const Value product = of_integers("*", {values[0], values[1]}, kind);
      return product.failed ? product : of_integers("+", {product, values[2]}, kind);
    }
    throw std::logic_error("an operation of integers that this oracle does not have: " + std::string(word));
  }

  std::string_view text_;
  const Names& names_;
  std::size_t at_ = 0;
  Child root_;
};

}  // namespace samesum::test
