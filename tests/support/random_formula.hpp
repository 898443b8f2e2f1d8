// Formulas made up by chance: of the float32 x, the float64 y, the integers n (int32), m (int64) and u (uint64), the parameters h and k,
// and the index.
#pragma once

#include "selftest/cases.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace samesum::test {

class RandomFormula {
 public:
  /// `with_functions`: also those that are not rounded correctly, such as exp.
  explicit RandomFormula(hard::Random& random, bool with_functions = false) : random_(random), with_functions_(with_functions) {}

  /// Without integer operations that may fail.
  std::string floating(int depth) {
    if (depth == 0) return pick({"x", "x", "y", "h", "1.5", "-0.25", "3", "inf", "pi", "0", "float32(n)"});
    const std::string a = floating(depth - 1);
    switch (random_.below(with_functions_ ? 15 : 14)) {
      case 0:
        return "(" + a + " + " + floating(depth - 1) + ")";
      case 1:
        return "(" + a + " - " + floating(depth - 1) + ")";
      case 2:
      case 3:
        return a + "*" + floating(depth - 1);
      case 4:
        return a + "/(" + floating(depth - 1) + ")";
      case 5:
        return "min(" + a + ", " + floating(depth - 1) + ")";
      case 6:
        return "max(" + a + ", " + floating(depth - 1) + ", x)";
      case 7:
        return "(" + condition(depth - 1) + " ? " + a + " : " + floating(depth - 1) + ")";
      case 8:
        return "fma(" + a + ", " + floating(depth - 1) + ", x)";
      case 9:
        return pick({"sqrt", "abs", "floor", "ceil", "trunc", "round", "rsqrt", "-", "float32", "float64"}) + "(" + a + ")";
      case 10:
        return "(" + a + ")^" + pick({"2", "3", "-1", "7", "0"});
      case 11:
        return "(" + a + ") % (" + floating(depth - 1) + ")";
      case 12:
        return "float64(" + safe_integer(depth - 1) + ")";
      case 14:
        return pick({"exp", "exp2", "expm1", "sinh", "cosh", "tanh", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin", "acos",
                     "atan", "erf", "erfc", "cbrt"}) +
               "(" + a + ")";
      default:
        return "(" + a + ")*" + "(" + condition(depth - 1) + ")";
    }
  }

  std::string condition(int depth) {
    if (depth == 0) return pick({"x > 0", "n >= 3", "isnan(x)", "x != y", "i % 2 == 0", "u < 5", "true"});
    switch (random_.below(5)) {
      case 0:
        return "(" + condition(depth - 1) + " && " + condition(depth - 1) + ")";
      case 1:
        return "(" + condition(depth - 1) + " || " + condition(depth - 1) + ")";
      case 2:
        return "!(" + condition(depth - 1) + ")";
      case 3:
        return safe_integer(depth - 1) + pick({" < ", " <= ", " == ", " != ", " > ", " >= "}) + safe_integer(depth - 1);
      default:
        return "(" + floating(depth - 1) + pick({" < ", " <= ", " == ", " != ", " > ", " >= "}) + floating(depth - 1) + ")";
    }
  }

  /// int64 that cannot fail.
  std::string safe_integer(int depth) {
    if (depth == 0) return pick({"n", "n", "17", "(m & 255)", "i", "clz(u)", "popcount(m)"});
    const std::string a = safe_integer(depth - 1), b = safe_integer(depth - 1);
    switch (random_.below(9)) {
      case 0:
        return "(" + a + " & " + b + ")";
      case 1:
        return "(" + a + " | " + b + ")";
      case 2:
        return "xor(" + a + ", " + b + ")";
      case 3:
        return "(" + a + " % 1000)*(" + b + " % 77)";
      case 4:
        return "(" + a + " >> 3) % 5";
      case 5:
        return "mulmod(" + a + ", " + b + ", 9223372036854775783)";
      case 6:
        return "gcd(" + a + " % 100003, " + b + " % 360360)";
      case 7:
        return "min(" + a + ", ~(" + b + "))";
      default:
        return "(" + a + " % 4096 << 5)";
    }
  }

  /// Integers that may.
  std::string integer(int depth) {
    if (depth == 0) return pick({"n", "n", "m", "2", "i", "k", "int64(x)", "int64(u)", "-1"});
    const std::string a = integer(depth - 1), b = integer(depth - 1);
    switch (random_.below(12)) {
      case 0:
        return "(" + a + " + " + b + ")";
      case 1:
        return "(" + a + " - " + b + ")";
      case 2:
        return "(" + a + ")*(" + b + ")";
      case 3:
        return "(" + a + ")/(" + b + ")";
      case 4:
        return "(" + a + ") % (" + b + ")";
      case 5:
        return "((" + a + ") << (" + b + "))";
      case 6:
        return "((" + a + ") >> (" + b + "))";
      case 7:
        return "gcd(" + a + ", " + b + ")";
      case 8:
        return "mulmod(" + a + ", " + b + ", " + integer(0) + ")";
      case 9:
        return "abs(-(" + a + "))";
      case 10:
        return "((" + b + ") != 0 && " + a + " > 3 ? (" + a + ")/(" + b + ") : int64(uint64(abs(" + b + "))))";
      default:
        return "(" + condition(1) + " || " + a + " > 0 ? " + b + " : " + a + ")";
    }
  }

  std::string pick(std::initializer_list<std::string_view> all) { return std::string(all.begin()[random_.below(all.size())]); }

 private:
  hard::Random& random_;
  bool with_functions_;
};

}  // namespace samesum::test
