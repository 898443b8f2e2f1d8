// --axis, --tile, --offsets, --lengths: reductions of one array along axes, by tile and by segment.
#pragma once

#include "group/segments.hpp"
#include "input/input.hpp"
#include "output/output.hpp"
#include "output/result.hpp"

#include <samesum/operator.hpp>
#include <samesum/options.hpp>
#include <samesum/quantile.hpp>

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace samesum::cli {

struct AxesOptions {
  std::vector<std::int64_t> axes;  ///< empty: not along axes
  bool keep = false;               ///< the result has them, with extent 1
  std::string tile;                ///< instead of axes, the extents of tiles: "16x16"
  SegmentsOptions segments;        ///< instead of both, of parts of the elements in C order
  std::string out;                 ///< .npy file; empty: values are printed

  bool wanted() const noexcept { return !axes.empty() || !tile.empty() || segments.wanted(); }
  /// @throws Error (usage) where the others are given without axes, or two of axes, tiles, offsets and lengths.
  void check() const;
};

/// Numbers with 'x' between them. @throws Error (usage) for anything else, with the option's name.
std::vector<std::uint64_t> parse_extents(const std::string& text, std::string_view option);

/// Adds --axis, --tile, --keepdims, --offsets, --lengths and --out.
void add_axes(CLI::App& command, AxesOptions& options);
/// --axis, --keepdims and --out alone, for commands that go along axes only.
void add_axes_alone(CLI::App& command, AxesOptions& options);
/// --offsets, --lengths and --out alone.
void add_segments(CLI::App& command, AxesOptions& options);

/// `statistic` ("sum", "mean", "var" …) of the one input, along the axes: a value for each position along the others; or of each tile or
/// segment.
int run_along_axes(Output& out, const Input& input, const std::string& device, std::string_view statistic, const AxesOptions& axes,
                   const ResultOptions& result, const Tuning& tuning);

/// Several statistics along the axes: a row for each position along the others.
int run_rows_along_axes(Output& out, const Input& input, const std::string& device, const std::vector<std::string>& statistics,
                        const AxesOptions& axes, const ResultOptions& result, const Tuning& tuning);

/// Quantiles `q` along the axes, or of segments; `names` are what the user wrote.
int run_quantiles_along_axes(Output& out, const Input& input, const std::vector<double>& q, const std::vector<std::string>& names,
                             const QuantileRule& rule, const AxesOptions& axes, const ResultOptions& result);

/// The result of an operator along the axes.
int run_operator_along_axes(Output& out, const Input& input, const std::string& device, const Operator& op, const AxesOptions& axes,
                            const ResultOptions& result);

}  // namespace samesum::cli
