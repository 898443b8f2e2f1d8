#include "group/axes.hpp"

#include "command.hpp"
#include "group/axes_input.hpp"
#include "group/keys.hpp"
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

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <optional>
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
      {"argmax", AxisReduction::argmax},
      {"prod", AxisReduction::product},
      {"sqnorm", AxisReduction::squared_norm},
      {"nonzero", AxisReduction::count_nonzero},
  };
  for (const auto& [known, reduction] : kNames) {
    if (name == known) return reduction;
  }
  throw Error(ErrorKind::usage, fmt::format("along axes and of groups there is no '{}'", name));
}

}  // namespace

void AxesOptions::check() const {
  if (!tile.empty() && !axes.empty()) throw Error(ErrorKind::usage, "--axis and --tile cannot be used together");
  division.check();
  if (division.wanted() && (!tile.empty() || !axes.empty())) {
    throw Error(ErrorKind::usage, fmt::format("--axis and --tile cannot be used together with {}", division.option()));
  }
  if (keep && axes.empty() && wanted()) {
    throw Error(ErrorKind::usage, fmt::format("--keepdims goes with --axis, not with {}", tile.empty() ? division.option() : "--tile"));
  }
  if (wanted()) return;
  if (keep) throw Error(ErrorKind::usage, "--keepdims goes with --axis");
  if (!out.empty()) {
    throw Error(ErrorKind::usage, "--out goes with --axis, --tile, --offsets, --lengths or --keys: one number is printed");
  }
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
  command.add_flag("--keepdims", options.keep, "--axis: the result keeps them, with extent 1");
  add_groups(command, options);
}

void add_groups(CLI::App& command, AxesOptions& options) {
  add_division(command, options.division);
  command.add_option("-o,--out", options.out, "of these: .npy to write; else the values are printed")->type_name("FILE");
}

void add_tile(CLI::App& command, AxesOptions& options) {
  command.add_option("--tile", options.tile, "of each tile of this size, along the last axes: 16x16")->type_name("HxW");
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
  std::optional<Values> keys = {};       // of groups, which go before the values
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
  if (!input.keys.empty()) refuse("--by is for tables", "--by");
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
  const std::string label = printed.keys ? "key" : "index";
  const auto label_of = [&](std::uint64_t i) { return printed.keys ? number_at(*printed.keys, i).decimal() : fmt::format("{}", i); };
  if (target.wanted()) {
    const std::vector<std::byte> header = npy_header(first.type(), first.shape());
    target.write(out, {header, {static_cast<const std::byte*>(first.data()), first.array().bytes()}});
  } else if (result.json) {
    Json object = std::move(printed.head);
    object["shape"] = first.shape();
    if (!several) object["type"] = name_of(first.type());
    object["device"] = printed.device;
    if (printed.keys) object["keys"] = Json::array();
    for (std::uint64_t i = 0; printed.keys && i < first.size(); ++i) {
      Json key;
      number_at(*printed.keys, i).add_to(key);
      object["keys"].push_back(key["value"]);
    }
    if (!several) {
      object["values"] = numbers_of(first);
    } else {
      for (std::size_t k = 0; k < printed.columns.size(); ++k) object["values"][printed.names[k]] = numbers_of(printed.columns[k]);
    }
    out.print("{}\n", to_text(object));
  } else if (several) {
    Rows rows;
    rows.names = {label};
    rows.names.insert(rows.names.end(), printed.names.begin(), printed.names.end());
    for (std::uint64_t i = 0; i < first.size(); ++i) {
      std::vector<std::string>& row = rows.rows.emplace_back(1, label_of(i));
      for (const Values& values : printed.columns) row.push_back(result.text(number_at(values, i)));
      if (result.plain) out.print("{}\n", fmt::join(row.begin() + 1, row.end(), "\t"));
    }
    if (!result.plain) result.csv ? rows.print_csv(out) : rows.print(out);
  } else {
    if (result.csv) out.print("{},{}\n", label, printed.what);
    for (std::uint64_t i = 0; i < first.size(); ++i) {
      const std::string text = result.text(number_at(first, i));
      const bool labelled = result.csv || (printed.keys && !result.plain);
      labelled ? out.print("{}{}{}\n", label_of(i), result.csv ? ',' : '\t', text) : out.print("{}\n", text);
    }
  }
  if (result.verbose || (target.wanted() && out.terminal())) {
    out.note(fmt::format("{} of {} of shape ({}) {}: {} of shape ({}), {}, {}", printed.what,
                         input.map.empty() ? shown_name(input.files.front()) : input.map, fmt::join(printed.from, ", "), printed.along,
                         name_of(first.type()), fmt::join(first.shape(), ", "), printed.device, duration(printed.seconds)));
  }
  return kExitOk;
}

// Which elements are reduced to one result: those along axes, or those of a group.
class Together {
 public:
  Together(const AxesOptions& options, const AxesInput& numbers) : axes_(options.axes), option_(options.option()) {
    if (options.keep) axes_ = axes_.kept();
    if (!options.division.wanted()) return;
    std::uint64_t elements = 1;
    for (const std::uint64_t extent : numbers.shape()) elements *= extent;
    by_ = division_by(options.division, elements);
  }

  bool groups() const noexcept { return by_.has_value(); }
  /// Calls body(Axes) or body(By).
  template <class Body>
  auto with(const Body& body) const {
    if (!by_) return body(axes_);
    return naming_groups([&] { return body(*by_); },
                         [&](std::uint64_t group) {
                           return option_ == "--keys" ? "key " + number_at(by_->keys(), group).decimal() : fmt::format("segment {}", group);
                         });
  }
  void describe(Printed& printed) const {
    if (!by_) {
      printed.head["axis"] = axes_.numbers();
      printed.along = fmt::format("along axis {}", fmt::join(axes_.numbers(), ", "));
    } else if (option_ == "--keys") {
      printed.head["groups"] = by_->groups();
      printed.along = "by key";
      printed.keys = by_->keys();
    } else {
      printed.head["segments"] = by_->groups();
      printed.along = "by segment";
    }
  }

 private:
  Axes axes_;
  std::string option_;
  std::optional<By> by_;
};

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

// All files that are read. @throws Error (usage) where groups would be read from where the numbers are.
std::vector<std::string> read_files(const Input& input, const AxesOptions& axes) {
  std::vector<std::string> read = files_of(input);
  if (!axes.division.wanted()) return read;
  const std::string& file = axes.division.file();
  if ((file == "-" || file.empty()) && std::ranges::find(read, file) != read.end()) {
    throw Error(ErrorKind::usage, "standard input cannot be both the numbers and their groups");
  }
  read.push_back(file);
  return read;
}

// Groups are reduced on the CPU.
Device device_for(const std::string& name, const AxesOptions& axes, std::uint64_t bytes) {
  if (!axes.division.wanted()) return choose_device(name, bytes);
  if (name != "auto" && name != "cpu") {
    throw Error(ErrorKind::usage, fmt::format("groups are reduced on the CPU: leave out one of --device and {}", axes.division.option()));
  }
  return Device::open("cpu");
}

Values statistic_of(const AxesInput& numbers, const Together& together, std::string_view name, std::uint64_t ddof, const Options& options) {
  return together.with([&](const auto& where) {
    if (name == "nan") return numbers.reduce_of("isnan(x)", AxisReduction::sum, where, options);
    if (name == "count") return numbers.count(where, options);
    const AxisReduction reduction = reduction_named(name);
    const bool spread = reduction == AxisReduction::variance || reduction == AxisReduction::standard_deviation;
    return numbers.reduce(reduction, where, spread ? ddof : 0, options);
  });
}

}  // namespace

int run_along_axes(Output& out, const Input& input, const std::string& device_name, std::string_view statistic, const AxesOptions& axes,
                   const ResultOptions& result, const Tuning& tuning) {
  Printed printed{std::string(statistic), axes.option(), {}, {}};
  refuse_beside(printed.option, input, result);
  if (!input.map.empty() && !axes.tile.empty()) {
    throw Error(ErrorKind::usage, "--tile takes the numbers of a file: leave out one of --map and --tile");
  }
  const Tile tile(axes.tile.empty() ? std::vector<std::uint64_t>{} : parse_extents(axes.tile, "--tile"));
  const OutputFile target(axes.out, read_files(input, axes));
  require_no_format(target, result);
  const AxesInput numbers(input, printed.option);
  printed.from = numbers.shape();
  const Device device = device_for(device_name, axes, numbers.bytes());
  const auto start = std::chrono::steady_clock::now();
  const Options options = {.nan = result.nan_policy(), .device = device, .tuning = tuning};
  printed.head["statistic"] = statistic;
  if (axes.tile.empty()) {
    const Together together(axes, numbers);
    printed.columns.push_back(statistic_of(numbers, together, statistic, axes.division.ddof, options));
    together.describe(printed);
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
  Printed printed{"statistics", axes.option(), {}, {}};
  refuse_beside(printed.option, input, result);
  if (!axes.out.empty()) {
    throw Error(ErrorKind::usage, "--out takes one array, and these are several statistics: name one (--only mean -o means.npy)");
  }
  const OutputFile none("", {});
  read_files(input, axes);
  const AxesInput numbers(input, printed.option);
  const Device device = device_for(device_name, axes, numbers.bytes());
  const auto start = std::chrono::steady_clock::now();
  const Options options = {.nan = result.nan_policy(), .device = device, .tuning = tuning};
  const Together together(axes, numbers);
  for (const std::string& name : statistics) {
    printed.columns.push_back(statistic_of(numbers, together, name, axes.division.ddof, options));
    printed.names.push_back(name);
  }
  together.describe(printed);
  numbers.check_unchanged();
  printed.from = numbers.shape();
  printed.device = device.info().selector;
  printed.seconds = seconds_since(start);
  return print_along(out, input, none, std::move(printed), result);
}

int run_quantiles_along_axes(Output& out, const Input& input, const std::vector<double>& q, const std::vector<std::string>& names,
                             const QuantileRule& rule, const AxesOptions& axes, const ResultOptions& result) {
  Printed printed{"quantile", axes.option(), {}, {}};
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
  const Together together(axes, numbers);
  const Array elements = together.groups() ? data.reshaped({data.size()}) : data;
  const Values all = together.with([&](const auto& where) { return quantiles(elements, q, where, rule, options); });
  for (std::uint64_t i = 0; i < q.size(); ++i) {
    const Array one = all.array().at(0, i);
    Values& column = printed.columns.emplace_back(one.type(), std::vector(one.shape().begin(), one.shape().end()));
    std::memcpy(column.data(), one.data(), one.bytes());
  }
  numbers.check_unchanged();
  printed.names = names;
  printed.head["method"] = name_of(rule.method);
  if (q.size() == 1) printed.head["q"] = q[0];
  together.describe(printed);
  printed.device = "cpu";
  printed.seconds = seconds_since(start);
  return print_along(out, input, target, std::move(printed), result);
}

int run_operator_along_axes(Output& out, const Input& input, const std::string& device_name, const Operator& op, const AxesOptions& axes,
                            const ResultOptions& result) {
  Printed printed{op.combine.to_string(), axes.option(), {}, {}};
  refuse_beside(printed.option, input, result);
  const OutputFile target(axes.out, read_files(input, axes));
  require_no_format(target, result);
  const AxesInput numbers(input, printed.option, true);
  const Device device = device_for(device_name, axes, numbers.bytes());
  const auto start = std::chrono::steady_clock::now();
  const Together together(axes, numbers);
  printed.columns = together.with([&](const auto& where) { return numbers.reduce(op, where, {.device = device}); });
  together.describe(printed);
  numbers.check_unchanged();
  if (target.wanted() && printed.columns.size() > 1) {
    throw Error(ErrorKind::usage, fmt::format("--out takes one array, and this operator gives {} numbers: name one (--finish 'a[0]')",
                                              printed.columns.size()));
  }
  for (std::size_t k = 0; k < printed.columns.size(); ++k) printed.names.push_back(fmt::format("value{}", k));
  printed.from = numbers.shape();
  printed.what = printed.columns.size() == 1 && result.csv ? "value" : printed.what;
  printed.device = device.info().selector;
  printed.seconds = seconds_since(start);
  return print_along(out, input, target, std::move(printed), result);
}

}  // namespace samesum::cli
