// samesum prod FILE...
#include "product.hpp"

#include "command.hpp"
#include "input.hpp"
#include "nodata.hpp"
#include "number.hpp"
#include "summing.hpp"

#include <samesum/error.hpp>
#include <samesum/reduce.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace samesum::cli {
namespace {



struct Options {
  Input input;
  std::string device = "auto", nan = "propagate", nodata;
  ReduceOptions how;
  bool exact = false, json = false, hex = false;
};

// The product of one input; integers with --exact as their digits.
struct Found {
  std::string name;
  std::optional<Number> number;
  std::string digits;
  std::uint64_t missing = 0;

  std::string text(const Options& options) const { return !number ? digits : options.hex ? number->hex() : number->decimal(); }
};

Found product_of(const NamedSource& input, const Device& device, const Options& options) {
  const std::unique_ptr<Source> source = input.open();
  NodataFilter filter(options.nodata, !source->type());
  Product product(device, options.how, source->type());
  while (const std::optional<Array> chunk = source->next()) append_in_parts(*chunk, filter, product);
  Found found{input.name, std::nullopt, {}, source->missing() + filter.left_out()};
  try {
    if (options.exact) {
      found.digits = product.digits();
    } else {
      found.number = number_of(product.value());
    }
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", input.name == "-" ? "standard input" : input.name, error.what()));
  }
  return found;
}

Json json_of(const Found& found) {
  Json object;
  object["file"] = found.name;
  object["missing"] = found.missing;
  if (found.number) {
    found.number->add_to(object);
  } else {
    object["value"] = found.digits;  // in a string: few programs read all digits of a number
    object["type"] = "integer";
  }
  return object;
}

int run(Output& out, Options options) {
  if (options.nan != "propagate" && options.nan != "skip") {
    throw Error(ErrorKind::usage, fmt::format("--nan takes 'propagate' or 'skip', not '{}'", options.nan));
  }
  if (options.exact && options.hex) throw Error(ErrorKind::usage, "--exact gives decimal digits: leave --hex out");
  options.how.nan = options.nan == "skip" ? NanPolicy::skip : NanPolicy::propagate;
  options.input.in_order = true;
  const Device device = choose_device(options.device, options.input.resident_bytes());
  std::vector<Found> all;
  for (const NamedSource& source : options.input.sources()) all.push_back(product_of(source, device, options));
  if (options.json) {
    Json object;
    object["device"] = device.info().selector;
    object["nan_policy"] = options.nan;
    object["files"] = Json::array();
    for (const Found& found : all) object["files"].push_back(json_of(found));
    out.print("{}\n", to_text(object));
    return kExitOk;
  }
  for (const Found& found : all) out.print("{}{}\n", found.text(options), all.size() > 1 ? "\t" + found.name : "");
  return kExitOk;
}

}  // namespace

Number number_of(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.number)) return Number(*integer);
  if (const auto* integer = std::get_if<std::uint64_t>(&value.number)) return Number(*integer);
  return {std::get<double>(value.number), value.type == DType::float64 ? DType::float64 : DType::float32};
}

void append_in_parts(Array chunk, NodataFilter& filter, Product& product) {
  const std::uint64_t most = filter.active() ? NodataFilter::most(chunk.type()) : std::max<std::uint64_t>(chunk.size(), 1);
  for (std::uint64_t first = 0; first < chunk.size(); first += most) {
    product.append(filter.with_ones(chunk.part(first, std::min(most, chunk.size() - first))));
  }
}

void add_product(CLI::App& program, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand("prod", "The product: of integers exact, of others by a fixed tree");
  add_files(*command, options->input, ".npy files, text, raw numbers; none, or -: standard input");
  add_options(*command, options->input);
  command->add_flag("--exact", options->exact, "of integers: all digits, up to 315,653 of them");
  command->add_option("--device", options->device, "cpu, opencl:0, cuda:0, auto (default) ...")->type_name("DEVICE");
  command->add_option("--nan", options->nan, "propagate (default) or skip NaNs")->type_name("POLICY");
  command->add_option("--nodata", options->nodata, "take 1 for elements that equal this")->type_name("VALUE");
  command->add_option("--threads", options->how.threads, "threads (CPU)")->check(CLI::Range(1u, 1u << 16, "number"))->option_text("N");
  command->add_flag("--json", options->json, "print JSON");
  command->add_flag("--hex", options->hex, "print hexadecimal floats, as C's %a");
  command->footer(R"(Examples:
  samesum prod x.npy
  seq 20 | samesum prod -              2432902008176640000
  seq 100 | samesum prod --exact -     all 158 digits of 100!
  samesum prod --nan skip --nodata -9999 x.npy

The product of integers is exact, or an error that has its value where 64 bits do
not hold it. --exact works out up to 2^20 bits. Other numbers are multiplied in a
fixed order, the same bits from every device: docs/guarantees.md has it.)");
  command->callback([options, &action] {
    options->input.threads = options->how.threads;
    action = [options](Output& out) {
      options->input.complete();
      return run(out, *options);
    };
  });
}

}  // namespace samesum::cli
