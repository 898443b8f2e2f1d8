#include "report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace peers {
namespace {

bool in_float(const Row& row, const Problem& problem) { return row.in_element_type && problem.data.type() == samesum::DType::float32; }

template <class T>
double last_place(T rounded) {
  const T magnitude = std::abs(rounded);
  return static_cast<double>(std::nextafter(magnitude, std::numeric_limits<T>::infinity()) - magnitude);
}

// samesum's time in the same place; 0 where it was not measured there.
double samesum_seconds(const std::vector<Row>& rows, const Row& of) {
  for (const Row& row : rows) {
    if (row.name == "samesum" && row.where == of.where && row.not_measured.empty()) return row.seconds.median;
  }
  return 0;
}

std::string time_of(double seconds) {
  const char* unit = seconds < 1e-6 ? "ns" : seconds < 1e-3 ? "us" : seconds < 1 ? "ms" : "s";
  return fmt::format("{:.4g} {}", seconds * (seconds < 1e-6 ? 1e9 : seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1), unit);
}

std::string error_text(double ulps) { return ulps <= 0.5 ? "right" : std::isfinite(ulps) ? fmt::format("{:.3g} ulp", ulps) : "no number"; }

}  // namespace

double error_in_ulps(const Row& row, const Problem& problem) {
  const bool small = in_float(row, problem);
  const double rounded = small ? static_cast<double>(problem.exact.round_to_float()) : problem.exact.round();
  if (row.value == rounded || (std::isnan(row.value) && std::isnan(rounded))) return 0;
  if (!std::isfinite(row.value) || !std::isfinite(rounded)) return std::numeric_limits<double>::infinity();
  samesum::Accumulator difference = problem.exact;
  difference.add(-row.value);
  return std::abs(difference.round()) / (small ? last_place(static_cast<float>(rounded)) : last_place(rounded));
}

void print_table(const std::vector<Row>& rows, const Problem& problem, const std::string& data) {
  fmt::print("{} {} elements, {}\n", problem.data.size(), name_of(problem.data.type()), data);
  fmt::print("  {:<22}{:<16}{:>11}{:>8}{:>10}{:>11}  {:<13}{}\n", "sum", "where", "median", "spread", "GB/s", "x samesum", "value",
             "same bits");
  for (const Row& row : rows) {
    if (!row.not_measured.empty()) {
      fmt::print("  {:<22}{:<16}not measured: {}\n", row.name, row.where, row.not_measured);
      continue;
    }
    const double reference = samesum_seconds(rows, row);
    const double spread = 50 * (row.seconds.high - row.seconds.low) / row.seconds.median;
    fmt::print("  {:<22}{:<16}{:>11}{:>8}{:>10.4g}{:>11}  {:<13}{}\n", row.name, row.where, time_of(row.seconds.median),
               fmt::format("{:.1f}%", spread), static_cast<double>(problem.data.bytes()) / row.seconds.median * 1e-9,
               reference == 0 ? "-" : fmt::format("{:.3g}", row.seconds.median / reference), error_text(error_in_ulps(row, problem)),
               !row.repeats     ? "not even repeated"
               : row.order_free ? "repeated, any order"
                                : "repeated");
  }
  fmt::print("\n");
}

nlohmann::json to_json(const std::vector<Row>& rows, const Problem& problem, const std::string& data) {
  nlohmann::json lines = nlohmann::json::array();
  for (const Row& row : rows) {
    nlohmann::json line = {{"sum", row.name}, {"where", row.where}};
    if (!row.not_measured.empty()) {
      line["not_measured"] = row.not_measured;
    } else {
      const double ulps = error_in_ulps(row, problem), reference = samesum_seconds(rows, row);
      line["seconds"] = {{"median", row.seconds.median}, {"low", row.seconds.low}, {"high", row.seconds.high}, {"runs", row.seconds.runs}};
      line["times_samesum"] = reference == 0 ? nlohmann::json() : nlohmann::json(row.seconds.median / reference);
      line["error_ulps"] = std::isfinite(ulps) ? nlohmann::json(ulps) : nlohmann::json();
      line["value"] = fmt::format("{:a}", row.value);  // a string, as JSON has no infinities
      line["repeats"] = row.repeats;
      line["order_free"] = row.order_free;
    }
    lines.push_back(std::move(line));
  }
  return {{"elements", problem.data.size()}, {"type", name_of(problem.data.type())}, {"data", data}, {"sums", std::move(lines)}};
}

}  // namespace peers
