// samesum hist X --weights W, samesum hist2d X Y --weights W
#include "command.hpp"
#include "compute/summing.hpp"
#include "hist/options.hpp"
#include "input/two_passes.hpp"

#include <samesum/error.hpp>
#include <samesum/weighted_histogram.hpp>

#include <fmt/ranges.h>

#include <cmath>
#include <ranges>
#include <utility>

namespace samesum::cli {
namespace {

// What a cell has, as the commands print it.
struct Cell {
  std::uint64_t count = 0;
  std::string sum, squares, mean, variance;
};

std::string text_of(double value, const ResultOptions& result) { return result.text(Number(value, DType::float64)); }

Cell cell_of(const Statistics& found, const ResultOptions& result) {
  const NanPolicy nan = result.nan_policy();
  const std::uint64_t used = found.count() - (nan == NanPolicy::skip ? found.nan_count() : 0);
  return {found.count(), result.text(result.round(found.sum())), text_of(found.squared_norm(nan), result),
          used == 0 ? "nan" : text_of(found.mean(nan), result), used == 0 ? "nan" : text_of(found.variance(0, nan), result)};
}

// The edges of a place of an axis, as in the other CSVs: under, the bins, over, NaN.
std::string edges_text(const Bins& bins, std::uint64_t place) {
  const auto edges = bins.edges();
  if (place == 0) return fmt::format("-inf,{}", edges.front());
  if (place == bins.count() + 1) return fmt::format("{},inf", edges.back());
  if (place == bins.count() + 2) return "nan,nan";
  return fmt::format("{},{}", edges[place - 1], edges[place]);
}

std::int64_t index_of(const Bins& bins, std::uint64_t place) {
  if (place == 0) return Bins::kUnder;
  if (place == bins.count() + 1) return Bins::kOver;
  return place == bins.count() + 2 ? Bins::kNan : static_cast<std::int64_t>(place) - 1;
}

// Calls body(places) for all cells in C order.
template <class Body>
void for_places(const std::vector<Bins>& axes, const Body& body) {
  std::vector<std::uint64_t> at(axes.size(), 0);
  for (;;) {
    body(at);
    std::size_t axis = axes.size();
    while (axis > 0 && ++at[axis - 1] == axes[axis - 1].count() + 3) at[--axis] = 0;
    if (axis == 0) return;
  }
}

void print_csv(Output& out, const WeightedHistogram& histogram, const ResultOptions& result) {
  const bool one = histogram.rank() == 1;
  out.print("{},count,sum,squares,mean,variance\n", one ? "low,high" : "x_low,x_high,y_low,y_high");
  for_places(histogram.axes(), [&](const std::vector<std::uint64_t>& at) {
    std::vector<std::int64_t> indices;
    std::string line;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      indices.push_back(index_of(histogram.axes()[axis], at[axis]));
      line += edges_text(histogram.axes()[axis], at[axis]) + ",";
    }
    const Cell cell = cell_of(histogram.statistics(indices), result);
    out.print("{}{},{},{},{},{}\n", line, cell.count, cell.sum, cell.squares, cell.mean, cell.variance);
  });
}

// A number, or null for NaN, or "inf": JSON has neither.
Json number(double value) {
  if (std::isnan(value)) return nullptr;
  return std::isinf(value) ? Json(value > 0 ? "inf" : "-inf") : Json(value);
}

Json numbers(const Values& values) {
  if (values.type() == DType::int64)
    return Json(std::vector<std::int64_t>(values.as<std::int64_t>().begin(), values.as<std::int64_t>().end()));
  if (values.type() == DType::uint64) {
    return Json(std::vector<std::uint64_t>(values.as<std::uint64_t>().begin(), values.as<std::uint64_t>().end()));
  }
  Json list = Json::array();
  for (const double value : values.as<double>()) list.push_back(number(value));
  return list;
}

void print_json(Output& out, const std::vector<std::string>& files, const std::string& weights, const WeightedHistogram& histogram,
                const HistOptions& options, const Report& report) {
  const NanPolicy nan = options.result.nan_policy();
  const HistogramNd counts = histogram.histogram();
  Json object = {{"files", files}, {"weights", weights}, {"shape", histogram.shape()}};
  for (std::size_t axis = 0; axis < histogram.rank(); ++axis) {
    const Bins& bins = histogram.axes()[axis];
    const HistogramNd::Outside outside = counts.outside(axis);
    object["axes"].push_back({{"kind", bins.kind()},
                              {"bins", bins.count()},
                              {"edges", bins.edges()},
                              {"under", outside.under},
                              {"over", outside.over},
                              {"nan", outside.nan}});
  }
  object["counts"] = counts.counts();
  object["sums"] = numbers(histogram.sums(nan));
  object["squares"] = numbers(histogram.squares(nan));
  object["means"] = numbers(histogram.means(nan));
  object["variances"] = numbers(histogram.variances(0, nan));
  object["nan_policy"] = options.result.nan;
  object["device"] = report.device;
  object["configuration"] = report.configuration;
  object["seconds"] = rounded_seconds(report.seconds);
  out.print("{}\n", to_text(object));
}

// A line for each bin, merged if there are more than kMaxLines.
void print_table(Output& out, WeightedHistogram histogram, const ResultOptions& result) {
  constexpr std::uint64_t kMaxLines = 40;
  const std::uint64_t bins = histogram.axes()[0].count();
  if (bins > kMaxLines) histogram = histogram.rebin(0, (bins + kMaxLines - 1) / kMaxLines);
  Table table(">>>>>");
  table.add({"bin", "count", "sum", "mean", "variance"});
  const auto edges = histogram.axes()[0].edges();
  for (std::uint64_t i = 0; i < histogram.axes()[0].count(); ++i) {
    const Cell cell = cell_of(histogram.statistics({static_cast<std::int64_t>(i)}), result);
    const bool whole = histogram.axes()[0].kind() == "each value";
    table.add({whole ? fmt::format("{:.16g}", edges[i] + 0.5) : fmt::format("{:.6g} .. {:.6g}", edges[i], edges[i + 1]),
               grouped(cell.count), cell.sum, cell.mean, cell.variance});
  }
  table.print(out);
  out.print("  {}\n", out.dim(summary_of(histogram.histogram().projection(0))));
}

}  // namespace

int run_weighted(Output& out, const HistOptions& options, const std::vector<Input>& coordinates, const std::vector<HistOptions>& how) {
  if (!options.plot.empty()) throw Error(ErrorKind::usage, "--plot draws counts: leave --weights out, or take --csv or --json");
  std::vector<TwoPasses> inputs;
  std::vector<Bins> axes;
  std::vector<Source*> sources;
  std::vector<std::string> files;
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    Input one = coordinates[i];
    one.in_order = true;
    one.any_order = false;
    files.push_back(one.files.front());
    TwoPasses& input = inputs.emplace_back(std::move(one));
    axes.push_back(make_bins(how[i], input.source().type(), [&] { return input.range(); }));
  }
  for (TwoPasses& input : inputs) sources.push_back(&input.source());
  Input weights = options.input;
  weights.files = {options.weights.empty() ? coordinates[0].files.front() : options.weights};
  if (options.weights.empty() && is_stream(weights.files.front())) {
    throw Error(
        ErrorKind::usage,
        "two columns of one file are read one after the other, and standard input and pipes can be read only once: save it to a file");
  }
  weights.columns = options.weight_column.empty() ? std::vector<std::string>() : std::vector<std::string>{options.weight_column};
  weights.map.clear();
  weights.tables = Tables::one_column;
  weights.in_order = true;
  weights.any_order = false;
  const std::unique_ptr<Source> of_weights = weights.sources().front().open();
  WeightedHistogram histogram(axes);
  Report report;
  std::uint64_t bytes = of_weights->resident_bytes();
  for (const Source* source : sources) bytes += source->resident_bytes();
  const Device device = choose_device(options.device, bytes);
  with_names(fmt::format("{} and {}", fmt::join(files | std::views::transform(shown_name), ", "), shown_name(weights.files.front())),
             [&] { histogram.add(sources, *of_weights, {.device = device, .report = &report, .tuning = options.tuning}); });
  if (options.result.json) {
    print_json(out, files, weights.files.front(), histogram, options, report);
  } else if (options.result.csv || histogram.rank() > 1) {
    print_csv(out, histogram, options.result);
  } else {
    print_table(out, std::move(histogram), options.result);
  }
  if (options.result.verbose) out.note(describe(report));
  return kExitOk;
}

void add_weights(CLI::App& command, HistOptions& options) {
  command.add_option("--weights", options.weights, "a weight for each number: exact sums, means, variances of each bin")->type_name("FILE");
  command.add_option("--weight-column", options.weight_column, "a column with the weights, of that file or of the table")
      ->type_name("N|NAME");
}

}  // namespace samesum::cli
