// The language of formulas (docs/formulas.md): what is one and what is none, how operators bind, which types come out.
#include "formula/bound.hpp"
#include "formula/print.hpp"
#include "formula/syntax.hpp"

#include <samesum/error.hpp>
#include <samesum/formula.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace samesum {
namespace {

struct Canonical {
  std::string_view text, canonical;
};

TEST(FormulaSyntax, BindsAsThePageSays) {
  constexpr Canonical kTable[] = {
      {"x", "x"},
      {" ( ( x ) ) ", "x"},
      {"a+b*c", "a + b*c"},
      {"(a+b)*c", "(a + b)*c"},
      {"a-b-c", "a - b - c"},
      {"a-(b-c)", "a - (b - c)"},
      {"a/b/c*d%e", "a/b/c*d%e"},
      {"a/(b*c)", "a/(b*c)"},
      {"-x^2", "-x^2"},
      {"(-x)^2", "(-x)^2"},
      {"x^-2", "x^-2"},
      {"x^y^z", "x^y^z"},
      {"(x^y)^z", "(x^y)^z"},
      {"-x*y", "-x*y"},
      {"-(x*y)", "-(x*y)"},
      {"- -x", "--x"},
      {"+x", "x"},
      {"2^-x^3", "2^-x^3"},
      {"a & b == c", "a & b == c"},  // (a & b) == c
      {"a & (b == c)", "a & (b == c)"},
      {"a | b & c << d + e", "a | b & c << d + e"},
      {"(a | b) & c", "(a | b) & c"},
      {"a < b && c >= d || !(e != f)", "a < b && c >= d || !(e != f)"},
      {"!a == b", "!a == b"},
      {"a ? b : c ? d : e", "a ? b : c ? d : e"},
      {"(a ? b : c) ? d : e", "(a ? b : c) ? d : e"},
      {"a ? (b ? c : d) : e", "a ? b ? c : d : e"},
      {"(a ? b : c) + 1", "(a ? b : c) + 1"},
      {"min(a,b,c)", "min(min(a, b), c)"},
      {"(a,b+1)", "(a, b + 1)"},
      {"(a,b)[1]", "(a, b)[1]"},
      {"a[0]*b[2]", "a[0]*b[2]"},
      {"(a+b)[1]", "(a + b)[1]"},
      {"a[1]^2", "a[1]^2"},
      {"let m=(x+y)/2;\n(x-m)^2", "let m = (x + y)/2; (x - m)^2"},
      {"let x = x*x; let x = x + 1; x", "let x = x*x; let x = x + 1; x"},
      {"1.5e-3*x + .5 + 2. + 0xfF + 0x1.8p-3", "1.5e-3*x + .5 + 2. + 0xfF + 0x1.8p-3"},
      {"~a & ~ ~b", "~a & ~~b"},
  };
  for (const Canonical& row : kTable) {
    const Formula formula(row.text);
    EXPECT_EQ(formula.to_string(), row.canonical) << row.text;
    EXPECT_EQ(Formula(formula.to_string()).to_string(), row.canonical) << row.text;
  }
}

struct Rejected {
  std::string_view text;
  int column;
  std::string_view message;
};

void expect_error(std::string_view message, int column, std::string_view fragment, std::string_view of) {
  EXPECT_TRUE(message.starts_with("formula, column " + std::to_string(column) + ": ")) << of << "\n" << message;
  EXPECT_NE(message.find(fragment), std::string_view::npos) << of << "\n" << message;
  // The caret stands below the column.
  const std::size_t caret = message.rfind('^'), line = message.rfind('\n');
  ASSERT_TRUE(caret != std::string_view::npos && line != std::string_view::npos) << message;
  EXPECT_EQ(caret - line - 1, static_cast<std::size_t>(column) + 1) << message;
}

TEST(FormulaSyntax, RejectsWithTheColumn) {
  const Rejected kTable[] = {
      {"", 1, "expected a number, a name or '(', found the end"},
      {"x +", 4, "expected a number, a name or '(', found the end"},
      {"x + * y", 5, "found '*'"},
      {"2x", 2, "expected an operator behind the number"},
      {"x y", 3, "expected an operator or the end, found 'y'"},
      {"(x", 3, "expected ')' to close"},
      {"x)", 2, "nothing was opened"},
      {"a < b < c", 7, "do not chain"},
      {"a == b == c", 8, "do not chain"},
      {"x = 1", 3, "equality is '=='"},
      {"sine(x)", 1, "no function 'sine' (did you mean 'sin'?); there are min, max"},
      {"1 + arcTan2(x, x)", 5, "no function 'arcTan2' (did you mean 'atan2'?)"},
      {"erff(x)", 1, "no function 'erff' (did you mean 'erf'?)"},
      {"bessel(x)", 1, "no function 'bessel'; there are"},
      {"min(x)", 1, "min takes 2 or more operands, not 1"},
      {"sqrt()", 1, "sqrt takes 1 operand, not 0"},
      {"fma(a, b)", 1, "fma takes 3 operands, not 2"},
      {"f(x", 1, "no function 'f'"},
      {"min(x, y", 9, "expected ')'"},
      {"x ? y", 6, "expected ':'"},
      {"x[y]", 3, "expected the number of a component"},
      {"x[1", 4, "expected ']'"},
      {"let = 1; x", 5, "expected the name"},
      {"let a 1; a", 7, "expected '='"},
      {"let a = 1 a", 11, "expected ';'"},
      {"x + let a = 1; a", 5, "let stands before"},
      {"x # y", 3, "no formula has this character"},
      {"x; system(\"rm\")", 2, "expected an operator"},
      {"x \\ y", 3, "no formula has this character"},
      {"\xc3\xa9 + 1", 1, "no formula has this character"},
      {"1e", 3, "expected the digits of an exponent"},
      {"0x", 1, "no digits"},
      {"0x1.8", 6, "needs an exponent"},
      {"1.2.3", 4, "expected an operator"},
      {"99999999999999999999", 1, "does not fit 64 bits"},
      {"a,b", 2, "expected an operator or the end"},
      {"()", 2, "found ')'"},
  };
  for (const Rejected& row : kTable) {
    try {
      Formula formula(row.text);
      ADD_FAILURE() << row.text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      expect_error(error.what(), row.column, row.message, row.text);
    }
  }
}

TEST(FormulaSyntax, QuotesSafely) {
  const std::string text = "x +\n" + std::string(500, 'y') + " \x1b[31m \x01 " + std::string(500, 'z');
  try {
    Formula formula(text);
    FAIL();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_LT(message.size(), 300u);
    for (const char c : message) EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << static_cast<int>(c);
    EXPECT_EQ(message.find(text.substr(4, 100)), std::string::npos);
  }
}

std::string repeated(std::string_view part, int times) {
  std::string text;
  for (int k = 0; k < times; ++k) text += part;
  return text;
}

TEST(FormulaSyntax, BoundsSizeAndDepth) {
  EXPECT_NO_THROW(Formula(repeated("(", 200) + "x" + repeated(")", 200)));
  EXPECT_NO_THROW(Formula("x" + repeated(" + x", 500)));
  for (const std::string& text :
       {repeated("(", 5000) + "x" + repeated(")", 5000), repeated("-", 5000) + "x", repeated("sqrt(", 3000) + "x",
        "x" + repeated(" + x", 600), "x" + repeated("^x", 3000), "x" + repeated("[0]", 3000), repeated("x?", 3000),
        std::string(20000, ' ') + "x", "min(x" + repeated(", x", 5000) + ")", "(x" + repeated(", x", 64) + ")", repeated("(", 16000),
        repeated("!", 16000), repeated("let a = a + a; ", 600) + "a"}) {
    EXPECT_THROW(Formula{text}, Error) << text.substr(0, 20);
  }
  // 2^500 additions were they not shared, and 16 digits of a program.
  std::string doubling = "let a0 = x + x; ";
  for (int k = 1; k < 250; ++k)
    doubling += "let a" + std::to_string(k) + " = a" + std::to_string(k - 1) + " + a" + std::to_string(k - 1) + "; ";
  const std::vector<float> x{1};
  EXPECT_EQ(evaluate<double>(Formula(doubling + "float64(a99)"), {{"x", x}})[0], 0x1p100);
  std::string weak = "let a0 = 2*h; ";
  for (int k = 1; k < 250; ++k) weak += "let a" + std::to_string(k) + " = a" + std::to_string(k - 1) + "*a" + std::to_string(k - 1) + "; ";
  EXPECT_EQ(evaluate<float>(Formula(weak + "x*a249"), {{"x", x}}, {{"h", 0.5}})[0], 1);
}

TEST(FormulaSyntax, BoundsOperations) {
  std::string text = "(";
  for (int k = 0; k < 60; ++k) text += (k == 0 ? "" : ", ") + std::string("x^1023 + sqdist(a + ") + std::to_string(k) + ", b)";
  const std::vector<float> data(64, 1.0f);
  const Array vectors(data.data(), {1, 64}, DType::float32);
  const Array one(data.data(), 1, DType::float32);
  EXPECT_THROW(Formula(text + ")").describe({{"x", one}, {"a", vectors, true}, {"b", vectors, true}}), Error);
}

TEST(FormulaSyntax, NamesInOrder) {
  EXPECT_EQ(Formula("let m = (x + w)/2; h*(x - m)^2 + i + pi").names(), (std::vector<std::string>{"x", "w", "h", "i", "pi"}));
}

// Which type each of two inputs has, and what comes out; "" for an error.
struct Types {
  std::string_view text;
  DType x, y;
  std::string_view result;
};

TEST(FormulaTypes, Promote) {
  constexpr DType i8 = DType::int8, u8 = DType::uint8, i32 = DType::int32, i64 = DType::int64, u64 = DType::uint64, f16 = DType::float16,
                  b16 = DType::bfloat16, f32 = DType::float32, f64 = DType::float64;
  const Types kTable[] = {
      {"x", i8, i8, "int64"},
      {"x", u8, i8, "int64"},
      {"x", i32, i8, "int64"},
      {"x", u64, i8, "uint64"},
      {"x", f16, i8, "float32"},
      {"x", b16, i8, "float32"},
      {"x", f32, i8, "float32"},
      {"x", f64, i8, "float64"},
      {"x + y", i32, f32, "float64"},
      {"x + y", f32, f64, "float64"},
      {"x*y", f16, b16, "float32"},
      {"x + y", i64, u64, ""},
      {"x + 1", f32, i8, "float32"},
      {"x + 1.5", f32, i8, "float32"},
      {"x + 1.5", i32, i8, "float64"},
      {"x*2", u64, i8, "uint64"},
      {"x*h", f32, i8, "float32"},
      {"x*h", i64, i8, "float64"},
      {"x*n", i64, i8, "int64"},
      {"x*n", u64, i8, "uint64"},
      {"n", i8, i8, "int64"},
      {"h", i8, i8, "float64"},
      {"x + i", i32, i8, "int64"},
      {"x*i", f32, i8, "float64"},
      {"x > y", f32, i32, "uint8"},
      {"x > 1", u64, i8, "uint8"},
      {"x > y", i64, u64, ""},
      {"isnan(x)", i8, i8, "uint8"},
      {"(x > 0) + (y > 0)", f32, f32, "int64"},
      {"(x > 0)*x", f32, i8, "float32"},
      {"x > 0 ? x : 0", f32, i8, "float32"},
      {"x > 0 ? 1 : 0", f32, i8, "int64"},
      {"x > 0 ? true : x < -1", f32, i8, "uint8"},
      {"x ? 1 : 0", i32, i8, ""},
      {"x && y > 0", i32, i8, ""},
      {"!x", i32, i8, ""},
      {"sqrt(x)", i32, i8, "float64"},
      {"sqrt(x)", f16, i8, "float32"},
      {"sqrt(2)", i8, i8, "float64"},
      {"x*sqrt(2)", f32, i8, "float32"},
      {"x^2", i32, i8, "int64"},
      {"x^2", f32, i8, "float32"},
      {"x^-1", f32, i8, "float32"},
      {"x^-1", i32, i8, ""},
      {"x^y", i32, i32, ""},
      {"x^0.5", i32, i8, "float64"},
      {"x^0.5", f32, i8, "float32"},
      {"2^-3*x", f32, i8, "float32"},
      {"x & 1", i32, i8, "int64"},
      {"x & y", u64, u64, "uint64"},
      {"x & 1", f32, i8, ""},
      {"x & 1.5", i32, i8, ""},
      {"x >> 2", u64, i8, "uint64"},
      {"gcd(x, 6)", i32, i8, "int64"},
      {"gcd(x, y)", f32, i8, ""},
      {"floor(x)", i32, i8, "int64"},
      {"floor(x)", f32, i8, "float32"},
      {"int64(x)", f32, i8, "int64"},
      {"uint64(x) + y", i64, u64, "uint64"},
      {"float32(x)*y", i32, f32, "float32"},
      {"x + gcd(4, 6)", f32, i8, "float32"},
      {"x + (1 << 3)", u64, i8, "uint64"},
      {"min(x, y)", f32, i8, "float64"},
      {"min(x, 0)", u64, i8, "uint64"},
      {"pi", i8, i8, "float64"},
      {"pi*x", f16, i8, "float32"},
      {"fma(x, y, 1)", f32, f32, "float32"},
      {"atan2(x, y)", f32, f64, "float64"},
      {"x % 3", f32, i8, "float32"},
      {"true", i8, i8, "uint8"},
      {"(x, y)[1]", f32, i8, "int64"},
      {"dot((x, y), (y, x))", f32, f64, "float64"},
      {"x + i*0.5", f32, i8, "float64"},
      {"18446744073709551615 + x", u64, i8, "uint64"},
      {"18446744073709551615 + x", i64, i8, ""},
      {"-9223372036854775808 + x", i64, i8, "int64"},
      {"uint64(18446744073709551615)", i8, i8, "uint64"},
      {"1e39*x", f32, i8, ""},
      {"x[0]", f32, i8, ""},
      {"q + x", f32, i8, ""},
  };
  const std::vector<double> memory(2);
  for (const Types& row : kTable) {
    std::string result;
    try {
      const FormulaDescription described = Formula(row.text).describe(
          {{"x", Array(memory.data(), 1, row.x)}, {"y", Array(memory.data(), 1, row.y)}}, {{"h", 2.5}, {"n", 3}});
      ASSERT_EQ(described.results.size(), 1u);
      result = name_of(described.results[0]);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_NE(std::string(error.what()).find("^"), std::string::npos) << error.what();
    }
    EXPECT_EQ(result, row.result) << row.text << " of " << name_of(row.x) << ", " << name_of(row.y);
  }
}

TEST(FormulaTypes, ErrorsOfNamesSayWhatThereIs) {
  const std::vector<float> x(3);
  try {
    Formula("x + weigth").describe({{"x", x}, {"weight", x}});
    FAIL();
  } catch (const Error& error) {
    expect_error(error.what(), 5, "no input or parameter has the name 'weigth'; there are x, weight", "");
  }
  EXPECT_THROW(Formula("x").describe({{"x", x}, {"x", x}}), Error);
  EXPECT_THROW(Formula("x").describe({{"x", x}}, {{"x", 1}}), Error);
  EXPECT_THROW(Formula("(x, (x, x))").describe({{"x", x}}), Error);
  EXPECT_THROW(Formula("(x, x) + (x, x, x)").describe({{"x", x}}), Error);
  try {
    Formula("(x, x)[2]").describe({{"x", x}});
    ADD_FAILURE() << "there is no third component";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("there are 2 components, from [0] to [1]"), std::string::npos) << error.what();
  }
  EXPECT_THROW(Formula("dot(x, x)").describe({{"x", x}}), Error);
  EXPECT_EQ(Formula("e + i").describe({{"e", x}, {"i", x}}).results[0], DType::float32);
  EXPECT_EQ(Formula("((x, 1) + (2, x))*x").describe({{"x", x}}).results, (std::vector{DType::float32, DType::float32}));
}

struct Reproducible {
  std::string_view text;
  bool reproducible;
  std::vector<Capability> needs;
};

TEST(FormulaTypes, KnowWhatIsTheSameEverywhere) {
  const std::vector<float> x(3);
  const std::vector<std::int32_t> n(3);
  const std::vector<Capability> f32{Capability::denormals, Capability::unfused};
  const auto with = [&](std::vector<Capability> all) {
    all.insert(all.begin(), f32.begin(), f32.end());
    return all;
  };
  const Reproducible kTable[] = {
      {"x*x + 1", true, f32},
      {"n*n % 7", true, {}},
      {"n/2", true, {}},
      {"x/3", true, with({Capability::division})},
      {"x/0.25", true, f32},  // x*4
      {"x^-2", true, with({Capability::division})},
      {"sqrt(x)", true, with({Capability::square_root})},
      {"rsqrt(x)", true, with({Capability::division, Capability::square_root})},
      {"fma(x, x, x)", true, with({Capability::fma})},
      {"exp(x)", true, f32},
      {"tanh(x)", true, with({Capability::division})},
      {"asin(x)", true, with({Capability::square_root})},
      {"let unused = exp(x); x", true, f32},
      {"x*(1.0/3)", true, f32},  // done ahead
      {"x^0.5", true, with({Capability::division})},
      {"float64(x)*2", true, {Capability::fp64, Capability::denormals, Capability::unfused}},
  };
  for (const Reproducible& row : kTable) {
    const FormulaDescription described = Formula(row.text).describe({{"x", x}, {"n", n}});
    EXPECT_EQ(described.reproducible, row.reproducible) << row.text;
    EXPECT_EQ(described.reason.empty(), row.reproducible) << row.text;
    EXPECT_EQ(described.needs, row.needs) << row.text;
  }
  const FormulaDescription native = Formula("tanh(x)", FormulaMath::native).describe({{"x", x}});
  EXPECT_FALSE(native.reproducible);
  EXPECT_EQ(native.reason.substr(0, 4), "tanh");
  EXPECT_EQ(native.needs, f32);
}

// What cannot leave 64 bits is not checked.
TEST(FormulaTypes, KnowWhatMayFail) {
  const std::vector<std::int32_t> n(3);
  const std::vector<std::int64_t> m(3);
  const std::vector<std::uint64_t> u(3);
  const std::vector<float> x(3);
  for (const std::string_view text :
       {"n*n", "n + 1", "-n", "abs(n)", "n % 5", "n/3", "n >> 3", "m & 0xff", "x*x + 1", "uint64(n & 7)", "m/2",
        "m % 1000*m*0 == 1 ? 1 : 2", "min(n, 5)*1000", "i & 3", "gcd(n, n)", "mulmod(m, m, 7)", "u/3", "max(n, 1)*n"}) {
    const bool product = std::string_view(text).find("*m") != std::string_view::npos;
    EXPECT_EQ(Formula(text).describe({{"n", n}, {"m", m}, {"u", u}, {"x", x}}).may_fail, product) << text;
  }
  for (const std::string_view text : {"m + 1",           "m*m",       "-m",       "abs(m)", "n*n*n", "n/n",   "n % n", "m >> n",
                                      "int64(x)",        "uint64(n)", "int64(u)", "u + 1",  "-u",    "u - 1", "m/-1",  "gcd(m, m)",
                                      "mulmod(m, m, n)", "n*n*n > 0", "i + i",    "u*u",    "m/n"}) {
    EXPECT_TRUE(Formula(text).describe({{"n", n}, {"m", m}, {"u", u}, {"x", x}}).may_fail) << text;
  }
}

}  // namespace
}  // namespace samesum
