// samesum bench pairs
#include "bench/bench.hpp"
#include "input/elements.hpp"
#include "input/parameters.hpp"
#include "kernel/kernel_process.hpp"
#include "kernel/user_kernel.hpp"
#include "output/number.hpp"
#include "output/output.hpp"
#include "usage.hpp"

#include <samesum/bench_pairs.hpp>
#include <samesum/error.hpp>

#include <algorithm>
#include <memory>

namespace samesum::cli {
namespace {

struct PairsBench {
  std::string device = "auto", dtype;
  std::string f = "product", reduction = "sum", formula;
  std::vector<std::string> parameters;
  std::string x_count, y_count, group;
  std::vector<std::string> data;
  UserKernelOptions kernel;
  ExpectedOptions expected;
  bench::PairsLadderOptions ladder;
  EffortOptions effort;
  bool json = false;
};

std::string rate(double per_second) {
  return per_second >= 1e12 ? fmt::format("{:.2f} T", per_second / 1e12)
                            : fmt::format("{:.{}f} G", per_second / 1e9, per_second < 1e11 ? 2 : 0);
}

std::string f_of(const bench::PairsLadder& ladder) {
  return ladder.pairs.formula ? ladder.pairs.formula->to_string() : std::string(name_of(ladder.pairs.f));
}

std::string verdict(const bench::PairsRow& row) {
  std::string text(bench::name_of(row.verdict));
  if (row.verdict == bench::Verdict::right)
    text = row.bound > 0 ? fmt::format("within bound: {:.1e} <= {:.1e}", row.error, row.bound) : "right bits";
  return row.reason.empty() ? text : text + ": " + row.reason;
}

// Prints the rungs of a ladder as they are measured.
class PairsPrinter {
 public:
  PairsPrinter(Output& out, const std::vector<std::string>& rungs)
      : out_(out), widths_{std::max<std::size_t>(widest(rungs), 7), 14, 8, 8, 8, fraction_width(out), 7, 11, 36, 0} {}

  void print(const bench::PairsLadder& ladder) {
    if (printed_ == 0) {
      out_.print("{} of {} over {} x {} pairs of {}, {} component{}; {} operations a pair\n", name_of(ladder.pairs.reduction), f_of(ladder),
                 ladder.x_count, ladder.y_count, name_of(ladder.type), ladder.pairs.components, ladder.pairs.components == 1 ? "" : "s",
                 ladder.operations_of_pair);
      out_.print("{}\n", out_.dim(fmt::format("device {}, {}", ladder.device.selector, ladder.device.name)));
      for (const bench::ArithmeticRate& ceiling : ladder.ceilings) {
        out_.print("{}\n", out_.dim(fmt::format("multiply-adds of {}: {}FLOP/s", ceiling.where, rate(ceiling.operations_per_second))));
      }
      if (const auto& product = ladder.matrix_product) {
        out_.print("{}\n", out_.dim(fmt::format("matrix product of {}, {}: {}FLOP/s", product->where, product->configuration,
                                                rate(product->operations_per_second))));
      } else if (!ladder.no_matrix_product.empty()) {
        out_.print("{}\n", out_.dim("no matrix product of the vendor's beside: " + ladder.no_matrix_product));
      }
      out_.print("\n");
      Table head(kAlignment, 0, widths_);
      head.add_head({"variant", "where", "time", "pairs/s", "FLOP/s", "of ceiling", "speedup", "of vendor's", "check", "configuration"});
      head.print(out_);
    }
    Table table(kAlignment, 0, widths_);
    for (; printed_ < ladder.rungs.size(); ++printed_) {
      const bench::PairsRow& row = ladder.rungs[printed_];
      const bool timed = row.seconds.runs != 0;
      table.add({{row.name, row.name == "register_blocks" ? Style::bold : Style::plain},
                 row.where,
                 timed ? duration(row.seconds.median) : "",
                 timed ? rate(row.pairs_per_second) : "",
                 timed ? rate(row.operations_per_second) : "",
                 fraction_text(out_, row.ceiling_fraction),
                 row.speedup > 0 ? fmt::format("{:.1f}", row.speedup) : "",
                 row.vendor_ratio > 0 ? fmt::format("{:.2f}", row.vendor_ratio) : "",
                 {verdict(row), verdict_style(row.verdict, false)},
                 {row.configuration, Style::dim}});
    }
    table.print(out_);
    show_now(out_);
  }

 private:
  static constexpr const char* kAlignment = "<<>>>>>><<";
  Output& out_;
  std::vector<std::size_t> widths_;
  std::size_t printed_ = 0;
};

Json json_of_pairs(const bench::PairsLadder& ladder) {
  Json object;
  object["device"] = {{"selector", ladder.device.selector}, {"name", ladder.device.name}, {"driver", ladder.device.driver}};
  object["f"] = f_of(ladder);
  object["reduction"] = name_of(ladder.pairs.reduction);
  object["dtype"] = name_of(ladder.type);
  object["x"] = ladder.x_count;
  object["y"] = ladder.y_count;
  object["components"] = ladder.pairs.components;
  object["operations_of_pair"] = ladder.operations_of_pair;
  object["ceilings"] = Json::array();
  for (const bench::ArithmeticRate& ceiling : ladder.ceilings) {
    object["ceilings"].push_back({{"where", ceiling.where}, {"operations_per_second", ceiling.operations_per_second}});
  }
  if (const auto& product = ladder.matrix_product) {
    object["matrix_product"] = {{"what", product->configuration}, {"operations_per_second", product->operations_per_second}};
  }
  object["variants"] = Json::array();
  for (const bench::PairsRow& row : ladder.rungs) {
    Json entry = {{"name", row.name},
                  {"where", row.where},
                  {"verdict", bench::name_of(row.verdict)},
                  {"reason", row.reason},
                  {"configuration", row.configuration}};
    if (row.seconds.runs != 0) {
      entry["error"] = row.error;
      entry["bound"] = row.bound;
      entry["seconds"] = {{"median", row.seconds.median}, {"low", row.seconds.low}, {"high", row.seconds.high}, {"runs", row.seconds.runs}};
      entry["pairs_per_second"] = row.pairs_per_second;
      entry["operations_per_second"] = row.operations_per_second;
      entry["ceiling_fraction"] = row.ceiling_fraction;
      entry["speedup"] = row.speedup;
      if (row.vendor_ratio > 0) entry["vendor_ratio"] = row.vendor_ratio;
    }
    object["variants"].push_back(std::move(entry));
  }
  return object;
}

int run(Output& out, PairsBench options) {
  bench::PairsLadderOptions& ladder_options = options.ladder;
  ladder_options.type = parse_dtype(options.dtype.empty() ? "float32" : options.dtype);
  std::vector<Elements> files;
  if (!options.data.empty()) {
    if (!options.x_count.empty() || !options.y_count.empty()) {
      throw Error(ErrorKind::usage, "--size and --y are for made-up data; files have their own size");
    }
    if (options.data.size() > 2) throw Error(ErrorKind::usage, "--data takes a file for x, and once more one for y");
    for (const std::string& name : options.data) files.push_back(file_to_measure(name, options.dtype, "", ladder_options.seed));
    const auto flat = [](const Elements& file) { return file.view().reshaped({file.view().size()}); };
    ladder_options.a = flat(files.front());
    ladder_options.b = flat(files.back());
    ladder_options.type = files.front().type();
  }
  const std::vector<std::string> blocks = {"register_blocks", "compensated"};
  check_taken(ladder_options.items != 0, "--items", ladder_options.rungs, blocks);
  check_taken(ladder_options.tile != 0, "--tile", ladder_options.rungs, blocks);
  check_taken(ladder_options.parts != 0, "--parts", ladder_options.rungs, {"register_blocks", "compensated", "exact"});
  if (options.group == "best") {
    ladder_options.best_group = true;
  } else if (!options.group.empty()) {
    std::uint64_t size = 0;
    if (!parse_count(options.group, size) || size == 0 || size > 1u << 30)
      throw Error(ErrorKind::usage, fmt::format("--group takes a number of work-items such as 256, or best, not '{}'", options.group));
    ladder_options.group_size = static_cast<std::uint32_t>(size);
  }
  if (options.formula.empty()) {
    ladder_options.pairs.f = parse_pair_function(options.f);
  } else {
    ladder_options.pairs.formula = Formula(options.formula);
  }
  ladder_options.pairs.parameters = parse_parameters(options.parameters);
  ladder_options.pairs.reduction = parse_pair_reduction(options.reduction);
  if (!options.x_count.empty()) ladder_options.x_count = parse_size(options.x_count, "--size");
  if (!options.y_count.empty()) ladder_options.y_count = parse_size(options.y_count, "--y");
  ladder_options.expected = options.expected.expected(options.kernel);
  if (!options.kernel.path.empty()) {
    const UserKernel kernel = load_user_kernel(options.kernel.path);
    if (const auto code = run_in_child(options.kernel)) return *code;
    ladder_options.kernel_name = kernel.name;
    ladder_options.kernel_source = kernel.source;
  }
  const Device device = choose_for_bench(options.device);
  ladder_options.effort = options.effort.effort(device);
  PairsPrinter printer(out, bench::pairs_rungs(device));
  if (!options.json) ladder_options.measured = [&](const bench::PairsLadder& so_far) { printer.print(so_far); };
  const KernelWatch watch(ladder_options.kernel_name);
  ladder_options.effort.progress = [&](std::string_view what) {
    watch.tell(what);
    StatusLine::show(what);
  };
  bench::PairsLadder ladder;
  {
    const StatusLine progress;
    ladder = bench::pairs_ladder(device, ladder_options);
  }
  if (options.json) {
    out.print("{}\n", to_text(json_of_pairs(ladder)));
  } else {
    options.effort.tell(out, device, "");
  }
  require_measured(ladder.rungs);
  const bool sound = std::ranges::none_of(ladder.rungs, [](const bench::PairsRow& row) {
    return row.verdict == bench::Verdict::wrong || row.verdict == bench::Verdict::failed;
  });
  return sound ? kExitOk : kExitNoAnswer;
}

}  // namespace

void add_bench_pairs(CLI::App& parent, Action& action) {
  const auto options = std::make_shared<PairsBench>();
  CLI::App* command = parent.add_subcommand("pairs", "The variants of all pairs side by side: checked, then timed");
  bench::PairsLadderOptions& ladder = options->ladder;
  const CLI::Validator number = whole_number(1, 1u << 30);
  command->add_option("--f", options->f, "product (default), difference, absdiff, sqdist, gaussian, invdist")->type_name("NAME");
  command->add_option("--formula", options->formula, "f by a formula of the vectors a and b, for every variant")
      ->type_name("FORMULA")
      ->excludes("--f");
  command->add_option("--param", options->parameters, "a number in the formula, NAME=VALUE; may be given again")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_option("--reduce", options->reduction, "sum (default), min, max, argmin, argmax")->type_name("NAME");
  command->add_option("--dtype", options->dtype, "float32 (default), float64, or integers, computed in 64 bits")->type_name("TYPE");
  command->add_option("--size", options->x_count, "x, and y unless --y is given: 100000, 2^18")->option_text("N");
  command->add_option("--y", options->y_count, "y")->option_text("N");
  command->add_option("--components", ladder.pairs.components, "of the vectors (default 1)")->transform(number)->option_text("D");
  command->add_option("--device", options->device, "by default the fastest there is")->type_name("DEVICE");
  command->add_option("--variant", ladder.rungs, "only this one; may be given again")->take_all()->option_text("NAME");
  add_options(*command, options->kernel);
  options->expected.add_to(*command);
  command->add_option("--kernel-items", ladder.kernel_items, "x of its work-items (default 1)")->transform(number)->option_text("N");
  command->add_option("--data", options->data, "a file of x instead of made-up data; once more: of y")->take_all()->type_name("FILE");
  command->add_option("--seed", ladder.seed, "of made-up data (default 1)")
      ->transform(whole_number(0, std::uint64_t{1} << 62))
      ->option_text("N");
  command->add_option("--group", options->group, "work-items of a group; best: each variant's best")->option_text("N");
  command->add_option("--registers", ladder.registers, "of a work-item, at most")->transform(number)->option_text("N");
  command->add_option("--items", ladder.items, "x of a work-item (register_blocks)")->transform(number)->option_text("N");
  command->add_option("--tile", ladder.tile, "y of a tile (register_blocks)")->transform(number)->option_text("N");
  command->add_option("--parts", ladder.parts, "of the y, over groups (register_blocks)")->transform(number)->option_text("N");
  command->add_option("--polynomials", ladder.polynomials, "mask of 16: exponentials that are polynomials")->option_text("MASK");
  command->add_option("--threads", ladder.threads, "threads of the CPU's variants")->transform(number)->option_text("N");
  add_options(*command, options->effort);
  command->add_flag("--json", options->json, "print JSON");
  command->footer(R"(Examples:
  samesum bench pairs                              # sums of products
  samesum bench pairs --size 2^18 --variant register_blocks
  samesum bench pairs --variant vec4 --group 64
  samesum bench pairs --variant vec8_both --group best --registers 64
  samesum bench pairs --f sqdist --reduce argmin --components 3
  samesum bench pairs --formula 'exp(-sqdist(a, b)/h)' --param h=0.5
  samesum bench pairs --dtype int64                # integers: their sums are exact
  samesum bench pairs --kernel my.cl               # your own, beside the others

Operations are counted as in textbooks: two for a product and its addition. 'of
ceiling' is the fraction of the rate of multiply-adds from registers, measured in
the same run; 'of vendor's' is the ratio to cuBLAS's matrix product, if that is
found. A kernel of your own is named 'pairs' and has the parameters
(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL REAL* c, ulong x_count,
ulong y_count); 'samesum kernel pairs naive' shows one. What 'samesum bench sum
--help' says of such kernels holds here. Exit code 1 if a variant is wrong.)");
  command->callback([options, &action] { action = [options](Output& out) { return run(out, *options); }; });
}

}  // namespace samesum::cli
