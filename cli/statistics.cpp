// samesum stats FILE..., samesum min|max|mean|... FILE..., samesum dot A B
#include "command.hpp"
#include "input.hpp"
#include "nodata.hpp"
#include "number.hpp"
#include "summing.hpp"

#include <samesum/error.hpp>
#include <samesum/reduce.hpp>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

namespace samesum::cli {
namespace {

struct Options {
  Input input;
  std::string device = "auto";
  std::vector<std::string> wanted;  ///< names of kStatistics
  std::uint64_t ddof = 0;
  std::string nan = "propagate";
  std::string nodata;
  bool json = false, hex = false;
  CollectOptions collect;

  NanPolicy nan_policy() const { return nan == "skip" ? NanPolicy::skip : NanPolicy::propagate; }
};

// What was found in one input.
struct Found {
  std::string name;
  Statistics all;
  std::uint64_t least_at = 0, greatest_at = 0, first_nan_at = 0;  ///< in the input, with what --nodata leaves out
  std::uint64_t missing = 0;
  std::optional<Value> product;
  std::string no_product;  ///< why there is none
};

Number number_of(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.number)) return Number(*integer);
  if (const auto* integer = std::get_if<std::uint64_t>(&value.number)) return Number(*integer);
  return {std::get<double>(value.number), value.type == DType::float64 ? DType::float64 : DType::float32};
}

Number number_of(double value) { return {value, DType::float64}; }
Number number_of(bool value) { return Number(std::uint64_t{value}); }

Number sum_of(const Found& found, const Options& options) {
  const Accumulator& sum = found.all.sum();
  if (sum.result_type() == DType::int64) return Number(sum.to_int64());
  if (sum.result_type() == DType::uint64) return Number(sum.to_uint64());
  return number_of(sum.round(options.nan_policy()));
}

Number index_of(const Found& found, const Options& options, bool least) {
  const Extreme extreme = least ? found.all.min(options.nan_policy()) : found.all.max(options.nan_policy());
  const bool is_nan = std::isnan(extreme.value.as_double());
  return Number(is_nan ? found.first_nan_at : least ? found.least_at : found.greatest_at);
}

// A row of the table, a member of the JSON object, a command.
struct Statistic {
  const char* name;
  const char* description;
  bool usual;  ///< shown by `stats` if nothing else is asked for
  Fields fields;
  Number (*value)(const Found&, const Options&);
};

constexpr Fields kExtremes{true, false, false, false}, kSum{false, true, false, false}, kVariance{false, true, true, false},
    kSquares{false, false, true, false}, kNonzeros{true, false, false, true};

const Statistic kStatistics[] = {
    {"count", "elements, NaNs included", true, kExtremes, [](const Found& f, const Options&) { return Number(f.all.count()); }},
    {"nan", "NaNs", true, kExtremes, [](const Found& f, const Options&) { return Number(f.all.nan_count()); }},
    {"min", "the least element", true, kExtremes,
     [](const Found& f, const Options& o) { return number_of(f.all.min(o.nan_policy()).value); }},
    {"argmin", "its lowest index, from 0 on", true, kExtremes, [](const Found& f, const Options& o) { return index_of(f, o, true); }},
    {"max", "the greatest element", true, kExtremes,
     [](const Found& f, const Options& o) { return number_of(f.all.max(o.nan_policy()).value); }},
    {"argmax", "its lowest index", true, kExtremes, [](const Found& f, const Options& o) { return index_of(f, o, false); }},
    {"sum", "the exact sum, rounded once", true, kSum, sum_of},
    {"mean", "the exact mean, rounded once", true, kSum,
     [](const Found& f, const Options& o) { return number_of(f.all.mean(o.nan_policy())); }},
    {"var", "the exact variance, rounded once (--ddof)", true, kVariance,
     [](const Found& f, const Options& o) { return number_of(f.all.variance(o.ddof, o.nan_policy())); }},
    {"std", "its root, rounded once", true, kVariance,
     [](const Found& f, const Options& o) { return number_of(f.all.standard_deviation(o.ddof, o.nan_policy())); }},
    {"norm", "the Euclidean norm, rounded once", false, kSquares,
     [](const Found& f, const Options& o) { return number_of(f.all.norm(o.nan_policy())); }},
    {"sqnorm", "the sum of squares, rounded once", false, kSquares,
     [](const Found& f, const Options& o) { return number_of(f.all.squared_norm(o.nan_policy())); }},
    {"nonzero", "elements that are not zero", false, kNonzeros,
     [](const Found& f, const Options& o) { return Number(f.all.nonzero_count(o.nan_policy())); }},
    {"any", "1 if any element is not zero, else 0", false, kNonzeros,
     [](const Found& f, const Options& o) { return number_of(f.all.any(o.nan_policy())); }},
    {"all", "1 if no element is zero, else 0", false, kNonzeros,
     [](const Found& f, const Options& o) { return number_of(f.all.all(o.nan_policy())); }},
    {"prod", "the product, by the tree over the index", false, kExtremes,
     [](const Found& f, const Options&) -> Number {
       if (!f.product) throw Error(ErrorKind::no_answer, f.no_product);
       return number_of(*f.product);
     }},
};

const Statistic& find_statistic(const std::string& name) {
  std::string known;
  for (const Statistic& statistic : kStatistics) {
    if (name == statistic.name) return statistic;
    known += (known.empty() ? "" : ", ") + std::string(statistic.name);
  }
  throw Error(ErrorKind::usage, fmt::format("no statistic '{}': there are {}", name, known));
}

void collect_part(View part, std::uint64_t before, const Device& device, const Options& options, NodataFilter& filter, Found& found) {
  const std::uint64_t known = found.all.count();
  const auto first_known = found.all.contents().first_nan;
  found.all.merge(collect(filter.kept(part), device, options.collect));
  const auto place = [&](std::uint64_t index, std::uint64_t& at) {
    if (index >= known) at = before + filter.index_in_chunk(index - known);
  };
  const Statistics::Contents& contents = found.all.contents();
  if (contents.least) place(contents.least->index, found.least_at);
  if (contents.greatest) place(contents.greatest->index, found.greatest_at);
  if (contents.first_nan && !first_known) place(*contents.first_nan, found.first_nan_at);
}

Found collect_from(const NamedSource& input, const Device& device, const Options& options, bool product) {
  Found found{input.name, {}, 0, 0, 0, 0, std::nullopt, {}};
  NodataFilter filter(options.nodata);
  std::optional<DType> type;
  {
    const std::unique_ptr<Source> source = input.open();
    std::uint64_t before = 0;
    bool any = false;
    while (const std::optional<View> chunk = source->next()) {
      const std::uint64_t most = filter.active() ? NodataFilter::most(chunk->type()) : std::max<std::uint64_t>(chunk->size(), 1);
      for (std::uint64_t first = 0; first == 0 || first < chunk->size(); first += most) {
        const View part = chunk->part(first, std::min(most, chunk->size() - first));
        collect_part(part, before, device, options, filter, found);
        before += part.size();
      }
      any = true;
    }
    if (!any) found.all = collect(View(nullptr, 0, source->type().value_or(DType::float64)), device, options.collect);
    found.missing = source->missing() + filter.left_out();
  }
  if (product) {
    WithoutNodata source(input.open(), options.nodata, &NodataFilter::with_ones);
    try {
      found.product = samesum::product(source, device, {options.nan_policy(), 0, 0, options.collect.threads});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::no_answer) throw;
      found.no_product = error.what();
    }
  }
  return found;
}

// A statistic's value, or why there is none.
struct Answer {
  std::optional<Number> number;
  std::string reason;
};

Answer answer(const Statistic& statistic, const Found& found, const Options& options) try {
  return {statistic.value(found, options), {}};
} catch (const Error& error) {
  if (error.kind() != ErrorKind::no_answer) throw;
  return {std::nullopt, error.what()};
}

void print_json(Output& out, const std::vector<Found>& all, const std::vector<const Statistic*>& wanted, const Device& device,
                const Options& options) {
  Json object;
  object["device"] = device.info().selector;
  object["nan_policy"] = options.nan;
  object["ddof"] = options.ddof;
  object["files"] = Json::array();
  for (const Found& found : all) {
    Json file;
    file["file"] = found.name;
    file["count"] = found.all.count();
    file["nan_count"] = found.all.nan_count();
    file["missing"] = found.missing;
    for (const Statistic* statistic : wanted) {
      const Answer value = answer(*statistic, found, options);
      Json entry;
      if (value.number) {
        value.number->add_to(entry);
      } else {
        entry["value"] = nullptr;
        entry["reason"] = value.reason;
      }
      file["statistics"][statistic->name] = entry;
    }
    object["files"].push_back(file);
  }
  out.print("{}\n", to_text(object));
}

std::string text_of(const Number& number, const Options& options) { return options.hex ? number.hex() : number.decimal(); }

// For people: a table. For pipes: a line for each statistic, its name and its value; of a single one the value alone.
void print(Output& out, const Found& found, const std::vector<const Statistic*>& wanted, const Options& options, bool several) {
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  const std::string name = found.name == "-" ? "standard input" : found.name;
  if (terminal && (several || wanted.size() > 1)) out.print("{}\n", out.bold(name));
  Table table("<<<", 2);
  for (const Statistic* statistic : wanted) {
    const Answer value = answer(*statistic, found, options);
    if (!value.number && wanted.size() == 1) throw Error(ErrorKind::no_answer, fmt::format("{}: {}", name, value.reason));
    const std::string text = value.number ? text_of(*value.number, options) : "-";
    if (terminal && wanted.size() > 1) {
      table.add({{statistic->name, Style::bold}, text, {value.number ? statistic->description : value.reason, Style::dim}});
    } else {
      const std::string label = wanted.size() > 1 ? std::string(statistic->name) + "\t" : "";
      out.print("{}{}{}\n", label, text, several ? "\t" + found.name : "");
    }
  }
  if (!terminal || wanted.size() == 1) return;
  if (found.missing != 0) table.add({{"missing", Style::bold}, grouped(found.missing), {"left out", Style::dim}});
  table.print(out);
  if (found.all.nan_count() != 0 && options.nan_policy() == NanPolicy::propagate) {
    out.print("  {}\n", out.dim(fmt::format("{} NaN among them; --nan skip leaves NaNs out", grouped(found.all.nan_count()))));
  }
}

int run(Output& out, Options options) {
  if (options.nan != "propagate" && options.nan != "skip") {
    throw Error(ErrorKind::usage, fmt::format("--nan takes 'propagate' or 'skip', not '{}'", options.nan));
  }
  std::vector<const Statistic*> wanted;
  for (const std::string& name : options.wanted) wanted.push_back(&find_statistic(name));
  if (wanted.empty()) {
    for (const Statistic& statistic : kStatistics) {
      if (statistic.usual) wanted.push_back(&statistic);
    }
  }
  Fields fields{true, false, false, false};
  bool product = false, by_index = false;
  for (const Statistic* statistic : wanted) {
    fields.sum |= statistic->fields.sum;
    fields.squares |= statistic->fields.squares;
    fields.nonzeros |= statistic->fields.nonzeros;
    const std::string_view name = statistic->name;
    product |= name == "prod";
    by_index |= name == "prod" || name == "argmin" || name == "argmax";
  }
  options.collect.fields = fields;
  if (product && std::ranges::count(options.input.files, "-") != 0) {
    throw Error(ErrorKind::usage, "a product is worked out in a pass of its own, and standard input can be read once only: give a file");
  }
  options.input.reals = true;
  options.input.any_order = !by_index;
  const Device device = choose_device(options.device, options.input.resident_bytes());
  std::vector<Found> all;
  for (const NamedSource& source : options.input.sources()) all.push_back(collect_from(source, device, options, product));
  if (options.json) {
    print_json(out, all, wanted, device, options);
  } else {
    for (const Found& found : all) print(out, found, wanted, options, all.size() > 1);
  }
  return kExitOk;
}

int run_dot(Output& out, Options options) {
  if (options.input.files.size() != 2) throw Error(ErrorKind::usage, "a dot product takes two files");
  options.input.reals = true;
  const Device device = choose_device(options.device, options.input.resident_bytes());
  const auto sources = options.input.sources();
  const auto a = sources[0].open(), b = sources[1].open();
  const bool integers = is_integer(a->type().value_or(DType::float64));
  const bool is_signed_type = integers && is_signed(*a->type());
  ExecutionOptions how;
  how.threads = options.collect.threads;
  const ProductAccumulator sum = dot(*a, *b, device, how);
  const Number value = !integers        ? number_of(sum.round(options.nan_policy()))
                       : is_signed_type ? Number(sum.to_int64())
                                        : Number(sum.to_uint64());
  if (options.json) {
    Json object;
    value.add_to(object);
    object["count"] = sum.count();
    object["nan_count"] = sum.nan_count();
    object["nan_policy"] = options.nan;
    object["device"] = device.info().selector;
    out.print("{}\n", to_text(object));
  } else {
    out.print("{}\n", text_of(value, options));
  }
  return kExitOk;
}

void add_common(CLI::App& command, Options& options) {
  add_options(command, options.input);
  command.add_option("--device", options.device, "cpu, opencl:0, cuda:0, auto (default) ...")->type_name("DEVICE");
  command.add_option("--nan", options.nan, "propagate (default) or skip NaNs")->type_name("POLICY");
  command.add_option("--threads", options.collect.threads, "threads (CPU)")->check(CLI::Range(1u, 1u << 16, "number"))->option_text("N");
  command.add_flag("--json", options.json, "print JSON");
  command.add_flag("--hex", options.hex, "print hexadecimal floats, as C's %a");
}

CLI::App* add_command(CLI::App& program, Action& action, const char* name, const std::string& description,
                      const std::shared_ptr<Options>& options) {
  CLI::App* command = program.add_subcommand(name, description);
  command->add_option("FILE", options->input.files, ".npy files, text, raw numbers; - is standard input")->required()->option_text("...");
  add_common(*command, *options);
  command->add_option("--nodata", options->nodata, "leave out elements that equal this")->type_name("VALUE");
  command->callback([options, &action] {
    options->input.threads = options->collect.threads;
    action = [options](Output& out) { return run(out, *options); };
  });
  return command;
}

}  // namespace

void add_statistics(CLI::App& program, Action& action) {
  const auto stats = std::make_shared<Options>();
  CLI::App* command = add_command(program, action, "stats", "Count, extremes, exact sum, mean, variance: in one pass", stats);
  command->add_option("--ddof", stats->ddof, "var, std: divide by n - N (default 0)")->option_text("N");
  command->add_option("--only", stats->wanted, "these statistics: min,max,norm ...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAMES");
  std::string known;
  for (const Statistic& statistic : kStatistics) known += fmt::format("  {:<8}  {}\n", statistic.name, statistic.description);
  command->footer(fmt::format(R"(Statistics:
{}
Examples:
  samesum stats x.npy                  # a table; in a pipe, a line for each
  samesum stats --only min,max,std x.npy
  samesum stats --ddof 1 --json x.npy
  samesum stats --nodata -9999 dem.npy # no-data values left out, indices kept
  samesum mean x.npy                   # one number

Mean, variance, deviation and norm are the exact values, rounded once: the same
bits from every device. Numbers in text are taken as doubles, in their order. Indices
are those of the array, in C order, however it lies in its file.)",
                              known));
  for (const char* name : {"min", "max", "argmin", "argmax", "mean", "var", "std", "norm", "prod"}) {
    const Statistic& statistic = find_statistic(name);
    const auto options = std::make_shared<Options>();
    options->wanted = {name};
    std::string description = statistic.description;
    description[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(description[0])));
    CLI::App* one = add_command(program, action, name, description, options);
    one->footer(fmt::format(R"(Examples:
  samesum {0} x.npy
  samesum {0} --nan skip --nodata -9999 x.npy

'samesum stats --help' tells what is promised; 'stats' works out several at once.)",
                            name));
    if (statistic.fields.sum && statistic.fields.squares)
      one->add_option("--ddof", options->ddof, "divide by n - N (default 0)")->option_text("N");
  }
  const auto pair = std::make_shared<Options>();
  CLI::App* dot_command = program.add_subcommand("dot", "The dot product of two arrays, rounded once");
  dot_command->add_option("FILE", pair->input.files, "two files of one type and length")->required()->expected(2)->option_text("A B");
  add_common(*dot_command, *pair);
  dot_command->footer(R"(Examples:
  samesum dot a.npy b.npy
  samesum dot --dtype float32 a.raw b.raw

The exact sum of the products, rounded once; of integers, exact or an error.)");
  dot_command->callback([pair, &action] { action = [pair](Output& out) { return run_dot(out, *pair); }; });
}

}  // namespace samesum::cli
