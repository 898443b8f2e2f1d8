// Output of histograms for people and programs.
#pragma once

#include "output/number.hpp"
#include "output/output.hpp"

#include <samesum/histogram.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace samesum::cli {

/// One row of bars: a channel, or all samples.
struct Series {
  std::string name;  ///< "red"; empty where there is one
  Histogram histogram;
};

/// The histograms of one place, over the same bins.
struct Chart {
  std::string title;
  std::uint64_t x = 0, y = 0, width = 0, height = 0;  ///< of a tile of an image
  std::vector<Series> series;
  std::uint32_t pages = 0;  ///< pages of the image that were counted; 0: not an image
};

/// The width of the terminal in columns; 80 without a terminal.
std::uint32_t terminal_width();

/// Bars in Unicode, at most `width` characters per line: one line per bin if there are few, otherwise columns, with bins merged as
/// necessary.
void draw(Output& out, const Chart& chart, bool logarithmic, std::uint32_t width);
/// Bars labelled with names.
void draw(Output& out, const CharacterCounts& counts, bool logarithmic, std::uint32_t width);
/// A line of bars for each tile.
void draw_tiles(Output& out, const std::vector<Chart>& tiles, bool logarithmic, std::uint32_t width);

Json json_of(const Chart& chart);
/// "low,high,count", or with the names of the series; the samples under, over and NaN have separate lines.
std::string csv_of(const std::vector<Chart>& charts);

/// A drawing with axes and labels.
std::string svg_of(const Chart& chart, bool logarithmic);
std::string svg_of(const std::string& title, const CharacterCounts& counts, bool logarithmic);

/// The numbers of samples inside and outside of the bins, and the median.
std::string summary_of(const Histogram& histogram);

/// The counts of the bars: bins are merged so that there are at most `most` bars.
std::vector<std::uint64_t> bars_of(const Histogram& histogram, std::size_t most);

}  // namespace samesum::cli
