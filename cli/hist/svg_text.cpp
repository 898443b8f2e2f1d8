#include "hist/svg_text.hpp"

#include "output/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace samesum::cli {

std::string svg_text(const std::string& text, std::size_t most) {
  const std::string valid = Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
  std::size_t begin = valid.size() > most ? valid.size() - most : 0;
  while (begin < valid.size() && (valid[begin] & 0xc0) == 0x80) ++begin;  // begins with a whole character
  std::string result = begin > 0 ? "…" : "";
  for (const char c : valid.substr(begin)) {
    if (c == '&' || c == '<' || c == '>' || c == '"') {
      result += fmt::format("&#{};", static_cast<int>(c));
    } else {
      result += static_cast<unsigned char>(c) < 32 ? '?' : c;
    }
  }
  return result;
}

std::string short_number(double value) {
  const double magnitude = std::abs(value);
  if (magnitude >= 1e12) return fmt::format("{:.4g}", value);
  if (magnitude >= 1e9) return fmt::format("{:.4g}G", value / 1e9);
  if (magnitude >= 1e6) return fmt::format("{:.4g}M", value / 1e6);
  if (magnitude >= 1e4) return fmt::format("{:.4g}k", value / 1e3);
  return fmt::format("{:.4g}", value);
}

std::vector<std::string> labels_of(const std::vector<double>& values) {
  const bool whole = std::all_of(values.begin(), values.end(), [](double v) { return v == std::floor(v) && std::abs(v) < 1e15; });
  std::vector<std::string> labels;
  for (int digits = 4; digits <= 17; ++digits) {
    labels.clear();
    for (const double value : values) {
      labels.push_back(digits == 4 ? short_number(value) : whole ? fmt::format("{:.0f}", value) : fmt::format("{:.{}g}", value, digits));
    }
    if (std::set<std::string>(labels.begin(), labels.end()).size() == values.size()) break;
  }
  return labels;
}

}  // namespace samesum::cli
