// samesum scan FILE
#include "command.hpp"
#include "group/division.hpp"
#include "input/elements.hpp"
#include "input/input.hpp"
#include "output/number.hpp"
#include "output/output_file.hpp"
#include "output/printable.hpp"
#include "output/result.hpp"
#include "usage.hpp"

#include <samesum/array_file.hpp>
#include <samesum/device.hpp>
#include <samesum/error.hpp>
#include <samesum/reduce.hpp>
#include <samesum/scan.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace samesum::cli {
namespace {

struct ScanOptions {
  Input input;
  std::string device = "auto", operation = "sum", combine, out;
  std::optional<std::int64_t> axis;
  DivisionOptions division;
  std::optional<std::string> identity;
  bool exclusive = false;
  ResultOptions result;
};

ScanOperation operation_named(const std::string& name) {
  constexpr std::pair<std::string_view, ScanOperation> kNames[] = {{"sum", ScanOperation::sum},
                                                                   {"prod", ScanOperation::product},
                                                                   {"min", ScanOperation::min},
                                                                   {"max", ScanOperation::max},
                                                                   {"count", ScanOperation::count_nonzero}};
  for (const auto& [known, operation] : kNames) {
    if (name == known) return operation;
  }
  throw Error(ErrorKind::usage, fmt::format("--op is sum, prod, min, max or count, not '{}'; a formula goes to --combine", name));
}

Number scanned_number(const Values& values, std::uint64_t i) {
  switch (values.type()) {
    case DType::float64:
      return {values.as<double>()[i], DType::float64};
    case DType::float32:
      return {double{values.as<float>()[i]}, DType::float32};
    case DType::int64:
      return Number(values.as<std::int64_t>()[i]);
    case DType::uint64:
      return Number(values.as<std::uint64_t>()[i]);
    default:  // extremes in the type of the elements, and conditions
      return Number(min(values.array().reshaped({values.size()}).part(i, 1)).value);
  }
}

int run(Output& out, const ScanOptions& options) {
  options.result.check();
  if (options.input.files.size() != 1) throw Error(ErrorKind::usage, "a scan takes one file: its results stand beside its elements");
  const bool has_operator = !options.combine.empty();
  if (has_operator && (options.operation != "sum" || options.result.float32 || options.result.nan != "propagate")) {
    throw Error(ErrorKind::usage, "--combine says it all: leave out --op, --float32 and --nan");
  }
  if (options.identity && !(has_operator && options.exclusive)) {
    throw Error(ErrorKind::usage, "--identity is the first result of --combine with --exclusive, before all elements: leave it out");
  }
  for (const std::string_view end : {".npz", ".gz", ".xz", ".zst", ".bz2", ".zip", ".txt", ".csv", ".json", ".raw", ".bin"}) {
    if (!options.out.ends_with(end)) continue;
    throw Error(ErrorKind::usage, fmt::format("{}: --out writes a .npy file: give a name that ends in .npy", options.out));
  }
  Scan what{.exclusive = options.exclusive, .float32 = options.result.float32, .axis = options.axis};
  what.operation = operation_named(options.operation);
  if (what.float32 && what.operation != ScanOperation::sum) throw Error(ErrorKind::usage, "--float32 rounds sums: leave out --op");
  options.division.check();
  if (options.axis && options.division.wanted()) {
    throw Error(ErrorKind::usage,
                fmt::format("a scan goes along an axis or by segment: leave out --axis or {}", options.division.option()));
  }
  const OutputFile target(options.out, options.input.files);
  if (target.wanted() && (options.result.plain || options.result.csv || options.result.json)) {
    throw Error(ErrorKind::usage,
                "--plain, --csv and --json say how values are printed, and with --out they are not: leave one of them out");
  }
  const TextAs numbers = has_operator || what.float32 ? TextAs::float64 : TextAs::numbers;
  Input of_rows = options.input;
  of_rows.rows = what.axis.has_value();
  const Elements elements(options.input.files.front(), of_rows.options(), numbers, what.axis ? TextLines::rows : TextLines::sequence);
  const std::vector<std::uint64_t> shape = elements.shape();
  if (options.division.wanted()) {
    const By division = division_by(options.division, elements.view().size());
    what.offsets.assign(division.offsets().begin(), division.offsets().end());
  }
  const Device device = choose_device(options.device, elements.view().bytes());
  const Array data = elements.view().reshaped(Shape(shape));
  const auto start = std::chrono::steady_clock::now();
  const samesum::Options how{.nan = options.result.nan_policy(), .device = device, .tuning = {.threads = options.input.threads}};
  std::optional<Values> found;
  try {
    if (has_operator) {
      Operator op{Formula(options.combine)};
      if (options.identity) op.identity.push_back(parse_value(*options.identity, "--identity"));
      found = scan(data, op, what, how);
    } else {
      found = scan(data, what, how);
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::no_answer) throw;
    throw Error(error.kind(), fmt::format("{}: {}", shown_name(options.input.files.front()), error.what()));
  }
  const Values& values = *found;
  elements.check_unchanged();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  if (target.wanted()) {
    const std::vector<std::byte> header = npy_header(values.type(), values.shape());
    target.write(out, {header, {static_cast<const std::byte*>(values.data()), values.array().bytes()}});
  } else if (options.result.json) {
    Json object;
    object["operation"] = has_operator ? options.combine : options.operation;
    object["exclusive"] = options.exclusive;
    object["shape"] = values.shape();
    object["type"] = name_of(values.type());
    print_with_array(out, object, "values", values.size(), [&](std::uint64_t i) {
      Json one;
      scanned_number(values, i).add_to(one);
      return one;
    });
  } else {
    if (options.result.csv) out.print("index,{}\n", has_operator ? "value" : options.operation);
    for (std::uint64_t i = 0; i < values.size(); ++i) {
      const std::string text = options.result.text(scanned_number(values, i));
      options.result.csv ? out.print("{},{}\n", i, text) : out.print("{}\n", text);
      if (i % (1u << 16) == (1u << 16) - 1) out.flush();
    }
  }
  if (options.result.verbose || (target.wanted() && out.terminal())) {
    out.note(fmt::format("scan of {} of shape ({}): {}, {}, {}", shown_name(options.input.files.front()), fmt::join(shape, ", "),
                         name_of(values.type()), device.info().selector, duration(seconds)));
  }
  return kExitOk;
}

}  // namespace

void add_scan(CLI::App& program, Action& action) {
  const auto options = std::make_shared<ScanOptions>();
  CLI::App* command = program.add_subcommand("scan", "The sum of every prefix, each exact and rounded once; other scans");
  add_files(*command, options->input, "a .npy file, text, raw numbers; none, or -: standard input");
  add_options(*command, options->input);
  CLI::Option* const op =
      command->add_option("--op", options->operation, "sum (default), prod, min, max, count: of nonzeros")->type_name("NAME");
  command->add_option("--combine", options->combine, "an operator of your own, as a formula of a and b: 'gcd(a, b)'")
      ->type_name("FORMULA")
      ->excludes(op);
  command->add_option("--identity", options->identity, "--combine --exclusive: the first result, before all elements")->type_name("NUMBER");
  command->add_flag("--exclusive", options->exclusive, "of the elements before each one, without it");
  command->add_option("--axis", options->axis, "along this axis of an array; -1 is the last; else over all, in C order")->type_name("N");
  add_segments(*command, options->division);
  command->add_option("-o,--out", options->out, ".npy to write; else the values are printed")->type_name("FILE");
  command->add_option("--device", options->device, "cpu, opencl:0, cuda:0, auto (default)")->type_name("DEVICE");
  command->add_option("--threads", options->input.threads, "threads (CPU)")->transform(whole_number(1, 1u << 16))->option_text("N");
  add_options(*command, options->result, kNan | kFloat32 | kPlain | kJson | kCsv | kHex | kVerbose);
  command->footer(R"(Examples:
  samesum scan x.npy -o y.npy          # y[i] is the sum of x[0] ... x[i]
  seq 100 | samesum scan -             # a line for each number
  samesum scan --exclusive x.npy -o y.npy # of what comes before
  samesum scan --axis 0 x.npy -o y.npy # down each column of a matrix
  samesum scan --offsets o.npy x.npy   # anew in each segment
  samesum scan --op max x.npy -o y.npy # the greatest so far
  samesum scan --combine 'gcd(a, b)' n.npy

Each result has the bits of the reduction of its prefix alone ('samesum sum',
'prod' ...), on every device and for any number of threads. Sums of floats are
float64, or with --float32 float32; sums of integers int64 or uint64: one that
does not fit is an error with its index. Products of floats and operators of
your own go by a balanced tree over the index, as 'samesum prod' and 'samesum
reduce' have it.)");
  command->callback([options, &action] {
    options->input.in_order = true;
    action = [options](Output& out) {
      options->input.complete();
      return run(out, *options);
    };
  });
}

}  // namespace samesum::cli
