// samesum bench reduce
#include "bench/bench.hpp"
#include "bench/output.hpp"
#include "input/elements.hpp"
#include "input/parameters.hpp"
#include "kernel/kernel_process.hpp"
#include "kernel/user_kernel.hpp"
#include "output/number.hpp"
#include "output/output.hpp"
#include "usage.hpp"

#include <samesum/array_file.hpp>
#include <samesum/bench_reduce.hpp>
#include <samesum/error.hpp>

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <utility>

namespace samesum::cli {
namespace {

struct ReduceBench {
  std::string device = "auto";
  std::string data = "uniform";
  std::string dtype;
  std::string size, identity, tile;
  std::uint64_t seed = 1;
  UserKernelOptions kernel;
  ExpectedOptions expected;
  EffortOptions effort;
  bool device_only = false;
  bench::ReduceBenchOptions options;
  bool json = false;
};

Table::Cell verdict_cell(const bench::ReduceBenchRow& row) {
  const bool faulty = row.operation.ends_with(kMissingBarrier);
  const std::string text = verdict_name(row.verdict, faulty);
  return {row.reason.empty() ? text : text + ": " + row.reason, verdict_style(row.verdict, faulty)};
}

// Prints rows as they are measured.
class ReducePrinter {
 public:
  // Rungs of a ladder have its name before theirs.
  ReducePrinter(Output& out, std::string data, const std::string& ladder)
      : out_(out), data_(std::move(data)), name_width_(ladder.empty() ? 12 : ladder.size() + sizeof " grid_stride_two_pass" - 1) {}

  void print(const bench::ReduceBench& result) {
    if (printed_ == 0) {
      out_.print("{} {} ({}), {}\n", grouped(result.size), name_of(result.type), byte_size(result.size * size_of(result.type)), data_);
      out_.print("{}\n\n", out_.dim(fmt::format("device {}, {}", result.device.selector, result.device.name)));
      Table head = table();
      head.add_head({"operation", "where", "time", "GB/s", "of ceiling", "check", "configuration"});
      head.print(out_);
    }
    for (; printed_ < result.rows.size(); ++printed_) {
      Table rows = table();
      const bench::ReduceBenchRow& row = result.rows[printed_];
      const bool timed = row.seconds.runs != 0;
      rows.add({{row.operation, Style::bold},
                row.where,
                timed ? duration(row.seconds.median) : "",
                timed ? fmt::format("{:.1f}", row.bytes_per_second / 1e9) : "",
                timed ? fraction_text(out_, row.ceiling_fraction.median) : "",
                verdict_cell(row),
                {row.configuration, Style::dim}});
      rows.print(out_);
      print_rounds(out_, row.rounds);
    }
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
  Table table() const { return Table("<<>>><<", 0, {name_width_, 14, 8, 6, fraction_width(out_), 15, 0}); }
  Output& out_;
  std::string data_;
  std::size_t name_width_;
  std::size_t printed_ = 0;
};

Json json_of_reduction(const bench::ReduceBench& result, const std::string& data) {
  Json object;
  object["device"] = {{"selector", result.device.selector}, {"name", result.device.name}, {"driver", result.device.driver}};
  object["data"] = data;
  object["dtype"] = name_of(result.type);
  object["size"] = result.size;
  object["ceilings"] = Json::array();
  for (const bench::ReadRate& ceiling : result.ceilings) {
    object["ceilings"].push_back(
        {{"where", ceiling.where}, {"bytes_per_second", ceiling.bytes_per_second}, {"seconds", figure_json(ceiling.seconds)}});
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
      entry["seconds"] = figure_json(row.seconds);
      entry["bytes_per_second"] = row.bytes_per_second;
      entry["ceiling_fraction"] = figure_json(row.ceiling_fraction);
    }
    for (const bench::Round& round : row.rounds) {
      entry["rounds"].push_back({{"rows", round.rows},
                                 {"columns", round.columns},
                                 {"result_rows", round.result_rows},
                                 {"result_columns", round.result_columns},
                                 {"seconds", figure_json(round.seconds)}});
    }
    object["operations"].push_back(entry);
  }
  return object;
}

// --ladder and --identity: a name that there is, or else a formula.
void set_ladder(bench::ReduceBenchOptions& to, const std::string& identity) {
  constexpr std::string_view kNames[] = {"sum", "product", "min", "max"};
  if (to.ladder.empty() || std::ranges::find(kNames, to.ladder) != std::end(kNames)) {
    if (!identity.empty()) throw Error(ErrorKind::usage, "--identity is that of an operator: --ladder 'gcd(a, b)' --identity 0");
    return;
  }
  if (std::ranges::all_of(to.ladder, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; })) {
    throw Error(ErrorKind::usage,
                fmt::format("'{}' has no ladder: there are sum, product, min, max, and operators such as 'gcd(a, b)' with "
                            "an --identity",
                            to.ladder));
  }
  if (identity.empty())
    throw Error(ErrorKind::usage, "an operator's ladder needs its --identity: work-items without elements begin with it");
  to.formula.emplace(Formula(to.ladder), std::vector{identity_value(identity)});
}

bench::ReduceBench measure(const Device& device, const ReduceBench& options) {
  const auto kinds = {"uniform", "normal", "lognormal", "bits", "zeros"};
  const bool made = std::ranges::find(kinds, options.data) != kinds.end();
  if (made || options.data.find_first_of("./") == std::string::npos) {
    const std::uint64_t size = parse_size(!options.size.empty() ? options.size : device.info().is_cpu ? "2^22" : "2^26", "--size");
    const DType type = parse_dtype(options.dtype.empty() ? "float32" : options.dtype);
    const bench::Data data = made_data(bench::parse_data_kind(options.data), type, size, options.seed);
    return bench::measure_reductions(device, data.view(), options.options);
  }
  const Elements file = file_to_measure(options.data, options.dtype, options.size, options.seed);
  const Array all = file.view();
  const bench::ReduceBench result = bench::measure_reductions(device, all.rank() == 1 ? all : all.reshaped({all.size()}), options.options);
  file.check_unchanged();
  return result;
}

int run(Output& out, ReduceBench options) {
  set_ladder(options.options, options.identity);
  check_taken(!options.tile.empty(), "--tile", options.options.variants, {"tile_passes"});
  if (!options.tile.empty()) {
    const TileShape tile = parse_tile(options.tile, "--tile");
    options.options.tile_rows = tile.rows;
    options.options.tile_columns = tile.columns;
  }
  options.options.expected = options.expected.expected(options.kernel);
  if (!options.kernel.path.empty()) {
    if (options.options.ladder.empty())
      throw Error(ErrorKind::usage, "--kernel is a rung of a ladder: --ladder names it, as in --ladder max");
    UserKernel kernel = load_user_kernel(options.kernel.path);
    if (const auto code = run_in_child(options.kernel)) return *code;
    options.options.kernel_name = std::move(kernel.name);
    options.options.kernel_source = std::move(kernel.source);
  }
  const Device device = choose_for_bench(options.device);
  options.options.effort = options.effort.effort(device);
  const KernelWatch watch(options.options.kernel_name);
  options.options.effort.progress = [&](std::string_view what) {
    watch.tell(what);
    StatusLine::show(what);
  };
  ReducePrinter printer(out, options.data, options.options.ladder);
  if (!options.json) options.options.measured = [&](const bench::ReduceBench& so_far) { printer.print(so_far); };
  options.options.host = !options.device_only;
  bench::ReduceBench result;
  {
    const StatusLine progress;
    result = measure(device, options);
  }
  if (options.json) {
    out.print("{}\n", to_text(json_of_reduction(result, options.data)));
  } else {
    printer.finish(result);
    if (options.size.empty()) options.effort.tell(out, device, "--size 2^26");
  }
  require_measured(result.rows);
  const bool sound = std::ranges::none_of(result.rows, [](const bench::ReduceBenchRow& row) {
    if (row.operation.ends_with(kMissingBarrier) && row.verdict == bench::Verdict::wrong) return false;  // as expected
    return row.verdict == bench::Verdict::wrong || row.verdict == bench::Verdict::failed;
  });
  return sound ? kExitOk : kExitNoAnswer;
}

}  // namespace

void add_bench_reduce(CLI::App& parent, Action& action) {
  const auto options = std::make_shared<ReduceBench>();
  const CLI::Validator number = whole_number(1, 1u << 30);
  CLI::App* command = parent.add_subcommand("reduce", "Extremes, statistics, dot, product: checked, then timed");
  command->add_option("--data", options->data, "uniform (default), normal, lognormal, bits, zeros, a file")->type_name("DATA");
  command->add_option("--dtype", options->dtype, "float32 (default) or any other type")->type_name("TYPE");
  command->add_option("--size", options->size, "elements: 1e6, 2^26 (default; on a CPU 2^22), 64M")->option_text("N");
  command->add_option("--device", options->device, "by default the fastest there is")->type_name("DEVICE");
  command->add_option("--operation", options->options.operations, "only this one; may be given again")->take_all()->option_text("NAME");
  command->add_option("--ladder", options->options.ladder, "the textbook's variants of sum, product, min, max, or of 'gcd(a, b)' ...")
      ->option_text("OPERATION");
  command->add_option("--identity", options->identity, "of such an operator: a number")->option_text("NUMBER");
  command->add_option("--variant", options->options.variants, "only this one of the ladder; may be given again")
      ->take_all()
      ->option_text("NAME");
  add_options(*command, options->kernel);
  options->expected.add_to(*command);
  command->add_option("--tile", options->tile, "tiles of tile_passes: 8 (default), or 4x16, rows and columns")->option_text("SHAPE");
  command->add_option("--seed", options->seed, "of made-up data (default 1)")
      ->transform(whole_number(0, std::uint64_t{1} << 62))
      ->option_text("N");
  command->add_option("--group", options->options.group_size, "work-items of a group")->transform(number)->option_text("N");
  command->add_option("--registers", options->options.registers, "of a work-item, at most")->transform(number)->option_text("N");
  command->add_option("--groups", options->options.groups, "work-groups")->transform(number)->option_text("N");
  command->add_option("--threads", options->options.threads, "threads of the CPU")->transform(number)->option_text("N");
  add_options(*command, options->effort);
  command->add_flag("--device-only", options->device_only, "leave the CPU's rows out");
  command->add_flag("--json", options->json, "print JSON");
  command->footer(fmt::format(R"(Examples:
  samesum bench reduce                             # all operations
  samesum bench reduce --operation stats --data bits
  samesum bench reduce --ladder max                # from the textbook's kernels up
  samesum bench reduce --ladder min --dtype int32
  samesum bench reduce --ladder 'gcd(a, b)' --identity 0 --dtype int32
  samesum bench reduce --ladder max --kernel my.cl # your own, beside the others

Operations: {}.

A ladder's variants compute in the elements' own type; integers wrap. Operators are
formulas of a and b, as in 'samesum reduce --combine'; here they have to commute. A
kernel of your own is named 'reduce', with the parameters
(GLOBAL const REAL* in, ulong n, GLOBAL REAL* out), and leaves each group's result
in out[group_id()]; it has combine(a, b) and IDENTITY. What 'samesum bench sum
--help' says of such kernels, and of missing_barrier, holds here.

'of ceiling' is the fraction of the rate at which the same device reads the same
data, measured in the same run. Exit code 1 if a result is wrong.)",
                              fmt::join(bench::reduce_operations(), ", ")));
  command->callback([options, &action] { action = [options](Output& out) { return run(out, *options); }; });
}

}  // namespace samesum::cli
