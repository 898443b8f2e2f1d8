#include "group/axes.hpp"

#include "command.hpp"
#include "input/elements.hpp"
#include "output/number.hpp"
#include "output/output_file.hpp"
#include "output/printable.hpp"

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
      {"sum", AxisReduction::sum},      {"mean", AxisReduction::mean},
      {"var", AxisReduction::variance}, {"std", AxisReduction::standard_deviation},
      {"norm", AxisReduction::norm},    {"min", AxisReduction::min},
      {"max", AxisReduction::max},      {"argmin", AxisReduction::argmin},
  };
  for (const auto& [known, reduction] : kNames) {
    if (name == known) return reduction;
  }
  return AxisReduction::argmax;
}

Number number_at(const Values& values, std::uint64_t i) {
  const auto* const at = static_cast<const std::byte*>(values.data()) + i * size_of(values.type());
  if (values.type() == DType::float64) {  // with its bits: a sum would not keep a NaN's
    double number;
    std::memcpy(&number, at, sizeof number);
    return {number, DType::float64};
  }
  return Number(min(Array(at, 1, values.type())).value);
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

int run_along_axes(Output& out, const Input& input, const std::string& device_name, std::string_view statistic, const AxesOptions& axes,
                   const ResultOptions& result, const Tuning& tuning) {
  const bool by_segment = axes.segments.wanted();
  const std::string option(by_segment ? axes.segments.option() : axes.tile.empty() ? "--axis" : "--tile");
  const auto refuse = [&](const std::string& why, const std::string& other) {
    throw Error(ErrorKind::usage, fmt::format("{}: leave out one of {} and {}", why, other, option));
  };
  if (input.files.size() != 1) throw Error(ErrorKind::usage, option + " takes one file: each has a shape of its own");
  if (result.float32) refuse("--float32 rounds one number", "--float32");
  if (!result.partial.empty()) refuse("--partial keeps one sum", "--partial");
  if (!input.nodata.empty()) refuse("--nodata leaves elements out of their array", "--nodata");
  if (!input.map.empty()) refuse("--map gives one number after the other, without axes", "--map");
  const Tile tile(axes.tile.empty() ? std::vector<std::uint64_t>{} : parse_extents(axes.tile, "--tile"));
  std::vector<std::string> read = input.files;
  if (by_segment) {
    read.push_back(axes.segments.lengths.empty() ? axes.segments.offsets : axes.segments.lengths);
    if (device_name != "auto" && device_name != "cpu") refuse("segments are added up on the CPU", "--device");
    if (read[0] == read[1] && (read[0] == "-" || read[0].empty())) {
      throw Error(ErrorKind::usage, "standard input cannot be both the numbers and their segments");
    }
  }
  const OutputFile target(axes.out, read);
  if (target.wanted() && (result.plain || result.csv || result.json)) {
    throw Error(ErrorKind::usage,
                "--plain, --csv and --json say how values are printed, and with --out they are not: leave one of them out");
  }
  InputOptions how = input.options();
  how.text.in_order = true;
  const Elements elements(input.files.front(), how);
  const std::vector<std::uint64_t> shape = elements.shape();
  const Device device = choose_device(by_segment ? "cpu" : device_name, elements.view().bytes());
  Axes along(axes.axes);
  if (axes.keep) along = along.kept();
  const auto start = std::chrono::steady_clock::now();
  const Array data = elements.view().reshaped(Shape(shape));
  const Options options = {.nan = result.nan_policy(), .device = device, .tuning = tuning};
  const auto reduced = [&] {
    if (by_segment) return segment_reduction(elements.view(), statistic, axes.segments, options.nan, tuning);
    const AxisReduction reduction = reduction_named(statistic);
    return axes.tile.empty() ? axis_reduction(data, reduction, along, options) : tile_reduction(data, reduction, tile, options);
  };
  const Values values = reduced();
  elements.check_unchanged();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  if (target.wanted()) {
    const std::vector<std::byte> header = npy_header(values.type(), values.shape());
    target.write(out, {header, {static_cast<const std::byte*>(values.data()), values.array().bytes()}});
  } else if (result.json) {
    Json object;
    object["statistic"] = statistic;
    if (by_segment) {
      object["segments"] = values.size();
    } else if (axes.tile.empty()) {
      object["axis"] = axes.axes;
    } else {
      object["tile"] = tile.extents();
    }
    object["shape"] = values.shape();
    object["type"] = name_of(values.type());
    object["device"] = device.info().selector;
    object["values"] = Json::array();
    for (std::uint64_t i = 0; i < values.size(); ++i) number_at(values, i).add_to(object["values"].emplace_back());
    out.print("{}\n", to_text(object));
  } else {
    if (result.csv) out.print("index,{}\n", statistic);
    for (std::uint64_t i = 0; i < values.size(); ++i) {
      const std::string text = result.text(number_at(values, i));
      result.csv ? out.print("{},{}\n", i, text) : out.print("{}\n", text);
    }
  }
  if (result.verbose || (target.wanted() && out.terminal())) {
    const std::string what = by_segment          ? "by segment"
                             : axes.tile.empty() ? fmt::format("along axis {}", fmt::join(axes.axes, ", "))
                                                 : "by tiles of " + axes.tile;
    out.note(fmt::format("{} of {} of shape ({}) {}: {} of shape ({}), {}, {}", statistic, shown_name(input.files.front()),
                         fmt::join(shape, ", "), what, name_of(values.type()), fmt::join(values.shape(), ", "), device.info().selector,
                         duration(seconds)));
  }
  return kExitOk;
}

}  // namespace samesum::cli
