// Histograms as drawings: SVG, without fonts or scripts of its own.
#include "hist_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace samesum::cli {
namespace {

constexpr double kWidth = 800, kHeight = 480;
constexpr double kLeft = 86, kRight = 24, kTop = 48, kBottom = 64;
constexpr std::size_t kMostSteps = 2048;  // of an outline: more cannot be seen

std::string escape(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&' || c == '<' || c == '>' || c == '"') {
      result += fmt::format("&#{};", static_cast<int>(c));
    } else {
      result += static_cast<unsigned char>(c) < 32 ? '?' : c;
    }
  }
  return result;
}

// A colour that its name stands for; all else is one blue.
std::string colour_of(const std::string& name) {
  static const std::map<std::string, std::string> kColours = {
      {"red", "#d62728"}, {"green", "#2ca02c"}, {"blue", "#1f5fd0"}, {"grey", "#555555"}, {"alpha", "#9467bd"}};
  const auto found = kColours.find(name);
  return found != kColours.end() ? found->second : "#2b6ca3";
}

// Round numbers, about five of them from 0 (or low) to high.
std::vector<double> ticks(double low, double high) {
  const double raw = (high / 5 - low / 5), power = std::pow(10.0, std::floor(std::log10(raw)));
  const double step = power * (raw / power < 1.5 ? 1 : raw / power < 3.5 ? 2 : raw / power < 7.5 ? 5 : 10);
  std::vector<double> result;
  for (double i = std::ceil(low / step); i * step <= high * (high > 0 ? 1 + 1e-12 : 1) && result.size() < 20; ++i)
    result.push_back(i * step);
  return result;
}

std::string short_number(double value) {
  const double magnitude = std::abs(value);
  if (magnitude >= 1e9) return fmt::format("{:.4g}G", value / 1e9);
  if (magnitude >= 1e6) return fmt::format("{:.4g}M", value / 1e6);
  if (magnitude >= 1e4) return fmt::format("{:.4g}k", value / 1e3);
  return fmt::format("{:.4g}", magnitude < 1e-12 ? 0 : value);
}

}  // namespace

std::string svg_of(const Chart& chart, bool logarithmic) {
  const Bins& bins = chart.series.front().histogram.bins();
  const auto edges = bins.edges();
  const std::size_t each = (bins.count() + kMostSteps - 1) / kMostSteps;
  const bool log_x = bins.kind() == "logarithmic";
  const auto place = [&](double value) { return log_x ? std::log10(value) : value / 2; };  // halves do not overflow
  const double from = place(bins.low()), to = place(bins.high());
  const auto x = [&](double value) { return kLeft + (place(value) - from) / (to - from) * (kWidth - kLeft - kRight); };

  std::uint64_t greatest = 1;
  for (const Series& series : chart.series) {
    for (const std::uint64_t bar : bars_of(series.histogram, kMostSteps)) greatest = std::max(greatest, bar);
  }
  const double most = static_cast<double>(greatest) * (logarithmic ? 1.5 : 1.05);
  const auto y = [&](double count) {
    const double part = logarithmic ? std::log1p(count) / std::log1p(most) : count / most;
    return kHeight - kBottom - part * (kHeight - kTop - kBottom);
  };

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" font-family=\"sans-serif\" "
      "font-size=\"13\" fill=\"#222\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"26\" font-size=\"16\">{3}</text>\n",
      kWidth, kHeight, kLeft, escape(chart.title));

  // Axes, with lines across at round counts.
  std::vector<double> counts = ticks(0, static_cast<double>(greatest));
  if (logarithmic) {
    counts = {0};
    for (double power = 1; power <= static_cast<double>(greatest); power *= 10) counts.push_back(power);
  }
  for (const double count : counts) {
    if (count != std::floor(count)) continue;
    svg += fmt::format("<path d=\"M{} {:.1f}H{}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft,
                       y(count), kWidth - kRight, kLeft - 8, y(count) + 4.5, short_number(count));
  }
  std::vector<double> values = ticks(bins.low(), bins.high());
  if (log_x) {
    values.clear();
    const double step = std::max(1.0, std::ceil((to - from) / 8));
    for (double power = std::ceil(from - 1e-9); power <= to + 1e-9; power += step) values.push_back(std::pow(10.0, power));
  }
  for (const double value : values) {
    svg += fmt::format("<path d=\"M{0:.1f} {1}v6\" stroke=\"#222\"/><text x=\"{0:.1f}\" y=\"{2}\" text-anchor=\"middle\">{3}</text>\n",
                       x(value), kHeight - kBottom, kHeight - kBottom + 21, short_number(value));
  }

  double legend = kWidth - kRight;
  for (auto series = chart.series.rbegin(); series != chart.series.rend(); ++series) {
    const std::vector<std::uint64_t> bars = bars_of(series->histogram, kMostSteps);
    std::string outline = fmt::format("M{:.2f} {:.2f}", x(edges.front()), y(0));
    for (std::size_t i = 0; i < bars.size(); ++i) {
      outline += fmt::format("V{:.2f}H{:.2f}", y(static_cast<double>(bars[i])), x(edges[std::min((i + 1) * each, bins.count())]));
    }
    const std::string colour = colour_of(series->name);
    svg += fmt::format("<path d=\"{}V{:.2f}Z\" fill=\"{}\" fill-opacity=\"{}\" stroke=\"{}\" stroke-width=\"1\"/>\n", outline, y(0), colour,
                       chart.series.size() > 1 ? 0.25 : 0.6, colour);
    if (series->name.empty()) continue;
    legend -= 7.5 * static_cast<double>(series->name.size()) + 30;
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"16\" width=\"12\" height=\"12\" fill=\"{}\"/><text x=\"{:.1f}\" y=\"26\">{}</text>\n",
                       legend, colour, legend + 17, escape(series->name));
  }
  svg += fmt::format("<path d=\"M{0} {1}V{2}H{3}\" fill=\"none\" stroke=\"#222\"/>\n", kLeft, kTop, kHeight - kBottom, kWidth - kRight);
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">value{}</text>\n", (kLeft + kWidth - kRight) / 2, kHeight - 18,
                     log_x ? " (logarithmic)" : "");
  svg += fmt::format("<text transform=\"translate(22 {}) rotate(-90)\" text-anchor=\"middle\">samples a bin{}</text>\n</svg>\n",
                     (kTop + kHeight - kBottom) / 2, logarithmic ? " (logarithmic)" : "");
  return svg;
}

}  // namespace samesum::cli
