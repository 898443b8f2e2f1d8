// The parts of a report's page: HTML and CSS without scripts, so that it opens offline, prints, and is read aloud as the tables it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace samesum::cli::report {

/// A variant as measured. Values are in the chart's unit.
struct Row {
  std::string name, where, verdict, reason, configuration;
  double value = 0;     ///< 0: not timed
  double ceiling = 0;   ///< what the same place can do at best, measured in turns with it; 0: not known
  double fraction = 0;  ///< of the ceiling
  double seconds = 0, low = 0, high = 0;
};

/// Variants side by side, a bar each.
struct Chart {
  std::string title, unit, ladder;
  std::vector<Row> rows;
};

/// A line through points (x, y), both positive, on logarithmic axes.
struct Line {
  struct Point {
    double x = 0, y = 0;
    std::string what;  ///< of the point; shown where the pointer rests
  };
  std::string name;
  bool dashed = false;
  bool joined = true;  ///< false: points alone
  std::vector<Point> points;
};

struct Plot {
  std::string title, x_name, y_name, summary;  ///< `summary`: for those who cannot see it
  bool bytes = false;                          ///< whether x is bytes
  std::vector<Line> lines;
};

/// What a rung does and what limits it still; empty where nothing is known of it.
struct Text {
  std::string_view ladder, rung, does, limit;
  std::string_view shown_by;  ///< the count or the counter in which the limit is seen
  bool faulty = false;  ///< whether its result is expected to be wrong
};
Text text_of(std::string_view ladder, std::string_view rung);

/// Text for HTML, for any bytes.
std::string escaped(std::string_view text);
/// A link to `content` as a file.
std::string download(std::string_view name, std::string_view type, std::string_view content, std::string_view label);
/// 3 significant digits.
std::string figure(double value);

std::string html_of(const Chart& chart);
std::string html_of(const Plot& plot);

/// The page around `sections`, with a heading for each in its navigation.
struct Section {
  std::string id, title, html;
};
std::string html_of(std::string_view title, std::string_view introduction, const std::vector<Section>& sections);

}  // namespace samesum::cli::report
