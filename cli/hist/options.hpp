// The parts common to the files of `samesum hist`.
#pragma once

#include "hist/output.hpp"
#include "input/image_input.hpp"
#include "input/input.hpp"
#include "output/result.hpp"
#include "part/part.hpp"

#include <samesum/error.hpp>
#include <samesum/histogram.hpp>
#include <samesum/image.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::cli {

struct HistOptions {
  Input input;
  std::uint64_t bins = 0;
  std::vector<double> range;
  std::string edges;
  std::string bin;  ///< a formula of the sample's bin
  bool each_value = false, log_bins = false, log = false;
  bool by_channel = false, alpha = false;
  std::string tiles;
  std::string tile;  ///< the size of tiles, of an image or a matrix: "16x16"
  ImageSelection selection;
  std::uint32_t page = 0;  ///< of an image, counted from 1; 0: all
  std::uint64_t max_pixels = ImageFile::kMaxPixels;
  std::uint32_t letters = 0;
  bool characters = false;
  ResultOptions result;
  PartOptions part;
  std::string plot;
  std::string compare;        ///< another file
  std::string weights;        ///< a file with a weight for each number,
  std::string weight_column;  ///< or a column, of this file or of the input
  std::string device = "auto";
  Tuning tuning;

  bool weighted() const noexcept { return !weights.empty() || !weight_column.empty(); }
};

/// @throws Error (usage) where a drawing and printed results would both go to standard output.
void check_plot(const std::string& plot, const ResultOptions& result);
/// @throws Error (usage) where options for bins contradict each other; `prefix` begins their names: "--".
void check_bins(const HistOptions& options, const std::string& prefix);
/// The bins that the options specify. `find_range` finds the range of the data; `type` is their type, if they have one.
Bins make_bins(const HistOptions& options, std::optional<DType> type, const std::function<std::optional<Range>()>& find_range);

/// For --verbose.
std::string describe(const Report& report);

/// Draws or prints the charts as the options specify.
void print_charts(Output& out, const HistOptions& options, const std::vector<Chart>& charts, const Report& report, std::string_view format,
                  std::uint64_t missing = 0);

/// Draws the one chart into the file that the options name, if they do.
void draw_plot(Output& out, const HistOptions& options, const std::vector<Chart>& charts);

std::optional<Range> joined(std::optional<Range> a, std::optional<Range> b);

/// --tile: the height and the width. @throws Error (usage) for anything else.
std::vector<std::uint64_t> parse_tile(const std::string& text);
/// --tile and --tiles, of an image.
ImageTiles tiles_of(const HistOptions& options);
/// The histograms of a matrix as of an image: of its tiles, of a part of it.
int run_matrix(Output& out, const HistOptions& options);

/// work(), in whose errors an input that ends early has only a number: adds the inputs' names.
template <class Work>
auto with_names(const std::string& names, const Work& work) try {
  return work();
} catch (const Error& error) {
  if (std::string_view(error.what()).find("different lengths") == std::string_view::npos) throw;
  throw Error(error.kind(), names + ": " + error.what());
}

/// Sums of weights for the bins of each coordinate, made as `how` says: one or two of them.
int run_weighted(Output& out, const HistOptions& options, const std::vector<Input>& coordinates, const std::vector<HistOptions>& how);
/// Adds --weights and --weight-column.
void add_weights(CLI::App& command, HistOptions& options);

int run_compare(Output& out, const HistOptions& options);

/// `name`: the name to print for the image at `path`.
int run_hist_image(Output& out, const HistOptions& options, const std::string& path, const std::string& name);

}  // namespace samesum::cli
