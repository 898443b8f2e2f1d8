// Histograms as SVG drawings, without embedded fonts or scripts.
#include "hist/output.hpp"
#include "hist/svg_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace samesum::cli {
namespace {

constexpr double kWidth = 800, kHeight = 480;
constexpr double kLeft = 86, kRight = 40, kTop = 60, kBottom = 64;
constexpr double kFrom = kLeft, kTo = kWidth - kRight, kFloor = kHeight - kBottom;
constexpr std::size_t kMaxSteps = 2048;  // of an outline: more are not visible

// The colour that a name stands for; the default is blue.
std::string colour_of(const std::string& name) {
  static const std::map<std::string, std::string> kNamed = {
      {"red", "#d62728"}, {"green", "#2ca02c"}, {"blue", "#1f5fd0"}, {"grey", "#555555"}, {"alpha", "#9467bd"}};
  const auto found = kNamed.find(name);
  return found != kNamed.end() ? found->second : "#2b6ca3";
}

// About five round numbers from 0 (or low) to high.
std::vector<double> ticks(double low, double high) {
  const double raw = (high / 5 - low / 5), power = std::pow(10.0, std::floor(std::log10(raw)));
  const double step = power * (raw / power < 1.5 ? 1 : raw / power < 3.5 ? 2 : raw / power < 7.5 ? 5 : 10);
  std::vector<double> result;
  for (double i = std::ceil(low / step); i * step <= high * (high > 0 ? 1 + 1e-12 : 1) && result.size() < 20; ++i)
    result.push_back(i * step + 0.0);  // no -0
  return result;
}

// A page without its bars; its vertical axis is the number of samples.
class Page {
 public:
  Page(const std::string& title, const std::string& note, std::uint64_t greatest, bool logarithmic)
      : logarithmic_(logarithmic), most_(static_cast<double>(greatest) * (logarithmic ? 1.5 : 1.05)) {
    svg_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" font-family=\"sans-serif\" "
        "font-size=\"13\" fill=\"#222\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
        "<text x=\"{2}\" y=\"26\" font-size=\"16\">{3}</text>\n<text x=\"{2}\" y=\"45\" font-size=\"12\" fill=\"#666\">{4}</text>\n",
        kWidth, kHeight, kLeft, svg_text(title), svg_text(note, 200));
    std::vector<double> counts = ticks(0, static_cast<double>(greatest));
    if (logarithmic) {
      counts = {0};
      for (double power = 1; power <= static_cast<double>(greatest); power *= 10) counts.push_back(power);
    }
    std::erase_if(counts, [](double count) { return count != std::floor(count); });
    const std::vector<std::string> labels = labels_of(counts);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      add("<path d=\"M{} {:.1f}H{}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kFrom, y(counts[i]),
          kTo, kFrom - 8, y(counts[i]) + 4.5, labels[i]);
    }
  }

  double y(double count) const {
    const double part = logarithmic_ ? std::log1p(count) / std::log1p(most_) : count / most_;
    return kFloor - part * (kFloor - kTop);
  }
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    svg_ += fmt::format(format, std::forward<Arguments>(arguments)...);
  }
  void label(double x, const std::string& text) {
    add("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x, kFloor + 21, svg_text(text));
  }
  std::string finish(std::string_view what, std::string_view counted) {
    add("<path d=\"M{0} {1}V{2}H{3}\" fill=\"none\" stroke=\"#222\"/>\n", kFrom, kTop, kFloor, kTo);
    add("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (kFrom + kTo) / 2, kHeight - 18, what);
    add("<text transform=\"translate(22 {}) rotate(-90)\" text-anchor=\"middle\">{}{}</text>\n</svg>\n", (kTop + kFloor) / 2, counted,
        logarithmic_ ? " (logarithmic)" : "");
    return std::move(svg_);
  }

 private:
  bool logarithmic_;
  double most_;
  std::string svg_;
};

}  // namespace

std::string svg_of(const Chart& chart, bool logarithmic) {
  const Bins& bins = chart.series.front().histogram.bins();
  const auto edges = bins.edges();
  const std::size_t each = (bins.count() + kMaxSteps - 1) / kMaxSteps;
  const bool log_x = bins.kind() == "logarithmic";
  const auto place = [&](double value) { return log_x ? std::log10(value) : value / 2; };  // halved, so that differences do not overflow
  const double from = place(bins.low()), to = place(bins.high());
  const auto x = [&](double value) { return kFrom + (place(value) - from) / (to - from) * (kTo - kFrom); };

  std::uint64_t greatest = 1;
  for (const Series& series : chart.series) {
    for (const std::uint64_t bar : bars_of(series.histogram, kMaxSteps)) greatest = std::max(greatest, bar);
  }
  const std::string note = chart.series.size() == 1 ? summary_of(chart.series.front().histogram) : "";
  Page page(chart.title, note, greatest, logarithmic);

  std::vector<double> values = ticks(bins.low(), bins.high());
  if (log_x) {
    values.clear();
    const double step = std::max(1.0, std::ceil((to - from) / 8));
    for (double power = std::ceil(from - 1e-9); power <= to + 1e-9; power += step) values.push_back(std::pow(10.0, power));
  }
  const std::vector<std::string> labels = labels_of(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    page.add("<path d=\"M{:.1f} {}v6\" stroke=\"#222\"/>", x(values[i]), kFloor);
    page.label(x(values[i]), labels[i]);
  }

  double legend = kTo;
  for (auto series = chart.series.rbegin(); series != chart.series.rend(); ++series) {
    const std::vector<std::uint64_t> bars = bars_of(series->histogram, kMaxSteps);
    std::string outline = fmt::format("M{:.2f} {:.2f}", x(edges.front()), kFloor);
    for (std::size_t i = 0; i < bars.size(); ++i) {
      outline += fmt::format("V{:.2f}H{:.2f}", page.y(static_cast<double>(bars[i])), x(edges[std::min((i + 1) * each, bins.count())]));
    }
    const std::string colour = colour_of(series->name);
    page.add("<path d=\"{}V{:.2f}Z\" fill=\"{}\" fill-opacity=\"{}\" stroke=\"{}\" stroke-width=\"1\"/>\n", outline, kFloor, colour,
             chart.series.size() > 1 ? 0.25 : 0.6, colour);
    if (series->name.empty()) continue;
    legend -= 7.5 * static_cast<double>(series->name.size()) + 30;
    page.add("<rect x=\"{:.1f}\" y=\"35\" width=\"12\" height=\"12\" fill=\"{}\"/><text x=\"{:.1f}\" y=\"45\">{}</text>\n", legend, colour,
             legend + 17, svg_text(series->name));
  }
  return page.finish(log_x ? "value (logarithmic)" : "value", "samples a bin");
}

std::string svg_of(const std::string& title, const CharacterCounts& counts, bool logarithmic) {
  const std::size_t bars = counts.counts.size();
  std::uint64_t greatest = 1, all = 0;
  for (const std::uint64_t count : counts.counts) {
    greatest = std::max(greatest, count);
    all += count;
  }
  Page page(title, fmt::format("{} counted, {} other bytes", grouped(all), grouped(counts.others)), greatest, logarithmic);
  const double width = (kTo - kFrom) / static_cast<double>(bars);
  std::size_t longest = 1;
  for (const std::string& name : counts.names) longest = std::max(longest, name.size());
  // As many labels as fit.
  const auto step = static_cast<std::size_t>(std::ceil((8.0 * static_cast<double>(longest) + 8) / width));
  for (std::size_t i = 0; i < bars; ++i) {
    const double left = kFrom + width * static_cast<double>(i), top = page.y(static_cast<double>(counts.counts[i]));
    page.add("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"#2b6ca3\" fill-opacity=\"0.75\"/>\n",
             left + 0.1 * width, top, 0.8 * width, kFloor - top);
    if (i % step == 0) page.label(left + width / 2, counts.names[i]);
  }
  return page.finish("characters", "bytes");
}

}  // namespace samesum::cli
