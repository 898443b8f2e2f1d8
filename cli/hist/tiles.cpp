// samesum hist MATRIX --tile 16x16, --tiles 4x3, --region 20x10+4+5, --mask mask.npy: a matrix is an image of one channel.
#include "command.hpp"
#include "group/axes.hpp"
#include "hist/options.hpp"
#include "input/elements.hpp"

#include <samesum/error.hpp>
#include <samesum/image.hpp>

#include <utility>
#include <vector>

namespace samesum::cli {

std::vector<std::uint64_t> parse_tile(const std::string& text) {
  std::vector<std::uint64_t> size = parse_extents(text, "--tile");
  if (size.size() != 2) throw Error(ErrorKind::usage, fmt::format("--tile takes a height and a width, as in 16x16, not '{}'", text));
  return size;
}

int run_matrix(Output& out, const HistOptions& options) {
  if (options.input.files.size() != 1 || !options.input.map.empty() || !options.input.nodata.empty()) {
    throw Error(ErrorKind::usage,
                "--tile, --tiles, --region and --mask take one matrix as it is: leave out further files, --map and --nodata");
  }
  const std::string& file = options.input.files.front();
  Input of_rows = options.input;
  of_rows.rows = true;
  const Elements elements(file, of_rows.options(), TextAs::float64, TextLines::rows);
  const Image whole = matrix_as_image(elements);
  if (whole.width == 0 || whole.height == 0) {
    throw Error(ErrorKind::usage, fmt::format("{}: a matrix without elements has no tiles", shown_name(file)));
  }
  const Image image = options.selection.of(whole, shown_name(file));
  const Bins bins = make_bins(options, image.type, [&] { return range_of(image.view()); });
  const Device device = choose_device(options.device, image.view().bytes());
  Report report;
  std::vector<ImagePart> parts = histogram(image, bins, tiles_of(options), {.device = device, .report = &report, .tuning = options.tuning});
  elements.check_unchanged();
  std::vector<Chart> charts;
  for (ImagePart& part : parts) {
    Chart chart{shown_name(file), part.x, part.y, part.width, part.height, {}, 0};
    chart.series.push_back({"", std::move(part.channels[0])});
    charts.push_back(std::move(chart));
  }
  print_charts(out, options, charts, report, elements.format());
  return kExitOk;
}

}  // namespace samesum::cli
