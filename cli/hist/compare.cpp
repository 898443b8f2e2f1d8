// samesum hist A --compare B
#include "command.hpp"
#include "compute/summing.hpp"
#include "hist/options.hpp"
#include "input/two_passes.hpp"

#include <samesum/error.hpp>
#include <samesum/histogram_distance.hpp>

#include <array>
#include <utility>

namespace samesum::cli {

int run_compare(Output& out, const HistOptions& options) {
  if (options.input.files.size() > 1 || !options.input.map.empty()) {
    throw Error(ErrorKind::usage, "--compare takes one file beside its own, and no formula (--map)");
  }
  const std::array<std::string, 2> files = {options.input.files.front(), options.compare};
  std::vector<TwoPasses> inputs;
  std::uint64_t bytes = 0;
  for (const std::string& file : files) {
    Input one = options.input;
    one.files = {file};
    one.any_order = true;
    inputs.emplace_back(std::move(one));
    bytes += inputs.back().source().resident_bytes();
  }
  const std::optional<DType> type =
      inputs[0].source().type() == inputs[1].source().type() ? inputs[0].source().type() : std::optional<DType>();
  const Bins bins = make_bins(options, type, [&]() -> std::optional<Range> {
    std::optional<Range> range;
    for (TwoPasses& input : inputs) range = joined(range, input.range());
    return range;
  });
  const Device device = choose_device(options.device, bytes);
  Report report, step;
  std::vector<Chart> charts(1);
  charts[0].title = fmt::format("{} and {}", shown_name(files[0]), shown_name(files[1]));
  for (std::size_t i = 0; i < 2; ++i) {
    Histogram counted = histogram(inputs[i].source(), bins, {.device = device, .report = &step, .tuning = options.tuning});
    charts[0].series.push_back({shown_name(files[i]), std::move(counted)});
    if (i == 0) {
      report = step;
    } else {
      report += step;
    }
  }
  const Histogram &a = charts[0].series[0].histogram, &b = charts[0].series[1].histogram;
  const std::array<std::pair<const char*, double>, 4> distances = {{{"intersection", intersection(a, b)},
                                                                    {"chi-squared", chi_squared(a, b)},
                                                                    {"earth mover's", earth_movers(a, b)},
                                                                    {"Jensen-Shannon", jensen_shannon(a, b)}}};
  if (options.result.csv) {
    out.print("intersection,chi_squared,earth_movers,jensen_shannon\n{},{},{},{}\n", distances[0].second, distances[1].second,
              distances[2].second, distances[3].second);
  } else if (options.result.json) {
    Json object = {{"files", files},
                   {"kind", bins.kind()},
                   {"edges", bins.edges()},
                   {"intersection", distances[0].second},
                   {"chi_squared", distances[1].second},
                   {"earth_movers", distances[2].second},
                   {"jensen_shannon", distances[3].second}};
    object["histograms"] = json_of(charts[0])["channels"];
    out.print("{}\n", to_text(object));
  }
  draw_plot(out, options, charts);
  if (!options.result.csv && !options.result.json && options.plot != "-") {
    Table table("<<");
    for (const auto& [name, distance] : distances) table.add({name, fmt::format("{}", distance)});
    table.print(out);
    const std::uint64_t outside = a.total() - a.inside() + b.total() - b.inside();
    if (outside != 0) out.note(fmt::format("{} outside of the bins are not compared", grouped(outside)));
  }
  if (options.result.verbose) out.note(describe(report));
  return kExitOk;
}

}  // namespace samesum::cli
