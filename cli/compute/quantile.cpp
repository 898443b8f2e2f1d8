// samesum median FILE..., samesum quantile -q Q FILE...
#include "command.hpp"
#include "group/axes.hpp"
#include "group/by.hpp"
#include "input/chain.hpp"
#include "input/input.hpp"
#include "input/nodata.hpp"
#include "input/spool.hpp"
#include "output/number.hpp"
#include "output/result.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>
#include <samesum/quantile.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <system_error>

namespace samesum::cli {
namespace {

struct QuantileOptions {
  Input input;
  std::vector<std::string> wanted;  ///< as the user wrote them
  std::string method = "linear";
  AxesOptions axes;
  ResultOptions result;
};

struct FoundQuantiles {
  std::string name;
  Quantiles quantiles;
  std::string reason;  ///< why there are none
  std::uint64_t missing = 0;
  double seconds = 0;
};

double parse_fraction(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || !(value >= 0 && value <= 1)) {
    throw Error(ErrorKind::usage, fmt::format("-q takes numbers from 0 to 1 such as 0.9, not '{}'", text));
  }
  return value;
}

// Makes an input that can be read only once readable again, by storing it.
NamedSource stored(NamedSource input) {
  return {input.name, [spool = std::make_shared<Spool>(*input.open())] { return from_start(spool); }};
}

// A source that records how many numbers were missing.
class Watched final : public Source {
 public:
  Watched(std::unique_ptr<Source> source, std::optional<DType> type, std::uint64_t& missing)
      : source_(std::move(source)), type_(type), missing_(missing) {}
  std::optional<Array> next() override {
    const std::optional<Array> chunk = source_->next();
    if (!chunk) missing_ = source_->missing();
    return chunk;
  }
  std::string_view format() const noexcept override { return source_->format(); }
  std::optional<DType> type() const noexcept override { return type_; }

 private:
  std::unique_ptr<Source> source_;
  std::optional<DType> type_;
  std::uint64_t& missing_;
};

// `type`: of all elements, if they have one type.
FoundQuantiles find(const NamedSource& input, std::optional<DType> type, const std::vector<double>& q, const QuantileOptions& options) {
  FoundQuantiles found{input.name, {}, {}, 0, 0};
  const auto start = std::chrono::steady_clock::now();
  const QuantileRule rule{parse_quantile_method(options.method), options.result.float32};
  const samesum::Options how{.nan = options.result.nan_policy(), .tuning = {.threads = options.input.threads}};
  try {
    found.quantiles = quantiles([&] { return std::make_unique<Watched>(input.open(), type, found.missing); }, q, rule, how);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::no_answer) throw;
    found.reason = error.what();
  }
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return found;
}

void print_json(Output& out, const std::vector<FoundQuantiles>& all, const QuantileOptions& options) {
  const auto add_value = [&](Json& object, const FoundQuantiles& found, std::size_t i) {
    if (found.reason.empty()) return Number(found.quantiles.values[i]).add_to(object);
    object["value"] = nullptr;
    object["reason"] = found.reason;
  };
  Json object;
  if (all.size() == 1 && options.wanted.size() == 1) add_value(object, all[0], 0);
  object["method"] = options.method;
  object["nan_policy"] = options.result.nan;
  object["files"] = Json::array();
  for (const FoundQuantiles& found : all) {
    Json file = {{"file", found.name}};
    if (found.reason.empty()) {
      file["count"] = found.quantiles.count;
      file["nan_count"] = found.quantiles.nan_count;
    }
    file["missing"] = found.missing;
    file["quantiles"] = Json::array();
    for (std::size_t i = 0; i < options.wanted.size(); ++i) {
      Json entry = {{"q", parse_fraction(options.wanted[i])}};
      add_value(entry, found, i);
      file["quantiles"].push_back(std::move(entry));
    }
    object["files"].push_back(std::move(file));
  }
  out.print("{}\n", to_text(object));
}

void print_csv(Output& out, const std::vector<FoundQuantiles>& all, const QuantileOptions& options) {
  out.print("file,q,value,bits,count,nan,missing\n");
  for (const FoundQuantiles& found : all) {
    for (std::size_t i = 0; i < options.wanted.size(); ++i) {
      const Number number(found.quantiles.values[i]);
      out.print("{},{},{},{},{},{},{}\n", csv_field(found.name), options.wanted[i], options.result.text(number), number.bits(),
                found.quantiles.count, found.quantiles.nan_count, found.missing);
    }
  }
}

// A line for each quantile of each file: labels and the value; with --plain only the value.
void print(Output& out, const std::vector<FoundQuantiles>& all, const QuantileOptions& options) {
  const bool plain = options.result.plain;
  for (const FoundQuantiles& found : all) {
    for (std::size_t i = 0; i < options.wanted.size(); ++i) {
      const std::string label = options.wanted.size() > 1 && !plain ? options.wanted[i] + "\t" : "";
      out.print("{}{}{}\n", label, options.result.text(Number(found.quantiles.values[i])),
                all.size() > 1 && !plain ? "\t" + shown_name(found.name) : "");
    }
  }
}

void print_notes(Output& out, const std::vector<FoundQuantiles>& all, const QuantileOptions& options) {
  for (const FoundQuantiles& found : all) {
    const std::string name = shown_name(found.name);
    const std::uint64_t nans = found.quantiles.nan_count;
    const bool skipped = options.result.nan_policy() == NanPolicy::skip;
    if (options.result.verbose) {
      out.note(fmt::format("{}: of {}, method {}, {}, cpu", name, counted(found.quantiles.count, "number"), options.method,
                           duration(found.seconds)));
    }
    if (options.result.plain || options.result.csv) continue;
    if (found.missing != 0) {
      out.note(fmt::format("{}: {} missing{}", name, grouped(found.missing), options.input.nodata.empty() ? "" : " or equal to --nodata"));
    }
    if (nans != 0)
      out.note(fmt::format("{}: {} NaN {}", name, grouped(nans), skipped ? "left out" : "among the elements; --nan skip leaves NaNs out"));
  }
}

int run(Output& out, const QuantileOptions& options) {
  options.result.check();
  options.input.check();
  std::vector<double> q;
  for (const std::string& one : options.wanted) q.push_back(parse_fraction(one));
  const QuantileMethod method = parse_quantile_method(options.method);
  options.axes.check();
  const QuantileRule rule{method, options.result.float32};
  if (!options.input.keys.empty()) {
    if (options.axes.wanted())
      throw Error(ErrorKind::usage, "--axis, --offsets and --lengths are for arrays, and --by for tables: leave them or --by out");
    return run_quantiles_by(out, options.input, q, options.wanted, rule, options.result);
  }
  if (options.input.sorted) throw Error(ErrorKind::usage, "--sorted goes with --by");
  if (options.axes.wanted()) {
    return run_quantiles_along_axes(out, options.input, q, options.wanted, rule, options.axes, options.result);
  }
  options.input.resident_bytes();  // finds a bad file before long work begins
  Input each = options.input;
  each.total = false;
  std::vector<NamedSource> inputs = each.sources();
  for (NamedSource& input : inputs) {
    if (each.map.empty() ? is_stream(input.name) : each.has_stream()) input = stored(std::move(input));
  }
  std::vector<std::optional<DType>> types;
  for (const NamedSource& input : inputs) types.push_back(input.open()->type());
  if (options.input.total) {
    const bool same = std::ranges::all_of(types, [&](const std::optional<DType>& type) { return type == types.front(); });
    types = {same ? types.front() : std::nullopt};
    inputs = {as_one(std::move(inputs))};
  }
  std::vector<FoundQuantiles> all;
  for (std::size_t i = 0; i < inputs.size(); ++i) all.push_back(find(inputs[i], types[i], q, options));
  if (options.result.json) {
    print_json(out, all, options);
    return kExitOk;
  }
  for (const FoundQuantiles& found : all) {
    if (!found.reason.empty()) throw Error(ErrorKind::no_answer, fmt::format("{}: {}", shown_name(found.name), found.reason));
  }
  if (options.result.csv) {
    print_csv(out, all, options);
  } else {
    print(out, all, options);
  }
  print_notes(out, all, options);
  return kExitOk;
}

CLI::App* add_command(CLI::App& program, Action& action, const char* name, const char* description,
                      const std::shared_ptr<QuantileOptions>& options) {
  CLI::App* command = program.add_subcommand(name, description);
  add_files(*command, options->input, ".npy files, text, raw numbers; none, or -: standard input");
  add_options(*command, options->input);
  add_nodata(*command, options->input.nodata);
  add_map(*command, options->input);
  add_total(*command, options->input);
  add_images(*command, options->input);
  add_by(*command, options->input);
  add_axes(*command, options->axes);
  command->add_option("--method", options->method, "linear (default), lower, higher, nearest, midpoint")->type_name("NAME");
  command->add_option("--threads", options->input.threads, "threads")->transform(whole_number(1, 1u << 16))->option_text("N");
  add_options(*command, options->result, kNan | kFloat32 | kPlain | kJson | kCsv | kHex | kVerbose);
  command->callback([options, &action] {
    options->input.any_order = true;
    action = [options](Output& out) {
      options->input.complete();
      return run(out, *options);
    };
  });
  return command;
}

}  // namespace

void add_quantile(CLI::App& program, Action& action) {
  const auto quantile = std::make_shared<QuantileOptions>();
  CLI::App* command = add_command(program, action, "quantile", "Exact quantiles, of any type, in bounded memory", quantile);
  command->add_option("-q,--quantile", quantile->wanted, "from 0 to 1; several: 0.1,0.5,0.9 or -q again")
      ->required()
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("Q");
  command->footer(R"(Examples:
  samesum quantile -q 0.9 x.npy
  samesum quantile -q 0.25,0.5,0.75 --column price --by city sales.csv
  samesum quantile -q 0.5 --method lower --nan skip x.npy
  samesum quantile -q 0.1,0.9 --axis 0 x.npy

The quantile Q of n numbers is at the index (n - 1)Q of the sorted numbers; 0.9
is nine tenths, and the index is exact. Between two numbers, 'linear' (as in
numpy) gives the exact value rounded once; 'lower' and 'higher' take a neighbour,
'nearest' the nearer one (of two the one with the even index), 'midpoint' the
middle of both. The result of integers is an integer if the exact value is one.
All quantiles are found in the same passes over a file, by the CPU. Input from a
pipe of more than 16 MiB goes through a temporary file (in TMPDIR).)");
  const auto median = std::make_shared<QuantileOptions>();
  median->wanted = {"0.5"};
  add_command(program, action, "median", "The exact median, of any type, in bounded memory", median)->footer(R"(Examples:
  samesum median x.npy
  seq 100 | samesum median -
  samesum median --column price --nodata -1 sales.csv
  samesum median --axis 0 stack.npy -o background.npy

The same as 'samesum quantile -q 0.5', which explains it.)");
}

}  // namespace samesum::cli
