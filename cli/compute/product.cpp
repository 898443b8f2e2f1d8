// samesum prod FILE...
#include "command.hpp"
#include "compute/complex.hpp"
#include "group/axes.hpp"
#include "group/by.hpp"
#include "input/input.hpp"
#include "input/nodata.hpp"
#include "output/number.hpp"
#include "output/result.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>
#include <samesum/reduce.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace samesum::cli {
namespace {

struct ProductOptions {
  Input input;
  std::string device = "auto", nodata;
  Tuning tuning;
  bool exact = false;
  ResultOptions result;
  AxesOptions axes;
};

// The product of one input; for integers with --exact also its digits.
struct FoundProduct {
  std::string name;
  std::optional<Number> number;
  std::string digits;
  std::uint64_t count = 0, missing = 0;
  double seconds = 0;

  std::string text(const ProductOptions& options) const { return number ? options.result.text(*number) : digits; }
};

// Appends a chunk; in parts where the filter is active, as it copies what it changes.
void append_in_parts(Array chunk, NodataFilter& filter, Product& product) {
  const std::uint64_t most = filter.active() ? NodataFilter::most(chunk.type()) : std::max<std::uint64_t>(chunk.size(), 1);
  for (std::uint64_t first = 0; first < chunk.size(); first += most) {
    product.append(filter.with_ones(chunk.part(first, std::min(most, chunk.size() - first))));
  }
}

FoundProduct product_of(const NamedSource& input, const Device& device, const ProductOptions& options) {
  const std::unique_ptr<Source> source = input.open();
  NodataFilter filter(options.nodata, !source->type());
  Product product({.nan = options.result.nan_policy(), .device = device, .tuning = options.tuning}, source->type());
  FoundProduct found{input.name, std::nullopt, {}, 0, 0, 0};
  try {
    while (const std::optional<Array> chunk = source->next()) {
      append_in_parts(*chunk, filter, product);
      found.count += chunk->size();
    }
    if (options.exact) {
      found.digits = product.digits();
    } else {
      found.number = Number(product.value());
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::device || std::string_view(error.what()).starts_with(input.name)) throw;
    const bool too_great = std::string_view(error.what()).find("does not fit into") != std::string_view::npos;
    throw Error(error.kind(), fmt::format("{}: {}{}", shown_name(input.name), error.what(), too_great ? " (--exact prints it)" : ""));
  }
  found.missing = source->missing() + filter.left_out();
  found.count -= filter.left_out();
  found.seconds = product.report().seconds;
  return found;
}

void add_value(Json& object, const FoundProduct& found) {
  if (found.number) return found.number->add_to(object);
  object["value"] = found.digits;  // a string, as few programs read all digits of a number
  object["type"] = "integer";
}

Json json_of(const FoundProduct& found) {
  Json object;
  object["file"] = found.name;
  object["count"] = found.count;
  object["missing"] = found.missing;
  add_value(object, found);
  return object;
}

void print(Output& out, const std::vector<FoundProduct>& all, const ProductOptions& options, const std::string& device) {
  const ResultOptions& result = options.result;
  if (result.csv) {
    out.print("file,product,bits,count,missing\n");
    for (const FoundProduct& found : all) {
      out.print("{},{},{},{},{}\n", csv_field(found.name), found.text(options), found.number ? found.number->bits() : "", found.count,
                found.missing);
    }
  } else {
    for (const FoundProduct& found : all) {
      out.print("{}{}\n", found.text(options), all.size() > 1 && !result.plain ? "\t" + shown_name(found.name) : "");
    }
  }
  for (const FoundProduct& found : all) {
    const std::string name = shown_name(found.name);
    if (result.verbose)
      out.note(fmt::format("{}: product of {}, {}, {}", name, counted(found.count, "number"), duration(found.seconds), device));
    if (found.missing == 0 || result.plain || result.csv) continue;
    out.note(fmt::format("{}: {} missing{}", name, grouped(found.missing), options.nodata.empty() ? "" : " or equal to --nodata"));
  }
}

int run(Output& out, ProductOptions options) {
  options.result.check();
  options.input.check();
  if (options.exact && options.result.hex) throw Error(ErrorKind::usage, "--exact gives decimal digits: leave --hex out");
  options.input.in_order = true;
  options.axes.check();
  if (options.axes.wanted()) {
    if (options.exact) throw Error(ErrorKind::usage, "--exact prints all digits of one product: leave out one of --exact and --axis");
    options.input.nodata = options.nodata;
    return run_along_axes(out, options.input, options.device, "prod", options.axes, options.result, options.tuning);
  }
  if (options.input.sorted && options.input.keys.empty()) throw Error(ErrorKind::usage, "--sorted goes with --by");
  if (!options.input.keys.empty()) {
    if (options.exact) throw Error(ErrorKind::usage, "--exact prints all digits of one product: leave out one of --exact and --by");
    options.input.nodata = options.nodata;
    return run_reduction_by(out, options.input, options.device, "prod", options.result);
  }
  const auto code =
      run_complex(out, "prod", options.input, options.device, options.result, options.tuning, options.exact || !options.nodata.empty());
  if (code) return *code;
  const Device device = choose_device(options.device, options.input.resident_bytes());
  std::vector<FoundProduct> all;
  for (const NamedSource& source : options.input.sources()) all.push_back(product_of(source, device, options));
  if (!options.result.json) {
    print(out, all, options, device.info().selector);
    return kExitOk;
  }
  Json object;
  if (all.size() == 1) add_value(object, all[0]);
  object["device"] = device.info().selector;
  object["nan_policy"] = options.result.nan;
  object["files"] = Json::array();
  for (const FoundProduct& found : all) object["files"].push_back(json_of(found));
  out.print("{}\n", to_text(object));
  return kExitOk;
}

}  // namespace

void add_product(CLI::App& program, Action& action) {
  const auto options = std::make_shared<ProductOptions>();
  CLI::App* command = program.add_subcommand("prod", "The product: of integers exact, of others by a fixed tree");
  add_files(*command, options->input, ".npy files, text, raw numbers; none, or -: standard input");
  add_options(*command, options->input);
  command->add_flag("--exact", options->exact, "of integers: all digits, up to 315,653 of them");
  command->add_option("--device", options->device, "cpu, opencl:0, cuda:0, auto (default) ...")->type_name("DEVICE");
  add_nodata(*command, options->nodata);
  add_map(*command, options->input);
  add_by(*command, options->input);
  add_total(*command, options->input);
  add_images(*command, options->input);
  command->add_option("--threads", options->tuning.threads, "threads (CPU)")->transform(whole_number(1, 1u << 16))->option_text("N");
  add_options(*command, options->result, kNan | kPlain | kJson | kCsv | kHex | kVerbose);
  add_axes(*command, options->axes);
  refuse_option(*command, "--float32", "a product is rounded at each step of a fixed order, in the type of its elements");
  command->footer(R"(Examples:
  samesum prod x.npy
  seq 20 | samesum prod -              # 2432902008176640000
  seq 100 | samesum prod --exact -     # all 158 digits of 100!
  samesum prod --nan skip --nodata -9999 x.npy
  samesum prod --axis 0 x.npy -o p.npy # of each column of a matrix
  samesum prod --column price --by city t.csv # of each group of rows

The product of integers is exact. If 64 bits do not hold it, the error has its
value; --exact prints up to 2^20 bits. Other numbers are multiplied in a fixed
order, with the same bits from every device (docs/guarantees.md).)");
  command->callback([options, &action] {
    options->input.threads = options->tuning.threads;
    action = [options](Output& out) {
      options->input.complete();
      return run(out, *options);
    };
  });
}

}  // namespace samesum::cli
