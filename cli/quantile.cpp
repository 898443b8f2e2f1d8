// samesum median FILE..., samesum quantile -q Q FILE...
#include "command.hpp"
#include "input.hpp"
#include "nodata.hpp"
#include "number.hpp"
#include "spool.hpp"
#include "summing.hpp"

#include <samesum/error.hpp>
#include <samesum/quantile.hpp>

#include <unistd.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <system_error>

namespace samesum::cli {
namespace {

struct Options {
  Input input;
  std::vector<std::string> wanted;  ///< as the user wrote them
  std::string method = "linear";
  std::string nan = "propagate";
  std::string nodata;
  bool total = false, json = false, plain = false, hex = false;
  std::uint32_t threads = 0;
};

struct Found {
  std::string name;
  Quantiles quantiles;
  std::string reason;  ///< why there are none
  std::uint64_t missing = 0;
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

// Whether it gives the same numbers when it is opened again.
bool is_file(const std::string& path) {
  std::error_code error;
  return path != "-" && std::filesystem::is_regular_file(path, error);
}

// Inputs one after the other, as often as they are asked for. What cannot be opened again is kept.
class Inputs {
 public:
  Inputs(std::vector<NamedSource> inputs, std::string nodata) : inputs_(std::move(inputs)), nodata_(std::move(nodata)) {
    for (const NamedSource& input : inputs_) {
      const std::unique_ptr<Source> source = input.open();
      spools_.push_back(is_file(input.name) ? nullptr : std::make_unique<Spool>(*source));
      if (spools_.size() == 1) type_ = source->type();
      if (type_ != source->type()) type_.reset();
    }
  }

  std::unique_ptr<Source> open() {
    missing_ = 0;
    return std::make_unique<Chain>(*this);
  }
  std::uint64_t missing() const noexcept { return missing_; }  // in all, once a source has been read to its end

 private:
  class Again final : public Source {
   public:
    explicit Again(Spool& spool) : spool_(spool) { spool_.rewind(); }
    std::optional<Array> next() override { return spool_.next(); }
    std::string_view format() const noexcept override { return spool_.format(); }
    std::optional<DType> type() const noexcept override { return spool_.type(); }
    std::uint64_t missing() const noexcept override { return spool_.missing(); }

   private:
    Spool& spool_;
  };

  class Chain final : public Source {
   public:
    explicit Chain(Inputs& inputs) : inputs_(inputs) {}
    std::optional<Array> next() override {
      for (;;) {
        if (source_ == nullptr) {
          if (at_ == inputs_.inputs_.size()) return std::nullopt;
          source_ = inputs_.open(at_++);
        }
        if (const std::optional<Array> view = source_->next()) return view;
        inputs_.missing_ += source_->missing();
        source_.reset();
      }
    }
    std::string_view format() const noexcept override { return source_ != nullptr ? source_->format() : ""; }
    std::optional<DType> type() const noexcept override { return inputs_.type_; }

   private:
    Inputs& inputs_;
    std::size_t at_ = 0;
    std::unique_ptr<Source> source_;
  };

  std::unique_ptr<Source> open(std::size_t index) {
    auto source = spools_[index] ? std::make_unique<Again>(*spools_[index]) : inputs_[index].open();
    return std::make_unique<WithoutNodata>(std::move(source), nodata_);
  }

  std::vector<NamedSource> inputs_;
  std::string nodata_;
  std::vector<std::unique_ptr<Spool>> spools_;  // none for files
  std::optional<DType> type_;                   // of all elements
  std::uint64_t missing_ = 0;
};

Found find(std::string name, std::vector<NamedSource> sources, const std::vector<double>& q, const Options& options) {
  Inputs inputs(std::move(sources), options.nodata);
  Found found{std::move(name), {}, {}, 0};
  try {
    const NanPolicy nan = options.nan == "skip" ? NanPolicy::skip : NanPolicy::propagate;
    found.quantiles = quantiles([&] { return inputs.open(); }, q, {nan, parse_quantile_method(options.method), options.threads});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::no_answer) throw;
    found.reason = error.what();
  }
  found.missing = inputs.missing();
  return found;
}

Number number_of(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.number)) return Number(*integer);
  if (const auto* integer = std::get_if<std::uint64_t>(&value.number)) return Number(*integer);
  return {std::get<double>(value.number), value.type == DType::float64 ? DType::float64 : DType::float32};
}

void print_json(Output& out, const std::vector<Found>& all, const Options& options) {
  Json object;
  object["method"] = options.method;
  object["nan_policy"] = options.nan;
  object["files"] = Json::array();
  for (const Found& found : all) {
    Json file = {{"file", found.name}};
    if (found.reason.empty()) {
      file["count"] = found.quantiles.count;
      file["nan_count"] = found.quantiles.nans;
    }
    file["missing"] = found.missing;
    file["quantiles"] = Json::array();
    for (std::size_t i = 0; i < options.wanted.size(); ++i) {
      Json entry = {{"q", parse_fraction(options.wanted[i])}};
      if (found.reason.empty()) {
        number_of(found.quantiles.values[i]).add_to(entry);
      } else {
        entry["value"] = nullptr;
        entry["reason"] = found.reason;
      }
      file["quantiles"].push_back(std::move(entry));
    }
    object["files"].push_back(std::move(file));
  }
  out.print("{}\n", to_text(object));
}

// A line for each quantile of each file: what tells them apart, and the value; with --plain the value alone.
void print(Output& out, const std::vector<Found>& all, const Options& options) {
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  for (const Found& found : all) {
    const std::string name = found.name == "-" ? "standard input" : found.name;
    if (!found.reason.empty()) throw Error(ErrorKind::no_answer, fmt::format("{}: {}", name, found.reason));
    for (std::size_t i = 0; i < options.wanted.size(); ++i) {
      const Number number = number_of(found.quantiles.values[i]);
      const std::string text = options.hex ? number.hex() : number.decimal();
      const std::string label = options.wanted.size() > 1 && !options.plain ? options.wanted[i] + "\t" : "";
      out.print("{}{}{}\n", label, text, all.size() > 1 && !options.plain ? "\t" + found.name : "");
    }
    if (terminal && !options.plain && found.quantiles.nans != 0 && options.nan == "propagate") {
      out.print("  {}\n", out.dim(fmt::format("{} NaN among them; --nan skip leaves NaNs out", grouped(found.quantiles.nans))));
    }
  }
}

int run(Output& out, const Options& options) {
  if (options.nan != "propagate" && options.nan != "skip") {
    throw Error(ErrorKind::usage, fmt::format("--nan takes 'propagate' or 'skip', not '{}'", options.nan));
  }
  if (options.plain && options.json) throw Error(ErrorKind::usage, "--plain and --json cannot both be had");
  std::vector<double> q;
  for (const std::string& one : options.wanted) q.push_back(parse_fraction(one));
  parse_quantile_method(options.method);
  options.input.resident_bytes();  // a bad file is found before long work is begun
  std::vector<Found> all;
  if (options.total) {
    all.push_back(find("total", options.input.sources(), q, options));
  } else {
    for (const NamedSource& source : options.input.sources()) all.push_back(find(source.name, {source}, q, options));
  }
  if (options.json) {
    print_json(out, all, options);
  } else {
    print(out, all, options);
  }
  return kExitOk;
}

CLI::App* add_command(CLI::App& program, Action& action, const char* name, const char* description,
                      const std::shared_ptr<Options>& options) {
  CLI::App* command = program.add_subcommand(name, description);
  add_files(*command, options->input, ".npy files, text, raw numbers; none, or -: standard input");
  add_options(*command, options->input);
  command->add_option("--method", options->method, "linear (default), lower, higher, nearest, midpoint")->type_name("NAME");
  command->add_option("--nan", options->nan, "propagate (default) or skip NaNs")->type_name("POLICY");
  command->add_option("--nodata", options->nodata, "leave out elements that equal this")->type_name("VALUE");
  command->add_option("--threads", options->threads, "threads")->check(CLI::Range(1u, 1u << 16, "number"))->option_text("N");
  command->add_flag("--total", options->total, "of the numbers of all files together");
  command->add_flag("--plain", options->plain, "print bare numbers");
  command->add_flag("--json", options->json, "print JSON");
  command->add_flag("--hex", options->hex, "print hexadecimal floats, as C's %a");
  command->callback([options, &action] {
    options->input.threads = options->threads;
    action = [options](Output& out) {
      options->input.complete();
      return run(out, *options);
    };
  });
  return command;
}

}  // namespace

void add_quantile(CLI::App& program, Action& action) {
  const auto quantile = std::make_shared<Options>();
  CLI::App* command = add_command(program, action, "quantile", "Exact quantiles, of any type, in bounded memory", quantile);
  command->add_option("-q,--quantile", quantile->wanted, "from 0 to 1; several: 0.1,0.5,0.9 or -q again")
      ->required()
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("Q");
  command->footer(R"(Examples:
  samesum quantile -q 0.9 x.npy
  samesum quantile -q 0.25,0.5,0.75 --column price sales.csv
  samesum quantile -q 0.5 --method lower --nan skip x.npy

The quantile Q of n numbers stands at the index (n - 1)Q of the sorted numbers;
0.9 is nine tenths, and the index exact. Between two numbers: linear as numpy
has it, the exact value rounded once; lower and higher take a neighbour, nearest
the nearer one (of two the one with the even index), midpoint the middle of both.
Integers stay integers where the exact value is one. All quantiles are found in
the same passes over a file, by the CPU; what comes through a pipe goes through
a temporary file (in TMPDIR) where it has more than 16 MiB.)");
  const auto median = std::make_shared<Options>();
  median->wanted = {"0.5"};
  add_command(program, action, "median", "The exact median, of any type, in bounded memory", median)->footer(R"(Examples:
  samesum median x.npy
  seq 100 | samesum median -
  samesum median --column price --nodata -1 sales.csv

The same as 'samesum quantile -q 0.5', which explains it.)");
}

}  // namespace samesum::cli
