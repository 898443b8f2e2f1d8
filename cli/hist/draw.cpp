// Histograms in the terminal.
#include "hist/output.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>

namespace samesum::cli {
namespace {

constexpr std::size_t kMaxBars = 40;       // for bins with one line each
constexpr std::size_t kColumnHeight = 12;  // of columns, in lines
constexpr std::array<const char*, 9> kAcross = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
constexpr std::array<const char*, 9> kUp = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

// The length of a bar in eighths of a character: at least one for a nonzero count.
std::size_t eighths(std::uint64_t count, std::uint64_t greatest, std::size_t characters, bool logarithmic) {
  if (count == 0) return 0;
  const auto value = static_cast<double>(count), most = static_cast<double>(greatest);
  const double part = logarithmic ? std::log1p(value) / std::log1p(most) : value / most;
  return std::max<std::size_t>(1, static_cast<std::size_t>(part * static_cast<double>(8 * characters) + 0.5));
}

std::string across(std::size_t length) {
  std::string bar;
  for (std::size_t i = 0; i < length / 8; ++i) bar += kAcross[8];
  return bar + kAcross[length % 8];
}

std::uint64_t greatest_of(std::span<const std::uint64_t> counts) {
  return counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
}

void draw_lines(Output& out, const std::vector<std::string>& labels, std::span<const std::uint64_t> counts, bool logarithmic,
                std::uint32_t width) {
  std::size_t label_width = 0, count_width = 0;
  for (const std::string& label : labels) label_width = std::max(label_width, label.size());
  for (const std::uint64_t count : counts) count_width = std::max(count_width, grouped(count).size());
  const std::size_t around = label_width + count_width + 4;
  const std::size_t room = width > around + 8 ? width - around : 8;
  const std::uint64_t greatest = greatest_of(counts);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::string bar = across(eighths(counts[i], greatest, room, logarithmic));
    out.print("{:>{}}  {:>{}}  {}\n", labels[i], label_width, grouped(counts[i]), count_width, bar);
  }
}

// Columns above an axis that is labelled with the two bounds.
void draw_columns(Output& out, const Histogram& histogram, bool logarithmic, std::uint32_t width) {
  std::vector<std::uint64_t> bars = bars_of(histogram, 100000);
  const std::size_t scale_width = grouped(greatest_of(bars)).size() + 4;  // merged bins may have larger counts
  const std::size_t room = width > scale_width + 12 ? width - scale_width - 2 : 10;
  bars = bars_of(histogram, room);
  const std::uint64_t greatest = greatest_of(bars);
  for (std::size_t line = kColumnHeight; line-- > 0;) {
    std::string text;
    for (const std::uint64_t bar : bars) {
      const std::size_t length = eighths(bar, greatest, kColumnHeight, logarithmic);
      text += kUp[std::clamp<std::size_t>(length, 8 * line, 8 * line + 8) - 8 * line];
    }
    out.print("{:>{}} {}{}\n",
              line + 1 == kColumnHeight ? grouped(greatest)
              : line == 0               ? "0"
                                        : "",
              scale_width, line + 1 == kColumnHeight ? "┤" : "│", text);
  }
  std::string axis;
  for (std::size_t i = 0; i < bars.size(); ++i) axis += "─";
  out.print("{:>{}} └{}\n", "", scale_width, axis);
  const std::string low = fmt::format("{:.6g}", histogram.bins().low()), high = fmt::format("{:.6g}", histogram.bins().high());
  const std::size_t gap = bars.size() > low.size() + high.size() + 1 ? bars.size() - low.size() - high.size() : 1;
  out.print("{:>{}}  {}{:{}}{}\n", "", scale_width, low, "", gap, high);
}

}  // namespace

std::string summary_of(const Histogram& histogram) {
  std::string text = fmt::format("{} in {}", grouped(histogram.inside()), counted(histogram.bins().count(), "bin"));
  if (histogram.under() != 0) text += fmt::format(", {} below {:.6g}", grouped(histogram.under()), histogram.bins().low());
  if (histogram.over() != 0) text += fmt::format(", {} above {:.6g}", grouped(histogram.over()), histogram.bins().high());
  if (histogram.nan_count() != 0) text += fmt::format(", {} NaN", grouped(histogram.nan_count()));
  if (histogram.total() != histogram.nan_count()) {
    // Of an even number of samples the median is the middle of two, which may be in different bins.
    const double first = histogram.quantile(0.5).low, last = histogram.quantile(std::nextafter(0.5, 1.0)).high;
    std::string low, high;
    for (int digits = 6; digits <= 17 && low == high; ++digits) {
      low = fmt::format("{:.{}g}", first, digits);
      high = fmt::format("{:.{}g}", last, digits);
    }
    text += fmt::format("; median in {} .. {}", low, high);
  }
  return text;
}

std::uint32_t terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const int width = columns != nullptr ? std::atoi(columns) : 0;
  return width > 0 ? static_cast<std::uint32_t>(std::min(width, 1000)) : 80;
}

std::vector<std::uint64_t> bars_of(const Histogram& histogram, std::size_t most) {
  const auto counts = histogram.counts();
  const std::size_t each = (counts.size() + most - 1) / most;
  std::vector<std::uint64_t> bars((counts.size() + each - 1) / each);
  for (std::size_t i = 0; i < counts.size(); ++i) bars[i / each] += counts[i];
  return bars;
}

void draw(Output& out, const Chart& chart, bool logarithmic, std::uint32_t width) {
  for (const Series& series : chart.series) {
    const Histogram& histogram = series.histogram;
    if (!series.name.empty()) out.print("{}\n", out.bold(series.name));
    if (histogram.bins().count() <= kMaxBars) {
      std::vector<std::string> labels;
      const auto edges = histogram.bins().edges();
      for (std::size_t i = 0; i < histogram.bins().count(); ++i) {
        const std::string_view kind = histogram.bins().kind();
        labels.push_back(kind == "formula"      ? fmt::format("{}", i)
                         : kind == "each value" ? fmt::format("{:.16g}", edges[i] + 0.5)
                                                : fmt::format("{:.6g} .. {:.6g}", edges[i], edges[i + 1]));
      }
      draw_lines(out, labels, histogram.counts(), logarithmic, width);
    } else {
      draw_columns(out, histogram, logarithmic, width);
    }
    out.print("  {}\n", out.dim(summary_of(histogram) + (logarithmic ? "; logarithmic bars" : "")));
  }
}

void draw(Output& out, const CharacterCounts& counts, bool logarithmic, std::uint32_t width) {
  draw_lines(out, counts.names, counts.counts, logarithmic, width);
  constexpr std::size_t kBytes = 256;  // if each has its name, there are no others
  if (counts.names.size() < kBytes) out.print("  {}\n", out.dim(counted(counts.others, "other byte")));
}

void draw_tiles(Output& out, const std::vector<Chart>& tiles, bool logarithmic, std::uint32_t width) {
  for (const Chart& tile : tiles) {
    const std::string place = fmt::format("{},{} {}x{}", tile.x, tile.y, tile.width, tile.height);
    for (const Series& series : tile.series) {
      const std::string label = fmt::format("{:<22} {:<6} ", place, series.name);
      const std::vector<std::uint64_t> bars = bars_of(series.histogram, width > label.size() + 8 ? width - label.size() : 8);
      std::string line;
      for (const std::uint64_t bar : bars) line += kUp[eighths(bar, greatest_of(bars), 1, logarithmic)];
      out.print("{}{}\n", label, line);
    }
  }
}

Json json_of(const Chart& chart) {
  Json object;
  if (chart.width != 0) object = {{"x", chart.x}, {"y", chart.y}, {"width", chart.width}, {"height", chart.height}};
  object["channels"] = Json::array();
  for (const Series& series : chart.series) {
    const Histogram& histogram = series.histogram;
    Json one;
    if (!series.name.empty()) one["name"] = series.name;
    one["total"] = histogram.total();
    one["under"] = histogram.under();
    one["over"] = histogram.over();
    one["nan"] = histogram.nan_count();
    one["counts"] = std::vector(histogram.counts().begin(), histogram.counts().end());
    if (histogram.total() != histogram.nan_count()) {
      for (const double p : {0.25, 0.5, 0.75}) {
        const Quantile quantile = histogram.quantile(p);
        one["quantiles"].push_back({{"p", p}, {"value", quantile.value}, {"low", quantile.low}, {"high", quantile.high}});
      }
    }
    object["channels"].push_back(std::move(one));
  }
  return object;
}

std::string csv_of(const std::vector<Chart>& charts) {
  const bool tiles = charts.size() > 1;
  std::string text = tiles ? "x,y,width,height,low,high" : "low,high";
  for (const Series& series : charts.front().series) text += "," + (series.name.empty() ? "count" : series.name);
  text += "\n";
  for (const Chart& chart : charts) {
    const auto edges = chart.series.front().histogram.bins().edges();
    const auto line = [&](const std::string& low, const std::string& high, const auto& count) {
      if (tiles) text += fmt::format("{},{},{},{},", chart.x, chart.y, chart.width, chart.height);
      text += low + "," + high;
      for (const Series& series : chart.series) text += fmt::format(",{}", count(series.histogram));
      text += "\n";
    };
    line("-inf", fmt::format("{}", edges.front()), [](const Histogram& h) { return h.under(); });
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
      line(fmt::format("{}", edges[i]), fmt::format("{}", edges[i + 1]), [i](const Histogram& h) { return h.counts()[i]; });
    }
    line(fmt::format("{}", edges.back()), "inf", [](const Histogram& h) { return h.over(); });
    line("nan", "nan", [](const Histogram& h) { return h.nan_count(); });
  }
  return text;
}

}  // namespace samesum::cli
