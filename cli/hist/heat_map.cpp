#include "hist/heat_map.hpp"

#include "hist/output.hpp"
#include "hist/svg_text.hpp"
#include "output/number.hpp"

#include <samesum/image.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

namespace samesum::cli {
namespace {

constexpr std::uint64_t kMaxColumns = 256, kMaxRows = 192;  // of a drawing: more are not visible
constexpr std::uint64_t kTextLines = 24;                    // in a terminal
constexpr std::array<const char*, 5> kShades = {" ", "░", "▒", "▓", "█"};

struct Colour {
  double red, green, blue;
};
// From light to dark: lightness falls evenly, so that it reads in grey, too.
constexpr std::array<Colour, 6> kColours = {
    {{247, 251, 255}, {198, 219, 239}, {107, 174, 214}, {49, 130, 189}, {24, 81, 156}, {8, 32, 86}}};

std::array<std::uint8_t, 3> colour_of(double part) {
  const double at = std::clamp(part, 0.0, 1.0) * static_cast<double>(kColours.size() - 1);
  const std::size_t i = std::min(static_cast<std::size_t>(at), kColours.size() - 2);
  const double rest = at - static_cast<double>(i);
  const auto mixed = [&](double Colour::*channel) {
    return static_cast<std::uint8_t>(kColours[i].*channel * (1 - rest) + kColours[i + 1].*channel * rest + 0.5);
  };
  return {mixed(&Colour::red), mixed(&Colour::green), mixed(&Colour::blue)};
}

// The colour of no samples: white, which is none of the others.
std::array<std::uint8_t, 3> colour_of(std::uint64_t count, double part) {
  return count == 0 ? std::array<std::uint8_t, 3>{255, 255, 255} : colour_of(part);
}

// The cells in bins, merged until there are at most the given numbers of columns and rows.
class Cells {
 public:
  Cells(const HistogramNd& histogram, std::uint64_t columns, std::uint64_t rows, bool logarithmic)
      : histogram_(histogram.rebin(0, factor(histogram.axes()[0], columns)).rebin(1, factor(histogram.axes()[1], rows))),
        counts_(histogram_.counts()),
        logarithmic_(logarithmic) {
    for (const std::uint64_t count : counts_) greatest_ = std::max(greatest_, count);
  }

  const Bins& x() const { return histogram_.axes()[0]; }
  const Bins& y() const { return histogram_.axes()[1]; }
  std::uint64_t count(std::uint64_t column, std::uint64_t row) const { return counts_[column * y().count() + row]; }
  std::uint64_t greatest() const { return greatest_; }
  // Of the greatest count: 0 for none.
  double part(std::uint64_t count) const {
    if (greatest_ == 0) return 0;
    const auto value = static_cast<double>(count), most = static_cast<double>(greatest_);
    return logarithmic_ ? std::log1p(value) / std::log1p(most) : value / most;
  }

 private:
  static std::uint64_t factor(const Bins& bins, std::uint64_t most) { return (bins.count() + most - 1) / most; }

  HistogramNd histogram_;
  std::vector<std::uint64_t> counts_;
  bool logarithmic_;
  std::uint64_t greatest_ = 0;
};

// The indices of about `most` edges, the first and the last among them, and their labels.
struct Labels {
  std::vector<std::uint64_t> edges;
  std::vector<std::string> texts;
};
Labels labels_at(const Bins& bins, std::uint64_t most) {
  Labels labels;
  const std::uint64_t step = (bins.count() + most - 1) / most;
  std::vector<double> values;
  for (std::uint64_t i = 0; i <= bins.count(); i += step) {
    labels.edges.push_back(i);
    values.push_back(bins.edges()[i]);
  }
  labels.texts = labels_of(values);
  return labels;
}

}  // namespace

std::string summary_of(const HistogramNd& histogram) {
  const std::uint64_t inside = histogram.inside(), outside = histogram.total() - inside;
  std::string text = fmt::format("{} in {} x {} bins", grouped(inside), histogram.axes()[0].count(), histogram.axes()[1].count());
  if (outside != 0) text += fmt::format(", {} outside", grouped(outside));
  return text;
}

void draw_heat_map(Output& out, const HeatMapText& text, const HistogramNd& histogram, bool logarithmic, std::uint32_t width) {
  const auto edge = [](double value) { return fmt::format("{:.6g}", value); };
  const Bins &x = histogram.axes()[0], &y = histogram.axes()[1];
  const std::string low = edge(y.low()), high = edge(y.high());
  const std::size_t label = std::max(low.size(), high.size());
  const std::uint64_t room = width > label + 16 ? width - label - 2 : 14;
  const Cells cells(histogram, room, kTextLines, logarithmic);
  const std::uint64_t wide = std::clamp<std::uint64_t>(room / cells.x().count(), 1, 2);  // characters of a cell: two are nearly square
  for (std::uint64_t row = cells.y().count(); row-- > 0;) {
    std::string line;
    for (std::uint64_t column = 0; column < cells.x().count(); ++column) {
      const std::uint64_t count = cells.count(column, row);
      // The lightest shade for any samples at all.
      const auto shade = static_cast<std::size_t>(std::ceil(cells.part(count) * static_cast<double>(kShades.size() - 1)));
      for (std::uint64_t i = 0; i < wide; ++i) line += kShades[std::min(shade, kShades.size() - 1)];
    }
    const bool top = row + 1 == cells.y().count();
    out.print("{:>{}} {}{}\n", top ? high : row == 0 ? low : "", label, top ? "┤" : "│", line);
  }
  std::string axis;
  const std::uint64_t across = wide * cells.x().count();
  for (std::uint64_t i = 0; i < across; ++i) axis += "─";
  out.print("{:>{}} └{}\n", "", label, axis);
  const std::string left = edge(x.low()), right = edge(x.high());
  const std::uint64_t gap = across > left.size() + right.size() + 1 ? across - left.size() - right.size() : 1;
  out.print("{:>{}}  {}{:{}}{}\n", "", label, left, "", gap, right);
  out.print("  {}\n", out.dim(fmt::format("{} to the right, {} upwards; {}; {} = {}{}", text.x, text.y, summary_of(histogram),
                                          kShades.back(), grouped(cells.greatest()), logarithmic ? "; logarithmic shades" : "")));
}

std::string heat_map_svg(const HeatMapText& text, const HistogramNd& histogram, bool logarithmic) {
  constexpr double kMapWidth = 800, kMapHeight = 560, kMapFrom = 86, kMapTo = 680, kMapTop = 60, kMapFloor = 490, kBar = 706,
                   kBarWidth = 18;
  const Cells cells(histogram, kMaxColumns, kMaxRows, logarithmic);
  const double wide = (kMapTo - kMapFrom) / static_cast<double>(cells.x().count()),
               high = (kMapFloor - kMapTop) / static_cast<double>(cells.y().count());
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" font-family=\"sans-serif\" "
      "font-size=\"13\" fill=\"#222\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"26\" font-size=\"16\">{3}</text>\n<text x=\"{2}\" y=\"45\" font-size=\"12\" fill=\"#666\">{4}</text>\n",
      kMapWidth, kMapHeight, kMapFrom, svg_text(text.title), svg_text(summary_of(histogram), 200));
  const auto hex = [](std::array<std::uint8_t, 3> c) { return fmt::format("#{:02x}{:02x}{:02x}", c[0], c[1], c[2]); };
  svg += "<g shape-rendering=\"crispEdges\">\n";
  for (std::uint64_t row = 0; row < cells.y().count(); ++row) {
    const double bottom = kMapFloor - high * static_cast<double>(row);
    // Neighbours of one colour are one rectangle.
    for (std::uint64_t column = 0; column < cells.x().count();) {
      const auto colour = [&](std::uint64_t at) {
        const std::uint64_t count = cells.count(at, row);
        return colour_of(count, cells.part(count));
      };
      const std::uint64_t first = column;
      while (++column < cells.x().count() && colour(column) == colour(first)) continue;
      const std::string fill = hex(colour(first));
      if (fill == "#ffffff") continue;
      svg +=
          fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"/>\n",
                      kMapFrom + wide * static_cast<double>(first), bottom - high, wide * static_cast<double>(column - first), high, fill);
    }
  }
  constexpr int kSteps = 64;  // of the scale of colours
  for (int i = 0; i < kSteps; ++i) {
    const double each = (kMapFloor - kMapTop) / kSteps;
    svg += fmt::format("<rect x=\"{}\" y=\"{:.2f}\" width=\"{}\" height=\"{:.2f}\" fill=\"{}\"/>\n", kBar, kMapFloor - each * (i + 1),
                       kBarWidth, each + 0.3, hex(colour_of((i + 0.5) / kSteps)));
  }
  svg += "</g>\n";
  svg += fmt::format("<path d=\"M{0} {1}H{2}V{3}H{0}Z M{4} {1}h{5}V{3}h-{5}Z\" fill=\"none\" stroke=\"#222\"/>\n", kMapFrom, kMapTop,
                     kMapTo, kMapFloor, kBar, kBarWidth);
  svg += fmt::format("<text x=\"{0}\" y=\"{1}\">{2}</text><text x=\"{0}\" y=\"{3}\">0</text>\n", kBar + kBarWidth + 6, kMapTop + 9,
                     short_number(static_cast<double>(cells.greatest())), kMapFloor);
  const Labels across = labels_at(cells.x(), 8), up = labels_at(cells.y(), 8);
  for (std::size_t i = 0; i < across.edges.size(); ++i) {
    const double at = kMapFrom + wide * static_cast<double>(across.edges[i]);
    svg += fmt::format("<path d=\"M{0:.1f} {1}v6\" stroke=\"#222\"/><text x=\"{0:.1f}\" y=\"{2}\" text-anchor=\"middle\">{3}</text>\n", at,
                       kMapFloor, kMapFloor + 21, svg_text(across.texts[i]));
  }
  for (std::size_t i = 0; i < up.edges.size(); ++i) {
    const double at = kMapFloor - high * static_cast<double>(up.edges[i]);
    svg += fmt::format("<path d=\"M{0} {1:.1f}h-6\" stroke=\"#222\"/><text x=\"{2}\" y=\"{3:.1f}\" text-anchor=\"end\">{4}</text>\n",
                       kMapFrom, at, kMapFrom - 9, at + 4.5, svg_text(up.texts[i]));
  }
  svg +=
      fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (kMapFrom + kMapTo) / 2, kMapHeight - 20, svg_text(text.x));
  svg += fmt::format("<text transform=\"translate(20 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n", (kMapTop + kMapFloor) / 2,
                     svg_text(text.y));
  svg += fmt::format("<text transform=\"translate({} {}) rotate(-90)\" text-anchor=\"middle\">samples{}</text>\n</svg>\n", kMapWidth - 16,
                     (kMapTop + kMapFloor) / 2, logarithmic ? " (logarithmic)" : "");
  return svg;
}

std::vector<std::byte> heat_map_png(const HistogramNd& histogram, bool logarithmic) {
  constexpr std::uint64_t kPixels = 512, kMax = 4096;  // at least, of the longer side; at most
  const Cells cells(histogram, kMax, kMax, logarithmic);
  const std::uint64_t columns = cells.x().count(), rows = cells.y().count();
  const std::uint64_t each = std::max<std::uint64_t>(kPixels / std::max(columns, rows), 1);
  Image image;
  image.width = columns * each;
  image.height = rows * each;
  image.channels = 3;
  auto pixels = std::make_shared<std::vector<std::uint8_t>>(3 * image.width * image.height);
  for (std::uint64_t y = 0; y < image.height; ++y) {
    for (std::uint64_t x = 0; x < image.width; ++x) {
      const std::uint64_t count = cells.count(x / each, rows - 1 - y / each);
      const auto colour = colour_of(count, cells.part(count));
      std::ranges::copy(colour, pixels->begin() + static_cast<std::ptrdiff_t>(3 * (y * image.width + x)));
    }
  }
  image.pixels = std::shared_ptr<const void>(pixels, pixels->data());
  return encode_png(image);
}

}  // namespace samesum::cli
