#include "formula/functions.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace samesum::formula {
namespace {

constexpr std::uint8_t kAny = 255;

constexpr Function kFunctions[] = {
    {"min", Op::min, Signature::numbers, 2, kAny},
    {"max", Op::max, Signature::numbers, 2, kAny},
    {"abs", Op::abs, Signature::numbers, 1, 1},
    {"sign", Op::sign, Signature::numbers, 1, 1},
    {"floor", Op::floor, Signature::rounding, 1, 1},
    {"ceil", Op::ceil, Signature::rounding, 1, 1},
    {"trunc", Op::trunc, Signature::rounding, 1, 1},
    {"round", Op::round, Signature::rounding, 1, 1},
    {"fma", Op::fma, Signature::numbers, 3, 3},
    {"sqrt", Op::sqrt, Signature::floats, 1, 1},
    {"rsqrt", Op::rsqrt, Signature::floats, 1, 1},
    {"exp", Op::exp, Signature::floats, 1, 1},
    {"log", Op::log, Signature::floats, 1, 1},
    {"log1p", Op::log1p, Signature::floats, 1, 1},
    {"expm1", Op::expm1, Signature::floats, 1, 1},
    {"sin", Op::sin, Signature::floats, 1, 1},
    {"cos", Op::cos, Signature::floats, 1, 1},
    {"tan", Op::tan, Signature::floats, 1, 1},
    {"tanh", Op::tanh, Signature::floats, 1, 1},
    {"exp2", Op::exp2, Signature::floats, 1, 1},
    {"log2", Op::log2, Signature::floats, 1, 1},
    {"log10", Op::log10, Signature::floats, 1, 1},
    {"cbrt", Op::cbrt, Signature::floats, 1, 1},
    {"sinh", Op::sinh, Signature::floats, 1, 1},
    {"cosh", Op::cosh, Signature::floats, 1, 1},
    {"asin", Op::asin, Signature::floats, 1, 1},
    {"acos", Op::acos, Signature::floats, 1, 1},
    {"atan", Op::atan, Signature::floats, 1, 1},
    {"erf", Op::erf, Signature::floats, 1, 1},
    {"erfc", Op::erfc, Signature::floats, 1, 1},
    {"atan2", Op::atan2, Signature::floats, 2, 2},
    {"pow", Op::pow, Signature::floats, 2, 2},
    {"hypot", Op::hypot, Signature::floats, 2, 2},
    {"isnan", Op::isnan, Signature::comparison, 1, 1},
    {"select", Op::select, Signature::choice, 3, 3},
    {"dot", Op::dot, Signature::vectors, 2, 2},
    {"sqdist", Op::sqdist, Signature::vectors, 2, 2},
    {"complex", Op::complex, Signature::complex, 2, 2},
    {"real", Op::real, Signature::complex, 1, 1},
    {"imag", Op::imag, Signature::complex, 1, 1},
    {"conj", Op::conj, Signature::complex, 1, 1},
    {"abs2", Op::abs2, Signature::complex, 1, 1},
    {"arg", Op::arg, Signature::complex, 1, 1},
    {"xor", Op::bit_xor, Signature::bits, 2, 2},
    {"popcount", Op::popcount, Signature::count, 1, 1},
    {"clz", Op::clz, Signature::count, 1, 1},
    {"gcd", Op::gcd, Signature::integers, 2, 2},
    {"mulmod", Op::mulmod, Signature::integers, 3, 3},
    {"int64", Op::convert, Signature::conversion, 1, 1, false, Scalar::int64},
    {"uint64", Op::convert, Signature::conversion, 1, 1, false, Scalar::uint64},
    {"float32", Op::convert, Signature::conversion, 1, 1, false, Scalar::float32},
    {"float64", Op::convert, Signature::conversion, 1, 1, false, Scalar::float64},
};

constexpr Function kOperators[] = {
    {"-", Op::negate, Signature::numbers, 1, 1, true},
    {"~", Op::complement, Signature::bits, 1, 1, true},
    {"!", Op::logical_not, Signature::logic, 1, 1, true},
    {"+", Op::add, Signature::numbers, 2, 2, true},
    {"-", Op::subtract, Signature::numbers, 2, 2, true},
    {"*", Op::multiply, Signature::numbers, 2, 2, true},
    {"/", Op::divide, Signature::numbers, 2, 2, true},
    {"%", Op::modulo, Signature::numbers, 2, 2, true},
    {"^", Op::power, Signature::power, 2, 2, true},
    {"<", Op::less, Signature::comparison, 2, 2, true},
    {"<=", Op::less_equal, Signature::comparison, 2, 2, true},
    {">", Op::greater, Signature::comparison, 2, 2, true},
    {">=", Op::greater_equal, Signature::comparison, 2, 2, true},
    {"==", Op::equal, Signature::comparison, 2, 2, true},
    {"!=", Op::not_equal, Signature::comparison, 2, 2, true},
    {"&&", Op::logical_and, Signature::logic, 2, 2, true},
    {"||", Op::logical_or, Signature::logic, 2, 2, true},
    {"&", Op::bit_and, Signature::bits, 2, 2, true},
    {"|", Op::bit_or, Signature::bits, 2, 2, true},
    {"<<", Op::shift_left, Signature::bits, 2, 2, true},
    {">>", Op::shift_right, Signature::bits, 2, 2, true},
    {"?", Op::select, Signature::choice, 3, 3, true},
};

constexpr std::string_view kExponential = "formula/transcendental/exponential.h", kLogarithm = "formula/transcendental/logarithm.h",
                           kCircular = "formula/transcendental/circular.h", kArcs = "formula/transcendental/arcs.h",
                           kError = "formula/transcendental/error.h", kPowers = "formula/transcendental/powers.h";
constexpr Transcendental kTranscendental[] = {
    {Op::exp, kExponential},        {Op::exp2, kExponential},          {Op::expm1, kExponential},      {Op::sinh, kExponential, true},
    {Op::cosh, kExponential, true}, {Op::tanh, kExponential, true},    {Op::log, kLogarithm, true},    {Op::log1p, kLogarithm, true},
    {Op::log2, kLogarithm, true},   {Op::log10, kLogarithm, true},     {Op::sin, kCircular},           {Op::cos, kCircular},
    {Op::tan, kCircular, true},     {Op::asin, kArcs, false, true},    {Op::acos, kArcs, false, true}, {Op::atan, kArcs, true},
    {Op::atan2, kArcs, true},       {Op::erf, kError, true},           {Op::erfc, kError, true},       {Op::cbrt, kPowers, true},
    {Op::pow, kPowers, true},       {Op::hypot, kPowers, false, true},
};

}  // namespace

std::string_view name_of(Scalar type) noexcept {
  constexpr std::string_view kNames[] = {"bool", "int64", "uint64", "float32", "float64"};
  return kNames[static_cast<std::size_t>(type)];
}

DType dtype_of(Scalar type) noexcept {
  constexpr DType kTypes[] = {DType::uint8, DType::int64, DType::uint64, DType::float32, DType::float64};
  return kTypes[static_cast<std::size_t>(type)];
}

Scalar scalar_of(DType type) noexcept {
  if (type == DType::float64) return Scalar::float64;
  if (type == DType::uint64) return Scalar::uint64;
  return samesum::is_integer(type) ? Scalar::int64 : Scalar::float32;
}

std::span<const Function> functions() noexcept { return kFunctions; }

const Function* find_function(std::string_view name) noexcept {
  const auto* const found = std::find_if(std::begin(kFunctions), std::end(kFunctions), [&](const Function& f) { return f.name == name; });
  return found == std::end(kFunctions) ? nullptr : found;
}

const Function* similar_function(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
      {"ln", "log"},      {"sgn", "sign"},     {"fabs", "abs"},      {"power", "pow"},  {"arcsin", "asin"},
      {"arccos", "acos"}, {"arctan", "atan"},  {"arctan2", "atan2"}, {"rint", "round"}, {"maximum", "max"},
      {"minimum", "min"}, {"where", "select"}, {"fmax", "max"},      {"fmin", "min"}};
  std::string lower(name);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const auto& [other, known] : kOtherNames) {
    if (lower == other) return find_function(known);
  }
  const Function* best = nullptr;
  std::size_t least = lower.size() / 3 + 1;  // fewer letters are to be changed, added or removed (Levenshtein's distance)
  for (const Function& f : kFunctions) {
    std::vector<std::size_t> row(f.name.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < lower.size(); ++i) {
      std::size_t before = std::exchange(row[0], i + 1);
      for (std::size_t k = 0; k < f.name.size(); ++k) {
        const std::size_t changed = before + (lower[i] != f.name[k] ? 1 : 0);
        before = std::exchange(row[k + 1], std::min({changed, row[k] + 1, row[k + 1] + 1}));
      }
    }
    if (row.back() < least) {
      least = row.back();
      best = &f;
    }
  }
  return best;
}

const Function& operator_of(std::string_view symbol, unsigned operands) noexcept {
  return *std::find_if(std::begin(kOperators), std::end(kOperators),
                       [&](const Function& f) { return f.name == symbol && f.least == operands; });
}

const Transcendental* find_transcendental(Op op) noexcept {
  const auto* const found =
      std::find_if(std::begin(kTranscendental), std::end(kTranscendental), [&](const Transcendental& t) { return t.op == op; });
  return found == std::end(kTranscendental) ? nullptr : found;
}

}  // namespace samesum::formula
