#include "group/axes.hpp"

#include "command.hpp"
#include "group/axes_input.hpp"
#include "input/elements.hpp"
#include "output/number.hpp"
#include "output/output_file.hpp"
#include "output/printable.hpp"
#include "output/rows.hpp"

#include <samesum/array_file.hpp>
#include <samesum/axes.hpp>
#include <samesum/device.hpp>
#include <samesum/error.hpp>
#include <samesum/reduce.hpp>
#include <samesum/tiles.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <utility>

namespace samesum::cli {
namespace {

AxisReduction reduction_named(std::string_view name) {
  constexpr std::pair<std::string_view, AxisReduction> kNames[] = {
      {"sum", AxisReduction::sum},
      {"mean", AxisReduction::mean},
      {"var", AxisReduction::variance},
      {"std", AxisReduction::standard_deviation},
      {"norm", AxisReduction::norm},
      {"min", AxisReduction::min},
      {"max", AxisReduction::max},
      {"argmin", AxisReduction::argmin},
      {"prod", AxisReduction::product},
      {"sqnorm", AxisReduction::squared_norm},
      {"nonzero", AxisReduction::count_nonzero},
  };
  for (const auto& [known, reduction] : kNames) {
    if (name == known) return reduction;
  }
  return AxisReduction::argmax;
}

}  // namespace

void AxesOptions::check() const {
  if (!tile.empty() && !axes.empty()) throw Error(ErrorKind::usage, "--axis and --tile cannot be used together");
  segments.check();
  if (segments.wanted() && (!tile.empty() || !axes.empty())) {
    throw Error(ErrorKind::usage, fmt::format("--axis and --tile cannot be used together with {}", segments.option()));
  }
  if (segments.wanted() && keep) throw Error(ErrorKind::usage, fmt::format("--keepdims goes with --axis, not with {}", segments.option()));
  if (!tile.empty() && keep) throw Error(ErrorKind::usage, "--keepdims goes with --axis, not with --tile");
  if (wanted()) return;
  if (keep) throw Error(ErrorKind::usage, "--keepdims goes with --axis");
  if (!out.empty()) throw Error(ErrorKind::usage, "--out goes with --axis, --tile, --offsets or --lengths: one number is printed");
}

std::vector<std::uint64_t> parse_extents(const std::string& text, std::string_view option) {
  std::vector<std::uint64_t> extents;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    const auto [rest, error] = std::from_chars(at, end, extents.emplace_back());
    if (error != std::errc() || extents.back() == 0 || (rest != end && *rest != 'x')) {
      throw Error(ErrorKind::usage, fmt::format("{} takes numbers from 1 on with 'x' between them, as in 16x16, not '{}'", option, text));
    }
    if (rest == end) return extents;
    at = rest + 1;
  }
}

void add_axes(CLI::App& command, AxesOptions& options) {
  command.add_option("--axis", options.axes, "along these axes of an array: 0, or 0,2; -1 is the last")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("N");
  command.add_option("--tile", options.tile, "of each tile of this size, along the last axes: 16x16")->type_name("HxW");
  command.add_flag("--keepdims", options.keep, "--axis: the result keeps them, with extent 1");
  add_segments(command, options);
}

void add_segments(CLI::App& command, AxesOptions& options) {
  add_options(command, options.segments);
  command.add_option("-o,--out", options.out, "of these: .npy to write; else the values are printed")->type_name("FILE");
}

void add_axes_alone(CLI::App& command, AxesOptions& options) {
  command.add_option("--axis", options.axes, "along these axes of an array: 0, or 0,2; -1 is the last")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("N");
  command.add_flag("--keepdims", options.keep, "--axis: the result keeps them, with extent 1");
  command.add_option("-o,--out", options.out, "of --axis: .npy to write; else the values are printed")->type_name("FILE");
}

namespace {

// What results along axes are called, where their values go, and what is said of them.
struct Printed {
  std::string what;                      // "sum"
  std::string option;                    // "--axis"
  Json head;                             // of a JSON object, before the results
  std::string along;                     // "along axis 0"
  std::vector<std::string> names = {};   // of several columns
  std::vector<Values> columns = {};      // of one shape
  std::vector<std::uint64_t> from = {};  // the shape of what was reduced
  std::string device = {};
  double seconds = 0;
};

void refuse_beside(const std::string& option, const Input& input, const ResultOptions& result) {
  const auto refuse = [&](const std::string& why, const std::string& other) {
    throw Error(ErrorKind::usage, fmt::format("{}: leave out one of {} and {}", why, other, option));
  };
  if (result.float32) refuse("--float32 rounds one number", "--float32");
  if (!result.partial.empty()) refuse("--partial keeps one sum", "--partial");
  if (!input.nodata.empty()) refuse("--nodata leaves elements out of their array", "--nodata");
}

void require_no_format(const OutputFile& target, const ResultOptions& result) {
  if (!target.wanted() || (!result.plain && !result.csv && !result.json)) return;
  throw Error(ErrorKind::usage, "--plain, --csv and --json say how values are printed, and with --out they are not: leave one of them out");
}

Json numbers_of(const Values& values) {
  Json numbers = Json::array();
  for (std::uint64_t i = 0; i < values.size(); ++i) number_at(values, i).add_to(numbers.emplace_back());
  return numbers;
}

int print_along(Output& out, const Input& input, const OutputFile& target, Printed printed, const ResultOptions& result) {
  const Values& first = printed.columns.front();
  const bool several = printed.columns.size() > 1;
  if (target.wanted()) {
    const std::vector<std::byte> header = npy_header(first.type(), first.shape());
    target.write(out, {header, {static_cast<const std::byte*>(first.data()), first.array().bytes()}});
  } else if (result.json) {
    Json object = std::move(printed.head);
    object["shape"] = first.shape();
    if (!several) object["type"] = name_of(first.type());
    object["device"] = printed.device;
    if (!several) {
      object["values"] = numbers_of(first);
    } else {
      for (std::size_t k = 0; k < printed.columns.size(); ++k) object["values"][printed.names[k]] = numbers_of(printed.columns[k]);
    }
    out.print("{}\n", to_text(object));
  } else if (several) {
    Rows rows;
    rows.names = {"index"};
    rows.names.insert(rows.names.end(), printed.names.begin(), printed.names.end());
    for (std::uint64_t i = 0; i < first.size(); ++i) {
      std::vector<std::string>& row = rows.rows.emplace_back(1, fmt::format("{}", i));
      for (const Values& values : printed.columns) row.push_back(result.text(number_at(values, i)));
      if (result.plain) out.print("{}\n", fmt::join(row.begin() + 1, row.end(), "\t"));
    }
    if (!result.plain) result.csv ? rows.print_csv(out) : rows.print(out);
  } else {
    if (result.csv) out.print("index,{}\n", printed.what);
    for (std::uint64_t i = 0; i < first.size(); ++i) {
      const std::string text = result.text(number_at(first, i));
      result.csv ? out.print("{},{}\n", i, text) : out.print("{}\n", text);
    }
  }
  if (result.verbose || (target.wanted() && out.terminal())) {
    out.note(fmt::format("{} of {} of shape ({}) {}: {} of shape ({}), {}, {}", printed.what,
                         input.map.empty() ? shown_name(input.files.front()) : input.map, fmt::join(printed.from, ", "), printed.along,
                         name_of(first.type()), fmt::join(first.shape(), ", "), printed.device, duration(printed.seconds)));
  }
  return kExitOk;
}

Axes axes_of(const AxesOptions& options) {
  const Axes along(options.axes);
  return options.keep ? along.kept() : along;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Where the files of a formula's names lie: "x=a.npy" is a.npy.
std::vector<std::string> files_of(const Input& input) {
  if (input.map.empty()) return input.files;
  std::vector<std::string> files;
  for (const Input::Operand& operand : input.operands(input.formula())) files.push_back(operand.file);
  return files;
}

// All files that are read. @throws Error (usage) where segments need one, or would be read from where the numbers are.
std::vector<std::string> read_files(const Input& input, const AxesOptions& axes) {
  std::vector<std::string> read = files_of(input);
  if (!axes.segments.wanted()) return read;
  if (read.size() != 1)
    throw Error(ErrorKind::usage, fmt::format("{} takes one file: each has a shape of its own", axes.segments.option()));
  read.push_back(axes.segments.lengths.empty() ? axes.segments.offsets : axes.segments.lengths);
  if (read[0] == read[1] && (read[0] == "-" || read[0].empty())) {
    throw Error(ErrorKind::usage, "standard input cannot be both the numbers and their segments");
  }
  return read;
}

}  // namespace

int run_along_axes(Output& out, const Input& input, const std::string& device_name, std::string_view statistic, const AxesOptions& axes,
                   const ResultOptions& result, const Tuning& tuning) {
  const bool by_segment = axes.segments.wanted();
  Printed printed{std::string(statistic),
                  std::string(by_segment          ? axes.segments.option()
                              : axes.tile.empty() ? "--axis"
                                                  : "--tile"),
                  {},
                  {}};
  refuse_beside(printed.option, input, result);
  if (!input.map.empty() && axes.axes.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("--map goes with --axis; {0} takes the numbers of a file: leave out one of --map and {0}", printed.option));
  }
  const Tile tile(axes.tile.empty() ? std::vector<std::uint64_t>{} : parse_extents(axes.tile, "--tile"));
  if (by_segment && device_name != "auto" && device_name != "cpu") {
    throw Error(ErrorKind::usage, fmt::format("segments are added up on the CPU: leave out one of --device and {}", printed.option));
  }
  const OutputFile target(axes.out, read_files(input, axes));
  require_no_format(target, result);
  const AxesInput numbers(input, printed.option);
  printed.from = numbers.shape();
  const Device device = choose_device(by_segment ? "cpu" : device_name, numbers.bytes());
  const auto start = std::chrono::steady_clock::now();
  const Options options = {.nan = result.nan_policy(), .device = device, .tuning = tuning};
  printed.head["statistic"] = statistic;
  if (by_segment) {
    const Array all = numbers.array();
    printed.columns.push_back(segment_reduction(all.reshaped({all.size()}), statistic, axes.segments, options.nan, tuning));
    printed.head["segments"] = printed.columns[0].size();
    printed.along = "by segment";
  } else if (axes.tile.empty()) {
    printed.columns.push_back(numbers.reduce(reduction_named(statistic), axes_of(axes).with_ddof(axes.segments.ddof), options));
    printed.head["axis"] = axes.axes;
    printed.along = fmt::format("along axis {}", fmt::join(axes.axes, ", "));
  } else {
    printed.columns.push_back(tile_reduction(numbers.array(), reduction_named(statistic), tile, options));
    printed.head["tile"] = tile.extents();
    printed.along = "by tiles of " + axes.tile;
  }
  numbers.check_unchanged();
  printed.device = device.info().selector;
  printed.seconds = seconds_since(start);
  return print_along(out, input, target, std::move(printed), result);
}

int run_rows_along_axes(Output& out, const Input& input, const std::string& device_name, const std::vector<std::string>& statistics,
                        const AxesOptions& axes, const ResultOptions& result, const Tuning& tuning) {
  refuse_beside("--axis", input, result);
  if (!axes.out.empty()) {
    throw Error(ErrorKind::usage, "--out takes one array, and these are several statistics: name one (--only mean -o means.npy)");
  }
  Printed printed{"statistics", "--axis", {}, fmt::format("along axis {}", fmt::join(axes.axes, ", "))};
  const OutputFile none("", {});
  const AxesInput numbers(input, "--axis");
  const Device device = choose_device(device_name, numbers.bytes());
  const auto start = std::chrono::steady_clock::now();
  const Options options = {.nan = result.nan_policy(), .device = device, .tuning = tuning};
  const Axes along = axes_of(axes);
  for (const std::string& name : statistics) {
    const auto columns = [&]() -> Values {
      if (name == "nan") return numbers.reduce_of("isnan(x)", AxisReduction::sum, along, options);
      if (name == "count") return numbers.count(along, options);
      if (name == "any" || name == "all") {
        throw Error(ErrorKind::usage, fmt::format("along axes there is no '{}': nonzero counts those that are not zero", name));
      }
      const AxisReduction reduction = reduction_named(name);
      const bool spread = reduction == AxisReduction::variance || reduction == AxisReduction::standard_deviation;
      return numbers.reduce(reduction, along.with_ddof(spread ? axes.segments.ddof : 0), options);
    };
    printed.columns.push_back(columns());
    printed.names.push_back(name);
  }
  numbers.check_unchanged();
  printed.from = numbers.shape();
  printed.head["axis"] = axes.axes;
  printed.device = device.info().selector;
  printed.seconds = seconds_since(start);
  return print_along(out, input, none, std::move(printed), result);
}

int run_quantiles_along_axes(Output& out, const Input& input, const std::vector<double>& q, const std::vector<std::string>& names,
                             const QuantileRule& rule, const AxesOptions& axes, const ResultOptions& result) {
  const bool by_segment = axes.segments.wanted();
  Printed printed{"quantile", std::string(by_segment ? axes.segments.option() : "--axis"), {}, {}};
  refuse_beside(printed.option, input, result);
  const OutputFile target(axes.out, read_files(input, axes));
  require_no_format(target, result);
  if (target.wanted() && q.size() > 1) {
    throw Error(ErrorKind::usage, "--out takes one array, and these are several quantiles: name one");
  }
  AxesInput numbers(input, printed.option);
  const Array data = numbers.real_numbers();
  printed.from = numbers.shape();
  const auto start = std::chrono::steady_clock::now();
  const Options options = {.nan = result.nan_policy(), .tuning = {.threads = input.threads}};
  const Values all = by_segment ? quantiles(data.reshaped({data.size()}), q, division_by(axes.segments), rule, options)
                                : quantiles(data, q, axes_of(axes), rule, options);
  for (std::uint64_t i = 0; i < q.size(); ++i) {
    const Array one = all.array().at(0, i);
    Values& column = printed.columns.emplace_back(one.type(), std::vector(one.shape().begin(), one.shape().end()));
    std::memcpy(column.data(), one.data(), one.bytes());
  }
  numbers.check_unchanged();
  printed.names = names;
  printed.head["method"] = name_of(rule.method);
  if (q.size() == 1) printed.head["q"] = q[0];
  if (by_segment) {
    printed.head["segments"] = all.shape()[1];
    printed.along = "by segment";
  } else {
    printed.head["axis"] = axes.axes;
    printed.along = fmt::format("along axis {}", fmt::join(axes.axes, ", "));
  }
  printed.device = "cpu";
  printed.seconds = seconds_since(start);
  return print_along(out, input, target, std::move(printed), result);
}

int run_operator_along_axes(Output& out, const Input& input, const std::string& device_name, const Operator& op, const AxesOptions& axes,
                            const ResultOptions& result) {
  Printed printed{op.combine.to_string(), "--axis", {}, fmt::format("along axis {}", fmt::join(axes.axes, ", "))};
  refuse_beside("--axis", input, result);
  const OutputFile target(axes.out, files_of(input));
  require_no_format(target, result);
  const AxesInput numbers(input, "--axis", true);
  const Device device = choose_device(device_name, numbers.bytes());
  const auto start = std::chrono::steady_clock::now();
  printed.columns = numbers.reduce(op, axes_of(axes), {.device = device});
  numbers.check_unchanged();
  if (target.wanted() && printed.columns.size() > 1) {
    throw Error(ErrorKind::usage, fmt::format("--out takes one array, and this operator gives {} numbers: name one (--finish 'a[0]')",
                                              printed.columns.size()));
  }
  for (std::size_t k = 0; k < printed.columns.size(); ++k) printed.names.push_back(fmt::format("value{}", k));
  printed.from = numbers.shape();
  printed.what = printed.columns.size() == 1 && result.csv ? "value" : printed.what;
  printed.head["axis"] = axes.axes;
  printed.device = device.info().selector;
  printed.seconds = seconds_since(start);
  return print_along(out, input, target, std::move(printed), result);
}

}  // namespace samesum::cli
