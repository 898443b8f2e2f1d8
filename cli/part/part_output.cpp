// The answers of parts that were merged, printed as the commands print theirs.
#include "command.hpp"
#include "compute/pair_values.hpp"
#include "compute/statistics.hpp"
#include "group/by.hpp"
#include "hist/options.hpp"
#include "input/parameters.hpp"
#include "part/part.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

namespace samesum::cli {
namespace {

ResultOptions joined(ResultOptions result, const Json& print) {
  const ResultOptions nothing;
  if (result.nan == nothing.nan) result.nan = print.value("nan", nothing.nan);
  const bool chosen = result.json || result.csv || result.plain;
  result.float32 |= print.value("float32", false);
  result.json |= !chosen && print.value("json", false);
  result.csv |= !chosen && print.value("csv", false);
  result.plain |= !chosen && print.value("plain", false);
  result.hex |= print.value("hex", false);
  result.verbose |= print.value("verbose", false);
  return result;
}

template <class Result>
const Result& as(const Partial& whole) {
  if (const auto* const result = std::get_if<Result>(&whole.result)) return *result;
  throw Error(ErrorKind::usage,
              fmt::format("these parts are of {}, and have a {}", whole.of->work.value("command", ""), kind_of(whole.result)));
}

int print_sum(Output& out, const Accumulator& sum, const std::vector<std::string>& files, const std::optional<DType>& type,
              const ResultOptions& result) {
  const std::vector<NamedSum> sums{{fmt::format("{}", fmt::join(files, ", ")), sum, type, {sum.count()}}};
  if (result.json) {
    Json object;
    add_accumulator(object, result, sum);
    object["files"] = files;
    out.print("{}\n", to_text(object));
  } else {
    print_sums(out, result, sums);
  }
  return kExitOk;
}

}  // namespace

int print_partial(Output& out, const Partial& whole, ResultOptions given, const OutputFile* array) try {
  const PartOf& of = *whole.of;
  const ResultOptions result = joined(std::move(given), of.print);
  result.check();
  const std::string command = of.work.at("command").get<std::string>();
  const bool is_array = command == "pairs", wanted = array != nullptr && array->wanted();
  if (wanted && !is_array) refuse(fmt::format("--out writes the array that pairs give, and these are parts of {}", command));
  if (is_array) {
    const auto& values = as<PairValues>(whole);
    if (wanted) {
      const Array view = array_of(values.values);
      array->write(out, {npy_header_of(values, values.x), {static_cast<const std::byte*>(view.data()), view.bytes()}});
      return kExitOk;
    }
    Json all = Json::array();
    print_pair_values(out, values, 0, result, all);
    if (result.json) {
      const Json& how = of.work.at("how");
      const auto text = [&](const char* name) { return how.at(name).get<std::string>(); };
      out.print("{}\n", to_text(Json{{"f", text("formula").empty() ? text("f") : text("formula")},
                                     {"reduction", text("combine").empty() ? text("reduce") : text("combine")},
                                     {"accuracy", text("accuracy")},
                                     {"x", values.x},
                                     {"values", std::move(all)}}));
    }
    return kExitOk;
  }
  if (command == "by") {
    const Json& by = of.work.at("how");
    ByOptions options;
    options.statistics = by.at("statistics").get<std::vector<std::string>>();
    options.ddof = by.at("ddof").get<std::uint64_t>();
    print_by(out, as<Grouped>(whole), by.at("sorted").get<bool>(), options, result);
    return kExitOk;
  }
  std::vector<std::string> files;
  std::optional<DType> type;
  for (const Json& file : of.work.at("files")) {
    files.push_back(file.at("file").get<std::string>());
    type = files.size() > 1 && type != parse_dtype(file.at("type").get<std::string>())
               ? std::nullopt
               : std::optional(parse_dtype(file.at("type").get<std::string>()));
  }
  const Json& how = of.work.at("how");
  if (command == "sum") return print_sum(out, as<Accumulator>(whole), files, type, result);
  if (command == "dot") {
    return print_dot(out, as<ProductAccumulator>(whole), how.at("integers").get<bool>(), how.at("signed").get<bool>(), result);
  }
  if (command == "stats") {
    StatisticsOptions options;
    options.result = result;
    options.wanted = of.print.at("wanted").get<std::vector<std::string>>();
    options.ddof = of.print.at("ddof").get<std::uint64_t>();
    return print_statistics(out, fmt::format("{}", fmt::join(files, ", ")), as<Statistics>(whole), options);
  }
  if (command == "hist") {
    HistOptions options;
    options.input.files = files;
    options.result = result;
    options.log = of.print.at("log").get<bool>();
    std::vector<Chart> charts(1);
    charts[0].title = fmt::format("{}", fmt::join(files, ", "));
    Histogram counts = as<Histogram>(whole);
    if (how.contains("formula")) {
      options.bin = how.at("formula").at(0).get<std::string>();
      const Bins bins = Bins::by_formula(Formula(options.bin, FormulaMath::fixed), counts.bins().count(),
                                         parse_parameters(how.at("formula").at(1).get<std::vector<std::string>>()));
      counts = Histogram(bins, {counts.counts().begin(), counts.counts().end()}, counts.under(), counts.over(), counts.nan_count());
    }
    charts[0].series.push_back({"", std::move(counts)});
    Report report;
    report.device = "merged";
    print_charts(out, options, charts, report, "parts");
    return kExitOk;
  }
  throw Error(ErrorKind::usage, fmt::format("parts of '{}', which this samesum does not know", command));
} catch (const Json::exception&) {
  throw Error(ErrorKind::usage, "damaged parts: their header does not say how to print them");
}

}  // namespace samesum::cli
