// samesum hist2d X Y
#include "command.hpp"
#include "compute/summing.hpp"
#include "hist/heat_map.hpp"
#include "hist/options.hpp"
#include "input/two_passes.hpp"
#include "output/output_file.hpp"
#include "output/progress.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>
#include <samesum/histogram_nd.hpp>

#include <array>
#include <memory>
#include <utility>

namespace samesum::cli {
namespace {

// The bins of one axis are those of `hist` with the same options.
struct Hist2dOptions {
  HistOptions common;
  std::array<HistOptions, 2> axes;
};

constexpr std::array<const char*, 2> kAxisNames = {"x", "y"};

// One of the two inputs: a file, or a column of the one file.
struct Coordinate {
  std::string name;
  Input input;
};

std::vector<Coordinate> coordinates_of(const Input& input) {
  std::vector<Coordinate> found;
  const std::vector<std::string> columns = input.named_columns();
  const auto add = [&](const std::string& file, std::vector<std::string> column, std::string name) {
    Input one = input;
    one.files = {file};
    one.columns = std::move(column);
    one.tables = Tables::one_column;
    one.in_order = true;
    found.push_back({std::move(name), std::move(one)});
  };
  if (input.files.size() == 1 && columns.size() == 2) {
    const std::string& file = input.files.front();
    if (is_stream(file))
      refuse("two columns of one file are read one after the other, and standard input and pipes can be read only once: save it to a file");
    for (const std::string& column : columns) add(file, {column}, column);
  } else if (input.files.size() == 2 && columns.size() != 2) {
    for (const std::string& file : input.files) add(file, columns, shown_name(file));
  } else if (input.files.size() == 2) {
    for (std::size_t i = 0; i < 2; ++i) add(input.files[i], {columns[i]}, shown_name(input.files[i]));
  } else {
    refuse("hist2d takes two files of as many numbers, x.npy y.npy, or two columns of a table: --column price,amount sales.csv");
  }
  return found;
}

enum class Format { none, svg, png };
Format format_of(const std::string& path) {
  if (path.empty()) return Format::none;
  if (path == "-" || path.ends_with(".svg") || path.ends_with(".SVG")) return Format::svg;
  if (path.ends_with(".png") || path.ends_with(".PNG")) return Format::png;
  refuse(fmt::format("--plot {}: drawings are SVG or PNG: give a name that ends in .svg or .png", path));
}

// A bin's edges, or what stands for the samples outside of all bins.
std::pair<std::string, std::string> bounds_of(const Bins& bins, std::uint64_t place) {
  const auto edges = bins.edges();
  if (place == 0) return {"-inf", fmt::format("{}", edges.front())};
  if (place == bins.count() + 1) return {fmt::format("{}", edges.back()), "inf"};
  if (place == bins.count() + 2) return {"nan", "nan"};
  return {fmt::format("{}", edges[place - 1]), fmt::format("{}", edges[place])};
}

void print_csv(Output& out, const HistogramNd& histogram) {
  const Bins &x = histogram.axes()[0], &y = histogram.axes()[1];
  out.print("x_low,x_high,y_low,y_high,count\n");
  std::uint64_t cell = 0;
  for (std::uint64_t i = 0; i < x.count() + 3; ++i) {
    const auto [x_low, x_high] = bounds_of(x, i);
    for (std::uint64_t k = 0; k < y.count() + 3; ++k) {
      const auto [y_low, y_high] = bounds_of(y, k);
      out.print("{},{},{},{},{}\n", x_low, x_high, y_low, y_high, histogram.cells()[cell++]);
    }
  }
}

void print_json(Output& out, const Hist2dOptions& options, const HistogramNd& histogram, const Report& report) {
  Json object;
  object["files"] = options.common.input.files;
  for (std::size_t i = 0; i < 2; ++i) {
    const Bins& bins = histogram.axes()[i];
    const HistogramNd::Outside outside = histogram.outside(i);
    object[kAxisNames[i]] = {{"kind", bins.kind()},    {"bins", bins.count()}, {"edges", bins.edges()},
                             {"under", outside.under}, {"over", outside.over}, {"nan", outside.nan}};
  }
  object["total"] = histogram.total();
  object["inside"] = histogram.inside();
  const std::vector<std::uint64_t> counts = histogram.counts();
  const auto row = static_cast<std::ptrdiff_t>(histogram.axes()[1].count());
  object["counts"] = Json::array();
  for (auto first = counts.begin(); first != counts.end(); first += row) {
    object["counts"].push_back(std::vector<std::uint64_t>(first, first + row));
  }
  object["device"] = report.device;
  object["configuration"] = report.configuration;
  object["seconds"] = rounded_seconds(report.seconds);
  out.print("{}\n", to_text(object));
}

int run(Output& out, Hist2dOptions options) {
  HistOptions& common = options.common;
  common.result.check();
  check_plot(common.plot, common.result);
  const Format format = format_of(common.plot);
  const OutputFile plot(common.plot, common.input.files);
  const std::vector<Coordinate> coordinates = coordinates_of(common.input);
  std::vector<TwoPasses> inputs;
  std::vector<Bins> axes;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    HistOptions& axis = options.axes[i];
    axis.input = common.input;
    if (axis.bins == 0) axis.bins = axis.each_value || !axis.edges.empty() ? 0 : common.bins;
    check_bins(axis, fmt::format("--{}-", kAxisNames[i]));
    if (common.weighted()) continue;
    TwoPasses& input = inputs.emplace_back(coordinates[i].input);
    axes.push_back(make_bins(axis, input.source().type(), [&] { return input.range(); }));
    bytes += input.source().resident_bytes();
  }
  if (common.weighted()) {
    return run_weighted(out, common, {coordinates[0].input, coordinates[1].input}, {options.axes[0], options.axes[1]});
  }
  Report report;
  const Device device = choose_device(common.device, bytes);
  const std::vector<Source*> sources = {&inputs[0].source(), &inputs[1].source()};
  const HeatMapText text{fmt::format("{} and {}", coordinates[0].name, coordinates[1].name), coordinates[0].name, coordinates[1].name};
  const HistogramNd histogram =
      with_names(text.title, [&] { return histogram_nd(sources, axes, {.device = device, .report = &report, .tuning = common.tuning}); });
  if (format == Format::svg) {
    const std::string drawing = heat_map_svg(text, histogram, common.log);
    plot.write(out, {bytes_of(drawing)});
  } else if (format == Format::png) {
    plot.write(out, {heat_map_png(histogram, common.log)});
  }
  if (common.result.json) {
    print_json(out, options, histogram, report);
  } else if (common.result.csv) {
    print_csv(out, histogram);
  } else if (format == Format::none || common.result.verbose) {
    draw_heat_map(out, text, histogram, common.log, terminal_width());
  }
  if (common.result.verbose) out.note(describe(report));
  return kExitOk;
}

}  // namespace

void add_hist2d(CLI::App& program, Action& action) {
  const auto options = std::make_shared<Hist2dOptions>();
  HistOptions& common = options->common;
  CLI::App* command = program.add_subcommand("hist2d", "A histogram over two axes: every count right");
  add_files(*command, common.input, "two files of as many numbers, X and Y; or one table, with --column X,Y");
  const CLI::Validator range = whole_number(1, Bins::kMax);
  command->add_option("--bins", common.bins, "bins of each axis (default 64)")->transform(range)->option_text("N");
  for (std::size_t i = 0; i < 2; ++i) {
    HistOptions& axis = options->axes[i];
    const std::string prefix = fmt::format("--{}-", kAxisNames[i]);
    const auto of = [&](const std::string& what) { return fmt::format("{}: {}", kAxisNames[i], what); };
    command->add_option(prefix + "bins", axis.bins, of("bins of one width"))->transform(range)->option_text("N");
    command->add_option(prefix + "range", axis.range, of("where bins begin and end"))->expected(2)->option_text("LOW HIGH");
    command->add_option(prefix + "edges", axis.edges, of("the bounds of all bins: 0,1,10 or @FILE"))->option_text("EDGES");
    command->add_option(prefix + "bin", axis.bin, of("the bin of a number x by a formula"))->type_name("FORMULA");
    command->add_flag(prefix + "log-bins", axis.log_bins, of("bins of one ratio"));
    command->add_flag(prefix + "each-value", axis.each_value, of("a bin for each whole number"));
  }
  common.input.tables = Tables::columns;
  add_options(*command, common.input);
  add_weights(*command, common);
  command->add_flag("--log", common.log, "draw logarithmic shades");
  command->add_option("--plot", common.plot, "draw into an SVG or PNG file; - is standard output")->type_name("OUT");
  add_options(*command, common.result, kJson | kCsv | kVerbose);
  refuse_option(*command, "--plain", "a count means little without its bins: --csv has both");
  const CLI::Validator number = whole_number(1, 1u << 16);
  command->add_option("--device", common.device, "cpu, opencl:0, cuda:0, auto (default) ...")->type_name("DEVICE");
  command->add_option("--threads", common.tuning.threads, "threads (CPU)")->transform(number)->option_text("N");
  command->footer(R"(Examples:
  samesum hist2d a.npy b.npy               # 64 x 64 bins over the data's ranges
  samesum hist2d a.npy b.npy --bins 20 --x-range 0 1 --y-edges 0,0.1,1
  samesum hist2d --column price,amount sales.csv --plot map.svg
  samesum hist2d a.npy n.npy --y-log-bins --log --plot map.png
  samesum hist2d a.npy n.npy --weights v.npy --bins 4 --csv # sums, means
  samesum hist2d --csv a.npy n.npy --y-bin 'x % 7' --y-bins 7

The first file is x, to the right, the second one y, upwards. Bins are those of
samesum hist, compared exactly; samples below, above and NaN are counted for each
axis (--csv and --json have all of them). A PNG has a square of pixels for each
pair of bins and no labels. No choice of device or threads changes a count.)");
  command->callback([options, &action] {
    options->common.input.threads = options->common.tuning.threads;
    action = [options](Output& out) { return run(out, *options); };
  });
}

}  // namespace samesum::cli
