// Drawings of histograms over two axes.
#pragma once

#include "output/output.hpp"

#include <samesum/histogram_nd.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace samesum::cli {

/// What a heat map says beside its cells.
struct HeatMapText {
  std::string title, x, y;  ///< names of the axes
};

/// In characters, at most `width` of them a line: the first axis to the right, the second one upwards; adjacent bins are merged as
/// necessary.
void draw_heat_map(Output& out, const HeatMapText& text, const HistogramNd& histogram, bool logarithmic, std::uint32_t width);
/// A drawing with axes and labels; every bin is equally wide.
std::string heat_map_svg(const HeatMapText& text, const HistogramNd& histogram, bool logarithmic);
/// A picture without labels: a square of pixels for each pair of bins.
std::vector<std::byte> heat_map_png(const HistogramNd& histogram, bool logarithmic);

/// "12,345 in 20 x 30 bins, 17 outside".
std::string summary_of(const HistogramNd& histogram);

}  // namespace samesum::cli
