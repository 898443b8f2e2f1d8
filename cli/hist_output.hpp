// A histogram as a person or a program reads it.
#pragma once

#include "number.hpp"
#include "output.hpp"

#include <samesum/histogram.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace samesum::cli {

/// One row of bars: a channel, or all that was counted.
struct Series {
  std::string name;  ///< "red"; empty where there is one
  Histogram histogram;
};

/// What was counted in one place, over one list of bins.
struct Chart {
  std::string title;
  std::uint64_t x = 0, y = 0, width = 0, height = 0;  ///< of a tile of an image
  std::vector<Series> series;
  std::uint32_t pages = 0;  ///< of the image that were counted; 0: it is none
};

/// Columns of the terminal; 80 where there is none.
std::uint32_t terminal_width();

/// Bars in Unicode, at most `width` characters to a line: a line a bin where there are few, else columns, with bins put together as need
/// be.
void draw(Output& out, const Chart& chart, bool logarithmic, std::uint32_t width);
/// Bars with names.
void draw(Output& out, const CharacterCounts& counts, bool logarithmic, std::uint32_t width);
/// A line of bars for each tile.
void draw_tiles(Output& out, const std::vector<Chart>& tiles, bool logarithmic, std::uint32_t width);

Json json_of(const Chart& chart);
/// "low,high,count" or with the names of the series; the samples under, over and NaN have lines of their own.
std::string csv_of(const std::vector<Chart>& charts);

/// A drawing with axes and labels.
std::string svg_of(const Chart& chart, bool logarithmic);
std::string svg_of(const std::string& title, const CharacterCounts& counts, bool logarithmic);

/// How many samples there are inside, and outside; where their median lies.
std::string summary_of(const Histogram& histogram);

/// Samples that share a bar: bins put together so that there are at most `most` bars.
std::vector<std::uint64_t> bars_of(const Histogram& histogram, std::size_t most);

}  // namespace samesum::cli
