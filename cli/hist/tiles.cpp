// samesum hist MATRIX --tile 16x16
#include "command.hpp"
#include "group/axes.hpp"
#include "hist/options.hpp"
#include "input/elements.hpp"

#include <samesum/error.hpp>
#include <samesum/tiles.hpp>

#include <algorithm>

namespace samesum::cli {

std::vector<std::uint64_t> parse_tile(const std::string& text) {
  std::vector<std::uint64_t> size = parse_extents(text, "--tile");
  if (size.size() != 2) throw Error(ErrorKind::usage, fmt::format("--tile takes a height and a width, as in 16x16, not '{}'", text));
  return size;
}

int run_tiles(Output& out, const HistOptions& options) {
  const std::vector<std::uint64_t> tile = parse_tile(options.tile);
  if (options.input.files.size() != 1 || !options.input.map.empty() || !options.input.nodata.empty()) {
    throw Error(ErrorKind::usage, "--tile takes one matrix as it is: leave out further files, --map and --nodata");
  }
  const std::string& file = options.input.files.front();
  const Elements elements(file, options.input.options());
  const std::vector<std::uint64_t> shape = elements.shape();
  if (shape.size() != 2) {
    throw Error(ErrorKind::usage, fmt::format("{}: --tile takes a matrix or an image, and this array has {}", shown_name(file),
                                              counted(shape.size(), "axis")));
  }
  const Array matrix = elements.view().reshaped(Shape(shape));
  const Bins bins = make_bins(options, matrix.type(), [&] { return range_of(matrix); });
  const Device device = choose_device(options.device, matrix.bytes());
  Report report;
  const TileHistograms found = tile_histograms(matrix, bins, Tile(tile), {.device = device, .report = &report, .tuning = options.tuning});
  elements.check_unchanged();
  std::vector<Chart> charts;
  for (std::uint64_t i = 0; i < found.size(); ++i) {
    const std::uint64_t y = i / found.shape()[1] * tile[0], x = i % found.shape()[1] * tile[1];
    Chart chart{shown_name(file), x, y, std::min(tile[1], shape[1] - x), std::min(tile[0], shape[0] - y), {}, 0};
    chart.series.push_back({"", found.histogram(i)});
    charts.push_back(std::move(chart));
  }
  if (charts.empty()) throw Error(ErrorKind::usage, fmt::format("{}: a matrix without elements has no tiles", shown_name(file)));
  print_charts(out, options, charts, report, elements.format());
  return kExitOk;
}

}  // namespace samesum::cli
