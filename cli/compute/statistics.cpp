// samesum stats FILE..., samesum min|max|mean|... FILE...
#include "compute/statistics.hpp"

#include "command.hpp"
#include "compute/complex.hpp"
#include "compute/summing.hpp"
#include "group/by.hpp"
#include "input/nodata.hpp"
#include "output/printable.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>
#include <samesum/reduce.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

namespace samesum::cli {
namespace {

// --part, --checkpoint, --partial.
int run_in_parts(Output& out, const StatisticsOptions& options) {
  const auto is_image = [&](const std::string& file) { return options.input.is_image(file); };
  if (options.axes.wanted() || !options.nodata.empty() || std::ranges::any_of(options.input.files, is_image)) {
    throw Error(ErrorKind::usage, fmt::format("--part, --checkpoint and --partial are for the statistics of all elements: leave out {}",
                                              options.axes.wanted()    ? options.axes.option()
                                              : options.nodata.empty() ? "images"
                                                                       : "--nodata"));
  }
  const std::vector<const Statistic*> wanted = find_statistics(options.wanted);
  if (std::ranges::any_of(wanted, [](const Statistic* one) { return one->name == std::string_view("prod"); })) {
    throw Error(ErrorKind::usage, "a product is rounded at each node of one tree over all elements: it has no parts that merge");
  }
  require_one_input(options.input);
  const Fields fields = fields_of(wanted);
  PartWork work;
  work.command = "stats";
  work.how = {{"sum", fields.sum}, {"squares", fields.squares}, {"nonzeros", fields.nonzeros}};
  work.print = {{"wanted", options.wanted}, {"ddof", options.ddof}};
  work.by_index = true;
  work.reduce = [&](std::span<const std::unique_ptr<Source>> sources, const Device& device) -> PartialResult {
    return collect(*sources.front(), fields, {.device = device, .tuning = options.tuning});
  };
  return run_part(out, options.input, options.device, options.part, options.result, work);
}

int run(Output& out, StatisticsOptions options) {
  options.result.check();
  options.axes.check();
  options.part.check();
  options.input.check();
  if (options.input.keys.empty() && (options.part.wanted() || !options.result.partial.empty())) return run_in_parts(out, options);
  if (options.input.sorted && options.input.keys.empty()) throw Error(ErrorKind::usage, "--sorted goes with --by");
  if (!options.input.keys.empty()) {
    if (options.axes.wanted())
      throw Error(ErrorKind::usage, fmt::format("{} is for an array, --by for a table: leave out one of them", options.axes.option()));
    options.input.nodata = options.nodata;
    const bool whole = options.wanted.size() == 1 && (options.wanted[0] == "prod" || options.wanted[0].starts_with("arg"));
    if (whole) {
      if (options.part.wanted() || !options.result.partial.empty()) {
        throw Error(ErrorKind::usage, fmt::format("'{}' with --by takes all numbers at once: leave out --part, --checkpoint and --partial",
                                                  options.wanted[0]));
      }
      return run_reduction_by(out, options.input, options.device, options.wanted[0], options.result);
    }
    return run_by(out, options.input,
                  {.statistics = options.wanted, .ddof = options.ddof, .device = options.device, .tuning = options.tuning}, options.result,
                  options.part);
  }
  if (!options.input.map.empty() && !options.nodata.empty()) {
    throw Error(ErrorKind::usage,
                "--nodata leaves elements out, and a formula takes those at the same index: leave out one of --nodata and --map");
  }
  const std::vector<const Statistic*> known = find_statistics(options.wanted);  // names that there are
  if (options.axes.wanted()) {
    const bool several = options.wanted.size() != 1;
    if (options.ddof != 0 && !options.axes.tile.empty()) {
      throw Error(ErrorKind::usage, "variances of tiles are those of the population: leave out one of --ddof and --tile");
    }
    options.axes.division.ddof = options.ddof;
    options.input.nodata = options.nodata;
    const bool of_one = !several && options.wanted.front() != "count" && options.wanted.front() != "nan";
    if (!of_one) {
      if (options.wanted.empty()) options.wanted = {"count", "min", "max", "sum", "mean", "var"};
      return run_rows_along_axes(out, options.input, options.device, options.wanted, options.axes, options.result, options.tuning);
    }
    return run_along_axes(out, options.input, options.device, options.wanted.front(), options.axes, options.result, options.tuning);
  }
  std::vector<const Statistic*> wanted = known;
  bool product = false, by_index = false;
  for (const Statistic* statistic : wanted) {
    const std::string_view name = statistic->name;
    product |= name == "prod";
    by_index |= name == "prod" || name == "argmin" || name == "argmax";
  }
  options.fields = fields_of(wanted);
  options.input.in_order = true;
  options.input.any_order = !by_index;
  if (options.wanted == std::vector<std::string>{"mean"} || options.wanted == std::vector<std::string>{"norm"}) {
    const auto code =
        run_complex(out, options.wanted.front(), options.input, options.device, options.result, options.tuning, !options.nodata.empty());
    if (code) return *code;
  }
  const Device device = choose_device(options.device, options.input.resident_bytes());
  const auto start = std::chrono::steady_clock::now();
  std::vector<Found> all;
  for (const NamedSource& source : options.input.sources()) {
    std::vector<Found> found = collect_from(source, device, options, product);
    require_numbers(found);
    std::ranges::move(found, std::back_inserter(all));
  }
  const bool in_rows = std::ranges::any_of(all, [](const Found& found) { return found.column.has_value(); });
  if (in_rows && options.wanted.empty()) wanted.insert(wanted.begin() + 1, &find_statistic("missing"));
  if (options.result.json) {
    print_json(out, all, wanted, device, options);
    return kExitOk;
  }
  const int code = print_text(out, all, wanted, options);
  if (options.result.verbose) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (const Found& found : all) {
      if (found.column && found.column->words == 0) {
        out.note(fmt::format("{}, {}: {}, {} NaN, {} missing", shown_name(found.name), found.column->label,
                             counted(found.all.count(), "number"), grouped(found.all.nan_count()), grouped(found.missing)));
      }
    }
    out.note(fmt::format("{} in {}, {}", counted(options.input.files.size(), "file"), duration(seconds), device.info().selector));
  }
  return code;
}

CLI::App* add_command(CLI::App& program, Action& action, const char* name, const std::string& description,
                      const std::shared_ptr<StatisticsOptions>& options) {
  options->input.tables = options->wanted.empty() ? Tables::described_whole : Tables::columns;
  CLI::App* command = program.add_subcommand(name, description);
  add_files(*command, options->input, ".npy files, text, raw numbers; none, or -: standard input");
  const auto is_rounded = [](const Statistic& statistic) { return statistic.fields.sum || statistic.fields.squares; };
  const bool rounds = options->wanted.empty() || is_rounded(find_statistic(options->wanted.front()));
  const unsigned printed = kNan | kPlain | kJson | kCsv | kHex | kVerbose | kPartial;
  add_common_options(*command, *options, rounds ? printed | kFloat32 : printed);
  if (!rounds) refuse_option(*command, "--float32", "it tells of an element as it is, and nothing is rounded");
  add_nodata(*command, options->nodata);
  add_map(*command, options->input);
  add_images(*command, options->input);
  add_by(*command, options->input);
  command->callback([options, &action] {
    options->input.threads = options->tuning.threads;
    action = [options](Output& out) {
      options->input.complete();
      return run(out, *options);
    };
  });
  return command;
}

}  // namespace

void add_common_options(CLI::App& command, StatisticsOptions& options, unsigned printed) {
  add_options(command, options.input);
  if (options.input.tables != Tables::one_column) {
    add_total(command, options.input);
  }
  command.add_option("--device", options.device, "cpu, opencl:0, cuda:0, auto (default) ...")->type_name("DEVICE");
  command.add_option("--threads", options.tuning.threads, "threads (CPU)")->transform(whole_number(1, 1u << 16))->option_text("N");
  add_options(command, options.result, printed);
  add_part(command, options.part);
}

int print_statistics(Output& out, const std::string& name, const Statistics& all, const StatisticsOptions& options) {
  Found found;
  found.name = name;
  found.all = all;
  const Statistics::Contents& contents = all.contents();
  if (contents.min) found.least_at = contents.min->index;
  if (contents.max) found.greatest_at = contents.max->index;
  found.first_nan_at = contents.first_nan.value_or(0);
  const std::vector<const Statistic*> wanted = find_statistics(options.wanted);
  if (!options.result.json) return print_text(out, {found}, wanted, options);
  print_json(out, {found}, wanted, Device::open("cpu"), options);
  return kExitOk;
}

int run_sums_of_columns(Output& out, const Input& input, const std::string& device, const ResultOptions& result) {
  if (!result.partial.empty()) {
    throw Error(ErrorKind::usage, "--partial keeps one sum: name one column (--column), and sum each column with a file of its own");
  }
  StatisticsOptions options;
  options.input = input;
  options.nodata = std::exchange(options.input.nodata, {});  // applied to each column
  options.device = device;
  options.wanted = {"sum"};
  options.result = result;
  return run(out, std::move(options));
}

void add_statistics(CLI::App& program, Action& action) {
  const auto stats = std::make_shared<StatisticsOptions>();
  CLI::App* command = add_command(program, action, "stats", "Count, extremes, exact sum, mean, variance: in one pass", stats);
  command->add_option("--ddof", stats->ddof, "var, std: divide by n - N (default 0)")
      ->transform(whole_number(0, UINT64_MAX))
      ->option_text("N");
  command->add_option("--axis", stats->axes.axes, "a row for each position along the other axes of an array; -1 is the last")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("N");
  command->add_flag("--keepdims", stats->axes.keep, "--axis: the result keeps them, with extent 1");
  add_groups(*command, stats->axes);
  command->add_option("--only", stats->wanted, "these statistics: min,max,norm ...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAMES");
  std::string known;
  for (const Statistic& statistic : all_statistics()) known += fmt::format("  {:<8}  {}\n", statistic.name, statistic.description);
  command->footer(fmt::format(R"(Statistics:
{}
Examples:
  samesum stats x.npy                  # a table; in a pipe, a line for each
  samesum stats --only min,max,std x.npy
  samesum stats --ddof 1 --json x.npy
  samesum stats --nodata -9999 dem.npy # no-data values left out, indices kept
  samesum stats sales.csv              # a row for each column of numbers
  samesum stats --column price,5 t.csv # of two columns, in one pass
  samesum stats --column price --by city sales.csv # for each group of rows
  samesum stats --by city sales.csv    # the number of rows of each group
  samesum stats --total --csv *.csv    # all files as one; for a spreadsheet
  samesum stats --part 1/2 --partial 1.part x.npy # half of it; see 'merge'
  samesum mean x.npy                   # one number
  samesum stats --only count --offsets o.npy x.npy # of each segment
  samesum stats --axis 0 --csv x.npy   # a row for each column of a matrix

Mean, variance, deviation and norm are the exact values, rounded once: the same
bits from every device. Integers in text are exact; indices count missing
numbers, so that in a table they are its rows, from 0 on, without the header.
A text is a table if its name ends in .csv, .tsv or .tab, if its first line has
names with tabs, semicolons or commas between them, and with --all-columns,
--header or --no-header. Otherwise it is numbers, one after the other. A column
with a field that is no number is left out. Indices of an array are those of C
order, also if the file is in Fortran order.)",
                              known));
  for (const char* name : {"min", "max", "argmin", "argmax", "mean", "var", "std", "norm"}) {
    const Statistic& statistic = find_statistic(name);
    const bool is_index = std::string_view(name).starts_with("arg");
    const auto options = std::make_shared<StatisticsOptions>();
    options->wanted = {name};
    std::string description = statistic.description;
    description[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(description[0])));
    CLI::App* one = add_command(program, action, name, description, options);
    add_axes(*one, options->axes);
    add_tile(*one, options->axes);
    one->footer(fmt::format(R"(Examples:
  samesum {0} x.npy
  samesum {0} --nan skip --nodata -9999 x.npy
  samesum {0} --axis 0 x.npy           # of each column of a matrix{1}

'samesum stats --help' tells what is promised; 'stats' works out several at once.)",
                            name, is_index ? "" : fmt::format("\n  samesum {} --offsets o.npy x.npy   # of each segment", name)));
    if (statistic.fields.sum && statistic.fields.squares)
      one->add_option("--ddof", options->ddof, "divide by n - N (default 0)")->transform(whole_number(0, UINT64_MAX))->option_text("N");
  }
}

}  // namespace samesum::cli
