// samesum stats FILE..., samesum min|max|mean|... FILE..., samesum dot A B
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

Number number_of(bool value) { return Number(std::uint64_t{value}); }
// Values that are rounded once to either type.
Number number_of(double value) { return {value, DType::float64}; }
Number number_of(float value) { return {value, DType::float32}; }

Number sum_of(const Found& found, const StatisticsOptions& options) {
  const Accumulator& sum = found.all.sum();
  if (found.text && is_integer(sum.result_type()) &&
      !options.result.float32) {  // a text's integers have no type: any type that holds the sum
    return sum.round() < 0x1p63 ? Number(sum.to_int64()) : Number(sum.to_uint64());
  }
  return options.result.round(sum);
}

// A text's integers have no type: int64 if it holds the value.
Number extreme_of(const Found& found, const Extremum& extreme) {
  const auto* const integer = std::get_if<std::uint64_t>(&extreme.value.number);
  if (found.text && integer != nullptr && *integer >> 63 == 0) return Number(static_cast<std::int64_t>(*integer));
  return Number(extreme.value);
}

Number index_of(const Found& found, const StatisticsOptions& options, bool least) {
  const Extremum extreme = least ? found.all.min(options.nan_policy()) : found.all.max(options.nan_policy());
  const bool is_nan = std::isnan(extreme.value.as_double());
  return Number(is_nan ? found.first_nan_at : least ? found.least_at : found.greatest_at);
}

constexpr Fields kExtremes{true, false, false, false}, kSum{false, true, false, false}, kVariance{false, true, true, false},
    kSquares{false, false, true, false}, kNonzeros{true, false, false, true};

const Statistic kStatistics[] = {
    {"count", "the number of elements, NaNs included", true, kExtremes,
     [](const Found& f, const StatisticsOptions&) { return Number(f.all.count()); }},
    {"missing", "the number of missing numbers", false, kExtremes,
     [](const Found& f, const StatisticsOptions&) { return Number(f.missing); }},
    {"nan", "the number of NaNs", true, kExtremes, [](const Found& f, const StatisticsOptions&) { return Number(f.all.nan_count()); }},
    {"min", "the least element", true, kExtremes,
     [](const Found& f, const StatisticsOptions& o) { return extreme_of(f, f.all.min(o.nan_policy())); }},
    {"argmin", "the index of the least element, from 0; of equal ones the first", true, kExtremes,
     [](const Found& f, const StatisticsOptions& o) { return index_of(f, o, true); }},
    {"max", "the greatest element", true, kExtremes,
     [](const Found& f, const StatisticsOptions& o) { return extreme_of(f, f.all.max(o.nan_policy())); }},
    {"argmax", "the index of the greatest element, from 0", true, kExtremes,
     [](const Found& f, const StatisticsOptions& o) { return index_of(f, o, false); }},
    {"sum", "the exact sum, rounded once", true, kSum, sum_of},
    {"mean", "the exact mean, rounded once", true, kSum,
     [](const Found& f, const StatisticsOptions& o) {
       return o.result.float32 ? number_of(f.all.mean_to_float(o.nan_policy())) : number_of(f.all.mean(o.nan_policy()));
     }},
    {"var", "the exact variance, rounded once (--ddof)", true, kVariance,
     [](const Found& f, const StatisticsOptions& o) {
       return o.result.float32 ? number_of(f.all.variance_to_float(o.ddof, o.nan_policy()))
                               : number_of(f.all.variance(o.ddof, o.nan_policy()));
     }},
    {"std", "the standard deviation, rounded once (--ddof)", true, kVariance,
     [](const Found& f, const StatisticsOptions& o) {
       return o.result.float32 ? number_of(f.all.standard_deviation_to_float(o.ddof, o.nan_policy()))
                               : number_of(f.all.standard_deviation(o.ddof, o.nan_policy()));
     }},
    {"norm", "the Euclidean norm, rounded once", false, kSquares,
     [](const Found& f, const StatisticsOptions& o) {
       return o.result.float32 ? number_of(f.all.norm_to_float(o.nan_policy())) : number_of(f.all.norm(o.nan_policy()));
     }},
    {"sqnorm", "the sum of squares, rounded once", false, kSquares,
     [](const Found& f, const StatisticsOptions& o) {
       return o.result.float32 ? number_of(f.all.squared_norm_to_float(o.nan_policy())) : number_of(f.all.squared_norm(o.nan_policy()));
     }},
    {"nonzero", "the number of elements that are not zero", false, kNonzeros,
     [](const Found& f, const StatisticsOptions& o) { return Number(f.all.nonzero_count(o.nan_policy())); }},
    {"any", "1 if any element is not zero, else 0", false, kNonzeros,
     [](const Found& f, const StatisticsOptions& o) { return number_of(f.all.any(o.nan_policy())); }},
    {"all", "1 if no element is zero, else 0", false, kNonzeros,
     [](const Found& f, const StatisticsOptions& o) { return number_of(f.all.all(o.nan_policy())); }},
    {"prod", "the product, the same bits everywhere", false, kExtremes,
     [](const Found& f, const StatisticsOptions&) -> Number {
       if (!f.product) throw Error(ErrorKind::no_answer, f.no_product);
       return Number(*f.product);
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

// A source that records whether all of its elements were integers.
class TypeNote final : public Source {
 public:
  explicit TypeNote(std::unique_ptr<Source> source) : source_(std::move(source)) {}
  std::optional<Array> next() override {
    const auto chunk = source_->next();
    if (chunk) integers_ = integers_.value_or(true) && is_integer(chunk->type());
    return chunk;
  }
  std::string_view format() const noexcept override { return source_->format(); }
  std::optional<DType> type() const noexcept override { return source_->type(); }
  std::vector<std::uint64_t> shape() const override { return source_->shape(); }
  std::span<const Column> columns() const override { return source_->columns(); }
  std::uint64_t missing() const noexcept override { return source_->missing(); }
  bool integers() const { return integers_.value_or(is_integer(type().value_or(DType::float64))); }

 private:
  std::unique_ptr<Source> source_;
  std::optional<bool> integers_;
};

// The intermediate state of a column: results and counts so far.
struct Running {
  Found found;
  NodataFilter filter;
  NodataFilter ones;  // for the product, in which removed elements are 1
  std::uint64_t before = 0;
  std::optional<Product> product;
};

// Adds a part of the current chunk of `source`, from its element `first` on.
void collect_part(Array part, std::uint64_t first, const Source& source, const Device& device, const StatisticsOptions& options,
                  Running& running) {
  Found& found = running.found;
  const std::uint64_t known = found.all.count();
  const auto first_known = found.all.contents().first_nan;
  found.all.merge(collect(running.filter.kept(part), options.fields, {.device = device, .tuning = options.tuning}));
  const auto place = [&](std::uint64_t index, std::uint64_t& at) {
    if (index < known) return;
    const std::uint64_t in_part = running.filter.index_in_part(index - known);
    at = running.before + in_part + source.missing_before(first + in_part);
  };
  const Statistics::Contents& contents = found.all.contents();
  if (contents.min) place(contents.min->index, found.least_at);
  if (contents.max) place(contents.max->index, found.greatest_at);
  if (contents.first_nan && !first_known) place(*contents.first_nan, found.first_nan_at);
  running.before += part.size();
}

// Collects the statistics of an input, or of each of its columns.
std::vector<Found> collect_from(const NamedSource& input, const Device& device, const StatisticsOptions& options, bool product) {
  const std::unique_ptr<Source> source = input.open();
  const bool text = source->format() == "text";
  std::vector<Running> columns;
  const auto need = [&](std::size_t count) {
    while (columns.size() < count) {
      columns.push_back({{input.name, std::nullopt, text, {}, 0, 0, 0, 0, std::nullopt, {}},
                         NodataFilter(options.nodata, text),
                         NodataFilter(options.nodata, text),
                         0,
                         std::nullopt});
      if (product)
        columns.back().product.emplace(samesum::Options{.nan = options.nan_policy(), .device = device, .tuning = options.tuning},
                                       source->type());
    }
  };
  while (const std::optional<Array> chunk = source->next()) {
    need(std::max(source->column() + 1, source->columns().size()));
    Running& running = columns[source->column()];
    const std::uint64_t most = running.filter.active() ? NodataFilter::most(chunk->type()) : std::max<std::uint64_t>(chunk->size(), 1);
    for (std::uint64_t first = 0; first == 0 || first < chunk->size(); first += most) {
      const Array part = chunk->part(first, std::min(most, chunk->size() - first));
      collect_part(part, first, *source, device, options, running);
      if (product) running.product->append(running.ones.with_ones(part));
    }
  }
  const std::span<const Column> known = source->columns();
  need(std::max<std::size_t>(known.size(), 1));
  std::vector<Found> all;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    Found& found = columns[i].found;
    if (found.all.count() == 0)
      found.all =
          collect(Array(nullptr, 0, source->type().value_or(DType::float64)), options.fields, {.device = device, .tuning = options.tuning});
    found.missing = (known.empty() ? source->missing() : known[i].missing) + columns[i].filter.left_out();
    if (!known.empty() && options.in_rows()) found.column = known[i];
    if (product) {
      try {
        found.product = columns[i].product->value();
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::no_answer) throw;
        found.no_product = error.what();
      }
    }
    all.push_back(std::move(found));
  }
  return all;
}

// A table without a column of numbers is an error, usually caused by a wrong separator.
void require_numbers(const std::vector<Found>& columns) {
  const auto has_words = [](const Found& found) { return found.column && found.column->words != 0; };
  if (columns.empty() || !std::ranges::all_of(columns, has_words)) return;
  const Column& column = *columns.front().column;
  throw Error(
      ErrorKind::usage,
      fmt::format(
          "{}: no column has only numbers: in column {} the first field that is not a number is '{}', in line {} (--sep, --decimal and "
          "--thousands say how numbers are written, --skip-lines where they begin)",
          columns.front().name, column.label, column.first_word, column.first_line));
}

std::vector<const Statistic*> find_statistics(const std::vector<std::string>& names) {
  std::vector<const Statistic*> wanted;
  for (const std::string& name : names) wanted.push_back(&find_statistic(name));
  if (wanted.empty()) {
    for (const Statistic& statistic : kStatistics) {
      if (statistic.usual) wanted.push_back(&statistic);
    }
  }
  return wanted;
}

Fields fields_of(const std::vector<const Statistic*>& wanted) {
  Fields fields{true, false, false, false};
  for (const Statistic* statistic : wanted) {
    fields.sum |= statistic->fields.sum;
    fields.squares |= statistic->fields.squares;
    fields.nonzeros |= statistic->fields.nonzeros;
  }
  return fields;
}

// --part, --checkpoint, --partial.
int run_in_parts(Output& out, const StatisticsOptions& options) {
  if (options.axes.wanted() || !options.nodata.empty()) {
    throw Error(ErrorKind::usage,
                "--part, --checkpoint and --partial are for the statistics of all elements: leave out --axis and --nodata");
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
  work.reduce = [&](std::span<const Array> arrays, const Device& device) -> PartialResult {
    return collect(arrays.front(), fields, {.device = device, .tuning = options.tuning});
  };
  return run_part(out, options.input, options.device, options.part, options.result, work);
}

int run(Output& out, StatisticsOptions options) {
  options.result.check();
  options.axes.check();
  if (options.input.keys.empty() && (options.part.wanted() || !options.result.partial.empty())) return run_in_parts(out, options);
  if (options.input.sorted && options.input.keys.empty()) throw Error(ErrorKind::usage, "--sorted goes with --by");
  if (!options.input.keys.empty()) {
    if (options.axes.wanted()) throw Error(ErrorKind::usage, "--axis is for an array, --by for a table: leave out one of them");
    options.input.nodata = options.nodata;
    return run_by(out, options.input,
                  {.statistics = options.wanted, .ddof = options.ddof, .device = options.device, .tuning = options.tuning}, options.result,
                  options.part);
  }
  if (!options.input.map.empty() && !options.nodata.empty()) {
    throw Error(ErrorKind::usage,
                "--nodata leaves elements out, and a formula takes those at the same index: leave out one of --nodata and --map");
  }
  if (options.axes.wanted()) {
    if (options.wanted.size() != 1) throw Error(ErrorKind::usage, "by segment there is one statistic at a time: name it with --only");
    if (options.ddof != 0 && !options.axes.segments.wanted()) {
      throw Error(ErrorKind::usage, "--ddof is for one variance: leave out one of --ddof and --axis");
    }
    options.axes.segments.ddof = options.ddof;
    options.input.nodata = options.nodata;
    return run_along_axes(out, options.input, options.device, options.wanted.front(), options.axes, options.result, options.tuning);
  }
  std::vector<const Statistic*> wanted = find_statistics(options.wanted);
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

int run_dot(Output& out, StatisticsOptions options) {
  if (options.input.files.size() != 2) throw Error(ErrorKind::usage, "a dot product takes two files");
  options.result.check();
  options.input.in_order = true;
  if (options.part.wanted() || !options.result.partial.empty()) {
    PartWork work;
    work.command = "dot";
    const auto type_of = [&](const std::string& file) {
      return is_stream(file) ? DType::float64 : options.input.open(file)->type().value_or(DType::float64);
    };
    const DType a = type_of(options.input.files[0]), b = type_of(options.input.files[1]);
    work.how = {{"integers", is_integer(a) && is_integer(b)}, {"signed", is_signed(a)}};
    work.side_by_side = work.by_index = true;
    work.reduce = [&](std::span<const Array> arrays, const Device& device) -> PartialResult {
      return dot(arrays[0], arrays[1], {.device = device, .tuning = options.tuning});
    };
    return run_part(out, options.input, options.device, options.part, options.result, work);
  }
  const Device device = choose_device(options.device, options.input.resident_bytes());
  const auto sources = options.input.sources();
  TypeNote a(sources[0].open()), b(sources[1].open());
  const ProductAccumulator sum = dot(a, b, {.device = device, .tuning = options.tuning});
  print_dot(out, sum, a.integers() && b.integers(), !a.type() || is_signed(*a.type()), options.result, device.info().selector);
  if (options.result.verbose) {
    out.note(fmt::format("{} of {} and {}, {}", counted(sum.count(), "product"), shown_name(sources[0].name), shown_name(sources[1].name),
                         device.info().selector));
  }
  return kExitOk;
}

void add_common(CLI::App& command, StatisticsOptions& options, unsigned printed) {
  add_options(command, options.input);
  if (options.input.tables != Tables::one_column) {
    add_total(command, options.input);
  }
  command.add_option("--device", options.device, "cpu, opencl:0, cuda:0, auto (default) ...")->type_name("DEVICE");
  command.add_option("--threads", options.tuning.threads, "threads (CPU)")->transform(whole_number(1, 1u << 16))->option_text("N");
  add_options(command, options.result, printed);
  add_part(command, options.part);
}

CLI::App* add_command(CLI::App& program, Action& action, const char* name, const std::string& description,
                      const std::shared_ptr<StatisticsOptions>& options) {
  options->input.tables = options->wanted.empty() ? Tables::described_whole : Tables::columns;
  CLI::App* command = program.add_subcommand(name, description);
  add_files(*command, options->input, ".npy files, text, raw numbers; none, or -: standard input");
  const auto is_rounded = [](const Statistic& statistic) { return statistic.fields.sum || statistic.fields.squares; };
  const bool rounds = options->wanted.empty() || is_rounded(find_statistic(options->wanted.front()));
  const unsigned printed = kNan | kPlain | kJson | kCsv | kHex | kVerbose | kPartial;
  add_common(*command, *options, rounds ? printed | kFloat32 : printed);
  if (!rounds) refuse_option(*command, "--float32", "it tells of an element as it is, and nothing is rounded");
  add_nodata(*command, options->nodata);
  add_map(*command, options->input);
  if (!std::string_view(name).starts_with("arg")) add_by(*command, options->input);
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

std::vector<std::string> names_of(const Statistics& all) {
  const Fields& fields = all.contents().fields;
  std::vector<std::string> names;
  for (const Statistic& one : kStatistics) {
    const bool collected =
        (fields.sum || !one.fields.sum) && (fields.squares || !one.fields.squares) && (fields.nonzeros || !one.fields.nonzeros);
    if (collected && (one.usual || one.fields.nonzeros) && (fields.extrema || !one.fields.extrema)) names.emplace_back(one.name);
  }
  return names;
}

int print_dot(Output& out, const ProductAccumulator& sum, bool integers, bool is_signed_type, const ResultOptions& result,
              const std::string& device) {
  const NanPolicy nan = result.nan_policy();
  const Number value = result.float32   ? number_of(sum.round_to_float(nan))
                       : !integers      ? number_of(sum.round(nan))
                       : is_signed_type ? Number(sum.to_int64())
                                        : Number(sum.to_uint64());
  if (result.json) {
    Json object;
    value.add_to(object);
    object["count"] = sum.count();
    object["nan_count"] = sum.nan_count();
    object["nan_policy"] = result.nan;
    if (!device.empty()) object["device"] = device;
    out.print("{}\n", to_text(object));
  } else if (result.csv) {
    out.print("dot,bits,count,nan\n{},{},{},{}\n", result.text(value), value.bits(), sum.count(), sum.nan_count());
  } else {
    out.print("{}\n", result.text(value));
  }
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
  add_segments(*command, stats->axes);
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
  samesum stats sales.csv              # a row for each column of numbers
  samesum stats --column price,5 t.csv # of two columns, in one pass
  samesum stats --column price --by city sales.csv # for each group of rows
  samesum stats --total --csv *.csv    # all files as one; for a spreadsheet
  samesum stats --part 1/2 --partial 1.part x.npy # half of it; see 'merge'
  samesum mean x.npy                   # one number
  samesum stats --only count --offsets o.npy x.npy # of each segment

Mean, variance, deviation and norm are the exact values, rounded once: the same
bits from every device. Integers in text are exact; indices count missing
numbers, so that in a table they are its rows, from 0 on, without the header.
A text is a table where its name ends in .csv, .tsv or .tab, where its first
line has names with tabs, semicolons or commas between them, and with
--all-columns, --header or --no-header; else it is numbers, one after the other.
A column with a field that is no number is left out. Indices of an array are its
own, in C order, however it lies in its file.)",
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
    one->footer(fmt::format(R"(Examples:
  samesum {0} x.npy
  samesum {0} --nan skip --nodata -9999 x.npy
  samesum {0} --axis 0 x.npy           # of each column of a matrix{1}

'samesum stats --help' tells what is promised; 'stats' works out several at once.)",
                            name, is_index ? "" : fmt::format("\n  samesum {} --offsets o.npy x.npy   # of each segment", name)));
    if (statistic.fields.sum && statistic.fields.squares)
      one->add_option("--ddof", options->ddof, "divide by n - N (default 0)")->transform(whole_number(0, UINT64_MAX))->option_text("N");
  }
  const auto pair = std::make_shared<StatisticsOptions>();
  CLI::App* dot_command = program.add_subcommand("dot", "The dot product of two arrays, rounded once");
  dot_command->add_option("FILE", pair->input.files, "two files of one type and length")->required()->expected(2)->option_text("A B");
  add_common(*dot_command, *pair, kNan | kFloat32 | kPlain | kJson | kCsv | kHex | kVerbose | kPartial);
  refuse_option(*dot_command, "--nodata", "elements are multiplied by those at the same index, and leaving some out would move the rest");
  dot_command->footer(R"(Examples:
  samesum dot a.npy b.npy
  samesum dot --dtype float32 a.raw b.raw

The exact sum of the products, rounded once; of integers, exact or an error.)");
  dot_command->callback([pair, &action] { action = [pair](Output& out) { return run_dot(out, *pair); }; });
}

}  // namespace samesum::cli
