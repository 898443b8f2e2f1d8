#include "input/parameters.hpp"

#include "output/printable.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace samesum::cli {
namespace {

template <class T>
bool parse(const std::string& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::pair<std::string, std::string> split_named(const std::string& text, const std::string& option) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw Error(ErrorKind::usage, fmt::format("{} {}: write a name, '=' and what it stands for", option, printable(text)));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void check_used(const std::vector<std::string>& parameters, const std::vector<std::string>& formulas) {
  std::vector<std::string> used;
  for (const std::string& text : formulas) {
    if (text.empty()) continue;
    const std::vector<std::string> names = Formula(text).names();
    used.insert(used.end(), names.begin(), names.end());
  }
  for (const std::string& parameter : parameters) {
    const std::string name = split_named(parameter, "--param").first;
    if (std::find(used.begin(), used.end(), name) == used.end())
      throw Error(ErrorKind::usage, fmt::format("--param {}: the formula does not use '{}'", printable(parameter), printable(name)));
  }
}

std::vector<FormulaParameter> parse_parameters(const std::vector<std::string>& texts) {
  std::vector<FormulaParameter> parameters;
  for (const std::string& text : texts) {
    const auto [name, number] = split_named(text, "--param");
    std::int64_t whole = 0;
    std::uint64_t great = 0;
    double real = 0;
    if (parse(number, whole)) {
      parameters.emplace_back(name, whole);
    } else if (parse(number, great)) {
      parameters.emplace_back(name, great);
    } else if (parse(number, real)) {
      parameters.emplace_back(name, real);
    } else {
      throw Error(ErrorKind::usage, fmt::format("--param {}: '{}' is no number", printable(text), printable(number)));
    }
  }
  return parameters;
}

Value identity_value(const std::string& text) {
  std::int64_t whole = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (code == std::errc() && end == text.data() + text.size()) return {whole, DType::int64};
  double real = 0;
  const auto [real_end, real_code] = std::from_chars(text.data(), text.data() + text.size(), real);
  if (real_code != std::errc() || real_end != text.data() + text.size()) {
    throw Error(ErrorKind::usage, fmt::format("--identity takes numbers, one for each component, not '{}'", text));
  }
  return {real, DType::float64};
}

}  // namespace samesum::cli
