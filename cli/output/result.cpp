#include "output/result.hpp"

#include "input/input.hpp"
#include "output/printable.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

namespace samesum::cli {
namespace {

// "268,435,456 float32 elements (3 NaN left out, 1 inf)".
std::string summands(const ResultOptions& options, const NamedSum& named) {
  const Accumulator& sum = named.sum;
  std::string text = counted(sum.count(), named.type               ? fmt::format("{} element", name_of(*named.type))
                                          : named.format == "text" ? "number"
                                                                   : "element");
  std::vector<std::string> specials;
  if (sum.nan_count() != 0) {
    specials.push_back(fmt::format("{} NaN{}", grouped(sum.nan_count()), options.nan_policy() == NanPolicy::skip ? " left out" : ""));
  }
  if (sum.positive_infinities() != 0) specials.push_back(fmt::format("{} inf", grouped(sum.positive_infinities())));
  if (sum.negative_infinities() != 0) specials.push_back(fmt::format("{} -inf", grouped(sum.negative_infinities())));
  if (named.missing != 0) specials.push_back(fmt::format("{} missing", grouped(named.missing)));
  return specials.empty() ? text : fmt::format("{} ({})", text, fmt::join(specials, ", "));
}

// "prices.csv, column 2 ('price')".
std::string place(const NamedSum& sum) { return shown_name(sum.name) + (sum.part.empty() ? "" : ", ") + printable_name(sum.part); }

// The sum of an input, or of all.
Number round(const ResultOptions& options, const Accumulator& sum, const std::string& of) try {
  return options.round(sum);
} catch (const Error& error) {
  throw Error(error.kind(), fmt::format("{}: {}", of, error.what()));
}

void print_one(Output& out, const ResultOptions& options, const NamedSum& sum) {
  const Number value = round(options, sum.sum, place(sum));
  out.print("{}\n", out.bold(options.text(value)));
  if (!out.terminal() && !options.verbose) return;
  const std::string rounded = is_integer(value.type()) ? "" : fmt::format(", rounded once to {}", name_of(value.type()));
  out.note(fmt::format("exact sum of {} in {}{}", summands(options, sum), place(sum), rounded));
  if (options.verbose && sum.report) out.note(describe(sum));
}

// On a terminal a table; in a pipe a line for each: the value and the name.
void print_several(Output& out, const ResultOptions& options, const std::vector<NamedSum>& sums, const Accumulator& total) {
  std::vector<std::string> texts;
  for (const NamedSum& sum : sums) texts.push_back(options.text(round(options, sum.sum, place(sum))));
  const std::string total_text = options.text(round(options, total, "total"));
  if (!out.terminal()) {
    for (const NamedSum& sum : sums) {
      out.print("{}\t{}\n", options.text(options.round(sum.sum)), place(sum));
      if (!options.verbose) continue;
      out.note(fmt::format("{}: {}", place(sum), summands(options, sum)));
      if (sum.report) out.note(fmt::format("{}: {}", place(sum), describe(sum)));
    }
    return out.print("{}\ttotal\n", total_text);
  }
  Table table("><");
  for (const NamedSum& sum : sums) {
    table.add({options.text(options.round(sum.sum)), place(sum)});
    if (!options.verbose) continue;
    table.add({"", {summands(options, sum), Style::dim}});
    if (sum.report) table.add({"", {describe(sum), Style::dim}});
  }
  table.add({{total_text, Style::bold}, "total"});
  table.print(out);
}

void print_csv(Output& out, const ResultOptions& options, const std::vector<NamedSum>& sums) {
  out.print("file,sum,bits,count,nan,missing\n");
  const auto line = [&](const std::string& name, const Accumulator& sum, std::uint64_t missing) {
    const Number value = round(options, sum, shown_name(name));
    out.print("{},{},{},{},{},{}\n", csv_field(name), options.text(value), value.bits(), sum.count(), sum.nan_count(), missing);
  };
  std::uint64_t missing = 0;
  for (const NamedSum& sum : sums) {
    line(sum.name, sum.sum, sum.missing);
    missing += sum.missing;
  }
  if (sums.size() > 1) line("total", total_of(sums), missing);
}

}  // namespace

NanPolicy ResultOptions::nan_policy() const { return nan == "skip" ? NanPolicy::skip : NanPolicy::propagate; }

void ResultOptions::check() const {
  if (nan != "propagate" && nan != "skip") {
    throw Error(ErrorKind::usage, fmt::format("--nan takes 'propagate' or 'skip', not '{}'", nan));
  }
  if (plain + json + csv > 1) throw Error(ErrorKind::usage, "of --plain, --json and --csv only one can be used");
}

std::string ResultOptions::text(const Number& real, const Number& imag) const {
  const std::string second = text(imag);
  return fmt::format("{}{}{}j", text(real), second.starts_with('-') ? "" : "+", second);
}

Number ResultOptions::round(const Accumulator& sum) const {
  if (float32) return {sum.round_to_float(nan_policy()), DType::float32};
  if (!is_integer(sum.result_type())) return {sum.round(nan_policy()), DType::float64};
  // The type that holds the sum: it is printed, and those of a text's integers have none.
  const double about = sum.round();
  return about < 0 || (about < 0x1p63 && sum.result_type() == DType::int64) ? Number(sum.to_int64()) : Number(sum.to_uint64());
}

void add_options(CLI::App& command, ResultOptions& options, unsigned wanted) {
  const auto flag = [&](ResultOption which, const char* name, bool& value, const char* description) {
    if ((wanted & which) != 0) command.add_flag(name, value, description);
  };
  if ((wanted & kNan) != 0) command.add_option("--nan", options.nan, "propagate (default) or skip NaNs")->type_name("POLICY");
  flag(kFloat32, "--float32", options.float32, "round to float32, instead of float64");
  flag(kPlain, "--plain", options.plain, "print bare numbers, also on a terminal");
  flag(kJson, "--json", options.json, "print JSON: everything that is known");
  flag(kCsv, "--csv", options.csv, "print CSV, with a line of names first");
  flag(kHex, "--hex", options.hex, "print hexadecimal floats, as C's %a");
  flag(kVerbose, "-v,--verbose", options.verbose, "also tell how it was done");
  if ((wanted & kPartial) != 0) {
    command.add_option("--partial", options.partial, "also write the unrounded result, for 'merge'")->type_name("OUT");
  }
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string describe(const NamedSum& sum) {
  const Report& report = *sum.report;
  std::string text = fmt::format("{} {}", report.device, report.variant);
  if (!report.configuration.empty()) text += " " + report.configuration;
  text += ", " + duration(report.seconds);
  if (report.seconds > 0) text += fmt::format(", {:.3g} GB/s", static_cast<double>(report.bytes) / report.seconds / 1e9);
  if (report.upload_seconds > 0) text += fmt::format("; upload {}", duration(report.upload_seconds));
  if (sum.read_seconds > 0) text += fmt::format("; waited {} for {}", duration(sum.read_seconds), sum.format);
  return text;
}

Accumulator total_of(const std::vector<NamedSum>& sums) {
  Accumulator total;
  for (const NamedSum& sum : sums) total += sum.sum;
  return total;
}

void print_sums(Output& out, const ResultOptions& options, const std::vector<NamedSum>& sums) {
  const Accumulator total = total_of(sums);
  if (options.csv) return print_csv(out, options, sums);
  if (options.plain) return out.print("{}\n", options.text(options.round(total)));
  if (sums.size() == 1) {
    print_one(out, options, sums.front());
  } else {
    print_several(out, options, sums, total);
  }
  const Number value = options.round(total);
  if (options.verbose) out.note(fmt::format("bits {}, {}", value.bits(), options.hex ? value.decimal() : value.hex()));
  // These notes are printed in a pipe too.
  if (total.nan_count() != 0 && options.nan_policy() == NanPolicy::propagate) {
    out.note(fmt::format("{} NaN among them; --nan skip leaves NaNs out", grouped(total.nan_count())));
  }
  if (out.terminal() || options.verbose) return;
  for (const NamedSum& sum : sums) {
    const std::uint64_t skipped = options.nan_policy() == NanPolicy::skip ? sum.sum.nan_count() : 0;
    if (sum.missing != 0) out.note(fmt::format("{}: {} missing", place(sum), grouped(sum.missing)));
    if (skipped != 0) out.note(fmt::format("{}: {} NaN left out", place(sum), grouped(skipped)));
  }
}

void add_accumulator(Json& object, const ResultOptions& options, const Accumulator& sum) {
  options.round(sum).add_to(object);
  object["nan_policy"] = options.nan;
  object["count"] = sum.count();
  object["nan_count"] = sum.nan_count();
  object["positive_infinities"] = sum.positive_infinities();
  object["negative_infinities"] = sum.negative_infinities();
}

Json json_of(const ResultOptions& options, const NamedSum& sum) {
  Json object;
  object["file"] = sum.name;
  if (sum.type) {
    object["dtype"] = name_of(*sum.type);
    object["shape"] = sum.shape;
  }
  if (!sum.format.empty()) object["format"] = sum.format;
  if (!sum.part.empty()) object["part"] = sum.part;
  add_accumulator(object, options, sum.sum);
  if (sum.format == "text" || sum.missing != 0) object["missing"] = sum.missing;
  if (sum.report) {
    object["device"] = sum.report->device;
    object["variant"] = sum.report->variant;
    object["configuration"] = sum.report->configuration;
    object["upload_seconds"] = rounded_seconds(sum.report->upload_seconds);
    object["seconds"] = rounded_seconds(sum.report->seconds);
    object["read_seconds"] = rounded_seconds(sum.read_seconds);
  }
  return object;
}

}  // namespace samesum::cli
