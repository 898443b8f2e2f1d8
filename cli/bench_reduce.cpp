// samesum bench reduce
#include "bench.hpp"
#include "number.hpp"
#include "output.hpp"
#include "usage.hpp"

#include <samesum/array_file.hpp>
#include <samesum/bench_reduce.hpp>
#include <samesum/error.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace samesum::cli {
namespace {

struct ReduceBench {
  std::string device = "auto";
  std::string data = "uniform";
  std::string dtype = "float32";
  std::string size;
  EffortOptions effort;
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

// Prints rows as they are measured.
class ReducePrinter {
 public:
  ReducePrinter(Output& out, std::string data) : out_(out), data_(std::move(data)) {}

  void print(const bench::ReduceBench& result) {
    if (printed_ == 0) {
      out_.print("{} {} ({}), {}\n", grouped(result.size), name_of(result.type), byte_size(result.size * size_of(result.type)), data_);
      out_.print("{}\n\n", out_.dim(fmt::format("device {}, {}", result.device.selector, result.device.name)));
      Table head = table();
      head.add({{"operation", Style::bold},
                {"where", Style::bold},
                {"time", Style::bold},
                {"GB/s", Style::bold},
                {"of ceiling", Style::bold},
                {"check", Style::bold},
                {"configuration", Style::bold}});
      head.print(out_);
    }
    Table rows = table();
    for (; printed_ < result.rows.size(); ++printed_) {
      const bench::ReduceBenchRow& row = result.rows[printed_];
      const bool timed = row.seconds.runs != 0;
      rows.add({{row.operation, Style::bold},
                row.where,
                timed ? duration(row.seconds.median) : "",
                timed ? fmt::format("{:.1f}", row.bytes_per_second / 1e9) : "",
                timed && row.ceiling_fraction.median > 0 ? fmt::format("{:.1f}%", 100 * row.ceiling_fraction.median) : "",
                verdict_cell(row),
                {row.configuration, Style::dim}});
    }
    rows.print(out_);
    show_now(out_);
  }

  void finish(const bench::ReduceBench& result) {
    out_.print("\n");
    for (const bench::ReadRate& ceiling : result.ceilings) {
      out_.print("{}\n", out_.dim(fmt::format("ceiling of {}: {:.1f} GB/s ({})", ceiling.where, ceiling.bytes_per_second / 1e9,
                                              ceiling.configuration)));
    }
  }

 private:
  static Table table() { return Table("<<>>><<", 0, {20, 14, 8, 6, 10, 5, 0}); }
  Output& out_;
  std::string data_;
  std::size_t printed_ = 0;
};

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
  options.options.effort = options.effort.effort(device);
  ReducePrinter printer(out, options.data);
  if (!options.json) options.options.measured = [&](const bench::ReduceBench& so_far) { printer.print(so_far); };
  const std::uint64_t size = parse_size(!options.size.empty() ? options.size : device.info().is_cpu ? "2^22" : "2^26", "--size");
  options.options.host = !options.device_only;
  bench::ReduceBench result;
  {
    const StatusLine progress;
    StatusLine::show("making the data");
    const bench::Data data(bench::parse_data_kind(options.data), parse_dtype(options.dtype), size);
    result = bench::measure_reductions(device, data.view(), options.options);
  }
  if (options.json) {
    out.print("{}\n", to_text(json_of(result, options.data)));
  } else {
    printer.finish(result);
    if (options.size.empty()) options.effort.tell(out, device, "--size 2^26");
  }
  const bool sound = std::ranges::none_of(result.rows, [](const bench::ReduceBenchRow& row) {
    return row.verdict == bench::Verdict::wrong || row.verdict == bench::Verdict::failed;
  });
  return sound ? kExitOk : kExitNoAnswer;
}

}  // namespace

void add_bench_reduce(CLI::App& parent, Action& action) {
  const auto options = std::make_shared<ReduceBench>();
  const CLI::Validator number = whole_number(1, 1u << 30);
  CLI::App* command = parent.add_subcommand("reduce", "Extremes, statistics, dot, product: checked, then timed");
  command->add_option("--data", options->data, "uniform (default), normal, lognormal, bits, zeros")->type_name("DATA");
  command->add_option("--dtype", options->dtype, "float32 (default) or any other type")->type_name("TYPE");
  command->add_option("--size", options->size, "elements: 1e6, 2^26 (default; on a CPU 2^22), 64M")->option_text("N");
  command->add_option("--device", options->device, "by default the fastest there is")->type_name("DEVICE");
  command->add_option("--operation", options->options.operations, "only this one; may be given again")->take_all()->option_text("NAME");
  command->add_option("--ladder", options->options.ladder, "max or product: the textbook's variants of it")->option_text("NAME");
  command->add_option("--group", options->options.group_size, "work-items of a group")->transform(number)->option_text("N");
  command->add_option("--groups", options->options.groups, "work-groups")->transform(number)->option_text("N");
  command->add_option("--threads", options->options.threads, "threads of the CPU")->transform(number)->option_text("N");
  add_options(*command, options->effort);
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
