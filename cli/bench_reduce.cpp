// samesum bench reduce
#include "bench.hpp"
#include "number.hpp"
#include "output.hpp"

#include <samesum/array_file.hpp>
#include <samesum/bench_reduce.hpp>
#include <samesum/error.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace samesum::cli {
namespace {

struct ReduceBench {
  std::string device = "auto";
  std::string data = "uniform";
  std::string dtype = "float32";
  std::string size = "2^26";
  bool device_only = false;
  bench::ReduceBenchOptions options;
  bool json = false;
};

Table::Cell verdict_cell(const bench::ReduceBenchRow& row) {
  const std::string text(bench::name_of(row.verdict));
  const bool bad = row.verdict == bench::Verdict::wrong || row.verdict == bench::Verdict::failed;
  return {row.reason.empty() ? text : text + ": " + row.reason, row.verdict == bench::Verdict::right ? Style::good
                                                                : bad                                ? Style::bad
                                                                                                     : Style::dim};
}

void print(Output& out, const bench::ReduceBench& result, const std::string& data) {
  out.print("{} {} ({}), {}\n", grouped(result.size), name_of(result.type), byte_size(result.size * size_of(result.type)), data);
  out.print("{}\n", out.dim(fmt::format("device {}, {}", result.device.selector, result.device.name)));
  for (const bench::ReadRate& ceiling : result.ceilings) {
    out.print("{}\n", out.dim(fmt::format("ceiling of {}: {:.1f} GB/s ({})", ceiling.where, ceiling.bytes_per_second / 1e9,
                                          ceiling.configuration)));
  }
  out.print("\n");
  Table table("<<>>><<");
  table.add({{"operation", Style::bold},
             {"where", Style::bold},
             {"time", Style::bold},
             {"GB/s", Style::bold},
             {"of ceiling", Style::bold},
             {"check", Style::bold},
             {"configuration", Style::bold}});
  for (const bench::ReduceBenchRow& row : result.rows) {
    const bool timed = row.seconds.runs != 0;
    table.add({{row.operation, Style::bold},
               row.where,
               timed ? duration(row.seconds.median) : "",
               timed ? fmt::format("{:.1f}", row.bytes_per_second / 1e9) : "",
               timed && row.ceiling_fraction.median > 0 ? fmt::format("{:.1f}%", 100 * row.ceiling_fraction.median) : "",
               verdict_cell(row),
               {row.configuration, Style::dim}});
  }
  table.print(out);
}

Json json_of(const bench::Statistics& figure) {
  return {{"median", figure.median}, {"low", figure.low}, {"high", figure.high}, {"runs", figure.runs}};
}

Json json_of(const bench::ReduceBench& result, const std::string& data) {
  Json object;
  object["device"] = {{"selector", result.device.selector}, {"name", result.device.name}, {"driver", result.device.driver}};
  object["data"] = data;
  object["dtype"] = name_of(result.type);
  object["size"] = result.size;
  object["ceilings"] = Json::array();
  for (const bench::ReadRate& ceiling : result.ceilings) {
    object["ceilings"].push_back(
        {{"where", ceiling.where}, {"bytes_per_second", ceiling.bytes_per_second}, {"seconds", json_of(ceiling.seconds)}});
  }
  object["operations"] = Json::array();
  for (const bench::ReduceBenchRow& row : result.rows) {
    Json entry;
    entry["operation"] = row.operation;
    entry["where"] = row.where;
    entry["verdict"] = bench::name_of(row.verdict);
    entry["reason"] = row.reason;
    entry["configuration"] = row.configuration;
    if (row.seconds.runs != 0) {
      entry["seconds"] = json_of(row.seconds);
      entry["bytes_per_second"] = row.bytes_per_second;
      entry["ceiling_fraction"] = json_of(row.ceiling_fraction);
    }
    object["operations"].push_back(entry);
  }
  return object;
}

int run(Output& out, ReduceBench options) {
  const Device device = choose_for_bench(options.device);
  options.options.effort.progress = StatusLine::show;
  options.options.host = !options.device_only;
  bench::ReduceBench result;
  {
    const StatusLine progress;
    StatusLine::show("making the data");
    const bench::Data data(bench::parse_data_kind(options.data), parse_dtype(options.dtype), parse_size(options.size, "--size"));
    result = bench::measure_reductions(device, data.view(), options.options);
  }
  if (options.json) {
    out.print("{}\n", to_text(json_of(result, options.data)));
  } else {
    print(out, result, options.data);
  }
  const bool sound = std::ranges::none_of(result.rows, [](const bench::ReduceBenchRow& row) {
    return row.verdict == bench::Verdict::wrong || row.verdict == bench::Verdict::failed;
  });
  return sound ? kExitOk : kExitNoAnswer;
}

}  // namespace

void add_bench_reduce(CLI::App& parent, Action& action) {
  const auto options = std::make_shared<ReduceBench>();
  const CLI::Range number(1u, 1u << 30, "number");
  CLI::App* command = parent.add_subcommand("reduce", "Extremes, statistics, dot, product: checked, then timed");
  command->add_option("--data", options->data, "uniform (default), normal, lognormal, bits, zeros")->type_name("DATA");
  command->add_option("--dtype", options->dtype, "float32 (default) or any other type")->type_name("TYPE");
  command->add_option("--size", options->size, "elements: 1000000, 2^26 (default), 64M")->option_text("N");
  command->add_option("--device", options->device, "by default the fastest there is")->type_name("DEVICE");
  command->add_option("--operation", options->options.operations, "only this one; may be given again")->take_all()->option_text("NAME");
  command->add_option("--ladder", options->options.ladder, "max or product: the textbook's variants of it")->option_text("NAME");
  command->add_option("--group", options->options.group_size, "work-items of a group")->check(number)->option_text("N");
  command->add_option("--groups", options->options.groups, "work-groups")->check(number)->option_text("N");
  command->add_option("--threads", options->options.threads, "threads of the CPU")->check(number)->option_text("N");
  command->add_option("--runs", options->options.effort.runs, "measurements of each, at most (default 31)")
      ->check(number)
      ->option_text("N");
  command->add_flag("--device-only", options->device_only, "leave the CPU's rows out");
  command->add_flag("--json", options->json, "print JSON");
  command->footer(fmt::format(R"(Examples:
  samesum bench reduce                             # all operations
  samesum bench reduce --operation stats --data bits
  samesum bench reduce --ladder max                # from the textbook's kernels up

Operations: {}.

'of ceiling' is the fraction of the rate at which the same device reads the same
data, measured in the same run. Exit code 1 should a result be wrong.)",
                              fmt::join(bench::reduce_operations(), ", ")));
  command->callback([options, &action] { action = [options](Output& out) { return run(out, *options); }; });
}

}  // namespace samesum::cli
